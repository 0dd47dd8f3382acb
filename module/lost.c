#include "lost.h"

#include <string.h>

/* ---- kinds that were removed ----------------------------------------------------------------- */

static const struct {
    uint8_t code;
    const char *name, *text;
} removed[] = {
    {8, "stable",
     "ERR kind stable was removed, so its filters cannot be used any more; use window instead"},
    {20, "blocked-counting",
     "ERR kind blocked-counting was removed, so its filters cannot be used any more; use layered "
     "instead"},
};
enum { REMOVED = sizeof removed / sizeof *removed };

const char *bm_removed_text(uint8_t code) {
    for (size_t i = 0; i < REMOVED; i++)
        if (removed[i].code == code)
            return removed[i].text;
    return NULL;
}

const char *bm_removed_name_text(const char *name) {
    for (size_t i = 0; i < REMOVED; i++)
        if (strcmp(removed[i].name, name) == 0)
            return removed[i].text;
    return NULL;
}

/* An overlay is a header and then its base, a container of its own (docs/format.md). */
uint8_t bm_removed_kind(const void *file, size_t size) {
    enum { KIND_AT = 5 };
    const uint8_t *bytes = file;
    size_t at = KIND_AT;
    if (size > at && bytes[at] == BLY_OVERLAY)
        at += BLY_FILE_HEADER;
    return size > at && bm_removed_text(bytes[at]) ? bytes[at] : 0;
}

const char *bm_lost_text(const bm_value *value) {
    const char *text = bm_removed_text(value->traits.removed_kind);
    return text ? text : BM_LOST;
}

/* ---- marks ----------------------------------------------------------------------------------- */

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
