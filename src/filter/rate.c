/* The false-positive calculator.
 *
 * Cells. Throw t balls into B cells; X cells are then occupied. k later probes all hit occupied
 * cells with probability E[(X/B)^k]. To second order
 *     (EX/B)^k * (1 + k(k-1)/2 * V/EX^2),   e1 = (1-1/B)^t, EX = B(1-e1),
 *     V = B e1 (1-e1) + B(B-1)(e2 - e1^2),  e2 = (1-2/B)^t
 * The first factor is the textbook formula; the second corrects for the spread of X (Bose et al.
 * 2008) and is what makes blocks of 512 cells come out right: without it the rate is 2% too low
 * at 0.1% and 3.5% at 0.01%. e2 - e1^2 is computed as e1^2 expm1(t log1p(-1/(B-1)^2)), which does
 * not cancel.
 *
 * Blocks. A block receives i of the n keys with binomial probability; the filter's rate is the
 * mean of a block's rate over i (Putze, Sanders and Singler 2007): mixture.c.
 *
 * Lanes. Within a block of L lanes, one bit of each key in each lane, lanes are independent given
 * i: (1-(1-1/w)^i)^L, exactly. Two bits a lane use the exact two-probe form below.
 */
#include "filter/rate.h"
#include "filter/binomial_mean.h"
#include "filter/planner.h"

#include <math.h>

static double power(double x, unsigned k) {
    double r = 1;
    for (; k; k >>= 1, x *= x)
        if (k & 1)
            r *= x;
    return r;
}

/* E[(X/B)^k] after t balls in B cells; B >= 3. */
static double cells(double B, double t, unsigned k) {
    if (t <= 0)
        return 0;
    double e1 = exp(t * log1p(-1 / B));
    double occupied = B * -expm1(t * log1p(-1 / B));
    double spread =
        B * e1 * (1 - e1) + B * (B - 1) * e1 * e1 * expm1(t * log1p(-1 / ((B - 1) * (B - 1))));
    double correction = 1 + k * (k - 1.0) / 2 * fmax(spread, 0) / (occupied * occupied);
    return fmin(1, power(occupied / B, k) * correction);
}

/* Both of two independent probes of a lane of w cells hit, after t balls: exact. */
static double lane_twice(double w, double t) {
    double e1 = exp(t * log1p(-1 / w)), e2 = exp(t * log1p(-2 / w));
    return 1 - 2 * e1 + (e1 + (w - 1) * e2) / w;
}

static double sbbf_block(unsigned k, double i) {
    /* The mask comes from 32 bits of hash, so a stranger shares a stored key's whole mask with
     * probability 2^-32 per key in the block. */
    return fmin(1, power(-expm1(i * log1p(-1.0 / 32)), k) + i * 0x1p-32);
}

/* split512: k probes, one in each lane, all hit after t bits were set in each; and the same with
 * two probes to a lane. */
static double lanes_once(unsigned k, double t) {
    return power(-expm1(t * log1p(-1.0 / 64)), k);
}

static double lanes_twice(unsigned k, double t) {
    return power(lane_twice(64, t), k);
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

static double pair_once(unsigned half, double i) {
    return cells(512, half * i, half);
}

static double pair_both(unsigned half, double i) {
    return cells(512, half * i, 2 * half);
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

/* What double hashing adds. A query whose step equals a stored key's, or its negative, and whose
 * start lies s steps along it, shares all but |s| of that key's bits: a false positive unless one
 * of the |s| is clear. An odd step takes only half the residues of an even m; modulo an odd m, it
 * can be 0, and then a single bit decides. Exact when m is a power of two; else the sum's wrapping
 * at 2^64 breaks up most of these families, and this is an upper bound. */
double blyi_textbook_extra(const bly_geometry *g, double n) {
    double m = (double)g->size;
    unsigned k = g->hashes;
    if (!(g->options & BLY_TEXTBOOK))
        return 0;
    double fill = -expm1(k * n * log1p(-1 / m)), shifts = 1, term = 1;
    bool even = fmod(m, 2) == 0;
    for (unsigned s = 1; s < k; s++)
        shifts += 2 * (term *= fill);
    double same_step = even ? 2 / m : 1 / m;
    return n * 2 * same_step / m * shifts + (even ? 0 : fill / m);
}

double blyi_rate(const bly_geometry *g, double n) {
    double size = (double)g->size;
    const blyi_planner *own = blyi_planner_of(g->kind);
    if (n <= 0)
        return 0;
    if (own)
        return fmin(1, own->rate(g, n));
    switch (g->kind) {
    case BLY_CLASSIC:
        return fmin(1, cells(size, g->hashes * n, g->hashes) + blyi_textbook_extra(g, n));
    case BLY_PARTITIONED:
        return power(-expm1(n * log1p(-1 / size)), g->hashes);
    case BLY_SBBF:
        return blyi_binomial_mean(n, size, sbbf_block, g->hashes);
    case BLY_SPLIT512:
        return blyi_binomial_mean(n, size, split_block, g->hashes);
    case BLY_BB2X512:
        return pair_rate(size, g->hashes, n);
    default: /* no fixed geometry, no rate */
        break;
    }
    return 1;
}

double blyi_log_miss(const bly_geometry *g) {
    double size = (double)g->size;
    double second = g->hashes == 16 ? 1.0 / 64 : g->hashes == 12 ? 1.0 / 128 : 0;
    switch (g->kind) {
    case BLY_CLASSIC:
        return g->hashes * log1p(-1 / size);
    case BLY_PARTITIONED:
        return log1p(-1 / size);
    case BLY_SBBF:
        return log1p(-1 / (32 * size));
    case BLY_SPLIT512:
        return log1p(-(1 - 63.0 / 64 * (1 - second)) / size);
    case BLY_BB2X512:
        return 2 * log1p(expm1(g->hashes / 2 * log1p(-1.0 / 512)) / size);
    default: /* not made of bits that keys set at random */
        break;
    }
    return 0;
}

double blyi_hash_floor(double n, unsigned bits) {
    return fmin(1, ldexp(n, -(int)bits));
}
