/* The cuckoo filter: a fingerprint table (Fan, Andersen, Kaminsky and Mitzenmacher 2014).
 *
 * The idea: store a few bits of each key's hash, its remainder, in one of two buckets that the hash
 * chooses. A key is present when its remainder is in either bucket, and is removed by removing one
 * copy of that remainder. When both buckets are full, entries move to their own other bucket until
 * there is room (cuckoo_table.c). So the other bucket must follow from the entry alone: from its
 * bucket and its remainder.
 *
 * This table differs from the usual one in three ways (cuckoo_table.h has the exact rules):
 *
 * - Any number of buckets. The usual other bucket is b XOR hash(remainder), which needs a power of
 *   two, and wastes up to half the memory. Here it is sum(core) - b modulo m, which is also its own
 *   inverse but allows any m.
 *
 * - Roles. A bit in each slot says whether the entry is in its first or its second bucket. It costs
 *   nothing: an entry matches only lookups that reach it in the same role. These are half of all,
 *   so a remainder that is one bit shorter has the same FPR. The role also tells the class of an
 *   entry: the bucket and remainder that the hash gave. Growth, union and intersection need the
 *   class.
 *
 * - The core. Only the low 9 bits of a remainder choose the sum, so the other bits may move to the
 *   bucket number when the table grows (growable_cuckoo.c).
 *
 * Buckets have four slots. The share of slots that can be used is 0.87 with two, 0.935 with three,
 * 0.97 with four and 0.987 with eight, but with eight a lookup compares twice as many remainders,
 * which costs one bit more in each.
 *
 * The FPR is about 4 load / 2^f. So remainders have f = 9, 12, 16 or 19 bits for 1%, 0.1%, 0.01% or
 * 0.001%. Slots are one bit longer, and 0.96 of them are in use in a full table (cuckoo_plan.c).
 *
 * Body: the slots, f + 1 bits each, one after the other from bit 0 on, then 64 bits that are 0.
 *
 * Most operations below are shared with the other kinds made of such a table.
 */
#include "kinds/cuckoo/cuckoo_operations.h"

#include <bloomery/filter.h>
#include <math.h>

/* ---- add, remove ----------------------------------------------------------------------------- */

bly_status blyi_cuckoo_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                bly_batch_result *sum, blyi_cuckoo_add_fn *add) {
    for (size_t i = 0; i < n; i++) {
        blyi_cuckoo_table t = blyi_table_of(f); /* each time: the table may have grown */
        blyi_cuckoo_class c = blyi_cuckoo_class_of(&t, h[i]);
        bool is_new = blyi_table_count(&t, c) == 0;
        bly_status status = add(f, c);
        if (status)
            return status;
        f->items++; /* cannot overflow: at most one per slot, also in a loaded file */
        sum->done++;
        sum->changed += is_new;
        if (added)
            added[i] = is_new;
    }
    return BLY_OK;
}

bly_status blyi_cuckoo_remove_one(bly_filter *f, bly_hash h, bool *removed) {
    blyi_cuckoo_table t = blyi_table_of(f);
    *removed = blyi_table_remove(&t, blyi_cuckoo_class_of(&t, h));
    if (*removed)
        blyi_filter_subtract_count(f, 1);
    return BLY_OK;
}

uint64_t blyi_cuckoo_count_copies(const bly_filter *f, bly_hash h) {
    const blyi_cuckoo_table t = blyi_table_of(f);
    return blyi_table_count(&t, blyi_cuckoo_class_of(&t, h));
}

/* ---- validity and statistics ----------------------------------------------------------------- */

bool blyi_table_is_valid(const blyi_cuckoo_table *t, uint64_t *used) {
    blyi_cuckoo_class c;
    *used = 0;
    for (uint64_t slot = 0; slot < blyi_table_slots(t); slot++) {
        if (!blyi_slot_class(t, slot / BLYI_BUCKET_SLOTS, slot % BLYI_BUCKET_SLOTS, &c))
            continue;
        if ((c.remainder & t->core) == 0)
            return false;
        ++*used;
    }
    /* The tail may begin in the middle of a byte. Then the second word begins with the next byte,
     * so that together they contain the whole tail. */
    uint64_t end = blyi_bucket_bit(t, t->buckets);
    return (blyi_bits_at(t->body, end) | blyi_bits_at(t->body, end + 4)) == 0;
}

bool blyi_cuckoo_body_is_valid(const blyi_shape *shape, const uint8_t *body) {
    const blyi_cuckoo_table t = blyi_table_over(&shape->geometry, (uint8_t *)(uintptr_t)body);
    uint64_t used;
    return blyi_table_is_valid(&t, &used) && used == shape->items;
}

