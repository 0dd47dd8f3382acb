#include "recipe.h"

#include "clock.h"
#include "config.h"
#include "keyring.h"
#include "lost.h"
#include "reply.h"

#include <bloomery/overlay.h>
#include <string.h>

/* Who gives a number of keys mostly knows it, and wants growth only as a safety: the first level
 * may then have most of the rate (scalable.h). How much is a bargain between a filter that does not
 * grow (at 1%: 10.7 bits per key, 10.4 for cuckoo) and one that grew a thousandfold (19.9, 17.4).
 */
static const double BF_KNOWN_SHARE = 0.75, CF_KNOWN_SHARE = 0.8;

/* A filter that will not grow is the smaller of the two layouts with lines of 512 bits, but the
 * quicker one unless that takes more than 1.15 times the space. */
static bly_kind fixed_kind(uint64_t capacity, double error) {
    bly_geometry quick, small;
    if (bly_plan(BLY_SPLIT512, capacity, error, 0, 64, &quick) != BLY_OK ||
        bly_plan(BLY_BB2X512, capacity, error, 0, 64, &small) != BLY_OK)
        return BLY_BB2X512;
    double ratio = (double)bly_plan_bits(&quick) / (double)bly_plan_bits(&small);
    return ratio > 1.15 ? BLY_BB2X512 : BLY_SPLIT512;
}

bm_recipe bm_recipe_bf(double error, uint64_t capacity, uint32_t expansion, bool nonscaling,
                       bool capacity_known) {
    bool fixed = nonscaling || expansion == 0;
    bly_kind kind = fixed ? fixed_kind(capacity, error) : BLY_SCALABLE;
    bm_recipe r = {.layout = bm_configs.compat_layout ? BM_LAYOUT_RB_BLOOM : BM_LAYOUT_OWN,
                   .spec = bly_spec_for(kind, capacity, error)};
    if (!fixed) {
        r.spec.growth = expansion;
        r.spec.first_share = capacity_known ? BF_KNOWN_SHARE : 0;
    }
    r.traits.face = BM_FACE_BF;
    r.traits.nonscaling = fixed;
    r.traits.expansion = fixed ? 0 : expansion;
    return r;
}

static uint32_t power_of_two(uint32_t n) {
    uint32_t p = 2;
    while (p < n)
        p *= 2;
    return p;
}

