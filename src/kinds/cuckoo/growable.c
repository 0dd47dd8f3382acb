/* The growable cuckoo filter: a fingerprint table that doubles in place.
 *
 * cuckoo.c and table.h explain the table. A class is a primary bucket and a remainder, together the
 * leading bits of a hash scaled by the number of buckets m: floor(x m 2^f), x in [0, 1). With twice
 * as many buckets and one bit less of remainder, m 2^f is the same, so the same number now reads as
 * bucket 2b + (top bit of R), remainder (R without it). A table can therefore be doubled from its
 * entries alone, without the keys: each entry tells its class, thanks to its role, and the core,
 * the low bits that choose the other bucket, stays (Apple 2022 and Dayan et al. 2023 go further,
 * for growth without bound; this is the part that needs no machinery).
 *
 * So a table starts with remainders that are longer than its rate needs, by one bit for each
 * doubling to come. Its rate, about 4 load / 2^f, starts far below the one asked and doubles with
 * each doubling of the keys, up to the rate asked at the horizon. No false negative, deletes valid
 * across growth, one table to ask at any size. Grown ten times, from a thousand keys at 1%: 21.3
 * bits per key at the start, 10.6 at the horizon, and twice as many just after a doubling.
 *
 * Doubling builds the new table beside the old one and then takes its place: a failure (no memory)
 * leaves the filter as it was. An add that finds no place doubles, but for two cases in which that
 * would not help: eight copies of one key fill both of its buckets at any size; and five copies or
 * more of many keys find no place in a table that is nearly empty. Both are told BLY_EFULL.
 *
 * Body: as cuckoo. Header: k = f at present, sub = f when fully grown.
 */
#include "kinds/cuckoo/entries.h"

#include "base/memory.h"
#include "filter/rate.h"
#include <bloomery/cuckoo.h>
#include <math.h>
#include <stdio.h>

enum { DEFAULT_DOUBLINGS = 10 };

/* What the present size holds, at the rate asked: only the last size can come near that. */
static uint64_t capacity_of(const bly_geometry *g, double fpr) {
    uint64_t keys = bly_plan_capacity(g, fpr, 128);
    return keys ? keys : 1;
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* Moves everything, and one more entry of class c, into a table of that geometry. BLY_ENOMEM,
 * BLY_EGROWTH, BLY_EFULL: the filter is as it was. */
static bly_status move_to(bly_filter *f, const bly_geometry *g, blyi_class c) {
    void *block;
    bly_status status = blyi_filter_may_grow(f, bly_plan_bytes(g));
    if (status)
        return status;
    uint8_t *body = blyi_alloc_array(&f->alloc, bly_plan_bytes(g), &block);
    if (!body)
        return BLY_ENOMEM;
    const blyi_table old = blyi_table_of(f);
    blyi_table t = blyi_table_over(g, body);
    if (!blyi_table_insert_all(&t, &old) || !blyi_table_insert(&t, blyi_class_in(&t, &old, c))) {
        blyi_free_array(&f->alloc, block);
        return BLY_EFULL;
    }
    blyi_filter_replace_body(f, g, body, block);
    f->capacity = capacity_of(g, f->fpr);
    return BLY_OK;
}

/* One doubling is nearly always enough. More are only tried as long as the table is not nearly
 * empty: else it is copies that fill the buckets. */
static bly_status store(bly_filter *f, blyi_class c) {
    blyi_table t = blyi_table_of(f);
    bly_geometry g = f->geometry;
    bly_status status = BLY_EFULL;
    if (blyi_table_insert(&t, c))
        return BLY_OK;
    if (blyi_table_count(&t, c) == BLYI_MAX_COPIES)
        return BLY_EFULL;
    while (status == BLY_EFULL && g.hashes > g.detail && f->items >= g.size * BLYI_BUCKET / 8) {
        g.hashes--;
        g.size *= 2;
        status = move_to(f, &g, c);
    }
    return status;
}

static bly_status put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, bly_tally *sum) {
    return blyi_entries_put(f, h, n, added, sum, store);
}

static bly_status unite(bly_filter *dst, const bly_filter *src) {
    return blyi_entries_unite(dst, src, store);
}

/* The same table, at whatever size. */
static bool compatible(const bly_filter *a, const bly_filter *b) {
    const bly_geometry *small = &a->geometry, *large = &b->geometry;
    if (small->hashes < large->hashes) {
        small = &b->geometry;
        large = &a->geometry;
    }
    return small->size << (small->hashes - large->hashes) == large->size;
}

static bool equal(const bly_filter *a, const bly_filter *b) {
    return a->geometry.size == b->geometry.size && blyi_entries_equal(a, b);
}

/* ---- create ---------------------------------------------------------------------------------- */

