/* Filters of counters as a whole: combined, and looked at. Both layouts alike, word by word; which
 * counters a key has does not matter here.
 *
 * Union adds counters, up to the limit, so that a counter that is stuck in either is stuck in the
 * result: the filter of both multisets, byte for byte, unless a counter was lowered after it got
 * stuck elsewhere. Intersection keeps the lower of two counters: of every key at least as many
 * copies as the filter has that has fewer. Difference lowers: a counter that is stuck stays, and
 * one that has fewer than the other filter is left alone. The first is a rule of all counters; the
 * second cannot happen where the other filter is a part of this one, unless the other's counter is
 * stuck, and then how much to lower is not known: too little leaves a counter too high, too much
 * would lose keys.
 *
 * How many keys there are, and how many two filters share, is estimated as for bits, from the
 * counters that are not 0.
 */
#include "../combine.h"
#include "../levels.h"
#include "cells.h"

#include "../../core/rate.h"
#include <math.h>

typedef uint64_t combine_fn(uint64_t a, uint64_t b, unsigned width);

static uint64_t sum(uint64_t a, uint64_t b, unsigned width) {
    return blyi_counters_both(a, b, width, blyi_rooms_sum);
}

static uint64_t least(uint64_t a, uint64_t b, unsigned width) {
    return blyi_counters_both(a, b, width, blyi_rooms_least);
}

static uint64_t difference(uint64_t a, uint64_t b, unsigned width) {
    uint64_t stuck = blyi_counters_stuck(a, width) * blyi_counter_limit(width);
    return blyi_counters_both(a, b & ~stuck, width, blyi_rooms_difference);
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

bly_status blyi_counters_subtract(bly_filter *dst, const bly_filter *src) {
    uint64_t copies = src->items; /* perhaps dst's own */
    combine(dst, src, difference);
    blyi_counters_uncount(dst, copies);
    dst->approximate |= src->approximate;
    return BLY_OK;
}

/* ---- estimates ------------------------------------------------------------------------------- */

static double keys_of(const bly_filter *f, uint64_t used) {
    return blyi_counting_keys(&f->geometry, (double)used / (double)blyi_counters(&f->geometry));
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

/* The sum of all counters. */
static double total(const bly_filter *f) {
    const uint64_t bits = bly_plan_bits(&f->geometry);
    const unsigned width = f->geometry.detail;
    double all = 0;
    for (uint64_t i = 0; i < blyi_word_count(f); i++)
        for (uint64_t x = blyi_counters_word(f, i, bits); x; x >>= width)
            all += (double)(x & blyi_counter_limit(width));
    return all;
}

/* Some of the counters that an intersection leaves are there by chance, so their number does not
 * tell that of the keys; but the overlap does, and what they hold, how many copies a key has. */
static uint64_t copies_in_both(const bly_filter *result, double both, uint64_t most) {
    double keys = keys_of(result, look(result).used), held = total(result);
    double mean = keys > 0 ? held / result->geometry.hashes / keys : 1;
    double copies = both * fmax(1, mean);
    return copies < (double)most ? (uint64_t)llround(copies) : most;
}

bly_status blyi_counters_intersect(bly_filter *dst, const bly_filter *src) {
    uint64_t fewer = dst->items < src->items ? dst->items : src->items;
    bly_overlap o;
    bly_status status = blyi_counters_overlap(dst, src, &o);
    if (status)
        return status;
    combine(dst, src, least);
    dst->items = copies_in_both(dst, o.both, fewer);
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
    out->fill = (double)t.used / (double)blyi_counters(g);
    out->estimated_keys = keys;
    out->stuck = t.stuck;
    out->predicted_fpr = isfinite(keys) ? fmin(1, blyi_rate(g, keys) + floor) : 1;
    out->current_fpr = fmin(1, rate(f, out->fill) + floor);
}
