/* The entries of a fingerprint table: changing them, going through them, combining two tables. */
#include "kinds/cuckoo/entries.h"

#include <math.h>

bly_status blyi_entries_put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                            bly_tally *sum, blyi_store_fn *store) {
    for (size_t i = 0; i < n; i++) {
        blyi_table t = blyi_table_of(f); /* anew for each key: it may have grown */
        blyi_class c = blyi_class_of(&t, h[i]);
        bool is_new = blyi_table_count(&t, c) == 0;
        bly_status status = store(f, c);
        if (status)
            return status;
        f->items++; /* never more than slots: a loader has counted the entries */
        sum->done++;
        sum->fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    return BLY_OK;
}

bly_status blyi_entries_take(bly_filter *f, bly_hash h, bool *removed) {
    blyi_table t = blyi_table_of(f);
    *removed = blyi_table_remove(&t, blyi_class_of(&t, h));
    if (*removed)
        blyi_filter_subtract_count(f, 1);
    return BLY_OK;
}

uint64_t blyi_entries_copies(const bly_filter *f, bly_hash h) {
    const blyi_table t = blyi_table_of(f);
    return blyi_table_count(&t, blyi_class_of(&t, h));
}

/* ---- looking at all of them ------------------------------------------------------------------ */

bool blyi_table_sound(const blyi_table *t, uint64_t *used) {
    blyi_class c;
    *used = 0;
    for (uint64_t slot = 0; slot < blyi_table_slots(t); slot++) {
        if (!blyi_slot_class(t, slot / BLYI_BUCKET, slot % BLYI_BUCKET, &c))
            continue;
        if ((c.rest & t->core) == 0)
            return false;
        ++*used;
    }
    /* The tail may begin in the middle of a byte: the second word begins with the next. */
    uint64_t end = blyi_bucket_bit(t, t->buckets);
    return (blyi_bits_at(t->body, end) | blyi_bits_at(t->body, end + 4)) == 0;
}

bool blyi_entries_sound(const blyi_shape *shape, const uint8_t *body) {
    const blyi_table t = blyi_table_over(&shape->geometry, (uint8_t *)(uintptr_t)body);
    uint64_t used;
    return blyi_table_sound(&t, &used) && used == shape->items;
}

/* Of copies in one bucket the lowest is the first, and those of the primary bucket come before
 * those of the other. */
bool blyi_entry_is_first(const blyi_table *t, uint64_t slot, blyi_class c) {
    unsigned width = blyi_table_width(t);
    uint64_t entry = blyi_slot_get(t->body, width, slot);
    for (uint64_t other = slot - slot % BLYI_BUCKET; other < slot; other++)
        if (blyi_slot_get(t->body, width, other) == entry)
            return false;
    bool in_primary = entry == c.rest, found = false;
    for (unsigned j = 0; !in_primary && j < BLYI_BUCKET; j++)
        found |= blyi_slot_get(t->body, width, c.bucket * BLYI_BUCKET + j) == c.rest;
    return !found;
}

/* The rate is the share of all hashes whose class is taken. Classes with core 1 are twice as likely
 * as others. */
void blyi_table_stats(const blyi_table *t, const bly_geometry *g, double floor, bly_stats *out) {
    double slots = (double)blyi_table_slots(t);
    uint64_t used = 0, taken = 0;
    blyi_class c;
    for (uint64_t slot = 0; blyi_table_next(t, &slot, &c); used++)
        if (blyi_entry_is_first(t, slot - 1, c))
            taken += (c.rest & t->core) == 1 ? 2 : 1;
    out->set_bits = used * blyi_table_width(t);
    out->fill = (double)used / slots;
    out->estimated_keys = (double)used;
    out->predicted_fpr = fmin(1, blyi_table_rate(g, (double)used) + floor);
    out->current_fpr = fmin(1, ldexp((double)taken / (double)t->buckets, -(int)t->rest) + floor);
}

void blyi_entries_stats(const bly_filter *f, bly_stats *out) {
    const blyi_table t = blyi_table_of(f);
    blyi_table_stats(&t, &f->geometry, out->current_fpr, out);
}

/* ---- set algebra: on classes, each with its number of copies --------------------------------- */

void blyi_entries_replace(bly_filter *dst, bly_filter *copy) {
    bly_filter old = *dst;
    *dst = *copy;
    *copy = old;
    bly_filter_destroy(copy);
}

/* What is done to dst is done to a copy, which then takes its place: another entry may find none.
 */
bly_status blyi_entries_unite(bly_filter *dst, const bly_filter *src, blyi_store_fn *store) {
    const blyi_table from = blyi_table_of(src);
    bly_filter *copy;
    blyi_class c;
    bly_status status = bly_filter_clone(dst, &dst->alloc, &copy);
    if (status)
        return status;
    for (uint64_t slot = 0; status == BLY_OK && blyi_table_next(&from, &slot, &c);) {
        const blyi_table to = blyi_table_of(copy); /* anew for each entry: it may have grown */
        status = store(copy, blyi_class_in(&to, &from, c));
        copy->items++;
    }
    if (status) {
        bly_filter_destroy(copy);
        return status;
    }
    copy->approximate |= src->approximate;
    blyi_entries_replace(dst, copy);
    return BLY_OK;
}

/* An entry goes when dst has more copies of its class than src. */
bly_status blyi_entries_intersect(bly_filter *dst, const bly_filter *src) {
    blyi_table t = blyi_table_of(dst);
    const blyi_table other = blyi_table_of(src);
    blyi_class c;
    for (uint64_t slot = 0; blyi_table_next(&t, &slot, &c);) {
        if (blyi_table_count(&t, c) <= blyi_table_count(&other, blyi_class_in(&other, &t, c)))
            continue;
        blyi_slot_set(t.body, blyi_table_width(&t), slot - 1, 0);
        blyi_filter_subtract_count(dst, 1);
    }
    dst->approximate = true;
    return BLY_OK;
}

bly_status blyi_entries_subtract(bly_filter *dst, const bly_filter *src) {
    blyi_table t = blyi_table_of(dst);
    const blyi_table other = blyi_table_of(src);
    blyi_class c;
    if (dst == src) { /* entries would leave while they are gone through */
        bly_filter_clear(dst);
        return BLY_OK;
    }
    for (uint64_t slot = 0; blyi_table_next(&other, &slot, &c);)
        if (blyi_table_remove(&t, blyi_class_in(&t, &other, c)))
            blyi_filter_subtract_count(dst, 1);
    dst->approximate |= src->approximate;
    return BLY_OK;
}

/* Entries in both: for every class as many as the one has that has fewer. */
static double common(const blyi_table *a, const blyi_table *b) {
    blyi_class c;
    double sum = 0;
    for (uint64_t slot = 0; blyi_table_next(a, &slot, &c);) {
        unsigned in_a = blyi_table_count(a, c);
        unsigned in_b = blyi_table_count(b, blyi_class_in(b, a, c));
        sum += in_b < in_a ? (double)in_b / in_a : 1;
    }
    return sum;
}

/* Of two keys that have nothing to do with each other a few share a class: of the (a - x)(b - x)
 * pairs outside the x common keys the share q. So common() = x + q (a - x)(b - x), which is solved
 * for x by repetition; q a and q b are rates, so a few turns do. */
void blyi_table_overlap(const bly_filter *a, double in_a, const bly_filter *b, double in_b,
                        bly_overlap *out) {
    const blyi_table ta = blyi_table_of(a), tb = blyi_table_of(b);
    double seen = common(&ta, &tb), q = blyi_table_rate(&a->geometry, 1), both = seen;
    for (int turn = 0; turn < 20; turn++)
        both = fmax(0, seen - q * (in_a - both) * (in_b - both));
    *out = (bly_overlap){in_a, in_b, both, in_a + in_b - both, 1};
    if (out->either > 0)
        out->jaccard = fmin(1, both / out->either);
}

bly_status blyi_entries_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    double in_a = (double)blyi_filter_items(a), in_b = (double)blyi_filter_items(b);
    blyi_table_overlap(a, in_a, b, in_b, out);
    return BLY_OK;
}

/* As many entries, and no class with more copies in one: then none has fewer either. */
bool blyi_entries_equal(const bly_filter *a, const bly_filter *b) {
    const blyi_table ta = blyi_table_of(a), tb = blyi_table_of(b);
    blyi_class c;
    if (blyi_filter_items(a) != blyi_filter_items(b))
        return false;
    for (uint64_t slot = 0; blyi_table_next(&ta, &slot, &c);)
        if (blyi_table_count(&ta, c) > blyi_table_count(&tb, c))
            return false;
    return true;
}
