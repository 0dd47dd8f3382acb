/* Sizing multilayer filters.
 *
 * Rate. To queries a block is a Bloom filter of 320 bits, so the rate is the mean of such a
 * filter's rate over the number of keys that a block receives. It is that of a line of counters
 * (plan_counting.c), exact: rate.c's formula for classic filters is too low here, by 0.2% at 10^-8.
 *
 * Spills. A block has 184 bits for counts, one for every cell of every copy: room for floor(184/k)
 * copies, or a few more where a key's probes coincide. A block that receives more is spilled, and
 * then takes 648 bytes more, ten times as much as before. A plan lets at most one block in a
 * thousand come to that. For the number of those there is room from the start: so much that one
 * filter in a hundred needs more, and then grows; none where fewer than one in twenty needs any.
 *
 * k. With c cells per key and lambda = k / c copies in each, a cell costs 1 bit and a copy 1 bit
 * more, c (1 + lambda) bits per key; and p = (1 - e^-lambda)^k. At p = 1% that is smallest, 14.5
 * bits, at lambda = 0.39 and k = 4, or 0.61 log2(1/p) in general; with the 7 cells of a Bloom
 * filter, whose lambda = ln 2 is best where only c matters, it would be 16.6. Blocks fill unevenly
 * and must leave room for that, so more is needed; all k are tried. For few keys, where a table is
 * large beside the blocks, more blocks and no table may take less.
 *
 * Bits per key, table included, of the plans made here:
 *
 *     keys      1%, k = 4   0.5%, 4   0.1%, 5   0.01%, 7
 *     10^3         17.9       22.0      30.2      42.5
 *     10^4         19.7       21.8      30.2      44.4
 *     10^5         18.3       21.8      30.4      42.6
 *     10^6         18.2       21.8      30.2      42.5
 *     10^7         18.1       21.7      30.2      42.4
 */
#include "kinds/multilayer/multilayer_plan.h"
#include "filter/kind.h"
#include "filter/rate.h"
#include "filter/size_search.h"
#include "kinds/counting/counting_plan.h"

#include <math.h>

static const double most_spills = 1e-3;   /* of all blocks */
static const double lacks_room = 0.01;    /* of all filters with room: they may have to grow */
static const double needs_no_room = 0.05; /* of all filters without any */

/* ---- shape ----------------------------------------------------------------------------------- */

static uint64_t bits(const bly_geometry *g) {
    uint64_t room = blyi_ml_room(g);
    return 8 * (g->size * 64 + blyi_ml_list_bytes(room) + room * BLYI_ML_RECORD);
}

/* No table is larger than all blocks need. */
static bly_status check(const bly_geometry *g) {
    if (g->size == 0 || g->hashes == 0 || g->hashes > BLYI_ML_MAX_HASHES)
        return BLY_EGEOMETRY;
    if (g->size > BLYI_MAX_BITS / 512)
        return BLY_ETOOBIG;
    if (g->detail > blyi_size_class_for(g->size))
        return BLY_EGEOMETRY;
    return bits(g) > BLYI_MAX_BITS ? BLY_ETOOBIG : BLY_OK;
}

static unsigned width(const bly_geometry *g) {
    (void)g;
    return 1;
}

/* ---- after n keys ---------------------------------------------------------------------------- */

/* Of a block with i keys. */
static double block_spills(unsigned k, double i) {
    return i > BLYI_ML_LAYERS / k ? 1 : 0;
}

static double rate(const bly_geometry *g, double n) {
    _Static_assert((int)BLYI_ML_MAX_HASHES <= (int)BLYI_MAX_PLACES, "a rate for every k");
    return blyi_binomial_mean(n, (double)g->size, blyi_line_rate,
                              blyi_line_shape(BLYI_ML_CELLS, g->hashes));
}

double blyi_ml_spill(const bly_geometry *g, double n) {
    return blyi_binomial_mean(n, (double)g->size, block_spills, g->hashes);
}

double blyi_ml_chance(const bly_geometry *g) {
    return -expm1(g->hashes * log1p(-1.0 / BLYI_ML_CELLS)) / (double)g->size;
}

double blyi_ml_keys(const bly_geometry *g, double fill) {
    if (!(fill < 1))
        return (double)INFINITY;
    return log1p(-fill) / log1p(-blyi_ml_chance(g));
}

static double fill(const bly_geometry *g, double n) {
    return -expm1(n * log1p(-blyi_ml_chance(g)));
}

/* ---- plan ------------------------------------------------------------------------------------ */

