/* value_query.c - lookups in a value of any of the three types, and EXISTS and MEXISTS. */
#include "commands/value_query.h"

#include "commands/command_reply.h"
#include "config.h"
#include "runtime/prefetch_cache.h"

#include <bloomery/host/redisbloom.h>
#include <string.h>

bool bm_value_contains(const bm_value *value, bly_bytes item) {
    if (value->type == BM_RB_BLOOM)
        return bly_rb_bloom_contains(value->as.bloom, item.data, item.size);
    if (value->type == BM_RB_CUCKOO)
        return bly_rb_cuckoo_contains(value->as.cuckoo, item.data, item.size);
    return !value->as.filter || bly_filter_contains(value->as.filter, item.data, item.size);
}

void bm_value_contains_many(const bm_value *value, bm_items *items) {
    if (value->type == BM_RB_BLOOM)
        bly_rb_bloom_contains_many(value->as.bloom, items->keys, items->n, items->answers);
    else if (value->type == BM_RB_CUCKOO)
        bly_rb_cuckoo_contains_many(value->as.cuckoo, items->keys, items->n, items->answers);
    else if (value->as.filter)
        bly_filter_contains_many(value->as.filter, items->keys, items->n, items->answers);
    else
        memset(items->answers, 1, items->n);
}

uint64_t bm_value_copies(const bm_value *value, bly_bytes item) {
    if (value->type == BM_RB_CUCKOO)
        return bly_rb_cuckoo_copies(value->as.cuckoo, item.data, item.size);
    if (value->type == BM_FILTER && value->as.filter)
        return bly_filter_copies(value->as.filter, item.data, item.size);
    return bm_value_contains(value, item);
}

/* An item may be stored in two buckets of every level or sub-filter. */
uint64_t bm_value_max_copies(const bm_value *value, bly_bytes item) {
    uint64_t max = 0;
    if (value->type == BM_RB_CUCKOO) {
        bly_rb_cuckoo_info info = bly_rb_cuckoo_get_info(value->as.cuckoo);
        max = 2 * info.bucket_size * info.filters;
    } else if (value->type == BM_FILTER && value->as.filter) {
        if (bm_can(bm_kind(value)) & BLY_LIMITS_COPIES)
            max = BLY_MAX_COPIES * (uint64_t)bly_filter_level_count(value->as.filter);
    }
    uint64_t copies = max ? bm_value_copies(value, item) : 0;
    return copies >= max ? copies : 0;
}

uint64_t bm_value_count(const bm_value *value) {
    if (value->type == BM_RB_BLOOM)
        return bly_rb_bloom_get_info(value->as.bloom).items;
    if (value->type == BM_RB_CUCKOO)
        return bly_rb_cuckoo_get_info(value->as.cuckoo).items;
    return bly_filter_count(value->as.filter);
}

bool bm_reply_wrong_type(rm_ctx *ctx, const bm_key *key) {
    if (key->type == BM_MISSING || bm_configs.compat)
        return false;
    rm.ReplyWithError(ctx, BM_WRONGTYPE);
    return true;
}

static bool prefetch_contains(const bm_value *value, const bm_prefetch *prefetch) {
    if (value->type == BM_FILTER && value->as.filter)
        return bm_prefetch_contains(prefetch, value->as.filter);
    return bm_value_contains(value, prefetch->item);
}

int bm_exists(rm_ctx *ctx, rm_string **argv, int argc, bm_accepts_fn accepts) {
    if (argc != 3)
        return rm.WrongArity(ctx);
    bm_prefetch prefetch;
    bm_prefetch_begin(&prefetch, argv[1], bm_bytes(argv[2]));
    bm_key key = bm_key_open(ctx, argv[1], RM_READ);
    if (accepts(&key))
        rm.ReplyWithBool(ctx, prefetch_contains(key.value, &prefetch));
    else if (!bm_reply_wrong_type(ctx, &key))
        rm.ReplyWithBool(ctx, 0);
    bm_key_close(&key);
    return RM_OK;
}

int bm_mexists(rm_ctx *ctx, rm_string **argv, int argc, bm_accepts_fn accepts) {
    if (argc < 3)
        return rm.WrongArity(ctx);
    bm_items items;
    if (!bm_items_init(&items, argv + 2, argc - 2))
        return bm_status_error(ctx, BLY_ENOMEM);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ);
    bool accepted = accepts(&key);
    if (accepted)
        bm_value_contains_many(key.value, &items);
    if (accepted || !bm_reply_wrong_type(ctx, &key)) {
        rm.ReplyWithArray(ctx, (long)items.n);
        for (size_t i = 0; i < items.n; i++)
            rm.ReplyWithBool(ctx, items.answers[i]);
    }
    bm_key_close(&key);
    bm_items_free(&items);
    return RM_OK;
}
