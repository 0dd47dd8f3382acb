/* From what the caller asks for to an overlay's parts. */
#include "kinds/overlay/overlay_parts.h"

#include "filter/rate.h"
#include "kinds/cuckoo/cuckoo_plan.h"
#include <bloomery/overlay.h>

enum {
    DEFAULT_SHARE = 20, /* of the base's capacity: one in so many keys is expected to change */
    MIN_DEFAULT = 64,
};

/* The most buckets a table may start with: fully grown, its slots must be within the limit. */
static uint64_t most_buckets(void) {
    const unsigned doublings = BLYI_CHANGES_REST - BLYI_CHANGES_MIN_REST;
    const uint64_t last =
        (BLYI_MAX_BITS - BLYI_TABLE_TAIL) / ((uint64_t)BLYI_BUCKET * (BLYI_CHANGES_MIN_REST + 1));
    return last >> doublings & ~(uint64_t)1;
}

/* A file may say that its filter is made for any number of keys; more than bits, it is not. */
static uint64_t default_changes(const bly_filter *base) {
    uint64_t bits = bly_plan_bits(&base->geometry), most = blyi_buckets_hold(most_buckets());
    uint64_t changes = (base->capacity < bits ? base->capacity : bits) / DEFAULT_SHARE;
    if (changes < MIN_DEFAULT)
        changes = MIN_DEFAULT;
    return changes < most ? changes : most;
}

/* Opens a part of that geometry, under f's hash, and gives it to f. */
static bly_status add_part(bly_filter *f, const bly_geometry *g, uint64_t capacity, double rate) {
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

static bly_status add_table(bly_filter *f, uint64_t buckets) {
    bly_geometry g = {
        .kind = BLY_GROWABLE_CUCKOO,
        .hashes = BLYI_CHANGES_REST,
        .size = buckets,
        .detail = BLYI_CHANGES_MIN_REST,
    };
    return add_part(f, &g, blyi_buckets_hold(buckets), BLYI_CHANGES_RATE);
}

static bly_status add_bloom(bly_filter *f, uint64_t changes) {
    bly_geometry g;
    /* A poor hash makes the bound worse, which is reported; no size would make up for it. */
    bly_status status = bly_plan(BLY_CLASSIC, changes, BLYI_BLOOM_MARKER_RATE, 0, 128, &g);
    return status ? status : add_part(f, &g, changes, BLYI_BLOOM_MARKER_RATE);
}

bly_status blyi_overlay_make_added(bly_filter *f) {
    const bly_filter *deleted = blyi_overlay_deleted(f);
    uint64_t buckets = blyi_buckets_for(deleted->capacity);
    if (deleted->geometry.kind == BLY_GROWABLE_CUCKOO) /* as large as that one was when new */
        buckets = deleted->geometry.size >> (BLYI_CHANGES_REST - deleted->geometry.hashes);
    return add_table(f, buckets < most_buckets() ? buckets : most_buckets());
}

static bly_status check_spec(const bly_spec *spec) {
    if (spec->marker != BLY_KIND_NONE && spec->marker != BLY_CUCKOO && spec->marker != BLY_CLASSIC)
        return BLY_EINVAL;
    return spec->changes > BLYI_MAX_BITS ? BLY_ETOOBIG : BLY_OK;
}

/* Over `base`, which becomes f's own unless it is lent; on failure it is the caller's. */
static bly_status lay_over(bly_filter *base, bool lent, const bly_spec *spec, bly_filter **out) {
    blyi_shape shape = {
        .geometry = {.kind = BLY_OVERLAY},
        .hasher = base->hasher,
        .fpr = base->fpr,
        .keyless = base->keyless,
        .key_rule = base->key_rule,
    };
    bly_filter *f;
    bly_status status = check_spec(spec);
    if (status == BLY_OK)
        status = blyi_filter_make(&shape, spec->allocator, NULL, &f);
    if (status)
        return status;
    f->levels->lent = true; /* until nothing can fail any more */
    blyi_levels_push(f, base);
    uint64_t changes = spec->changes ? spec->changes : default_changes(base);
    status = spec->marker == BLY_CLASSIC ? add_bloom(f, changes)
                                         : add_table(f, blyi_buckets_for(changes));
    if (status) {
        bly_filter_destroy(f);
        return status;
    }
    f->levels->lent = lent;
    *out = f;
    return BLY_OK;
}

bly_status bly_overlay_over(const bly_filter *base, const bly_spec *spec, bly_filter **out) {
    static const bly_spec defaults;
    *out = NULL;
    if (!blyi_overlay_takes(base->geometry.kind))
        return BLY_EKIND;
    return lay_over((bly_filter *)(uintptr_t)base, true, spec ? spec : &defaults, out);
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
    own.geometry.kind = bly_plan_layout(spec->fpr);
    own.geometry.detail = 0;
    own.changes = 0;
    own.marker = BLY_KIND_NONE;
    bly_status status = bly_filter_create(&own, &base);
    if (status)
        return status;
    status = lay_over(base, false, spec, out);
    if (status)
        bly_filter_destroy(base);
    return status;
}
