/* cells.h - counters that lie in bit planes, 64 at a time: what a layered filter's kernels must do.
 * filters/counting/layered.c has the idea. Internal.
 *
 * A cell's count is spread over four words: its bit in `used` says whether it is 0, and its bits in
 * plane[0..2] are count - 1 as a number of three bits. So one logical operation on words does the
 * same to 64 cells, and an addition is a ripple of carries through three planes, whatever the
 * counts: no branch, no shift, no cell that spills into its neighbour. The order of a word's bytes
 * does not matter to any of this: words are as they lie in memory.
 *
 * A block has 256 cells: four words of `used`, which are its front, and elsewhere four words of
 * each plane, one plane after the other. They are laid out as an sbbf block is (masks.h), and a key
 * owns the cells that it would have bits of there.
 *
 * A count of 8 is where counting ends, and means so many or more. Such a cell is stuck: nothing
 * raises it, nothing lowers it.
 */
#ifndef BLYI_SIMD_COUNTER_KERNEL_H
#define BLYI_SIMD_COUNTER_KERNEL_H

#include "base/bits.h"

enum {
    BLYI_COUNTER_WORDS = 4, /* of a block in the front, and in each plane */
    BLYI_COUNTER_PLANES = 3,
};

typedef struct blyi_counters64 {
    uint64_t used;
    uint64_t plane[BLYI_COUNTER_PLANES];
} blyi_counters64;

/* A copy of a key that owns these cells: a mask of masks.h. */
static inline blyi_counters64 blyi_counters64_once(uint64_t mask) {
    return (blyi_counters64){blyi_le64(mask), {0, 0, 0}};
}

static inline uint64_t blyi_counters64_stuck(const blyi_counters64 *c) {
    return c->plane[0] & c->plane[1] & c->plane[2];
}

/* a + b in every cell: count - 1 is (a - 1) + (b - 1) + 1 where both are used, and else that of the
 * one that is. What would be more than the limit is the limit. */
static inline blyi_counters64 blyi_counters64_sum(blyi_counters64 a, blyi_counters64 b) {
    blyi_counters64 sum = {a.used | b.used, {0, 0, 0}};
    uint64_t carry = a.used & b.used;
    for (unsigned i = 0; i < BLYI_COUNTER_PLANES; i++) {
        uint64_t x = a.plane[i], y = b.plane[i];
        sum.plane[i] = x ^ y ^ carry;
        carry = (x & y) | (carry & (x ^ y));
    }
    for (unsigned i = 0; i < BLYI_COUNTER_PLANES; i++)
        sum.plane[i] |= carry;
    return sum;
}

/* The cells of which a has fewer than b. */
static inline uint64_t blyi_counters64_less(blyi_counters64 a, blyi_counters64 b) {
    uint64_t borrow = 0;
    for (unsigned i = 0; i < BLYI_COUNTER_PLANES; i++) {
        uint64_t x = a.plane[i], y = b.plane[i];
        borrow = (~x & y) | (borrow & ~(x ^ y));
    }
    return b.used & (borrow | ~a.used);
}

/* a - b in every cell; none may have fewer. Stuck cells stay. */
static inline blyi_counters64 blyi_counters64_difference(blyi_counters64 a, blyi_counters64 b) {
    const uint64_t moves = ~blyi_counters64_stuck(&a);
    blyi_counters64 rest = {a.used, {0, 0, 0}};
    uint64_t borrow = b.used & moves;
    for (unsigned i = 0; i < BLYI_COUNTER_PLANES; i++) {
        uint64_t x = a.plane[i], y = b.plane[i] & moves;
        rest.plane[i] = x ^ y ^ borrow;
        borrow = (~x & y) | (borrow & ~(x ^ y));
    }
    /* Where as many were taken as there were, -1 is left, and a borrow. */
    rest.used &= ~borrow;
    for (unsigned i = 0; i < BLYI_COUNTER_PLANES; i++)
        rest.plane[i] &= ~borrow;
    return rest;
}

/* The lower of a and b in every cell. */
static inline blyi_counters64 blyi_counters64_min(blyi_counters64 a, blyi_counters64 b) {
    const uint64_t first = blyi_counters64_less(a, b), used = a.used & b.used;
    blyi_counters64 least = {used, {0, 0, 0}};
    for (unsigned i = 0; i < BLYI_COUNTER_PLANES; i++)
        least.plane[i] = used & (b.plane[i] ^ (first & (a.plane[i] ^ b.plane[i])));
    return least;
}

/* Word i of a block. Counts of cells that are not used, which a damaged map may have, are no
 * counts. */
static inline blyi_counters64 blyi_counters64_get(const uint64_t *front, const uint64_t *planes,
                                                  unsigned i) {
    blyi_counters64 c = {front[i], {0, 0, 0}};
    for (unsigned p = 0; p < BLYI_COUNTER_PLANES; p++)
        c.plane[p] = planes[p * BLYI_COUNTER_WORDS + i] & c.used;
    return c;
}

/* Other threads may be reading the front: each of its words changes in one step. */
static inline void blyi_counters64_set(uint64_t *front, uint64_t *planes, unsigned i,
                                       blyi_counters64 c) {
    __atomic_store_n(front + i, c.used, __ATOMIC_RELAXED);
    for (unsigned p = 0; p < BLYI_COUNTER_PLANES; p++)
        planes[p * BLYI_COUNTER_WORDS + i] = c.plane[p];
}

#endif
