/* Sizing: the smallest geometry for a number of keys and a rate.
 *
 * The closed formula m = -n ln p / ln^2 2 gives a rate above p once k is rounded to a whole number,
 * and does not apply to blocks. So all kinds of plain bits are sized alike: for each k worth
 * trying, the smallest size whose computed rate (rate.c) is within p, searched from the formula's
 * guess (size_search.c); then the smallest of these. Other kinds size themselves (blyi_planner).
 */
#include "filter/kind.h"
#include "filter/rate.h"
#include "filter/size_search.h"

#include <math.h>
#include <string.h>

/* Returns the planner of a kind that is not plain bits, or NULL for plain bits. */
static const blyi_planner *own_planner(bly_kind kind) {
    const blyi_planner *p = blyi_planner_of(kind);
    return p->layout ? NULL : p;
}

/* Returns the number of bits in each unit of `size`. */
static uint64_t bits_per_size(const blyi_bit_layout *l, uint32_t k) {
    return l->unit_bits ? l->unit_bits : k;
}

static bly_status check_bits(const blyi_bit_layout *l, const bly_geometry *g) {
    if (g->detail != 0)
        return BLY_EGEOMETRY;
    if (g->hashes < l->min_k || g->hashes > l->max_k || (g->hashes - l->min_k) % l->k_step)
        return BLY_EGEOMETRY;
    if (g->size < l->min_valid || g->size % l->size_unit)
        return BLY_EGEOMETRY;
    return g->size > BLYI_MAX_BITS / bits_per_size(l, g->hashes) ? BLY_ETOOBIG : BLY_OK;
}

static uint32_t options_of(const blyi_planner *p) {
    return p->layout ? p->layout->options : 0;
}

bly_status bly_plan_check(const bly_geometry *g) {
    const blyi_planner *p = blyi_planner_of(g->kind);
    if (!blyi_kind_of(g->kind))
        return BLY_EKIND;
    if (g->options & ~options_of(p) || g->detail > UINT16_MAX)
        return BLY_EGEOMETRY;
    return p->layout ? check_bits(p->layout, g) : p->check(g);
}

uint64_t bly_plan_bits(const bly_geometry *g) {
    const blyi_planner *p = blyi_planner_of(g->kind);
    return p->layout ? g->size * bits_per_size(p->layout, g->hashes) : p->bits(g);
}

uint64_t bly_plan_bytes(const bly_geometry *g) {
    return (bly_plan_bits(g) + 511) / 512 * 64;
}

double bly_plan_fpr(const bly_geometry *g, uint64_t keys, unsigned hash_bits) {
    double n = (double)keys;
    return fmin(1, blyi_rate(g, n) + blyi_hash_floor(n, hash_bits));
}

double bly_plan_fill(const bly_geometry *g, double keys) {
    const blyi_planner *p = blyi_planner_of(g->kind);
    if (!(keys > 0))
        return 0;
    return p->layout ? -expm1(keys * p->layout->log_miss(g)) : p->fill(g, keys);
}

double bly_plan_keys(const bly_geometry *g, uint64_t set_bits) {
    const blyi_bit_layout *layout = blyi_planner_of(g->kind)->layout;
    uint64_t bits = bly_plan_bits(g);
    if (set_bits >= bits || !layout)
        return INFINITY;
    return log1p(-(double)set_bits / (double)bits) / layout->log_miss(g);
}

