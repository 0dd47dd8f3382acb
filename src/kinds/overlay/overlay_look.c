/* What an overlay says of itself, and what its parts must be. */
#include "kinds/overlay/overlay_parts.h"

#include "filter/level_growth.h"
#include "filter/rate.h"
#include "kinds/cuckoo/cuckoo_plan.h"
#include <bloomery/overlay.h>
#include <math.h>

/* ---- the whole and its parts ----------------------------------------------------------------- */

uint64_t blyi_overlay_count(bool hidden, uint64_t base, uint64_t deleted, uint64_t added) {
    uint64_t left = base > deleted && !hidden ? base - deleted : 0;
    return blyi_sum(left, added);
}

static void settle(bly_filter *f) {
    const blyi_levels *l = f->levels;
    uint64_t items[BLYI_OVERLAY_PARTS] = {0};
    for (unsigned i = 0; i < l->n; i++)
        items[i] = blyi_filter_items(l->at[i]);
    f->items =
        blyi_overlay_count(f->geometry.detail == BLYI_OVERLAY_HIDDEN, items[BLYI_OVERLAY_BASE],
                           items[BLYI_OVERLAY_DELETED], items[BLYI_OVERLAY_ADDED]);
    f->capacity = l->n ? blyi_overlay_base(f)->capacity : 0;
    f->approximate = l->n && blyi_overlay_base(f)->approximate;
}

/* A table as this kind makes them, perhaps grown. */
static bool is_table(const blyi_shape *part) {
    const bly_geometry *g = &part->geometry;
    if (g->kind != BLY_GROWABLE_CUCKOO || g->detail != BLYI_CHANGES_MIN_REST ||
        g->hashes > BLYI_CHANGES_REST)
        return false;
    uint64_t evenly = (uint64_t)2 << (BLYI_CHANGES_REST - g->hashes);
    return g->size % evenly == 0 && part->capacity <= g->size * BLYI_BUCKET &&
           part->fpr == BLYI_CHANGES_RATE;
}

/* No more items than it was made for: that is where it stops. */
static bool is_bloom(const blyi_shape *part) {
    return part->geometry.kind == BLY_CLASSIC && part->geometry.options == 0 &&
           part->fpr == BLYI_BLOOM_MARKER_RATE &&
           part->capacity <= bly_plan_bits(&part->geometry) && part->items <= part->capacity;
}

static bool admits(const blyi_shape *all, unsigned i, const blyi_shape *part) {
    (void)all;
    if (i == BLYI_OVERLAY_BASE)
        return blyi_overlay_takes(part->geometry.kind);
    return !part->approximate && (is_table(part) || (i == BLYI_OVERLAY_DELETED && is_bloom(part)));
}

static bool adds_up(const blyi_shape *all, const blyi_shape *const *parts, unsigned n) {
    const blyi_shape *base = parts[BLYI_OVERLAY_BASE], *deleted = parts[BLYI_OVERLAY_DELETED];
    bool hidden = all->geometry.detail == BLYI_OVERLAY_HIDDEN;
    uint64_t added = n > BLYI_OVERLAY_ADDED ? parts[BLYI_OVERLAY_ADDED]->items : 0;
    return all->capacity == base->capacity && all->fpr == base->fpr &&
           all->approximate == base->approximate && !(hidden && deleted->items != 0) &&
           all->items == blyi_overlay_count(hidden, base->items, deleted->items, added);
}

const blyi_level_rules blyi_overlay_whole = {
    .accepts_level = admits,
    .levels_are_consistent = adds_up,
    .update_totals = settle,
};

bool blyi_overlay_compatible(const bly_filter *a, const bly_filter *b) {
    bool same = true;
    for (unsigned i = 0; same && i < a->levels->n && i < b->levels->n; i++)
        same = bly_filter_compatible(a->levels->at[i], b->levels->at[i]) == BLY_OK;
    return same;
}

bool blyi_overlay_equal(const bly_filter *a, const bly_filter *b) {
    return a->geometry.detail == b->geometry.detail && blyi_levels_equal(a, b);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The chance that a key of the base is of the class, or has the bits, of one that was deleted. */
static double base_misses(const bly_filter *f) {
    const bly_filter *deleted = blyi_overlay_deleted(f);
    double n = (double)deleted->items;
    if (deleted->items == 0)
        return 0;
    double alike = deleted->geometry.kind == BLY_GROWABLE_CUCKOO
                       ? blyi_table_rate(&deleted->geometry, n)
                       : deleted->ops->current_fpr(deleted);
    return alike + blyi_hash_floor(n, f->hasher.bits);
}

/* The chance that a key that was added is of the class of one that was removed again. How many
 * were is not known; as many as there is room for are counted. */
static double added_misses(const bly_filter *f) {
    const bly_filter *added = blyi_overlay_added(f);
    if (!added)
        return 0;
    double n = (double)blyi_buckets_hold(added->geometry.size);
    return blyi_table_rate(&added->geometry, n) + blyi_hash_floor(n, f->hasher.bits);
}

double bly_overlay_miss_bound(const bly_filter *f) {
    if (f->geometry.kind != BLY_OVERLAY)
        return 0;
    return fmin(1, fmax(base_misses(f), added_misses(f)));
}

void blyi_overlay_stats(const bly_filter *f, bly_stats *out) {
    static const bly_stats nothing;
    bly_stats each[BLYI_OVERLAY_PARTS] = {{0}};
    blyi_levels_sum_stats(f, each, out);
    bool hidden = f->geometry.detail == BLYI_OVERLAY_HIDDEN;
    const bly_stats *base = hidden ? &nothing : &each[BLYI_OVERLAY_BASE];
    const bly_stats *added = &each[BLYI_OVERLAY_ADDED];
    double deleted = (double)each[BLYI_OVERLAY_DELETED].count;
    out->estimated_keys = fmax(0, base->estimated_keys - deleted) + added->estimated_keys;
    out->predicted_fpr = blyi_combined_rate(base->predicted_fpr, added->predicted_fpr);
    out->current_fpr = blyi_combined_rate(base->current_fpr, added->current_fpr);
    out->stuck = each[BLYI_OVERLAY_BASE].stuck;
    out->miss_bound = bly_overlay_miss_bound(f);
}

bly_status bly_overlay_changes(const bly_filter *f, uint64_t *deleted, uint64_t *added) {
    if (f->geometry.kind != BLY_OVERLAY)
        return BLY_EKIND;
    const bly_filter *beside = blyi_overlay_added(f);
    *deleted = blyi_overlay_deleted(f)->items;
    *added = beside ? beside->items : 0;
    return BLY_OK;
}

const bly_filter *bly_overlay_base(const bly_filter *f) {
    return f->geometry.kind == BLY_OVERLAY ? blyi_overlay_base(f) : NULL;
}
