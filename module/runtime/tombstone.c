/* tombstone.c - replaces a filter by a tombstone if a replayed write could not be applied to it. */
#include "runtime/tombstone.h"

#include "runtime/server_state.h"

#include <bloomery/host/chunks.h>
#include <bloomery/host/describe.h>
#include <stdio.h>
#include <string.h>

/* ---- removed kinds --------------------------------------------------------------------------- */

/* Returns the error text for a removed kind; NULL if `kind` is NULL. The text is static, and the
 * next call overwrites it. */
static const char *removed_error(const bly_removed_kind *kind) {
    static char text[160];
    if (!kind)
        return NULL;
    (void)snprintf(text, sizeof text,
                   "ERR kind %s was removed, so its filters cannot be used any more; use %s "
                   "instead",
                   kind->name, kind->replacement);
    return text;
}

const char *bm_removed_text(uint8_t code) {
    return removed_error(bly_kind_removed(code));
}

const char *bm_removed_name_text(const char *name) {
    return removed_error(bly_kind_removed_by_name(name));
}

/* The file of an overlay has its own header, and then the header of its base (docs/format.md). */
uint8_t bm_removed_kind(const void *file, size_t size) {
    enum { KIND_AT = 5 };
    const uint8_t *bytes = file;
    size_t at = KIND_AT;
    if (size > at && bytes[at] == BLY_OVERLAY)
        at += BLY_FILE_HEADER;
    return size > at && bly_kind_removed(bytes[at]) ? bytes[at] : 0;
}

const char *bm_tombstone_error(const bm_value *value) {
    const char *text = bm_removed_text(value->traits.removed_kind);
    return text ? text : BM_TOMBSTONE_ERROR;
}

/* ---- tombstones ------------------------------------------------------------------------------ */

bool bm_tombstone_set(rm_ctx *ctx, bm_key *key) {
    bm_value *value = bm_value_new(BM_FILTER);
    if (!value)
        return false;
    value->traits.tombstone = true;
    bm_key_set(key, value);
    bm_key_changed(ctx, key, "bly.lost");
    return true;
}

/* Writes the tombstone to the AOF of this server, as a BLY.LOAD. (Replicas of a replica receive the
 * writes of the master, so each of them creates tombstones itself.) */
static void replicate_tombstone(rm_ctx *ctx, const bm_key *key) {
    uint8_t meta[BM_TRAITS_BYTES];
    bm_traits_encode(&key->value->traits, meta);
    rm.Replicate(ctx, "BLY.LOAD", "scccccb", key->name, "0", "0", "", "REPLACE", "META", meta,
                 sizeof meta);
}

bool bm_tombstone_without_reply(rm_ctx *ctx, bm_key *key, const char *why) {
    if (key->type == BM_FOREIGN || !bm_is_replayed(ctx))
        return false;
    if (key->value && bm_is_tombstone(key->value) && !key->value->staged_file)
        return true;
    size_t size;
    const char *name = rm.StringPtrLen(key->name, &size);
    rm.Log(ctx, "warning",
           "the filter '%.*s' is lost on this server, because a replayed write to it failed: %s. "
           "BLY.CHECK returns nil until the filter is loaded again or deleted",
           size < 64 ? (int)size : 64, name, strncmp(why, "ERR ", 4) == 0 ? why + 4 : why);
    if (bm_tombstone_set(ctx, key))
        replicate_tombstone(ctx, key);
    else
        rm.Log(ctx, "warning", "no memory to mark the filter as lost; do not use it");
    return true;
}

bool bm_tombstone_if_replayed(rm_ctx *ctx, bm_key *key, const char *why) {
    if (!bm_tombstone_without_reply(ctx, key, why))
        return false;
    rm.ReplyWithNull(ctx);
    return true;
}
