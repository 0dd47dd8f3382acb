/* bf_cf_info.c - BF.INFO, BF.DEBUG, CF.INFO and CF.DEBUG.
 *
 * The fields are the same for every filter. For RedisBloom's types the numbers are those that
 * RedisBloom returns. For filters in Bloomery's layout they describe this layout, except that
 * bucket size and maximum iterations are the requested numbers.
 */
#include "command_table.h"
#include "commands/bf_cf_common.h"
#include "commands/command_args.h"
#include "commands/command_reply.h"

#include <bloomery/host/redisbloom.h>
#include <inttypes.h>
#include <stdio.h>

/* ---- BF.INFO --------------------------------------------------------------------------------- */

typedef struct bf_numbers {
    uint64_t capacity, size, filters, items, expansion;
    bool scales;
} bf_numbers;

static bf_numbers bf_read(const bm_value *value) {
    if (value->type == BM_RB_BLOOM) {
        bly_rb_bloom_info info = bly_rb_bloom_get_info(value->as.bloom);
        return (bf_numbers){.capacity = info.capacity,
                            .size = info.size,
                            .filters = info.links,
                            .items = info.items,
                            .expansion = info.growth,
                            .scales = !(info.options & BLY_RB_NONSCALING)};
    }
    const bly_filter *f = value->as.filter;
    bly_geometry g = bly_filter_geometry(f);
    bool scales = bm_can(g.kind) & BLY_HAS_LEVELS;
    return (bf_numbers){.capacity = bly_filter_capacity(f),
                        .size = bly_filter_file_size(f),
                        .filters = bly_filter_level_count(f),
                        .items = bly_filter_count(f),
                        .expansion = g.detail ? g.detail : 2,
                        .scales = scales};
}

/* Fields in the order of the reply. */
enum { CAPACITY, SIZE, FILTERS, ITEMS, EXPANSION, FIELDS };
static const char *const field_words[] = {"CAPACITY", "SIZE", "FILTERS", "ITEMS", "EXPANSION"};
static const char *const field_names[] = {"Capacity", "Size", "Number of filters",
                                          "Number of items inserted", "Expansion rate"};

static void bf_reply_value(rm_ctx *ctx, const bf_numbers *n, int field) {
    const uint64_t values[] = {n->capacity, n->size, n->filters, n->items, n->expansion};
    if (field == EXPANSION && !n->scales)
        rm.ReplyWithNull(ctx);
    else
        bm_reply_count(ctx, values[field]);
}

/* Replies with a single field: in RESP3 as a map of one pair, in RESP2 as an array that contains
 * only the value. */
static void bf_reply_field(rm_ctx *ctx, const bf_numbers *n, const rm_string *word) {
    for (int field = 0; field < FIELDS; field++) {
        if (!bm_is(word, field_words[field]))
            continue;
        if (bm_resp3(ctx)) {
            rm.ReplyWithMap(ctx, 1);
            rm.ReplyWithSimpleString(ctx, field_names[field]);
        } else {
            rm.ReplyWithArray(ctx, 1);
        }
        bf_reply_value(ctx, n, field);
        return;
    }
    rm.ReplyWithError(ctx, "Invalid information value");
}

int bm_bf_info(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc < 2 || argc > 3)
        return rm.WrongArity(ctx);
    bm_key key;
    if (bm_open_for_read(ctx, argv[1], bm_bf_accepts, &key)) {
        bf_numbers n = bf_read(key.value);
        if (argc == 3) {
            bf_reply_field(ctx, &n, argv[2]);
        } else {
            rm.ReplyWithMap(ctx, FIELDS);
            for (int field = 0; field < FIELDS; field++) {
                rm.ReplyWithSimpleString(ctx, field_names[field]);
                bf_reply_value(ctx, &n, field);
            }
        }
    }
    bm_key_close(&key);
    return RM_OK;
}

/* ---- BF.DEBUG -------------------------------------------------------------------------------- */

typedef struct level_numbers {
    uint64_t bytes, bits, hashes, width, capacity, items;
    double error;
} level_numbers;

static level_numbers bf_level(const bm_value *value, uint64_t i) {
    if (value->type == BM_RB_BLOOM) {
        bly_rb_link link = bly_rb_bloom_link(value->as.bloom, i);
        bool wide = bly_rb_bloom_get_info(value->as.bloom).options & BLY_RB_HASH_64;
        return (level_numbers){link.bitmap.size, link.bits,  link.hashes, wide ? 64 : 32,
                               link.capacity,    link.items, link.error};
    }
    const bly_filter *f = bly_filter_level(value->as.filter, (size_t)i);
    bly_geometry g = bly_filter_geometry(f);
    const bly_hasher *hasher = bly_filter_hasher(f);
    return (level_numbers){
        bly_plan_bytes(&g),     bly_plan_bits(&g),   g.hashes,         hasher ? hasher->bits : 128,
        bly_filter_capacity(f), bly_filter_count(f), bly_filter_fpr(f)};
}

