/* The hybrid counting filter: one entry for each key, and a count beside it.
 *
 * A fingerprint table (cuckoo.c) keeps a copy of a key's remainder for each time it was added; nine
 * copies of one key make it full. Here a class, bucket and remainder, has one entry, and half a
 * byte for each slot counts its copies up to 14. That is enough for most keys of any stream. A
 * count that grows to 15 moves to an exact map of large counts, the spill map (hybrid_spill.c),
 * under its class, which stays what it is when the entry moves to its other bucket; the half byte
 * then says 15. A count there that falls to 8 moves back: not at 14, so that a key that comes and
 * goes at the border does not move each time.
 *
 * The counts are kept apart from the slots. A query reads the table alone, which is laid out as
 * a cuckoo filter's and asked by the same code; only changes touch the counts, at one more cache
 * line. (Counts within the slots, as counting quotient filters and the like have them, would make
 * every query read two fifths more memory.) Counting per class, not per cell of a Bloom filter, is
 * what makes this small: a frequent key pays for one large count, not for k.
 *
 * The map starts with no room, and grows by a seventh to a quarter when seven eighths of it are in
 * use: to a new body, with the table copied as it is. At first it gets a place for every 512 slots,
 * so that it need not grow often. It never shrinks by itself: taking copies out needs no memory.
 *
 * Measured with ten million keys at 1%, each added once and then four times more on average by
 * Zipf's law with exponent 0.8 / 1.0 / 1.2: table 10.42 bits per key, counts 4.17, map 3.15 / 1.84
 * / 0.66; 3.3 / 1.8 / 0.6% of the classes were in the map. At 0.1% the table takes 13.54, at 0.01%
 * 17.71, and the map, whose ids are a byte longer, a tenth more.
 *
 * Body: plan_hybrid.h. Header: sub = the step of the map's size (steps.h).
 */
#include "base/memory.h"
#include "kinds/cuckoo/entries.h"
#include "kinds/hybrid/hybrid_counts.h"

#include <bloomery/hybrid.h>

enum { SLOTS_PER_PLACE = 512 }; /* of the table, for each place of the map when it is first made */

static blyi_spilled spill_of(const bly_filter *f) {
    return blyi_spilled_over(&f->geometry, f->body);
}

/* ---- counts of classes ----------------------------------------------------------------------- */

uint64_t blyi_hybrid_count(const bly_filter *f, const blyi_table *t, uint64_t slot, blyi_class c) {
    uint64_t count = blyi_slot_count(t, slot);
    if (count == BLYI_SPILLED) {
        const blyi_spilled s = spill_of(f);
        uint64_t at = blyi_spilled_find(&s, c);
        if (at != BLYI_NO_SLOT)
            count = blyi_spilled_count(&s, at);
    }
    return count ? count : 1;
}

uint64_t blyi_hybrid_copies(const bly_filter *f, blyi_class c) {
    const blyi_table t = blyi_hybrid_table(f);
    uint64_t slot = blyi_table_find(&t, c);
    return slot == BLYI_NO_SLOT ? 0 : blyi_hybrid_count(f, &t, slot, c);
}

/* A body with a larger map, and in it c's count besides. BLY_EFULL: keys chosen for the purpose, or
 * no size is larger. */
static bly_status grow(bly_filter *f, blyi_class c, uint64_t count) {
    bly_geometry g = f->geometry;
    unsigned first = blyi_size_class_for(g.size * BLYI_BUCKET / SLOTS_PER_PLACE);
    void *block;
    g.detail = g.detail < first ? first : g.detail + 1;
    if (bly_plan_check(&g) != BLY_OK)
        return BLY_EFULL;
    bly_status status = blyi_filter_may_grow(f, bly_plan_bytes(&g));
    if (status)
        return status;
    uint8_t *body = blyi_alloc_array(&f->alloc, bly_plan_bytes(&g), &block);
    if (!body)
        return BLY_ENOMEM;
    const blyi_spilled old = spill_of(f);
    blyi_spilled s = blyi_spilled_over(&g, body);
    if (!blyi_spilled_insert_all(&s, &old) || !blyi_spilled_insert(&s, c, count)) {
        blyi_free_array(&f->alloc, block);
        return BLY_EFULL;
    }
    memcpy(body, f->body, (size_t)blyi_hybrid_spill_at(&g));
    blyi_filter_replace_body(f, &g, body, block);
    return BLY_OK;
}

static bly_status spill(bly_filter *f, blyi_class c, uint64_t count) {
    blyi_spilled s = spill_of(f);
    return blyi_spilled_insert(&s, c, count) ? BLY_OK : grow(f, c, count);
}

/* The class in that slot, inline so far, gets that count. */
static bly_status set_inline(bly_filter *f, uint64_t slot, blyi_class c, uint64_t count) {
    bly_status status = count > BLYI_MAX_INLINE ? spill(f, c, count) : BLY_OK;
    blyi_table t = blyi_hybrid_table(f); /* after the body may have moved */
    if (status == BLY_OK)
        blyi_slot_set_count(&t, slot, count > BLYI_MAX_INLINE ? BLYI_SPILLED : (unsigned)count);
    return status;
}

