/* counts.h - the cells of a sketch of counts. Internal. counts.c tells what they mean. */
#ifndef BLYI_KINDS_COUNTS_COUNTS_H
#define BLYI_KINDS_COUNTS_COUNTS_H

#include "filter/filter.h"
#include "filter/kind.h"
#include "hash/mix.h"

enum {
    BLYI_COUNTS_HASHES = 4,
    BLYI_COUNTS_LINE = 64, /* cells, and bytes */
    BLYI_COUNTS_CODES = 256,
    BLYI_COUNTS_TOP = BLYI_COUNTS_CODES - 1,
    BLYI_COUNTS_GROWTHS = 2, /* what `detail` chooses from */
};

/* What each code counts, strictly increasing. */
extern const uint64_t blyi_counts_values[BLYI_COUNTS_GROWTHS][BLYI_COUNTS_CODES];

static inline const uint64_t *blyi_counts_values_of(const bly_filter *f) {
    return blyi_counts_values[f->geometry.detail];
}

/* ops.union_with */
bly_status blyi_counts_unite(bly_filter *dst, const bly_filter *src);

extern const blyi_planner blyi_counts_planner;

#endif