int bm_bf_debug(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 2)
        return rm.WrongArity(ctx);
    bm_key key;
    if (bm_open_for_read(ctx, argv[1], bm_bf_accepts, &key)) {
        bf_numbers n = bf_read(key.value);
        char text[256];
        int size = snprintf(text, sizeof text, "size:%" PRIu64, n.items);
        rm.ReplyWithArray(ctx, (long)n.filters + 1);
        rm.ReplyWithStringBuffer(ctx, text, (size_t)size);
        for (uint64_t i = 0; i < n.filters; i++) {
            level_numbers l = bf_level(key.value, i);
            size = snprintf(text, sizeof text,
                            "bytes:%" PRIu64 " bits:%" PRIu64 " hashes:%" PRIu64
                            " hashwidth:%" PRIu64 " capacity:%" PRIu64 " size:%" PRIu64 " ratio:%g",
                            l.bytes, l.bits, l.hashes, l.width, l.capacity, l.items, l.error);
            rm.ReplyWithStringBuffer(ctx, text, (size_t)size);
        }
    }
    bm_key_close(&key);
    return RM_OK;
}

/* ---- CF.INFO, CF.DEBUG ----------------------------------------------------------------------- */

typedef struct cf_numbers {
    uint64_t size, buckets, filters, items, deletes, bucket_size, expansion, max_iterations;
} cf_numbers;

static cf_numbers cf_read_native(const bm_value *value) {
    const bly_filter *f = value->as.filter;
    const bm_traits *traits = &value->traits;
    bly_geometry whole = bly_filter_geometry(f);
    bool grows = bm_can(whole.kind) & BLY_HAS_LEVELS;
    return (cf_numbers){
        .size = bly_filter_file_size(f),
        .buckets = bly_filter_geometry(bly_filter_level(f, 0)).size,
        .filters = bly_filter_level_count(f),
        .items = bly_filter_count(f),
        .deletes = traits->deletes,
        .bucket_size = traits->bucket_size,
        .expansion = traits->face == BM_FACE_CF ? traits->expansion
                     : grows                    ? (whole.detail ? whole.detail : 2)
                                                : 0,
        .max_iterations = traits->max_iterations,
    };
}

static cf_numbers cf_read(const bm_value *value) {
    if (value->type == BM_FILTER)
        return cf_read_native(value);
    bly_rb_cuckoo_info info = bly_rb_cuckoo_get_info(value->as.cuckoo);
    return (cf_numbers){.size = info.size,
                        .buckets = info.buckets,
                        .filters = info.filters,
                        .items = info.items,
                        .deletes = info.deletes,
                        .bucket_size = info.bucket_size,
                        .expansion = info.expansion,
                        .max_iterations = info.max_iterations};
}

int bm_cf_info(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 2)
        return rm.WrongArity(ctx);
    bm_key key;
    if (bm_open_for_read(ctx, argv[1], bm_cf_accepts, &key)) {
        cf_numbers n = cf_read(key.value);
        const struct {
            const char *name;
            uint64_t value;
        } fields[] = {{"Size", n.size},
                      {"Number of buckets", n.buckets},
                      {"Number of filters", n.filters},
                      {"Number of items inserted", n.items},
                      {"Number of items deleted", n.deletes},
                      {"Bucket size", n.bucket_size},
                      {"Expansion rate", n.expansion},
                      {"Max iterations", n.max_iterations}};
        size_t count = sizeof fields / sizeof *fields;
        rm.ReplyWithMap(ctx, (long)count);
        for (size_t i = 0; i < count; i++) {
            rm.ReplyWithSimpleString(ctx, fields[i].name);
            bm_reply_count(ctx, fields[i].value);
        }
    }
    bm_key_close(&key);
    return RM_OK;
}

int bm_cf_debug(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 2)
        return rm.WrongArity(ctx);
    bm_key key;
    if (bm_open_for_read(ctx, argv[1], bm_cf_accepts, &key)) {
        cf_numbers n = cf_read(key.value);
        char text[256];
        int size = snprintf(
            text, sizeof text,
            "bktsize:%" PRIu64 " buckets:%" PRIu64 " items:%" PRIu64 " deletes:%" PRIu64
            " filters:%" PRIu64 " max_iterations:%" PRIu64 " expansion:%" PRIu64,
            n.bucket_size, n.buckets, n.items, n.deletes, n.filters, n.max_iterations, n.expansion);
        rm.ReplyWithStringBuffer(ctx, text, (size_t)size);
    }
    bm_key_close(&key);
    return RM_OK;
}
