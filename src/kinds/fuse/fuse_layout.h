/* fuse_layout.h - the layout of a binary fuse filter, and the functions that its files share.
 * Internal. fuse.c explains the idea.
 *
 * The number of shards is a power of two. Each shard has `slots` slots in segments of 2^segment_log
 * slots. A key's first slot is in any segment but the last two, its other slots are in the two
 * segments that follow. The body begins with a heading: the seed of every shard, 8 bytes each,
 * padded to a multiple of 64 bytes. The slots of each shard follow, padded to a multiple of 64
 * bytes by at least 8 bytes, so that 8 bytes can be loaded from any byte in which a slot begins,
 * and no two shards share a word.
 *
 * A small filter (detail 0) has one shard of three segments of any length, and a key has a slot in
 * each. The body consists of the slots, padded to a multiple of 64 bytes. Its last byte is the
 * number of the seed.
 */
#ifndef BLYI_KINDS_FUSE_LAYOUT_H
#define BLYI_KINDS_FUSE_LAYOUT_H

#include "base/bits.h"
#include "filter/kind.h"
#include "hash/mix.h"
#include "kinds/builder/builder.h"

#include <bloomery/plan.h>

#define BLYI_FUSE_INLINE static inline __attribute__((always_inline))

/* ---- geometry -------------------------------------------------------------------------------- */

enum {
    BLYI_FUSE_MAX_BITS = 28, /* the most bits of a fingerprint */
    BLYI_FUSE_MIN_SEGMENT_LOG = 2,
    BLYI_FUSE_MAX_SEGMENT_LOG = 14,
    BLYI_FUSE_MAX_SHARDS = 2048,
    BLYI_FUSE_SHARD_KEYS = 1 << 19,      /* preferred keys per shard */
    BLYI_FUSE_MAX_SMALL_SLOTS = 3 << 14, /* of a small filter */
};

static inline bool blyi_fuse_is_small(const bly_geometry *g) {
    return g->detail == 0;
}

static inline unsigned blyi_fuse_shards(const bly_geometry *g) {
    return g->detail / 32 + 1;
}

/* There are 2^shard_log shards. */
static inline unsigned blyi_fuse_shard_log(const bly_geometry *g) {
    return (unsigned)__builtin_ctz(blyi_fuse_shards(g));
}

/* log2 of the slots in a segment; 0 for a small filter. */
static inline unsigned blyi_fuse_segment_log(const bly_geometry *g) {
    return g->detail % 32;
}

/* The number of slots in a shard. */
static inline uint64_t blyi_fuse_shard_slots(const bly_geometry *g) {
    return g->size >> blyi_fuse_shard_log(g);
}

/* The number of slots in a segment. */
static inline uint64_t blyi_fuse_segment_slots(const bly_geometry *g) {
    return blyi_fuse_is_small(g) ? g->size / 3 : (uint64_t)1 << blyi_fuse_segment_log(g);
}

/* The number of bytes, 2, 4 or 8, that contain a slot of r bits, from the byte where it begins. */
static inline unsigned blyi_fuse_load_bytes(unsigned r) {
    return r <= 9 ? 2 : r <= 25 ? 4 : 8;
}

/* The number of bits that must follow the slots of a small filter, for the number of the seed and
 * for loading the last slot. */
static inline unsigned blyi_fuse_small_tail(unsigned r) {
    unsigned tail = 8 * blyi_fuse_load_bytes(r) - r;
    return tail < 8 ? 8 : tail;
}

static inline uint64_t blyi_fuse_heading_bytes(const bly_geometry *g) {
    return blyi_fuse_is_small(g) ? 0 : ((uint64_t)blyi_fuse_shards(g) * 8 + 63) / 64 * 64;
}

static inline uint64_t blyi_fuse_shard_bytes(const bly_geometry *g) {
    unsigned spare = blyi_fuse_is_small(g) ? blyi_fuse_small_tail(g->hashes) : 64;
    return (blyi_fuse_shard_slots(g) * g->hashes + spare + 511) / 512 * 64;
}

