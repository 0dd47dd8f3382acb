/* bly_info.c - BLY.INFO: the properties of a filter that need no pass over its data. */
#include "command_table.h"
#include "commands/bf_cf_common.h"
#include "commands/bly.h"
#include "commands/command_reply.h"
#include "commands/value_query.h"
#include "load/staged_file.h"

#include <bloomery/filter.h>
#include <bloomery/host/chunks.h>
#include <bloomery/host/redisbloom.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_id(bm_reply_map *map, const char *field, uint64_t id) {
    char text[20];
    snprintf(text, sizeof text, "%016" PRIx64, id);
    bm_map_text(map, field, text);
}

static bly_status copy_header(void *ctx, const void *data, size_t size) {
    if (size >= BLY_FILE_HEADER)
        memcpy(ctx, data, BLY_FILE_HEADER);
    return BLY_EIO; /* stops the write: the rest of the file is not needed */
}

/* Adds the fields about the hash of a filter that was opened without its secret key or custom hash
 * function. Such a filter has no hasher, but the header of its file names the hash. Writing the
 * header takes a pass over the filter, but few filters are opened without their keys. */
static void add_hash_of_file(bm_reply_map *map, const bly_filter *f) {
    uint8_t header[BLY_FILE_HEADER] = {0};
    bly_file_info info = {.struct_size = sizeof info};
    (void)!bly_filter_write(f, copy_header, header);
    const bool known = bly_file_parse_info(header, sizeof header, &info) == BLY_OK;
    bm_map_bool(map, "keyed", known && info.keyed);
    bm_map_bool(map, "keyless", true);
    if (!known)
        return;
    bm_map_text(map, "hash", bly_hash_name(info.hash));
    add_id(map, info.keyed ? "key_id" : "tag", info.seed);
}

static void add_hash(bm_reply_map *map, const bm_value *value) {
    const bly_hasher *hasher = bly_filter_hasher(value->as.filter);
    if (!hasher) {
        add_hash_of_file(map, value->as.filter);
        return;
    }
    bm_map_bool(map, "keyed", hasher->id == BLY_HASH_SIPHASH);
    bm_map_bool(map, "keyless", value->keyless);
    const char *name = bly_hash_name((bly_hash_id)hasher->id);
    bm_map_text(map, "hash", name ? name : "custom");
    if (hasher->id == BLY_HASH_SIPHASH) {
        add_id(map, "key_id", hasher->seed);
        return;
    }
    char seed[24]; /* as text, because it may be too large for an integer of the protocol */
    snprintf(seed, sizeof seed, "%" PRIu64, hasher->seed);
    bm_map_text(map, "seed", seed);
}

static void add_window(bm_reply_map *map, const bly_filter *f) {
    bly_window_info info = {.struct_size = sizeof info};
    if (bly_window_get_info(f, &info) != BLY_OK)
        return;
    bm_map_number(map, "generations", info.generations);
    bm_map_number(map, "generation_keys", info.generation_keys);
    bm_map_number(map, "active_keys", info.active_keys);
    if (info.span == 0) {
        bm_map_number(map, "active_arrivals", info.active_arrivals);
        bm_map_number(map, "arrivals", info.arrivals);
        return;
    }
    bm_map_number(map, "span", info.span);
    bm_map_number(map, "slice", info.slice);
    bm_map_number(map, "clock", info.now);
}

/* Adds the fields that only some kinds have. */
static void add_kind(bm_reply_map *map, const bly_filter *f) {
    bly_geometry g = bly_filter_geometry(f);
    bly_overlay_info changes = {.struct_size = sizeof changes};
    if (bm_can(g.kind) & BLY_HAS_LEVELS)
        bm_map_number(map, "growth", g.detail ? g.detail : 2);
    else if (g.kind == BLY_COUNTING)
        bm_map_number(map, "counter_bits", g.detail);
    else if (g.kind == BLY_WINDOW)
        add_window(map, f);
    else if (g.kind == BLY_OVERLAY && bly_overlay_get_info(f, &changes) == BLY_OK) {
        bm_map_number(map, "deleted", changes.deleted);
        bm_map_number(map, "added", changes.added);
        bm_map_text(map, "base", bly_kind_name(bly_filter_geometry(bly_overlay_base(f)).kind));
    }
}

