/* Planning of fingerprint tables for cuckoo, growable-cuckoo, scalable-cuckoo and hybrid filters.
 *
 * FPR. The class of a key is a primary bucket, one of m, and a remainder of f bits. A key is found
 * when any member has the same class, in whichever bucket its entry is. So the FPR is the
 * probability that the class of a non-member has an entry. All classes would be equally likely,
 * q = 1 / (m 2^f), except for one detail: the low c bits of a remainder, its core, are never all
 * zero. Remainders for which they would be get their lowest bit set, so classes with core 1 are
 * twice as likely. So the FPR is exactly
 *     (1 - 2/2^c) (1 - (1 - q)^n) + 2/2^c (1 - (1 - 2q)^n)
 * which is about 4 load / 2^f, a little less for a load near 1 and short remainders.
 *
 * Load. How many keys fit varies by chance, less in a larger table. With searches of 1024 buckets
 * (cuckoo_table.c) the first key that finds no room comes at a load of 0.975 with ten million slots
 * and of 0.98 with a few hundred, on average. So the capacity of a table is 0.96 of its slots, less
 * 6; that of a small one is 0.967 of its slots, less 13. A table of two buckets has room for any 8
 * keys. Out of 100,000 tables with that many keys, this many had no room for one of the last keys:
 *
 *     slots      64   104   160   256   400   520   720  1048  1200  1600  2000
 *     refused     3     0     2     5    14    12    22    27    10     5     2
 *
 * Longer searches would not help, because in these tables too many keys have both of their buckets
 * among too few. Each further slot makes refusals a third rarer.
 *
 * Short remainders have few cores, which makes the loads of some sizes uneven. With 6 bits, a
 * quarter of the tables of 4000 slots, and of 400,000, do not reach 0.96. With 7 bits, all of the
 * thousands tried of 4000 to four million slots did. So 7 is the minimum that is planned, although
 * a geometry may have 6.
 *
 * Buckets are planned in even numbers, because then no key's two buckets are the same
 * (cuckoo_table.h).
 */
#include "filter/rate.h"
#include "kinds/cuckoo/cuckoo_layout.h"

#include <math.h>
#include <stdio.h>

enum {
    SMALL_TABLE_SPARE = 13, /* subtracted from 0.967 of the slots of a small table */
    LARGE_TABLE_SPARE = 6,
    GUARANTEED_KEYS = 8, /* any 8 keys fit into two buckets of 4 slots */
    MIN_PLANNED_BITS = 7,
};

uint64_t blyi_buckets_capacity(uint64_t buckets) {
    uint64_t even = buckets > 1 ? buckets & ~(uint64_t)1 : buckets;
    uint64_t slots = even * BLYI_BUCKET_SLOTS, large = slots / 25 * 24 + slots % 25 * 24 / 25;
    uint64_t small = slots / 1000 * 967 + slots % 1000 * 967 / 1000;
    uint64_t min = slots < GUARANTEED_KEYS ? slots : GUARANTEED_KEYS;
    small = small > min + SMALL_TABLE_SPARE ? small - SMALL_TABLE_SPARE : min;
    large = large > min + LARGE_TABLE_SPARE ? large - LARGE_TABLE_SPARE : min;
    return small < large ? small : large;
}

uint64_t blyi_buckets_for(uint64_t keys) {
    if (keys <= GUARANTEED_KEYS)
        return GUARANTEED_KEYS / BLYI_BUCKET_SLOTS;
    /* About keys * 25 / 24 slots. This may be too few by a few steps of the loop below. */
    uint64_t slots = keys + keys / 24;
    uint64_t buckets = slots / BLYI_BUCKET_SLOTS & ~(uint64_t)1;
    while (blyi_buckets_capacity(buckets) < keys)
        buckets += 2;
    return buckets;
}

double blyi_table_rate(const bly_geometry *g, double n) {
    double q = ldexp(1 / (double)g->size, -(int)g->hashes);
    double folded = ldexp(2, -(int)blyi_core_bits(g));
    return (1 - folded) * -expm1(n * log1p(-q)) + folded * -expm1(n * log1p(-2 * q));
}