/* The first copy is the lowest one of the primary bucket, or the lowest one of the other bucket if
 * the primary bucket has none. */
bool blyi_entry_is_first(const blyi_cuckoo_table *t, uint64_t slot, blyi_cuckoo_class c) {
    unsigned width = blyi_table_width(t);
    uint64_t entry = blyi_slot_get(t->body, width, slot);
    for (uint64_t other = slot - slot % BLYI_BUCKET_SLOTS; other < slot; other++)
        if (blyi_slot_get(t->body, width, other) == entry)
            return false;
    bool in_primary = entry == c.remainder, found = false;
    for (unsigned j = 0; !in_primary && j < BLYI_BUCKET_SLOTS; j++)
        found |= blyi_slot_get(t->body, width, c.bucket * BLYI_BUCKET_SLOTS + j) == c.remainder;
    return !found;
}

/* The FPR is the share of all hashes whose class has an entry. Classes with core 1 are twice as
 * likely as others. */
void blyi_table_stats(const blyi_cuckoo_table *t, const bly_geometry *g, double floor,
                      bly_filter_info *out) {
    double slots = (double)blyi_table_slots(t);
    uint64_t used = 0, weight = 0;
    blyi_cuckoo_class c;
    for (uint64_t slot = 0; blyi_table_next(t, &slot, &c); used++)
        if (blyi_entry_is_first(t, slot - 1, c))
            weight += (c.remainder & t->core) == 1 ? 2 : 1;
    out->set_bits = used * blyi_table_width(t);
    out->fill = (double)used / slots;
    out->estimated_keys = (double)used;
    out->expected_fpr = fmin(1, blyi_table_rate(g, (double)used) + floor);
    out->current_fpr =
        fmin(1, ldexp((double)weight / (double)t->buckets, -(int)t->remainder_bits) + floor);
}

void blyi_cuckoo_fill_stats(const bly_filter *f, bly_filter_info *out) {
    const blyi_cuckoo_table t = blyi_table_of(f);
    blyi_table_stats(&t, &f->geometry, out->current_fpr, out);
}

/* ---- set operations, on classes with their numbers of copies ------------------------------ */

void blyi_cuckoo_replace(bly_filter *dst, bly_filter *copy) {
    bly_filter old = *dst;
    *dst = *copy;
    *copy = old;
    bly_filter_destroy(copy);
}

/* Works on a clone of dst, which replaces dst at the end, because an add may fail for lack of
 * room. */
bly_status blyi_cuckoo_union(bly_filter *dst, const bly_filter *src, blyi_cuckoo_add_fn *add) {
    const blyi_cuckoo_table from = blyi_table_of(src);
    bly_filter *copy;
    blyi_cuckoo_class c;
    bly_status status = bly_filter_clone(dst, &dst->alloc, &copy);
    if (status)
        return status;
    for (uint64_t slot = 0; status == BLY_OK && blyi_table_next(&from, &slot, &c);) {
        const blyi_cuckoo_table to = blyi_table_of(copy); /* copy's table may have grown */
        status = add(copy, blyi_cuckoo_class_in(&to, &from, c));
        copy->items++;
    }
    if (status) {
        bly_filter_destroy(copy);
        return status;
    }
    copy->approximate |= src->approximate;
    blyi_cuckoo_replace(dst, copy);
    return BLY_OK;
}

/* Removes an entry when dst has more copies of its class than src. */
bly_status blyi_cuckoo_intersect(bly_filter *dst, const bly_filter *src) {
    blyi_cuckoo_table t = blyi_table_of(dst);
    const blyi_cuckoo_table other = blyi_table_of(src);
    blyi_cuckoo_class c;
    for (uint64_t slot = 0; blyi_table_next(&t, &slot, &c);) {
        if (blyi_table_count(&t, c) <=
            blyi_table_count(&other, blyi_cuckoo_class_in(&other, &t, c)))
            continue;
        blyi_slot_set(t.body, blyi_table_width(&t), slot - 1, 0);
        blyi_filter_subtract_count(dst, 1);
    }
    dst->approximate = true;
    return BLY_OK;
}

bly_status blyi_cuckoo_subtract(bly_filter *dst, const bly_filter *src) {
    blyi_cuckoo_table t = blyi_table_of(dst);
    const blyi_cuckoo_table other = blyi_table_of(src);
    blyi_cuckoo_class c;
    if (dst == src) { /* removing entries would disturb the iteration */
        bly_filter_clear(dst);
        return BLY_OK;
    }
    for (uint64_t slot = 0; blyi_table_next(&other, &slot, &c);)
        if (blyi_table_remove(&t, blyi_cuckoo_class_in(&t, &other, c)))
            blyi_filter_subtract_count(dst, 1);
    dst->approximate |= src->approximate;
    return BLY_OK;
}

