/* Creating overlays, and the rules for their parts.
 *
 * An overlay is created over a borrowed base, or over one that it owns. A saved overlay is accepted
 * only if its other parts have the forms that are created here.
 */
#include "kinds/overlay/overlay_layout.h"

#include "filter/level_growth.h"
#include "filter/rate.h"
#include "kinds/cuckoo/cuckoo_layout.h"
#include <bloomery/filter.h>

enum {
    DEFAULT_CHANGES_SHARE = 20, /* one in 20 keys of the base's capacity is expected to change */
    MIN_DEFAULT_CHANGES = 64,
};

/* Whether a filter of that kind can be a base. Not another overlay, nor a kind that only estimates
 * the number of distinct keys, whose lookups are of no use. */
static bool overlay_accepts_base(bly_kind kind) {
    return kind != BLY_OVERLAY && !(blyi_ops_of(kind)->capabilities & BLY_CARDINALITY_ONLY);
}

/* ---- create ---------------------------------------------------------------------------------- */

/* The maximum number of buckets of a new table. When fully grown, the table must still have at most
 * BLYI_MAX_BITS bits. */
static uint64_t overlay_max_buckets(void) {
    const unsigned doublings = BLYI_CHANGES_REMAINDER_BITS - BLYI_CHANGES_MIN_REMAINDER_BITS;
    const uint64_t last = (BLYI_MAX_BITS - BLYI_TABLE_TAIL) /
                          ((uint64_t)BLYI_BUCKET_SLOTS * (BLYI_CHANGES_MIN_REMAINDER_BITS + 1));
    return last >> doublings & ~(uint64_t)1;
}

/* The default of bly_overlay_options.changes. The base's capacity counts at most as its number of
 * bits, because a file may claim any capacity. */
static uint64_t overlay_default_changes(const bly_filter *base) {
    uint64_t bits = bly_plan_bits(&base->geometry);
    uint64_t max = blyi_buckets_capacity(overlay_max_buckets());
    uint64_t changes = (base->capacity < bits ? base->capacity : bits) / DEFAULT_CHANGES_SHARE;
    if (changes < MIN_DEFAULT_CHANGES)
        changes = MIN_DEFAULT_CHANGES;
    return changes < max ? changes : max;
}

/* Creates a part of that geometry, with f's hash function, and appends it to f. */
static bly_status overlay_add_part(bly_filter *f, const bly_geometry *g, uint64_t capacity,
                                   double rate) {
    blyi_shape shape = {
        .geometry = *g,
        .hasher = f->hasher,
        .capacity = capacity,
        .fpr = rate,
        .keyless = f->keyless,
        .growth_limit = f->growth_limit,
        .key_rule = f->key_rule,
    };
    bly_geometry whole = f->geometry;
    bly_filter *part;
    bly_status status = bly_plan_check(g);
    if (status)
        return status;
    whole.hashes++;
    whole.size += BLYI_LEVEL_HEADER + bly_plan_bytes(g);
    status = bly_plan_check(&whole);
    if (status == BLY_OK)
        status = blyi_filter_may_grow(f, bly_plan_bytes(g));
    if (status == BLY_OK)
        status = blyi_filter_make(&shape, &f->alloc, NULL, &part);
    if (status == BLY_OK)
        blyi_levels_push(f, part);
    return status;
}

static bly_status overlay_add_table(bly_filter *f, uint64_t buckets) {
    bly_geometry g = {
        .kind = BLY_GROWABLE_CUCKOO,
        .hashes = BLYI_CHANGES_REMAINDER_BITS,
        .size = buckets,
        .detail = BLYI_CHANGES_MIN_REMAINDER_BITS,
    };
    return overlay_add_part(f, &g, blyi_buckets_capacity(buckets), BLYI_CHANGES_RATE);
}

static bly_status overlay_add_bloom(bly_filter *f, uint64_t changes) {
    bly_geometry g;
    /* Planned for a 128-bit hash, because no size would compensate for the collisions of a weak
     * one. They are included in the reported miss bound. */
    bly_status status = bly_plan(BLY_CLASSIC, changes, BLYI_BLOOM_MARKER_RATE, 0, 128, &g);
    return status ? status : overlay_add_part(f, &g, changes, BLYI_BLOOM_MARKER_RATE);
}

bly_status blyi_overlay_create_added(bly_filter *f) {
    const bly_filter *deleted = blyi_overlay_deleted(f);
    uint64_t buckets = blyi_buckets_for(deleted->capacity);
    if (deleted->geometry.kind == BLY_GROWABLE_CUCKOO) /* the size of that table when new */
        buckets =
            deleted->geometry.size >> (BLYI_CHANGES_REMAINDER_BITS - deleted->geometry.hashes);
    return overlay_add_table(f, buckets < overlay_max_buckets() ? buckets : overlay_max_buckets());
}

static bly_status overlay_check_options(const bly_overlay_options *o) {
    if (o->marker != BLY_KIND_NONE && o->marker != BLY_CUCKOO && o->marker != BLY_CLASSIC)
        return BLY_EINVAL;
    return o->changes > BLYI_MAX_BITS ? BLY_ETOOBIG : BLY_OK;
}

/* Creates an overlay over `base`, which it then owns unless `borrowed`. On failure the caller still
 * owns base. */
