/* counting_layout.h - what the files of the counting filter share: packed counters, the planner and
 * the set operations. Internal. counting.c explains the kind.
 *
 * Counters have 2, 4, 8 or 16 bits. Counter i of `width` bits begins at bit i * width, so none
 * spans two words. Words are little-endian. A counter that has reached its limit (all bits set) is
 * stuck: it means "this many or more", so nothing lowers it again, and nothing raises it.
 */
#ifndef BLYI_KINDS_COUNTING_LAYOUT_H
#define BLYI_KINDS_COUNTING_LAYOUT_H

#include "filter/filter.h"
#include "filter/kind.h"

#include <bloomery/plan.h>
#include <stdbool.h>

#define BLYI_COUNTING_INLINE static inline __attribute__((always_inline))

enum {
    BLYI_COUNTING_DEFAULT_BITS = 4, /* width of a counter unless another one is requested */
    BLYI_COUNTING_MAX_HASHES = 64,  /* the most counters per key */
};

static inline bool blyi_counting_width_is_valid(uint32_t width) {
    return width == 2 || width == 4 || width == 8 || width == 16;
}

/* The largest value of a counter. */
BLYI_COUNTING_INLINE uint64_t blyi_counting_limit(unsigned width) {
    return ((uint64_t)1 << width) - 1;
}

/* The classic filter whose set bits are the nonzero counters of a counting filter. */
static inline bly_geometry blyi_counting_classic(const bly_geometry *g) {
    return (bly_geometry){.kind = BLY_CLASSIC, .hashes = g->hashes, .size = g->size};
}

/* ---- words of counters -------------------------------------------------------------------------
 *
 * These functions take and return values, not words as they are stored (blyi_le64). A mask of
 * counters has bits only where counters have their lowest bit. */

/* Word i of the body, of which `bits` bits belong to counters. Bits after them, which are set only
 * in a damaged mapped file, read as 0. */
static inline uint64_t blyi_counting_word(const bly_filter *f, uint64_t i, uint64_t bits) {
    uint64_t x = blyi_le64(blyi_words(f)[i]);
    if (64 * i + 64 <= bits)
        return x;
    return 64 * i < bits ? x & ~(UINT64_MAX << bits % 64) : 0;
}

/* Returns a mask of the lowest bit of every counter. */
BLYI_COUNTING_INLINE uint64_t blyi_counting_low_bits(unsigned width) {
    return UINT64_MAX / blyi_counting_limit(width);
}

/* Mask of the counters that are not 0. Each step ORs the upper half of a counter into the lower, so
 * that every bit reaches the lowest. */
BLYI_COUNTING_INLINE uint64_t blyi_counting_nonzero(uint64_t x, unsigned width) {
    for (unsigned half = width / 2; half > 0; half /= 2)
        x |= x >> half;
    return x & blyi_counting_low_bits(width);
}

/* ---- planning (counting_plan.c) -------------------------------------------------------------- */

extern const blyi_planner blyi_counting_planner;

/* The smallest geometry with counters of that width, as blyi_planner.plan. */
bly_status blyi_counting_plan(uint64_t keys, double fpr, uint32_t width, bly_geometry *out);

/* The most likely number of keys if a share `fill` of the counters is nonzero; INFINITY if all
 * are. */
double blyi_counting_keys(const bly_geometry *g, double fill);

/* The probability that a given counter was raised by at least `min_count` of n keys. */
double blyi_counting_tail(const bly_geometry *g, double n, uint32_t min_count);

/* ---- functions of blyi_ops (counting_set_operations.c) --------------------------------------- */

bly_status blyi_counting_union(bly_filter *dst, const bly_filter *src);
bly_status blyi_counting_intersect(bly_filter *dst, const bly_filter *src);
bly_status blyi_counting_subtract(bly_filter *dst, const bly_filter *src);
bly_status blyi_counting_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out);
void blyi_counting_fill_stats(const bly_filter *f, bly_filter_info *out);

#endif
