/* rate.h - expected false-positive rates. Internal. */
#ifndef BLYI_FILTER_RATE_H
#define BLYI_FILTER_RATE_H

#include <bloomery/plan.h>

/* The largest filter. */
#define BLYI_MAX_BITS ((uint64_t)1 << 48)

/* The expected rate after n distinct keys, without the hash's own collisions. */
double blyi_rate(const bly_geometry *g, double n);

/* Of a geometry of plain bits: ln(1 - q), where q is the probability that one key sets one given
 * bit. */
double blyi_log_miss(const bly_geometry *g);

/* The share of lookups that a hash of `bits` bits answers wrongly, whatever the filter. */
double blyi_hash_floor(double n, unsigned bits);

/* x^k. */
double blyi_power(double x, unsigned k);

/* The probability that k probes all hit occupied cells after t balls were thrown into B >= 3 cells:
 * E[(X/B)^k]. */
double blyi_cells_rate(double B, double t, unsigned k);

#endif
