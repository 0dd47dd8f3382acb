/* Hybrid filters as a whole: statistics, what a sound body is, and two of them combined, class by
 * class with their counts.
 *
 * Classes are those of the table's entries; the map is only asked for the counts that it has. In a
 * damaged map (a file mapped, not loaded) a class may have several entries, a slot that is in use
 * may say 0, and a spilled count may be missing. Such an entry counts as 1, or 15: whatever comes
 * of that is a sound filter.
 */
#include "filter/rate.h"
#include "kinds/cuckoo/entries.h"
#include "kinds/hybrid/hybrid_counts.h"

/* ---- looking at all of it -------------------------------------------------------------------- */

static bool is_zero(const uint8_t *from, const uint8_t *until) {
    while (from < until && *from == 0)
        from++;
    return from >= until;
}

/* Bytes between a part and the next: after the table's tail, and after the last half byte. */
static bool gaps_are_zero(const bly_geometry *g, const uint8_t *body) {
    uint64_t counts = blyi_hybrid_counts_at(g), bits = blyi_table_bits(g);
    uint64_t end = counts + g->size * BLYI_BUCKET / 2;
    return is_zero(body + bits / 8, body + counts) &&
           is_zero(body + end, body + blyi_hybrid_spill_at(g));
}

/* Adds the count in a slot to *sum; false when it is not one that the slot can have. */
static bool add_count(const blyi_table *t, const blyi_spilled *s, uint64_t slot, uint64_t *spilled,
                      uint64_t *sum) {
    blyi_class c;
    bool used = blyi_slot_class(t, slot / BLYI_BUCKET, slot % BLYI_BUCKET, &c);
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

/* No class has two entries, and each that is spilled has a place in the map, so when there are as
 * many of both, each place has its entry. */
bool blyi_hybrid_sound(const blyi_shape *shape, const uint8_t *body) {
    uint8_t *bytes = (uint8_t *)(uintptr_t)body;
    const blyi_table t = blyi_hybrid_table_over(&shape->geometry, bytes);
    const blyi_spilled s = blyi_spilled_over(&shape->geometry, bytes);
    uint64_t used, spilled = 0, sum = 0;
    if (!blyi_table_sound(&t, &used) || !gaps_are_zero(&shape->geometry, body) ||
        !blyi_spilled_sound(&s, t.buckets))
        return false;
    for (uint64_t slot = 0; slot < blyi_table_slots(&t); slot++)
        if (!add_count(&t, &s, slot, &spilled, &sum))
            return false;
    return spilled == blyi_spilled_used(&s) && sum == shape->items;
}

/* Classes in use. */
static uint64_t classes(const bly_filter *f) {
    const blyi_table t = blyi_table_of(f);
    uint64_t n = 0;
    blyi_class c;
    for (uint64_t slot = 0; blyi_table_next(&t, &slot, &c);)
        n++;
    return n;
}

/* Copies do not weigh on the rate, so neither on the hash's floor. */
void blyi_hybrid_stats(const bly_filter *f, bly_stats *out) {
    const blyi_table t = blyi_table_of(f);
    const blyi_spilled s = blyi_spilled_over(&f->geometry, f->body);
    uint64_t used = classes(f), spilled = 0, at = 0;
    blyi_class c;
    while (blyi_spilled_next(&s, &at, &c))
        spilled++;
    blyi_table_stats(&t, &f->geometry, blyi_hash_floor((double)used, f->hasher.bits), out);
    out->set_bits += used * 4 + spilled * 8 * (s.id_bytes + BLYI_COUNT_BYTES);
    out->expected_fill = bly_plan_fill(&f->geometry, (double)used);
}

/* ---- two filters ----------------------------------------------------------------------------- */

/* What is done to dst is done to a copy, which then takes its place: there may be no room. */
bly_status blyi_hybrid_unite(bly_filter *dst, const bly_filter *src) {
    const blyi_table from = blyi_hybrid_table(src);
    bly_filter *copy;
    blyi_class c;
    bool is_new;
    bly_status status = bly_filter_clone(dst, &dst->alloc, &copy);
    if (status)
        return status;
    for (uint64_t slot = 0; status == BLY_OK && blyi_table_next(&from, &slot, &c);)
        status = blyi_hybrid_add(copy, c, blyi_hybrid_count(src, &from, slot - 1, c), &is_new);
    if (status) {
        bly_filter_destroy(copy);
        return status;
    }
    copy->approximate |= src->approximate;
    blyi_entries_replace(dst, copy);
    return BLY_OK;
}

bly_status blyi_hybrid_intersect(bly_filter *dst, const bly_filter *src) {
    blyi_table t = blyi_hybrid_table(dst);
    blyi_class c;
    for (uint64_t slot = 0; blyi_table_next(&t, &slot, &c);) {
        uint64_t left = blyi_hybrid_copies(src, c);
        if (left < blyi_hybrid_count(dst, &t, slot - 1, c))
            blyi_hybrid_lower(dst, &t, slot - 1, c, left);
    }
    dst->approximate = true;
    return BLY_OK;
}

bly_status blyi_hybrid_subtract(bly_filter *dst, const bly_filter *src) {
    blyi_table t = blyi_hybrid_table(dst);
    const blyi_table other = blyi_hybrid_table(src);
    blyi_class c;
    if (dst == src) { /* entries would leave while they are gone through */
        bly_filter_clear(dst);
        return BLY_OK;
    }
    for (uint64_t slot = 0; blyi_table_next(&other, &slot, &c);) {
        uint64_t at = blyi_table_find(&t, c);
        if (at == BLYI_NO_SLOT)
            continue;
        uint64_t has = blyi_hybrid_count(dst, &t, at, c);
        uint64_t goes = blyi_hybrid_count(src, &other, slot - 1, c);
        blyi_hybrid_lower(dst, &t, at, c, has > goes ? has - goes : 0);
    }
    dst->approximate |= src->approximate;
    return BLY_OK;
}

bly_status blyi_hybrid_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    blyi_table_overlap(a, (double)classes(a), b, (double)classes(b), out);
    return BLY_OK;
}

/* As many copies, and each class of one as often in the other: then that has no more classes. */
bool blyi_hybrid_equal(const bly_filter *a, const bly_filter *b) {
    const blyi_table t = blyi_hybrid_table(a);
    blyi_class c;
    if (blyi_filter_items(a) != blyi_filter_items(b))
        return false;
    for (uint64_t slot = 0; blyi_table_next(&t, &slot, &c);)
        if (blyi_hybrid_count(a, &t, slot - 1, c) != blyi_hybrid_copies(b, c))
            return false;
    return true;
}
