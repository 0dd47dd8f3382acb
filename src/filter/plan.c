/* Sizing. The closed formula m = -n ln p / ln^2 2 overshoots p once k is a whole number, and is no
 * use for blocks. So every kind is sized alike: for each k worth trying, the smallest size whose
 * computed rate (rate.c) is within p, searched from the formula's guess (search.c); then the
 * smallest of these. */
#include "filter/plan_levels.h"
#include "filter/planner.h"
#include "filter/rate.h"
#include "filter/size_search.h"

#include <math.h>
#include <string.h>

typedef struct kind_facts {
    bly_kind kind;
    const char *name;
    uint32_t unit_bits; /* bits that one more `size` step adds, for one hash */
    uint32_t step;      /* sizes are multiples of this */
    uint32_t least;     /* the smallest size a plan proposes */
    uint32_t min_k, max_k, k_step;
} kind_facts;

/* A plan never proposes less than a cache line. */
static const kind_facts kinds[] = {
    {BLY_CLASSIC, "classic", 1, 64, 512, 1, 64, 1},
    {BLY_PARTITIONED, "partitioned", 1, 64, 64, 1, 64, 1},
    {BLY_SBBF, "sbbf", 256, 1, 1, 8, 8, 1},
    {BLY_SPLIT512, "split512", 512, 1, 1, 8, 16, 4},
    {BLY_BB2X512, "bb2x512", 512, 1, 1, 2, 16, 2},
    {BLY_SCALABLE, "scalable", 8, 64, 128, 1, 48, 1}, /* size counts bytes, k levels */
};

/* The kinds that plan themselves, in the order of their codes, which come after all of the above.
 */
static const blyi_planner *const planners[] = {
    &blyi_plan_window,
    &blyi_plan_counting,
    &blyi_plan_multilayer,
    &blyi_plan_layered,
    &blyi_plan_overlay,
    &blyi_plan_hybrid,
    &blyi_plan_cuckoo,
    &blyi_plan_fuse,
    &blyi_plan_ribbon,
    &blyi_plan_counts,
    &blyi_plan_hll,
    &blyi_plan_growable,
    &blyi_plan_scalable_cuckoo,
    NULL,
};

static const kind_facts *facts_of(bly_kind kind) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == kind)
            return &kinds[i];
    return NULL;
}

const blyi_planner *blyi_planner_of(bly_kind kind) {
    for (size_t i = 0; planners[i]; i++)
        if (planners[i]->kind == kind)
            return planners[i];
    return NULL;
}

const char *bly_kind_name(bly_kind kind) {
    const kind_facts *f = facts_of(kind);
    const blyi_planner *own = blyi_planner_of(kind);
    return f ? f->name : own ? own->name : NULL;
}

bly_status bly_kind_by_name(const char *name, bly_kind *out) {
    for (bly_kind k = BLY_KIND_NONE; (k = bly_kind_next(k)) != BLY_KIND_NONE;) {
        if (strcmp(bly_kind_name(k), name) == 0) {
            *out = k;
            return BLY_OK;
        }
    }
    return BLY_EKIND;
}

bly_kind bly_kind_next(bly_kind kind) {
    bly_kind next = BLY_KIND_NONE;
    if (kind != BLY_KIND_NONE && !bly_kind_name(kind))
        return BLY_KIND_NONE;
    for (size_t i = sizeof kinds / sizeof *kinds; i-- > 0;)
        if (kinds[i].kind > kind)
            next = kinds[i].kind;
    for (size_t i = 0; next == BLY_KIND_NONE && planners[i]; i++)
        if (planners[i]->kind > kind)
            next = planners[i]->kind;
    return next;
}

/* Bits in each step of `size`: a partitioned filter's size counts one slice of k. */
static uint64_t bits_per_size(const kind_facts *f, uint32_t k) {
    return f->kind == BLY_PARTITIONED ? k : f->unit_bits;
}

