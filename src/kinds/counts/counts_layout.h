/* counts_layout.h - the cells of a sketch of counts. Internal. counts.c explains them. */
#ifndef BLYI_KINDS_COUNTS_LAYOUT_H
#define BLYI_KINDS_COUNTS_LAYOUT_H

#include "filter/filter.h"
#include "filter/kind.h"

enum {
    BLYI_COUNTS_HASHES = 4,
    BLYI_COUNTS_LINE = 64, /* cells, of one byte each */
    BLYI_COUNTS_CODES = 256,
    BLYI_COUNTS_MAX_CODE = BLYI_COUNTS_CODES - 1,
    BLYI_COUNTS_GROWTHS = 2, /* tables of values; `detail` chooses one */
};

/* The count that each code stands for, strictly increasing. */
extern const uint64_t blyi_counts_values[BLYI_COUNTS_GROWTHS][BLYI_COUNTS_CODES];

extern const blyi_planner blyi_counts_planner;

#endif