static bly_status overlay_create_over(bly_filter *base, bool borrowed, const bly_overlay_options *o,
                                      const bly_allocator *a, bly_filter **out) {
    blyi_shape shape = {
        .geometry = {.kind = BLY_OVERLAY},
        .hasher = base->hasher,
        .fpr = base->fpr,
        .keyless = base->keyless,
        .key_rule = base->key_rule,
    };
    bly_filter *f;
    bly_status status = overlay_check_options(o);
    if (status == BLY_OK)
        status = blyi_filter_make(&shape, a, NULL, &f);
    if (status)
        return status;
    f->levels->borrowed = true; /* so that a failure below does not destroy the base */
    blyi_levels_push(f, base);
    uint64_t changes = o->changes ? o->changes : overlay_default_changes(base);
    status = o->marker == BLY_CLASSIC ? overlay_add_bloom(f, changes)
                                      : overlay_add_table(f, blyi_buckets_for(changes));
    if (status) {
        bly_filter_destroy(f);
        return status;
    }
    f->levels->borrowed = borrowed;
    *out = f;
    return BLY_OK;
}

bly_status bly_overlay_over(const bly_filter *base, const bly_overlay_options *options,
                            const bly_allocator *a, bly_filter **out) {
    static const bly_overlay_options defaults;
    *out = NULL;
    if (!overlay_accepts_base(base->geometry.kind))
        return BLY_EKIND;
    return overlay_create_over((bly_filter *)(uintptr_t)base, true, options ? options : &defaults,
                               a, out);
}

bly_status blyi_overlay_create(const bly_spec *spec, bly_filter **out) {
    bly_spec own = *spec;
    bly_filter *base;
    if (spec->geometry.size != 0)
        return BLY_EGEOMETRY;
    if (spec->geometry.options != 0)
        return BLY_EINVAL;
    if (spec->sharing != BLY_EXCLUSIVE)
        return spec->sharing > BLY_SHARED_ONCE ? BLY_EINVAL : BLY_EUNSUPPORTED;
    own.geometry.kind = bly_plan_kind(spec->fpr);
    own.geometry.detail = 0;
    own.overlay.changes = 0;
    own.overlay.marker = BLY_KIND_NONE;
    bly_status status = bly_filter_create(&own, &base);
    if (status)
        return status;
    status = overlay_create_over(base, false, &spec->overlay, spec->allocator, out);
    if (status)
        bly_filter_destroy(base);
    return status;
}

/* ---- rules of the parts ---------------------------------------------------------------------- */

/* The number of keys in an overlay whose parts have these numbers of keys. */
static uint64_t overlay_count(bool hidden, uint64_t base, uint64_t deleted, uint64_t added) {
    uint64_t left = base > deleted && !hidden ? base - deleted : 0;
    return blyi_sum(left, added);
}

static void overlay_update_totals(bly_filter *f) {
    const blyi_levels *l = f->levels;
    uint64_t items[BLYI_OVERLAY_PARTS] = {0};
    for (unsigned i = 0; i < l->n; i++)
        items[i] = blyi_filter_items(l->at[i]);
    f->items = overlay_count(f->geometry.detail == BLYI_OVERLAY_HIDDEN, items[BLYI_OVERLAY_BASE],
                             items[BLYI_OVERLAY_DELETED], items[BLYI_OVERLAY_ADDED]);
    f->capacity = l->n ? blyi_overlay_base(f)->capacity : 0;
    f->approximate = l->n && blyi_overlay_base(f)->approximate;
}

/* Whether a part is a table as this file creates it, perhaps grown since. */
static bool overlay_is_table(const blyi_shape *part) {
    const bly_geometry *g = &part->geometry;
    if (g->kind != BLY_GROWABLE_CUCKOO || g->detail != BLYI_CHANGES_MIN_REMAINDER_BITS ||
        g->hashes > BLYI_CHANGES_REMAINDER_BITS)
        return false;
    uint64_t evenly = (uint64_t)2 << (BLYI_CHANGES_REMAINDER_BITS - g->hashes);
    return g->size % evenly == 0 && part->capacity <= g->size * BLYI_BUCKET_SLOTS &&
           part->fpr == BLYI_CHANGES_RATE;
}

/* Whether a part is a Bloom filter as this file creates it. It never has more items than its
 * capacity. */
static bool overlay_is_bloom(const blyi_shape *part) {
    return part->geometry.kind == BLY_CLASSIC && part->geometry.options == 0 &&
           part->fpr == BLYI_BLOOM_MARKER_RATE &&
           part->capacity <= bly_plan_bits(&part->geometry) && part->items <= part->capacity;
}

static bool overlay_accepts_part(const blyi_shape *all, unsigned i, const blyi_shape *part) {
    (void)all;
    if (i == BLYI_OVERLAY_BASE)
        return overlay_accepts_base(part->geometry.kind);
    return !part->approximate &&
           (overlay_is_table(part) || (i == BLYI_OVERLAY_DELETED && overlay_is_bloom(part)));
}

static bool overlay_parts_are_consistent(const blyi_shape *all, const blyi_shape *const *parts,
                                         unsigned n) {
    const blyi_shape *base = parts[BLYI_OVERLAY_BASE], *deleted = parts[BLYI_OVERLAY_DELETED];
    bool hidden = all->geometry.detail == BLYI_OVERLAY_HIDDEN;
    uint64_t added = n > BLYI_OVERLAY_ADDED ? parts[BLYI_OVERLAY_ADDED]->items : 0;
    return all->capacity == base->capacity && all->fpr == base->fpr &&
           all->approximate == base->approximate && !(hidden && deleted->items != 0) &&
           all->items == overlay_count(hidden, base->items, deleted->items, added);
}

const blyi_level_rules blyi_overlay_level_rules = {
    .accepts_level = overlay_accepts_part,
    .levels_are_consistent = overlay_parts_are_consistent,
    .update_totals = overlay_update_totals,
};
