/* Sizing of counting filters.
 *
 * A key raises each of its counters once. So whether a counter is nonzero is one bit of a classic
 * filter, and the FPR follows from those bits: k, the number of counters and the FPR are those of
 * the plan of a classic filter, and the bits per key are the classic filter's times the bits of a
 * counter (docs/kinds/counting.md).
 *
 * Overflow. A key raises a given counter with probability q, so the number of times that n keys
 * have raised it is binomial. The tail of that distribution is summed from its first term.
 */
#include "filter/rate.h"
#include "kinds/counting/counting_layout.h"

#include <bloomery/filter.h>
#include <math.h>

enum { COUNTING_MIN_SIZE = 64 }; /* counters */

static bly_status counting_check(const bly_geometry *g) {
    if (!blyi_counting_width_is_valid(g->detail) || g->hashes < 1 ||
        g->hashes > BLYI_COUNTING_MAX_HASHES || g->size < COUNTING_MIN_SIZE)
        return BLY_EGEOMETRY;
    return g->size > BLYI_MAX_BITS / g->detail ? BLY_ETOOBIG : BLY_OK;
}

static uint64_t counting_bits(const bly_geometry *g) {
    return g->size * g->detail;
}

static unsigned counting_width(const bly_geometry *g) {
    return g->detail;
}

static uint64_t counting_max_keys(const bly_geometry *g) {
    (void)g;
    return BLYI_UNLIMITED_KEYS;
}

static uint64_t counting_counters(const bly_geometry *g) {
    return g->size;
}

/* ---- after n keys ---------------------------------------------------------------------------- */

static double counting_rate(const bly_geometry *g, double n) {
    bly_geometry classic = blyi_counting_classic(g);
    return blyi_rate(&classic, n);
}

/* ln(1 - q), where q is the probability that a key raises a given counter. */
static double counting_log_miss(const bly_geometry *g) {
    bly_geometry classic = blyi_counting_classic(g);
    return blyi_log_miss(&classic);
}

static double counting_fill(const bly_geometry *g, double n) {
    return -expm1(n * counting_log_miss(g));
}

double blyi_counting_keys(const bly_geometry *g, double fill) {
    return fill < 1 ? log1p(-fill) / counting_log_miss(g) : (double)INFINITY;
}

double blyi_counting_tail(const bly_geometry *g, double n, uint32_t min_count) {
    double miss = counting_log_miss(g), q = -expm1(miss), odds = q / (1 - q);
    if (min_count == 0)
        return 1;
    if (!(n >= min_count) || q >= 1)
        return n >= min_count ? 1 : 0;
    /* The terms are summed away from the mean: upwards from `min_count` if that is above the mean,
     * else downwards from the term before it. */
    bool above = min_count > n * q;
    double first = above ? min_count : min_count - 1.0, term = n * miss, sum = 0;
    for (double j = 0; j < first; j++)
        term += log((n - j) / (j + 1) * odds);
    term = exp(term);
    for (double j = first; term > sum * 1e-17 && j >= 0 && j <= n; j += above ? 1 : -1) {
        sum += term;
        term *= above ? (n - j) / (j + 1) * odds : j / ((n - j + 1) * odds);
    }
    return above ? fmin(1, sum) : fmax(0, 1 - sum);
}

double bly_plan_counter_overflow(const bly_geometry *g, double keys) {
    if (g->kind != BLY_COUNTING)
        return NAN;
    return blyi_counting_tail(g, keys, (uint32_t)blyi_counting_limit(g->detail));
}

/* ---- plans ----------------------------------------------------------------------------------- */

static bly_status counting_plan_as_classic(uint64_t keys, double fpr, bly_geometry *g) {
    bly_geometry classic;
    /* The rate of hash collisions was subtracted from fpr, so it may be a little below 2^-40, the
     * lowest FPR that bly_plan accepts. */
    bly_status status = bly_plan(BLY_CLASSIC, keys, fmax(fpr, 0x1p-40), 0, 128, &classic);
    if (status)
        return status;
    while (blyi_rate(&classic, (double)keys) > fpr)
        classic.size += 64 + classic.size / 65536 * 64;
    g->size = classic.size;
    g->hashes = classic.hashes;
    return BLY_OK;
}

bly_status blyi_counting_plan(uint64_t keys, double fpr, uint32_t width, bly_geometry *out) {
    bly_geometry g = {.kind = BLY_COUNTING, .detail = width};
    bly_status status = counting_plan_as_classic(keys, fpr, &g);
    if (status == BLY_OK)
        status = bly_plan_check(&g);
    if (status == BLY_OK)
        *out = g;
    return status;
}

static bly_status counting_plan(uint64_t keys, double fpr, bly_geometry *out) {
    return blyi_counting_plan(keys, fpr, BLYI_COUNTING_DEFAULT_BITS, out);
}

bly_status bly_plan_counting(uint64_t keys, double fpr, uint32_t counter_bits, unsigned hash_bits,
                             bly_geometry *out) {
    const uint32_t width = counter_bits ? counter_bits : BLYI_COUNTING_DEFAULT_BITS;
    bly_geometry bits;
    if (!blyi_counting_width_is_valid(width))
        return BLY_EINVAL;
    /* The other arguments are checked by planning a classic filter. */
    bly_status status = bly_plan(BLY_CLASSIC, keys, fpr, 0, hash_bits, &bits);
    if (status)
        return status;
    return blyi_counting_plan(keys, fpr - blyi_hash_floor((double)keys, hash_bits), width, out);
}

const blyi_planner blyi_counting_planner = {
    .check = counting_check,
    .bits = counting_bits,
    .width = counting_width,
    .plan = counting_plan,
    .plan_counters = bly_plan_counting,
    .rate = counting_rate,
    .max_keys = counting_max_keys,
    .fill = counting_fill,
    .counters = counting_counters,
};
