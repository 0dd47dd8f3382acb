/* batch.h - the keys of a batch, between the file that sends them and the one that reads what comes
 * back. Internal. */
#ifndef BLYI_REDIS_BATCH_H
#define BLYI_REDIS_BATCH_H

#include "redis/bitmap/bitmap_layout.h"

enum { BLYI_BATCH_ARGS = 7 }; /* EVALSHA, digest, 1, key, identity, packed, bytes of a block */

typedef struct blyi_batch_command {
    bly_bitmap_command command;
    bly_bytes args[BLYI_BATCH_ARGS];
    size_t first, count; /* of the keys as they are sorted */
} blyi_batch_command;

struct bly_bitmap_batch {
    bly_bitmap_form form;
    bly_bitmap_what what;
    bly_geometry geometry;
    size_t n, commands;
    blyi_batch_command *command;
    size_t *order;  /* order[i]: which of the caller's keys is the i-th as they are sorted */
    uint64_t *bits; /* native: of the caller's keys, what chooses the bits in the block */
};

/* bly_bitmap_batch_open; `tags` (may be NULL) has a number for each shard, as
 * blyi_bitmap_key_again keeps them. */
bly_status blyi_batch_open(const bly_bitmap *b, bly_bytes name, uint32_t *tags,
                           bly_bitmap_what what, const bly_bytes *keys, size_t n, size_t most,
                           bly_bitmap_batch **out);

/* The mask of a key as it lies in a block of a native filter, 32 or 64 bytes. Returns how many. */
size_t blyi_batch_mask(const bly_geometry *g, uint64_t bits, uint8_t out[64]);

#endif
