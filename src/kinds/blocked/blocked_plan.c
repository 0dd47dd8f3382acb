/* Sizing of sbbf, split512 and bb2x512: their layouts and expected rates.
 *
 * Lanes. Within a block of L lanes, with one bit of each key in each lane, lanes are independent
 * given the number i of keys in the block: (1-(1-1/w)^i)^L, exactly. Two bits a lane use the exact
 * two-probe form below. The rate of a filter is the mean over blocks (filter/rate.c).
 */
#include "kinds/blocked/blocked_plan.h"
#include "filter/rate.h"

#include <math.h>

bly_kind bly_plan_layout(double fpr) {
    return fpr >= 0.004 ? BLY_SBBF : fpr >= 0.001 ? BLY_SPLIT512 : BLY_BB2X512;
}

/* ---- sbbf ------------------------------------------------------------------------------------ */

static double sbbf_block(unsigned k, double i) {
    /* The mask comes from 32 bits of hash, so a non-member shares a stored key's whole mask with
     * probability 2^-32 per key in the block. */
    return fmin(1, blyi_power(-expm1(i * log1p(-1.0 / 32)), k) + i * 0x1p-32);
}

static double sbbf_rate(const bly_geometry *g, double n) {
    return blyi_binomial_mean(n, (double)g->size, sbbf_block, g->hashes);
}

static double sbbf_log_miss(const bly_geometry *g) {
    return log1p(-1 / (32 * (double)g->size));
}

/* ---- split512 -------------------------------------------------------------------------------- */

/* Both of two independent probes of a lane of w cells hit, after t balls: exact. */
static double lane_twice(double w, double t) {
    double e1 = exp(t * log1p(-1 / w)), e2 = exp(t * log1p(-2 / w));
    return 1 - 2 * e1 + (e1 + (w - 1) * e2) / w;
}

/* split512: k probes, one in each lane, all hit after t bits were set in each; and the same with
 * two probes to a lane. */
static double lanes_once(unsigned k, double t) {
    return blyi_power(-expm1(t * log1p(-1.0 / 64)), k);
}

static double lanes_twice(unsigned k, double t) {
    return blyi_power(lane_twice(64, t), k);
}

/* k = 12: j of the block's i keys put their second bit in the half that the query probes twice. (k
 * carries i here.) */
static double split_halves(unsigned i, double j) {
    return blyi_memoised(lanes_twice, 4, i + j) * blyi_memoised(lanes_once, 4, 2.0 * i - j);
}

static double split_block(unsigned k, double i) {
    if (k == 8)
        return lanes_once(8, i);
    if (k == 16)
        return lanes_twice(8, 2 * i);
    if (i > 8192) /* full to the last bit */
        return 1;
    return blyi_binomial_mean_uncached(i, 2, split_halves, (unsigned)i);
}

static double split_rate(const bly_geometry *g, double n) {
    return blyi_binomial_mean(n, (double)g->size, split_block, g->hashes);
}

static double split_log_miss(const bly_geometry *g) {
    double second = g->hashes == 16 ? 1.0 / 64 : g->hashes == 12 ? 1.0 / 128 : 0;
    return log1p(-(1 - 63.0 / 64 * (1 - second)) / (double)g->size);
}

/* ---- bb2x512 --------------------------------------------------------------------------------- */

static double pair_once(unsigned half, double i) {
    return blyi_cells_rate(512, half * i, half);
}

static double pair_both(unsigned half, double i) {
    return blyi_cells_rate(512, half * i, 2 * half);
}

static double pair_slope(unsigned half, double i) {
    return pair_once(half, i + 1) - pair_once(half, i);
}

/* bb2x512: a query's two blocks are two draws from the same z blocks: now and then (1/z) the same
 * one; else two that share a fixed number of keys, so that what one has more the other has less
 * (their loads covary by -2n/z^2). Both effects matter for a handful of blocks only. */
static double pair_rate(double z, unsigned k, double n) {
    static const blyi_block_rate rates[] = {pair_once, pair_both, pair_slope};
    double mean[3] = {0};
    blyi_binomial_means(2 * n, z, rates, z < 1000 ? 3 : 2, k / 2, mean);
    double apart = mean[0] * mean[0] - 2 * n / (z * z) * mean[2] * mean[2];
    return fmax(0, apart) * (1 - 1 / z) + mean[1] / z;
}

static double bb2x512_rate(const bly_geometry *g, double n) {
    return pair_rate((double)g->size, g->hashes, n);
}

static double bb2x512_log_miss(const bly_geometry *g) {
    return 2 * log1p(expm1(g->hashes / 2 * log1p(-1.0 / 512)) / (double)g->size);
}

/* ---- layouts --------------------------------------------------------------------------------- */

#define BLOCK_LAYOUT(bits, least, most, every, miss)                                               \
    {                                                                                              \
        .unit_bits = bits, .step = 1, .min_size = 1, .min_valid = 1, .size_unit = 1,               \
        .min_k = least, .max_k = most, .k_step = every, .options = BLY_FOLDABLE, .log_miss = miss, \
    }

static const blyi_bit_layout sbbf_layout = BLOCK_LAYOUT(256, 8, 8, 1, sbbf_log_miss);
static const blyi_bit_layout split_layout = BLOCK_LAYOUT(512, 8, 16, 4, split_log_miss);
static const blyi_bit_layout bb2x512_layout = BLOCK_LAYOUT(512, 2, 16, 2, bb2x512_log_miss);

const blyi_planner blyi_sbbf_planner = {
    .layout = &sbbf_layout, .rate = sbbf_rate, .lookup_lines = 1};
const blyi_planner blyi_split512_planner = {
    .layout = &split_layout, .rate = split_rate, .lookup_lines = 1};
const blyi_planner blyi_bb2x512_planner = {
    .layout = &bb2x512_layout, .rate = bb2x512_rate, .lookup_lines = 2};