/* The step with room for the spills to be expected of n keys: their number is nearly Poisson. */
static unsigned step_for(const bly_geometry *g, double n) {
    double mean = blyi_ml_spill(g, n) * (double)g->size;
    double term = exp(-mean), beyond = -expm1(-mean);
    uint64_t records = 0;
    if (beyond <= needs_no_room)
        return 0;
    if (mean > 500) /* nearly normal, and e^-mean may be too small for a number */
        return blyi_size_class_for((uint64_t)(mean + 2.5 * sqrt(mean)));
    for (; beyond > lacks_room; records++) {
        term *= mean / (double)(records + 1);
        beyond -= term;
    }
    return blyi_size_class_for(records);
}

/* Blocks that are looked for. */
typedef struct sizing {
    bly_geometry g;
    double n, p;
} sizing;

static double excess_at(void *ctx, uint64_t blocks) {
    sizing *z = ctx;
    z->g.size = blocks;
    double spills = blyi_excess(blyi_ml_spill(&z->g, z->n), most_spills);
    return spills > 0 ? spills : fmax(spills, blyi_excess(rate(&z->g, z->n), z->p));
}

/* The fewest blocks with g->hashes cells per key, at most `limit`; 0 when that is too few. */
static uint64_t fewest_blocks(const bly_geometry *g, double n, double p, uint64_t limit) {
    sizing z = {*g, n, p};
    double k = g->hashes, cells = -k * n / log1p(-pow(p, 1 / k));
    double ideal = fmax(cells / BLYI_ML_CELLS, k * n / BLYI_ML_LAYERS);
    uint64_t first = ideal < (double)limit ? (uint64_t)ideal + 1 : limit;
    blyi_size_search s = {excess_at, &z, 0, first, limit, k};
    return excess_at(&z, limit) > 0 ? 0 : blyi_smallest_size(&s);
}

/* The fewest blocks, from `least` on and at most `limit`, whose spills a table of that step has
 * room for; 0 when that is too few. */
static uint64_t blocks_for(bly_geometry *g, unsigned step, double n, uint64_t least,
                           uint64_t limit) {
    uint64_t low = least - 1, high = limit;
    g->size = limit;
    if (step_for(g, n) > step)
        return 0;
    while (high - low > 1) {
        g->size = low + (high - low) / 2;
        if (step_for(g, n) <= step)
            high = g->size;
        else
            low = g->size;
    }
    return high;
}

/* These blocks with the table they need, or more of them with a smaller one: whichever takes less
 * memory. A larger table never pays. */
static void settle(bly_geometry *g, uint64_t blocks, double n, bly_geometry *best) {
    g->size = blocks;
    for (unsigned step = step_for(g, n) + 1; step-- > 0 && blocks > 0;) {
        uint64_t limit = best->size ? bits(best) / 512 : BLYI_MAX_BITS / 512;
        if (blocks > limit)
            break;
        blocks = blocks_for(g, step, n, blocks, limit);
        g->size = blocks;
        g->detail = step;
        if (check(g) == BLY_OK && (best->size == 0 || bits(g) < bits(best)))
            *best = *g;
    }
}

static bly_status plan(uint64_t keys, double fpr, bly_geometry *out) {
    bly_geometry best = {0}, g = {.kind = BLY_MULTILAYER};
    double n = (double)keys;
    for (g.hashes = 1; g.hashes <= BLYI_ML_MAX_HASHES; g.hashes++) {
        uint64_t limit = best.size ? bits(&best) / 512 : BLYI_MAX_BITS / 512;
        uint64_t blocks = fewest_blocks(&g, n, fpr, limit);
        if (blocks)
            settle(&g, blocks, n, &best);
    }
    if (best.size == 0)
        return BLY_ETOOBIG;
    *out = best;
    return BLY_OK;
}

/* As many as a plan would put there: more make too many blocks spill, or too many for the table. */
static uint64_t most(const bly_geometry *g) {
    uint64_t low = 1, high = g->size * BLYI_ML_LAYERS / g->hashes + 2;
    while (high - low > 1) {
        uint64_t mid = low + (high - low) / 2;
        if (blyi_ml_spill(g, (double)mid) <= most_spills && step_for(g, (double)mid) <= g->detail)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static uint64_t multilayer_counters(const bly_geometry *g) {
    return g->size * BLYI_ML_CELLS;
}

const blyi_planner blyi_multilayer_planner = {
    .check = check,
    .bits = bits,
    .width = width,
    .plan = plan,
    .rate = rate,
    .max_keys = most,
    .fill = fill,
    .lookup_lines = 1,
    .counters = multilayer_counters,
};
