/* series.h - what filters that grow by levels have in common: scalable and scalable-cuckoo.
 * Internal.
 *
 * The capacities of their levels grow by a factor, and the rates form a series whose sum stays
 * within the rate asked (scalable.c). A level's capacity and rate are in its header, so what the
 * next one must be follows from those there are.
 */
#ifndef BLYI_FILTER_SERIES_H
#define BLYI_FILTER_SERIES_H

#include "filter/levels.h"

/* blyi_ops.create, given the factor: the spec's own, or what the kind makes of it. */
bly_status blyi_levels_create(const bly_spec *spec, uint32_t growth, bly_filter **out);

/* Opens the next level. BLY_ENOMEM; BLY_ETOOBIG; BLY_EGROWTH; BLY_EFULL when there are too many, or
 * its rate would be too low. */
bly_status blyi_levels_grow(bly_filter *f);

/* Whether two successive levels are of one table's shape: that is so only of the levels of
 * scalable-cuckoo, after a union, and they have one share of the rate between them. */
bool blyi_levels_share_rate(const bly_geometry *a, const bly_geometry *b);

/* blyi_ops.clear: back to the first level. */
void blyi_levels_clear(bly_filter *f);

/* blyi_level_rules.adds_up and .settle. */
bool blyi_levels_consistent(const blyi_shape *all, const blyi_shape *const *levels, unsigned n);
void blyi_levels_sum_counts(bly_filter *f);

static inline bly_filter *blyi_newest_level(const bly_filter *f) {
    return f->levels->at[f->levels->n - 1];
}

/* How many more keys a level is made for. */
static inline uint64_t blyi_level_room(const bly_filter *level) {
    return level->items < level->capacity ? level->capacity - level->items : 0;
}

#endif
