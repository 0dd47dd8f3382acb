/* The hybrid counting filter: one entry for each key, with a count beside it.
 *
 * A fingerprint table (cuckoo.c) stores a copy of a key's remainder for each time it was added, and
 * has no room for a ninth copy of one key. Here a class (bucket and remainder) has one entry, and
 * half a byte for each slot counts its copies up to 14. That is enough for most keys of any stream.
 * A count that grows to 15 spills to an exact map of large counts (hybrid_spilled_counts.c), under
 * its class, which does not change when the entry moves to its other bucket. The half byte is then
 * 15. A count in the map that falls to 8, not 14, moves back, so that a key that is added and
 * removed at the limit does not move each time.
 *
 * The counts are separate from the slots. A lookup reads the table alone, which has the layout of a
 * cuckoo filter's and is looked up by the same code. Only changes read the counts, at one more
 * cache line. (Counts within the slots, as counting quotient filters and similar filters have them,
 * would make every lookup read two fifths more memory.) Counting per class, not per cell of a Bloom
 * filter, is what makes this small: a frequent key takes one large count, not k of them.
 *
 * The map starts without slots, and grows by a seventh to a quarter when seven eighths of it are in
 * use: into a new body, to which the table is copied unchanged. At first it gets a slot for every
 * 512 slots of the table, so that it need not grow often. It never shrinks, so removing copies
 * needs no new memory.
 *
 * The table is planned as a cuckoo filter's for the distinct keys (cuckoo_plan.c), with half a byte
 * more for each slot, and without a map. The size of the map cannot be planned, because it depends
 * on how often each key will be added.
 *
 * Measured with ten million keys at 1%, each added once and then four times more on average by
 * Zipf's law with exponent 0.8 / 1.0 / 1.2: the map takes 3.15 / 1.84 / 0.66 bits per key, with 3.3
 * / 1.8 / 0.6% of the classes in it. At 0.1% and 0.01%, where its ids are a byte longer, it takes a
 * tenth more. docs/kinds/counting.md has the bits per key without the map.
 *
 * In a damaged mapped file (not loaded, so not checked) a class may have several entries, a slot in
 * use may have the count 0, and a spilled count may be missing. A key with such an entry counts as
 * having 1 copy, or 15 if its spilled count is missing. The result of a set operation that reads it
 * is a valid filter nevertheless.
 *
 * Body: hybrid_layout.h. In the file's header, sub is the size class of the map (size_class.h).
 */
#include "kinds/hybrid/hybrid_layout.h"

#include "base/memory.h"
#include "filter/rate.h"
#include "kinds/cuckoo/cuckoo_operations.h"
#include <bloomery/filter.h>

enum { TABLE_SLOTS_PER_MAP_SLOT = 512 }; /* in the first map */

static blyi_spilled_counts hybrid_spilled(const bly_filter *f) {
    return blyi_spilled_over(&f->geometry, f->body);
}

/* ---- counts of classes ----------------------------------------------------------------------- */

/* The number of copies of class c, whose entry is in that slot of f's table t. It is at least 1,
 * even in a damaged file. */
static uint64_t hybrid_class_count(const bly_filter *f, const blyi_cuckoo_table *t, uint64_t slot,
                                   blyi_cuckoo_class c) {
    uint64_t count = blyi_slot_count(t, slot);
    if (count == BLYI_SPILLED) {
        const blyi_spilled_counts s = hybrid_spilled(f);
        uint64_t at = blyi_spilled_find(&s, c);
        if (at != BLYI_NO_SLOT)
            count = blyi_spilled_count(&s, at);
    }
    return count ? count : 1;
}

/* The number of copies of a class; 0 if it has no entry. */
static uint64_t hybrid_class_copies(const bly_filter *f, blyi_cuckoo_class c) {
    const blyi_cuckoo_table t = blyi_hybrid_table(f);
    uint64_t slot = blyi_table_find(&t, c);
    return slot == BLYI_NO_SLOT ? 0 : hybrid_class_count(f, &t, slot, c);
}

/* Replaces the body by one with a larger map that also contains c's count. Returns BLY_OK;
 * BLY_ENOMEM; BLY_EGROWTH; or BLY_EFULL if there is no larger size, or if an attacker chose keys
 * that do not fit at any size. */
