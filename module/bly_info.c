/* bly_info.c - BLY.INFO: what can be told of a filter without reading all of it. */
#include "arrival.h"
#include "ask.h"
#include "bly.h"
#include "card.h"
#include "commands.h"
#include "family.h"
#include "reply.h"
#include "staging.h"

#include <bloomery/overlay.h>
#include <bloomery/window.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void tell_key_id(bm_card *card, uint64_t id) {
    char text[20];
    snprintf(text, sizeof text, "%016" PRIx64, id);
    bm_card_text(card, "key_id", text);
}

static bly_status first_piece(void *ctx, const void *data, size_t size) {
    if (size >= BLY_FILE_HEADER)
        memcpy(ctx, data, BLY_FILE_HEADER);
    return BLY_EIO; /* no more is wanted */
}

/* A filter without its key does not show its hasher; its file's header names it. This takes a pass
 * over the filter, but there are few such. */
static void tell_lost_hash(bm_card *card, const bly_filter *f) {
    uint8_t header[BLY_FILE_HEADER] = {0};
    bly_file_info info;
    (void)!bly_filter_write(f, first_piece, header);
    if (bly_file_info_parse(header, sizeof header, &info) != BLY_OK)
        return;
    bm_card_text(card, "hash", info.keyed ? bly_hash_name(info.hash) : "custom");
    tell_key_id(card, info.seed);
}

static void tell_hash(bm_card *card, const bm_value *value) {
    const bly_hasher *hasher = bly_filter_hasher(value->as.filter);
    bm_card_bool(card, "keyed", !hasher || hasher->id == BLY_HASH_SIPHASH);
    bm_card_bool(card, "keyless", value->keyless);
    if (!hasher) {
        tell_lost_hash(card, value->as.filter);
        return;
    }
    const char *name = bly_hash_name((bly_hash_id)hasher->id);
    bm_card_text(card, "hash", name ? name : "custom");
    if (hasher->id == BLY_HASH_SIPHASH) {
        tell_key_id(card, hasher->seed);
        return;
    }
    char seed[24]; /* as text: it may be larger than an integer of the protocol */
    snprintf(seed, sizeof seed, "%" PRIu64, hasher->seed);
    bm_card_text(card, "seed", seed);
}

static void tell_window(bm_card *card, const bly_filter *f) {
    bly_window_info info;
    if (bly_window_look(f, &info) != BLY_OK)
        return;
    bm_card_number(card, "generations", info.generations);
    bm_card_number(card, "generation_keys", info.generation_keys);
    bm_card_number(card, "active_keys", info.active_keys);
    if (info.span == 0) {
        bm_card_number(card, "active_arrivals", info.active_arrivals);
        bm_card_number(card, "arrivals", info.arrivals);
        return;
    }
    bm_card_number(card, "span", info.span);
    bm_card_number(card, "slice", info.slice);
    bm_card_number(card, "clock", info.now);
}

/* What only some kinds have. */
static void tell_kind(bm_card *card, const bly_filter *f) {
    bly_geometry g = bly_filter_geometry(f);
    uint64_t deleted, added;
    if (g.kind == BLY_SCALABLE || g.kind == BLY_SCALABLE_CUCKOO)
        bm_card_number(card, "growth", g.detail ? g.detail : 2);
    else if (g.kind == BLY_COUNTING)
        bm_card_number(card, "counter_bits", g.detail);
    else if (g.kind == BLY_WINDOW)
        tell_window(card, f);
    else if (g.kind == BLY_OVERLAY && bly_overlay_changes(f, &deleted, &added) == BLY_OK) {
        bm_card_number(card, "deleted", deleted);
        bm_card_number(card, "added", added);
        bm_card_text(card, "base", bly_kind_name(bly_filter_geometry(bly_overlay_base(f)).kind));
    }
}

static void tell_filter(bm_card *card, const bm_value *value) {
    const bly_filter *f = value->as.filter;
    bly_geometry g = bly_filter_geometry(f);
    bm_card_text(card, "face", bm_face_name(value->traits.face));
    bm_card_number(card, "levels", bly_filter_levels(f));
    bm_card_number(card, "size", g.size);
    bm_card_number(card, "hashes", g.hashes);
    bm_card_number(card, "detail", g.detail);
    bm_card_number(card, "file_bytes", bly_filter_file_size(f));
    tell_hash(card, value);
    tell_kind(card, f);
}

static void tell_redisbloom(bm_card *card, const bm_value *value) {
    bool bloom = value->what == BM_RB_BLOOM;
    bm_card_text(card, "face", bloom ? "bf" : "cf");
    if (bloom) {
        bly_rb_bloom_info info = bly_rb_bloom_look(value->as.bloom);
        bm_card_number(card, "levels", info.links);
        bm_card_number(card, "growth", info.options & BLY_RB_NONSCALING ? 0 : info.growth);
    } else {
        bly_rb_cuckoo_info info = bly_rb_cuckoo_look(value->as.cuckoo);
        bm_card_number(card, "levels", info.filters);
        bm_card_number(card, "growth", info.expansion);
        bm_card_number(card, "bucket_size", info.bucket_size);
        bm_card_number(card, "max_iterations", info.max_iterations);
    }
}

static uint64_t capacity(const bm_value *value) {
    if (value->what == BM_RB_BLOOM)
        return bly_rb_bloom_look(value->as.bloom).capacity;
    if (value->what == BM_RB_CUCKOO)
        return bly_rb_cuckoo_look(value->as.cuckoo).data_bytes; /* a byte for each slot */
    return bly_filter_capacity(value->as.filter);
}

static void tell_all(bm_card *card, const bm_value *value) {
    uint64_t count = bm_ask_count(value), bytes = value->account.bytes;
    bm_card_text(card, "kind", bm_bly_kind(value));
    bm_card_text(card, "layout", bm_bly_layout(value));
    bm_card_number(card, "capacity", capacity(value));
    bm_card_number(card, "count", count);
    bm_card_double(card, "rate_asked", bm_bly_rate(value));
    bm_card_number(card, "bytes", bytes);
    bm_card_double(card, "bits_per_key", count ? 8 * (double)bytes / (double)count : NAN);
    if (value->what == BM_FILTER)
        tell_filter(card, value);
    else
        tell_redisbloom(card, value);
}

/* Something is on its way: of a container so many bytes of all; of RedisBloom's chunks, which come
 * in any order, only that. */
static void tell_arriving(bm_card *card, const bm_value *value) {
    bm_card_bool(card, "lost", bm_is_lost(value));
    if (bm_removed_text(value->traits.removed_kind))
        bm_card_text(card, "reason", bm_removed_text(value->traits.removed_kind) + strlen("ERR "));
    bm_card_bool(card, "arriving", value->staging || value->arrival);
    if (!value->staging)
        return;
    bm_card_number(card, "received", bm_staging_received(value->staging));
    bm_card_number(card, "total", bm_staging_total(value->staging));
}

int bm_bly_info(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 2)
        return rm.WrongArity(ctx);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ);
    if (!key.value) {
        rm.ReplyWithError(ctx, bm_bly_why_not(&key, false));
    } else {
        bm_card card = {.n = 0};
        if (bm_is_hollow(key.value))
            bm_card_null(&card, "kind");
        else
            tell_all(&card, key.value);
        tell_arriving(&card, key.value);
        bm_card_reply(ctx, &card);
    }
    bm_key_close(&key);
    return RM_OK;
}
