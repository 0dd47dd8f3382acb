/* The growable cuckoo filter: a fingerprint table that doubles in place.
 *
 * cuckoo.c and cuckoo_table.h explain the table. A class is a primary bucket and a remainder,
 * together the leading bits of a hash scaled by the number of buckets m: floor(x m 2^f), where 0 <=
 * x < 1. With twice as many buckets and one bit less of remainder, m 2^f is the same, so the same
 * number now reads as bucket 2b + (top bit of R), remainder (R without it). A table can therefore
 * be doubled from its entries alone, without the keys: the class of each entry follows from its
 * slot, thanks to the role bit, and the core, the low bits that choose the other bucket, does not
 * change. (Apple 2022 and Dayan et al. 2023 go further, for growth without bound. This filter has
 * only the simple part of that.)
 *
 * So a table starts with remainders that are longer than its FPR needs, by one bit for each
 * doubling to come. Its FPR, about 4 load / 2^f, starts far below the requested one and doubles
 * with each doubling of the keys, up to the requested FPR at the horizon. There are no false
 * negatives, removes stay correct across growth, and there is one table to look up at any size.
 * It needs twice as many bits per key just after a doubling as when full (docs/kinds/cuckoo.md has
 * the figures).
 *
 * Doubling builds the new table beside the old one and then replaces it, so a failure (no memory)
 * leaves the filter unchanged. An add that finds no room doubles the table, except in two cases in
 * which that would not help: eight copies of one key fill both of its buckets at any size, and five
 * or more copies of each of many keys find no room in a table that is nearly empty. Both return
 * BLY_EFULL.
 *
 * Body: as in a cuckoo filter. In the file's header, k is the present f, and sub is f when fully
 * grown.
 */
#include "kinds/cuckoo/cuckoo_operations.h"

#include "base/memory.h"
#include "filter/rate.h"
#include <bloomery/filter.h>
#include <math.h>
#include <stdio.h>

/* The number of keys that the present size can hold without exceeding the requested FPR. Only the
 * last size comes near that rate. */
