/* From registers to a number of keys: the improved estimator of Ertl ("New cardinality estimation
 * algorithms for HyperLogLog sketches", 2017).
 *
 * Let m registers have the values 0 .. q + 1, where q = 64 - precision is the number of bits that a
 * rank is read from, and let c(k) of them have value k. The first HyperLogLog took
 *     a m^2 / sum over k of c(k) 2^-k
 * which is right only between some multiples of m and 2^q: below, linear counting had to step in,
 * and around the seam, tables of measured bias. Ertl replaces the two ends of the sum by what they
 * would be if registers had values from minus to plus infinity,
 *     c(0)          by   m sigma(c(0) / m),       sigma(x) = x + sum over k of x^(2^k) 2^(k-1)
 *     c(q+1) 2^-q-1 by   m tau(1 - c(q+1)/m) 2^-q,
 *                        tau(x) = (1 - x - sum over k of (1 - x^(2^-k))^2 2^-k) / 3
 * with k from 1 on, and the same formula, with a = 1 / (2 ln 2), holds from 0 keys to 2^64. No case
 * is left, and no table. Both sums are taken until they no longer change, which is a few dozen
 * terms; only roots and products, so that every machine comes to the same.
 *
 * All that is needed of a sketch is the histogram c.
 */
#include "kinds/hll/hll.h"

#include <math.h>

/* 1 / (2 ln 2) */
#define ALPHA 0.72134752044448170

static double sigma(double x) {
    if (x >= 1)
        return INFINITY;
    double sum = x, before = -1, weight = 1;
    while (sum != before) {
        before = sum;
        x *= x;
        sum += x * weight;
        weight *= 2;
    }
    return sum;
}

static double tau(double x) {
    if (x <= 0 || x >= 1)
        return 0;
    double sum = 1 - x, before = -1, weight = 1;
    while (sum != before) {
        before = sum;
        x = sqrt(x);
        weight /= 2;
        sum -= (1 - x) * (1 - x) * weight;
    }
    return sum / 3;
}

double blyi_hll_estimate(const bly_geometry *g, const uint8_t *body, const uint8_t *other) {
    uint64_t count[BLYI_HLL_VALUES] = {0};
    unsigned top = blyi_hll_top(g->hashes);
    for (uint64_t i = 0; i < g->size; i++) {
        unsigned value = blyi_hll_get(body, i), second = other ? blyi_hll_get(other, i) : 0;
        value = value > second ? value : second;
        count[value < top ? value : top]++;
    }
    double m = (double)g->size;
    double sum = m * tau(1 - (double)count[top] / m);
    for (unsigned k = top - 1; k > 0; k--)
        sum = (sum + (double)count[k]) / 2;
    sum += m * sigma((double)count[0] / m);
    return ALPHA * m * m / sum;
}
