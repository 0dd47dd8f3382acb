/* probe_sequence.h - the probe sequence of classic filters, and of kinds that keep counters or
 * columns instead of bits at the same positions. Internal. kinds/bloom/bloom.c has the reasons. */
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

/* Returns the next position, from 0 to m - 1. */
static inline uint64_t blyi_probe_sequence_next(blyi_probe_sequence *w, uint64_t m) {
    uint64_t at = blyi_mulhi(w->x, m);
    w->x = w->x * BLYI_LCG + w->inc;
    return at;
}

#endif
