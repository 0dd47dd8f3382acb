/* plan_ribbon.h - what a ribbon's geometry means: the shape that its planner, its solver and its
 * queries share. Internal. Described at the top of filters/built/ribbon.c. */
#ifndef BLYI_CORE_PLAN_RIBBON_H
#define BLYI_CORE_PLAN_RIBBON_H

#include <bloomery/plan.h>

enum {
    BLYI_RIBBON_SLOTS = 128,         /* of a block, and of a key's window */
    BLYI_RIBBON_COLUMNS = 40,        /* of a narrow block, at most */
    BLYI_RIBBON_SHARDS = 256,        /* at most */
    BLYI_RIBBON_SHARD_KEYS = 1 << 21 /* about as many are solved at a time */
};

typedef struct blyi_ribbon {
    unsigned shards;
    unsigned columns; /* of a narrow block; a wide one has one more */
    uint64_t blocks;  /* of a shard; the first `wide` of them are wide, never all */
    uint64_t wide;
    uint64_t starts; /* where in a shard a window can start */
    uint64_t words;  /* of a shard, 64 bits each */
} blyi_ribbon;

/* For a geometry that passes bly_plan_check. */
static inline blyi_ribbon blyi_ribbon_of(const bly_geometry *g) {
    blyi_ribbon r = {.shards = g->detail / 256 + 1, .columns = g->hashes};
    r.blocks = r.shards == 1 ? g->size : g->size / r.shards;
    r.wide = r.blocks * (g->detail % 256) / 256;
    r.starts = r.blocks * BLYI_RIBBON_SLOTS - (BLYI_RIBBON_SLOTS - 1);
    r.words = 2 * (r.blocks * r.columns + r.wide);
    return r;
}

/* The most keys that a shard should have. */
uint64_t blyi_ribbon_room(const bly_geometry *g);

/* `keys` and, in a plan made because a shard was crowded, a few slots more. */
static inline uint64_t blyi_ribbon_eased(uint64_t keys) {
    return keys + keys / 50 + 1;
}

/* blyi_solver.plan: with `again`, for blyi_ribbon_eased(most) keys. */
bly_status blyi_ribbon_plan(uint64_t most, unsigned shards, double fpr, unsigned again,
                            bly_geometry *out);

#endif
