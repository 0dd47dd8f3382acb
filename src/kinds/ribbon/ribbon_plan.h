/* plan_ribbon.h - what a ribbon's geometry means: the shape that its planner, its solver and its
 * queries share. Internal. Described at the top of filters/built/ribbon.c. */
#ifndef BLYI_KINDS_RIBBON_RIBBON_PLAN_H
#define BLYI_KINDS_RIBBON_RIBBON_PLAN_H

#include "filter/kind.h"
#include <bloomery/plan.h>
#include <stdbool.h>

enum {
    BLYI_RIBBON_SLOTS = 128,          /* of a block, and of a key's window */
    BLYI_RIBBON_GROUP = 8,            /* slots; sizes are cut to these, where there is one shard */
    BLYI_RIBBON_COLUMNS = 40,         /* of a narrow slot, at most */
    BLYI_RIBBON_CUT = 64,             /* added to k: cut to groups, and with a seed */
    BLYI_RIBBON_SHARDS = 256,         /* at most */
    BLYI_RIBBON_SHARD_KEYS = 1 << 21, /* about as many are solved at a time */
    BLYI_RIBBON_LAST_SEED = 7,        /* under which the solver takes what comes; 15 could be had */
};

typedef struct blyi_ribbon {
    unsigned shards;
    unsigned columns; /* of a narrow slot; a wide one has one more */
    unsigned seed;    /* 0: places are as the hash has them */
    uint64_t slots;   /* of a shard; the first `wide` of them are wide, never all */
    uint64_t wide;
    uint64_t starts; /* where in a shard a window can start */
} blyi_ribbon;

/* For a geometry that passes bly_plan_check. */
static inline blyi_ribbon blyi_ribbon_of(const bly_geometry *g) {
    const bool cut = g->hashes >= BLYI_RIBBON_CUT;
    blyi_ribbon r = {.columns = g->hashes % BLYI_RIBBON_CUT};
    uint64_t unit = BLYI_RIBBON_SLOTS, units;
    if (cut) {
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

/* Bytes of a shard: a multiple of 16 where there are several. */
static inline uint64_t blyi_ribbon_bytes(const blyi_ribbon *r) {
    return (r->slots * r->columns + r->wide) / 8;
}

/* blyi_solver.plan: `again` is the seed, and makes for a few slots more when it is large. */
bly_status blyi_ribbon_plan(uint64_t most, unsigned shards, double fpr, unsigned again,
                            bly_geometry *out);

extern const blyi_planner blyi_ribbon_planner;

#endif
