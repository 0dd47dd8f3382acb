/* plan_stable.h - the shape of a stable filter, and what it can promise. Internal.
 *
 * src/core/plan_stable.c has the formulas, src/filters/window/stable.c the rest. */
#ifndef BLYI_KINDS_STABLE_STABLE_PLAN_H
#define BLYI_KINDS_STABLE_STABLE_PLAN_H

#include <bloomery/plan.h>

enum { BLYI_STABLE_HEADING = 64 }; /* bytes before the cells */

/* Of a geometry: bits of a cell, its highest value, cells that an add lowers. */
static inline unsigned blyi_stable_width(const bly_geometry *g) {
    return g->detail & 3;
}

static inline unsigned blyi_stable_top(const bly_geometry *g) {
    return (1U << blyi_stable_width(g)) - 1;
}

static inline unsigned blyi_stable_run(const bly_geometry *g) {
    return g->detail >> 2;
}

/* Cells of a 64-bit word: no cell lies in two. 64 / width for the widths 1 to 3, without dividing
 * by what the compiler does not know. */
static inline unsigned blyi_stable_per_word(unsigned width) {
    return width == 1 ? 64 : width == 2 ? 32 : 21;
}

static inline uint64_t blyi_stable_words(const bly_geometry *g) {
    unsigned per = blyi_stable_per_word(blyi_stable_width(g));
    return g->size / per + (g->size % per != 0);
}

/* The chance that a key is still found after `later` adds of others. */
double blyi_stable_recall(const bly_geometry *g, double later);

/* The rate that the filter comes to, and stays at. */
double blyi_stable_rate(const bly_geometry *g);

/* The geometry within `bytes` of body that has the longest memory at `fpr`. BLY_EIMPOSSIBLE when
 * none of that size reaches the rate, BLY_ETOOBIG. */
bly_status blyi_stable_fit(uint64_t bytes, double fpr, bly_geometry *out);

#endif
