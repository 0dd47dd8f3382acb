/* Sizing fingerprint tables: cuckoo and growable-cuckoo, and the table of a hybrid.
 *
 * Rate. A key is its class: a primary bucket, one of m, and a remainder of f bits. It is found when
 * any stored key is of the same class, wherever the copy lies, so the rate is the chance that a
 * stranger's class is taken. All classes would be equally likely, q = 1 / (m 2^f), but for one
 * detail: the low c bits of a remainder, its core, are never all zero; the remainders that would be
 * so get their lowest bit set, and the classes with core 1 are twice as likely. Hence, exactly,
 *     (1 - 2/2^c) (1 - (1 - q)^n) + 2/2^c (1 - (1 - 2q)^n)
 * which is 4 load / 2^f, a little less for a load near 1 and short remainders.
 *
 * Load. How many keys fit is a matter of luck, the less so the larger the table. With searches of
 * 1024 buckets (table.c) the first key that finds no place comes at a load of 0.975 with ten
 * million slots and of 0.98 with a few hundred, on average. So a table counts as full at 0.96 of
 * its slots less 6, a small one at 0.967 of them less 13; one of two buckets holds 8 keys whatever
 * they are. Of 100,000 tables with that many keys, so many had no place for one of the last:
 *
 *     slots      64   104   160   256   400   520   720  1048  1200  1600  2000
 *     refused     3     0     2     5    14    12    22    27    10     5     2
 *
 * Longer searches would not help, since the two buckets of so many keys lie among too few. Each
 * slot more makes it a third rarer.
 *
 * Short remainders have few cores, which makes the loads of some sizes uneven. With 6 bits, a
 * quarter of the tables of 4000 slots, and of 400,000, do not reach 0.96; with 7 bits, all of the
 * thousands tried of 4000 to four million slots did. So 7 is the least that is planned, though 6
 * can be had.
 *
 * Buckets are planned in even numbers, because then no key's two buckets are the same (table.h).
 */
#include "kinds/cuckoo/cuckoo_plan.h"
#include "filter/kind.h"
#include "filter/rate.h"

#include <math.h>
#include <stdio.h>

enum { SPARE = 13, LARGE_SPARE = 6, ALWAYS = 8, MIN_PLANNED = 7 };

uint64_t blyi_buckets_hold(uint64_t buckets) {
    uint64_t even = buckets > 1 ? buckets & ~(uint64_t)1 : buckets;
    uint64_t slots = even * BLYI_BUCKET, most = slots / 25 * 24 + slots % 25 * 24 / 25;
    uint64_t small = slots / 1000 * 967 + slots % 1000 * 967 / 1000;
    uint64_t least = slots < ALWAYS ? slots : ALWAYS;
    small = small > least + SPARE ? small - SPARE : least;
    most = most > least + LARGE_SPARE ? most - LARGE_SPARE : least;
    return small < most ? small : most;
}

uint64_t blyi_buckets_for(uint64_t keys) {
    if (keys <= ALWAYS)
        return ALWAYS / BLYI_BUCKET;
    /* keys * 25 / 24 slots, to within rounding; a few steps less than needed at most, which the
     * loop takes. */
    uint64_t slots = keys + keys / 24;
    uint64_t buckets = slots / BLYI_BUCKET & ~(uint64_t)1;
    while (blyi_buckets_hold(buckets) < keys)
        buckets += 2;
    return buckets;
}

double blyi_table_rate(const bly_geometry *g, double n) {
    double q = ldexp(1 / (double)g->size, -(int)g->hashes);
    double folded = ldexp(2, -(int)blyi_core_bits(g));
    return (1 - folded) * -expm1(n * log1p(-q)) + folded * -expm1(n * log1p(-2 * q));
}

/* The most buckets there may be with remainders of that length. */
static uint64_t most_buckets(uint32_t rest) {
    return (BLYI_MAX_BITS - BLYI_TABLE_TAIL) / ((uint64_t)BLYI_BUCKET * (rest + 1));
}

bly_status blyi_table_check(const bly_geometry *g) {
    if (g->size == 0 || g->hashes < BLYI_MIN_REST || g->hashes > BLYI_MAX_REST)
        return BLY_EGEOMETRY;
    return g->size > most_buckets(g->hashes) ? BLY_ETOOBIG : BLY_OK;
}

static bly_status check_cuckoo(const bly_geometry *g) {
    return g->detail != 0 ? BLY_EGEOMETRY : blyi_table_check(g);
}

/* All sizes to come must be possible, not only the present one. */
static bly_status check_growable(const bly_geometry *g) {
    bly_status status = blyi_table_check(g);
    if (status)
        return status;
    if (g->detail < BLYI_MIN_REST || g->detail > g->hashes ||
        g->hashes - g->detail > BLYI_MAX_DOUBLINGS)
        return BLY_EGEOMETRY;
    uint64_t last = most_buckets(g->detail) >> (g->hashes - g->detail);
    return g->size > last ? BLY_ETOOBIG : BLY_OK;
}

static unsigned width(const bly_geometry *g) {
    return g->hashes + 1;
}

