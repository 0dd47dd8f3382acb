/* Sizing of multilayer filters.
 *
 * FPR. For lookups a block is a Bloom filter of 320 bits, so the FPR is the mean of such a filter's
 * FPR over the number of keys that a block receives. A key's k cells are drawn independently, so
 * some may coincide. A non-member has d distinct cells with probability D(d). The t = k i probes of
 * the block's i keys have hit all of these d cells with probability
 *
 *     H(d, t) = (1 - d/B) H(d, t-1) + d/B H(d-1, t-1),   H(0, t) = 1,   H(d, 0) = 0
 *             = sum over j of (-1)^j C(d, j) (1 - j/B)^t
 *
 * where B = 320, and the block's FPR is the sum of D(d) H(d, t). That is exact. The second-order
 * formula of rate.c for classic filters is too low for so few cells, by 0.2% at 10^-8. The
 * recurrence adds only positive terms. The sum is faster, but where H is tiny its terms cancel:
 * with x = (1 - 1/B)^t they add up to about (1 - x)^k, but to (1 + x)^k without their signs. The
 * sum is used where this leaves eight correct digits.
 *
 * Spilled blocks. A block has 184 bits for counts, one for every cell of every copy: enough for
 * floor(184/k) copies, or a few more where a key's probes coincide. A block that receives more is
 * spilled, and then takes 648 bytes more, ten times as much as before. A plan allows at most one
 * spilled block in a thousand. The body has records for these from the start: enough for all but
 * one filter in a hundred, which then grows. It has no records if fewer than one filter in twenty
 * needs any.
 *
 * k. With c cells per key and lambda = k / c copies in each, a cell costs 1 bit and a copy 1 bit
 * more, c (1 + lambda) bits per key, and p = (1 - e^-lambda)^k. At p = 1% that is smallest, 14.5
 * bits, at lambda = 0.39 and k = 4, or 0.61 log2(1/p) in general. A Bloom filter, in which only c
 * matters, is best with lambda = ln 2. The 7 cells per key that follow from that would take 16.6
 * bits here. Blocks fill unevenly, so more bits are needed, and all k are tried. For few keys,
 * where a table of records is large compared with the blocks, more blocks and no table may take
 * less.
 *
 * Bits per key, table included, of plans:
 *
 *     keys      1%, k = 4   0.5%, 4   0.1%, 5   0.01%, 7
 *     10^3         17.9       22.0      30.2      42.5
 *     10^4         19.7       21.8      30.2      44.4
 *     10^5         18.3       21.8      30.4      42.6
 *     10^6         18.2       21.8      30.2      42.5
 *     10^7         18.1       21.7      30.2      42.4
 */
#include "filter/rate.h"
#include "filter/size_search.h"
#include "kinds/multilayer/multilayer_layout.h"

#include <math.h>

/* The largest shares that a plan accepts: of blocks that spill; of filters that need more records
 * than they have, if they have some; and of filters that need records, if they have none. */
static const double ml_max_spilled = 1e-3;
static const double ml_max_growing = 0.01;
static const double ml_max_without_records = 0.05;

/* ---- geometry -------------------------------------------------------------------------------- */

static uint64_t ml_bits(const bly_geometry *g) {
    uint64_t records = blyi_ml_max_records(g);
    return 8 * (g->size * 64 + blyi_ml_list_bytes(records) + records * BLYI_ML_RECORD_BYTES);
}

/* A geometry may have at most one record per block, rounded up to a size class. */
static bly_status ml_check(const bly_geometry *g) {
    if (g->size == 0 || g->hashes == 0 || g->hashes > BLYI_ML_MAX_HASHES)
        return BLY_EGEOMETRY;
    if (g->size > BLYI_MAX_BITS / 512)
        return BLY_ETOOBIG;
    if (g->detail > blyi_size_class_for(g->size))
        return BLY_EGEOMETRY;
    return ml_bits(g) > BLYI_MAX_BITS ? BLY_ETOOBIG : BLY_OK;
}

static unsigned ml_width(const bly_geometry *g) {
    (void)g;
    return 1;
}

/* ---- the FPR of a block ---------------------------------------------------------------------- */

