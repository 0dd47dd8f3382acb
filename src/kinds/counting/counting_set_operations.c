/* Set operations and statistics of counting filters: all counters of a word at once. The probe
 * sequence of keys does not matter here.
 *
 * Union adds counters up to the limit, so a counter that is stuck in either filter is stuck in the
 * result: byte for byte the filter of both multisets, unless copies were removed after a counter
 * got stuck. Intersection keeps the lower of two counters: every key keeps at least the smaller of
 * its two numbers of copies.
 *
 * Difference lowers each counter by the other filter's. A counter that is stuck in dst stays stuck.
 * Where the counter is stuck only in src, its true value is not known. Subtracting too little
 * leaves a counter too high, subtracting too much would lose keys, so nothing is subtracted. If all
 * of src's keys are in dst, no other counter of dst is below that of src. If some are not, a
 * counter of dst that is below that of src is left unchanged.
 *
 * The numbers of keys, and of keys that two filters share, are estimated as for bits, from the
 * counters that are not 0.
 */
#include "filter/rate.h"
#include "filter/set_operations.h"
#include "kinds/counting/counting_layout.h"

#include <math.h>

/* ---- arithmetic on all counters of a word ------------------------------------------------------
 *
 * Counters are processed in two halves, the even and the odd ones, so that each has a gap of its
 * own width above it, to carry into or to borrow from. */

/* Mask of the counters that are stuck. */
BLYI_COUNTING_INLINE uint64_t counting_stuck(uint64_t x, unsigned width) {
    return blyi_counting_low_bits(width) & ~blyi_counting_nonzero(~x, width);
}

/* All bits of every second counter. */
BLYI_COUNTING_INLINE uint64_t counting_even(unsigned width) {
    return UINT64_MAX / (blyi_counting_limit(width) + 2);
}

typedef uint64_t counting_half_fn(uint64_t a, uint64_t b, unsigned width);

/* Applies f, a function for every second counter, to all counters of two words. */
BLYI_COUNTING_INLINE uint64_t counting_apply(uint64_t a, uint64_t b, unsigned width,
                                             counting_half_fn *f) {
    const uint64_t even = counting_even(width);
    return f(a & even, b & even, width) | f(a >> width & even, b >> width & even, width) << width;
}

/* All bits of every second counter for which the bit above the counter, in the gap, is set in x. */
BLYI_COUNTING_INLINE uint64_t counting_spread_carry(uint64_t x, unsigned width) {
    uint64_t above = x & blyi_counting_low_bits(2 * width) << width;
    return above - (above >> width);
}

/* a + b, at most the limit. */
BLYI_COUNTING_INLINE uint64_t counting_half_sum(uint64_t a, uint64_t b, unsigned width) {
    uint64_t sum = a + b;
    return (sum | counting_spread_carry(sum, width)) & counting_even(width);
}

/* All bits of every second counter for which a >= b. */
BLYI_COUNTING_INLINE uint64_t counting_half_at_least(uint64_t a, uint64_t b, unsigned width) {
    return counting_spread_carry((a | blyi_counting_low_bits(2 * width) << width) - b, width);
}

BLYI_COUNTING_INLINE uint64_t counting_half_min(uint64_t a, uint64_t b, unsigned width) {
    uint64_t at_least = counting_half_at_least(a, b, width);
    return (b & at_least) | (a & ~at_least);
}

static uint64_t counting_word_sum(uint64_t a, uint64_t b, unsigned width) {
    return counting_apply(a, b, width, counting_half_sum);
}

static uint64_t counting_word_min(uint64_t a, uint64_t b, unsigned width) {
    return counting_apply(a, b, width, counting_half_min);
}

/* The sum of a word's counters. */
static uint64_t counting_word_total(uint64_t x, unsigned width) {
    uint64_t sum = 0;
    for (; x; x >>= width)
        sum += x & blyi_counting_limit(width);
    return sum;
}

/* ---- union ----------------------------------------------------------------------------------- */

typedef uint64_t counting_combine_fn(uint64_t a, uint64_t b, unsigned width);

static inline void counting_combine(bly_filter *dst, const bly_filter *src,
                                    counting_combine_fn *f) {
    const uint64_t words = blyi_word_count(dst), bits = bly_plan_bits(&dst->geometry);
    const unsigned width = dst->geometry.detail;
    uint64_t *into = blyi_words(dst);
    for (uint64_t i = 0; i < words; i++)
        into[i] = blyi_le64(f(blyi_le64(into[i]), blyi_counting_word(src, i, bits), width));
}

bly_status blyi_counting_union(bly_filter *dst, const bly_filter *src) {
    counting_combine(dst, src, counting_word_sum);
    dst->items = blyi_sum(dst->items, src->items);
    dst->approximate |= src->approximate;
    return BLY_OK;
}

/* ---- difference ------------------------------------------------------------------------------ */

/* All bits of the counters that are stuck. */
static uint64_t counting_stuck_bits(uint64_t x, unsigned width) {
    return counting_stuck(x, width) * blyi_counting_limit(width);
}

