/* walk.h - the probe sequence of classic filters and of those that keep more than a bit at the same
 * places. Internal. bloom.c has the reasons. */
#ifndef BLYI_FILTERS_WALK_H
#define BLYI_FILTERS_WALK_H

#include "../core/bits.h"
#include "../core/mix.h"

typedef struct blyi_walk {
    uint64_t x, inc;
} blyi_walk;

static inline blyi_walk blyi_walk_from(bly_hash h) {
    return (blyi_walk){h.lo, h.hi | 1};
}

/* The next place, of m. */
static inline uint64_t blyi_walk_next(blyi_walk *w, uint64_t m) {
    uint64_t at = blyi_mulhi(w->x, m);
    w->x = w->x * BLYI_LCG + w->inc;
    return at;
}

#endif