/* The maximum number of buckets with remainders of that length. */
static uint64_t cuckoo_max_buckets(uint32_t remainder_bits) {
    return (BLYI_MAX_BITS - BLYI_TABLE_TAIL) / ((uint64_t)BLYI_BUCKET_SLOTS * (remainder_bits + 1));
}

bly_status blyi_table_check(const bly_geometry *g) {
    if (g->size == 0 || g->hashes < BLYI_MIN_REMAINDER_BITS || g->hashes > BLYI_MAX_REMAINDER_BITS)
        return BLY_EGEOMETRY;
    return g->size > cuckoo_max_buckets(g->hashes) ? BLY_ETOOBIG : BLY_OK;
}

static bly_status cuckoo_check(const bly_geometry *g) {
    return g->detail != 0 ? BLY_EGEOMETRY : blyi_table_check(g);
}

/* All sizes that the table may grow to must be possible, not only the present one. */
static bly_status growable_cuckoo_check(const bly_geometry *g) {
    bly_status status = blyi_table_check(g);
    if (status)
        return status;
    if (g->detail < BLYI_MIN_REMAINDER_BITS || g->detail > g->hashes ||
        g->hashes - g->detail > BLYI_MAX_DOUBLINGS)
        return BLY_EGEOMETRY;
    uint64_t last = cuckoo_max_buckets(g->detail) >> (g->hashes - g->detail);
    return g->size > last ? BLY_ETOOBIG : BLY_OK;
}

static unsigned cuckoo_slot_width(const bly_geometry *g) {
    return g->hashes + 1;
}

static uint64_t cuckoo_bits(const bly_geometry *g) {
    return blyi_table_bits(g);
}

uint64_t blyi_table_max_keys(const bly_geometry *g) {
    return blyi_buckets_capacity(g->size);
}

double blyi_table_fill(const bly_geometry *g, double n) {
    return fmin(1, n / ((double)g->size * BLYI_BUCKET_SLOTS));
}

/* Chooses the shortest remainder, of at least `min` bits, with which g->size buckets keep the rate.
 */
static bly_status cuckoo_plan_remainder(bly_geometry *g, uint32_t min, uint64_t keys, double fpr) {
    for (uint32_t bits = min; bits <= BLYI_MAX_REMAINDER_BITS; bits++) {
        g->hashes = bits;
        if (g->kind == BLY_GROWABLE_CUCKOO)
            g->detail = bits;
        if (blyi_table_rate(g, (double)keys) <= fpr)
            return BLY_OK;
    }
    return BLY_ERATE;
}

bly_status blyi_table_plan(bly_kind kind, uint64_t keys, double fpr, bly_geometry *out) {
    bly_geometry g = {.kind = kind};
    if (keys > BLYI_MAX_BITS)
        return BLY_ETOOBIG;
    g.size = blyi_buckets_for(keys);
    bly_status status = cuckoo_plan_remainder(&g, MIN_PLANNED_BITS, keys, fpr);
    if (status == BLY_OK)
        status = bly_plan_check(&g);
    if (status == BLY_OK)
        *out = g;
    return status;
}

static bly_status cuckoo_plan(uint64_t keys, double fpr, bly_geometry *out) {
    return blyi_table_plan(BLY_CUCKOO, keys, fpr, out);
}

bly_status blyi_cuckoo_plan_next_level(const bly_geometry *last, uint64_t keys, double fpr,
                                       bly_geometry *out) {
    bly_geometry g = *last;
    uint32_t min = last->hashes + 1;
    if (keys > BLYI_MAX_BITS)
        return BLY_ETOOBIG;
    for (; blyi_buckets_capacity(g.size) < keys; g.size *= 2)
        min -= min > MIN_PLANNED_BITS;
    bly_status status = cuckoo_plan_remainder(&g, min, keys, fpr);
    if (status == BLY_OK)
        status = bly_plan_check(&g);
    if (status == BLY_OK && blyi_table_is_wide(&g) != blyi_table_is_wide(last))
        status = BLY_ERATE;
    if (status == BLY_OK)
        *out = g;
    return status;
}

bool blyi_cuckoo_refines(const bly_geometry *fine, const bly_geometry *coarse) {
    unsigned shift = 0;
    while (coarse->size << shift < fine->size)
        shift++;
    return coarse->size << shift == fine->size && fine->hashes + shift > coarse->hashes &&
           blyi_table_is_wide(fine) == blyi_table_is_wide(coarse);
}

