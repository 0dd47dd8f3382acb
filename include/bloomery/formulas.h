/* formulas.h - the textbook's formulas for Bloom filters, as the literature and other libraries use
 * them, uncorrected. Opt-in: to plan a filter use plan.h, which has the measured rates.
 *
 * n is the number of keys, m of bits, k of hashes, p the false-positive rate.
 */
#ifndef BLOOMERY_FORMULAS_H
#define BLOOMERY_FORMULAS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Any three of n, m, k and p determine the fourth: leave exactly one at zero. The relation is
 * p = (1 - e^(-kn/m))^k.
 *   m missing  the smallest m that reaches p        n missing  the largest n that keeps p
 *   p missing  the rate                             k missing  the smallest k that reaches p
 * BLY_EINVAL unless exactly one is missing; BLY_ERATE; BLY_EIMPOSSIBLE if no value solves it;
 * BLY_ETOOBIG. On failure *t is unchanged. */
typedef struct bly_textbook {
    uint64_t keys, bits;
    uint32_t hashes;
    double fpr;
} bly_textbook;
BLY_CHECKED bly_status bly_textbook_solve(bly_textbook *t);

/* k = ceil(log2(1/p)); 0 for a rate outside (0, 1). */
BLY_API uint32_t bly_textbook_hashes(double fpr);
/* m = ceil(n |ln p| / (ln f ln(1-f))) for a chosen fill f (0.5 gives n |ln p| / ln^2 2).
 * BLY_ECOUNT, BLY_ERATE, BLY_EINVAL (fill outside (0,1)), BLY_ETOOBIG. */
BLY_CHECKED bly_status bly_textbook_bits(uint64_t keys, double fpr, double fill, uint64_t *out);
/* s = ceil(m/k), the size of a slice; 0 when hashes is 0. */
BLY_API uint64_t bly_textbook_slice(uint64_t bits, uint32_t hashes);
/* The best k for m bits and n keys, (m/n) ln 2 rounded up, at least 1; 0 when keys is 0. */
BLY_API uint32_t bly_textbook_best_hashes(uint64_t bits, uint64_t keys);
/* (1 - e^(-kn/m))^k */
BLY_API double bly_textbook_fpr(uint64_t bits, uint32_t hashes, uint64_t keys);

#ifdef __cplusplus
}
#endif
#endif
