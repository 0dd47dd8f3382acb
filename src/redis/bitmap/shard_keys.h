/* shard_keys.h - the slots of a cluster, and the keys of shards. Internal. */
#ifndef BLYI_REDIS_BITMAP_SHARD_KEYS_H
#define BLYI_REDIS_BITMAP_SHARD_KEYS_H

#include <bloomery/redis/bitmap.h>

enum {
    BLYI_CLUSTER_SLOTS = 16384,
    BLYI_MAX_KEY_NAME = 1 << 16, /* bytes; a name is hashed and copied for every command */
    BLYI_KEY_ROOM = 48, /* bytes that a shard's key needs beyond the name, including a NUL */
};

bool blyi_key_name_fits(bly_bytes name);

/* As bly_bitmap_key, with a cache. *tag must be 0 before the first call, which searches for the key
 * and stores a number in *tag that makes later calls fast. If `tag` is NULL, every call
 * searches. */
size_t blyi_bitmap_key_cached(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint32_t *tag,
                              char *out, size_t room);

/* As bly_bitmap_key, for two other keys in the slot of the shard's own key. Under the staging key a
 * shard is stored while a filter is sent. Under the parking key the shard that it replaces is kept
 * until the filter is complete. */
size_t blyi_bitmap_staging_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out,
                               size_t room);
size_t blyi_bitmap_parking_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out,
                               size_t room);

#endif
