/* create_params.c - creates a filter from its parameters, and replicates them as BLY.RESERVE. */
#include "commands/create_params.h"

#include "commands/command_reply.h"
#include "config.h"
#include "runtime/keyring.h"
#include "runtime/server_state.h"
#include "runtime/tombstone.h"
#include "runtime/window_timer.h"

#include <assert.h>
#include <bloomery/filter.h>
#include <bloomery/host/redisbloom.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The share of the false-positive rate that the first level gets (docs/kinds/scalable.md), if the
 * user gave the capacity. Such a capacity is usually right, so the filter seldom grows, and the
 * first level gets most of the rate. These shares are a compromise between a filter that does not
 * grow (10.7 bits per key at 1%, 10.4 for cuckoo) and one that has grown a thousandfold (19.9 and
 * 17.1). */
static const double BF_KNOWN_SHARE = 0.75, CF_KNOWN_SHARE = 0.8;

/* Returns the kind for a filter that does not grow: split512, the faster of the two kinds with
 * blocks of 512 bits, unless it needs more than 1.15 times the space of the other, bb2x512. */
static bly_kind fixed_kind(uint64_t capacity, double error) {
    bly_geometry fast, small;
    if (bly_plan(BLY_SPLIT512, capacity, error, 0, 64, &fast) != BLY_OK ||
        bly_plan(BLY_BB2X512, capacity, error, 0, 64, &small) != BLY_OK)
        return BLY_BB2X512;
    double ratio = (double)bly_plan_bits(&fast) / (double)bly_plan_bits(&small);
    return ratio > 1.15 ? BLY_BB2X512 : BLY_SPLIT512;
}

