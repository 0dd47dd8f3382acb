/* bf_info.c - BF.INFO and BF.DEBUG: the same fields for every filter; of RedisBloom's type with the
 * numbers that RedisBloom gives, of ours with what is really taken.
 */
#include "args.h"
#include "commands.h"
#include "family.h"
#include "reply.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct numbers {
    uint64_t capacity, size, filters, items, expansion;
    bool scales;
} numbers;

static numbers look(const bm_value *value) {
    if (value->what == BM_RB_BLOOM) {
        bly_rb_bloom_info info = bly_rb_bloom_look(value->as.bloom);
        return (numbers){.capacity = info.capacity,
                         .size = info.size,
                         .filters = info.links,
                         .items = info.items,
                         .expansion = info.growth,
                         .scales = !(info.options & BLY_RB_NONSCALING)};
    }
    const bly_filter *f = value->as.filter;
    bly_geometry g = bly_filter_geometry(f);
    bool chain = g.kind == BLY_SCALABLE || g.kind == BLY_SCALABLE_CUCKOO;
    return (numbers){.capacity = bly_filter_capacity(f),
                     .size = bly_filter_file_size(f),
                     .filters = bly_filter_levels(f),
                     .items = bly_filter_count(f),
                     .expansion = g.detail ? g.detail : 2,
                     .scales = chain};
}

/* Fields in the order of the reply. */
enum { CAPACITY, SIZE, FILTERS, ITEMS, EXPANSION, FIELDS };
static const char *const words[] = {"CAPACITY", "SIZE", "FILTERS", "ITEMS", "EXPANSION"};
static const char *const names[] = {"Capacity", "Size", "Number of filters",
                                    "Number of items inserted", "Expansion rate"};

static void reply_value(rm_ctx *ctx, const numbers *n, int field) {
    const uint64_t values[] = {n->capacity, n->size, n->filters, n->items, n->expansion};
    if (field == EXPANSION && !n->scales)
        rm.ReplyWithNull(ctx);
    else
        bm_reply_count(ctx, values[field]);
}

/* One field is a map of one in RESP3, and in RESP2 an array of the value alone. */
static void reply_field(rm_ctx *ctx, const numbers *n, const rm_string *word) {
    for (int field = 0; field < FIELDS; field++) {
        if (!bm_is(word, words[field]))
            continue;
        if (bm_resp3(ctx)) {
            rm.ReplyWithMap(ctx, 1);
            rm.ReplyWithSimpleString(ctx, names[field]);
        } else {
            rm.ReplyWithArray(ctx, 1);
        }
        reply_value(ctx, n, field);
        return;
    }
    rm.ReplyWithError(ctx, "Invalid information value");
}

int bm_bf_info(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc < 2 || argc > 3)
        return rm.WrongArity(ctx);
    bm_key key;
    if (bm_family_look(ctx, argv[1], bm_bf_takes, &key)) {
        numbers n = look(key.value);
        if (argc == 3) {
            reply_field(ctx, &n, argv[2]);
        } else {
            rm.ReplyWithMap(ctx, FIELDS);
            for (int field = 0; field < FIELDS; field++) {
                rm.ReplyWithSimpleString(ctx, names[field]);
                reply_value(ctx, &n, field);
            }
        }
    }
    bm_key_close(&key);
    return RM_OK;
}

/* ---- DEBUG ----------------------------------------------------------------------------------- */

typedef struct level {
    uint64_t bytes, bits, hashes, width, capacity, items;
    double error;
} level;

static level level_of(const bm_value *value, uint64_t i) {
    if (value->what == BM_RB_BLOOM) {
        bly_rb_link link = bly_rb_bloom_link(value->as.bloom, i);
        bool wide = bly_rb_bloom_look(value->as.bloom).options & BLY_RB_HASH_64;
        return (level){link.bitmap.size, link.bits,  link.hashes, wide ? 64 : 32,
                       link.capacity,    link.items, link.error};
    }
    const bly_filter *f = bly_filter_level(value->as.filter, (size_t)i);
    bly_geometry g = bly_filter_geometry(f);
    const bly_hasher *hasher = bly_filter_hasher(f);
    return (level){
        bly_plan_bytes(&g),     bly_plan_bits(&g),   g.hashes,         hasher ? hasher->bits : 128,
        bly_filter_capacity(f), bly_filter_count(f), bly_filter_fpr(f)};
}

int bm_bf_debug(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 2)
        return rm.WrongArity(ctx);
    bm_key key;
    if (bm_family_look(ctx, argv[1], bm_bf_takes, &key)) {
        numbers n = look(key.value);
        char text[256];
        int size = snprintf(text, sizeof text, "size:%" PRIu64, n.items);
        rm.ReplyWithArray(ctx, (long)n.filters + 1);
        rm.ReplyWithStringBuffer(ctx, text, (size_t)size);
        for (uint64_t i = 0; i < n.filters; i++) {
            level l = level_of(key.value, i);
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
