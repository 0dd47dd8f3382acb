/* plan_counting.h - the shape of counting filters. Internal.
 *
 * src/filters/counting/counting.c explains them. */
#ifndef BLYI_KINDS_COUNTING_COUNTING_PLAN_H
#define BLYI_KINDS_COUNTING_COUNTING_PLAN_H

#include "filter/kind.h"
#include <bloomery/plan.h>
#include <stdbool.h>

enum {
    BLYI_COUNTER_BITS = 4,  /* unless another width is asked */
    BLYI_MAX_COUNTERS = 64, /* of a key */
    BLYI_MAX_PLACES = 32,   /* that blyi_line_rate is good for */
};

static inline bool blyi_counter_fits(uint32_t width) {
    return width == 2 || width == 4 || width == 8 || width == 16;
}

/* The classic filter whose bits are the counters that are not 0, of a counting filter. */
static inline bly_geometry blyi_counting_classic(const bly_geometry *g) {
    return (bly_geometry){.kind = BLY_CLASSIC, .hashes = g->hashes, .size = g->size};
}

/* The smallest geometry with counters of that width, as blyi_planner.plan. */
bly_status blyi_counting_plan(uint64_t keys, double fpr, uint32_t width, bly_geometry *out);

/* A line of B cells in which each key has k places, drawn independently; k is at most
 * BLYI_MAX_PLACES. */
static inline unsigned blyi_line_shape(unsigned B, unsigned k) {
    return B << 8 | k;
}

/* The rate of such a line with i keys; i may be a mean number. */
double blyi_line_rate(unsigned shape, double i);

/* The number of keys most likely to have left that share of the counters other than 0; INFINITY
 * for 1. */
double blyi_counting_keys(const bly_geometry *g, double fill);

/* The chance that a given counter was raised by at least `least` of n keys. */
double blyi_counting_tail(const bly_geometry *g, double n, uint32_t least);

extern const blyi_planner blyi_counting_planner;

#endif