/* Subtracts a word of src from one of dst. Counters that are stuck only in src count neither as
 * subtracted nor as passed over. */
static void counting_subtract_word(uint64_t *into, uint64_t src, unsigned width,
                                   blyi_subtraction *t) {
    uint64_t a = blyi_le64(*into), stuck = counting_stuck_bits(a, width);
    uint64_t known = src & ~(counting_stuck_bits(src, width) & ~stuck);
    uint64_t at_least = counting_apply(a, src, width, counting_half_at_least);
    uint64_t removed = known & at_least, lacking = known & ~at_least;
    a -= removed & ~stuck;
    *into = blyi_le64(a);
    t->taken += counting_word_total(removed, width);
    t->passed += counting_word_total(lacking, width);
    t->left += counting_word_total(a & ~stuck, width);
    t->stuck += counting_word_total(stuck, width);
}

bly_status blyi_counting_subtract(bly_filter *dst, const bly_filter *src) {
    const uint64_t bits = bly_plan_bits(&dst->geometry);
    const uint64_t others = src->items; /* read first: src may be dst */
    blyi_subtraction t = {0, 0, 0, 0};
    for (uint64_t i = 0; i < blyi_word_count(dst); i++)
        counting_subtract_word(blyi_words(dst) + i, blyi_counting_word(src, i, bits),
                               dst->geometry.detail, &t);
    dst->items = blyi_copies_left(dst->items, others, &t);
    dst->approximate |= src->approximate;
    return BLY_OK;
}

/* ---- estimates ------------------------------------------------------------------------------- */

/* The most likely number of keys if `used` counters are nonzero. */
static double counting_keys_of(const bly_filter *f, uint64_t used) {
    return blyi_counting_keys(&f->geometry, (double)used / (double)f->geometry.size);
}

bly_status blyi_counting_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    const unsigned width = a->geometry.detail;
    const uint64_t bits = bly_plan_bits(&a->geometry);
    uint64_t in_a = 0, in_b = 0, in_both = 0;
    for (uint64_t i = 0; i < blyi_word_count(a); i++) {
        uint64_t of_a = blyi_counting_nonzero(blyi_counting_word(a, i, bits), width);
        uint64_t of_b = blyi_counting_nonzero(blyi_counting_word(b, i, bits), width);
        in_a += blyi_popcount64(of_a);
        in_b += blyi_popcount64(of_b);
        in_both += blyi_popcount64(of_a & of_b);
    }
    *out =
        blyi_overlap_of(counting_keys_of(a, in_a), counting_keys_of(a, in_b),
                        counting_keys_of(a, in_a + in_b - in_both), counting_keys_of(a, in_both));
    return BLY_OK;
}

/* The number of counters that are not 0, and the number of those that are stuck. */
typedef struct counting_tally {
    uint64_t used, stuck;
} counting_tally;

static counting_tally counting_tally_of(const bly_filter *f) {
    const uint64_t bits = bly_plan_bits(&f->geometry);
    const unsigned width = f->geometry.detail;
    counting_tally t = {0, 0};
    for (uint64_t i = 0; i < blyi_word_count(f); i++) {
        uint64_t x = blyi_counting_word(f, i, bits);
        t.used += blyi_popcount64(blyi_counting_nonzero(x, width));
        t.stuck += blyi_popcount64(counting_stuck(x, width));
    }
    return t;
}

/* The number of copies: the sum of all counters over the mean number of counters that a copy
 * raises. */
static double counting_estimate_copies(const bly_filter *f) {
    const bly_geometry *g = &f->geometry;
    const uint64_t bits = bly_plan_bits(g);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < blyi_word_count(f); i++)
        sum += counting_word_total(blyi_counting_word(f, i, bits), g->detail);
    return (double)sum / (bly_plan_fill(g, 1) * (double)g->size);
}

bly_status blyi_counting_intersect(bly_filter *dst, const bly_filter *src) {
    uint64_t fewer = dst->items < src->items ? dst->items : src->items;
    bly_overlap o;
    bly_status status = blyi_counting_overlap(dst, src, &o);
    if (status)
        return status;
    counting_combine(dst, src, counting_word_min);
    double keys = counting_keys_of(dst, counting_tally_of(dst).used);
    dst->items = blyi_copies_in_both(o.both, counting_estimate_copies(dst), keys, fewer);
    dst->approximate = true;
    return BLY_OK;
}

void blyi_counting_fill_stats(const bly_filter *f, bly_filter_info *out) {
    const bly_geometry *g = &f->geometry;
    counting_tally t = counting_tally_of(f);
    double keys = counting_keys_of(f, t.used);
    double floor = blyi_hash_floor(isfinite(keys) ? keys : (double)out->count, f->hasher.bits);
    out->set_bits = t.used * g->detail;
    out->fill = (double)t.used / (double)g->size;
    out->expected_fill = blyi_copies_fill(f, keys);
    out->estimated_keys = keys;
    out->stuck = t.stuck;
    out->expected_fpr = isfinite(keys) ? fmin(1, blyi_rate(g, keys) + floor) : 1;
    out->current_fpr = fmin(1, pow(out->fill, g->hashes) + floor);
}
