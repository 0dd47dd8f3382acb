/* shards.h - collected hashes, to be had shard by shard. Internal.
 *
 * A number of shards that is a power of two, up to that of the parts of collect.h, has every shard
 * made of whole parts, in order; within a part hashes are in any order at first, and may repeat.
 * For those who need them sorted, each once, the parts are sorted one by one, and put back where
 * they were.
 */
#ifndef BLYI_KINDS_BUILDER_SHARDS_H
#define BLYI_KINDS_BUILDER_SHARDS_H

#include "kinds/builder/collect.h"

typedef struct blyi_shards {
    blyi_collect *source;
    bool sorted;
    uint64_t parts;
    uint64_t total;  /* hashes in all: distinct ones, once they are sorted */
    uint64_t *count; /* and in each part */
    void *count_block;
} blyi_shards;

/* Nothing can be added to what was collected any more. *s needs blyi_shards_end in any case.
 * BLY_ENOMEM, BLY_EIO. */
bly_status blyi_shards_begin(blyi_shards *s, blyi_collect *source);
void blyi_shards_end(blyi_shards *s);

/* Sorts every part by (lo, hi) and drops repeats, on that many threads at most and in about that
 * many bytes (0: any). BLY_ENOMEM, BLY_EIO. */
bly_status blyi_shards_sort(blyi_shards *s, unsigned workers, uint64_t memory);

/* How many hashes are in a shard. `shards` is a power of two up to s->parts. */
uint64_t blyi_shard_count(const blyi_shards *s, unsigned shards, unsigned shard);

/* Copies them to `to`. May run for different shards at once. BLY_EIO. */
bly_status blyi_shard_read(const blyi_shards *s, unsigned shards, unsigned shard, bly_hash *to);

/* One shard, part by part. */
typedef struct blyi_feed {
    const blyi_shards *from;
    uint64_t first, parts; /* of the shard */
    uint64_t total;        /* hashes in the shard */
    bly_hash *room;        /* for the largest part */
} blyi_feed;

blyi_feed blyi_feed_of(const blyi_shards *s, unsigned shards, unsigned shard, bly_hash *room);

/* Copies the hashes of part i < parts to the room: *n of them. BLY_EIO. */
bly_status blyi_feed_part(const blyi_feed *feed, uint64_t i, size_t *n);

#endif