static uint32_t options_of(bly_kind kind) {
    if (kind == BLY_SCALABLE || blyi_planner_of(kind))
        return 0;
    return BLY_FOLDABLE | (kind == BLY_CLASSIC ? BLY_TEXTBOOK : 0U);
}

bly_status bly_plan_check(const bly_geometry *g) {
    const kind_facts *f = facts_of(g->kind);
    const blyi_planner *own = blyi_planner_of(g->kind);
    if (!f && !own)
        return BLY_EKIND;
    if (g->options & ~options_of(g->kind) || g->detail > UINT16_MAX)
        return BLY_EGEOMETRY;
    if (own)
        return own->check(g);
    if (g->kind == BLY_SCALABLE ? !blyi_growth_is_valid(g->detail) : g->detail != 0)
        return BLY_EGEOMETRY;
    if (g->hashes < f->min_k || g->hashes > f->max_k || (g->hashes - f->min_k) % f->k_step)
        return BLY_EGEOMETRY;
    if (g->kind == BLY_CLASSIC && g->size < 64)
        return BLY_EGEOMETRY;
    if (g->kind == BLY_PARTITIONED && g->size % 64)
        return BLY_EGEOMETRY;
    /* Every level is a header and at least one line. */
    if (g->kind == BLY_SCALABLE && (g->size % 64 || g->size / 128 < g->hashes))
        return BLY_EGEOMETRY;
    if (g->size == 0)
        return BLY_EGEOMETRY;
    return g->size > BLYI_MAX_BITS / bits_per_size(f, g->hashes) ? BLY_ETOOBIG : BLY_OK;
}

uint64_t bly_plan_bits(const bly_geometry *g) {
    const kind_facts *f = facts_of(g->kind);
    const blyi_planner *own = blyi_planner_of(g->kind);
    return f ? g->size * bits_per_size(f, g->hashes) : own ? own->bits(g) : 0;
}

uint64_t bly_plan_bytes(const bly_geometry *g) {
    return (bly_plan_bits(g) + 511) / 512 * 64;
}

bly_kind bly_plan_layout(double fpr) {
    return fpr >= 0.004 ? BLY_SBBF : fpr >= 0.001 ? BLY_SPLIT512 : BLY_BB2X512;
}

double bly_plan_fpr(const bly_geometry *g, uint64_t keys, unsigned hash_bits) {
    double n = (double)keys;
    return fmin(1, blyi_rate(g, n) + blyi_hash_floor(n, hash_bits));
}

double bly_plan_fill(const bly_geometry *g, double keys) {
    const blyi_planner *own = blyi_planner_of(g->kind);
    if (!(keys > 0))
        return 0;
    return own ? own->fill(g, keys) : -expm1(keys * blyi_log_miss(g));
}

double bly_plan_keys(const bly_geometry *g, uint64_t set_bits) {
    uint64_t bits = bly_plan_bits(g);
    if (set_bits >= bits || g->kind == BLY_SCALABLE || blyi_planner_of(g->kind))
        return INFINITY;
    return log1p(-(double)set_bits / (double)bits) / blyi_log_miss(g);
}

