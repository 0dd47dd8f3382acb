/* The multilayer counting filter: counts of variable length in one cache line.
 *
 * A counting Bloom filter with 4-bit counters wastes most of its bits: at the usual load of ln 2
 * per counter half of them are 0, and 3 in 100 are more than 2. The number of keys that share a
 * cell is Poisson with that mean, whose entropy is 1.586 bits. Of the simple codes for such numbers
 * the best is the simplest, unary: c ones and a zero, 1.693 bits on average. It is what Huffman
 * would choose, and Golomb's code with the parameter 1; Rice's codes with one and two low bits
 * take 2.159 (28% more) and 3.006 bits, and the first of them pays from a mean of 1.52 on only.
 *
 * Unary codes one after the other cannot be found again. Ficara, Giordano, Procissi and Vitucci
 * (Multilayer Compressed Counting Bloom Filters, 2008) therefore write the first bits of all codes
 * into one array, the second bits of those that go on into another, and so on: then the first array
 * is a plain Bloom filter, which is all that a query reads, and a code is followed from one layer
 * to the next by counting bits (multilayer_block.c). Here this is done within blocks of one cache
 * line, so that counting and moving bits ends after three words:
 *
 *     320 bits   base: a bit for every cell, whether its count is more than 0
 *     184 bits   layers 1, 2, ...: together as many bits as all counts have sum
 *       8 bits   how many of the 184 are in use, or 255
 *
 * 320 and 184 suit 1%, where cells are cheap and a load of 0.36 per cell is best
 * (plan_multilayer.c). A key has its k cells in one block, block mulhi(lo, blocks). Cells come from
 * hi, four from its 16-bit pieces, the next four from a word made of it, and so on (multilayer.h).
 * Those that coincide count once: else a key that was never added might take a count below 0.
 *
 * A block whose 184 bits will not do is spilled: its counts move to a record of 320 numbers of 16
 * bits behind the blocks, and come back when their sum has sunk to 120 (multilayer_spill.c). Its
 * base stays. With distinct keys one block in a thousand comes to that: 347 of 349831 with 10^7
 * keys at 1%, in a filter of 18.1 bits per key, where 4-bit counters take 38.4.
 *
 * Copies need room. Where 10^6 keys were added 1.1 / 1.2 / 1.3 / 1.5 / 2 times on average to a
 * filter made for 10^6 keys at 1%, 1.1 / 4.4 / 11 / 33 / 81% of the blocks were spilled, and it had
 * grown to 20 / 27 / 39 / 82 / 167 bits per key. 5 * 10^6 adds of 10^6 keys drawn by Zipf's law,
 * with exponents 0.8 / 1 / 1.2, made 219 / 204 / 198 bits of it per key that was drawn. A filter
 * made for as many keys as there are copies, 1.1 / 1.2 / 1.3 / 1.5 / 2 times 10^6, has 20 / 22 / 25
 * / 30 / 45 bits per key. So this is the filter for keys that rarely repeat.
 *
 * Body: plan_multilayer.h. A mapped body may hold anything: a query looks at the base of one block,
 * and what else is read of a block leads nowhere without a check.
 */
#include "kinds/multilayer/multilayer.h"

#include <bloomery/multilayer.h>

static bly_status add_one(bly_filter *f, bly_hash h, bool *is_new) {
    uint16_t cells[BLYI_ML_MAX_HASHES];
    uint64_t number = blyi_mulhi(h.lo, f->geometry.size);
    uint64_t *block = blyi_ml_block(f, number);
    unsigned n = blyi_ml_cells(h.hi, f->geometry.hashes, cells), used = blyi_ml_used(block);
    bool is_there = f->contains_block(block, h.hi, f->geometry.hashes);
    if (used + n <= BLYI_ML_LAYERS) {
        blyi_ml_raise(block, cells, n);
    } else {
        bly_status status = used == BLYI_ML_SPILLED ? BLY_OK : blyi_ml_spill_block(f, number);
        if (status)
            return status;
        blyi_ml_raise_record(f, number, cells, n);
    }
    *is_new = !is_there;
    return BLY_OK;
}

