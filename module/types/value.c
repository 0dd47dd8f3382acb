/* value.c - the values of the module's keys: traits, totals, creation, opening and changing keys.
 */
#include "types/value.h"

#include "config.h"
#include "load/redisbloom_chunks.h"
#include "load/staged_file.h"
#include "runtime/keyring.h"
#include "runtime/server_state.h"
#include "runtime/window_timer.h"
#include "types/type_methods.h"

#include <bloomery/host/chunks.h>
#include <bloomery/host/redisbloom.h>
#include <stdatomic.h>
#include <string.h>

rm_type *bm_type_filter, *bm_type_rb_bloom, *bm_type_rb_cuckoo;

/* ---- totals ---------------------------------------------------------------------------------- */

static atomic_uint_fast64_t by_type[BM_RB_CUCKOO + 1], overfull, tombstones, staged;

void bm_totals_get(bm_totals *out) {
    *out = (bm_totals){.filters = atomic_load(&by_type[BM_FILTER]),
                       .rb_blooms = atomic_load(&by_type[BM_RB_BLOOM]),
                       .rb_cuckoos = atomic_load(&by_type[BM_RB_CUCKOO]),
                       .overfull = atomic_load(&overfull),
                       .tombstones = atomic_load(&tombstones),
                       .staged = atomic_load(&staged)};
}

void bm_totals_staged(int by) {
    atomic_fetch_add(&staged, (uint64_t)(int64_t)by);
}

void bm_totals_count(const bm_value *value) {
    atomic_fetch_add(&by_type[value->type], 1);
}

void bm_totals_uncount(const bm_value *value) {
    atomic_fetch_sub(&by_type[value->type], 1);
}

/* ---- traits ---------------------------------------------------------------------------------- */

enum { TRAITS_VERSION = 1, TRAIT_NONSCALING = 1, TRAIT_TOMBSTONE = 2 };

const char *bm_face_name(uint8_t face) {
    static const char *names[] = {[BM_FACE_BLY] = "bly", [BM_FACE_BF] = "bf", [BM_FACE_CF] = "cf"};
    return names[face];
}

