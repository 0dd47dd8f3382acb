/* Two multilayer filters combined: count by count, block by block.
 *
 * The result is written into a body of its own, which then takes the place of the first filter's:
 * so a failure changes nothing, and a filter may be combined with itself. How many blocks are
 * spilled in the result, and so how large a body it needs, is worked out before.
 *
 *     union          a + b, at most 65535
 *     intersection   the smaller of a and b
 *     difference     a - b, at least 0
 *
 * A count of 65535 stands for any number from there on, or for fewer when copies were removed
 * since. A difference leaves such a count as it is, and takes nothing away for one: a count too
 * many does no harm, one too few would lose keys.
 */
#include "../../core/memory.h"
#include "../levels.h"
#include "multilayer.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef unsigned combine_fn(unsigned a, unsigned b);

INLINE unsigned plus(unsigned a, unsigned b) {
    return a + b < BLYI_ML_STUCK ? a + b : BLYI_ML_STUCK;
}

INLINE unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

INLINE unsigned minus(unsigned a, unsigned b) {
    if (a == BLYI_ML_STUCK || b == BLYI_ML_STUCK)
        return a;
    return a > b ? a - b : 0;
}

/* The most that the counts of a block can sum up to. */
static uint64_t bound_of(const bly_filter *f, uint64_t number) {
    const uint64_t *block = blyi_ml_block(f, number);
    bool inside = blyi_ml_used(block) != BLYI_ML_SPILLED && blyi_ml_block_sound(block);
    return inside ? blyi_ml_used(block) : UINT32_MAX;
}

/* How many blocks of the result may be spilled; for a union and two sound filters, how many will
 * be.
 */
static uint64_t spills(const bly_filter *a, const bly_filter *b, bool sums) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < a->geometry.size; i++)
        n += bound_of(a, i) + (sums ? bound_of(b, i) : 0) > BLYI_ML_LAYERS;
    return n;
}

/* The counts of a block of the result; returns their sum. */
INLINE uint32_t combined(const bly_filter *a, const bly_filter *b, uint64_t number, combine_fn *how,
                         uint16_t counts[BLYI_ML_CELLS]) {
    uint16_t other[BLYI_ML_CELLS];
    uint32_t sum = 0;
    blyi_ml_counts(a, number, counts);
    blyi_ml_counts(b, number, other);
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++) {
        counts[cell] = (uint16_t)how(counts[cell], other[cell]);
        sum += counts[cell];
    }
    return sum;
}

/* dst becomes the two combined, but for its number of items; *total is the sum of all counts. */
INLINE bly_status combine(bly_filter *dst, const bly_filter *src, combine_fn *how, double *total) {
    bly_geometry g = dst->geometry;
    uint16_t counts[BLYI_ML_CELLS];
    uint64_t spilled = spills(dst, src, how == plus);
    void *block;
    if (spilled > blyi_ml_room(&g))
        g.detail = blyi_step_for(spilled);
    bly_status status = bly_plan_check(&g);
    if (status)
        return status;
    uint8_t *body = blyi_alloc_array(&dst->alloc, bly_plan_bytes(&g), &block);
    if (!body)
        return BLY_ENOMEM;
    *total = 0;
    for (uint64_t i = 0; i < g.size; i++) {
        uint32_t sum = combined(dst, src, i, how, counts);
        blyi_ml_store(&g, body, i, counts, sum);
        *total += sum;
    }
    bool approximate = dst->approximate || src->approximate;
    blyi_filter_rebody(dst, &g, body, block);
    dst->approximate = approximate;
    return BLY_OK;
}

bly_status blyi_ml_unite(bly_filter *dst, const bly_filter *src) {
    uint64_t items = blyi_sum(dst->items, src->items);
    double total;
    bly_status status = combine(dst, src, plus, &total);
    if (status == BLY_OK)
        dst->items = items;
    return status;
}

bly_status blyi_ml_subtract(bly_filter *dst, const bly_filter *src) {
    uint64_t items = dst->items > src->items ? dst->items - src->items : 0;
    double total;
    bly_status status = combine(dst, src, minus, &total);
    if (status == BLY_OK)
        dst->items = total > 0 ? items : 0;
    return status;
}

/* ---- how many copies an intersection has ----------------------------------------------------- */

/* The sum of all counts, as the blocks say. */
static double total_of(const bly_filter *f) {
    double total = 0;
    for (uint64_t i = 0; i < f->geometry.size; i++) {
        const uint64_t *block = blyi_ml_block(f, i);
        bool is_spilled = blyi_ml_used(block) == BLYI_ML_SPILLED;
        total += is_spilled ? (double)blyi_le64(block[BLYI_ML_AT_SUM]) : blyi_ml_used(block);
    }
    return total;
}

