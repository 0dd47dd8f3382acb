/* From what the caller asks for to what a filter is: bly_spec to blyi_shape. */
#include "../core/rate.h"
#include "ops.h"

#include <math.h>

bly_spec bly_spec_for(bly_kind kind, uint64_t capacity, double fpr) {
    return (bly_spec){.geometry = {.kind = kind}, .capacity = capacity, .fpr = fpr};
}

/* An exact geometry says by itself how many keys it is good for: at the rate asked, or at half
 * fill, the classic optimum. */
static bly_status fill_in_question(const bly_geometry *g, unsigned hash_bits, uint64_t *capacity,
                                   double *fpr) {
    if (*capacity == 0) {
        *capacity = *fpr != 0 ? bly_plan_capacity(g, *fpr, hash_bits)
                              : (uint64_t)fmax(1, bly_plan_keys(g, bly_plan_bits(g) / 2));
        if (*capacity == 0)
            return BLY_EIMPOSSIBLE;
    }
    if (*fpr == 0) {
        *fpr = fmax(bly_plan_fpr(g, *capacity, hash_bits), 0x1p-40);
        if (*fpr >= 1)
            return BLY_EIMPOSSIBLE;
    }
    return BLY_OK;
}

static bly_status resolve_exact(const bly_spec *spec, blyi_shape *shape) {
    bly_status status = bly_plan_check(&spec->geometry);
    if (status)
        return status;
    if (spec->fpr != 0 && !(spec->fpr >= 0x1p-40 && spec->fpr < 1))
        return BLY_ERATE;
    unsigned bits = shape->hasher.id == BLY_HASH_NONE ? 64 : shape->hasher.bits;
    shape->geometry = spec->geometry;
    return fill_in_question(&shape->geometry, bits, &shape->capacity, &shape->fpr);
}

bly_status bly_filter_create(const bly_spec *spec, bly_filter **out) {
    blyi_shape shape = {
        .hasher = spec->hasher,
        .capacity = spec->capacity,
        .fpr = spec->fpr,
        .sharing = spec->sharing,
    };
    bly_status status = BLY_OK;
    *out = NULL;
    bool exact = spec->geometry.size != 0;
    if (!bly_kind_name(spec->geometry.kind))
        return BLY_EKIND;
    if (exact && (status = resolve_exact(spec, &shape)))
        return status;
    if (shape.hasher.id == BLY_HASH_NONE &&
        (status = bly_hasher_default(&shape.hasher, shape.capacity, shape.fpr, spec->seed)))
        return status;
    /* A hash said to be good enough is planned for as if it had no floor; stats still count it. */
    unsigned bits = spec->allow_weak_hash ? 128 : shape.hasher.bits;
    if (exact) {
        if (blyi_hash_floor((double)shape.capacity, bits) > shape.fpr / 10)
            return BLY_EWEAKHASH;
    } else {
        status = bly_plan(spec->geometry.kind, shape.capacity, shape.fpr, spec->geometry.options,
                          bits, &shape.geometry);
        if (status)
            return status;
    }
    return blyi_filter_make(&shape, spec->allocator, NULL, out);
}