/* out[d] = D(d): the probability that k probes of B cells hit d distinct ones. */
static void ml_distinct_cells(unsigned B, unsigned k, double out[BLYI_ML_MAX_HASHES + 1]) {
    out[0] = 1;
    for (unsigned d = 1; d <= k; d++)
        out[d] = 0;
    for (unsigned j = 0; j < k; j++, out[0] = 0)
        for (unsigned d = j + 1; d > 0; d--)
            out[d] = (out[d] * d + out[d - 1] * (B - d + 1)) / B;
}

/* The sum of D(d) H(d, t), by the recurrence. */
static double ml_rate_by_recurrence(unsigned B, unsigned k, const double *distinct, unsigned t) {
    double hit[BLYI_ML_MAX_HASHES + 1] = {1}, sum = 0;
    for (; t > 0; t--)
        for (unsigned d = k; d > 0; d--)
            hit[d] = (hit[d] * (B - d) + hit[d - 1] * d) / B;
    for (unsigned d = 1; d <= k; d++)
        sum += distinct[d] * hit[d];
    return sum;
}

/* The sum of D(d) H(d, t), by the alternating sum; t may be a mean number of probes. */
static double ml_rate_by_sum(unsigned B, unsigned k, const double *distinct, double t) {
    double sum = 0, sign = 1;
    for (unsigned j = 0; j <= k; j++, sign = -sign) {
        double choices = 0, ways = 1; /* ways = C(d, j) */
        for (unsigned d = j; d <= k; ways *= (d + 1.0) / (d + 1 - j), d++)
            choices += distinct[d] * ways;
        sum += sign * choices * pow(1 - (double)j / B, t);
    }
    return fmin(1, fmax(0, sum));
}

double blyi_ml_block_rate(unsigned block, double i) {
    static const double max_cancelled = 1e8;
    unsigned B = block >> 8, k = block & 255;
    double distinct[BLYI_ML_MAX_HASHES + 1], free = exp(k * i * log1p(-1.0 / B));
    ml_distinct_cells(B, k, distinct);
    return pow((1 + free) / (1 - free), k) < max_cancelled
               ? ml_rate_by_sum(B, k, distinct, k * i)
               : ml_rate_by_recurrence(B, k, distinct, (unsigned)ceil(k * i));
}

/* ---- after n keys ---------------------------------------------------------------------------- */

/* The probability, 0 or 1, that a block with i keys is spilled. */
static double ml_block_spills(unsigned k, double i) {
    return i > BLYI_ML_LAYER_BITS / k ? 1 : 0;
}

static double ml_rate(const bly_geometry *g, double n) {
    return blyi_binomial_mean(n, (double)g->size, blyi_ml_block_rate,
                              blyi_ml_block_type(BLYI_ML_CELLS, g->hashes));
}

double blyi_ml_spilled_share(const bly_geometry *g, double n) {
    return blyi_binomial_mean(n, (double)g->size, ml_block_spills, g->hashes);
}

double blyi_ml_bit_probability(const bly_geometry *g) {
    return -expm1(g->hashes * log1p(-1.0 / BLYI_ML_CELLS)) / (double)g->size;
}

double blyi_ml_keys(const bly_geometry *g, double fill) {
    if (!(fill < 1))
        return (double)INFINITY;
    return log1p(-fill) / log1p(-blyi_ml_bit_probability(g));
}

static double ml_fill(const bly_geometry *g, double n) {
    return -expm1(n * log1p(-blyi_ml_bit_probability(g)));
}

/* ---- plan ------------------------------------------------------------------------------------ */

/* The size class of the records that n keys are expected to need. Their number is nearly
 * Poisson. */
static unsigned ml_size_class(const bly_geometry *g, double n) {
    double mean = blyi_ml_spilled_share(g, n) * (double)g->size;
    double term = exp(-mean), beyond = -expm1(-mean);
    uint64_t records = 0;
    if (beyond <= ml_max_without_records)
        return 0;
    if (mean > 500) /* the number is nearly normal, and e^-mean may underflow */
        return blyi_size_class_for((uint64_t)(mean + 2.5 * sqrt(mean)));
    for (; beyond > ml_max_growing; records++) {
        term *= mean / (double)(records + 1);
        beyond -= term;
    }
    return blyi_size_class_for(records);
}

/* What the search for a number of blocks needs: the geometry without it, the number of keys, the
 * FPR. */
