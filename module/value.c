#include "value.h"

#include "arrival.h"
#include "clock.h"
#include "config.h"
#include "keyring.h"
#include "readiness.h"
#include "staging.h"
#include "types.h"

#include <stdatomic.h>
#include <string.h>

rm_type *bm_type_filter, *bm_type_rb_bloom, *bm_type_rb_cuckoo;

/* ---- the census ------------------------------------------------------------------------------ */

static atomic_uint_fast64_t populations[BM_RB_CUCKOO + 1], overfull, lost, arriving;

void bm_census_take(bm_census *out) {
    *out = (bm_census){.filters = atomic_load(&populations[BM_FILTER]),
                       .rb_blooms = atomic_load(&populations[BM_RB_BLOOM]),
                       .rb_cuckoos = atomic_load(&populations[BM_RB_CUCKOO]),
                       .overfull = atomic_load(&overfull),
                       .lost = atomic_load(&lost),
                       .arriving = atomic_load(&arriving)};
}

void bm_census_arriving(int by) {
    atomic_fetch_add(&arriving, (uint64_t)(int64_t)by);
}

void bm_census_take_in(const bm_value *value) {
    atomic_fetch_add(&populations[value->what], 1);
}

void bm_census_leave_out(const bm_value *value) {
    atomic_fetch_sub(&populations[value->what], 1);
}

/* ---- traits ---------------------------------------------------------------------------------- */

enum { TRAITS_VERSION = 1, TRAIT_NONSCALING = 1, TRAIT_LOST = 2 };

const char *bm_face_name(uint8_t face) {
    static const char *names[] = {[BM_FACE_BLY] = "bly", [BM_FACE_BF] = "bf", [BM_FACE_CF] = "cf"};
    return names[face];
}

