/* plan_cuckoo.h - the shape of a fingerprint table, for those who size one and those who use it.
 * Internal. plan_cuckoo.c explains the numbers.
 */
#ifndef BLYI_KINDS_CUCKOO_CUCKOO_PLAN_H
#define BLYI_KINDS_CUCKOO_CUCKOO_PLAN_H

#include "filter/kind.h"
#include <bloomery/plan.h>
#include <stdbool.h>

enum {
    BLYI_BUCKET = 4,      /* slots */
    BLYI_MIN_REST = 6,    /* bits of a remainder */
    BLYI_MAX_REST = 55,   /* so that a slot at any bit lies within eight bytes */
    BLYI_CORE_BITS = 9,   /* of a remainder that choose the other bucket, if it has so many */
    BLYI_TABLE_TAIL = 64, /* bits after the last slot, always 0: words may be read past it */
    BLYI_MAX_DOUBLINGS = 24,
};

/* Bits of the core: they are the same at every size that a table grows to. */
static inline unsigned blyi_core_bits(const bly_geometry *g) {
    unsigned final = g->kind == BLY_GROWABLE_CUCKOO ? g->detail : g->hashes;
    return final < BLYI_CORE_BITS ? final : BLYI_CORE_BITS;
}

/* Whether the classes of a table are so many that 64 bits of a hash do not tell all of them apart:
 * table.h. */
static inline bool blyi_table_is_wide(const bly_geometry *g) {
    return g->size >> (56 - g->hashes) != 0;
}

/* How many keys so many buckets can be trusted to hold, and how many (an even number) hold so many
 * keys. */
uint64_t blyi_buckets_hold(uint64_t buckets);
uint64_t blyi_buckets_for(uint64_t keys);

/* Bits of a table, its tail included. */
static inline uint64_t blyi_table_bits(const bly_geometry *g) {
    return g->size * BLYI_BUCKET * (g->hashes + 1) + BLYI_TABLE_TAIL;
}

/* blyi_planner.check of a table, its detail aside; .most and .fill; .plan for any kind. */
bly_status blyi_table_check(const bly_geometry *g);
uint64_t blyi_table_most(const bly_geometry *g);
double blyi_table_fill(const bly_geometry *g, double n);
bly_status blyi_table_plan(bly_kind kind, uint64_t keys, double fpr, bly_geometry *out);

/* The chance that a key that was never added shares bucket and remainder with one of n others. */
double blyi_table_rate(const bly_geometry *g, double n);

/* The geometry in which a table starts that is to hold `first` keys at once, and `horizon` keys at
 * rate `fpr` in the end. BLY_ETOOBIG; BLY_ERATE when its remainders would be too long. */
bly_status blyi_growable_plan(uint64_t first, uint64_t horizon, double fpr, bly_geometry *out);

/* The table that follows `last` in a list of them (scalable_cuckoo.c), for `keys` at rate `fpr`:
 * its buckets are last's times a power of two, and its classes are finer by at least one bit.
 * BLY_ETOOBIG; BLY_ERATE when its remainders would be too long, or it would be wide when `last` is
 * not. */
bly_status blyi_chain_plan(const bly_geometry *last, uint64_t keys, double fpr, bly_geometry *out);

extern const blyi_planner blyi_cuckoo_planner, blyi_growable_planner;

/* blyi_kind.describe_rest of a table. */
void blyi_table_describe(const bly_geometry *g, char *out, size_t room);

#endif
