/* shards.h - collected hashes in order, each once, to be had shard by shard. Internal.
 *
 * The parts of collect.h are sorted one by one, and put back where they were. A number of shards
 * that is a power of two, up to that of the parts, then has every shard made of whole parts, in
 * order.
 */
#ifndef BLYI_FILTERS_SHARDS_H
#define BLYI_FILTERS_SHARDS_H

#include "collect.h"

typedef struct blyi_shards {
    blyi_collect *source;
    uint64_t parts;
    uint64_t distinct; /* hashes in all */
    uint64_t *count;   /* and in each part */
    void *count_block;
} blyi_shards;

/* Sorts what was collected, on that many threads at most and in about that many bytes (0: any).
 * Nothing can be added afterwards, and *s needs blyi_shards_end in any case. BLY_ENOMEM, BLY_EIO.
 */
bly_status blyi_shards_begin(blyi_shards *s, blyi_collect *source, unsigned workers,
                             uint64_t memory);
void blyi_shards_end(blyi_shards *s);

/* How many hashes are in a shard. `shards` is a power of two up to s->parts. */
uint64_t blyi_shard_count(const blyi_shards *s, unsigned shards, unsigned shard);

/* Copies them to `to`. May run for different shards at once. BLY_EIO. */
bly_status blyi_shard_read(const blyi_shards *s, unsigned shards, unsigned shard, bly_hash *to);

#endif
