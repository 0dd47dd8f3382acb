/* planner.h - what the calculator needs to know of a kind that is not made of plain bits. Internal.
 *
 * plan.c and rate.c size the kinds whose rate is a formula over bits, all alike. A kind of another
 * build supplies this row instead, and bly_plan_check, bly_plan, bly_plan_fpr and the others ask
 * it. All functions are pure. Except for `check` and `plan` they may assume a geometry that passed
 * `check`.
 */
#ifndef BLYI_FILTER_PLANNER_H
#define BLYI_FILTER_PLANNER_H

#include <bloomery/plan.h>

/* The part of a rate that is no reason for a bit more: a kind whose rates are powers of two would
 * else need 9 bits for 1/256, because of the hash's own collisions. */
#define BLYI_RATE_TOLERANCE 0x1p-20

/* More keys than any filter is made for. */
#define BLYI_UNLIMITED_KEYS ((uint64_t)1 << 56)

typedef struct blyi_planner {
    bly_kind kind;
    const char *name;
    /* BLY_OK, BLY_EGEOMETRY or BLY_ETOOBIG. Must keep `bits` (and every product in it) below
     * BLYI_MAX_BITS without overflow, for hostile numbers too. `detail` is below 65536; options are
     * 0. */
    bly_status (*check)(const bly_geometry *g);
    /* Bits of the body that are used: headings, then cells. */
    uint64_t (*bits)(const bly_geometry *g);
    /* Bits of one cell: a byte of the file's header. */
    unsigned (*width)(const bly_geometry *g);
    /* The smallest geometry for `keys` (at least 1) at `fpr` (2^-40 .. 1), the hash's floor already
     * taken off. BLY_ETOOBIG; BLY_ERATE when the kind cannot be that exact. */
    bly_status (*plan)(uint64_t keys, double fpr, bly_geometry *out);
    /* The expected rate after n > 0 keys, and the most keys that fit whatever the rate, at most
     * BLYI_UNLIMITED_KEYS, which means that any number does. */
    double (*rate)(const bly_geometry *g, double n);
    uint64_t (*max_keys)(const bly_geometry *g);
    /* The share of the cells in use after n keys. */
    double (*fill)(const bly_geometry *g, double n);
} blyi_planner;

/* NULL for the kinds of plain bits. */
const blyi_planner *blyi_planner_of(bly_kind kind);

extern const blyi_planner blyi_plan_window, blyi_plan_cuckoo, blyi_plan_fuse, blyi_plan_ribbon,
    blyi_plan_growable, blyi_plan_counting, blyi_plan_multilayer, blyi_plan_layered,
    blyi_plan_overlay, blyi_plan_hybrid, blyi_plan_counts, blyi_plan_hll, blyi_plan_scalable_cuckoo;

#endif
