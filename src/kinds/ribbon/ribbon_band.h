/* ribbon_band.h - the equation of a key. Internal: ribbon.c asks it, ribbon_solve.c solves it. */
#ifndef BLYI_KINDS_RIBBON_RIBBON_BAND_H
#define BLYI_KINDS_RIBBON_RIBBON_BAND_H

#include "hash/mix.h"
#include "kinds/builder/solver.h"
#include "kinds/ribbon/ribbon_plan.h"

/* The coefficients of 128 slots in a row. In a key's own order, slot i of a shard has bit i % 128
 * wherever the window starts, which spares a query all shifting; in a row's order, the window's
 * i-th slot has bit i. Bit i is bit i % 64 of word i / 64. */
typedef struct blyi_band {
    uint64_t w[2];
} blyi_band;

/* A key's place in its shard, as a fraction of 2^64. */
static inline uint64_t blyi_band_place(const blyi_ribbon *r, bly_hash h) {
    uint64_t place = blyi_shard_place(h, r->shards);
    return r->seed ? blyi_fmix64(place + r->seed * BLYI_GOLD) : place;
}

/* The slot of its shard where the window of a key with that place starts. */
static inline uint64_t blyi_band_start(const blyi_ribbon *r, uint64_t place) {
    return blyi_mulhi(place, r->starts);
}

/* A key's coefficients in its own order, but that of the window's first slot, which is always 1, so
 * that every key has an equation. */
static inline blyi_band blyi_band_of(bly_hash h) {
    return (blyi_band){{h.hi, blyi_fmix64(h.hi + BLYI_GOLD)}};
}

extern const blyi_solver blyi_ribbon_solver;

#endif