static uint64_t bits(const bly_geometry *g) {
    return blyi_table_bits(g);
}

uint64_t blyi_table_most(const bly_geometry *g) {
    return blyi_buckets_hold(g->size);
}

double blyi_table_fill(const bly_geometry *g, double n) {
    return fmin(1, n / ((double)g->size * BLYI_BUCKET));
}

/* The shortest remainder, from `least` bits on, with which g->size buckets keep the rate. */
static bly_status choose_rest(bly_geometry *g, uint32_t least, uint64_t keys, double fpr) {
    for (uint32_t rest = least; rest <= BLYI_MAX_REST; rest++) {
        g->hashes = rest;
        if (g->kind == BLY_GROWABLE_CUCKOO)
            g->detail = rest;
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
    bly_status status = choose_rest(&g, MIN_PLANNED, keys, fpr);
    if (status == BLY_OK)
        status = bly_plan_check(&g);
    if (status == BLY_OK)
        *out = g;
    return status;
}

static bly_status plan_cuckoo(uint64_t keys, double fpr, bly_geometry *out) {
    return blyi_table_plan(BLY_CUCKOO, keys, fpr, out);
}

bly_status blyi_chain_plan(const bly_geometry *last, uint64_t keys, double fpr, bly_geometry *out) {
    bly_geometry g = *last;
    uint32_t least = last->hashes + 1;
    if (keys > BLYI_MAX_BITS)
        return BLY_ETOOBIG;
    for (; blyi_buckets_hold(g.size) < keys; g.size *= 2)
        least -= least > MIN_PLANNED;
    bly_status status = choose_rest(&g, least, keys, fpr);
    if (status == BLY_OK)
        status = bly_plan_check(&g);
    if (status == BLY_OK && blyi_table_is_wide(&g) != blyi_table_is_wide(last))
        status = BLY_ERATE;
    if (status == BLY_OK)
        *out = g;
    return status;
}

/* One that has grown to hold `keys` keys and may grow no more: what the last size takes. */
static bly_status plan_growable(uint64_t keys, double fpr, bly_geometry *out) {
    return blyi_table_plan(BLY_GROWABLE_CUCKOO, keys, fpr, out);
}

/* Start with what `first` needs, and double until it holds `horizon`. When that ends at much more
 * than the horizon needs, one doubling less from a larger start ends just there. */
bly_status blyi_growable_plan(uint64_t first, uint64_t horizon, double fpr, bly_geometry *out) {
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
    bly_status status = choose_rest(&g, MIN_PLANNED, horizon, fpr);
    if (status)
        return status;
    g.size = start;
    g.hashes += doublings;
    if (g.hashes > BLYI_MAX_REST || doublings > BLYI_MAX_DOUBLINGS)
        return BLY_ERATE;
    status = bly_plan_check(&g);
    if (status == BLY_OK)
        *out = g;
    return status;
}

const blyi_planner blyi_cuckoo_planner = {
    .check = check_cuckoo,
    .bits = bits,
    .width = width,
    .plan = plan_cuckoo,
    .rate = blyi_table_rate,
    .max_keys = blyi_table_most,
    .fill = blyi_table_fill,
    .lookup_lines = 2,
};

void blyi_table_describe(const bly_geometry *g, char *out, size_t room) {
    snprintf(out, room, " of 4 slots, remainders of %u bit%s", (unsigned)g->hashes,
             g->hashes == 1 ? "" : "s");
}

/* ---- growth on paper --------------------------------------------------------------------------
 */

static unsigned growable_doublings_left(const bly_geometry *g) {
    return g->hashes - g->detail;
}

/* As far as growable.c goes by itself, or as far as the keys demand. */
static uint64_t growable_horizon(const bly_needs *needs) {
    enum { DOUBLINGS = 10 };
    if (needs->first_keys > BLYI_MAX_BITS >> DOUBLINGS)
        return needs->keys;
    uint64_t far = needs->first_keys << DOUBLINGS;
    return far > needs->keys ? far : needs->keys;
}

static bly_status plan_grown(const bly_needs *needs, uint64_t keys, bly_geometry *out) {
    uint64_t horizon = growable_horizon(needs);
    double floor = blyi_hash_floor((double)horizon, needs->hash_bits);
    if (floor > needs->fpr / 10)
        return BLY_EWEAKHASH;
    bly_status status = blyi_growable_plan(needs->first_keys, horizon, needs->fpr - floor, out);
    while (status == BLY_OK && blyi_buckets_hold(out->size) < keys && out->hashes > out->detail) {
        out->size *= 2;
        out->hashes--;
    }
    return status;
}

const blyi_planner blyi_growable_planner = {
    .check = check_growable,
    .bits = bits,
    .width = width,
    .plan = plan_growable,
    .rate = blyi_table_rate,
    .max_keys = blyi_table_most,
    .fill = blyi_table_fill,
    .doublings_left = growable_doublings_left,
    .horizon = growable_horizon,
    .plan_grown = plan_grown,
    .lookup_lines = 2,
};
