/* ribbon_kernel.h - a lookup in a ribbon filter in plain C, for instruction sets without a special
 * kernel. kinds/ribbon/ribbon.c explains the filter. Internal. */
#ifndef BLYI_SIMD_RIBBON_KERNEL_H
#define BLYI_SIMD_RIBBON_KERNEL_H

#include "simd/kernels.h"

/* The selected bits of column j, folded into one word. Only the word's parity counts. */
static inline uint64_t blyi_ribbon_column(const blyi_ribbon_lookup *l, unsigned j) {
    const uint64_t *a = l->first + 2 * j, *b = l->second + 2 * j;
    return (blyi_le64(a[0]) & l->mask[0]) ^ (blyi_le64(a[1]) & l->mask[1]) ^
           (blyi_le64(b[0]) & l->mask[2]) ^ (blyi_le64(b[1]) & l->mask[3]);
}

/* Whether all columns are even. Every other kernel must return the same. Tests four columns before
 * each branch: in a non-member all four are even only once in 16 times, so the branch is predicted
 * well. */
static inline bool blyi_ribbon_contains(const blyi_ribbon_lookup *l) {
    unsigned odd = 0, j = 0;
    for (; j + 4 <= l->columns; j += 4) {
        for (unsigned i = j; i < j + 4; i++)
            odd |= (unsigned)__builtin_parityll(blyi_ribbon_column(l, i));
        if (odd)
            return false;
    }
    for (; j < l->columns; j++)
        odd |= (unsigned)__builtin_parityll(blyi_ribbon_column(l, j));
    return odd == 0;
}

#endif