/* The number of common entries: the sum over all classes of the smaller number of copies. */
static double cuckoo_common_entries(const blyi_cuckoo_table *a, const blyi_cuckoo_table *b) {
    blyi_cuckoo_class c;
    double sum = 0;
    for (uint64_t slot = 0; blyi_table_next(a, &slot, &c);) {
        unsigned in_a = blyi_table_count(a, c);
        unsigned in_b = blyi_table_count(b, blyi_cuckoo_class_in(b, a, c));
        sum += in_b < in_a ? (double)in_b / in_a : 1;
    }
    return sum;
}

/* Two different keys share a class with probability q. With x common keys, q (a - x)(b - x) pairs
 * of other keys share one, so the number of common entries is x + q (a - x)(b - x). This is solved
 * for x by iteration. q a and q b are false-positive rates and so are small: a few iterations
 * suffice. */
void blyi_table_overlap(const bly_filter *a, double in_a, const bly_filter *b, double in_b,
                        bly_overlap *out) {
    const blyi_cuckoo_table ta = blyi_table_of(a), tb = blyi_table_of(b);
    double common = cuckoo_common_entries(&ta, &tb), q = blyi_table_rate(&a->geometry, 1);
    double both = common;
    for (int iteration = 0; iteration < 20; iteration++)
        both = fmax(0, common - q * (in_a - both) * (in_b - both));
    *out = (bly_overlap){in_a, in_b, both, in_a + in_b - both, 1};
    if (out->either > 0)
        out->jaccard = fmin(1, both / out->either);
}

bly_status blyi_cuckoo_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    double in_a = (double)blyi_filter_items(a), in_b = (double)blyi_filter_items(b);
    blyi_table_overlap(a, in_a, b, in_b, out);
    return BLY_OK;
}

/* Whether both have the same number of entries, and no class has more copies in a than in b. Then
 * no class has fewer either. */
bool blyi_cuckoo_equal(const bly_filter *a, const bly_filter *b) {
    const blyi_cuckoo_table ta = blyi_table_of(a), tb = blyi_table_of(b);
    blyi_cuckoo_class c;
    if (blyi_filter_items(a) != blyi_filter_items(b))
        return false;
    for (uint64_t slot = 0; blyi_table_next(&ta, &slot, &c);)
        if (blyi_table_count(&ta, c) > blyi_table_count(&tb, c))
            return false;
    return true;
}

/* ---- the fixed table ------------------------------------------------------------------------- */

static bly_status cuckoo_add(bly_filter *f, blyi_cuckoo_class c) {
    blyi_cuckoo_table t = blyi_table_of(f);
    return blyi_table_try_add(&t, c) ? BLY_OK : BLY_EFULL;
}

static bly_status cuckoo_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                  bly_batch_result *sum) {
    return blyi_cuckoo_add_many(f, h, n, added, sum, cuckoo_add);
}

static bly_status cuckoo_union(bly_filter *dst, const bly_filter *src) {
    return blyi_cuckoo_union(dst, src, cuckoo_add);
}

static const blyi_ops cuckoo_ops = {
    .capabilities = BLYI_CUCKOO_CAPABILITIES | BLY_LIMITS_COPIES,
    .prefetch = blyi_cuckoo_prefetch,
    .try_add_many = cuckoo_add_many,
    .contains_many = blyi_cuckoo_contains_many,
    .contains_keys_pipelined = blyi_cuckoo_contains_keys,
    .contains_hashes_pipelined = blyi_cuckoo_contains_hashes,
    .remove_one = blyi_cuckoo_remove_one,
    .count_copies = blyi_cuckoo_count_copies,
    .body_is_valid = blyi_cuckoo_body_is_valid,
    .fill_stats = blyi_cuckoo_fill_stats,
    .union_with = cuckoo_union,
    .intersect_with = blyi_cuckoo_intersect,
    .subtract_from = blyi_cuckoo_subtract,
    .estimate_overlap = blyi_cuckoo_overlap,
    .is_equal = blyi_cuckoo_equal,
    .prefetch_reads_no_body = true,
};

const blyi_kind blyi_kind_cuckoo = {
    .code = BLY_CUCKOO,
    .name = "cuckoo",
    .meaning = "fingerprints in buckets; keys can be removed",
    .reason =
        "keys can be removed, and a lookup reads two cache lines; smaller than a Bloom filter "
        "at rates below about 0.1%",
    .hashes_name = "bits of a remainder",
    .size_unit = "bucket",
    .describe_rest = blyi_table_describe,
    .planner = &blyi_cuckoo_planner,
    .ops = &cuckoo_ops,
};
