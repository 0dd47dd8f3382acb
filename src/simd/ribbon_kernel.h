/* sight.h - where a query of a ribbon looks (filters/built/ribbon.c), as its kernels see it.
 * Internal. */
#ifndef BLYI_SIMD_RIBBON_KERNEL_H
#define BLYI_SIMD_RIBBON_KERNEL_H

#include <stdint.h>

/* Column j of a block is its words 2j and 2j + 1. A column of the sight is even when mask[0] and
 * mask[1] in the first block's, and mask[2] and mask[3] in the second's, have an even number of
 * their bits set together. The key may be present when all columns are. */
typedef struct blyi_ribbon_lookup {
    const uint64_t *first, *second; /* aligned to 16 bytes; perhaps the same */
    uint64_t mask[4];
    unsigned columns; /* at least 1 */
} blyi_ribbon_lookup;

#endif
