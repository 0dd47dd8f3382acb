/* tombstone.h - tombstones: values that mark keys whose filters could not be replicated or loaded.
 * The server knows that such a filter exists, but not its contents.
 *
 * A replica, or a server that reads its AOF, cannot refuse a write, because the write has already
 * been confirmed to a client. But it may be unable to apply the write, because it does not have the
 * filter's secret key or enough memory. If it skipped the write, lookups of its keys would answer
 * "no" from then on. If it deleted the filter, the next add would create an empty one. So the key
 * gets a tombstone: a bloomery1 value with the trait `tombstone` and without a filter. For a
 * tombstone, BLY.CHECK replies null; BF.EXISTS and CF.EXISTS reply that the item may be contained;
 * later writes of the master are skipped; and writes of clients are refused with the reason.
 * Tombstones are saved, copied and replicated like filters.
 *
 * A tombstone ends when the key is deleted, or replaced by a whole filter: from the master in a
 * full synchronization, by RESTORE ... REPLACE, or by BLY.LOAD ... REPLACE.
 */
#ifndef BLOOMERY_MODULE_TOMBSTONE_H
#define BLOOMERY_MODULE_TOMBSTONE_H

#include "types/value.h"

#define BM_TOMBSTONE_ERROR                                                                         \
    "ERR the filter is lost: a replayed write to it failed on this server (see its log). Fix the " \
    "cause (bf.key-file, memory) and resynchronize with the master, or load the filter with "      \
    "BLY.LOAD ... REPLACE, or DEL the key"

/* Returns the code of a removed kind, if the file that begins with these bytes has one, or is an
 * overlay whose base has one; else 0. */
uint8_t bm_removed_kind(const void *file, size_t size);
/* Returns the error text for the code of a removed kind, which names the replacement; NULL for any
 * other code. The text is valid until the next call. */
const char *bm_removed_text(uint8_t code);
/* Returns the same text for the name of a removed kind. */
const char *bm_removed_name_text(const char *name);

/* Returns the error text for a command that needs a filter and finds this tombstone. */
const char *bm_tombstone_error(const bm_value *value);

static inline bool bm_is_tombstone(const bm_value *value) {
    return value->traits.tombstone;
}

/* To be called if a command cannot write to the key, which must be open for writing. `why` is the
 * reason, as the text of an error.
 *
 * If the command is replayed, makes the key a tombstone, logs the reason (unless the key was a
 * tombstone before), sends a reply, and returns true; key->value may have changed. The reply is not
 * an error, because no client waits for it, and because the engine counts errors of replayed
 * commands as failures of the server. If the command came from a client, or the key has another
 * type, returns false: the caller must reply with an error. */
bool bm_tombstone_if_replayed(rm_ctx *ctx, bm_key *key, const char *why);
/* Does the same as bm_tombstone_if_replayed, but sends no reply. */
bool bm_tombstone_without_reply(rm_ctx *ctx, bm_key *key, const char *why);

/* Makes the key a tombstone, without logging or replying. Returns false if there is no memory. */
bool bm_tombstone_set(rm_ctx *ctx, bm_key *key);

#endif
