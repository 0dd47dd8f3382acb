/* plan_fuse.h - the shape of a binary fuse filter: what its geometry says. Internal.
 *
 * There is a power of two of shards. Each has `slots` slots in segments of 2^segment_log. A key's
 * first slot is in any segment but the last two, the others in the two segments that follow. The
 * body is a heading, the seed of every shard in 8 bytes, filled up to 64; then the shards' slots,
 * each shard's filled up to 64 bytes with at least 8 to spare, so that 8 bytes can be loaded
 * wherever a slot begins and no two shards share a word.
 *
 * A small filter (detail 0) has one shard of three segments of any length, and a key has a slot in
 * each. The body is the slots, filled up to 64 bytes; its last byte is the number of the seed.
 */
#ifndef BLYI_KINDS_FUSE_FUSE_PLAN_H
#define BLYI_KINDS_FUSE_FUSE_PLAN_H

#include "filter/kind.h"
#include <bloomery/plan.h>

enum {
    BLYI_FUSE_MAX_BITS = 28, /* of a fingerprint */
    BLYI_FUSE_MIN_LOG = 2,
    BLYI_FUSE_MAX_LOG = 14,
    BLYI_FUSE_MAX_SHARDS = 2048,
    BLYI_FUSE_SHARD_KEYS = 1 << 19, /* about; see fuse.c */
    BLYI_FUSE_MAX_SMALL = 3 << 14,  /* slots of a small filter */
    BLYI_FUSE_SMALL_SEEDS = 1 << 8, /* that it can name */
};

static inline bool blyi_fuse_is_small(const bly_geometry *g) {
    return g->detail == 0;
}

static inline unsigned blyi_fuse_shards(const bly_geometry *g) {
    return g->detail / 32 + 1;
}

/* There are 2^this shards. */
static inline unsigned blyi_fuse_shard_log(const bly_geometry *g) {
    return (unsigned)__builtin_ctz(blyi_fuse_shards(g));
}

/* 0: a small filter. */
static inline unsigned blyi_fuse_segment_log(const bly_geometry *g) {
    return g->detail % 32;
}

/* Of one shard. */
static inline uint64_t blyi_fuse_slots(const bly_geometry *g) {
    return g->size >> blyi_fuse_shard_log(g);
}

/* Of a segment. */
static inline uint64_t blyi_fuse_segment(const bly_geometry *g) {
    return blyi_fuse_is_small(g) ? g->size / 3 : (uint64_t)1 << blyi_fuse_segment_log(g);
}

/* A slot of r bits is within so many bytes, from the one where it begins: 2, 4 or 8. */
static inline unsigned blyi_fuse_load_bytes(unsigned r) {
    return r <= 9 ? 2 : r <= 25 ? 4 : 8;
}

/* Bits that must follow the slots of a small filter: for the seed, and for loading the last slot.
 */
static inline unsigned blyi_fuse_small_tail(unsigned r) {
    unsigned tail = 8 * blyi_fuse_load_bytes(r) - r;
    return tail < 8 ? 8 : tail;
}

static inline uint64_t blyi_fuse_heading_bytes(const bly_geometry *g) {
    return blyi_fuse_is_small(g) ? 0 : ((uint64_t)blyi_fuse_shards(g) * 8 + 63) / 64 * 64;
}

static inline uint64_t blyi_fuse_shard_bytes(const bly_geometry *g) {
    unsigned spare = blyi_fuse_is_small(g) ? blyi_fuse_small_tail(g->hashes) : 64;
    return (blyi_fuse_slots(g) * g->hashes + spare + 511) / 512 * 64;
}

/* The geometry for shards of at most `most` keys (1 or more); `again` says how often a smaller one
 * was tried in vain. BLY_ERATE below 2^-28, BLY_ETOOBIG. */
bly_status blyi_fuse_plan(uint64_t most, unsigned shards, double fpr, unsigned again,
                          bly_geometry *out);

extern const blyi_planner blyi_fuse_planner;

#endif
