/* plan_fuse.h - the shape of a binary fuse filter: what its geometry says. Internal.
 *
 * There is a power of two of shards. Each has `slots` slots in segments of 2^segment_log. A key's
 * first slot is in any segment but the last two, the others in the two segments that follow. The
 * body is a heading, the seed of every shard in 8 bytes, filled up to 64; then the shards' slots,
 * each shard's filled up to 64 bytes with at least 8 to spare, so that 8 bytes can be loaded
 * wherever a slot begins and no two shards share a word.
 */
#ifndef BLYI_CORE_PLAN_FUSE_H
#define BLYI_CORE_PLAN_FUSE_H

#include <bloomery/plan.h>

enum {
    BLYI_FUSE_MOST_BITS = 28, /* of a fingerprint */
    BLYI_FUSE_LEAST_LOG = 2,
    BLYI_FUSE_MOST_LOG = 14,
    BLYI_FUSE_MOST_SHARDS = 2048,
    BLYI_FUSE_SHARD_KEYS = 1 << 20, /* about; see fuse.c */
};

static inline unsigned blyi_fuse_shards(const bly_geometry *g) {
    return g->detail / 32 + 1;
}

/* There are 2^this shards. */
static inline unsigned blyi_fuse_shard_log(const bly_geometry *g) {
    return (unsigned)__builtin_ctz(blyi_fuse_shards(g));
}

static inline unsigned blyi_fuse_segment_log(const bly_geometry *g) {
    return g->detail % 32;
}

/* Of one shard. */
static inline uint64_t blyi_fuse_slots(const bly_geometry *g) {
    return g->size >> blyi_fuse_shard_log(g);
}

static inline uint64_t blyi_fuse_heading_bytes(unsigned shards) {
    return ((uint64_t)shards * 8 + 63) / 64 * 64;
}

static inline uint64_t blyi_fuse_shard_bytes(const bly_geometry *g) {
    return (blyi_fuse_slots(g) * g->hashes + 64 + 511) / 512 * 64;
}

/* The geometry for shards of at most `most` keys (1 or more); `again` says how often a smaller one
 * was tried in vain. BLY_ERATE below 2^-28, BLY_ETOOBIG. */
bly_status blyi_fuse_plan(uint64_t most, unsigned shards, double fpr, unsigned again,
                          bly_geometry *out);

#endif