static void encode_number(uint8_t *to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t decode_number(const uint8_t *from, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

/* The bytes are: version, face, flags and 0 in one byte each; bucket size (for a tombstone, the
 * code of the removed kind) and maximum iterations in two bytes each; expansion and 0 in four bytes
 * each; deletes in eight bytes. All numbers are little-endian. */
void bm_traits_encode(const bm_traits *traits, uint8_t out[BM_TRAITS_BYTES]) {
    memset(out, 0, BM_TRAITS_BYTES);
    out[0] = TRAITS_VERSION;
    out[1] = traits->face;
    out[2] = (uint8_t)((traits->nonscaling ? TRAIT_NONSCALING : 0) |
                       (traits->tombstone ? TRAIT_TOMBSTONE : 0));
    encode_number(out + 4, traits->tombstone ? traits->removed_kind : traits->bucket_size, 2);
    encode_number(out + 6, traits->max_iterations, 2);
    encode_number(out + 8, traits->expansion, 4);
    encode_number(out + 16, traits->deletes, 8);
}

bool bm_traits_decode(const void *data, size_t size, bm_traits *out) {
    const uint8_t *in = data;
    if (size != BM_TRAITS_BYTES || in[0] != TRAITS_VERSION || in[1] > BM_FACE_CF ||
        in[2] > (TRAIT_NONSCALING | TRAIT_TOMBSTONE) || in[3] != 0 ||
        decode_number(in + 12, 4) != 0)
        return false;
    *out = (bm_traits){.face = in[1],
                       .nonscaling = in[2] & TRAIT_NONSCALING,
                       .tombstone = in[2] & TRAIT_TOMBSTONE,
                       .bucket_size = (uint16_t)decode_number(in + 4, 2),
                       .max_iterations = (uint16_t)decode_number(in + 6, 2),
                       .expansion = (uint32_t)decode_number(in + 8, 4),
                       .deletes = decode_number(in + 16, 8)};
    if (out->tombstone) {
        out->removed_kind = (uint8_t)out->bucket_size;
        out->bucket_size = 0;
    }
    return true;
}

bool bm_traits_fit(const bm_traits *traits, bly_kind kind) {
    if (traits->tombstone)
        return false;
    if (traits->face == BM_FACE_BF)
        return traits->nonscaling ? kind == BLY_SPLIT512 || kind == BLY_BB2X512
                                  : kind == BLY_SCALABLE;
    if (traits->nonscaling)
        return false;
    return traits->face == BM_FACE_BLY || kind == BLY_CUCKOO || kind == BLY_SCALABLE_CUCKOO;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The last stamp that was used. Stamps begin at the time of the server's start, in units of 2^-20
 * ms. So they do not repeat after a restart, as long as there are fewer than 2^20 changes per
 * millisecond. */
static uint64_t last_stamp; /* not atomic: values are created and changed only in the engine's main
                               thread */
uint32_t bm_capabilities[BM_KINDS];

int bm_types_start(rm_ctx *ctx) {
    last_stamp = (uint64_t)rm.Milliseconds() << 20;
    for (bly_kind kind = BLY_KIND_NONE; (kind = bly_kind_next(kind)) != BLY_KIND_NONE;)
        if ((unsigned)kind < BM_KINDS)
            bm_capabilities[kind] = bly_kind_capabilities(kind);
    return bm_type_filter_start(ctx) == RM_OK ? bm_type_redisbloom_start(ctx) : RM_ERR;
}

bm_value *bm_value_new(bm_value_type type) {
    bm_value *value = rm.TryAlloc(sizeof *value);
    if (!value)
        return NULL;
    *value = (bm_value){.type = type, .stamp = ++last_stamp};
    bm_totals_count(value);
    return value;
}

/* If `now` differs from *counted, adds a value to a total or removes it, and sets *counted. */
static void recount(atomic_uint_fast64_t *total, bool *counted, bool now) {
    if (now == *counted)
        return;
    if (now)
        atomic_fetch_add(total, 1);
    else
        atomic_fetch_sub(total, 1);
    *counted = now;
}

void bm_value_drop_image(bm_value *value) {
    bly_chunks_close(value->image);
    value->image = NULL;
}

void bm_value_free(bm_value *value) {
    if (!value)
        return;
    if (value->type == BM_FILTER)
        bm_window_timer_remove(value);
    bm_value_drop_image(value);
    bm_staged_file_free(value->staged_file);
    bm_staged_chunks_free(value->staged_chunks);
    if (value->type == BM_RB_BLOOM)
        bly_rb_bloom_destroy(value->as.bloom);
    else if (value->type == BM_RB_CUCKOO)
        bly_rb_cuckoo_destroy(value->as.cuckoo);
    else
        bly_filter_destroy(value->as.filter);
    recount(&overfull, &value->counted_overfull, false);
    recount(&tombstones, &value->counted_tombstone, false);
    bm_totals_uncount(value);
    rm.Free(value);
}

bool bm_value_is_overfull(const bm_value *value) {
    const bly_filter *f = value->as.filter;
    if (value->type != BM_FILTER || !f)
        return false;
    bly_kind kind = bm_kind(value);
    const uint32_t exempt = BLY_CAN_COUNT | BLY_CARDINALITY_ONLY | BLY_CAN_BUILD;
    if (kind == BLY_SCALABLE || kind == BLY_OVERLAY || bm_can(kind) & exempt)
        return false;
    return (double)bly_filter_count(f) > bm_configs.warn_ratio * (double)bly_filter_capacity(f);
}

void bm_value_changed(bm_value *value) {
    value->stamp = ++last_stamp;
    if (value->image)
        bm_value_drop_image(value);
    recount(&overfull, &value->counted_overfull, bm_value_is_overfull(value));
    recount(&tombstones, &value->counted_tombstone, value->traits.tombstone);
}

uint64_t bm_value_bytes(const bm_value *value) {
    return rm.MallocSize((void *)(uintptr_t)value) + value->account.bytes +
           value->image_account.bytes +
           (value->staged_file ? bm_staged_file_bytes(value->staged_file) : 0) +
           (value->staged_chunks ? bm_staged_chunks_bytes(value->staged_chunks) : 0);
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

/* If the status is BLY_ENOMEM and the account has no refusal, the library was told how much memory
 * is available, needed more, and did not try to allocate it. */
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
        return "it would take more memory than the server may use (maxmemory, or the memory of the "
               "machine)";
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

/* Returns the type of a key. The module's types are checked first, because most keys that are
 * opened have one of them. */
static bm_value_type type_of(rm_key *key) {
    if (!key)
        return BM_MISSING;
    rm_type *type = rm.ModuleTypeGetType(key); /* NULL for a key of a type that is not a module's,
                                                  and for a missing key */
    if (!type)
        return rm.KeyType(key) == RM_KEY_EMPTY ? BM_MISSING : BM_FOREIGN;
    return type == bm_type_filter      ? BM_FILTER
           : type == bm_type_rb_bloom  ? BM_RB_BLOOM
           : type == bm_type_rb_cuckoo ? BM_RB_CUCKOO
                                       : BM_FOREIGN;
}

/* Whether a write has no memory limits, because it is replayed. bm_is_replayed takes as long as a
 * small command, so it is called only if its result may matter: if this server may be a replica or
 * loading, or if limits are set. */
static bool has_no_limits(rm_ctx *ctx) {
    bool limits = bm_configs.max_filter || bm_configs.max_total;
    return (limits || !bm_is_loaded_master(ctx)) && bm_is_replayed(ctx);
}

static bool is_window(const bm_value *value) {
    return value->type == BM_FILTER && value->as.filter && bm_kind(value) == BLY_WINDOW;
}

/* Searches the ring for the secret key of a filter that was opened without it, because the key may
 * have been added to the ring since. (If a replayed write had come before that, the filter would be
 * a tombstone.) */
static void find_secret_key(bm_value *value) {
    uint64_t version = bm_keyring_version();
    if (value->ring_version == version || !value->as.filter)
        return;
    value->ring_version = version;
    for (size_t i = 0; value->keyless && i < bm_keyring_size(); i++)
        value->keyless = bly_filter_set_hasher(value->as.filter, bm_keyring_at(i)) != BLY_OK;
}

bm_key bm_key_open(rm_ctx *ctx, rm_string *name, int mode) {
    bm_key key = {.key = rm.OpenKey(ctx, name, mode), .name = name};
    key.type = type_of(key.key);
    if (key.type == BM_MISSING || key.type == BM_FOREIGN)
        return key;
    key.value = rm.ModuleTypeGetValue(key.key);
    if (mode & RM_WRITE)
        key.value->account.unlimited = has_no_limits(ctx);
    if (key.value->keyless)
        find_secret_key(key.value);
    if (!key.value->timer && is_window(key.value))
        bm_window_timer_add(ctx, &key);
    return key;
}

void bm_key_close(bm_key *key) {
    if (key->key)
        rm.CloseKey(key->key);
    key->key = NULL;
}

void bm_key_set(bm_key *key, bm_value *value) {
    rm_type *type = value->type == BM_RB_BLOOM    ? bm_type_rb_bloom
                    : value->type == BM_RB_CUCKOO ? bm_type_rb_cuckoo
                                                  : bm_type_filter;
    long long expiry = key->type == BM_MISSING ? -1 : rm.GetAbsExpire(key->key);
    (void)rm.ModuleTypeSetValue(key->key, type, value);
    if (expiry >= 0)
        (void)rm.SetAbsExpire(key->key, expiry);
    key->type = value->type;
    key->value = value;
}

void bm_key_changed(rm_ctx *ctx, bm_key *key, const char *event) {
    if (key->value)
        bm_value_changed(key->value);
    (void)rm.SignalModifiedKey(ctx, key->name);
    (void)rm.NotifyKeyspaceEvent(ctx, RM_NOTIFY_GENERIC, event, key->name);
}
