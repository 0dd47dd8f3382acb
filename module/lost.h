/* lost.h - filters that are lost: of which a server knows that there is one, and not what is in it.
 *
 * A replica, or a server that reads its AOF, cannot refuse a write: it has been made and answered.
 * But it may be unable to follow, for want of the filter's secret key or of memory. A filter that
 * lacks one key would deny it from then on; a filter that is not there would be made anew, empty,
 * by the next add. So the key keeps a mark in the filter's place: a bloomery1 value with the trait
 * `lost` and no filter. BLY.CHECK says of it that nobody knows, BF.EXISTS and CF.EXISTS that it may
 * be in it, later writes of the master are passed over, and writes of clients are refused with the
 * reason. The mark is saved, copied and sent as filters are.
 *
 * It goes when the key is deleted, or when a whole filter comes in its place: from the master in a
 * full synchronization, by RESTORE ... REPLACE, or by BLY.LOAD ... REPLACE.
 */
#ifndef BLOOMERY_MODULE_LOST_H
#define BLOOMERY_MODULE_LOST_H

#include "value.h"

#define BM_LOST                                                                                    \
    "ERR the filter is lost: this server could not follow a write to it (the log says why). Give " \
    "it what it lacked (key-file, or memory) and let it load from its master again, or send the "  \
    "filter with BLY.LOAD ... REPLACE, or DEL the key"

/* The code of the removed kind that the container which begins with these bytes is of, or lies
 * over; 0: none. Versions before 0.2 of this module wrote the codes 8 (stable) and 20
 * (blocked-counting).
 */
uint8_t bm_removed_kind(const void *file, size_t size);
/* The error that names the replacement; NULL for another code. */
const char *bm_removed_text(uint8_t code);
/* The same, for a name of a kind. */
const char *bm_removed_name_text(const char *name);

/* The error of a command that needs the filter of a value that is lost. */
const char *bm_lost_text(const bm_value *value);

static inline bool bm_is_lost(const bm_value *value) {
    return value->traits.lost;
}

/* For a command that cannot do its write to the key, which is open for writing. False: it came from
 * a client, who is to get his error, or the key is of another type. True: it is replayed. The key's
 * filter is lost from now on, if it was not before; that is marked, and logged with the reason, an
 * error's text; and a reply was made that is no error: nobody waits for one, and the engine holds
 * errors of what is replayed against the server. key->value may have changed. */
bool bm_lose(rm_ctx *ctx, bm_key *key, const char *why);
/* The same, but for the reply. */
bool bm_lose_quietly(rm_ctx *ctx, bm_key *key, const char *why);

/* The mark itself, without a word: false when there is no memory for it. */
bool bm_lost_mark(rm_ctx *ctx, bm_key *key);

#endif
