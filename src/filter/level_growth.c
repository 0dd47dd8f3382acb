/* Filters that grow by levels: the rule of growth, and opening the next level.
 *
 * Filters made of filters cannot be planned, because their size depends on the keys that are added.
 * Their geometries can only be checked, when a file is read.
 */
#include "filter/level_growth.h"
#include "filter/rate.h"

#include <math.h>
#include <stdio.h>

/* Tolerance for sums of rounded rates. */
#define SLACK 1e-9

/* ---- geometries ------------------------------------------------------------------------------ */

enum { MIN_LEVEL = 128 }; /* bytes: a header and one cache line */

bly_status blyi_levels_geometry_check(const bly_geometry *g, uint32_t min, uint32_t max) {
    if (g->hashes < min || g->hashes > max)
        return BLY_EGEOMETRY;
    if (g->size % 64 || g->size / MIN_LEVEL < g->hashes)
        return BLY_EGEOMETRY;
    return g->size > BLYI_MAX_BITS / 8 ? BLY_ETOOBIG : BLY_OK;
}

uint64_t blyi_levels_geometry_bits(const bly_geometry *g) {
    return g->size * 8;
}

unsigned blyi_levels_geometry_width(const bly_geometry *g) {
    (void)g;
    return 1;
}

double blyi_levels_geometry_rate(const bly_geometry *g, double n) {
    (void)g;
    (void)n;
    return 1;
}

uint64_t blyi_levels_geometry_max_keys(const bly_geometry *g) {
    (void)g;
    return 0;
}

double blyi_levels_geometry_fill(const bly_geometry *g, double n) {
    (void)g;
    (void)n;
    return 0;
}

void blyi_describe_levels(const bly_geometry *g, const char *grouped, char *out, size_t room) {
    (void)grouped;
    snprintf(out, room, "%u level%s", (unsigned)g->hashes, g->hashes == 1 ? "" : "s");
}

/* ---- what each level must be ----------------------------------------------------------------- */

#define WORST_RATE 0.5 /* the highest rate of a level */

double blyi_first_rate(double fpr, double share) {
    return fmin(share * fpr, WORST_RATE);
}

bly_status blyi_level_plan(const blyi_level_request *request, double *fpr, bly_geometry *out) {
    return blyi_ops_of(request->kind)->level_rules->plan_level(request, fpr, out);
}

uint64_t blyi_next_keys(uint32_t detail, unsigned levels, uint64_t keys) {
    uint64_t factor = blyi_growth_factor(detail);
    if (factor == 1 && levels >= BLYI_MAX_EQUAL_LEVELS)
        factor = BLYI_DEFAULT_GROWTH;
    return keys > UINT64_MAX / factor ? UINT64_MAX : keys * factor;
}

/* The default hash must be good enough for later keys, too. It is chosen for 2^20 times the keys of
 * the first level, limited to 2^36 keys (or to those of the first level if they are more), in a
 * level that has 1/200 of the rate. */
unsigned blyi_growth_hash_bits(uint64_t first_keys, double fpr) {
    const uint64_t many = (uint64_t)1 << 36;
    uint64_t keys = first_keys < many >> 20 ? first_keys << 20 : many;
    if (keys < first_keys)
        keys = first_keys;
    return (double)keys * 0x1p-64 <= fpr / 200 / 10 ? 64 : 128;
}

/* ---- create ---------------------------------------------------------------------------------- */

static bly_status choose_growing_hasher(const bly_spec *spec, bly_hasher *out) {
    if (spec->hasher.id != BLY_HASH_NONE) {
        *out = spec->hasher;
        return BLY_OK;
    }
    bool narrow = blyi_growth_hash_bits(spec->capacity, spec->fpr) == 64;
    return bly_hasher_init(out, narrow ? BLY_HASH_XXH3 : BLY_HASH_XXH3_128, spec->seed);
}

static bly_status check_growing_spec(const bly_spec *spec, double share) {
    if (spec->geometry.size != 0)
        return BLY_EGEOMETRY;
    if (spec->geometry.options != 0 || !(share > 0 && share < 1) ||
        spec->scalable.growth > BLYI_MAX_GROWTH)
        return BLY_EINVAL;
    if (!(spec->fpr >= 0x1p-40 && spec->fpr < 1))
        return BLY_ERATE;
    return spec->capacity == 0 ? BLY_ECOUNT : BLY_OK;
}

/* Opens a level for `keys` keys at rate `fpr`. hash_bits = 128 accepts any hash. */
static bly_status open_next_level(bly_filter *f, uint64_t keys, double fpr, unsigned hash_bits) {
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
    double share = spec->scalable.first_share != 0 ? spec->scalable.first_share : BLYI_FIRST_SHARE;
    blyi_shape shape = {
        .geometry = {.kind = spec->geometry.kind, .detail = blyi_growth_detail(growth)},
        .fpr = spec->fpr,
        .sharing = spec->sharing,
    };
    bly_filter *f = NULL;
    bly_status status = check_growing_spec(spec, share);
    if (status == BLY_OK)
        status = choose_growing_hasher(spec, &shape.hasher);
    if (status == BLY_OK)
        status = blyi_filter_make(&shape, spec->allocator, NULL, &f);
    if (status == BLY_OK)
        status = open_next_level(f, spec->capacity, blyi_first_rate(spec->fpr, share),
                                 spec->allow_weak_hash ? 128 : shape.hasher.bits);
    if (status == BLY_OK)
        *out = f;
    else
        bly_filter_destroy(f);
    return status;
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* Whether two successive levels share one part of the rate, which is then counted only once. */
static bool levels_share_rate(bly_kind kind, const bly_geometry *a, const bly_geometry *b) {
    const blyi_level_rules *rules = blyi_ops_of(kind)->level_rules;
    return rules->share_rate && rules->share_rate(a, b);
}

/* Returns the part of the filter's rate that its levels have not used yet. */
static double rate_left(const bly_filter *f) {
    bly_filter *const *at = f->levels->at;
    double left = f->fpr;
    for (unsigned i = 0; i < f->levels->n; i++)
        if (i == 0 || !levels_share_rate(f->geometry.kind, &at[i - 1]->geometry, &at[i]->geometry))
            left -= at[i]->fpr;
    return left;
}

bly_status blyi_levels_grow(bly_filter *f) {
    uint64_t keys =
        blyi_next_keys(f->geometry.detail, f->levels->n, blyi_newest_level(f)->capacity);
    double rate = rate_left(f) * BLYI_NEXT_SHARE;
    if (f->levels->n == BLYI_MAX_LEVELS)
        return BLY_EFULL;
    bly_status status = open_next_level(f, keys, rate, f->hasher.bits);
    /* The hash of an existing filter cannot be replaced by a better one, so the level is sized as
     * if the hash had no collisions. */
    if (status == BLY_EWEAKHASH)
        status = open_next_level(f, keys, rate, 128);
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
        if (i == 0 ||
            !levels_share_rate(all->geometry.kind, &levels[i - 1]->geometry, &levels[i]->geometry))
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
