/* bitmap_batch.h - a batch of keys, shared by the file that packs commands and the one that reads
 * replies. Internal. */
#ifndef BLYI_REDIS_BITMAP_BATCH_H
#define BLYI_REDIS_BITMAP_BATCH_H

#include "redis/bitmap/bitmap_layout.h"

enum { BLYI_BATCH_ARGS = 7 }; /* EVALSHA, digest, 1, key, identity, packed keys, bytes per block */

typedef struct blyi_batch_command {
    bly_bitmap_command command;
    bly_bytes args[BLYI_BATCH_ARGS];
    size_t first, count; /* the command's keys, in sorted order */
} blyi_batch_command;

struct bly_bitmap_batch {
    bly_bitmap_form form;
    bly_bitmap_op what;
    bly_geometry geometry;
    size_t n, commands;
    blyi_batch_command *command;
    size_t *order;  /* order[i]: index of the i-th sorted key among the caller's keys */
    uint64_t *bits; /* native form: hash bits that select bits in a block, in caller order */
};

/* As bly_bitmap_batch_open. `tags` is NULL, or has a number for each shard, which
 * blyi_bitmap_key_cached reads and stores. */
bly_status blyi_bitmap_batch_open(const bly_bitmap *b, bly_bytes name, uint32_t *tags,
                                  bly_bitmap_op what, const bly_bytes *keys, size_t n,
                                  size_t max_keys, bly_bitmap_batch **out);

/* Writes the mask of a key in a block of a native filter. Returns its size, 32 or 64 bytes. */
size_t blyi_bitmap_batch_mask(const bly_geometry *g, uint64_t bits, uint8_t out[64]);

#endif