static bly_status hybrid_grow_map(bly_filter *f, blyi_cuckoo_class c, uint64_t count) {
    bly_geometry g = f->geometry;
    unsigned first = blyi_size_class_for(g.size * BLYI_BUCKET_SLOTS / TABLE_SLOTS_PER_MAP_SLOT);
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
    const blyi_spilled_counts old = hybrid_spilled(f);
    blyi_spilled_counts s = blyi_spilled_over(&g, body);
    if (!blyi_spilled_add_all(&s, &old) || !blyi_spilled_add(&s, c, count)) {
        blyi_free_array(&f->alloc, block);
        return BLY_EFULL;
    }
    memcpy(body, f->body, (size_t)blyi_hybrid_spill_at(&g));
    blyi_filter_replace_body(f, &g, body, block);
    return BLY_OK;
}

static bly_status hybrid_spill(bly_filter *f, blyi_cuckoo_class c, uint64_t count) {
    blyi_spilled_counts s = hybrid_spilled(f);
    return blyi_spilled_add(&s, c, count) ? BLY_OK : hybrid_grow_map(f, c, count);
}

/* Sets the count of class c, whose entry is in that slot and whose count was inline so far. The
 * count spills if it is too large. */
static bly_status hybrid_set_inline(bly_filter *f, uint64_t slot, blyi_cuckoo_class c,
                                    uint64_t count) {
    bly_status status = count > BLYI_MAX_INLINE ? hybrid_spill(f, c, count) : BLY_OK;
    blyi_cuckoo_table t = blyi_hybrid_table(f); /* again, because the body may have been replaced */
    if (status == BLY_OK)
        blyi_slot_set_count(&t, slot, count > BLYI_MAX_INLINE ? BLYI_SPILLED : (unsigned)count);
    return status;
}

/* Adds n copies of a class whose count is in the map. Returns BLY_OK, or BLY_EFULL if the count
 * would exceed BLYI_MAX_COUNTED. */
static bly_status hybrid_raise_spilled(bly_filter *f, blyi_cuckoo_class c, uint64_t n) {
    blyi_spilled_counts s = hybrid_spilled(f);
    uint64_t at = blyi_spilled_find(&s, c), count = blyi_spilled_count(&s, at);
    if (n > BLYI_MAX_COUNTED - count)
        return BLY_EFULL;
    blyi_spilled_set_count(&s, at, count + n);
    return BLY_OK;
}

/* Adds n copies of a class, at least 1, also to f->items. Sets *is_new to whether the class had no
 * copies before. After a failure with n == 1 nothing has changed. After one with n > 1 the filter
 * must be discarded. */
static bly_status hybrid_add(bly_filter *f, blyi_cuckoo_class c, uint64_t n, bool *is_new) {
    blyi_cuckoo_table t = blyi_hybrid_table(f);
    uint64_t slot = blyi_table_find(&t, c);
    *is_new = slot == BLYI_NO_SLOT;
    if (n > BLYI_MAX_COUNTED || n > UINT64_MAX - f->items)
        return BLY_EFULL;
    if (*is_new)
        slot = blyi_table_add(&t, c);
    if (slot == BLYI_NO_SLOT)
        return BLY_EFULL;
    unsigned count = blyi_slot_count(&t, slot);
    bly_status status = count == BLYI_SPILLED ? hybrid_raise_spilled(f, c, n)
                                              : hybrid_set_inline(f, slot, c, count + n);
    if (status == BLY_OK)
        f->items += n;
    return status;
}

/* Reduces the copies of the class in that slot to `left`, and the filter's count by the
 * difference. */
static void hybrid_lower(bly_filter *f, blyi_cuckoo_table *t, uint64_t slot, blyi_cuckoo_class c,
                         uint64_t left) {
    uint64_t count = blyi_slot_count(t, slot);
    bool is_inline = count != BLYI_SPILLED;
    if (!is_inline) {
        blyi_spilled_counts s = hybrid_spilled(f);
        uint64_t at = blyi_spilled_find(&s, c);
        count = blyi_spilled_count(&s, at);
        is_inline = left <= BLYI_BACK_INLINE;
        if (is_inline)
            blyi_spilled_remove(&s, at);
        else
            blyi_spilled_set_count(&s, at, left);
    }
    f->items -= count - left;
    if (is_inline)
        blyi_slot_set_count(t, slot, (unsigned)left);
    if (left == 0)
        blyi_slot_set(t->body, blyi_table_width(t), slot, 0);
}

