/* solver.h - what a kind that is built from all its keys must supply. Internal.
 *
 * The builder (build.c) spreads hashes over shards by mulhi(lo, shards), asks for one geometry that
 * suits the fullest shard, makes a filter of that geometry, and has the shards solved, several at a
 * time. It uses numbers of shards that are powers of two. Inside a shard, lo * shards (its low 64
 * bits) takes the place of lo: it is spread as evenly as lo was over all shards.
 *
 * A solver either gets each shard sorted and without repeats (solve), or takes hashes as they come,
 * part by part, and must notice repeats itself (solve_parts); the filter must then be the same in
 * whatever order they are within a part.
 */
#ifndef BLYI_KINDS_BUILDER_SOLVER_H
#define BLYI_KINDS_BUILDER_SOLVER_H

#include "base/bits.h"
#include "filter/filter.h"
#include "kinds/builder/shards.h"

typedef struct blyi_solver {
    uint64_t shard_keys; /* about how many keys a shard should have */
    unsigned max_shards;
    /* The geometry of `shards` shards, each of at most `most` keys (1 or more) at `fpr`. `again`
     * counts how often a shard could not be solved in the size planned before: 0 at first. */
    bly_status (*plan)(uint64_t most, unsigned shards, double fpr, unsigned again,
                       bly_geometry *out);
    /* Solves one shard of the filter, whose body is zero there, from n distinct hashes sorted by lo
     * (then hi), which may be overwritten. Scratch memory is from `a`. Other threads solve other
     * shards meanwhile. BLY_EFULL: cannot be done in this size; BLY_ENOMEM. */
    bly_status (*solve)(bly_filter *f, unsigned shard, bly_hash *h, size_t n,
                        const bly_allocator *a);
    /* Instead of it: solves one shard from what `feed` has. `work` is work(geometry) bytes, of any
     * value. Besides, BLY_EEXISTS: a hash comes twice; the builder then sorts them all, counts, and
     * begins anew. BLY_EIO. */
    bly_status (*solve_parts)(bly_filter *f, unsigned shard, const blyi_feed *feed, void *work,
                              const bly_allocator *a);
    uint64_t (*work)(const bly_geometry *g);
    /* Bytes of scratch memory that solving a shard of n keys takes, about. */
    uint64_t (*scratch)(uint64_t n);
} blyi_solver;

/* The shard of a hash, and its place within. */
static inline unsigned blyi_shard_of(bly_hash h, unsigned shards) {
    return (unsigned)blyi_mulhi(h.lo, shards);
}

static inline uint64_t blyi_shard_place(bly_hash h, unsigned shards) {
    return h.lo * shards;
}

#endif
