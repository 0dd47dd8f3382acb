/* cuckoo_layout.h - the size and shape of a fingerprint table: its limits, its geometry and its
 * planners. Internal. cuckoo_plan.c explains the numbers, cuckoo_table.h the table itself.
 *
 * In a geometry of such a table, `size` is the number of buckets m and `hashes` the bits f of a
 * remainder. `detail` is 0 for a cuckoo filter. For a growable one it is the f of the fully grown
 * table.
 */
#ifndef BLYI_KINDS_CUCKOO_LAYOUT_H
#define BLYI_KINDS_CUCKOO_LAYOUT_H

#include "filter/kind.h"
#include <bloomery/plan.h>
#include <stdbool.h>

enum {
    BLYI_BUCKET_SLOTS = 4,
    BLYI_MIN_REMAINDER_BITS = 6,
    BLYI_MAX_REMAINDER_BITS = 55, /* so that a slot at any bit lies within eight bytes */
    BLYI_CORE_BITS = 9,   /* bits of a remainder (or all, if fewer) that choose the other bucket */
    BLYI_TABLE_TAIL = 64, /* bits after the last slot, always 0: word reads may extend to them */
    BLYI_MAX_DOUBLINGS = 24,
    BLYI_DEFAULT_DOUBLINGS = 10, /* of a growable table if no horizon is given */
};

/* The number of bits in the core. It is the same at every size that a table grows to. */
static inline unsigned blyi_core_bits(const bly_geometry *g) {
    unsigned final = g->kind == BLY_GROWABLE_CUCKOO ? g->detail : g->hashes;
    return final < BLYI_CORE_BITS ? final : BLYI_CORE_BITS;
}

/* Whether 64 bits of a hash are too few to tell all classes of the table apart (cuckoo_table.h). */
static inline bool blyi_table_is_wide(const bly_geometry *g) {
    return g->size >> (56 - g->hashes) != 0;
}

/* The size of a table in bits, its tail included. */
static inline uint64_t blyi_table_bits(const bly_geometry *g) {
    return g->size * BLYI_BUCKET_SLOTS * (g->hashes + 1) + BLYI_TABLE_TAIL;
}

/* The number of keys for which `buckets` buckets reliably have room. */
uint64_t blyi_buckets_capacity(uint64_t buckets);

/* The smallest even number of buckets that reliably have room for `keys` keys. */
uint64_t blyi_buckets_for(uint64_t keys);

/* Functions of blyi_planner for a table: check, which does not check `detail`; max_keys; fill; and
 * plan, for any kind that is made of a table. */
bly_status blyi_table_check(const bly_geometry *g);
uint64_t blyi_table_max_keys(const bly_geometry *g);
double blyi_table_fill(const bly_geometry *g, double n);
bly_status blyi_table_plan(bly_kind kind, uint64_t keys, double fpr, bly_geometry *out);

/* The expected FPR: the probability that a non-member has the class of one of n members. */
double blyi_table_rate(const bly_geometry *g, double n);

/* Plans the initial geometry of a table that has room for `first` keys before it grows, and for
 * `horizon` keys at rate `fpr` when fully grown. Returns BLY_OK; BLY_ETOOBIG; or BLY_ERATE if the
 * remainders would be too long. */
bly_status blyi_growable_cuckoo_plan(uint64_t first, uint64_t horizon, double fpr,
                                     bly_geometry *out);

/* Plans the level that follows `last` in a scalable cuckoo filter, for `keys` keys at rate `fpr`.
 * Its number of buckets is last's times a power of two, and its classes have at least one bit more.
 * Returns BLY_OK; BLY_ETOOBIG; or BLY_ERATE if the remainders would be too long, or if the level
 * would be wide (cuckoo_table.h) and `last` is not. */
bly_status blyi_cuckoo_plan_next_level(const bly_geometry *last, uint64_t keys, double fpr,
                                       bly_geometry *out);

/* Whether all keys that share a class in a table `fine` also share one in a table `coarse`, and
 * `fine` has more classes and at least as many buckets (scalable_cuckoo.c). */
bool blyi_cuckoo_refines(const bly_geometry *fine, const bly_geometry *coarse);

extern const blyi_planner blyi_cuckoo_planner, blyi_growable_cuckoo_planner;

/* blyi_kind.describe_rest for kinds that are made of a table. */
void blyi_table_describe(const bly_geometry *g, char *out, size_t room);

#endif
