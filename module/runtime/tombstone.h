/* tombstone.h - marks a key whose filter could not be replicated or loaded: the server knows that
 * there is a filter, but not its contents.
 *
 * A replica, or a server that reads its AOF, cannot refuse a write, because its reply has already
 * been sent. But it may be unable to apply the write, because it lacks the filter's secret key or
 * memory. A filter that misses one key would deny that key from then on. A filter that was dropped
 * would be created again, empty, by the next add. So the key gets a tombstone: a bloomery1 value
 * with the trait `tombstone` and no filter. BLY.CHECK replies null for it, BF.EXISTS and CF.EXISTS
 * that it may contain the item, later writes of the master are skipped, and writes of clients are
 * refused with the reason. Tombstones are saved, copied and replicated like filters.
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

/* The code of the removed kind of the file that begins with these bytes, or of the base of an
 * overlay; 0: its kind was not removed. */
uint8_t bm_removed_kind(const void *file, size_t size);
/* The error that names the replacement, valid until the next call; NULL for any other code. */
const char *bm_removed_text(uint8_t code);
/* The same for the name of a kind. */
const char *bm_removed_name_text(const char *name);

/* The error of a command that needs the filter of a tombstone. */
const char *bm_tombstone_error(const bm_value *value);

static inline bool bm_is_tombstone(const bm_value *value) {
    return value->traits.tombstone;
}

/* For a command that cannot make its write to the key, which is open for writing. False: the
 * command came from a client, to which the caller must reply with an error, or the key is of
 * another type. True: the command is replayed. The key is a tombstone now, and the reason (the text
 * of an error) was logged if it was none before. A reply was sent that is not an error: no client
 * waits for it, and the engine counts errors of replayed commands as failures of the server.
 * key->value may have changed. */
bool bm_tombstone_if_replayed(rm_ctx *ctx, bm_key *key, const char *why);
/* The same, without the reply. */
bool bm_tombstone_without_reply(rm_ctx *ctx, bm_key *key, const char *why);

/* Makes the key a tombstone, without log and reply. False: there is no memory for it. */
bool bm_tombstone_set(rm_ctx *ctx, bm_key *key);

#endif
