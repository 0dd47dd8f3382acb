/* levels_ask.h - asking all levels of a filter, any of which may have a key. Internal. */
#ifndef BLYI_FILTER_LEVELS_ASK_H
#define BLYI_FILTER_LEVELS_ASK_H

#include "filter/batch.h"
#include "filter/levels.h"

/* The hashes, at most a group, that none of the levels asked has. */
typedef struct blyi_absent {
    size_t n;
    bly_hash h[BLYI_BATCH_GROUP];
    uint8_t from[BLYI_BATCH_GROUP]; /* where they were among those asked about */
} blyi_absent;

/* Asks the oldest `levels` levels about n hashes, at most a group. */
void blyi_levels_find_absent(const bly_filter *f, unsigned levels, const bly_hash *h, size_t n,
                             blyi_absent *out);

/* blyi_ops.prefetch and .contains. */
void blyi_levels_prefetch(const bly_filter *f, const bly_hash *h, size_t n);
size_t blyi_levels_contains_many(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found);

#endif