/* ---- add, remove ----------------------------------------------------------------------------- */

static void hybrid_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    const blyi_cuckoo_table t = blyi_hybrid_table(f);
    blyi_table_prefetch(&t, h, n);
}

static bly_status hybrid_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                  bly_batch_result *sum) {
    for (size_t i = 0; i < n; i++) {
        blyi_cuckoo_table t = blyi_table_of(f);
        bool is_new;
        bly_status status = hybrid_add(f, blyi_cuckoo_class_of(&t, h[i]), 1, &is_new);
        if (status)
            return status;
        sum->done++;
        sum->changed += is_new;
        if (added)
            added[i] = is_new;
    }
    return BLY_OK;
}

static bly_status hybrid_remove_one(bly_filter *f, bly_hash h, bool *removed) {
    blyi_cuckoo_table t = blyi_hybrid_table(f);
    blyi_cuckoo_class c = blyi_cuckoo_class_of(&t, h);
    uint64_t slot = blyi_table_find(&t, c);
    *removed = slot != BLYI_NO_SLOT;
    if (*removed)
        hybrid_lower(f, &t, slot, c, hybrid_class_count(f, &t, slot, c) - 1);
    return BLY_OK;
}

static uint64_t hybrid_count_copies(const bly_filter *f, bly_hash h) {
    const blyi_cuckoo_table t = blyi_table_of(f);
    return hybrid_class_copies(f, blyi_cuckoo_class_of(&t, h));
}

/* ---- validity and statistics ----------------------------------------------------------------- */

static bool hybrid_is_zero(const uint8_t *from, const uint8_t *until) {
    while (from < until && *from == 0)
        from++;
    return from >= until;
}

/* Whether the bytes between a part and the next are 0: after the table's tail, and after the last
 * half byte. */
static bool hybrid_gaps_are_zero(const bly_geometry *g, const uint8_t *body) {
    uint64_t counts = blyi_hybrid_counts_at(g), bits = blyi_table_bits(g);
    uint64_t end = counts + g->size * BLYI_BUCKET_SLOTS / 2;
    return hybrid_is_zero(body + bits / 8, body + counts) &&
           hybrid_is_zero(body + end, body + blyi_hybrid_spill_at(g));
}

/* Adds the count of a slot to *sum, and 1 to *spilled if that count is in the map. Returns false if
 * the slot cannot have that count, or if *sum overflows. */
static bool hybrid_add_count(const blyi_cuckoo_table *t, const blyi_spilled_counts *s,
                             uint64_t slot, uint64_t *spilled, uint64_t *sum) {
    blyi_cuckoo_class c;
    bool used = blyi_slot_class(t, slot / BLYI_BUCKET_SLOTS, slot % BLYI_BUCKET_SLOTS, &c);
    uint64_t count = blyi_slot_count(t, slot);
    if (used != (count != 0) || (used && !blyi_entry_is_first(t, slot, c)))
        return false;
    if (count == BLYI_SPILLED) {
        uint64_t at = blyi_spilled_find(s, c);
        if (at == BLYI_NO_SLOT)
            return false;
        count = blyi_spilled_count(s, at);
        ++*spilled;
    }
    *sum += count;
    return *sum >= count;
}

/* The loop checks that no class has two entries in the table, and that each spilled class has an
 * entry in the map. So if the map has as many entries as there are spilled classes, each entry
 * belongs to a class of the table. */
static bool hybrid_body_is_valid(const blyi_shape *shape, const uint8_t *body) {
    uint8_t *bytes = (uint8_t *)(uintptr_t)body;
    const blyi_cuckoo_table t = blyi_hybrid_table_over(&shape->geometry, bytes);
    const blyi_spilled_counts s = blyi_spilled_over(&shape->geometry, bytes);
    uint64_t used, spilled = 0, sum = 0;
    if (!blyi_table_is_valid(&t, &used) || !hybrid_gaps_are_zero(&shape->geometry, body) ||
        !blyi_spilled_is_valid(&s, t.buckets))
        return false;
    for (uint64_t slot = 0; slot < blyi_table_slots(&t); slot++)
        if (!hybrid_add_count(&t, &s, slot, &spilled, &sum))
            return false;
    return spilled == blyi_spilled_used(&s) && sum == shape->items;
}

