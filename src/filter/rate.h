/* rate.h - the false-positive calculator: the one place where rates are computed. Internal. */
#ifndef BLYI_FILTER_RATE_H
#define BLYI_FILTER_RATE_H

#include <bloomery/plan.h>

/* The largest filter. */
#define BLYI_MAX_BITS ((uint64_t)1 << 48)

/* The expected rate after n distinct keys, without the hash's floor. */
double blyi_rate(const bly_geometry *g, double n);

/* The part of it that only the textbook's probes cause, at most; 0 for other geometries. */
double blyi_textbook_extra(const bly_geometry *g, double n);

/* ln(1 - q), q being the chance that one key sets one given bit: (1 - q)^n of the bits are
 * expected clear after n keys, in every layout. */
double blyi_log_miss(const bly_geometry *g);

/* The share of queries that a hash of `bits` bits answers wrongly, whatever the filter. */
double blyi_hash_floor(double n, unsigned bits);

#endif
