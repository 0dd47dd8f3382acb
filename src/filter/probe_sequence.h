/* walk.h - the probe sequence of classic filters and of those that keep more than a bit at the same
 * places. Internal. bloom.c has the reasons. */
#ifndef BLYI_FILTER_PROBE_SEQUENCE_H
#define BLYI_FILTER_PROBE_SEQUENCE_H

#include "base/bits.h"
#include "hash/mix.h"

typedef struct blyi_probe_sequence {
    uint64_t x, inc;
} blyi_probe_sequence;

static inline blyi_probe_sequence blyi_probe_sequence_begin(bly_hash h) {
    return (blyi_probe_sequence){h.lo, h.hi | 1};
}

/* The next place, of m. */
static inline uint64_t blyi_probe_sequence_next(blyi_probe_sequence *w, uint64_t m) {
    uint64_t at = blyi_mulhi(w->x, m);
    w->x = w->x * BLYI_LCG + w->inc;
    return at;
}

#endif
