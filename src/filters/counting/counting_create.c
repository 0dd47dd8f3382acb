/* Making filters of counters: as bly_filter_create makes any other, but with counters of a width
 * that may be chosen. */
#include "../../core/rate.h"
#include "cells.h"

#include <bloomery/counting.h>
#include <math.h>

static bly_status check_spec(const bly_spec *spec) {
    const bly_geometry *g = &spec->geometry;
    bool exact = g->size != 0;
    if (g->options != 0 || (!exact && g->detail != 0))
        return BLY_EINVAL;
    /* The width may be given here or there, but not differently. */
    if (spec->counter_bits != 0 &&
        (!blyi_counter_fits(spec->counter_bits) || (exact && spec->counter_bits != g->detail)))
        return BLY_EINVAL;
    if (!(exact && spec->fpr == 0) && !(spec->fpr >= 0x1p-40 && spec->fpr < 1))
        return BLY_ERATE;
    if (exact)
        return bly_plan_check(g);
    return spec->capacity == 0 ? BLY_ECOUNT : BLY_OK;
}

/* What an exact geometry is good for, where the caller did not say: half of the counters in use. */
static bly_status resolve_exact(const bly_spec *spec, unsigned hash_bits, blyi_shape *shape) {
    const bly_geometry *g = &spec->geometry;
    shape->geometry = *g;
    if (shape->capacity == 0 && shape->fpr != 0)
        shape->capacity = bly_plan_capacity(g, shape->fpr, hash_bits);
    else if (shape->capacity == 0)
        shape->capacity = (uint64_t)fmax(1, blyi_counting_keys(g, 0.5));
    if (shape->capacity == 0)
        return BLY_EIMPOSSIBLE;
    if (shape->fpr == 0)
        shape->fpr = fmax(bly_plan_fpr(g, shape->capacity, hash_bits), 0x1p-40);
    return shape->fpr < 1 ? BLY_OK : BLY_EIMPOSSIBLE;
}

static bly_status resolve(const bly_spec *spec, blyi_shape *shape) {
    bool exact = spec->geometry.size != 0, chosen = spec->hasher.id != BLY_HASH_NONE;
    bly_status status = check_spec(spec);
    if (status == BLY_OK && exact)
        status =
            resolve_exact(spec, spec->allow_weak_hash || !chosen ? 128 : spec->hasher.bits, shape);
    if (status == BLY_OK && !chosen)
        status = bly_hasher_default(&shape->hasher, shape->capacity, shape->fpr, spec->seed);
    if (status)
        return status;
    unsigned bits = spec->allow_weak_hash ? 128 : shape->hasher.bits;
    double floor = blyi_hash_floor((double)shape->capacity, bits);
    if (floor > shape->fpr / 10)
        return BLY_EWEAKHASH;
    if (exact)
        return BLY_OK;
    return blyi_counting_plan(spec->geometry.kind, shape->capacity, shape->fpr - floor,
                              spec->counter_bits ? spec->counter_bits : BLYI_COUNTER_BITS,
                              &shape->geometry);
}

bly_status blyi_counters_create(const bly_spec *spec, bly_filter **out) {
    blyi_shape shape = {
        .hasher = spec->hasher,
        .capacity = spec->capacity,
        .fpr = spec->fpr,
        .sharing = spec->sharing,
    };
    bly_status status = resolve(spec, &shape);
    return status ? status : blyi_filter_make(&shape, spec->allocator, NULL, out);
}

static bly_status create(bly_kind kind, uint64_t keys, double fpr, uint32_t counter_bits,
                         bly_filter **out) {
    bly_spec spec = bly_spec_for(kind, keys, fpr);
    spec.counter_bits = counter_bits;
    return bly_filter_create(&spec, out);
}

bly_status bly_counting_create(uint64_t keys, double fpr, uint32_t counter_bits, bly_filter **out) {
    return create(BLY_COUNTING, keys, fpr, counter_bits, out);
}

bly_status bly_counting_create_blocked(uint64_t keys, double fpr, uint32_t counter_bits,
                                       bly_filter **out) {
    return create(BLY_BLOCKED_COUNTING, keys, fpr, counter_bits, out);
}

bly_status bly_counting_plan(bly_kind kind, uint64_t keys, double fpr, uint32_t counter_bits,
                             unsigned hash_bits, bly_geometry *out) {
    const uint32_t width = counter_bits ? counter_bits : BLYI_COUNTER_BITS;
    bly_geometry bits;
    if (kind != BLY_COUNTING && kind != BLY_BLOCKED_COUNTING)
        return BLY_EKIND;
    if (!blyi_counter_fits(width))
        return BLY_EINVAL;
    /* Whether the rest can be asked does not depend on the width. */
    bly_status status = bly_plan(BLY_CLASSIC, keys, fpr, 0, hash_bits, &bits);
    if (status)
        return status;
    return blyi_counting_plan(kind, keys, fpr - blyi_hash_floor((double)keys, hash_bits), width,
                              out);
}

double bly_counting_overflow(const bly_geometry *g, double keys) {
    if (g->kind != BLY_COUNTING && g->kind != BLY_BLOCKED_COUNTING)
        return NAN;
    return blyi_counting_tail(g, keys, (uint32_t)blyi_counter_limit(g->detail));
}
