/* The multilayer counting filter: counts of variable length in one cache line.
 *
 * A counting Bloom filter with 4-bit counters wastes most of its bits: at the usual load of ln 2
 * per counter half of them are 0, and 3 in 100 are more than 2. The number of keys that share a
 * cell is Poisson with that mean, whose entropy is 1.586 bits. Of the simple codes for such numbers
 * the best is the simplest, unary: c ones and a zero, 1.693 bits on average. It is the Huffman
 * code, and Golomb's code with the parameter 1. Rice's codes with one and two low bits take 2.159
 * (28% more) and 3.006 bits, and the first of them is better only from a mean of 1.52 on.
 *
 * In a sequence of unary codes the code of a given cell cannot be located. Ficara, Giordano,
 * Procissi and Vitucci (Multilayer Compressed Counting Bloom Filters, 2008) therefore write the
 * first bits of all codes into one array, the second bits of those codes that have one into
 * another, and so on. Then the first array is a plain Bloom filter, which is all that a lookup
 * reads, and a code is followed from one layer to the next by counting bits (multilayer_block.c).
 * Here this is done within blocks of one cache line, so that counting and moving bits ends after
 * three words:
 *
 *     320 bits   base: a bit for every cell, whether its count is more than 0
 *     184 bits   layers 1, 2, ...: together as many bits as the sum of all counts
 *       8 bits   how many of the 184 are in use, or 255
 *
 * 320 and 184 suit 1%, where cells are cheap and a load of 0.36 per cell is best
 * (multilayer_plan.c). A key has its k cells in one block, block mulhi(lo, blocks). Cells come from
 * hi, four from its 16-bit pieces, the next four from a word derived from it, and so on
 * (multilayer_layout.h). If some of a key's cells coincide, that cell is counted once. Otherwise
 * removing a key that was never added might lower a count below 0.
 *
 * A block that needs more than 184 bits is spilled: its counts move to a record of 320 numbers of
 * 16 bits after the blocks, and return when their sum has dropped to 120 (multilayer_spilled.c).
 * Its base stays. With distinct keys one block in a thousand is spilled: 347 of 349831 with 10^7
 * keys at 1%, in a filter of less than half the size of one with 4-bit counters.
 *
 * Copies need space. Where 10^6 keys were added 1.1 / 1.2 / 1.3 / 1.5 / 2 times on average to a
 * filter made for 10^6 keys at 1%, 1.1 / 4.4 / 11 / 33 / 81% of the blocks were spilled, and it had
 * grown to 20 / 27 / 39 / 82 / 167 bits per key. A filter made for the number of copies, 1.1 / 1.2
 * / 1.3 / 1.5 / 2 times 10^6, has 20 / 22 / 25 / 30 / 45 bits per key. So this kind is for keys
 * that rarely repeat.
 *
 * Body: multilayer_layout.h. A mapped body may contain any bytes: a lookup reads only the base of
 * one block, and other numbers in a block are checked before they are used as an index.
 */
#include "filter/rate.h"
#include "filter/set_operations.h"
#include "kinds/multilayer/multilayer_layout.h"

#include <bloomery/filter.h>
#include <math.h>

/* ---- lookups -----------------------------------------------------------------------------------
 *
 * A lookup reads the base of one block, and nothing else, so batches go through block_batch.c like
 * those of a blocked Bloom filter. All probes of a key are tested before the result is used: a
 * branch for each would be mispredicted for many of the non-members. The loop over the probes is
 * unrolled for the values of k that plans have for rates down to 0.001%. */

BLYI_ML_INLINE bool ml_probe_block(const void *block, uint64_t bits, unsigned k) {
    const uint64_t *base = block;
    uint64_t all = 1, w = bits;
    for (unsigned j = 0; j < k; j++) {
        if (j > 0 && j % 4 == 0)
            w = blyi_ml_next_word(w);
        unsigned x = blyi_ml_probe(w, j % 4);
        all &= blyi_le64(base[x >> 16]) >> (x >> 10 & 63);
    }
    return all & 1;
}

