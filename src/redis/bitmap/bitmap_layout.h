/* bitmap.h - what the files that make a filter's commands share, and what only moving a whole
 * filter needs. Internal. */
#ifndef BLYI_REDIS_BITMAP_H
#define BLYI_REDIS_BITMAP_H

#include <bloomery/redis_bitmap.h>
#include <string.h>

/* A text as an argument. */
static inline bly_bytes blyi_word(const char *text) {
    return (bly_bytes){text, strlen(text)};
}

/* docs/format.md, section 22: the first IDENTITY bytes never change while a string lives. */
enum { BLYI_BITMAP_IDENTITY = 96, BLYI_BITMAP_COUNT_AT = 96, BLYI_BITMAP_STATE_AT = 104 };

/* The head of a shard: no keys yet. */
void blyi_bitmap_head_encode(const bly_bitmap *b, uint32_t shard, bool complete,
                             uint8_t out[BLY_BITMAP_HEAD]);

/* As bly_bitmap_head_read, but a keyed filter is taken without its hasher, or with another one,
 * too: the hasher then has the id, the bits and the seed, and no functions. */
bly_status blyi_bitmap_head_peek(const bly_redis_value *value, const bly_hasher *hasher,
                                 bly_bitmap_head *out, bly_redis_reason *why);
/* The same of bly_bitmap_created. */
bly_status blyi_bitmap_created_peek(const bly_redis_value *value, bool *made, bly_bitmap_head *out,
                                    bly_redis_reason *why);

/* bly_bitmap_plan and bly_bitmap_of, with what is wrong in words; `why` may be NULL. */
bly_status blyi_bitmap_plan(const bly_bitmap_spec *spec, bly_bitmap *out, bly_redis_reason *why);
bly_status blyi_bitmap_of(const bly_filter *f, const bly_bitmap_spec *spec, bly_bitmap *out,
                          bly_redis_reason *why);
/* Another stamp. BLY_EIO: there are no random numbers. */
bly_status blyi_bitmap_stamp(bly_bitmap *b);

/* Of a native filter: bytes of a block, 32 or 64; blocks of every shard but the last ones. */
unsigned blyi_bitmap_block_bytes(const bly_bitmap *b);
uint64_t blyi_bitmap_stride(const bly_bitmap *b);

/* A script of ours, and its SHA-1 in hexadecimal digits. */
typedef struct blyi_script {
    const char *text;
    char digest[41];
} blyi_script;

/* As bly_bitmap_drop of the first shard, but only if the filter is not complete. Who has deleted it
 * so may delete the others: nobody can have used them, nor can ever. */
bly_status blyi_bitmap_drop_unfinished(const bly_bitmap *b, bly_bytes name,
                                       bly_bitmap_command **out);

/* ---- a whole filter on its way ----------------------------------------------------------------
 */

/* Statuses as of the commands in redis_bitmap.h; BLY_EINVAL besides for bytes that a shard does not
 * have. */

/* The key under which a shard arrives, and the one where what it replaces waits until all have
 * landed: in the slot of the shard's own. As bly_bitmap_key. */
size_t blyi_bitmap_arrival_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out,
                               size_t room);
size_t blyi_bitmap_parking_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out,
                               size_t room);
/* Makes it, all zero, instead of what is there, to vanish by itself within the hour. Answers 1, and
 * does nothing, if it is there already. */
bly_status blyi_bitmap_arrive(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                              bly_bitmap_command **out);
/* Bytes of its blocks, from `at` on (0: the first block's first). The data is copied. */
bly_status blyi_bitmap_piece(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint64_t at,
                             bly_bytes data, bly_bitmap_command **out);
/* How a shard lands. */
typedef struct blyi_landing {
    uint64_t count;        /* keys that it is said to have */
    uint64_t expire_at;    /* 0: never */
    bool replace;          /* whatever is there */
    const bly_bitmap *old; /* the filter that is replaced; NULL: none, or none of ours */
} blyi_landing;
/* It becomes the shard, complete. Answers 1; without `replace`, an error that bly_bitmap_refusal
 * takes for BLY_EEXISTS when the shard is there and is another's. Doing it again answers 1 again.
 * What shards other than the first replace is parked, for an hour if it has no expiry. */
bly_status blyi_bitmap_land(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                            const blyi_landing *how, bly_bitmap_command **out);
/* The shard has landed in vain: it is deleted, if it is there, and what it replaced comes back, as
 * far as that is still parked. `lasting`: that had no expiry. The answer is 1, or 0 if the shard
 * was not there. */
bly_status blyi_bitmap_return(const bly_bitmap *b, bly_bytes name, uint32_t shard, bool lasting,
                              bly_bitmap_command **out);
/* What was parked for the shard is deleted. The answer is 1 if there was anything. */
bly_status blyi_bitmap_forget(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                              bly_bitmap_command **out);
/* What has arrived of a shard is deleted, if it is of this filter. The answer is 1 if it was. */
bly_status blyi_bitmap_abandon(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                               bly_bitmap_command **out);
/* `bytes` bytes of a shard's blocks, or an error as of an add. */
bly_status blyi_bitmap_read(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint64_t at,
                            size_t bytes, bly_bitmap_command **out);
/* What a shard is worth: the answer is text, "COUNT PTTL STRLEN" in decimal digits (count 0 of
 * go-zero's). */
bly_status blyi_bitmap_facts(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                             bly_bitmap_command **out);
/* Of go-zero's: the answer is how many bits are set; 0 where it is missing. */
bly_status blyi_bitmap_set_bits(const bly_bitmap *b, bly_bytes name, bly_bitmap_command **out);

#endif
