/* Creates filters: turns a bly_spec into the shape of a filter. */
#include "base/struct_size.h"
#include "filter/filter.h"
#include "filter/kind.h"
#include "filter/rate.h"
#include "hash/hash_custom.h"

#include <math.h>

/* Returns the number of hash bits that a plan assumes. With allow_weak_hash, a hash is treated as
 * if it had 128 bits, so almost no collisions; the default hash has 128 bits if needed.
 */
static unsigned planning_bits(const bly_spec *spec) {
    return spec->allow_weak_hash || spec->hasher.id == BLY_HASH_NONE ? 128 : spec->hasher.bits;
}

/* Returns the largest number of keys that leaves half of the cells free, but at least 1. */
static uint64_t keys_at_half_fill(const bly_geometry *g) {
    uint64_t low = 1, high = BLYI_UNLIMITED_KEYS;
    while (high - low > 1) {
        uint64_t mid = low + (high - low) / 2;
        if (bly_plan_fill(g, (double)mid) <= 0.5)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Uses the geometry that the caller gives. If the capacity is not given, it follows from the
 * requested rate or, without one, from half fill, the optimum of a classic filter. */
static bly_status resolve_exact_geometry(const bly_spec *spec, blyi_shape *shape) {
    const bly_geometry *g = &spec->geometry;
    unsigned bits = planning_bits(spec);
    bly_status status = bly_plan_check(g);
    if (status)
        return status;
    if (spec->fpr != 0 && !(spec->fpr >= 0x1p-40 && spec->fpr < 1))
        return BLY_ERATE;
    shape->geometry = *g;
    const blyi_planner *own = blyi_kind_is_bits(g->kind) ? NULL : blyi_planner_of(g->kind);
    if (shape->capacity == 0) {
        if (shape->fpr != 0)
            shape->capacity = bly_plan_capacity(g, shape->fpr, bits);
        else if (own && own->max_keys(g) < BLYI_UNLIMITED_KEYS)
            shape->capacity = own->max_keys(g);
        else if (own)
            shape->capacity = keys_at_half_fill(g);
        else
            shape->capacity = (uint64_t)fmax(1, bly_plan_keys(g, bly_plan_bits(g) / 2));
        if (shape->capacity == 0)
            return BLY_EIMPOSSIBLE;
    }
    bool ends = own && !(bly_kind_capabilities(g->kind) & BLY_FORGETS);
    if (ends && shape->capacity > own->max_keys(g))
        return BLY_EIMPOSSIBLE;
    if (shape->fpr == 0) {
        shape->fpr = fmax(bly_plan_fpr(g, shape->capacity, bits), 0x1p-40);
        if (shape->fpr >= 1)
            return BLY_EIMPOSSIBLE;
    }
    return BLY_OK;
}

uint32_t blyi_spec_fields(const bly_spec *spec) {
    uint32_t fields = 0;
    if (spec->scalable.first_share != 0 || spec->scalable.growth != 0)
        fields |= BLYI_SPEC_LEVELS;
    if (spec->cuckoo.horizon != 0)
        fields |= BLYI_SPEC_HORIZON;
    if (spec->window.generations != 0 || spec->window.span != 0)
        fields |= BLYI_SPEC_WINDOW;
    if (spec->counting.counter_bits != 0)
        fields |= BLYI_SPEC_COUNTERS;
    if (spec->overlay.changes != 0 || spec->overlay.marker != BLY_KIND_NONE)
        fields |= BLYI_SPEC_OVERLAY;
    return fields;
}

static bly_status check_filter_spec(const bly_spec *spec) {
    if (!bly_kind_name(spec->geometry.kind))
        return BLY_EKIND;
    /* A geometry without a size must not have `hashes` or `detail` either. */
    if (spec->geometry.size == 0 && (spec->geometry.hashes != 0 || spec->geometry.detail != 0))
        return BLY_EINVAL;
    if (blyi_spec_fields(spec) & ~blyi_kind_of(spec->geometry.kind)->spec_fields)
        return BLY_EINVAL;
    /* The width of counters may be given in either field, but not differently in both. */
    if (spec->counting.counter_bits != 0 && spec->geometry.size != 0 &&
        spec->counting.counter_bits != spec->geometry.detail)
        return BLY_EINVAL;
    return blyi_hasher_is_empty(&spec->hasher) ? BLY_EHASHER : BLY_OK;
}

/* Plans the geometry that the spec requests. */
static bly_status plan_geometry(const bly_spec *spec, unsigned hash_bits, blyi_shape *shape) {
    const bly_geometry *g = &spec->geometry;
    if (spec->counting.counter_bits == 0)
        return bly_plan(g->kind, shape->capacity, shape->fpr, g->options, hash_bits,
                        &shape->geometry);
    if (g->options != 0)
        return BLY_EINVAL;
    return blyi_planner_of(g->kind)->plan_counters(
        shape->capacity, shape->fpr, spec->counting.counter_bits, hash_bits, &shape->geometry);
}

static bly_status create_filter(const bly_spec *spec, bly_filter **out) {
    blyi_shape shape = {
        .hasher = spec->hasher,
        .capacity = spec->capacity,
        .fpr = spec->fpr,
        .sharing = spec->sharing,
    };
    bool exact = spec->geometry.size != 0;
    bly_status status = check_filter_spec(spec);
    if (status)
        return status;
    const blyi_ops *ops = blyi_ops_of(spec->geometry.kind);
    if (ops->solver)
        return BLY_EUNSUPPORTED; /* only bly_builder can create these */
    if (ops->create)
        return ops->create(spec, out);
    /* The textbook's probe sequence uses the words of the hash function directly, so a custom
     * function is used without mixing. */
    if (spec->geometry.options & BLY_TEXTBOOK)
        (void)blyi_hasher_match(&spec->hasher, BLY_HASH_CUSTOM_RAW, spec->hasher.seed,
                                &shape.hasher);
    if (exact)
        status = resolve_exact_geometry(spec, &shape);
    if (status == BLY_OK && shape.hasher.id == BLY_HASH_NONE)
        status = bly_hasher_default(&shape.hasher, shape.capacity, shape.fpr, spec->seed);
    if (status)
        return status;
    unsigned bits = spec->allow_weak_hash ? 128 : shape.hasher.bits;
    if (exact && blyi_hash_floor((double)shape.capacity, bits) > shape.fpr / 10)
        return BLY_EWEAKHASH;
    if (!exact)
        status = plan_geometry(spec, bits, &shape);
    return status ? status : blyi_filter_make(&shape, spec->allocator, NULL, out);
}

bly_status bly_filter_create(const bly_spec *spec, bly_filter **out) {
    bly_spec own;
    *out = NULL;
    if (!blyi_read_struct(&own, sizeof own, sizeof own, spec))
        return BLY_EINVAL;
    return create_filter(&own, out);
}
