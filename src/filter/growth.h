/* growth.h - how a filter that grows by levels does so: what each must be. Pure. Internal.
 *
 * scalable.c explains the rule. It stands apart because planning a filter's growth, without making
 * one, needs it as well.
 */
#ifndef BLYI_FILTER_GROWTH_H
#define BLYI_FILTER_GROWTH_H

#include <bloomery/plan.h>
#include <stdbool.h>

#define BLYI_FIRST_SHARE 0.15 /* of the rate, for the first level */
#define BLYI_NEXT_SHARE  0.15 /* of what is left of it, for the next: 1 - r */

/* The rate of two levels together: a key is found when either finds it. */
static inline double blyi_combined_rate(double a, double b) {
    return a + b - a * b;
}

/* The rate of the first level: its share, but so low that it never has more keys than bits. */
double blyi_first_rate(double fpr, double share);

/* A level that is to be: of a filter of that kind, for so many keys. With 128 bits any hash is good
 * enough. */
typedef struct blyi_level_request {
    bly_kind kind;
    const bly_geometry *last; /* of the level before it, or NULL */
    bool reserved;            /* the first level has taken most of the rate */
    uint64_t keys;
    unsigned hash_bits;
} blyi_level_request;

/* Whether a first level of rate `first` has taken most of the whole's. */
static inline bool blyi_first_level_dominates(double first, double whole) {
    return first >= whole / 2;
}

/* Its geometry. *fpr is the rate it may have, and then what it takes of it. bly_plan's statuses. */
bly_status blyi_level_plan(const blyi_level_request *wish, double *fpr, bly_geometry *out);

/* How many keys the level after one for `keys` holds, in a filter of so many levels whose geometry
 * has that detail; UINT64_MAX when they are more than can be counted. A factor of 1 would soon use
 * up the levels that there may be, so it stands for 2 once there are BLYI_MAX_EQUAL_LEVELS. */
enum { BLYI_MAX_EQUAL_LEVELS = 16 };
uint64_t blyi_next_keys(uint32_t detail, unsigned levels, uint64_t keys);

/* How many bits the default hash of a filter has whose first level holds `first_keys`. */
unsigned blyi_growth_hash_bits(uint64_t first_keys, double fpr);

#endif
