/* bitmap_layout.h - the strings of a filter on a server: their head, and how blocks are divided
 * among them. Internal. */
#ifndef BLYI_REDIS_BITMAP_LAYOUT_H
#define BLYI_REDIS_BITMAP_LAYOUT_H

#include <bloomery/redis/bitmap.h>

/* Sizes and offsets in the head of a string (docs/format.md, section 22). The first
 * BLYI_BITMAP_IDENTITY bytes, its identity, never change while the string exists. */
enum { BLYI_BITMAP_IDENTITY = 96, BLYI_BITMAP_COUNT_AT = 96, BLYI_BITMAP_STATE_AT = 104 };

/* Writes the head of a shard that has no keys. */
void blyi_bitmap_head_encode(const bly_bitmap *b, uint32_t shard, bool complete,
                             uint8_t out[BLY_BITMAP_HEAD]);

/* As bly_bitmap_head_parse, but accepts a keyed filter if `hasher` is NULL or another one. Then the
 * hasher in *out has the id, the bits and the seed, but no functions. */
bly_status blyi_bitmap_head_read_keyless(const bly_redis_value *value, const bly_hasher *hasher,
                                         bly_bitmap_head *out, bly_redis_reason *why);
/* As bly_bitmap_create_parse, but accepts a keyed filter without its hasher. */
bly_status blyi_bitmap_created_keyless(const bly_redis_value *value, bool *made,
                                       bly_bitmap_head *out, bly_redis_reason *why);

/* Copies the spec of a caller. Returns BLY_OK, or BLY_EINVAL if its struct_size is not valid. `why`
 * may be NULL. */
bly_status blyi_bitmap_spec_read(const bly_bitmap_spec *spec, bly_bitmap_spec *out,
                                 bly_redis_reason *why);

/* As bly_bitmap_plan. Sets *why on failure; `why` may be NULL. */
bly_status blyi_bitmap_plan(const bly_bitmap_spec *spec, bly_bitmap *out, bly_redis_reason *why);
/* As bly_bitmap_from_filter. Sets *why on failure; `why` may be NULL. */
bly_status blyi_bitmap_of(const bly_filter *f, const bly_bitmap_spec *spec, bly_bitmap *out,
                          bly_redis_reason *why);
/* Gives the filter a new random stamp. Returns BLY_OK, or BLY_EIO if the system provides no random
 * numbers. */
bly_status blyi_bitmap_stamp(bly_bitmap *b);

/* Returns the size of a block of a native filter, 32 or 64 bytes. */
unsigned blyi_bitmap_block_bytes(const bly_bitmap *b);
/* Returns the number of blocks in every shard of a native filter except the last. */
uint64_t blyi_bitmap_stride(const bly_bitmap *b);

#endif