static bly_status check_spec(const bly_spec *spec) {
    bool exact = spec->geometry.size != 0;
    if (spec->geometry.options != 0 || (exact && spec->horizon != 0) ||
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
    if (spec->horizon == 0)
        return BLY_OK;
    bool in_reach =
        spec->horizon >= spec->capacity && spec->horizon >> BLYI_MAX_DOUBLINGS <= spec->capacity;
    return in_reach ? BLY_OK : BLY_EINVAL;
}

/* The rate of an exact geometry: when it is fully grown, and full. */
static double final_rate(bly_geometry g) {
    g.size <<= g.hashes - g.detail;
    g.hashes = g.detail;
    return fmax(blyi_table_rate(&g, (double)blyi_buckets_hold(g.size)), 0x1p-40);
}

/* For the horizon asked: the geometry, the hasher if none was given. */
static bly_status plan_for(const bly_spec *spec, uint64_t horizon, blyi_shape *shape) {
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
    return blyi_growable_plan(spec->capacity, horizon, spec->fpr - floor, &shape->geometry);
}

/* Without a horizon: the farthest of the default and its halves that is possible. */
static bly_status plan_default(const bly_spec *spec, blyi_shape *shape) {
    bly_status status = BLY_ETOOBIG;
    for (unsigned doublings = DEFAULT_DOUBLINGS + 1; status != BLY_OK && doublings-- > 0;)
        status = plan_for(spec, spec->capacity << doublings, shape);
    return status;
}

static bly_status plan_exact(const bly_spec *spec, blyi_shape *shape) {
    uint64_t keys = blyi_buckets_hold(spec->geometry.size)
                    << (spec->geometry.hashes - spec->geometry.detail);
    bly_status status = BLY_OK;
    shape->geometry = spec->geometry;
    shape->hasher = spec->hasher;
    if (shape->fpr == 0)
        shape->fpr = final_rate(spec->geometry);
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

static bly_status create(const bly_spec *spec, bly_filter **out) {
    blyi_shape shape = {.fpr = spec->fpr, .sharing = spec->sharing};
    bly_status status = check_spec(spec);
    if (status == BLY_OK && spec->geometry.size != 0)
        status = plan_exact(spec, &shape);
    else if (status == BLY_OK && spec->horizon != 0)
        status = plan_for(spec, spec->horizon, &shape);
    else if (status == BLY_OK)
        status = plan_default(spec, &shape);
    if (status)
        return status;
    shape.capacity = capacity_of(&shape.geometry, shape.fpr);
    return blyi_filter_make(&shape, spec->allocator, NULL, out);
}

bly_status bly_cuckoo_create_growable(uint64_t keys, uint64_t horizon, double fpr,
                                      bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_GROWABLE_CUCKOO, keys, fpr);
    spec.horizon = horizon;
    return bly_filter_create(&spec, out);
}

static const blyi_ops growable_ops = {
    .capabilities = BLYI_ENTRIES_CAN | BLY_LIMITS_COPIES,
    .create = create,
    .prefetch = blyi_entries_prefetch,
    .try_add_many = put,
    .contains_many = blyi_entries_contains,
    .contains_keys_pipelined = blyi_entries_ask,
    .contains_hashes_pipelined = blyi_entries_ask_hashes,
    .remove_one = blyi_entries_take,
    .count_copies = blyi_entries_copies,
    .body_is_valid = blyi_entries_sound,
    .fill_stats = blyi_entries_stats,
    .union_with = unite,
    .intersect_with = blyi_entries_intersect,
    .subtract_from = blyi_entries_subtract,
    .estimate_overlap = blyi_entries_overlap,
    .is_compatible = compatible,
    .any_size = true,
    .is_equal = equal,
    .prefetch_reads_no_body = true,
};

static void growable_describe_rest(const bly_geometry *g, char *out, size_t room) {
    const unsigned doublings = g->hashes - g->detail;
    blyi_table_describe(g, out, room);
    size_t used = strlen(out);
    if (doublings > 0)
        snprintf(out + used, room - used, ", can double %u time%s", doublings,
                 doublings == 1 ? "" : "s");
    else
        snprintf(out + used, room - used, ", cannot double any more");
}

const blyi_kind blyi_kind_growable_cuckoo = {
    .code = BLY_GROWABLE_CUCKOO,
    .name = "growable-cuckoo",
    .meaning = "fingerprints in buckets; keys can be removed, and it doubles when full",
    .reason = "keys can be removed, and it doubles when full, at the price of a bit per key for "
              "each time it may still double",
    .hashes_name = "bits of a remainder",
    .size_unit = "bucket",
    .describe_rest = growable_describe_rest,
    .meets = BLY_NEED_GROW,
    .spec_fields = BLYI_SPEC_HORIZON,
    .planner = &blyi_growable_planner,
    .ops = &growable_ops,
};