static void add_filter(bm_reply_map *map, const bm_value *value) {
    const bly_filter *f = value->as.filter;
    bly_geometry g = bly_filter_geometry(f);
    bm_map_text(map, "face", bm_face_name(value->traits.face));
    bm_map_number(map, "levels", bly_filter_level_count(f));
    bm_map_number(map, "size", g.size);
    bm_map_number(map, "hashes", g.hashes);
    bm_map_number(map, "detail", g.detail);
    bm_map_number(map, "file_bytes", bly_filter_file_size(f));
    add_hash(map, value);
    add_kind(map, f);
}

static void add_redisbloom(bm_reply_map *map, const bm_value *value) {
    bool bloom = value->type == BM_RB_BLOOM;
    bm_map_text(map, "face", bloom ? "bf" : "cf");
    if (bloom) {
        bly_rb_bloom_info info = bly_rb_bloom_get_info(value->as.bloom);
        bm_map_number(map, "levels", info.links);
        bm_map_number(map, "growth", info.options & BLY_RB_NONSCALING ? 0 : info.growth);
    } else {
        bly_rb_cuckoo_info info = bly_rb_cuckoo_get_info(value->as.cuckoo);
        bm_map_number(map, "levels", info.filters);
        bm_map_number(map, "growth", info.expansion);
        bm_map_number(map, "bucket_size", info.bucket_size);
        bm_map_number(map, "max_iterations", info.max_iterations);
    }
}

static uint64_t capacity_of(const bm_value *value) {
    if (value->type == BM_RB_BLOOM)
        return bly_rb_bloom_get_info(value->as.bloom).capacity;
    if (value->type == BM_RB_CUCKOO)
        return bly_rb_cuckoo_get_info(value->as.cuckoo).data_bytes; /* one byte per slot */
    return bly_filter_capacity(value->as.filter);
}

static void add_all(bm_reply_map *map, const bm_value *value) {
    uint64_t count = bm_value_count(value), bytes = value->account.bytes;
    bm_map_text(map, "kind", bm_bly_kind(value));
    bm_map_text(map, "layout", bm_bly_layout(value));
    bm_map_number(map, "capacity", capacity_of(value));
    bm_map_number(map, "count", count);
    bm_map_double(map, "rate_requested", bm_bly_rate(value));
    bm_map_number(map, "bytes", bytes);
    bm_map_double(map, "bits_per_key", count ? 8 * (double)bytes / (double)count : NAN);
    if (value->type == BM_FILTER)
        add_filter(map, value);
    else
        add_redisbloom(map, value);
}

/* Adds the fields of tombstones and staged loads. The number of received bytes is not shown for
 * RedisBloom's chunks, because they may arrive in any order. */
static void add_staged(bm_reply_map *map, const bm_value *value) {
    const char *reason = bm_removed_text(value->traits.removed_kind);
    bm_map_bool(map, "lost", bm_is_tombstone(value));
    if (reason)
        bm_map_text(map, "reason", reason + strlen("ERR "));
    bm_map_bool(map, "loading", value->staged_file || value->staged_chunks);
    if (!value->staged_file)
        return;
    bm_map_number(map, "received", bm_staged_file_received(value->staged_file));
    bm_map_number(map, "total", bm_staged_file_total(value->staged_file));
}

int bm_bly_info(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 2)
        return rm.WrongArity(ctx);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ);
    if (!key.value) {
        rm.ReplyWithError(ctx, bm_bly_key_error(&key, false));
    } else {
        bm_reply_map map = {.n = 0};
        if (bm_has_no_filter(key.value))
            bm_map_null(&map, "kind");
        else
            add_all(&map, key.value);
        add_staged(&map, key.value);
        bm_map_reply(ctx, &map);
    }
    bm_key_close(&key);
    return RM_OK;
}