uint64_t bly_plan_capacity(const bly_geometry *g, double fpr, unsigned hash_bits) {
    const blyi_planner *own = own_planner(g->kind);
    uint64_t low = 0, high = BLYI_UNLIMITED_KEYS; /* the rate holds at low, not at high */
    if (own && own->max_keys(g) < high)
        high = own->max_keys(g);
    if (!(fpr > 0) || high == 0)
        return 0;
    /* If the rate does not depend on the number of keys, the result is either the maximum or 0.
     * Then rounding must not decide. */
    if (own && own->rate(g, 1) == own->rate(g, (double)high))
        fpr *= 1 + BLYI_RATE_TOLERANCE;
    if (bly_plan_fpr(g, high, hash_bits) <= fpr)
        return high;
    while (high - low > 1) {
        uint64_t mid = low + (high - low) / 2;
        if (bly_plan_fpr(g, mid, hash_bits) <= fpr)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Rounds up to step * m * 2^i with m <= 64, so that the filter can be folded i times to its
 * half. */
static uint64_t round_to_foldable(uint64_t size, uint64_t step) {
    uint64_t units = size / step;
    unsigned shift = 0;
    while (units >> shift > 63)
        shift++;
    uint64_t top = (units + ((uint64_t)1 << shift) - 1) >> shift;
    return (top << shift) * step;
}

/* A geometry whose size is to be found, as a number of steps. */
typedef struct sizing {
    bly_geometry g;
    uint32_t step;
    double n, p;
} sizing;

static double bits_excess(void *ctx, uint64_t steps) {
    sizing *z = ctx;
    z->g.size = steps * z->step;
    return blyi_excess(blyi_rate(&z->g, z->n), z->p);
}

/* Finds the smallest size with k = z->g.hashes whose rate is at most p. Returns false if that takes
 * more than `limit` bits. `known` is true if the limit is the result for another k. Then the limit
 * is tried first, because most other k need more bits. */
static bool smallest_bits(const blyi_bit_layout *l, sizing *z, uint64_t limit, bool known) {
    uint32_t k = z->g.hashes;
    uint64_t per_step = bits_per_size(l, k) * l->step;
    uint64_t most = limit / per_step, least = l->min_size / l->step;
    /* No layout needs fewer bits than a classic filter with the same k, so the search starts from
     * its formula. */
    double ideal = -(double)k * z->n / log1p(-pow(z->p, 1.0 / k)) / (double)per_step;
    if (!(ideal <= (double)most) || least > most || (known && bits_excess(z, most) > 0))
        return false;
    if (ideal > (double)least + 1)
        least = (uint64_t)ideal;
    blyi_size_search s = {bits_excess, z, least - 1, least, most, 0.6 * k};
    uint64_t steps = blyi_smallest_size(&s);
    z->g.size = steps * l->step;
    return steps != 0;
}

/* Returns the smallest geometry for any k in from..to and, if two have the same size, the one with
 * fewer hashes. Starts with `start`, the k that is likely to be best, so that little time is spent
 * on the others. */
static bly_geometry smallest_of_all(const blyi_bit_layout *l, sizing *z, uint32_t from, uint32_t to,
                                    uint32_t start) {
    bly_geometry best = {0};
    uint32_t count = (to - from) / l->k_step + 1, first = (start - from) / l->k_step;
    for (uint32_t i = 0; i < count; i++) {
        /* from `start` down to the least, then up */
        z->g.hashes = from + l->k_step * (i <= first ? first - i : i);
        uint64_t limit = best.size ? bly_plan_bits(&best) : BLYI_MAX_BITS;
        if (best.size && z->g.hashes > best.hashes)
            limit--;
        if (smallest_bits(l, z, limit, best.size != 0))
            best = z->g;
    }
    return best;
}

bly_status blyi_check_request(uint64_t keys, double fpr, unsigned hash_bits) {
    if (hash_bits < 32 || hash_bits > 128)
        return BLY_EINVAL;
    if (!(fpr >= 0x1p-40 && fpr < 1))
        return BLY_ERATE;
    if (keys == 0)
        return BLY_ECOUNT;
    if (blyi_hash_floor((double)keys, hash_bits) > fpr / 10)
        return BLY_EWEAKHASH;
    return BLY_OK;
}

/* Plans a geometry for n keys at rate p, for a kind of plain bits. */
static bly_status plan_bits(bly_kind kind, const blyi_bit_layout *l, double n, double p,
                            uint32_t options, bly_geometry *out) {
    /* The best k of a classic filter is near log2(1/p). It may be another if slices are rounded up,
     * with the textbook's colliding probes, and with blocks. In these cases all k are tried. */
    uint32_t from = l->min_k, to = l->max_k, wish = (uint32_t)fmax(1, floor(-log2(p)));
    if (l->best_k_is_simple && !(options & BLY_TEXTBOOK)) {
        from = wish > 2 ? wish - 1 : 1;
        to = wish + 2;
    }
    uint32_t start = wish < from ? from : wish > to ? to : wish;
    start -= (start - from) % l->k_step;
    sizing z = {.g = {.kind = kind, .options = options}, .step = l->step, .n = n, .p = p};
    bly_geometry best = smallest_of_all(l, &z, from, to, start);
    if (best.size == 0)
        return BLY_ETOOBIG;
    if (options & BLY_FOLDABLE)
        best.size = round_to_foldable(best.size, l->step);
    bly_status status = bly_plan_check(&best);
    if (status == BLY_OK)
        *out = best;
    return status;
}

bly_status bly_plan(bly_kind kind, uint64_t keys, double fpr, uint32_t options, unsigned hash_bits,
                    bly_geometry *out) {
    const blyi_planner *planner = blyi_planner_of(kind);
    if (!planner->layout && !planner->plan)
        return BLY_EKIND;
    if (options & ~options_of(planner))
        return BLY_EINVAL;
    bly_status status = blyi_check_request(keys, fpr, hash_bits);
    if (status)
        return status;
    double n = (double)keys, p = fpr - blyi_hash_floor(n, hash_bits);
    if (planner->layout)
        return plan_bits(kind, planner->layout, n, p, options, out);
    return planner->plan(keys, p, out);
}
