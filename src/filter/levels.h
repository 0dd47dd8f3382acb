/* levels.h - filters made of filters: a list of levels. Internal.
 *
 * The handle of such a filter has no body. Its geometry is {kind, levels, bytes}, where bytes is
 * the size of the levels in a file, each with its header. Its capacity and items follow from those
 * of the levels, by a rule of its kind. The functions here keep all of this up to date. Levels have
 * the handle's hasher and allocator. A level may itself be made of levels, if the kinds of both
 * filters allow it.
 */
#ifndef BLYI_FILTER_LEVELS_H
#define BLYI_FILTER_LEVELS_H

#include "filter/batch.h"
#include "filter/filter.h"

enum {
    BLYI_MAX_LEVELS = 48,
    BLYI_LEVEL_HEADER = 64, /* bytes before each level's body in a file */
};

typedef struct blyi_levels {
    bly_filter *at[BLYI_MAX_LEVELS];
    unsigned n;
    bool borrowed; /* at[0] belongs to the caller: it is not changed and not destroyed */
} blyi_levels;

struct blyi_level_request; /* level_growth.h */

/* What a kind made of levels supplies. The first two functions validate what a file contains. When
 * they are called, the hash and the seed of the levels are known to equal those of the whole
 * filter, but items and rates may be anything. */
typedef struct blyi_level_rules {
    /* Whether a filter of that shape may be level i. */
    bool (*accepts_level)(const blyi_shape *whole, unsigned i, const blyi_shape *level);
    /* Whether these levels, each of which was accepted, can together be the levels of `whole`. */
    bool (*levels_are_consistent)(const blyi_shape *whole, const blyi_shape *const *levels,
                                  unsigned n);
    /* Recomputes capacity, items and all else that follows from the levels. */
    void (*update_totals)(bly_filter *f);
    /* Plans one level, for a kind whose filter grows by levels; else NULL (level_growth.h). */
    bly_status (*plan_level)(const struct blyi_level_request *request, double *fpr,
                             bly_geometry *out);
    /* Whether two successive levels of these geometries share one part of the rate, which is then
     * counted only once. NULL: never. */
    bool (*share_rate)(const bly_geometry *a, const bly_geometry *b);
    /* Whether bly_filter_level returns the levels, because they are equal parts of one set. */
    bool levels_are_public;
} blyi_level_rules;

/* Whether a kind is made of levels. The kind must exist. */
static inline bool blyi_kind_has_levels(bly_kind kind) {
    return blyi_ops_of(kind)->level_rules != NULL;
}

/* Appends `level`, which then belongs to f. f must have fewer than BLYI_MAX_LEVELS levels. */
void blyi_levels_push(bly_filter *f, bly_filter *level);

/* Removes all levels but the first `n`. */
void blyi_levels_truncate(bly_filter *f, unsigned n);

/* Recomputes the whole's geometry, capacity and items after its levels have changed. */
void blyi_levels_recompute(bly_filter *f);

/* Adds a clone of a level of another filter, which must be compatible with f. On failure `f` is
 * unchanged. */
bly_status blyi_levels_append(bly_filter *f, const bly_filter *from);

/* Adds clones of from's levels, from number `first` on, to `f`. On failure `f` is unchanged. */
bly_status blyi_levels_copy(bly_filter *f, const bly_filter *from, unsigned first);

/* For blyi_ops.is_compatible, .is_equal and .union_with, if all levels have one kind. The last two
 * require compatible filters. */
bool blyi_levels_compatible(const bly_filter *a, const bly_filter *b);
bool blyi_levels_equal(const bly_filter *a, const bly_filter *b);
bly_status blyi_levels_union(bly_filter *dst, const bly_filter *src);

/* Sets each[i] to the statistics of level i. In *out, sets those that describe the whole filter
 * (kind, hashes, size, capacity, count, requested_fpr, approximate, hash_name) and those that are
 * sums or means over the levels (bits, set_bits, bytes, fill, expected_fill). All other fields of
 * *out become 0. */
void blyi_levels_sum_stats(const bly_filter *f, bly_filter_info *each, bly_filter_info *out);

/* For blyi_ops.fill_stats of kinds in which a key may be in any level. */
void blyi_levels_stats(const bly_filter *f, bly_filter_info *out);

/* ---- lookups in all levels, any of which may have a key ----------------------------------------
 */

/* The hashes of a group that no level searched so far contains. */
typedef struct blyi_absent {
    size_t n;
    bly_hash h[BLYI_BATCH_GROUP];
    uint8_t from[BLYI_BATCH_GROUP]; /* their indices in the group */
} blyi_absent;

/* Looks up n <= BLYI_BATCH_GROUP hashes in the oldest `levels` levels. Sets *out to the hashes that
 * none of these levels contains. */
void blyi_levels_find_absent(const bly_filter *f, unsigned levels, const bly_hash *h, size_t n,
                             blyi_absent *out);

/* For blyi_ops.prefetch and .contains_many. */
void blyi_levels_prefetch(const bly_filter *f, const bly_hash *h, size_t n);
size_t blyi_levels_contains_many(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found);

#endif
