#include "filter/series.h"
#include "filter/growth.h"
#include "filter/plan_levels.h"

/* Rates are sums of rounded numbers. */
#define SLACK 1e-9

/* ---- create ---------------------------------------------------------------------------------- */

static bly_status choose_hasher(const bly_spec *spec, bly_hasher *out) {
    if (spec->hasher.id != BLY_HASH_NONE) {
        *out = spec->hasher;
        return BLY_OK;
    }
    bool narrow = blyi_growth_hash_bits(spec->capacity, spec->fpr) == 64;
    return bly_hasher_init(out, narrow ? BLY_HASH_XXH3 : BLY_HASH_XXH3_128, spec->seed);
}

static bly_status check_spec(const bly_spec *spec, double share) {
    if (spec->geometry.size != 0)
        return BLY_EGEOMETRY;
    if (spec->geometry.options != 0 || !(share > 0 && share < 1) || spec->growth > BLYI_MAX_GROWTH)
        return BLY_EINVAL;
    if (!(spec->fpr >= 0x1p-40 && spec->fpr < 1))
        return BLY_ERATE;
    return spec->capacity == 0 ? BLY_ECOUNT : BLY_OK;
}

/* Opens a level for so many keys at that rate. With 128 bits any hash is good enough. */
static bly_status open_level(bly_filter *f, uint64_t keys, double fpr, unsigned hash_bits) {
    const bool first = f->levels->n == 0;
    const blyi_level_request wish = {
        .kind = f->geometry.kind,
        .last = first ? NULL : &blyi_newest_level(f)->geometry,
        .reserved = !first && blyi_first_level_dominates(f->levels->at[0]->fpr, f->fpr),
        .keys = keys,
        .hash_bits = hash_bits,
    };
    blyi_shape shape = blyi_filter_shape(f);
    bly_geometry grown = f->geometry;
    bly_filter *level;
    bly_status status = blyi_level_plan(&wish, &fpr, &shape.geometry);
    if (status)
        return status;
    shape.capacity = keys;
    shape.items = 0;
    shape.fpr = fpr;
    grown.hashes++;
    grown.size += BLYI_LEVEL_HEADER + bly_plan_bytes(&shape.geometry);
    status = bly_plan_check(&grown);
    if (status == BLY_OK)
        status = blyi_filter_may_grow(f, bly_plan_bytes(&shape.geometry));
    if (status == BLY_OK)
        status = blyi_filter_make(&shape, &f->alloc, NULL, &level);
    if (status == BLY_OK)
        blyi_levels_push(f, level);
    return status;
}

bly_status blyi_levels_create(const bly_spec *spec, uint32_t growth, bly_filter **out) {
    double share = spec->first_share != 0 ? spec->first_share : BLYI_FIRST_SHARE;
    blyi_shape shape = {
        .geometry = {.kind = spec->geometry.kind, .detail = blyi_growth_detail(growth)},
        .fpr = spec->fpr,
        .sharing = spec->sharing,
    };
    bly_filter *f = NULL;
    bly_status status = check_spec(spec, share);
    if (status == BLY_OK)
        status = choose_hasher(spec, &shape.hasher);
    if (status == BLY_OK)
        status = blyi_filter_make(&shape, spec->allocator, NULL, &f);
    if (status == BLY_OK)
        status = open_level(f, spec->capacity, blyi_first_rate(spec->fpr, share),
                            spec->allow_weak_hash ? 128 : shape.hasher.bits);
    if (status == BLY_OK)
        *out = f;
    else
        bly_filter_destroy(f);
    return status;
}

/* ---- growth ---------------------------------------------------------------------------------- */

bool blyi_levels_share_rate(const bly_geometry *a, const bly_geometry *b) {
    return a->kind == BLY_CUCKOO && b->kind == BLY_CUCKOO && a->size == b->size &&
           a->hashes == b->hashes;
}

/* What the levels have left of the rate. */
static double rate_left(const bly_filter *f) {
    bly_filter *const *at = f->levels->at;
    double left = f->fpr;
    for (unsigned i = 0; i < f->levels->n; i++)
        if (i == 0 || !blyi_levels_share_rate(&at[i - 1]->geometry, &at[i]->geometry))
            left -= at[i]->fpr;
    return left;
}

bly_status blyi_levels_grow(bly_filter *f) {
    uint64_t keys =
        blyi_next_keys(f->geometry.detail, f->levels->n, blyi_newest_level(f)->capacity);
    double rate = rate_left(f) * BLYI_NEXT_SHARE;
    if (f->levels->n == BLYI_MAX_LEVELS)
        return BLY_EFULL;
    bly_status status = open_level(f, keys, rate, f->hasher.bits);
    /* Too late to ask for a better hash: the level gets the size that its keys need without. */
    if (status == BLY_EWEAKHASH)
        status = open_level(f, keys, rate, 128);
    return status == BLY_ERATE ? BLY_EFULL : status;
}

void blyi_levels_clear(bly_filter *f) {
    bly_filter_clear(f->levels->at[0]);
    blyi_levels_truncate(f, 1);
}

/* ---- the whole and its levels ---------------------------------------------------------------- */

bool blyi_levels_consistent(const blyi_shape *all, const blyi_shape *const *levels, unsigned n) {
    uint64_t items = 0, capacity = 0;
    double rate = 0;
    for (unsigned i = 0; i < n; i++) {
        capacity = blyi_sum(capacity, levels[i]->capacity);
        items = blyi_sum(items, levels[i]->items);
        if (i == 0 || !blyi_levels_share_rate(&levels[i - 1]->geometry, &levels[i]->geometry))
            rate += levels[i]->fpr;
    }
    return capacity == all->capacity && items == all->items && rate <= all->fpr * (1 + SLACK) &&
           !all->approximate;
}

void blyi_levels_sum_counts(bly_filter *f) {
    f->capacity = f->items = 0;
    for (unsigned i = 0; i < f->levels->n; i++) {
        f->capacity = blyi_sum(f->capacity, f->levels->at[i]->capacity);
        f->items = blyi_sum(f->items, f->levels->at[i]->items);
    }
}