uint64_t bly_plan_capacity(const bly_geometry *g, double fpr, unsigned hash_bits) {
    const blyi_planner *own = blyi_planner_of(g->kind);
    uint64_t low = 0, high = BLYI_UNLIMITED_KEYS; /* the rate holds at low, not at high */
    if (own && own->max_keys(g) < high)
        high = own->max_keys(g);
    if (!(fpr > 0) || high == 0)
        return 0;
    /* A rate that does not depend on the keys is met by all of them or none. */
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

/* Rounds up to an odd number under 64 times a power of two times `step`. */
static uint64_t foldable(uint64_t size, uint64_t step) {
    uint64_t units = size / step;
    unsigned shift = 0;
    while (units >> shift > 63)
        shift++;
    uint64_t top = (units + ((uint64_t)1 << shift) - 1) >> shift;
    return (top << shift) * step;
}

/* A geometry whose size is looked for, in steps. */
typedef struct sizing {
    bly_geometry g;
    uint32_t step;
    double n, p;
} sizing;

static double excess_at(void *ctx, uint64_t steps) {
    sizing *z = ctx;
    z->g.size = steps * z->step;
    return blyi_excess(blyi_rate(&z->g, z->n), z->p);
}

/* The smallest size with k = z->g.hashes whose rate is within p; false when none is, or when it
 * would take more than `limit` bits. A limit that comes from a plan `known` to do is asked first:
 * most k cannot do better. */
static bool smallest_size(const kind_facts *f, sizing *z, uint64_t limit, bool known) {
    uint32_t k = z->g.hashes;
    uint64_t per_step = bits_per_size(f, k) * f->step;
    uint64_t most = limit / per_step, least = f->least / f->step;
    /* No layout beats a classic filter of the same k, so its formula is where to start. */
    double ideal = -(double)k * z->n / log1p(-pow(z->p, 1.0 / k)) / (double)per_step;
    if (!(ideal <= (double)most) || least > most || (known && excess_at(z, most) > 0))
        return false;
    if (ideal > (double)least + 1)
        least = (uint64_t)ideal;
    blyi_size_search s = {excess_at, z, least - 1, least, most, 0.6 * k};
    uint64_t steps = blyi_smallest_size(&s);
    z->g.size = steps * f->step;
    return steps != 0;
}

/* The smallest of all k from..to, and of two that are as small the one with fewer hashes. Starts
 * with the k that is likely to be best, so that little is spent on the others. */
static bly_geometry smallest_of_all(const kind_facts *f, sizing *z, uint32_t from, uint32_t to,
                                    uint32_t start) {
    bly_geometry best = {0};
    uint32_t count = (to - from) / f->k_step + 1, first = (start - from) / f->k_step;
    for (uint32_t i = 0; i < count; i++) {
        /* from `start` down to the least, then up */
        z->g.hashes = from + f->k_step * (i <= first ? first - i : i);
        uint64_t limit = best.size ? bly_plan_bits(&best) : BLYI_MAX_BITS;
        if (best.size && z->g.hashes > best.hashes)
            limit--;
        if (smallest_size(f, z, limit, best.size != 0))
            best = z->g;
    }
    return best;
}

static bly_status check_question(uint64_t keys, double fpr, unsigned hash_bits) {
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

bly_status bly_plan(bly_kind kind, uint64_t keys, double fpr, uint32_t options, unsigned hash_bits,
                    bly_geometry *out) {
    const kind_facts *f = facts_of(kind);
    const blyi_planner *own = blyi_planner_of(kind);
    if ((!f && !own) || kind == BLY_SCALABLE)
        return BLY_EKIND;
    if (options & ~options_of(kind))
        return BLY_EINVAL;
    bly_status status = check_question(keys, fpr, hash_bits);
    if (status)
        return status;

    double n = (double)keys, p = fpr - blyi_hash_floor(n, hash_bits);
    if (own)
        return own->plan(keys, p, out);
    /* The best k of a classic filter is near log2(1/p). Slices that are rounded up, the textbook's
     * colliding probes and blocks may want another: there all are tried. */
    uint32_t from = f->min_k, to = f->max_k, wish = (uint32_t)fmax(1, floor(-log2(p)));
    if (kind == BLY_CLASSIC && !(options & BLY_TEXTBOOK)) {
        from = wish > 2 ? wish - 1 : 1;
        to = wish + 2;
    }
    uint32_t start = wish < from ? from : wish > to ? to : wish;
    start -= (start - from) % f->k_step;
    sizing z = {.g = {.kind = kind, .options = options}, .step = f->step, .n = n, .p = p};
    bly_geometry best = smallest_of_all(f, &z, from, to, start);
    if (best.size == 0)
        return BLY_ETOOBIG;
    if (options & BLY_FOLDABLE)
        best.size = foldable(best.size, f->step);
    status = bly_plan_check(&best);
    if (status == BLY_OK)
        *out = best;
    return status;
}