BLYI_ML_INLINE size_t ml_probe_blocks(const void *blocks, const blyi_block_probe *s, size_t n,
                                      unsigned k, uint8_t *out) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = ml_probe_block((const uint8_t *)blocks + s[i].at, s[i].bits, k);
        hits += hit;
        if (out)
            out[i] = hit;
    }
    return hits;
}

static bool ml_contains_block(const void *block, uint64_t bits, unsigned k) {
    return ml_probe_block(block, bits, k);
}

static bool ml_contains_block_4(const void *block, uint64_t bits, unsigned k) {
    (void)k;
    return ml_probe_block(block, bits, 4);
}

static size_t ml_contains_blocks(const void *blocks, const blyi_block_probe *s, size_t n,
                                 unsigned k, uint8_t *out) {
    switch (k) {
    case 4:
        return ml_probe_blocks(blocks, s, n, 4, out);
    case 5:
        return ml_probe_blocks(blocks, s, n, 5, out);
    case 6:
        return ml_probe_blocks(blocks, s, n, 6, out);
    case 7:
        return ml_probe_blocks(blocks, s, n, 7, out);
    case 8:
        return ml_probe_blocks(blocks, s, n, 8, out);
    case 9:
        return ml_probe_blocks(blocks, s, n, 9, out);
    default:
        return ml_probe_blocks(blocks, s, n, k, out);
    }
}

static void ml_select_kernels(bly_filter *f) {
    f->contains_block = f->geometry.hashes == 4 ? ml_contains_block_4 : ml_contains_block;
    f->contains_blocks = ml_contains_blocks;
}

static void ml_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    for (size_t i = 0; i < n; i++)
        blyi_prefetch_to_read(f->body + blyi_block_probe_of(h[i], f->geometry.size, 6).at);
}

/* The smallest count of the key's cells. Safe for any contents of a mapped file. */
static uint64_t ml_count_copies(const bly_filter *f, bly_hash h) {
    uint16_t cells[BLYI_ML_MAX_HASHES];
    uint64_t number = blyi_mulhi(h.lo, f->geometry.size);
    const uint64_t *block = blyi_ml_block(f, number);
    if (!f->contains_block(block, h.hi, f->geometry.hashes))
        return 0;
    unsigned n = blyi_ml_cells(h.hi, f->geometry.hashes, cells), min = BLYI_ML_STUCK;
    if (blyi_ml_used(block) != BLYI_ML_SPILLED)
        return blyi_ml_min_count(block, cells, n);
    const blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    const uint8_t *record = blyi_ml_record_of(&t, block, number);
    for (unsigned i = 0; i < n && record; i++) {
        unsigned count = blyi_ml_count_at(record, cells[i]);
        min = count < min ? count : min;
    }
    return record && min > 0 ? min : 1;
}

/* ---- adds and removes ------------------------------------------------------------------------ */

static bly_status ml_add_one(bly_filter *f, bly_hash h, bool *is_new) {
    uint16_t cells[BLYI_ML_MAX_HASHES];
    uint64_t number = blyi_mulhi(h.lo, f->geometry.size);
    uint64_t *block = blyi_ml_block(f, number);
    unsigned n = blyi_ml_cells(h.hi, f->geometry.hashes, cells), used = blyi_ml_used(block);
    bool is_there = f->contains_block(block, h.hi, f->geometry.hashes);
    if (used + n <= BLYI_ML_LAYER_BITS) {
        blyi_ml_raise(block, cells, n);
    } else {
        bly_status status = used == BLYI_ML_SPILLED ? BLY_OK : blyi_ml_spill_block(f, number);
        if (status)
            return status;
        blyi_ml_raise_spilled(f, number, cells, n);
    }
    *is_new = !is_there;
    return BLY_OK;
}

static bly_status ml_try_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                  bly_batch_result *sum) {
    for (size_t i = 0; i < n; i++) {
        bool is_new;
        bly_status status = ml_add_one(f, h[i], &is_new);
        if (status)
            return status;
        f->items = blyi_sum(f->items, 1); /* a file may claim any number of items */
        sum->done++;
        sum->changed += is_new;
        if (added)
            added[i] = is_new;
    }
    return BLY_OK;
}

