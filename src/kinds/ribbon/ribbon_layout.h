/* ribbon_layout.h - the layout of a ribbon filter, and the equation of a key: what planner, solver
 * and lookups share. Internal. ribbon.c explains the idea.
 */
#ifndef BLYI_KINDS_RIBBON_LAYOUT_H
#define BLYI_KINDS_RIBBON_LAYOUT_H

#include "filter/kind.h"
#include "hash/mix.h"
#include "kinds/builder/builder.h"

#include <bloomery/plan.h>
#include <stdbool.h>

/* ---- geometry -------------------------------------------------------------------------------- */

enum {
    BLYI_RIBBON_SLOTS = 128,          /* slots of a block, and of a key's window */
    BLYI_RIBBON_GROUP = 8,            /* slots of a group, the unit of `size` */
    BLYI_RIBBON_MAX_COLUMNS = 40,     /* the most columns of a narrow slot */
    BLYI_RIBBON_GROUPED = 64,         /* added to `hashes` if `size` is in groups */
    BLYI_RIBBON_MAX_SHARDS = 256,     /* a power of two */
    BLYI_RIBBON_SHARD_KEYS = 1 << 21, /* about this many keys per shard */
    BLYI_RIBBON_LAST_SEED = 7,        /* under this seed any result is accepted */
};

typedef struct blyi_ribbon_layout {
    unsigned shards;
    unsigned columns; /* of a narrow slot; a wide one has one more */
    unsigned seed;    /* 0: positions are not mixed */
    uint64_t slots;   /* in a shard; the first `wide` of them are wide, never all */
    uint64_t wide;
    uint64_t starts; /* number of slots in a shard where a window can start */
} blyi_ribbon_layout;

/* The layout of a filter whose geometry passes bly_plan_check. */
static inline blyi_ribbon_layout blyi_ribbon_layout_of(const bly_geometry *g) {
    const bool grouped = g->hashes >= BLYI_RIBBON_GROUPED;
    blyi_ribbon_layout r = {.columns = g->hashes % BLYI_RIBBON_GROUPED};
    uint64_t unit = BLYI_RIBBON_SLOTS, units;
    if (grouped) {
        unsigned log = g->detail / 256 % 16;
        r.shards = 1U << log;
        r.seed = g->detail / 4096;
        if (log == 0)
            unit = BLYI_RIBBON_GROUP;
        units = (g->size >> log) / (unit / BLYI_RIBBON_GROUP);
    } else {
        r.shards = g->detail / 256 + 1;
        units = r.shards == 1 ? g->size : g->size / r.shards;
    }
    r.slots = units * unit;
    r.wide = units * (g->detail % 256) / 256 * unit;
    r.starts = r.slots < BLYI_RIBBON_SLOTS ? 1 : r.slots - (BLYI_RIBBON_SLOTS - 1);
    return r;
}

/* The size of a shard in bytes: a multiple of 16 if there are several. */
static inline uint64_t blyi_ribbon_shard_bytes(const blyi_ribbon_layout *r) {
    return (r->slots * r->columns + r->wide) / 8;
}

/* ---- the equation of a key ------------------------------------------------------------------- */

/* The coefficients of 128 consecutive slots, in one of two orders. In the order of a key, slot i of
 * a shard has bit i % 128 wherever the window starts, so that a lookup needs no shift. In the order
 * of a row, the window's i-th slot has bit i. Bit i is bit i % 64 of word i / 64. */
typedef struct blyi_ribbon_band {
    uint64_t w[2];
} blyi_ribbon_band;

/* A key's position in its shard, as a fraction of 2^64. */
static inline uint64_t blyi_ribbon_position(const blyi_ribbon_layout *r, bly_hash h) {
    uint64_t position = blyi_shard_position(h, r->shards);
    return r->seed ? blyi_fmix64(position + r->seed * BLYI_GOLD) : position;
}

/* The slot of the shard where the window of a key with that position starts. */
static inline uint64_t blyi_ribbon_start(const blyi_ribbon_layout *r, uint64_t position) {
    return blyi_mulhi(position, r->starts);
}

/* A key's coefficients in the order of the key. The caller must set that of the window's first
 * slot, which is always 1, so that every key has an equation. */
static inline blyi_ribbon_band blyi_ribbon_band_of(bly_hash h) {
    return (blyi_ribbon_band){{h.hi, blyi_fmix64(h.hi + BLYI_GOLD)}};
}

/* ---- planning (ribbon_plan.c) and solving (ribbon_solve.c) ----------------------------------- */

/* blyi_solver.plan. `attempt` becomes the seed. High values of it also add slots. */
bly_status blyi_ribbon_plan(uint64_t max_keys, unsigned shards, double fpr, unsigned attempt,
                            bly_geometry *out);

extern const blyi_planner blyi_ribbon_planner;
extern const blyi_solver blyi_ribbon_solver;

#endif
