/* Sizing of sbbf, split512 and bb2x512: their layouts and expected FPRs.
 *
 * Lanes. In a block of L lanes of w bits, with one bit of each key in each lane, lanes are
 * independent given the number i of keys in the block: the FPR is (1-(1-1/w)^i)^L, exactly. Where
 * keys have two bits in a lane, the exact formula for two probes below is used. The FPR of a filter
 * is the mean over blocks (filter/rate.c).
 */
#include "filter/rate.h"
#include "kinds/blocked/blocked_layout.h"

#include <math.h>

bly_kind bly_plan_kind(double fpr) {
    return fpr >= 0.004 ? BLY_SBBF : fpr >= 0.001 ? BLY_SPLIT512 : BLY_BB2X512;
}

/* ---- sbbf ------------------------------------------------------------------------------------ */

static double sbbf_block_rate(unsigned k, double i) {
    /* The mask comes from 32 bits of the hash, so a non-member has the same mask as a member with
     * probability 2^-32 for each key in the block. */
    return fmin(1, blyi_power(-expm1(i * log1p(-1.0 / 32)), k) + i * 0x1p-32);
}

static double sbbf_rate(const bly_geometry *g, double n) {
    return blyi_binomial_mean(n, (double)g->size, sbbf_block_rate, g->hashes);
}

static double sbbf_log_miss(const bly_geometry *g) {
    return log1p(-1 / (32 * (double)g->size));
}

/* ---- split512 -------------------------------------------------------------------------------- */

/* The exact probability that two independent probes of a lane of w bits both hit after t bits were
 * set at random. */
static double split512_lane_twice(double w, double t) {
    double e1 = exp(t * log1p(-1 / w)), e2 = exp(t * log1p(-2 / w));
    return 1 - 2 * e1 + (e1 + (w - 1) * e2) / w;
}

/* The probability that k probes, one in each of k lanes, all hit after t bits were set at random in
 * each lane. */
static double split512_lanes_once(unsigned k, double t) {
    return blyi_power(-expm1(t * log1p(-1.0 / 64)), k);
}

/* The same for 2 k probes, two in each of k lanes. */
static double split512_lanes_twice(unsigned k, double t) {
    return blyi_power(split512_lane_twice(64, t), k);
}

/* For k = 12: the FPR of a block of i keys if j of them set a second bit in each of the four lanes
 * that the lookup probes twice. The first parameter, which is k in other functions of this type, is
 * i here. */
static double split512_halves(unsigned i, double j) {
    return blyi_memoised(split512_lanes_twice, 4, i + j) *
           blyi_memoised(split512_lanes_once, 4, 2.0 * i - j);
}

static double split512_block_rate(unsigned k, double i) {
    if (k == 8)
        return split512_lanes_once(8, i);
    if (k == 16)
        return split512_lanes_twice(8, 2 * i);
    if (i > 8192) /* practically every bit is set */
        return 1;
    return blyi_binomial_mean_uncached(i, 2, split512_halves, (unsigned)i);
}

static double split512_rate(const bly_geometry *g, double n) {
    return blyi_binomial_mean(n, (double)g->size, split512_block_rate, g->hashes);
}

static double split512_log_miss(const bly_geometry *g) {
    double second = g->hashes == 16 ? 1.0 / 64 : g->hashes == 12 ? 1.0 / 128 : 0;
    return log1p(-(1 - 63.0 / 64 * (1 - second)) / (double)g->size);
}

/* ---- bb2x512 --------------------------------------------------------------------------------- */

/* The probability that a non-member's `half` probes of a block with i keys all hit. */
static double bb2x512_one_block(unsigned half, double i) {
    return blyi_cells_rate(512, half * i, half);
}

/* The same if both of its blocks are this one, so that 2 * half probes must hit. */
static double bb2x512_same_block(unsigned half, double i) {
    return blyi_cells_rate(512, half * i, 2 * half);
}

/* How much bb2x512_one_block grows with one more key. */
static double bb2x512_slope(unsigned half, double i) {
    return bb2x512_one_block(half, i + 1) - bb2x512_one_block(half, i);
}

/* The two blocks of a lookup are two draws from the same z blocks. With probability 1/z they are
 * the same block. Otherwise their loads are not independent: all blocks together have 2n keys, so
 * one block tends to have fewer if the other has more (the covariance of their loads is -2n/z^2).
 * Both effects matter only for a handful of blocks. */
static double bb2x512_rate(const bly_geometry *g, double n) {
    static const blyi_block_rate rates[] = {bb2x512_one_block, bb2x512_same_block, bb2x512_slope};
    double z = (double)g->size, mean[3] = {0};
    blyi_binomial_means(2 * n, z, rates, z < 1000 ? 3 : 2, g->hashes / 2, mean);
    double apart = mean[0] * mean[0] - 2 * n / (z * z) * mean[2] * mean[2];
    return fmax(0, apart) * (1 - 1 / z) + mean[1] / z;
}

static double bb2x512_log_miss(const bly_geometry *g) {
    return 2 * log1p(expm1(g->hashes / 2 * log1p(-1.0 / 512)) / (double)g->size);
}

/* ---- layouts --------------------------------------------------------------------------------- */

#define BLOCK_LAYOUT(bits, k_min, k_max, every, miss)                                              \
    {                                                                                              \
        .unit_bits = bits, .step = 1, .min_size = 1, .min_valid = 1, .size_unit = 1,               \
        .min_k = k_min, .max_k = k_max, .k_step = every, .options = BLY_FOLDABLE,                  \
        .log_miss = miss,                                                                          \
    }

static const blyi_bit_layout sbbf_layout = BLOCK_LAYOUT(256, 8, 8, 1, sbbf_log_miss);
static const blyi_bit_layout split512_layout = BLOCK_LAYOUT(512, 8, 16, 4, split512_log_miss);
static const blyi_bit_layout bb2x512_layout = BLOCK_LAYOUT(512, 2, 16, 2, bb2x512_log_miss);

const blyi_planner blyi_sbbf_planner = {
    .layout = &sbbf_layout, .rate = sbbf_rate, .lookup_lines = 1};
const blyi_planner blyi_split512_planner = {
    .layout = &split512_layout, .rate = split512_rate, .lookup_lines = 1};
const blyi_planner blyi_bb2x512_planner = {
    .layout = &bb2x512_layout, .rate = bb2x512_rate, .lookup_lines = 2};
