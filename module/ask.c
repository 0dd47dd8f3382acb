#include "ask.h"

#include "config.h"
#include "hunch.h"
#include "reply.h"

#include <string.h>

bool bm_ask(const bm_value *value, bly_bytes item) {
    if (value->what == BM_RB_BLOOM)
        return bly_rb_bloom_contains(value->as.bloom, item.data, item.size);
    if (value->what == BM_RB_CUCKOO)
        return bly_rb_cuckoo_contains(value->as.cuckoo, item.data, item.size);
    return !value->as.filter || bly_filter_contains(value->as.filter, item.data, item.size);
}

void bm_ask_many(const bm_value *value, bm_items *items) {
    if (value->what == BM_RB_BLOOM)
        bly_rb_bloom_contains_many(value->as.bloom, items->keys, items->n, items->answers);
    else if (value->what == BM_RB_CUCKOO)
        bly_rb_cuckoo_contains_many(value->as.cuckoo, items->keys, items->n, items->answers);
    else if (value->as.filter)
        bly_filter_contains_many(value->as.filter, items->keys, items->n, items->answers);
    else
        memset(items->answers, 1, items->n);
}

uint64_t bm_ask_copies(const bm_value *value, bly_bytes item) {
    if (value->what == BM_RB_CUCKOO)
        return bly_rb_cuckoo_copies(value->as.cuckoo, item.data, item.size);
    if (value->what == BM_FILTER && value->as.filter)
        return bly_filter_copies(value->as.filter, item.data, item.size);
    return bm_ask(value, item);
}

/* An item has two buckets in every level or sub-filter. */
uint64_t bm_ask_most_copies(const bm_value *value, bly_bytes item) {
    enum { OWN_BUCKET = 4 };
    uint64_t most = 0;
    if (value->what == BM_RB_CUCKOO) {
        bly_rb_cuckoo_info info = bly_rb_cuckoo_look(value->as.cuckoo);
        most = 2 * info.bucket_size * info.filters;
    } else if (value->what == BM_FILTER && value->as.filter) {
        bly_kind kind = bm_kind(value);
        if (kind == BLY_CUCKOO || kind == BLY_GROWABLE_CUCKOO || kind == BLY_SCALABLE_CUCKOO)
            most = 2 * OWN_BUCKET * (uint64_t)bly_filter_levels(value->as.filter);
    }
    uint64_t copies = most ? bm_ask_copies(value, item) : 0;
    return copies >= most ? copies : 0;
}

uint64_t bm_ask_count(const bm_value *value) {
    if (value->what == BM_RB_BLOOM)
        return bly_rb_bloom_look(value->as.bloom).items;
    if (value->what == BM_RB_CUCKOO)
        return bly_rb_cuckoo_look(value->as.cuckoo).items;
    return bly_filter_count(value->as.filter);
}

bool bm_ask_refused(rm_ctx *ctx, const bm_key *key) {
    if (key->what == BM_MISSING || bm_configs.compat)
        return false;
    rm.ReplyWithError(ctx, BM_WRONGTYPE);
    return true;
}

static bool ask_hunch(const bm_value *value, const bm_hunch *hunch) {
    if (value->what == BM_FILTER && value->as.filter)
        return bm_hunch_ask(hunch, value->as.filter);
    return bm_ask(value, hunch->item);
}

int bm_ask_exists(rm_ctx *ctx, rm_string **argv, int argc, bm_takes_fn takes) {
    if (argc != 3)
        return rm.WrongArity(ctx);
    bm_hunch hunch;
    bm_hunch_begin(&hunch, argv[1], bm_bytes(argv[2]));
    bm_key key = bm_key_open(ctx, argv[1], RM_READ);
    if (takes(&key))
        rm.ReplyWithBool(ctx, ask_hunch(key.value, &hunch));
    else if (!bm_ask_refused(ctx, &key))
        rm.ReplyWithBool(ctx, 0);
    bm_key_close(&key);
    return RM_OK;
}

int bm_ask_mexists(rm_ctx *ctx, rm_string **argv, int argc, bm_takes_fn takes) {
    if (argc < 3)
        return rm.WrongArity(ctx);
    bm_items items;
    if (!bm_items_take(&items, argv + 2, argc - 2))
        return bm_status_error(ctx, BLY_ENOMEM);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ);
    bool taken = takes(&key);
    if (taken)
        bm_ask_many(key.value, &items);
    if (taken || !bm_ask_refused(ctx, &key)) {
        rm.ReplyWithArray(ctx, (long)items.n);
        for (size_t i = 0; i < items.n; i++)
            rm.ReplyWithBool(ctx, items.answers[i]);
    }
    bm_key_close(&key);
    bm_items_free(&items);
    return RM_OK;
}