typedef struct ml_sizing {
    bly_geometry g;
    double n, p;
} ml_sizing;

static double ml_excess(void *ctx, uint64_t blocks) {
    ml_sizing *z = ctx;
    z->g.size = blocks;
    double spills = blyi_excess(blyi_ml_spilled_share(&z->g, z->n), ml_max_spilled);
    return spills > 0 ? spills : fmax(spills, blyi_excess(ml_rate(&z->g, z->n), z->p));
}

/* The smallest number of blocks, with g->hashes cells per key; 0 if it is more than `limit`. */
static uint64_t ml_min_blocks(const bly_geometry *g, double n, double p, uint64_t limit) {
    ml_sizing z = {*g, n, p};
    double k = g->hashes, cells = -k * n / log1p(-pow(p, 1 / k));
    double ideal = fmax(cells / BLYI_ML_CELLS, k * n / BLYI_ML_LAYER_BITS);
    uint64_t first = ideal < (double)limit ? (uint64_t)ideal + 1 : limit;
    blyi_size_search s = {ml_excess, &z, 0, first, limit, k};
    return ml_excess(&z, limit) > 0 ? 0 : blyi_smallest_size(&s);
}

/* The smallest number of blocks, from `min` to `limit`, with which the records of that size class
 * are enough; 0 if they are not enough even with `limit` blocks. */
static uint64_t ml_blocks_for_records(bly_geometry *g, unsigned size_class, double n, uint64_t min,
                                      uint64_t limit) {
    uint64_t low = min - 1, high = limit;
    g->size = limit;
    if (ml_size_class(g, n) > size_class)
        return 0;
    while (high - low > 1) {
        g->size = low + (high - low) / 2;
        if (ml_size_class(g, n) <= size_class)
            high = g->size;
        else
            low = g->size;
    }
    return high;
}

/* Updates *best with this number of blocks and the records they need, or with more blocks and
 * fewer records, if that takes less memory. More records than needed are never better. */
static void ml_try_records(bly_geometry *g, uint64_t blocks, double n, bly_geometry *best) {
    g->size = blocks;
    for (unsigned size_class = ml_size_class(g, n) + 1; size_class-- > 0 && blocks > 0;) {
        uint64_t limit = best->size ? ml_bits(best) / 512 : BLYI_MAX_BITS / 512;
        if (blocks > limit)
            break;
        blocks = ml_blocks_for_records(g, size_class, n, blocks, limit);
        g->size = blocks;
        g->detail = size_class;
        if (ml_check(g) == BLY_OK && (best->size == 0 || ml_bits(g) < ml_bits(best)))
            *best = *g;
    }
}

static bly_status ml_plan(uint64_t keys, double fpr, bly_geometry *out) {
    bly_geometry best = {0}, g = {.kind = BLY_MULTILAYER};
    double n = (double)keys;
    for (g.hashes = 1; g.hashes <= BLYI_ML_MAX_HASHES; g.hashes++) {
        uint64_t limit = best.size ? ml_bits(&best) / 512 : BLYI_MAX_BITS / 512;
        uint64_t blocks = ml_min_blocks(&g, n, fpr, limit);
        if (blocks)
            ml_try_records(&g, blocks, n, &best);
    }
    if (best.size == 0)
        return BLY_ETOOBIG;
    *out = best;
    return BLY_OK;
}

/* The largest number of keys that a plan would allow: with more, too many blocks would spill, or
 * more than there are records for. */
static uint64_t ml_max_keys(const bly_geometry *g) {
    uint64_t low = 1, high = g->size * BLYI_ML_LAYER_BITS / g->hashes + 2;
    while (high - low > 1) {
        uint64_t mid = low + (high - low) / 2;
        if (blyi_ml_spilled_share(g, (double)mid) <= ml_max_spilled &&
            ml_size_class(g, (double)mid) <= g->detail)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static uint64_t ml_counters(const bly_geometry *g) {
    return g->size * BLYI_ML_CELLS;
}

const blyi_planner blyi_multilayer_planner = {
    .check = ml_check,
    .bits = ml_bits,
    .width = ml_width,
    .plan = ml_plan,
    .rate = ml_rate,
    .max_keys = ml_max_keys,
    .fill = ml_fill,
    .lookup_lines = 1,
    .counters = ml_counters,
};
