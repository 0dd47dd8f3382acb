/* cells.h - counters of 2, 4, 8 or 16 bits, packed: one by one, and a word of them at once.
 * Internal.
 *
 * Counter i of `width` bits begins at bit i * width, so none lies across two words; words are
 * little-endian. A counter that has reached its limit, all of its bits set, is stuck: it means so
 * many or more, so nothing lowers it again, and nothing raises it.
 *
 * The functions on words take and return values, not what lies in memory (blyi_le64). A mask has
 * bits only where counters have their lowest bit, `ones`.
 */
#ifndef BLYI_KINDS_COUNTING_COUNTING_CELLS_H
#define BLYI_KINDS_COUNTING_COUNTING_CELLS_H

#include "filter/filter.h"
#include "kinds/counting/counting_plan.h"

#define BLYI_COUNTERS_INLINE static inline __attribute__((always_inline))

BLYI_COUNTERS_INLINE uint64_t blyi_counter_limit(unsigned width) {
    return ((uint64_t)1 << width) - 1;
}

/* ---- the counters of a key, by their first bits ---------------------------------------------- */

BLYI_COUNTERS_INLINE uint64_t blyi_counter_get(const uint64_t *words, uint64_t at, uint64_t limit) {
    return blyi_le64(words[at >> 6]) >> (at & 63) & limit;
}

BLYI_COUNTERS_INLINE void blyi_counter_set(uint64_t *words, uint64_t at, uint64_t limit,
                                           uint64_t value) {
    uint64_t x = blyi_le64(words[at >> 6]) & ~(limit << (at & 63));
    words[at >> 6] = blyi_le64(x | value << (at & 63));
}

/* Some of a key's counters may be the same, and must be raised or lowered once. So all are read
 * before any is written, and what is written does not depend on what is there by then: the same
 * counter is given the same value twice. That is quicker than finding out which are the same. */

/* One more in each of k counters; returns whether one of them was 0. */
BLYI_COUNTERS_INLINE bool blyi_counters_raise(uint64_t *words, const uint64_t *at, unsigned k,
                                              uint64_t limit) {
    uint64_t old[BLYI_MAX_COUNTERS];
    bool fresh = false;
    for (unsigned j = 0; j < k; j++) {
        old[j] = blyi_counter_get(words, at[j], limit);
        fresh |= old[j] == 0;
    }
    for (unsigned j = 0; j < k; j++)
        blyi_counter_set(words, at[j], limit, old[j] + (old[j] < limit));
    return fresh;
}

/* One less; false when one of them is 0, and then nothing changes. */
BLYI_COUNTERS_INLINE bool blyi_counters_lower(uint64_t *words, const uint64_t *at, unsigned k,
                                              uint64_t limit) {
    uint64_t old[BLYI_MAX_COUNTERS];
    bool all = true;
    for (unsigned j = 0; j < k; j++) {
        old[j] = blyi_counter_get(words, at[j], limit);
        all &= old[j] != 0;
    }
    for (unsigned j = 0; all && j < k; j++)
        blyi_counter_set(words, at[j], limit, old[j] - (old[j] < limit));
    return all;
}

/* The lowest. */
BLYI_COUNTERS_INLINE uint64_t blyi_counters_lowest(const uint64_t *words, const uint64_t *at,
                                                   unsigned k, uint64_t limit) {
    uint64_t least = limit;
    for (unsigned j = 0; j < k; j++) {
        uint64_t count = blyi_counter_get(words, at[j], limit);
        least = count < least ? count : least;
    }
    return least;
}

/* ---- all counters of a word ------------------------------------------------------------------ */

BLYI_COUNTERS_INLINE uint64_t blyi_counter_ones(unsigned width) {
    return UINT64_MAX / blyi_counter_limit(width);
}

/* Those that are not 0: every bit of a counter is brought down to its lowest, by halves. */
BLYI_COUNTERS_INLINE uint64_t blyi_counters_used(uint64_t x, unsigned width) {
    for (unsigned half = width / 2; half > 0; half /= 2)
        x |= x >> half;
    return x & blyi_counter_ones(width);
}

/* Those that are stuck. */
BLYI_COUNTERS_INLINE uint64_t blyi_counters_stuck(uint64_t x, unsigned width) {
    return blyi_counter_ones(width) & ~blyi_counters_used(~x, width);
}

/* Every second counter, in a room of twice its width: space to carry into, or borrow from. */
BLYI_COUNTERS_INLINE uint64_t blyi_counter_rooms(unsigned width) {
    return UINT64_MAX / (blyi_counter_limit(width) + 2);
}

typedef uint64_t blyi_rooms_fn(uint64_t a, uint64_t b, unsigned width);

BLYI_COUNTERS_INLINE uint64_t blyi_counters_both(uint64_t a, uint64_t b, unsigned width,
                                                 blyi_rooms_fn *f) {
    const uint64_t even = blyi_counter_rooms(width);
    return f(a & even, b & even, width) | f(a >> width & even, b >> width & even, width) << width;
}

/* In each room: all bits of the counter for which the bit above it is set in x. */
BLYI_COUNTERS_INLINE uint64_t blyi_rooms_spread(uint64_t x, unsigned width) {
    uint64_t above = x & blyi_counter_ones(2 * width) << width;
    return above - (above >> width);
}

/* a + b, at most the limit. */
BLYI_COUNTERS_INLINE uint64_t blyi_rooms_sum(uint64_t a, uint64_t b, unsigned width) {
    uint64_t sum = a + b;
    return (sum | blyi_rooms_spread(sum, width)) & blyi_counter_rooms(width);
}

/* The counters of which a has at least as many as b. */
BLYI_COUNTERS_INLINE uint64_t blyi_rooms_reach(uint64_t a, uint64_t b, unsigned width) {
    return blyi_rooms_spread((a | blyi_counter_ones(2 * width) << width) - b, width);
}

BLYI_COUNTERS_INLINE uint64_t blyi_rooms_least(uint64_t a, uint64_t b, unsigned width) {
    uint64_t reach = blyi_rooms_reach(a, b, width);
    return (b & reach) | (a & ~reach);
}

/* ---- set operations and statistics (counting_algebra.c) -----------------------------------------
 */

#define BLYI_COUNTERS_CAN                                                                          \
    (BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_INTERSECT | BLY_CAN_OVERLAP | BLY_CAN_MAP |             \
     BLY_CAN_REMOVE | BLY_CAN_SUBTRACT | BLY_TELLS_COPIES)

bly_status blyi_counters_unite(bly_filter *dst, const bly_filter *src);
bly_status blyi_counters_intersect(bly_filter *dst, const bly_filter *src);
bly_status blyi_counters_subtract(bly_filter *dst, const bly_filter *src);
bly_status blyi_counters_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out);

/* blyi_ops.fill_stats, given the rate of the counters as they stand, as a function of the share
 * that is not 0. */
void blyi_counters_stats(const bly_filter *f, bly_stats *out,
                         double (*rate)(const bly_filter *f, double fill));

/* Word i of the body, of which `bits` bits belong to counters; what is past them, in a damaged map,
 * reads as 0. */
static inline uint64_t blyi_counters_word(const bly_filter *f, uint64_t i, uint64_t bits) {
    uint64_t x = blyi_le64(blyi_words(f)[i]);
    if (64 * i + 64 <= bits)
        return x;
    return 64 * i < bits ? x & ~(UINT64_MAX << bits % 64) : 0;
}

#endif
