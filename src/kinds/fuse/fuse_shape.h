/* fuse_shape.h - which slots a key has. Internal: fuse.c asks, fuse_solve.c solves. */
#ifndef BLYI_KINDS_FUSE_FUSE_SHAPE_H
#define BLYI_KINDS_FUSE_FUSE_SHAPE_H

#include "base/bits.h"
#include "hash/mix.h"
#include "kinds/builder/solver.h"
#include "kinds/fuse/fuse_plan.h"

#define BLYI_FUSE_INLINE static inline __attribute__((always_inline))

/* A filter's shape, worked out once for many keys. */
typedef struct blyi_fuse_shape {
    uint64_t heading, shard; /* their bits */
    uint64_t span;           /* S * L: slots that may be a key's first */
    uint64_t segment;        /* L */
    uint64_t mask;           /* of a fingerprint */
    uint64_t bits;           /* r */
    uint64_t shards;
    uint64_t seed; /* of a small filter that is asked */
} blyi_fuse_shape;

static inline blyi_fuse_shape blyi_fuse_shape_of(const bly_geometry *g) {
    uint64_t segment = blyi_fuse_segment(g);
    return (blyi_fuse_shape){
        .heading = 8 * blyi_fuse_heading_bytes(g),
        .shard = 8 * blyi_fuse_shard_bytes(g),
        .span = blyi_fuse_slots(g) - 2 * segment,
        .segment = segment,
        .mask = ((uint64_t)1 << g->hashes) - 1,
        .bits = g->hashes,
        .shards = blyi_fuse_shards(g),
    };
}

/* The seeds tried, and named by number. */
static inline uint64_t blyi_fuse_seed(unsigned number) {
    return blyi_fmix64(number * BLYI_GOLD);
}

/* x: see fuse.c. */
BLYI_FUSE_INLINE uint64_t blyi_fuse_mixed(bly_hash h, uint64_t seed) {
    uint64_t x = ((h.hi ^ seed) + h.lo) * BLYI_LCG;
    return x ^ x >> 32;
}

/* The first slot in its shard: blyi_shard_place, scaled. */
BLYI_FUSE_INLINE uint64_t blyi_fuse_first(bly_hash h, const blyi_fuse_shape *s) {
    return blyi_mulhi(h.lo * s->shards, s->span);
}

/* A key's slots. */
typedef struct blyi_fuse_trio {
    uint64_t a, b, c;
} blyi_fuse_trio;

BLYI_FUSE_INLINE blyi_fuse_trio blyi_fuse_trio_of(uint64_t first, uint64_t x, uint64_t segment) {
    return (blyi_fuse_trio){
        .a = first,
        .b = (first + segment) ^ (x >> 42 & (segment - 1)),
        .c = (first + 2 * segment) ^ (x >> 28 & (segment - 1)),
    };
}

/* The same of a small filter: 14 bits of x, scaled. */
BLYI_FUSE_INLINE blyi_fuse_trio blyi_fuse_small_trio(uint64_t first, uint64_t x, uint64_t segment) {
    return (blyi_fuse_trio){
        .a = first,
        .b = segment + ((x >> 42 & 0x3fff) * segment >> 14),
        .c = 2 * segment + ((x >> 28 & 0x3fff) * segment >> 14),
    };
}

extern const blyi_solver blyi_fuse_solver;

#endif