static bly_status put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, bly_tally *sum) {
    for (size_t i = 0; i < n; i++) {
        bool is_new;
        bly_status status = add_one(f, h[i], &is_new);
        if (status)
            return status;
        f->items = blyi_sum(f->items, 1); /* a file may say any number */
        sum->done++;
        sum->fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    return BLY_OK;
}

static bly_status take(bly_filter *f, bly_hash h, bool *removed) {
    uint16_t cells[BLYI_ML_MAX_HASHES];
    uint64_t number = blyi_mulhi(h.lo, f->geometry.size);
    uint64_t *block = blyi_ml_block(f, number);
    *removed = f->contains_block(block, h.hi, f->geometry.hashes);
    if (!*removed)
        return BLY_OK;
    unsigned n = blyi_ml_cells(h.hi, f->geometry.hashes, cells);
    if (blyi_ml_used(block) == BLYI_ML_SPILLED)
        blyi_ml_lower_record(f, number, cells, n);
    else
        blyi_ml_lower(block, cells, n);
    blyi_filter_subtract_count(f, 1);
    return BLY_OK;
}

/* The least of the cells' counts. Of any map. */
static uint64_t copies(const bly_filter *f, bly_hash h) {
    uint16_t cells[BLYI_ML_MAX_HASHES];
    uint64_t number = blyi_mulhi(h.lo, f->geometry.size);
    const uint64_t *block = blyi_ml_block(f, number);
    if (!f->contains_block(block, h.hi, f->geometry.hashes))
        return 0;
    unsigned n = blyi_ml_cells(h.hi, f->geometry.hashes, cells), least = BLYI_ML_STUCK;
    if (blyi_ml_used(block) != BLYI_ML_SPILLED)
        return blyi_ml_least(block, cells, n);
    const blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    const uint8_t *record = blyi_ml_record_of(&t, block, number);
    for (unsigned i = 0; i < n && record; i++) {
        unsigned count = blyi_ml_count_at(record, cells[i]);
        least = count < least ? count : least;
    }
    return record && least > 0 ? least : 1;
}

uint64_t bly_multilayer_spilled(const bly_filter *f) {
    if (f->geometry.kind != BLY_MULTILAYER)
        return 0;
    const blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    uint64_t used = blyi_ml_records_used(&t);
    return used < t.room ? used : t.room;
}

bly_status bly_multilayer_create(uint64_t keys, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_MULTILAYER, keys, fpr);
    return bly_filter_create(&spec, out);
}

static const blyi_ops multilayer_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_INTERSECT | BLY_CAN_OVERLAP |
                    BLY_CAN_MAP | BLY_CAN_REMOVE | BLY_CAN_SUBTRACT | BLY_TELLS_COPIES |
                    BLY_DETAIL_GROWS,
    .block_shift = 6,
    .select_kernels = blyi_ml_choose,
    .prefetch = blyi_ml_prefetch,
    .try_add_many = put,
    .contains_many = blyi_blocks_contain_many,
    .remove_one = take,
    .count_copies = copies,
    .body_is_valid = blyi_ml_sound,
    .fill_stats = blyi_ml_stats,
    .union_with = blyi_ml_unite,
    .intersect_with = blyi_ml_intersect,
    .subtract_from = blyi_ml_subtract,
    .estimate_overlap = blyi_ml_overlap,
    .any_detail = true,
    .is_equal = blyi_ml_equal,
};

/* ---- descriptor ------------------------------------------------------------------------------ */

const blyi_kind blyi_kind_multilayer = {
    .code = BLY_MULTILAYER,
    .name = "multilayer",
    .meaning = "counters of variable length in one block of 64 bytes; keys can be removed",
    .reason = "keys can be removed, one cache line, never full; it grows where keys come more than "
              "once",
    .hashes_name = "counters per key",
    .describe_rest = blyi_describe_counters,
    .meets = BLY_NEED_COUNTS,
    .planner = &blyi_multilayer_planner,
    .ops = &multilayer_ops,
};
