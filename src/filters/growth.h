/* growth.h - how a scalable filter grows: what each of its levels must be. Pure. Internal.
 *
 * scalable.c explains the rule. It stands apart because planning a filter's growth, without making
 * one, needs it as well.
 */
#ifndef BLYI_FILTERS_GROWTH_H
#define BLYI_FILTERS_GROWTH_H

#include <bloomery/plan.h>

#define BLYI_FIRST_SHARE 0.15 /* of the rate, for the first level */
#define BLYI_NEXT_SHARE  0.15 /* of what is left of it, for the next: 1 - r */

/* The rate of two levels together: a key is found when either finds it. */
static inline double blyi_either(double a, double b) {
    return a + b - a * b;
}

/* The rate of the first level: its share, but so low that it never has more keys than bits. */
double blyi_first_rate(double fpr, double share);

/* The geometry of a level. bly_plan's statuses. */
bly_status blyi_level_plan(uint64_t keys, double fpr, unsigned hash_bits, bly_geometry *out);

/* How many bits the default hash of a filter has whose first level holds `first_keys`. */
unsigned blyi_growth_hash_bits(uint64_t first_keys, double fpr);

#endif