/* The number of classes in use. */
static uint64_t hybrid_classes(const bly_filter *f) {
    const blyi_cuckoo_table t = blyi_table_of(f);
    uint64_t n = 0;
    blyi_cuckoo_class c;
    for (uint64_t slot = 0; blyi_table_next(&t, &slot, &c);)
        n++;
    return n;
}

/* Copies do not affect the FPR, so the probability of hash collisions is computed from the number
 * of distinct classes. */
static void hybrid_fill_stats(const bly_filter *f, bly_filter_info *out) {
    const blyi_cuckoo_table t = blyi_table_of(f);
    const blyi_spilled_counts s = blyi_spilled_over(&f->geometry, f->body);
    uint64_t used = hybrid_classes(f), spilled = 0, at = 0;
    blyi_cuckoo_class c;
    while (blyi_spilled_next(&s, &at, &c))
        spilled++;
    blyi_table_stats(&t, &f->geometry, blyi_hash_floor((double)used, f->hasher.bits), out);
    out->set_bits += used * 4 + spilled * 8 * (s.id_bytes + BLYI_COUNT_BYTES);
    out->expected_fill = bly_plan_fill(&f->geometry, (double)used);
    out->spilled = spilled;
}

/* ---- set operations: class by class, with their counts ---------------------------------------
 *
 * The classes are those of the table's entries. The map is only read for counts.
 */

/* Works on a clone of dst, which replaces dst at the end, because an add may fail for lack of
 * room. */
static bly_status hybrid_union(bly_filter *dst, const bly_filter *src) {
    const blyi_cuckoo_table from = blyi_hybrid_table(src);
    bly_filter *copy;
    blyi_cuckoo_class c;
    bool is_new;
    bly_status status = bly_filter_clone(dst, &dst->alloc, &copy);
    if (status)
        return status;
    for (uint64_t slot = 0; status == BLY_OK && blyi_table_next(&from, &slot, &c);)
        status = hybrid_add(copy, c, hybrid_class_count(src, &from, slot - 1, c), &is_new);
    if (status) {
        bly_filter_destroy(copy);
        return status;
    }
    copy->approximate |= src->approximate;
    blyi_cuckoo_replace(dst, copy);
    return BLY_OK;
}

static bly_status hybrid_intersect(bly_filter *dst, const bly_filter *src) {
    blyi_cuckoo_table t = blyi_hybrid_table(dst);
    blyi_cuckoo_class c;
    for (uint64_t slot = 0; blyi_table_next(&t, &slot, &c);) {
        uint64_t left = hybrid_class_copies(src, c);
        if (left < hybrid_class_count(dst, &t, slot - 1, c))
            hybrid_lower(dst, &t, slot - 1, c, left);
    }
    dst->approximate = true;
    return BLY_OK;
}

static bly_status hybrid_subtract(bly_filter *dst, const bly_filter *src) {
    blyi_cuckoo_table t = blyi_hybrid_table(dst);
    const blyi_cuckoo_table other = blyi_hybrid_table(src);
    blyi_cuckoo_class c;
    if (dst == src) { /* removing entries would disturb the iteration */
        bly_filter_clear(dst);
        return BLY_OK;
    }
    for (uint64_t slot = 0; blyi_table_next(&other, &slot, &c);) {
        uint64_t at = blyi_table_find(&t, c);
        if (at == BLYI_NO_SLOT)
            continue;
        uint64_t present = hybrid_class_count(dst, &t, at, c);
        uint64_t removed = hybrid_class_count(src, &other, slot - 1, c);
        hybrid_lower(dst, &t, at, c, present > removed ? present - removed : 0);
    }
    dst->approximate |= src->approximate;
    return BLY_OK;
}

static bly_status hybrid_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    blyi_table_overlap(a, (double)hybrid_classes(a), b, (double)hybrid_classes(b), out);
    return BLY_OK;
}

