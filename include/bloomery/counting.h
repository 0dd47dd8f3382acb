/* counting.h - filters of counters: counting, and blocked-counting.
 */
#ifndef BLOOMERY_COUNTING_H
#define BLOOMERY_COUNTING_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For `keys` distinct keys, with counters of `counter_bits` bits: 2, 4, 8 or 16; 0: 4.
 * bly_filter_create's statuses. */
BLY_CHECKED bly_status bly_counting_create(uint64_t keys, double fpr, uint32_t counter_bits,
                                           bly_filter **out);
BLY_CHECKED bly_status bly_counting_create_blocked(uint64_t keys, double fpr, uint32_t counter_bits,
                                                   bly_filter **out);

/* The chance that one given counter has reached its limit after `keys` distinct keys, each added
 * once. */
BLY_API double bly_counting_overflow(const bly_geometry *g, double keys);

/* A new classic filter of the same keys: a bit for every counter that is not 0. Of a counting
 * filter only; BLY_EUNSUPPORTED, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_counting_bits(const bly_filter *f, const bly_allocator *a,
                                         bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
