/* hll_layout.h - the registers of a HyperLogLog sketch. Internal. hll.c explains them. */
#ifndef BLYI_KINDS_HLL_LAYOUT_H
#define BLYI_KINDS_HLL_LAYOUT_H

#include "filter/filter.h"
#include "filter/kind.h"

enum { BLYI_HLL_BITS = 6, BLYI_HLL_VALUES = 1 << BLYI_HLL_BITS };

/* The largest rank: that of a hash all of whose bits after the first `precision` are 0. */
static inline unsigned blyi_hll_max_rank(unsigned precision) {
    return 65 - precision;
}

/* Reads register i from the two bytes in which its bits are, or twice from the same byte. So it
 * never reads past the body. */
static inline unsigned blyi_hll_get(const uint8_t *body, uint64_t i) {
    uint64_t bit = i * BLYI_HLL_BITS;
    unsigned low = body[bit / 8], high = body[(bit + BLYI_HLL_BITS - 1) / 8];
    return (low | high << 8) >> bit % 8 & (BLYI_HLL_VALUES - 1);
}

static inline void blyi_hll_set(uint8_t *body, uint64_t i, unsigned value) {
    uint64_t bit = i * BLYI_HLL_BITS, end = bit + BLYI_HLL_BITS - 1;
    unsigned shift = bit % 8, mask = (BLYI_HLL_VALUES - 1U) << shift;
    value <<= shift;
    body[bit / 8] = (uint8_t)((body[bit / 8] & ~mask) | value);
    if (end / 8 != bit / 8)
        body[end / 8] = (uint8_t)((body[end / 8] & ~(mask >> 8)) | value >> 8);
}

extern const blyi_planner blyi_hll_planner;

#endif
