/* formulas.h - the textbook formulas for Bloom filters, uncorrected, as the literature and other
 * libraries use them. To plan a filter use plan.h, whose rates agree with measurements.
 *
 * n is the number of keys, m the number of bits, k the number of hashes, p the false-positive rate.
 */
#ifndef BLOOMERY_FORMULAS_H
#define BLOOMERY_FORMULAS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The four variables of p = (1 - e^(-kn/m))^k. */
typedef struct bly_textbook {
    uint64_t keys, bits;
    uint32_t hashes;
    double fpr;
} bly_textbook;

/* Computes the one variable that is 0 from the other three: the smallest m with a rate of at most
 * p, the largest n with a rate of at most p, the smallest k with a rate of at most p, or p itself.
 * Errors: BLY_EINVAL (the number of variables that are 0 is not one), BLY_ERATE, BLY_EIMPOSSIBLE
 * (no value solves it), BLY_ETOOBIG. */
BLY_CHECKED bly_status bly_textbook_solve(bly_textbook *t);
/* Returns k = ceil(log2(1/p)); 0 for a rate outside (0, 1). */
BLY_API uint32_t bly_textbook_hashes(double fpr);

/* Computes m = ceil(n |ln p| / (ln f ln(1-f))), where f is the share of bits that are set (`fill`).
 * With f = 0.5 this is n |ln p| / ln^2 2.
 * Errors: BLY_ECOUNT, BLY_ERATE, BLY_EINVAL (fill outside (0, 1)), BLY_ETOOBIG. */
BLY_CHECKED bly_status bly_textbook_bits(uint64_t keys, double fpr, double fill, uint64_t *out);
/* Returns s = ceil(m/k), the size of a slice; 0 if hashes is 0. */
BLY_API uint64_t bly_textbook_slice(uint64_t bits, uint32_t hashes);
/* Returns the best k for m bits and n keys: (m/n) ln 2 rounded up, at least 1; 0 if keys is 0. */
BLY_API uint32_t bly_textbook_best_hashes(uint64_t bits, uint64_t keys);
/* Returns p = (1 - e^(-kn/m))^k. */
BLY_API double bly_textbook_fpr(uint64_t bits, uint32_t hashes, uint64_t keys);

#ifdef __cplusplus
}
#endif
#endif
