/* counter_kernel.h - counters in bit planes, 64 at a time. It defines the results that the kernels
 * for layered filters must give. kinds/layered/layered.c explains the filter. Internal.
 *
 * A counter is spread over four words. Its bit in `used` says whether it is above 0, and its bits
 * in plane[0..2] are count - 1 as a number of three bits. So one logical operation on words does
 * the same to 64 counters, and an addition is a ripple of carries through three planes. Whatever
 * the counts are, it needs no branch and no shift, and no counter overflows into the next one. The
 * byte order of the words does not matter for this, so they are used as they are in memory.
 *
 * A block has 256 counters. Its four words of `used` are called its front. Elsewhere are four words
 * of each plane, one plane after the other. They are laid out like the bits of an sbbf block
 * (masks.h): a key's counters are at the positions that its bits would have there.
 *
 * A counter counts up to 8, which means 8 or more. A counter of 8 is stuck: nothing raises or
 * lowers it.
 */
#ifndef BLYI_SIMD_COUNTER_KERNEL_H
#define BLYI_SIMD_COUNTER_KERNEL_H

#include "base/bits.h"
#include "simd/masks.h"

enum {
    BLYI_COUNTER_WORDS = 4, /* per block, in the front and in each plane */
    BLYI_COUNTER_PLANES = 3,
};

/* 64 counters: one word of the front and of each plane. */
typedef struct blyi_counters64 {
    uint64_t used;
    uint64_t plane[BLYI_COUNTER_PLANES];
} blyi_counters64;

/* Returns counters that are 1 at the bits of `mask` and 0 elsewhere. `mask` is one word of a mask
 * (masks.h). */
static inline blyi_counters64 blyi_counters64_once(uint64_t mask) {
    return (blyi_counters64){blyi_le64(mask), {0, 0, 0}};
}

static inline uint64_t blyi_counters64_stuck(const blyi_counters64 *c) {
    return c->plane[0] & c->plane[1] & c->plane[2];
}

/* Returns a + b in every counter. If both counters are used, count - 1 is (a - 1) + (b - 1) + 1; if
 * only one is used, it is that counter's count - 1. A sum above 8 becomes 8. */
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

/* Returns a mask of the counters that are lower in a than in b. */
static inline uint64_t blyi_counters64_less(blyi_counters64 a, blyi_counters64 b) {
    uint64_t borrow = 0;
    for (unsigned i = 0; i < BLYI_COUNTER_PLANES; i++) {
        uint64_t x = a.plane[i], y = b.plane[i];
        borrow = (~x & y) | (borrow & ~(x ^ y));
    }
    return b.used & (borrow | ~a.used);
}

/* Returns a - b in every counter. No counter may be lower in a than in b. Counters that are stuck
 * in a stay as they are. */
static inline blyi_counters64 blyi_counters64_difference(blyi_counters64 a, blyi_counters64 b) {
    const uint64_t moves = ~blyi_counters64_stuck(&a);
    blyi_counters64 rest = {a.used, {0, 0, 0}};
    uint64_t borrow = b.used & moves;
    for (unsigned i = 0; i < BLYI_COUNTER_PLANES; i++) {
        uint64_t x = a.plane[i], y = b.plane[i] & moves;
        rest.plane[i] = x ^ y ^ borrow;
        borrow = (~x & y) | (borrow & ~(x ^ y));
    }
    /* For a counter that falls to 0, count - 1 is -1, which leaves a borrow. */
    rest.used &= ~borrow;
    for (unsigned i = 0; i < BLYI_COUNTER_PLANES; i++)
        rest.plane[i] &= ~borrow;
    return rest;
}

/* Returns the lower of a and b in every counter. */
static inline blyi_counters64 blyi_counters64_min(blyi_counters64 a, blyi_counters64 b) {
    const uint64_t from_a = blyi_counters64_less(a, b), used = a.used & b.used;
    blyi_counters64 min = {used, {0, 0, 0}};
    for (unsigned i = 0; i < BLYI_COUNTER_PLANES; i++)
        min.plane[i] = used & (b.plane[i] ^ (from_a & (a.plane[i] ^ b.plane[i])));
    return min;
}

/* Reads word i of a block. Plane bits of unused counters are ignored: a damaged file may have set
 * some. */
static inline blyi_counters64 blyi_counters64_get(const uint64_t *front, const uint64_t *planes,
                                                  unsigned i) {
    blyi_counters64 c = {front[i], {0, 0, 0}};
    for (unsigned p = 0; p < BLYI_COUNTER_PLANES; p++)
        c.plane[p] = planes[p * BLYI_COUNTER_WORDS + i] & c.used;
    return c;
}

/* Writes word i of a block. Other threads may be reading the front, so its word is stored
 * atomically. */
static inline void blyi_counters64_set(uint64_t *front, uint64_t *planes, unsigned i,
                                       blyi_counters64 c) {
    __atomic_store_n(front + i, c.used, __ATOMIC_RELAXED);
    for (unsigned p = 0; p < BLYI_COUNTER_PLANES; p++)
        planes[p * BLYI_COUNTER_WORDS + i] = c.plane[p];
}

/* ---- the kernels in plain C (blyi_counters_fn) ----------------------------------------------- */

static inline bool blyi_counters_add(uint64_t *front, uint64_t *planes, uint64_t bits) {
    uint64_t mask[BLYI_COUNTER_WORDS], free = 0;
    blyi_sbbf_mask(bits, mask);
    for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++) {
        blyi_counters64 old = blyi_counters64_get(front, planes, i);
        blyi_counters64 key = blyi_counters64_once(mask[i]);
        free |= blyi_counters64_less(old, key);
        blyi_counters64_set(front, planes, i, blyi_counters64_sum(old, key));
    }
    return free != 0;
}

static inline bool blyi_counters_remove(uint64_t *front, uint64_t *planes, uint64_t bits) {
    uint64_t mask[BLYI_COUNTER_WORDS], free = 0;
    blyi_sbbf_mask(bits, mask);
    for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++)
        free |= blyi_le64(mask[i]) & ~front[i];
    for (unsigned i = 0; free == 0 && i < BLYI_COUNTER_WORDS; i++) {
        blyi_counters64 old = blyi_counters64_get(front, planes, i);
        blyi_counters64 key = blyi_counters64_once(mask[i]);
        blyi_counters64_set(front, planes, i, blyi_counters64_difference(old, key));
    }
    return free == 0;
}

#endif