bm_create_params bm_create_params_bf(double error, uint64_t capacity, uint32_t expansion,
                                     bool nonscaling, bool capacity_known) {
    bool fixed = nonscaling || expansion == 0;
    bly_kind kind = fixed ? fixed_kind(capacity, error) : BLY_SCALABLE;
    bm_create_params r = {.layout =
                              bm_configs.compat_layout ? BM_LAYOUT_RB_BLOOM : BM_LAYOUT_NATIVE,
                          .spec = bly_spec_for(kind, capacity, error)};
    if (!fixed) {
        r.spec.scalable.growth = expansion;
        r.spec.scalable.first_share = capacity_known ? BF_KNOWN_SHARE : 0;
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

bm_create_params bm_create_params_cf(double error, uint64_t capacity, uint16_t bucket_size,
                                     uint16_t max_iterations, uint32_t expansion,
                                     bool capacity_known) {
    bly_kind kind = expansion == 0 ? BLY_CUCKOO : BLY_SCALABLE_CUCKOO;
    bm_create_params r = {.layout =
                              bm_configs.compat_layout ? BM_LAYOUT_RB_CUCKOO : BM_LAYOUT_NATIVE,
                          .spec = bly_spec_for(kind, capacity, error)};
    if (expansion) {
        r.spec.scalable.growth = power_of_two(expansion);
        r.spec.scalable.first_share = capacity_known ? CF_KNOWN_SHARE : 0;
    }
    r.traits.face = BM_FACE_CF;
    r.traits.bucket_size = bucket_size;
    r.traits.max_iterations = max_iterations;
    r.traits.expansion = expansion;
    return r;
}

/* ---- filters --------------------------------------------------------------------------------- */

/* Creates an overlay over the filter of another key. bly_overlay_over borrows the base, but the
 * other key may change. So the result is a clone of that overlay, because a clone owns a copy of
 * the base. */
static bly_status create_overlay(const bly_filter *base, const bly_spec *spec, bly_filter **out) {
    bly_filter *overlay;
    bly_status status = bly_overlay_over(base, &spec->overlay, spec->allocator, &overlay);
    if (status != BLY_OK)
        return status;
    status = bly_filter_clone(overlay, spec->allocator, out);
    bly_filter_destroy(overlay);
    return status;
}

static bly_status create_native(bm_create_params *r, const bly_allocator *a, bly_filter **out) {
    bly_spec spec = r->spec;
    spec.allocator = a;
    if (r->base)
        return create_overlay(r->base, &spec, out);
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
    /* For an exact size, the library derives the capacity and the rate from the requested hash, or
     * from the default one if no hash was requested. The replicated command always names a hash, so
     * that its result might differ: it must state the capacity and the rate too. */
    if (spec.geometry.size != 0) {
        r->spec.capacity = bly_filter_capacity(*out);
        r->spec.fpr = bly_filter_fpr(*out);
    }
    return BLY_OK;
}

static bly_status create_rb_bloom(const bm_create_params *r, const bly_allocator *a,
                                  bly_rb_bloom **out) {
    bly_rb_bloom_spec spec = {.error = r->spec.fpr,
                              .capacity = r->spec.capacity,
                              .growth = r->traits.expansion,
                              .nonscaling = r->traits.nonscaling};
    return bly_rb_bloom_create(&spec, a, out);
}

static bly_status create_rb_cuckoo(const bm_create_params *r, const bly_allocator *a,
                                   bly_rb_cuckoo **out) {
    bly_rb_cuckoo_spec spec = {.capacity = r->spec.capacity,
                               .bucket_size = r->traits.bucket_size,
                               .max_iterations = r->traits.max_iterations,
                               .expansion = r->traits.expansion};
    return bly_rb_cuckoo_create(&spec, a, out);
}

/* Creates a value. Fills in the hash and the key id in `params` if they were not given. If the
 * result is BLY_ENOMEM, *refusal is the reason. */
static bly_status create_value(bm_create_params *params, bool unlimited, bm_value **out,
                               bm_refusal *refusal) {
    static const bm_value_type types[] = {[BM_LAYOUT_NATIVE] = BM_FILTER,
                                          [BM_LAYOUT_RB_BLOOM] = BM_RB_BLOOM,
                                          [BM_LAYOUT_RB_CUCKOO] = BM_RB_CUCKOO};
    *out = NULL;
    *refusal = BM_REFUSED_SYSTEM;
    bm_value *value = bm_value_new(types[params->layout]);
    if (!value)
        return BLY_ENOMEM;
    value->account.unlimited = unlimited;
    value->traits = params->traits;
    bly_allocator a = bm_allocator(&value->account);
    bly_status status;
    if (params->layout == BM_LAYOUT_RB_BLOOM)
        status = create_rb_bloom(params, &a, &value->as.bloom);
    else if (params->layout == BM_LAYOUT_RB_CUCKOO)
        status = create_rb_cuckoo(params, &a, &value->as.cuckoo);
    else
        status = create_native(params, &a, &value->as.filter);
    *refusal = value->account.refusal;
    if (status == BLY_OK)
        *out = value;
    else
        bm_value_free(value);
    return status;
}

/* ---- replicating ----------------------------------------------------------------------------- */

enum { MAX_WORDS = 48 };

typedef struct words {
    rm_string *at[MAX_WORDS];
    size_t n;
} words;

static void append(words *w, const char *text) {
    assert(w->n < MAX_WORDS);
    w->at[w->n++] = rm.CreateString(NULL, text, strlen(text));
}

static void append_text(words *w, const char *word, const char *text) {
    append(w, word);
    append(w, text);
}

/* Appends a parameter, unless it is 0, which means that it was not given. */
static void append_number(words *w, const char *word, uint64_t number) {
    if (number == 0)
        return;
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    append_text(w, word, text);
}

/* Appends a number, unless it is 0, with enough digits for parsing the same number again. */
static void append_double(words *w, const char *word, double number) {
    if (number == 0)
        return;
    char text[40];
    snprintf(text, sizeof text, "%.17g", number);
    append_text(w, word, text);
}

static void append_hash(words *w, const bm_create_params *r) {
    char text[24];
    if (r->keyed) {
        snprintf(text, sizeof text, "%016" PRIx64, r->key_id);
        append_text(w, "KEYED", text);
        return;
    }
    snprintf(text, sizeof text, "%" PRIu64, r->spec.seed);
    append_text(w, "SEED", text);
    if (r->hash != BLY_HASH_NONE)
        append_text(w, "HASH", bly_hash_name(r->hash));
}

static void append_native(words *w, const bm_create_params *r) {
    const bly_spec *s = &r->spec;
    append_text(w, "KIND", bly_kind_name(s->geometry.kind));
    append_number(w, "CHANGES", s->overlay.changes);
    if (s->overlay.marker != BLY_KIND_NONE)
        append_text(w, "MARKER", bly_kind_name(s->overlay.marker));
    if (r->base_name) {
        append(w, "BASE");
        assert(w->n < MAX_WORDS);
        size_t size;
        const char *name = rm.StringPtrLen(r->base_name, &size);
        w->at[w->n++] = rm.CreateString(NULL, name, size);
        return;
    }
    append_number(w, "CAPACITY", s->capacity);
    append_double(w, "ERROR", s->fpr);
    append_hash(w, r);
    append_number(w, "GROWTH", s->scalable.growth);
    append_double(w, "FIRSTSHARE", s->scalable.first_share);
    append_number(w, "HORIZON", s->cuckoo.horizon);
    append_number(w, "SPAN", s->window.span);
    append_number(w, "GENERATIONS", s->window.generations);
    append_number(w, "COUNTERBITS", s->counting.counter_bits);
    append_number(w, "SIZE", s->geometry.size);
    append_number(w, "HASHES", s->geometry.hashes);
    append_number(w, "DETAIL", s->geometry.detail);
    if (s->geometry.options & BLY_TEXTBOOK)
        append(w, "TEXTBOOK");
    if (s->geometry.options & BLY_FOLDABLE)
        append(w, "FOLDABLE");
}

static void append_traits(words *w, const bm_traits *t) {
    if (t->face != BM_FACE_BLY)
        append_text(w, "FACE", bm_face_name(t->face));
    if (t->nonscaling)
        append(w, "NONSCALING");
    append_number(w, "EXPANSION", t->expansion);
    append_number(w, "BUCKETSIZE", t->bucket_size);
    append_number(w, "MAXITERATIONS", t->max_iterations);
}

static void replicate_params(rm_ctx *ctx, rm_string *name, const bm_create_params *params) {
    words w = {.n = 0};
    if (params->layout == BM_LAYOUT_NATIVE) {
        append_native(&w, params);
    } else {
        bool bloom = params->layout == BM_LAYOUT_RB_BLOOM;
        append_text(&w, "LAYOUT", bloom ? "redisbloom" : "redisbloom-cuckoo");
        append_number(&w, "CAPACITY", params->spec.capacity);
        if (bloom)
            append_double(&w, "ERROR", params->spec.fpr);
    }
    append_traits(&w, &params->traits);
    rm.Replicate(ctx, "BLY.RESERVE", "sv", name, w.at, w.n);
    for (size_t i = 0; i < w.n; i++)
        rm.FreeString(NULL, w.at[i]);
}

/* ---- creating a key -------------------------------------------------------------------------- */

static void reply_failure(rm_ctx *ctx, const bm_create_params *r, bly_status status,
                          bm_refusal refusal) {
    switch (status) {
    case BLY_ENOMEM:
        rm.ReplyWithError(ctx,
                          bm_refusal_text(refusal == BM_REFUSED_NOT ? BM_REFUSED_SYSTEM : refusal));
        return;
    case BLY_EKEY:
        if (r->keyed) {
            bm_error(ctx,
                     "ERR could not create filter: this server lacks its secret key; BLY.KEYRING "
                     "lists the ids of its keys, and bf.key-file sets them");
            return;
        }
        break;
    case BLY_EWEAKHASH:
        bm_error(ctx, "ERR could not create filter: the hash has too few bits for this CAPACITY "
                      "and ERROR; choose a wider one with HASH, or omit HASH");
        return;
    default:
        break;
    }
    bm_error(ctx, "ERR could not create filter: %s", bly_strerror(status));
}

/* Returns false, after replying with an error, if the value is a timed window whose span is too
 * short; else true. */
static bool check_span(rm_ctx *ctx, const bm_value *value) {
    uint64_t min = value->type == BM_FILTER ? bm_window_min_span(value->as.filter) : 0;
    if (!min || bm_is_replayed(ctx))
        return true;
    bm_error(ctx,
             "ERR SPAN is too short for a window of this size: clearing old keys would keep the "
             "server busy; use SPAN %llu or more, or a smaller CAPACITY",
             (unsigned long long)min);
    return false;
}

bool bm_create_filter(rm_ctx *ctx, bm_key *key, bm_create_params *params, const char *event) {
    bm_value *value;
    bm_refusal refusal;
    bly_status status = create_value(params, bm_is_replayed(ctx), &value, &refusal);
    if (status != BLY_OK) {
        if (!bm_tombstone_if_replayed(ctx, key, bly_strerror(status)))
            reply_failure(ctx, params, status, refusal);
        return false;
    }
    if (!check_span(ctx, value)) {
        bm_value_free(value);
        return false;
    }
    bm_key_set(key, value);
    bm_window_timer_add(ctx, key);
    replicate_params(ctx, key->name, params);
    bm_key_changed(ctx, key, event);
    return true;
}