static uint64_t growable_cuckoo_capacity(const bly_geometry *g, double fpr) {
    uint64_t keys = bly_plan_capacity(g, fpr, 128);
    return keys ? keys : 1;
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* Replaces f's table by one of that geometry, with all entries and one more of class c. Returns
 * BLY_OK; BLY_ENOMEM; BLY_EGROWTH; or BLY_EFULL if an entry finds no room. After a failure the
 * filter is unchanged. */
static bly_status growable_cuckoo_move_to(bly_filter *f, const bly_geometry *g,
                                          blyi_cuckoo_class c) {
    void *block;
    bly_status status = blyi_filter_may_grow(f, bly_plan_bytes(g));
    if (status)
        return status;
    uint8_t *body = blyi_alloc_array(&f->alloc, bly_plan_bytes(g), &block);
    if (!body)
        return BLY_ENOMEM;
    const blyi_cuckoo_table old = blyi_table_of(f);
    blyi_cuckoo_table t = blyi_table_over(g, body);
    if (!blyi_table_add_all(&t, &old) ||
        !blyi_table_try_add(&t, blyi_cuckoo_class_in(&t, &old, c))) {
        blyi_free_array(&f->alloc, block);
        return BLY_EFULL;
    }
    blyi_filter_replace_body(f, g, body, block);
    f->capacity = growable_cuckoo_capacity(g, f->fpr);
    return BLY_OK;
}

/* One doubling is nearly always enough. Doublings are tried only while the table is not nearly
 * empty. If it is, the key's buckets are full of copies, and doubling does not help. */
static bly_status growable_cuckoo_add(bly_filter *f, blyi_cuckoo_class c) {
    blyi_cuckoo_table t = blyi_table_of(f);
    bly_geometry g = f->geometry;
    bly_status status = BLY_EFULL;
    if (blyi_table_try_add(&t, c))
        return BLY_OK;
    if (blyi_table_count(&t, c) == BLYI_MAX_COPIES)
        return BLY_EFULL;
    while (status == BLY_EFULL && g.hashes > g.detail &&
           f->items >= g.size * BLYI_BUCKET_SLOTS / 8) {
        g.hashes--;
        g.size *= 2;
        status = growable_cuckoo_move_to(f, &g, c);
    }
    return status;
}

static bly_status growable_cuckoo_add_many(bly_filter *f, const bly_hash *h, size_t n,
                                           uint8_t *added, bly_batch_result *sum) {
    return blyi_cuckoo_add_many(f, h, n, added, sum, growable_cuckoo_add);
}

static bly_status growable_cuckoo_union(bly_filter *dst, const bly_filter *src) {
    return blyi_cuckoo_union(dst, src, growable_cuckoo_add);
}

/* Whether both have the same geometry after growing to the same size. */
static bool growable_cuckoo_compatible(const bly_filter *a, const bly_filter *b) {
    const bly_geometry *small = &a->geometry, *large = &b->geometry;
    if (small->hashes < large->hashes) {
        small = &b->geometry;
        large = &a->geometry;
    }
    return small->size << (small->hashes - large->hashes) == large->size;
}

static bool growable_cuckoo_equal(const bly_filter *a, const bly_filter *b) {
    return a->geometry.size == b->geometry.size && blyi_cuckoo_equal(a, b);
}

/* ---- create ---------------------------------------------------------------------------------- */

static bly_status growable_cuckoo_check_spec(const bly_spec *spec) {
    bool exact = spec->geometry.size != 0;
    if (spec->geometry.options != 0 || (exact && spec->cuckoo.horizon != 0) ||
        (!exact && spec->geometry.detail != 0))
        return BLY_EINVAL;
    if (!(exact && spec->fpr == 0) && !(spec->fpr >= 0x1p-40 && spec->fpr < 1))
        return BLY_ERATE;
    if (exact)
        return bly_plan_check(&spec->geometry);
    if (spec->capacity == 0)
        return BLY_ECOUNT;
    if (spec->capacity > BLYI_MAX_BITS)
        return BLY_ETOOBIG;
    if (spec->cuckoo.horizon == 0)
        return BLY_OK;
    bool in_reach = spec->cuckoo.horizon >= spec->capacity &&
                    spec->cuckoo.horizon >> BLYI_MAX_DOUBLINGS <= spec->capacity;
    return in_reach ? BLY_OK : BLY_EINVAL;
}

/* The FPR of a table of that geometry when it is fully grown and full. */
static double growable_cuckoo_final_rate(bly_geometry g) {
    g.size <<= g.hashes - g.detail;
    g.hashes = g.detail;
    return fmax(blyi_table_rate(&g, (double)blyi_buckets_capacity(g.size)), 0x1p-40);
}

/* Plans the geometry for that horizon, and chooses the hash function if none was given. */
static bly_status growable_cuckoo_plan_horizon(const bly_spec *spec, uint64_t horizon,
                                               blyi_shape *shape) {
    bly_status status = BLY_OK;
    shape->hasher = spec->hasher;
    if (spec->hasher.id == BLY_HASH_NONE)
        status = bly_hasher_default(&shape->hasher, horizon, spec->fpr, spec->seed);
    if (status)
        return status;
    double floor =
        blyi_hash_floor((double)horizon, spec->allow_weak_hash ? 128 : shape->hasher.bits);
    if (floor > spec->fpr / 10)
        return BLY_EWEAKHASH;
    return blyi_growable_cuckoo_plan(spec->capacity, horizon, spec->fpr - floor, &shape->geometry);
}

/* Plans without a requested horizon: tries the default number of doublings, then one less each
 * time, until the plan is possible. */
static bly_status growable_cuckoo_plan_default(const bly_spec *spec, blyi_shape *shape) {
    bly_status status = BLY_ETOOBIG;
    for (unsigned doublings = BLYI_DEFAULT_DOUBLINGS + 1; status != BLY_OK && doublings-- > 0;)
        status = growable_cuckoo_plan_horizon(spec, spec->capacity << doublings, shape);
    return status;
}

static bly_status growable_cuckoo_plan_exact(const bly_spec *spec, blyi_shape *shape) {
    uint64_t keys = blyi_buckets_capacity(spec->geometry.size)
                    << (spec->geometry.hashes - spec->geometry.detail);
    bly_status status = BLY_OK;
    shape->geometry = spec->geometry;
    shape->hasher = spec->hasher;
    if (shape->fpr == 0)
        shape->fpr = growable_cuckoo_final_rate(spec->geometry);
    if (shape->fpr >= 1 || spec->capacity > keys)
        return BLY_EIMPOSSIBLE;
    if (shape->hasher.id == BLY_HASH_NONE)
        status = bly_hasher_default(&shape->hasher, keys, shape->fpr, spec->seed);
    unsigned bits = spec->allow_weak_hash ? 128 : shape->hasher.bits;
    uint64_t expected = spec->capacity ? spec->capacity : 1;
    if (status == BLY_OK && blyi_hash_floor((double)expected, bits) > shape->fpr / 10)
        status = BLY_EWEAKHASH;
    return status;
}

static bly_status growable_cuckoo_create(const bly_spec *spec, bly_filter **out) {
    blyi_shape shape = {.fpr = spec->fpr, .sharing = spec->sharing};
    bly_status status = growable_cuckoo_check_spec(spec);
    if (status == BLY_OK && spec->geometry.size != 0)
        status = growable_cuckoo_plan_exact(spec, &shape);
    else if (status == BLY_OK && spec->cuckoo.horizon != 0)
        status = growable_cuckoo_plan_horizon(spec, spec->cuckoo.horizon, &shape);
    else if (status == BLY_OK)
        status = growable_cuckoo_plan_default(spec, &shape);
    if (status)
        return status;
    shape.capacity = growable_cuckoo_capacity(&shape.geometry, shape.fpr);
    return blyi_filter_make(&shape, spec->allocator, NULL, out);
}

static const blyi_ops growable_cuckoo_ops = {
    .capabilities = BLYI_CUCKOO_CAPABILITIES | BLY_LIMITS_COPIES,
    .create = growable_cuckoo_create,
    .prefetch = blyi_cuckoo_prefetch,
    .try_add_many = growable_cuckoo_add_many,
    .contains_many = blyi_cuckoo_contains_many,
    .contains_keys_pipelined = blyi_cuckoo_contains_keys,
    .contains_hashes_pipelined = blyi_cuckoo_contains_hashes,
    .remove_one = blyi_cuckoo_remove_one,
    .count_copies = blyi_cuckoo_count_copies,
    .body_is_valid = blyi_cuckoo_body_is_valid,
    .fill_stats = blyi_cuckoo_fill_stats,
    .union_with = growable_cuckoo_union,
    .intersect_with = blyi_cuckoo_intersect,
    .subtract_from = blyi_cuckoo_subtract,
    .estimate_overlap = blyi_cuckoo_overlap,
    .is_compatible = growable_cuckoo_compatible,
    .any_size = true,
    .is_equal = growable_cuckoo_equal,
    .prefetch_reads_no_body = true,
};

static void growable_cuckoo_describe_rest(const bly_geometry *g, char *out, size_t room) {
    const unsigned doublings = g->hashes - g->detail;
    blyi_table_describe(g, out, room);
    size_t used = strlen(out);
    if (doublings > 0)
        snprintf(out + used, room - used, ", can double %u time%s", doublings,
                 doublings == 1 ? "" : "s");
    else
        snprintf(out + used, room - used, ", cannot double again");
}

const blyi_kind blyi_kind_growable_cuckoo = {
    .code = BLY_GROWABLE_CUCKOO,
    .name = "growable-cuckoo",
    .meaning = "fingerprints in buckets; keys can be removed, and it doubles when full",
    .reason = "keys can be removed, and it doubles when full; each time it can still double costs "
              "one bit per key",
    .hashes_name = "bits of a remainder",
    .size_unit = "bucket",
    .describe_rest = growable_cuckoo_describe_rest,
    .meets = BLY_NEED_GROW,
    .spec_fields = BLYI_SPEC_HORIZON,
    .planner = &blyi_growable_cuckoo_planner,
    .ops = &growable_cuckoo_ops,
};