/* Compares the numbers of copies, in total and of each class of a. If all are equal, b has no
 * further classes. */
static bool hybrid_equal(const bly_filter *a, const bly_filter *b) {
    const blyi_cuckoo_table t = blyi_hybrid_table(a);
    blyi_cuckoo_class c;
    if (blyi_filter_items(a) != blyi_filter_items(b))
        return false;
    for (uint64_t slot = 0; blyi_table_next(&t, &slot, &c);)
        if (hybrid_class_count(a, &t, slot - 1, c) != hybrid_class_copies(b, c))
            return false;
    return true;
}

/* ---- plan ------------------------------------------------------------------------------------ */

static unsigned hybrid_entry_bits(const bly_geometry *g) {
    return 8 * (blyi_hybrid_id_bytes(g) + BLYI_COUNT_BYTES);
}

/* A table that passes the check has less than 2^48 bits, so the sums stay far below 2^64. */
static bly_status hybrid_check(const bly_geometry *g) {
    bly_status status = blyi_table_check(g);
    if (status)
        return status;
    if (g->detail > BLYI_MAX_SIZE_CLASS)
        return BLY_EGEOMETRY;
    uint64_t before = (blyi_hybrid_spill_at(g) + BLYI_SPILL_HEADER_BYTES) * 8;
    if (before > BLYI_MAX_BITS)
        return BLY_ETOOBIG;
    uint64_t max = (BLYI_MAX_BITS - before) / hybrid_entry_bits(g);
    return blyi_size_of_class(g->detail) > max ? BLY_ETOOBIG : BLY_OK;
}

static uint64_t hybrid_bits(const bly_geometry *g) {
    uint64_t before = blyi_hybrid_spill_at(g) * 8;
    if (g->detail == 0)
        return before;
    return before + (uint64_t)BLYI_SPILL_HEADER_BYTES * 8 +
           blyi_size_of_class(g->detail) * hybrid_entry_bits(g);
}

static unsigned hybrid_slot_width(const bly_geometry *g) {
    return g->hashes + 1 + 4;
}

static bly_status hybrid_plan(uint64_t keys, double fpr, bly_geometry *out) {
    return blyi_table_plan(BLY_HYBRID, keys, fpr, out);
}

static const blyi_planner hybrid_planner = {
    .check = hybrid_check,
    .bits = hybrid_bits,
    .width = hybrid_slot_width,
    .plan = hybrid_plan,
    .rate = blyi_table_rate,
    .max_keys = blyi_table_max_keys,
    .fill = blyi_table_fill,
    .lookup_lines = 2,
};

/* ---- the kind -------------------------------------------------------------------------------- */

static const blyi_ops hybrid_ops = {
    .capabilities = BLYI_CUCKOO_CAPABILITIES | BLY_DETAIL_GROWS,
    .prefetch = hybrid_prefetch,
    .prefetch_contains = blyi_cuckoo_prefetch,
    .try_add_many = hybrid_add_many,
    .contains_many = blyi_cuckoo_contains_many,
    .contains_keys_pipelined = blyi_cuckoo_contains_keys,
    .contains_hashes_pipelined = blyi_cuckoo_contains_hashes,
    .remove_one = hybrid_remove_one,
    .count_copies = hybrid_count_copies,
    .body_is_valid = hybrid_body_is_valid,
    .fill_stats = hybrid_fill_stats,
    .union_with = hybrid_union,
    .intersect_with = hybrid_intersect,
    .subtract_from = hybrid_subtract,
    .estimate_overlap = hybrid_overlap,
    .any_detail = true,
    .is_equal = hybrid_equal,
};

const blyi_kind blyi_kind_hybrid = {
    .code = BLY_HYBRID,
    .name = "hybrid",
    .meaning = "fingerprints with exact counts; keys can be removed, and added any number of times",
    .reason = "keys can be removed, and added any number of times: counts are exact, and only keys "
              "added fifteen times or more take more space",
    .hashes_name = "bits of a remainder",
    .size_unit = "bucket",
    .describe_rest = blyi_table_describe,
    .meets = BLY_NEED_COUNTS,
    .planner = &hybrid_planner,
    .ops = &hybrid_ops,
};
