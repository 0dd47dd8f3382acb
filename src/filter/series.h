/* series.h - what filters that grow by levels have in common: scalable and scalable-cuckoo.
 * Internal.
 *
 * The capacities of their levels grow by a factor, and the rates form a series whose sum stays
 * within the rate asked (scalable.c). A level's capacity and rate are in its header, so what the
 * next one must be follows from those there are.
 */
#ifndef BLYI_FILTERS_SERIES_H
#define BLYI_FILTERS_SERIES_H

#include "levels.h"

/* blyi_ops.create, given the factor: the spec's own, or what the kind makes of it. */
bly_status blyi_series_create(const bly_spec *spec, uint32_t growth, bly_filter **out);

/* Opens the next level. BLY_ENOMEM; BLY_ETOOBIG; BLY_EGROWTH; BLY_EFULL when there are too many, or
 * its rate would be too low. */
bly_status blyi_series_grow(bly_filter *f);

/* Whether two successive levels are of one table's shape: that is so only of the levels of
 * scalable-cuckoo, after a union, and they have one share of the rate between them. */
bool blyi_series_twins(const bly_geometry *a, const bly_geometry *b);

/* blyi_ops.clear: back to the first level. */
void blyi_series_clear(bly_filter *f);

/* blyi_whole.adds_up and .settle. */
bool blyi_series_adds_up(const blyi_shape *all, const blyi_shape *const *levels, unsigned n);
void blyi_series_settle(bly_filter *f);

static inline bly_filter *blyi_newest(const bly_filter *f) {
    return f->levels->at[f->levels->n - 1];
}

/* How many more keys a level is made for. */
static inline uint64_t blyi_room_in(const bly_filter *level) {
    return level->items < level->capacity ? level->capacity - level->items : 0;
}

#endif