static bly_status ml_remove_one(bly_filter *f, bly_hash h, bool *removed) {
    uint16_t cells[BLYI_ML_MAX_HASHES];
    uint64_t number = blyi_mulhi(h.lo, f->geometry.size);
    uint64_t *block = blyi_ml_block(f, number);
    *removed = f->contains_block(block, h.hi, f->geometry.hashes);
    if (!*removed)
        return BLY_OK;
    unsigned n = blyi_ml_cells(h.hi, f->geometry.hashes, cells);
    if (blyi_ml_used(block) == BLYI_ML_SPILLED)
        blyi_ml_lower_spilled(f, number, cells, n);
    else
        blyi_ml_lower(block, cells, n);
    blyi_filter_subtract_count(f, 1);
    return BLY_OK;
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* The number of spilled blocks. A damaged mapped file may claim more records than there are. */
static uint64_t ml_overflowed_lines(const bly_filter *f) {
    const blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    uint64_t used = blyi_ml_records_used(&t);
    return used < t.max_records ? used : t.max_records;
}

/* The number of counts that have reached their limit. */
static uint64_t ml_count_stuck(const bly_filter *f) {
    const blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    uint64_t used = ml_overflowed_lines(f), stuck = 0;
    for (uint64_t i = 0; i < used; i++)
        for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++)
            stuck += blyi_ml_count_at(blyi_ml_record(&t, i), cell) == BLYI_ML_STUCK;
    return stuck;
}

/* Set bits and FPRs are computed from the bases of the blocks, because lookups read nothing
 * else. */
static void ml_fill_stats(const bly_filter *f, bly_filter_info *out) {
    double sum = 0, size = (double)f->geometry.size;
    uint64_t set = 0;
    for (uint64_t i = 0; i < f->geometry.size; i++) {
        const uint64_t *block = blyi_ml_block(f, i);
        unsigned here = 0;
        for (unsigned j = 0; j < BLYI_ML_BASE_WORDS; j++)
            here += blyi_popcount64(block[j]);
        set += here;
        sum += pow((double)here / BLYI_ML_CELLS, f->geometry.hashes);
    }
    out->set_bits = set;
    out->fill = (double)set / (BLYI_ML_CELLS * size);
    double keys = blyi_ml_keys(&f->geometry, out->fill);
    double floor = blyi_hash_floor(isfinite(keys) ? keys : (double)out->count, f->hasher.bits);
    out->expected_fill = blyi_copies_fill(f, keys);
    out->estimated_keys = keys;
    out->expected_fpr = isfinite(keys) ? fmin(1, blyi_rate(&f->geometry, keys) + floor) : 1;
    out->current_fpr = fmin(1, sum / size + floor);
    out->spilled = ml_overflowed_lines(f);
    out->stuck = ml_count_stuck(f);
}

/* ---- descriptor ------------------------------------------------------------------------------ */

static const blyi_ops multilayer_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_INTERSECT | BLY_CAN_OVERLAP |
                    BLY_CAN_MAP | BLY_CAN_REMOVE | BLY_CAN_SUBTRACT | BLY_CAN_COUNT |
                    BLY_DETAIL_GROWS,
    .block_shift = 6,
    .select_kernels = ml_select_kernels,
    .prefetch = ml_prefetch,
    .try_add_many = ml_try_add_many,
    .contains_many = blyi_blocks_contain_many,
    .remove_one = ml_remove_one,
    .count_copies = ml_count_copies,
    .body_is_valid = blyi_ml_body_is_valid,
    .fill_stats = ml_fill_stats,
    .union_with = blyi_ml_union,
    .intersect_with = blyi_ml_intersect,
    .subtract_from = blyi_ml_subtract,
    .estimate_overlap = blyi_ml_overlap,
    .any_detail = true,
    .is_equal = blyi_ml_equal,
};

const blyi_kind blyi_kind_multilayer = {
    .code = BLY_MULTILAYER,
    .name = "multilayer",
    .meaning = "counters of variable length in one block of 64 bytes; keys can be removed",
    .reason = "keys can be removed, a lookup reads one cache line, and it is never full; it grows "
              "when keys repeat",
    .hashes_name = "counters per key",
    .describe_rest = blyi_describe_counters,
    .meets = BLY_NEED_COUNTS,
    .planner = &blyi_multilayer_planner,
    .ops = &multilayer_ops,
};
