/* Sizing counting filters.
 *
 * A key raises each of its counters once, so which counters are not 0 is a matter of bits, and the
 * rates are those of bits: k, the number of counters and the rate are taken from the plan of a
 * classic filter. Bits per key at 1% / 0.1% / 0.01%, for a million keys:
 *
 *     bits of a counter    2: 19.2 / 28.8 / 38.3     8: 76.7 / 115 / 153
 *                          4: 38.4 / 57.5 / 76.7    16: 153 / 230 / 307
 *
 * How full counters get. A key raises a given counter with probability q, so n keys have raised it
 * a binomial number of times; the tail of that is summed from its first term.
 *
 * The rate of a line of B cells in which each key has k places (a multilayer filter's block) is
 * here too. A key's k places are drawn independently, so that some may be the same. A non-member's
 * places are d different ones with probability D(d); all of these have been hit by the t = k i
 * places of the line's i keys with probability
 *
 *     H(d, t) = (1 - d/B) H(d, t-1) + d/B H(d-1, t-1),   H(0, t) = 1,   H(d, 0) = 0
 *             = sum over j of (-1)^j C(d, j) (1 - j/B)^t
 *
 * and the line's rate is the sum of D(d) H(d, t). That is exact; the second-order formula of rate.c
 * is not good enough for lines of so few cells. The recurrence adds up what is positive. The sum
 * is quicker, but where H is tiny its terms cancel: with x = (1 - 1/B)^t they add up to about
 * (1 + x)^k in size, and to (1 - x)^k with their signs. It is used where that leaves eight digits.
 */
#include "kinds/counting/counting_plan.h"
#include "filter/kind.h"
#include "filter/rate.h"

#include <math.h>

enum { MIN_CELLS = 64 };

static bly_status check_counting(const bly_geometry *g) {
    if (!blyi_counter_fits(g->detail) || g->hashes < 1 || g->hashes > BLYI_MAX_COUNTERS ||
        g->size < MIN_CELLS)
        return BLY_EGEOMETRY;
    return g->size > BLYI_MAX_BITS / g->detail ? BLY_ETOOBIG : BLY_OK;
}

static uint64_t bits(const bly_geometry *g) {
    return g->size * g->detail;
}

static unsigned width(const bly_geometry *g) {
    return g->detail;
}

static uint64_t most(const bly_geometry *g) {
    (void)g;
    return BLYI_UNLIMITED_KEYS;
}

/* ---- counters -------------------------------------------------------------------------------- */

/* ln(1 - q), q being the chance that a key raises a given counter. */
static double log_miss(const bly_geometry *g) {
    bly_geometry classic = blyi_counting_classic(g);
    return blyi_log_miss(&classic);
}

static double fill(const bly_geometry *g, double n) {
    return -expm1(n * log_miss(g));
}

double blyi_counting_keys(const bly_geometry *g, double share) {
    return share < 1 ? log1p(-share) / log_miss(g) : (double)INFINITY;
}

double blyi_counting_tail(const bly_geometry *g, double n, uint32_t least) {
    double miss = log_miss(g), q = -expm1(miss), odds = q / (1 - q);
    if (least == 0)
        return 1;
    if (!(n >= least) || q >= 1)
        return n >= least ? 1 : 0;
    /* Summed away from the mean: upwards from `least` when that is above it, else downwards. */
    bool above = least > n * q;
    double first = above ? least : least - 1.0, term = n * miss, sum = 0;
    for (double j = 0; j < first; j++)
        term += log((n - j) / (j + 1) * odds);
    term = exp(term);
    for (double j = first; term > sum * 1e-17 && j >= 0 && j <= n; j += above ? 1 : -1) {
        sum += term;
        term *= above ? (n - j) / (j + 1) * odds : j / ((n - j + 1) * odds);
    }
    return above ? fmin(1, sum) : fmax(0, 1 - sum);
}

/* ---- rates ----------------------------------------------------------------------------------- */

static double counting_rate(const bly_geometry *g, double n) {
    bly_geometry classic = blyi_counting_classic(g);
    return blyi_rate(&classic, n);
}

/* out[d] = the chance that k places of B are d different ones. */
static void spread(unsigned B, unsigned k, double out[BLYI_MAX_PLACES + 1]) {
    out[0] = 1;
    for (unsigned d = 1; d <= k; d++)
        out[d] = 0;
    for (unsigned j = 0; j < k; j++, out[0] = 0)
        for (unsigned d = j + 1; d > 0; d--)
            out[d] = (out[d] * d + out[d - 1] * (B - d + 1)) / B;
}

/* Sum of D(d) H(d, t), by the recurrence. */
static double by_recurrence(unsigned B, unsigned k, const double *different, unsigned t) {
    double hit[BLYI_MAX_PLACES + 1] = {1}, sum = 0;
    for (; t > 0; t--)
        for (unsigned d = k; d > 0; d--)
            hit[d] = (hit[d] * (B - d) + hit[d - 1] * d) / B;
    for (unsigned d = 1; d <= k; d++)
        sum += different[d] * hit[d];
    return sum;
}

/* The same, by the sum, for t places or their mean. */
static double by_sum(unsigned B, unsigned k, const double *different, double t) {
    double sum = 0, sign = 1;
    for (unsigned j = 0; j <= k; j++, sign = -sign) {
        double choices = 0, ways = 1; /* ways = C(d, j) */
        for (unsigned d = j; d <= k; ways *= (d + 1.0) / (d + 1 - j), d++)
            choices += different[d] * ways;
        sum += sign * choices * pow(1 - (double)j / B, t);
    }
    return fmin(1, fmax(0, sum));
}

double blyi_line_rate(unsigned shape, double i) {
    static const double most_cancelled = 1e8;
    unsigned B = shape >> 8, k = shape & 255;
    double different[BLYI_MAX_PLACES + 1], free = exp(k * i * log1p(-1.0 / B));
    spread(B, k, different);
    return pow((1 + free) / (1 - free), k) < most_cancelled
               ? by_sum(B, k, different, k * i)
               : by_recurrence(B, k, different, (unsigned)ceil(k * i));
}

/* ---- plans ----------------------------------------------------------------------------------- */

static bly_status plan_as_classic(uint64_t keys, double fpr, bly_geometry *g) {
    bly_geometry classic;
    /* What is left of the lowest rate when the hash's floor is off may be a little lower. */
    bly_status status = bly_plan(BLY_CLASSIC, keys, fmax(fpr, 0x1p-40), 0, 128, &classic);
    if (status)
        return status;
    while (blyi_rate(&classic, (double)keys) > fpr)
        classic.size += 64 + classic.size / 65536 * 64;
    g->size = classic.size;
    g->hashes = classic.hashes;
    return BLY_OK;
}

bly_status blyi_counting_plan(uint64_t keys, double fpr, uint32_t counter_bits, bly_geometry *out) {
    bly_geometry g = {.kind = BLY_COUNTING, .detail = counter_bits};
    bly_status status = plan_as_classic(keys, fpr, &g);
    if (status == BLY_OK)
        status = bly_plan_check(&g);
    if (status == BLY_OK)
        *out = g;
    return status;
}

static bly_status plan_counting(uint64_t keys, double fpr, bly_geometry *out) {
    return blyi_counting_plan(keys, fpr, BLYI_COUNTER_BITS, out);
}

static uint64_t counting_counters(const bly_geometry *g) {
    return g->size;
}

const blyi_planner blyi_counting_planner = {
    .check = check_counting,
    .bits = bits,
    .width = width,
    .plan = plan_counting,
    .rate = counting_rate,
    .max_keys = most,
    .fill = fill,
    .counters = counting_counters,
};
