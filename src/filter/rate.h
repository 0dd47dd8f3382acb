/* rate.h - expected false-positive rates. Internal. */
#ifndef BLYI_FILTER_RATE_H
#define BLYI_FILTER_RATE_H

#include <bloomery/plan.h>

/* The largest size of a filter, in bits. */
#define BLYI_MAX_BITS ((uint64_t)1 << 48)

/* The expected rate after n distinct keys, without the hash's own collisions. */
double blyi_rate(const bly_geometry *g, double n);

/* For a geometry of plain bits: ln(1 - q), where q is the probability that one key sets one given
 * bit. */
double blyi_log_miss(const bly_geometry *g);

/* Returns the false-positive rate that collisions of a hash of `bits` bits cause in any filter of n
 * keys. */
double blyi_hash_floor(double n, unsigned bits);

/* x^k. */
double blyi_power(double x, unsigned k);

/* The probability that k probes all hit occupied cells after t balls were thrown into B >= 3 cells:
 * E[(X/B)^k]. */
double blyi_cells_rate(double B, double t, unsigned k);

/* ---- the mean over blocks ----------------------------------------------------------------------
 */

/* The rate of a block with i keys. It must depend only on k and i. */
typedef double (*blyi_block_rate)(unsigned k, double i);

/* Returns the mean of f(k, i) for i ~ Binomial(n, 1/z): the mean rate of a block if n keys are
 * spread over z blocks. */
double blyi_binomial_mean(double n, double z, blyi_block_rate f, unsigned k);

/* Sets out[j] to the mean of f[j], for m <= 4 functions. This is faster than computing them one by
 * one. */
void blyi_binomial_means(double n, double z, const blyi_block_rate *f, unsigned m, unsigned k,
                         double *out);

/* Returns f(k, i) for a whole number i, memoised. */
double blyi_memoised(blyi_block_rate f, unsigned k, double i);

/* As blyi_binomial_mean, for a function whose values are not worth memoising. */
double blyi_binomial_mean_uncached(double n, double z, blyi_block_rate f, unsigned k);

#endif