static void put(uint8_t *to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *from, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

/* Version, face, flags, 0; bucket size (of a tombstone the removed kind) and iterations in two
 * bytes each; expansion and 0 in four; deletes in eight; all little-endian. */
void bm_traits_encode(const bm_traits *traits, uint8_t out[BM_TRAITS_BYTES]) {
    memset(out, 0, BM_TRAITS_BYTES);
    out[0] = TRAITS_VERSION;
    out[1] = traits->face;
    out[2] =
        (uint8_t)((traits->nonscaling ? TRAIT_NONSCALING : 0) | (traits->lost ? TRAIT_LOST : 0));
    put(out + 4, traits->lost ? traits->removed_kind : traits->bucket_size, 2);
    put(out + 6, traits->max_iterations, 2);
    put(out + 8, traits->expansion, 4);
    put(out + 16, traits->deletes, 8);
}

bool bm_traits_decode(const void *data, size_t size, bm_traits *out) {
    const uint8_t *in = data;
    if (size != BM_TRAITS_BYTES || in[0] != TRAITS_VERSION || in[1] > BM_FACE_CF ||
        in[2] > (TRAIT_NONSCALING | TRAIT_LOST) || in[3] != 0 || get(in + 12, 4) != 0)
        return false;
    *out = (bm_traits){.face = in[1],
                       .nonscaling = in[2] & TRAIT_NONSCALING,
                       .lost = in[2] & TRAIT_LOST,
                       .bucket_size = (uint16_t)get(in + 4, 2),
                       .max_iterations = (uint16_t)get(in + 6, 2),
                       .expansion = (uint32_t)get(in + 8, 4),
                       .deletes = get(in + 16, 8)};
    if (out->lost) {
        out->removed_kind = (uint8_t)out->bucket_size;
        out->bucket_size = 0;
    }
    return true;
}

bool bm_traits_fit(const bm_traits *traits, bly_kind kind) {
    if (traits->lost)
        return false;
    if (traits->face == BM_FACE_BF)
        return traits->nonscaling ? kind == BLY_SPLIT512 || kind == BLY_BB2X512
                                  : kind == BLY_SCALABLE;
    if (traits->nonscaling)
        return false;
    return traits->face == BM_FACE_BLY || kind == BLY_CUCKOO || kind == BLY_SCALABLE_CUCKOO;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Stamps begin at the time of the start, and so are not repeated after a restart either, as long as
 * there are fewer than 2^20 changes in a millisecond. */
static uint64_t last_stamp; /* values are made and changed in the engine's main thread */
uint32_t bm_capabilities[BM_KINDS];

int bm_types_start(rm_ctx *ctx) {
    last_stamp = (uint64_t)rm.Milliseconds() << 20;
    for (bly_kind kind = BLY_KIND_NONE; (kind = bly_kind_next(kind)) != BLY_KIND_NONE;)
        if ((unsigned)kind < BM_KINDS)
            bm_capabilities[kind] = bly_kind_capabilities(kind);
    return bm_type_filter_start(ctx) == RM_OK ? bm_type_redisbloom_start(ctx) : RM_ERR;
}

bm_value *bm_value_new(bm_what what) {
    bm_value *value = rm.TryAlloc(sizeof *value);
    if (!value)
        return NULL;
    *value = (bm_value){.what = what, .stamp = ++last_stamp};
    bm_census_take_in(value);
    return value;
}

void bm_value_drop_image(bm_value *value) {
    bly_image_close(value->image);
    value->image = NULL;
}

void bm_value_free(bm_value *value) {
    if (!value)
        return;
    if (value->what == BM_FILTER)
        bm_clock_leave(value);
    bm_value_drop_image(value);
    bm_staging_free(value->staging);
    bm_arrival_free(value->arrival);
    if (value->what == BM_RB_BLOOM)
        bly_rb_bloom_destroy(value->as.bloom);
    else if (value->what == BM_RB_CUCKOO)
        bly_rb_cuckoo_destroy(value->as.cuckoo);
    else
        bly_filter_destroy(value->as.filter);
    if (value->overfull)
        atomic_fetch_sub(&overfull, 1);
    if (value->lost)
        atomic_fetch_sub(&lost, 1);
    bm_census_leave_out(value);
    rm.Free(value);
}

bool bm_value_is_overfull(const bm_value *value) {
    const bly_filter *f = value->as.filter;
    if (value->what != BM_FILTER || !f)
        return false;
    bly_kind kind = bm_kind(value);
    const uint32_t otherwise = BLY_TELLS_COPIES | BLY_ONLY_COUNTS | BLY_CAN_BUILD;
    if (kind == BLY_SCALABLE || kind == BLY_OVERLAY || bm_can(kind) & otherwise)
        return false;
    return (double)bly_filter_count(f) > bm_configs.warn_ratio * (double)bly_filter_capacity(f);
}

/* It was not so, or is no more. */
static void recount(atomic_uint_fast64_t *all, bool *counted, bool now) {
    if (now)
        atomic_fetch_add(all, 1);
    else
        atomic_fetch_sub(all, 1);
    *counted = now;
}

void bm_value_changed(bm_value *value) {
    value->stamp = ++last_stamp;
    if (value->image)
        bm_value_drop_image(value);
    bool is_overfull = bm_value_is_overfull(value);
    if (is_overfull != value->overfull)
        recount(&overfull, &value->overfull, is_overfull);
    if (value->traits.lost != value->lost)
        recount(&lost, &value->lost, value->traits.lost);
}

uint64_t bm_value_bytes(const bm_value *value) {
    return rm.MallocSize((void *)(uintptr_t)value) + value->account.bytes +
           value->image_account.bytes + (value->staging ? bm_staging_bytes(value->staging) : 0) +
           (value->arrival ? bm_arrival_bytes(value->arrival) : 0);
}

/* ---- methods that do not depend on the type -------------------------------------------------- */

size_t bm_type_mem_usage(const void *value) {
    return (size_t)bm_value_bytes(value);
}

size_t bm_type_free_effort(rm_string *key, const void *value) {
    (void)key;
    return (size_t)(bm_value_bytes(value) >> 14) + 1;
}

void bm_type_free(void *value) {
    bm_value_free(value);
}

/* BLY_ENOMEM without a refusal: the library was told how much room there is, and did not ask. */
const char *bm_load_failure(const bm_value *value, bly_status status) {
    if (status == BLY_EUNSUPPORTED)
        return "its kind was removed (window replaces stable, layered replaces blocked-counting)";
    if (status != BLY_ENOMEM)
        return bly_strerror(status);
    switch (value->account.refusal) {
    case BM_REFUSED_FILTER:
        return "it would take more memory than max-filter-memory allows";
    case BM_REFUSED_TOTAL:
        return "all filters together would take more memory than max-total-memory allows";
    case BM_REFUSED_NOT:
        return "it would take more memory than max-filter-memory or max-total-memory allows";
    case BM_REFUSED_SERVER:
        return "it would take more memory than the server may use (maxmemory, or the machine's)";
    case BM_REFUSED_SYSTEM:
        break;
    }
    return bly_strerror(status);
}

void *bm_move_block(void *ctx, void *block, size_t size) {
    const bm_moving *moving = ctx;
    (void)size;
    size_t before = rm.MallocSize(block);
    void *now = rm.DefragAlloc(moving->defrag, block);
    if (now)
        bm_account_moved(moving->account, before, now);
    return now;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Most keys that are asked for are ours. */
static bm_what what_is(rm_key *key) {
    if (!key)
        return BM_MISSING;
    rm_type *type = rm.ModuleTypeGetType(key); /* NULL for every other key, and for none */
    if (!type)
        return rm.KeyType(key) == RM_KEY_EMPTY ? BM_MISSING : BM_FOREIGN;
    return type == bm_type_filter      ? BM_FILTER
           : type == bm_type_rb_bloom  ? BM_RB_BLOOM
           : type == bm_type_rb_cuckoo ? BM_RB_CUCKOO
                                       : BM_FOREIGN;
}

/* Asking the engine takes as long as a small command, so it is asked where it matters: when this
 * server may be a replica or loading, or there are limits. */
static bool has_no_limits(rm_ctx *ctx) {
    bool limits = bm_configs.max_filter || bm_configs.max_total;
    return (limits || !bm_is_on_its_own(ctx)) && bm_is_replayed(ctx);
}

static bool is_window(const bm_value *value) {
    return value->what == BM_FILTER && value->as.filter && bm_kind(value) == BLY_WINDOW;
}

/* The ring may have got a filter's key since the filter came. (What was written to it meanwhile
 * would have made it a lost one.) */
static void look_for_key(bm_value *value) {
    uint64_t edition = bm_keyring_edition();
    if (value->ring_edition == edition || !value->as.filter)
        return;
    value->ring_edition = edition;
    for (size_t i = 0; value->keyless && i < bm_keyring_size(); i++)
        value->keyless = bly_filter_give_key(value->as.filter, bm_keyring_at(i)) != BLY_OK;
}

bm_key bm_key_open(rm_ctx *ctx, rm_string *name, int mode) {
    bm_key key = {.key = rm.OpenKey(ctx, name, mode), .name = name};
    key.what = what_is(key.key);
    if (key.what == BM_MISSING || key.what == BM_FOREIGN)
        return key;
    key.value = rm.ModuleTypeGetValue(key.key);
    if (mode & RM_WRITE)
        key.value->account.unlimited = has_no_limits(ctx);
    if (key.value->keyless)
        look_for_key(key.value);
    if (!key.value->timed && is_window(key.value))
        bm_clock_enter(ctx, &key);
    return key;
}

void bm_key_close(bm_key *key) {
    if (key->key)
        rm.CloseKey(key->key);
    key->key = NULL;
}

void bm_key_set(bm_key *key, bm_value *value) {
    rm_type *type = value->what == BM_RB_BLOOM    ? bm_type_rb_bloom
                    : value->what == BM_RB_CUCKOO ? bm_type_rb_cuckoo
                                                  : bm_type_filter;
    long long expiry = key->what == BM_MISSING ? -1 : rm.GetAbsExpire(key->key);
    (void)rm.ModuleTypeSetValue(key->key, type, value);
    if (expiry >= 0)
        (void)rm.SetAbsExpire(key->key, expiry);
    key->what = value->what;
    key->value = value;
}

void bm_key_changed(rm_ctx *ctx, bm_key *key, const char *event) {
    if (key->value)
        bm_value_changed(key->value);
    (void)rm.SignalModifiedKey(ctx, key->name);
    (void)rm.NotifyKeyspaceEvent(ctx, RM_NOTIFY_GENERIC, event, key->name);
}

bool bm_is_replayed(rm_ctx *ctx) {
    return rm.GetContextFlags(ctx) & (RM_CTX_REPLICATED | RM_CTX_LOADING);
}

bool bm_is_following(void) {
    int flags = rm.GetContextFlags(NULL);
    return flags & RM_CTX_LOADING || !(flags & RM_CTX_MASTER);
}
