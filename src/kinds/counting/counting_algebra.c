/* Counting filters as a whole: set operations and statistics, word by word. Which counters a key
 * has does not matter here.
 *
 * Union adds counters, up to the limit, so that a counter that is stuck in either is stuck in the
 * result: the filter of both multisets, byte for byte, unless a counter was lowered after it got
 * stuck elsewhere. Intersection keeps the lower of two counters: of every key at least as many
 * copies as the filter has that has fewer.
 *
 * Difference lowers counters by the other filter's. One that is stuck stays, as always; and where
 * the other's is stuck, how much to lower is not known: too little leaves a counter too high, too
 * much would lose keys, so nothing is. Apart from that no counter has fewer than the other filter's
 * if that is a part of this one. If it is not, a counter with fewer is left alone.
 *
 * How many keys there are, and how many two filters share, is estimated as for bits, from the
 * counters that are not 0.
 */
#include "filter/set_operations.h"
#include "kinds/counting/counting_cells.h"

#include "filter/rate.h"
#include <math.h>

typedef uint64_t combine_fn(uint64_t a, uint64_t b, unsigned width);

static uint64_t sum(uint64_t a, uint64_t b, unsigned width) {
    return blyi_counters_both(a, b, width, blyi_rooms_sum);
}

static uint64_t least(uint64_t a, uint64_t b, unsigned width) {
    return blyi_counters_both(a, b, width, blyi_rooms_least);
}

static inline void combine(bly_filter *dst, const bly_filter *src, combine_fn *f) {
    const uint64_t words = blyi_word_count(dst), bits = bly_plan_bits(&dst->geometry);
    const unsigned width = dst->geometry.detail;
    uint64_t *into = blyi_words(dst);
    for (uint64_t i = 0; i < words; i++)
        into[i] = blyi_le64(f(blyi_le64(into[i]), blyi_counters_word(src, i, bits), width));
}

bly_status blyi_counters_unite(bly_filter *dst, const bly_filter *src) {
    combine(dst, src, sum);
    dst->items = blyi_sum(dst->items, src->items);
    dst->approximate |= src->approximate;
    return BLY_OK;
}

/* ---- difference ------------------------------------------------------------------------------ */

static uint64_t word_sum(uint64_t x, unsigned width) {
    uint64_t sum = 0;
    for (; x; x >>= width)
        sum += x & blyi_counter_limit(width);
    return sum;
}

/* All bits of the counters that are stuck. */
static uint64_t stuck_of(uint64_t x, unsigned width) {
    return blyi_counters_stuck(x, width) * blyi_counter_limit(width);
}

/* The counters of b that are to be taken out of a, and those of which a has fewer. What is stuck in
 * b alone is neither. */
typedef struct parts {
    uint64_t taken, lacking;
} parts;

static parts parts_of(uint64_t a, uint64_t b, unsigned width) {
    uint64_t known = b & ~(stuck_of(b, width) & ~stuck_of(a, width));
    uint64_t reach = blyi_counters_both(a, b, width, blyi_rooms_reach);
    return (parts){known & reach, known & ~reach};
}

/* A word of dst less that of src. */
static void subtract_word(uint64_t *into, uint64_t src, unsigned width, blyi_subtraction *t) {
    uint64_t a = blyi_le64(*into), stuck = stuck_of(a, width);
    parts p = parts_of(a, src, width);
    a -= p.taken & ~stuck;
    *into = blyi_le64(a);
    t->taken += word_sum(p.taken, width);
    t->passed += word_sum(p.lacking, width);
    t->left += word_sum(a & ~stuck, width);
    t->stuck += word_sum(stuck, width);
}

bly_status blyi_counters_subtract(bly_filter *dst, const bly_filter *src) {
    const uint64_t bits = bly_plan_bits(&dst->geometry), others = src->items;
    blyi_subtraction t = {0, 0, 0, 0};
    for (uint64_t i = 0; i < blyi_word_count(dst); i++)
        subtract_word(blyi_words(dst) + i, blyi_counters_word(src, i, bits), dst->geometry.detail,
                      &t);
    dst->items = blyi_copies_left(dst->items, others, &t);
    dst->approximate |= src->approximate;
    return BLY_OK;
}

/* ---- estimates ------------------------------------------------------------------------------- */

static double keys_of(const bly_filter *f, uint64_t used) {
    return blyi_counting_keys(&f->geometry, (double)used / (double)f->geometry.size);
}

bly_status blyi_counters_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    const unsigned width = a->geometry.detail;
    const uint64_t bits = bly_plan_bits(&a->geometry);
    uint64_t in_a = 0, in_b = 0, in_both = 0;
    for (uint64_t i = 0; i < blyi_word_count(a); i++) {
        uint64_t of_a = blyi_counters_used(blyi_counters_word(a, i, bits), width);
        uint64_t of_b = blyi_counters_used(blyi_counters_word(b, i, bits), width);
        in_a += blyi_popcount64(of_a);
        in_b += blyi_popcount64(of_b);
        in_both += blyi_popcount64(of_a & of_b);
    }
    *out = blyi_overlap_of(keys_of(a, in_a), keys_of(a, in_b), keys_of(a, in_a + in_b - in_both),
                           keys_of(a, in_both));
    return BLY_OK;
}

/* Counters that are not 0, and those that are stuck. */
typedef struct tally {
    uint64_t used, stuck;
} tally;

static tally look(const bly_filter *f) {
    const uint64_t bits = bly_plan_bits(&f->geometry);
    const unsigned width = f->geometry.detail;
    tally t = {0, 0};
    for (uint64_t i = 0; i < blyi_word_count(f); i++) {
        uint64_t x = blyi_counters_word(f, i, bits);
        t.used += blyi_popcount64(blyi_counters_used(x, width));
        t.stuck += blyi_popcount64(blyi_counters_stuck(x, width));
    }
    return t;
}

/* The sum of all counters, over how many of them a copy raises on average. */
static double copies_held(const bly_filter *f) {
    const bly_geometry *g = &f->geometry;
    const uint64_t bits = bly_plan_bits(g);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < blyi_word_count(f); i++)
        sum += word_sum(blyi_counters_word(f, i, bits), g->detail);
    return (double)sum / (bly_plan_fill(g, 1) * (double)g->size);
}

bly_status blyi_counters_intersect(bly_filter *dst, const bly_filter *src) {
    uint64_t fewer = dst->items < src->items ? dst->items : src->items;
    bly_overlap o;
    bly_status status = blyi_counters_overlap(dst, src, &o);
    if (status)
        return status;
    combine(dst, src, least);
    dst->items = blyi_copies_in_both(o.both, copies_held(dst), keys_of(dst, look(dst).used), fewer);
    dst->approximate = true;
    return BLY_OK;
}

void blyi_counters_stats(const bly_filter *f, bly_stats *out,
                         double (*rate)(const bly_filter *f, double fill)) {
    const bly_geometry *g = &f->geometry;
    tally t = look(f);
    double keys = keys_of(f, t.used);
    double floor = blyi_hash_floor(isfinite(keys) ? keys : (double)out->count, f->hasher.bits);
    out->set_bits = t.used * g->detail;
    out->fill = (double)t.used / (double)g->size;
    out->expected_fill = blyi_copies_fill(f, keys);
    out->estimated_keys = keys;
    out->stuck = t.stuck;
    out->predicted_fpr = isfinite(keys) ? fmin(1, blyi_rate(g, keys) + floor) : 1;
    out->current_fpr = fmin(1, rate(f, out->fill) + floor);
}