/* n copies more of a class whose count is in the map. */
static bly_status raise_spilled(bly_filter *f, blyi_class c, uint64_t n) {
    blyi_spilled s = spill_of(f);
    uint64_t at = blyi_spilled_find(&s, c), count = blyi_spilled_count(&s, at);
    if (n > BLYI_MAX_COUNTED - count)
        return BLY_EFULL;
    blyi_spilled_set(&s, at, count + n);
    return BLY_OK;
}

bly_status blyi_hybrid_add(bly_filter *f, blyi_class c, uint64_t n, bool *is_new) {
    blyi_table t = blyi_hybrid_table(f);
    uint64_t slot = blyi_table_find(&t, c);
    *is_new = slot == BLYI_NO_SLOT;
    if (n > BLYI_MAX_COUNTED || n > UINT64_MAX - f->items)
        return BLY_EFULL;
    if (*is_new)
        slot = blyi_table_place(&t, c);
    if (slot == BLYI_NO_SLOT)
        return BLY_EFULL;
    unsigned count = blyi_slot_count(&t, slot);
    bly_status status =
        count == BLYI_SPILLED ? raise_spilled(f, c, n) : set_inline(f, slot, c, count + n);
    if (status == BLY_OK)
        f->items += n;
    return status;
}

void blyi_hybrid_lower(bly_filter *f, blyi_table *t, uint64_t slot, blyi_class c, uint64_t left) {
    uint64_t count = blyi_slot_count(t, slot);
    bool is_inline = count != BLYI_SPILLED;
    if (!is_inline) {
        blyi_spilled s = spill_of(f);
        uint64_t at = blyi_spilled_find(&s, c);
        count = blyi_spilled_count(&s, at);
        is_inline = left <= BLYI_BACK_INLINE;
        if (is_inline)
            blyi_spilled_erase(&s, at);
        else
            blyi_spilled_set(&s, at, left);
    }
    f->items -= count - left;
    if (is_inline)
        blyi_slot_set_count(t, slot, (unsigned)left);
    if (left == 0)
        blyi_slot_set(t->body, blyi_table_width(t), slot, 0);
}

/* ---- hooks ----------------------------------------------------------------------------------- */

static void prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    const blyi_table t = blyi_hybrid_table(f);
    blyi_table_prefetch(&t, h, n);
}

static bly_status put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, bly_tally *sum) {
    for (size_t i = 0; i < n; i++) {
        blyi_table t = blyi_table_of(f);
        bool is_new;
        bly_status status = blyi_hybrid_add(f, blyi_class_of(&t, h[i]), 1, &is_new);
        if (status)
            return status;
        sum->done++;
        sum->fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    return BLY_OK;
}

static bly_status take(bly_filter *f, bly_hash h, bool *removed) {
    blyi_table t = blyi_hybrid_table(f);
    blyi_class c = blyi_class_of(&t, h);
    uint64_t slot = blyi_table_find(&t, c);
    *removed = slot != BLYI_NO_SLOT;
    if (*removed)
        blyi_hybrid_lower(f, &t, slot, c, blyi_hybrid_count(f, &t, slot, c) - 1);
    return BLY_OK;
}

static uint64_t copies(const bly_filter *f, bly_hash h) {
    const blyi_table t = blyi_table_of(f);
    return blyi_hybrid_copies(f, blyi_class_of(&t, h));
}

bly_status bly_hybrid_create(uint64_t keys, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_HYBRID, keys, fpr);
    return bly_filter_create(&spec, out);
}

/* In a damaged map the head may say anything. */
uint64_t bly_hybrid_spilled(const bly_filter *f) {
    if (f->geometry.kind != BLY_HYBRID)
        return 0;
    const blyi_spilled s = spill_of(f);
    uint64_t used = blyi_spilled_used(&s);
    return used < s.slots ? used : s.slots;
}

static const blyi_ops hybrid_ops = {
    .capabilities = BLYI_ENTRIES_CAN | BLY_DETAIL_GROWS,
    .prefetch = prefetch,
    .prefetch_contains = blyi_entries_prefetch,
    .try_add_many = put,
    .contains_many = blyi_entries_contains,
    .contains_keys_pipelined = blyi_entries_ask,
    .contains_hashes_pipelined = blyi_entries_ask_hashes,
    .remove_one = take,
    .count_copies = copies,
    .body_is_valid = blyi_hybrid_sound,
    .fill_stats = blyi_hybrid_stats,
    .union_with = blyi_hybrid_unite,
    .intersect_with = blyi_hybrid_intersect,
    .subtract_from = blyi_hybrid_subtract,
    .estimate_overlap = blyi_hybrid_overlap,
    .any_detail = true,
    .is_equal = blyi_hybrid_equal,
};

/* ---- descriptor ------------------------------------------------------------------------------ */

const blyi_kind blyi_kind_hybrid = {
    .code = BLY_HYBRID,
    .name = "hybrid",
    .meaning = "fingerprints with exact counts; keys can be removed, and come any number of times",
    .reason = "keys can be removed, and come any number of times: exact counts, and more space "
              "only for keys that come fifteen times or more",
    .hashes_name = "bits of a remainder",
    .size_unit = "bucket",
    .describe_rest = blyi_table_describe,
    .meets = BLY_NEED_COUNTS,
    .planner = &blyi_hybrid_planner,
    .ops = &hybrid_ops,
};