bm_recipe bm_recipe_cf(double error, uint64_t capacity, uint16_t bucket_size,
                       uint16_t max_iterations, uint32_t expansion, bool capacity_known) {
    bly_kind kind = expansion == 0 ? BLY_CUCKOO : BLY_SCALABLE_CUCKOO;
    bm_recipe r = {.layout = bm_configs.compat_layout ? BM_LAYOUT_RB_CUCKOO : BM_LAYOUT_OWN,
                   .spec = bly_spec_for(kind, capacity, error)};
    if (expansion) {
        r.spec.growth = power_of_two(expansion);
        r.spec.first_share = capacity_known ? CF_KNOWN_SHARE : 0;
    }
    r.traits.face = BM_FACE_CF;
    r.traits.bucket_size = bucket_size;
    r.traits.max_iterations = max_iterations;
    r.traits.expansion = expansion;
    return r;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* An overlay over a filter that others own would die with it: what is made owns a copy. */
static bly_status make_over(const bly_filter *base, const bly_spec *spec, bly_filter **out) {
    bly_filter *over;
    bly_status status = bly_overlay_over(base, spec, &over);
    if (status != BLY_OK)
        return status;
    status = bly_filter_clone(over, spec->allocator, out);
    bly_filter_destroy(over);
    return status;
}

static bly_status make_own(bm_recipe *r, const bly_allocator *a, bly_filter **out) {
    bly_spec spec = r->spec;
    spec.allocator = a;
    if (r->base)
        return make_over(r->base, &spec, out);
    bly_status status = BLY_OK;
    if (r->keyed) {
        const bly_hasher *hasher = r->key_named ? bm_keyring_find(r->key_id) : bm_keyring_at(0);
        if (!hasher)
            return BLY_EKEY;
        spec.hasher = *hasher;
    } else if (r->hash != BLY_HASH_NONE) {
        status = bly_hasher_init(&spec.hasher, r->hash, spec.seed);
    }
    if (status == BLY_OK)
        status = bly_filter_create(&spec, out);
    if (status != BLY_OK)
        return status;
    const bly_hasher *used = bly_filter_hasher(*out);
    if (r->keyed)
        r->key_id = used->seed;
    else
        r->hash = (bly_hash_id)used->id;
    /* What an exact size is good for is worked out with the hash that was said; who hears of it
     * says the hash, so he is told the result too. */
    if (spec.geometry.size != 0) {
        r->spec.capacity = bly_filter_capacity(*out);
        r->spec.fpr = bly_filter_fpr(*out);
    }
    return BLY_OK;
}

static bly_status make_bloom(const bm_recipe *r, const bly_allocator *a, bly_rb_bloom **out) {
    bly_rb_bloom_spec spec = {.error = r->spec.fpr,
                              .capacity = r->spec.capacity,
                              .growth = r->traits.expansion,
                              .nonscaling = r->traits.nonscaling};
    return bly_rb_bloom_create(&spec, a, out);
}

static bly_status make_cuckoo(const bm_recipe *r, const bly_allocator *a, bly_rb_cuckoo **out) {
    bly_rb_cuckoo_spec spec = {.capacity = r->spec.capacity,
                               .bucket_size = r->traits.bucket_size,
                               .max_iterations = r->traits.max_iterations,
                               .expansion = r->traits.expansion};
    return bly_rb_cuckoo_create(&spec, a, out);
}

bly_status bm_recipe_make(bm_recipe *recipe, bool unlimited, bm_value **out, bm_refusal *refusal) {
    static const bm_what whats[] = {[BM_LAYOUT_OWN] = BM_FILTER,
                                    [BM_LAYOUT_RB_BLOOM] = BM_RB_BLOOM,
                                    [BM_LAYOUT_RB_CUCKOO] = BM_RB_CUCKOO};
    *out = NULL;
    *refusal = BM_REFUSED_SYSTEM;
    bm_value *value = bm_value_new(whats[recipe->layout]);
    if (!value)
        return BLY_ENOMEM;
    value->account.unlimited = unlimited;
    value->traits = recipe->traits;
    bly_allocator a = bm_allocator(&value->account);
    bly_status status;
    if (recipe->layout == BM_LAYOUT_RB_BLOOM)
        status = make_bloom(recipe, &a, &value->as.bloom);
    else if (recipe->layout == BM_LAYOUT_RB_CUCKOO)
        status = make_cuckoo(recipe, &a, &value->as.cuckoo);
    else
        status = make_own(recipe, &a, &value->as.filter);
    *refusal = value->account.refusal;
    if (status == BLY_OK)
        *out = value;
    else
        bm_value_free(value);
    return status;
}

/* ---- creating -------------------------------------------------------------------------------- */

static void reply_failure(rm_ctx *ctx, const bm_recipe *r, bly_status status, bm_refusal refusal) {
    switch (status) {
    case BLY_ENOMEM:
        rm.ReplyWithError(ctx,
                          bm_refusal_text(refusal == BM_REFUSED_NOT ? BM_REFUSED_SYSTEM : refusal));
        return;
    case BLY_EKEY:
        if (r->keyed) {
            bm_error(ctx, "ERR could not create filter: its secret key is not in the ring "
                          "(BLY.KEYRING lists those that are; set key-file to add more)");
            return;
        }
        break;
    case BLY_EWEAKHASH:
        bm_error(ctx, "ERR could not create filter: the hash has too few bits for that many keys "
                      "at that rate; choose a wider one with HASH, or none");
        return;
    default:
        break;
    }
    bm_error(ctx, "ERR could not create filter: %s", bly_strerror(status));
}

/* False: an error was replied. */
static bool may_turn(rm_ctx *ctx, const bm_value *value) {
    uint64_t least = value->what == BM_FILTER ? bm_clock_least_span(value->as.filter) : 0;
    if (!least || bm_is_replayed(ctx))
        return true;
    bm_error(ctx,
             "ERR SPAN is too short for a window of that size, it would be turned all the time: "
             "say %llu or more, or a smaller CAPACITY",
             (unsigned long long)least);
    return false;
}

bool bm_recipe_create(rm_ctx *ctx, bm_key *key, bm_recipe *recipe, const char *event) {
    bm_value *value;
    bm_refusal refusal;
    bly_status status = bm_recipe_make(recipe, bm_is_replayed(ctx), &value, &refusal);
    if (status != BLY_OK) {
        if (!bm_lose(ctx, key, bly_strerror(status)))
            reply_failure(ctx, recipe, status, refusal);
        return false;
    }
    if (!may_turn(ctx, value)) {
        bm_value_free(value);
        return false;
    }
    bm_key_set(key, value);
    bm_clock_enter(ctx, key);
    bm_recipe_replicate(ctx, key->name, recipe);
    bm_key_changed(ctx, key, event);
    return true;
}