/* Plans the geometry of the last size: a table with room for `keys` keys that cannot grow any
 * more. */
static bly_status growable_cuckoo_plan(uint64_t keys, double fpr, bly_geometry *out) {
    return blyi_table_plan(BLY_GROWABLE_CUCKOO, keys, fpr, out);
}

/* Starts with the buckets that `first` needs, and doubles them until `horizon` fits. If that is
 * much more than the horizon needs, a larger start with one doubling less ends just at the
 * horizon. */
bly_status blyi_growable_cuckoo_plan(uint64_t first, uint64_t horizon, double fpr,
                                     bly_geometry *out) {
    if (horizon > BLYI_MAX_BITS)
        return BLY_ETOOBIG;
    uint64_t start = blyi_buckets_for(first), end = blyi_buckets_for(horizon);
    unsigned doublings = 0;
    while (start << doublings < end)
        doublings++;
    if (doublings > 0 && start << doublings > end + end / 10) {
        doublings--;
        start = ((end - 1) >> doublings) + 1;
        start += start & 1;
    }
    bly_geometry g = {.kind = BLY_GROWABLE_CUCKOO, .size = start << doublings};
    bly_status status = cuckoo_plan_remainder(&g, MIN_PLANNED_BITS, horizon, fpr);
    if (status)
        return status;
    g.size = start;
    g.hashes += doublings;
    if (g.hashes > BLYI_MAX_REMAINDER_BITS || doublings > BLYI_MAX_DOUBLINGS)
        return BLY_ERATE;
    status = bly_plan_check(&g);
    if (status == BLY_OK)
        *out = g;
    return status;
}

const blyi_planner blyi_cuckoo_planner = {
    .check = cuckoo_check,
    .bits = cuckoo_bits,
    .width = cuckoo_slot_width,
    .plan = cuckoo_plan,
    .rate = blyi_table_rate,
    .max_keys = blyi_table_max_keys,
    .fill = blyi_table_fill,
    .lookup_lines = 2,
};

void blyi_table_describe(const bly_geometry *g, char *out, size_t room) {
    snprintf(out, room, " of 4 slots, remainders of %u bit%s", (unsigned)g->hashes,
             g->hashes == 1 ? "" : "s");
}

/* ---- planned growth -------------------------------------------------------------------------- */

static unsigned growable_cuckoo_doublings_left(const bly_geometry *g) {
    return g->hashes - g->detail;
}

/* The default horizon (growable_cuckoo.c), or the number of keys if that is larger. */
static uint64_t growable_cuckoo_horizon(const bly_needs *needs) {
    if (needs->first_keys > BLYI_MAX_BITS >> BLYI_DEFAULT_DOUBLINGS)
        return needs->keys;
    uint64_t far = needs->first_keys << BLYI_DEFAULT_DOUBLINGS;
    return far > needs->keys ? far : needs->keys;
}

static bly_status growable_cuckoo_plan_grown(const bly_needs *needs, uint64_t keys,
                                             bly_geometry *out) {
    uint64_t horizon = growable_cuckoo_horizon(needs);
    double floor = blyi_hash_floor((double)horizon, needs->hash_bits);
    if (floor > needs->fpr / 10)
        return BLY_EWEAKHASH;
    bly_status status =
        blyi_growable_cuckoo_plan(needs->first_keys, horizon, needs->fpr - floor, out);
    while (status == BLY_OK && blyi_buckets_capacity(out->size) < keys &&
           out->hashes > out->detail) {
        out->size *= 2;
        out->hashes--;
    }
    return status;
}

const blyi_planner blyi_growable_cuckoo_planner = {
    .check = growable_cuckoo_check,
    .bits = cuckoo_bits,
    .width = cuckoo_slot_width,
    .plan = growable_cuckoo_plan,
    .rate = blyi_table_rate,
    .max_keys = blyi_table_max_keys,
    .fill = blyi_table_fill,
    .doublings_left = growable_cuckoo_doublings_left,
    .horizon = growable_cuckoo_horizon,
    .plan_grown = growable_cuckoo_plan_grown,
    .lookup_lines = 2,
};
