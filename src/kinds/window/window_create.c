/* Making a window: as bly_filter_create makes any other filter, but with a number of generations to
 * plan for, and a clock to set up. */
#include "filter/rate.h"
#include "kinds/window/window_body.h"

#include <bloomery/window.h>
#include <math.h>

static bly_status check_spec(const bly_spec *spec) {
    const bly_geometry *g = &spec->geometry;
    if (g->options != 0)
        return BLY_EINVAL;
    /* The generations may be given here or there, but not differently. */
    if (g->size == 0 && g->detail != 0)
        return BLY_EINVAL;
    if (g->size != 0 && spec->generations != 0 && spec->generations != blyi_window_generations(g))
        return BLY_EINVAL;
    if (spec->fpr != 0 && !(spec->fpr >= 0x1p-40 && spec->fpr < 1))
        return BLY_ERATE;
    return BLY_OK;
}

/* What an exact geometry is good for, where the caller did not say: half full generations. */
static bly_status resolve_exact(const bly_spec *spec, unsigned hash_bits, blyi_shape *shape) {
    bly_status status = bly_plan_check(&spec->geometry);
    if (status)
        return status;
    shape->geometry = spec->geometry;
    if (shape->capacity == 0 && shape->fpr != 0)
        shape->capacity = bly_plan_capacity(&spec->geometry, shape->fpr, hash_bits);
    else if (shape->capacity == 0)
        shape->capacity = blyi_window_generations(&spec->geometry) *
                          (uint64_t)fmax(1, blyi_window_keys(&spec->geometry, 0.5));
    if (shape->capacity == 0)
        return BLY_EIMPOSSIBLE;
    if (shape->fpr == 0)
        shape->fpr = fmax(bly_plan_fpr(&spec->geometry, shape->capacity, hash_bits), 0x1p-40);
    return shape->fpr < 1 ? BLY_OK : BLY_EIMPOSSIBLE;
}

static bly_status resolve(const bly_spec *spec, blyi_shape *shape) {
    bool exact = spec->geometry.size != 0, chosen = spec->hasher.id != BLY_HASH_NONE;
    uint32_t generations = spec->generations ? spec->generations : BLYI_GENERATIONS;
    bly_status status = check_spec(spec);
    if (status == BLY_OK && exact)
        status =
            resolve_exact(spec, spec->allow_weak_hash || !chosen ? 128 : spec->hasher.bits, shape);
    if (status == BLY_OK && shape->capacity == 0)
        status = BLY_ECOUNT;
    if (status == BLY_OK && shape->fpr == 0)
        status = BLY_ERATE;
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
    return blyi_window_plan(shape->capacity, shape->fpr - floor, generations, &shape->geometry);
}

bly_status blyi_window_create(const bly_spec *spec, bly_filter **out) {
    blyi_shape shape = {
        .hasher = spec->hasher,
        .capacity = spec->capacity,
        .fpr = spec->fpr,
        .sharing = spec->sharing,
    };
    bly_status status = resolve(spec, &shape);
    if (status == BLY_OK)
        status = blyi_filter_make(&shape, spec->allocator, NULL, out);
    if (status == BLY_OK)
        blyi_window_begin(*out, spec->span, 0, 0);
    return status;
}

bly_status bly_window_create(uint64_t keys, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_WINDOW, keys, fpr);
    return bly_filter_create(&spec, out);
}

bly_status bly_window_create_timed(uint64_t span, uint64_t keys, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_WINDOW, keys, fpr);
    *out = NULL;
    if (span == 0)
        return BLY_EINVAL;
    spec.span = span;
    return bly_filter_create(&spec, out);
}
