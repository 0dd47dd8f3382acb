/* bitmap_commands.h - commands for one shard in addition to those of <bloomery/redis/bitmap.h>,
 * mostly for the transfer of a whole filter. Internal. */
#ifndef BLYI_REDIS_BITMAP_COMMANDS_H
#define BLYI_REDIS_BITMAP_COMMANDS_H

#include <bloomery/redis/bitmap.h>
#include <string.h>

/* Returns a text as an argument of a command. */
static inline bly_bytes blyi_arg(const char *text) {
    return (bly_bytes){text, strlen(text)};
}

/* As bly_bitmap_drop for the first shard, but deletes it only if the filter is not complete. If it
 * was deleted, the client may delete the other shards: no client has ever used them, and none can
 * any more. */
bly_status blyi_bitmap_drop_unfinished(const bly_bitmap *b, bly_bytes name,
                                       bly_bitmap_command **out);

/* ---- a whole filter ----------------------------------------------------------------------------
 *
 * A shard is staged: it is written under a staging key, and renamed to its final key when all
 * shards are there. The string that it replaces is parked, which means that it is kept under a
 * parking key until all shards have been renamed. See shard_keys.h for both keys.
 *
 * The statuses are those of the commands in <bloomery/redis/bitmap.h>, and BLY_EINVAL for bytes
 * outside the shard. */

/* Stages an empty shard, and replaces any other string under the staging key. If this shard is
 * staged already, its bytes do not change. It expires an hour after the last command that stages or
 * writes it. The reply is 1. */
bly_status blyi_bitmap_stage(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                             bly_bitmap_command **out);
/* Writes `data` into the blocks of the staged shard, from position `at` on (0: the first byte of
 * the first block). The data is copied into the command. */
bly_status blyi_bitmap_write(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint64_t at,
                             bly_bytes data, bly_bitmap_command **out);
/* How a staged shard is committed. */
typedef struct blyi_commit {
    uint64_t count;        /* the number of keys to record in the shard */
    uint64_t expire_at;    /* 0: never */
    bool replace;          /* true: replace any value that the shard's key has */
    const bly_bitmap *old; /* the filter that is replaced; NULL: no filter of this library */
} blyi_commit;
/* Renames the staged shard to its final key, and marks it complete. The reply is 1, also if the
 * shard was committed before. If `replace` is false and the key exists, the reply is an error that
 * bly_bitmap_refusal reads as BLY_EEXISTS. The string that is replaced is parked, except for the
 * first shard; if it has no expiry, it gets one of an hour. */
bly_status blyi_bitmap_commit(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                              const blyi_commit *how, bly_bitmap_command **out);
/* Undoes a commit: deletes the committed shard, and renames the parked string back. `lasting` says
 * that this string had no expiry before it was parked, so that its expiry is removed. The reply is
 * 1, or 0 if the committed shard was not there. */
bly_status blyi_bitmap_rollback(const bly_bitmap *b, bly_bytes name, uint32_t shard, bool lasting,
                                bly_bitmap_command **out);
/* Deletes the parked string of the shard. The reply is 1 if there was one, else 0. */
bly_status blyi_bitmap_drop_parked(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                   bly_bitmap_command **out);
/* Deletes a staged shard, if it belongs to this filter. The reply is 1 if it was deleted, else
 * 0. */
bly_status blyi_bitmap_drop_staged(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                   bly_bitmap_command **out);
/* Reads `bytes` bytes of a shard's blocks, from position `at` on. The error replies are those of an
 * add. */
bly_status blyi_bitmap_read(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint64_t at,
                            size_t bytes, bly_bitmap_command **out);
/* Reads facts about a shard. The reply is the text "COUNT PTTL STRLEN" in decimal digits: the
 * number of keys (0 for go-zero), the time until it expires in ms, the length of the string. */
bly_status blyi_bitmap_facts(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                             bly_bitmap_command **out);
/* Counts the set bits of a go-zero filter. The reply is their number; 0 if the filter is
 * missing. */
bly_status blyi_bitmap_set_bits(const bly_bitmap *b, bly_bytes name, bly_bitmap_command **out);

#endif
