/* shard_keys.h - slots of a cluster, and the names of the keys of shards. Internal. */
#ifndef BLYI_REDIS_BITMAP_SHARD_KEYS_H
#define BLYI_REDIS_BITMAP_SHARD_KEYS_H

#include <bloomery/redis/bitmap.h>

enum {
    BLYI_CLUSTER_SLOTS = 16384,
    BLYI_MAX_KEY_NAME = 1 << 16, /* bytes; a name is hashed and copied for every command */
    BLYI_KEY_ROOM = 48,          /* bytes that the key of a shard adds to the name, with a NUL */
};

bool blyi_key_name_fits(bly_bytes name);

/* As bly_bitmap_key, with a cache: *tag is 0 before the first call, which searches for the key and
 * stores a number that makes later calls fast. NULL: searches every time. */
size_t blyi_bitmap_key_cached(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint32_t *tag,
                              char *out, size_t room);

/* The key under which a shard is staged while a filter is sent, and the key under which the shard
 * that it replaces is parked. Both are in the slot of the shard's own key. As bly_bitmap_key. */
size_t blyi_bitmap_staging_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out,
                               size_t room);
size_t blyi_bitmap_parking_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out,
                               size_t room);

#endif