/* A filter's layout, computed once for many keys. */
typedef struct blyi_fuse_layout {
    uint64_t heading_bits, shard_bits;
    uint64_t span;    /* S * L: the slots that can be a key's first */
    uint64_t segment; /* L */
    uint64_t mask;    /* the bits of a fingerprint */
    uint64_t bits;    /* r */
    uint64_t shards;
    uint64_t seed; /* of a small filter, for lookups */
} blyi_fuse_layout;

static inline blyi_fuse_layout blyi_fuse_layout_of(const bly_geometry *g) {
    uint64_t segment = blyi_fuse_segment_slots(g);
    return (blyi_fuse_layout){
        .heading_bits = 8 * blyi_fuse_heading_bytes(g),
        .shard_bits = 8 * blyi_fuse_shard_bytes(g),
        .span = blyi_fuse_shard_slots(g) - 2 * segment,
        .segment = segment,
        .mask = ((uint64_t)1 << g->hashes) - 1,
        .bits = g->hashes,
        .shards = blyi_fuse_shards(g),
    };
}

/* ---- the slots of a key ---------------------------------------------------------------------- */

/* The seed with this number. Seeds are tried in this order. A small filter stores the number, in
 * one byte. */
static inline uint64_t blyi_fuse_seed(unsigned number) {
    return blyi_fmix64(number * BLYI_GOLD);
}

/* The word x of a key (fuse.c), from which its fingerprint and its other two slots are taken. */
BLYI_FUSE_INLINE uint64_t blyi_fuse_mix(bly_hash h, uint64_t seed) {
    uint64_t x = ((h.hi ^ seed) + h.lo) * BLYI_LCG;
    return x ^ x >> 32;
}

/* A key's first slot in its shard: blyi_shard_position, scaled to the span. */
BLYI_FUSE_INLINE uint64_t blyi_fuse_first_slot(bly_hash h, const blyi_fuse_layout *s) {
    return blyi_mulhi(h.lo * s->shards, s->span);
}

typedef struct blyi_fuse_key_slots {
    uint64_t a, b, c;
} blyi_fuse_key_slots;

BLYI_FUSE_INLINE blyi_fuse_key_slots blyi_fuse_chain_slots(uint64_t first, uint64_t x,
                                                           uint64_t segment) {
    return (blyi_fuse_key_slots){
        .a = first,
        .b = (first + segment) ^ (x >> 42 & (segment - 1)),
        .c = (first + 2 * segment) ^ (x >> 28 & (segment - 1)),
    };
}

/* The slots of a key in a small filter. The second and third one are computed from 14 bits of x
 * each, scaled to the length of a segment. */
BLYI_FUSE_INLINE blyi_fuse_key_slots blyi_fuse_small_slots(uint64_t first, uint64_t x,
                                                           uint64_t segment) {
    return (blyi_fuse_key_slots){
        .a = first,
        .b = segment + ((x >> 42 & 0x3fff) * segment >> 14),
        .c = 2 * segment + ((x >> 28 & 0x3fff) * segment >> 14),
    };
}

/* ---- planning (fuse_plan.c) ------------------------------------------------------------------ */

/* blyi_solver.plan. Returns BLY_OK, BLY_ERATE for rates below 2^-28, or BLY_ETOOBIG. */
bly_status blyi_fuse_plan(uint64_t max_keys, unsigned shards, double fpr, unsigned attempt,
                          bly_geometry *out);

extern const blyi_planner blyi_fuse_planner;

/* ---- solving (fuse_solve.c, fuse_core.c) ----------------------------------------------------- */

extern const blyi_solver blyi_fuse_solver;

/* Three different slots, and the required exclusive or of their values. */
typedef struct blyi_fuse_equation {
    uint32_t slot[3];
    uint32_t sum;
} blyi_fuse_equation;

/* Sets value[0] to value[slots - 1] so that n equations are satisfied. `slots` is below 2^32, and
 * the values must be 0 before. The result depends on the order of the equations. Returns BLY_OK;
 * BLY_EFULL if there is no solution or finding one would take too long; or BLY_ENOMEM. After a
 * failure the values are undefined. */
bly_status blyi_fuse_solve_equations(const blyi_fuse_equation *e, size_t n, size_t slots,
                                     uint32_t *value, const bly_allocator *a);

#endif
