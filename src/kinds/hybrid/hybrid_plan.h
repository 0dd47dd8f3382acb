/* plan_hybrid.h - where the parts of a hybrid filter lie, for those who size one and those who use
 * it. Internal. hybrid.c explains them.
 *
 *     slots of the fingerprint table | a half byte for each slot | spill map, if detail is not 0
 *
 * each part beginning at a multiple of 64 bytes. The spill map is a number of 8 bytes, the entries
 * in use, and then blyi_size_of_class(detail) entries of id and count.
 */
#ifndef BLYI_KINDS_HYBRID_HYBRID_PLAN_H
#define BLYI_KINDS_HYBRID_HYBRID_PLAN_H

#include "base/size_class.h"
#include "filter/kind.h"
#include "kinds/cuckoo/cuckoo_plan.h"

enum {
    BLYI_MAX_INLINE = 14, /* copies that a half byte counts */
    BLYI_SPILLED = 15,    /* what it says of more: they are in the map */
    BLYI_BACK_INLINE = 8, /* when a count in the map falls to this, it goes back */
    BLYI_SPILL_HEAD = 8,  /* bytes before the map's entries */
    BLYI_COUNT_BYTES = 6, /* of a count in the map */
};

/* The most copies of a class. */
#define BLYI_MAX_COUNTED (((uint64_t)1 << 8 * BLYI_COUNT_BYTES) - 1)

/* Where the half bytes begin, and where the map does. */
static inline uint64_t blyi_hybrid_counts_at(const bly_geometry *g) {
    return (blyi_table_bits(g) + 511) / 512 * 64;
}

static inline uint64_t blyi_hybrid_spill_at(const bly_geometry *g) {
    return blyi_hybrid_counts_at(g) + (g->size * BLYI_BUCKET / 2 + 63) / 64 * 64;
}

/* Bytes of a class as the map writes it, 2 to 12: bucket << f | remainder. */
static inline unsigned blyi_hybrid_id_bytes(const bly_geometry *g) {
    unsigned bits = g->hashes;
    for (uint64_t last = g->size - 1; last != 0; last >>= 1)
        bits++;
    return bits <= 16 ? 2 : (bits + 7) / 8;
}

extern const blyi_planner blyi_hybrid_planner;

#endif
