#include "lost.h"

#include <string.h>

bool bm_lost_mark(rm_ctx *ctx, bm_key *key) {
    bm_value *mark = bm_value_new(BM_FILTER);
    if (!mark)
        return false;
    mark->traits.lost = true;
    bm_key_set(key, mark);
    bm_key_changed(ctx, key, "bly.lost");
    return true;
}

/* As BLY.LOAD takes it, for the AOF of this server. Replicas of a replica hear of its master's
 * writes, and see for themselves whether they can follow. */
static void replicate(rm_ctx *ctx, const bm_key *key) {
    uint8_t meta[BM_TRAITS_BYTES];
    bm_traits_encode(&key->value->traits, meta);
    rm.Replicate(ctx, "BLY.LOAD", "scccccb", key->name, "0", "0", "", "REPLACE", "META", meta,
                 sizeof meta);
}

bool bm_lose_quietly(rm_ctx *ctx, bm_key *key, const char *why) {
    if (key->what == BM_FOREIGN || !bm_is_replayed(ctx))
        return false;
    if (key->value && bm_is_lost(key->value) && !key->value->staging)
        return true;
    size_t size;
    const char *name = rm.StringPtrLen(key->name, &size);
    rm.Log(ctx, "warning",
           "the filter '%.*s' is lost here, since a write to it could not be followed: %s. "
           "BLY.CHECK says nil until it is loaded again or deleted",
           size < 64 ? (int)size : 64, name, strncmp(why, "ERR ", 4) == 0 ? why + 4 : why);
    if (bm_lost_mark(ctx, key))
        replicate(ctx, key);
    else
        rm.Log(ctx, "warning", "nor is there memory to mark it; it must not be used");
    return true;
}

bool bm_lose(rm_ctx *ctx, bm_key *key, const char *why) {
    if (!bm_lose_quietly(ctx, key, why))
        return false;
    rm.ReplyWithNull(ctx);
    return true;
}
