/* levels.h - filters made of filters: a list of levels, oldest first. Internal.
 *
 * The handle of such a filter has no body. Its geometry is {kind, levels, bytes}, where bytes is
 * what the levels take in a file, each with its header; its capacity and items are their sums. The
 * functions here keep that true. Levels have the handle's hasher and allocator, and bodies.
 */
#ifndef BLYI_FILTERS_LEVELS_H
#define BLYI_FILTERS_LEVELS_H

#include "ops.h"

enum {
    BLYI_MAX_LEVELS = 48,
    BLYI_LEVEL_HEADER = 64, /* bytes before each level's body in a file */
};

typedef struct blyi_levels {
    bly_filter *at[BLYI_MAX_LEVELS];
    unsigned n;
} blyi_levels;

/* Whether a kind is made of levels. */
static inline bool blyi_kind_has_levels(bly_kind kind) {
    return kind == BLY_SCALABLE;
}

/* Sums of keys stay at the largest number instead of starting again from zero. */
static inline uint64_t blyi_sum(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* `f` owns `level` from now on. There must be room for one. */
void blyi_levels_push(bly_filter *f, bly_filter *level);

/* Keeps the first `n` levels. */
void blyi_levels_cut(bly_filter *f, unsigned n);

/* Counts the keys of all levels anew. */
void blyi_levels_recount(bly_filter *f);

/* Adds clones of from's levels, beginning with its `first`, to `f`. On failure `f` is as before. */
bly_status blyi_levels_copy(bly_filter *f, const bly_filter *from, unsigned first);

/* What bly_filter_compatible, _equal, _union and _stats do. The filters are made of levels, and
 * for the last three compatible. */
bool blyi_levels_compatible(const bly_filter *a, const bly_filter *b);
bool blyi_levels_equal(const bly_filter *a, const bly_filter *b);
bly_status blyi_levels_union(bly_filter *dst, const bly_filter *src);
void blyi_levels_stats(const bly_filter *f, bly_stats *out);

#endif