/* The mean of the smaller of two Poisson numbers: the sum over j of P(u >= j) P(v >= j). */
static double mean_least(double u, double v) {
    double pu = exp(-u), pv = exp(-v), over_u = -expm1(-u), over_v = -expm1(-v), sum = 0;
    for (int j = 1; j < 1000 && over_u > 0 && over_v > 0; j++) {
        sum += over_u * over_v;
        over_u -= pu *= u / j;
        over_v -= pv *= v / j;
    }
    return sum;
}

/* Of two filters with a and b copies, x of them in both, the other copies own some cells in common
 * by chance: their counts u and v are nearly Poisson. So the smaller counts sum up to
 * x c + cells E[min(u, v)], c cells to a copy; solved for x by bisection, as it grows with x. */
static double common_copies(const bly_filter *a, double in_a, const bly_filter *b, double in_b,
                            double sum) {
    double na = (double)a->items, nb = (double)b->items;
    double cells = (double)a->geometry.size * BLYI_ML_CELLS, per_copy = (in_a + in_b) / (na + nb);
    double low = 0, high = fmin(na, nb);
    if (!(na > 0 && nb > 0 && per_copy > 0))
        return 0;
    for (int turn = 0; turn < 60; turn++) {
        double x = (low + high) / 2;
        double u = (na - x) * per_copy / cells, v = (nb - x) * per_copy / cells;
        if (x * per_copy + cells * mean_least(u, v) < sum)
            low = x;
        else
            high = x;
    }
    return high;
}

bly_status blyi_ml_intersect(bly_filter *dst, const bly_filter *src) {
    double in_dst = total_of(dst), in_src = total_of(src), sum;
    const bly_filter before = *dst; /* for its numbers: the body will be gone */
    bly_status status = combine(dst, src, least, &sum);
    if (status)
        return status;
    double copies = common_copies(&before, in_dst, dst == src ? &before : src, in_src, sum);
    uint64_t bound = before.items < src->items ? before.items : src->items;
    dst->items = copies < (double)bound ? (uint64_t)llround(copies) : bound;
    dst->approximate = true;
    return BLY_OK;
}

/* ---- without change -------------------------------------------------------------------------- */

/* Bits that are set in the bases of a or b. */
static uint64_t set_bits(const bly_filter *a, const bly_filter *b) {
    uint64_t set = 0;
    for (uint64_t i = 0; i < a->geometry.size; i++)
        for (unsigned j = 0; j < BLYI_ML_BASE; j++)
            set += blyi_popcount64(blyi_ml_block(a, i)[j] | blyi_ml_block(b, i)[j]);
    return set;
}

static double keys_of(const bly_filter *f, uint64_t set) {
    return blyi_ml_keys(&f->geometry, (double)set / ((double)f->geometry.size * BLYI_ML_CELLS));
}

/* As combine.c has it for the bits of a Bloom filter. */
bly_status blyi_ml_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    uint64_t in_a = set_bits(a, a), in_b = set_bits(b, b), in_either = set_bits(a, b);
    double na = keys_of(a, in_a), nb = keys_of(a, in_b), either = keys_of(a, in_either);
    double both = keys_of(a, in_a + in_b - in_either);
    if (isfinite(either))
        both = fmin(both, fmax(na + nb - either, 0));
    double all = isfinite(either) ? either : na + nb - both;
    *out = (bly_overlap){na, nb, both, either, 1};
    if (all > 0 && isfinite(all))
        out->jaccard = fmin(1, both / all);
    return BLY_OK;
}

/* Two blocks that are not spilled are equal when their bits are. */
bool blyi_ml_equal(const bly_filter *a, const bly_filter *b) {
    uint16_t in_a[BLYI_ML_CELLS], in_b[BLYI_ML_CELLS];
    for (uint64_t i = 0; i < a->geometry.size; i++) {
        const uint64_t *x = blyi_ml_block(a, i), *y = blyi_ml_block(b, i);
        if (blyi_ml_used(x) != BLYI_ML_SPILLED && blyi_ml_used(y) != BLYI_ML_SPILLED) {
            if (memcmp(x, y, 64) != 0)
                return false;
            continue;
        }
        blyi_ml_counts(a, i, in_a);
        blyi_ml_counts(b, i, in_b);
        if (memcmp(in_a, in_b, sizeof in_a) != 0)
            return false;
    }
    return true;
}
