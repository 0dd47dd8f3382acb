/* bitmap_commands.h - commands for one shard beyond those of <bloomery/redis/bitmap.h>: they
 * transfer a whole filter. Internal. */
#ifndef BLYI_REDIS_BITMAP_COMMANDS_H
#define BLYI_REDIS_BITMAP_COMMANDS_H

#include <bloomery/redis/bitmap.h>
#include <string.h>

/* A text as an argument of a command. */
static inline bly_bytes blyi_arg(const char *text) {
    return (bly_bytes){text, strlen(text)};
}

/* As bly_bitmap_drop of the first shard, but only if the filter is not complete. A client whose
 * command has deleted it may delete the other shards: no client has used them, or ever can. */
bly_status blyi_bitmap_drop_unfinished(const bly_bitmap *b, bly_bytes name,
                                       bly_bitmap_command **out);

/* ---- a whole filter ----------------------------------------------------------------------------
 *
 * A shard is written under a staging key, and renamed when all shards are there. The shard that it
 * replaces is parked under another key until all have been renamed. shard_keys.h has both keys.
 *
 * Statuses as for the commands in <bloomery/redis/bitmap.h>, and BLY_EINVAL for bytes outside the
 * shard. */

/* Creates the staged shard, all zero, and replaces anything else under that key. It expires an hour
 * after the last command that stages or writes it. The reply is 1; if the shard is staged already,
 * its bytes do not change. */
bly_status blyi_bitmap_stage(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                             bly_bitmap_command **out);
/* Writes bytes of the staged shard's blocks, from `at` on (0: the first byte of the first block).
 * The data is copied. */
bly_status blyi_bitmap_write(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint64_t at,
                             bly_bytes data, bly_bitmap_command **out);
/* How a staged shard is committed. */
typedef struct blyi_commit {
    uint64_t count;        /* the number of keys to record in it */
    uint64_t expire_at;    /* 0: never */
    bool replace;          /* replace whatever has the key */
    const bly_bitmap *old; /* the filter that is replaced; NULL: none, or not one of ours */
} blyi_commit;
/* Renames the staged shard to its own key, and marks it complete. The reply is 1, also to a
 * repeated commit. Without `replace`, if another shard has the key, the reply is an error that
 * bly_bitmap_refusal reads as BLY_EEXISTS. The string that a shard other than the first replaces is
 * parked, for an hour if it has no expiry. */
bly_status blyi_bitmap_commit(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                              const blyi_commit *how, bly_bitmap_command **out);
/* Undoes a commit: deletes the committed shard, and renames the parked string back. `lasting`: the
 * parked string had no expiry. The reply is 1, or 0 if the committed shard was not there. */
bly_status blyi_bitmap_rollback(const bly_bitmap *b, bly_bytes name, uint32_t shard, bool lasting,
                                bly_bitmap_command **out);
/* Deletes the parked string of the shard. The reply is 1 if there was one. */
bly_status blyi_bitmap_drop_parked(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                   bly_bitmap_command **out);
/* Deletes a staged shard, if it belongs to this filter. The reply is 1 if it did. */
bly_status blyi_bitmap_drop_staged(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                   bly_bitmap_command **out);
/* Reads bytes of a shard's blocks. Errors as for an add. */
bly_status blyi_bitmap_read(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint64_t at,
                            size_t bytes, bly_bitmap_command **out);
/* Asks for facts about a shard. The reply is the text "COUNT PTTL STRLEN" in decimal digits (count
 * 0 for go-zero). */
bly_status blyi_bitmap_facts(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                             bly_bitmap_command **out);
/* Counts the set bits of a go-zero filter. The reply is their number; 0 if the filter is
 * missing. */
bly_status blyi_bitmap_set_bits(const bly_bitmap *b, bly_bytes name, bly_bitmap_command **out);

#endif
