/* bitmap_layout.h - the strings of a filter on a server: their head, and how blocks are divided
 * among them. Internal. */
#ifndef BLYI_REDIS_BITMAP_LAYOUT_H
#define BLYI_REDIS_BITMAP_LAYOUT_H

#include <bloomery/redis/bitmap.h>

/* docs/format.md, section 22. The first BLYI_BITMAP_IDENTITY bytes never change while a string
 * exists. */
enum { BLYI_BITMAP_IDENTITY = 96, BLYI_BITMAP_COUNT_AT = 96, BLYI_BITMAP_STATE_AT = 104 };

/* Writes the head of a shard without keys. */
void blyi_bitmap_head_encode(const bly_bitmap *b, uint32_t shard, bool complete,
                             uint8_t out[BLY_BITMAP_HEAD]);

/* As bly_bitmap_head_parse, but accepts a keyed filter without its hasher, or with another one: the
 * hasher in `out` then has the id, the bits and the seed, and no functions. */
bly_status blyi_bitmap_head_read_keyless(const bly_redis_value *value, const bly_hasher *hasher,
                                         bly_bitmap_head *out, bly_redis_reason *why);
/* The same for bly_bitmap_create_parse. */
bly_status blyi_bitmap_created_keyless(const bly_redis_value *value, bool *made,
                                       bly_bitmap_head *out, bly_redis_reason *why);

/* Copies the spec of a caller. BLY_EINVAL: its struct_size is not valid. `why` may be NULL. */
bly_status blyi_bitmap_spec_read(const bly_bitmap_spec *spec, bly_bitmap_spec *out,
                                 bly_redis_reason *why);

/* As bly_bitmap_plan and bly_bitmap_from_filter, with the reason of a failure; `why` may be NULL.
 */
bly_status blyi_bitmap_plan(const bly_bitmap_spec *spec, bly_bitmap *out, bly_redis_reason *why);
bly_status blyi_bitmap_of(const bly_filter *f, const bly_bitmap_spec *spec, bly_bitmap *out,
                          bly_redis_reason *why);
/* Gives the filter a new random stamp. BLY_EIO: the system provides no random numbers. */
bly_status blyi_bitmap_stamp(bly_bitmap *b);

/* For a native filter: the size of a block, 32 or 64 bytes; the number of blocks in every shard but
 * the last. */
unsigned blyi_bitmap_block_bytes(const bly_bitmap *b);
uint64_t blyi_bitmap_stride(const bly_bitmap *b);

#endif
