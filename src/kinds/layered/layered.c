/* The layered filter: a plain sbbf filter in front, its counters behind.
 *
 * The idea is that of the first counting filter (Fan, Cao, Almeida and Broder 2000, "Summary
 * Cache"): adds and removes need counters, lookups need only bits. In that paper each cache had
 * four-bit counters for its own contents, and sent only the bits to other caches. Implementations
 * usually store both counters and bits, or compute the bits from the counters each time. Here the
 * bits are a layer of the counters: a count c is stored as a bit "c > 0" and, separately, c - 1.
 * The first layers of all cells are an sbbf filter, bit for bit: the front. It answers lookups with
 * sbbf's own kernels and batches (blocked.c, block_batch.c), at sbbf's speed, and can be read,
 * saved and mapped alone. Only adds and removes access the counters, which may be in slower memory.
 *
 * Counting. c - 1 is stored in three bit planes. A key has one cell in each of eight lanes of a
 * block, so its cells are all different. All of them change at once, by operations on whole words
 * (counter_kernel.h) and without a branch:
 *
 *   add     cells in use count one up, the others become used
 *   remove  only when all eight are used: those at 1 become free, the others count one down
 *
 * With three planes a cell counts to 8, which means "8 or more". Such a cell is stuck: its true
 * count is unknown, so it must not be lowered. With distinct keys this hardly happens. If n
 * distinct keys were added once each, the number of keys that have a given cell is nearly Poisson
 * with mean 8 n / (256 size), so the probability of eight or more is 1.4e-6 when full at 1%, 4.1e-8
 * at 0.1% and 1.4e-9 at 0.01%. Copies make it happen: each key of which eight copies were ever
 * present at a time leaves eight stuck cells. A fourth plane would raise the limit to 16 for a
 * quarter more memory.
 *
 * Size. For lookups a layered filter is its front, so its size and FPR are those of an sbbf filter,
 * and the counters take three times the memory of the front: together four times the bits per key
 * of sbbf (docs/kinds/counting.md).
 *
 * Body: the body of an sbbf filter of `size` blocks, including the 32 bytes of padding that it has
 * when size is odd; then for each block its planes 0, 1 and 2, 32 bytes each, laid out as the block
 * is. Bit i of plane p of a block: bit p of (count - 1) of cell i. An add or a remove accesses
 * three cache lines, one of them the front's: a block's planes take 96 bytes and begin at a
 * multiple of 32, so they are always in two lines. A lookup reads one line.
 *
 * Measured on one core of an AMD EPYC (Zen 3) that others were using too, 8-byte keys in batches at
 * 1%, medians. Ten million keys: a lookup takes sbbf's time, present or absent, within the 7% that
 * measurements differed by; an add takes 56 ns and a remove 64, but an add to sbbf only 10, because
 * sbbf's 13 MB fit that processor's cache and these 53 MB do not. Ten thousand keys, all in the
 * cache: an add takes 13 ns, a remove 16, and an add to sbbf 5. The AVX2 kernels are 1.5 and 1.8
 * times as fast as the scalar ones with ten million keys, 2.2 and 2.4 times in the cache.
 */
#include "filter/filter.h"
#include "filter/kind.h"
#include "filter/rate.h"
#include "filter/set_operations.h"
#include "simd/counter_kernel.h"
#include "simd/masks.h"

#include <bloomery/filter.h>
#include <math.h>

/* ---- layout ---------------------------------------------------------------------------------- */

enum { LAYERED_CELLS = 256, LAYERED_CELL_BITS = 4, LAYERED_LANES = 8 };

static inline uint64_t layered_front_bytes(const bly_geometry *g) {
    return (g->size + 1) / 2 * 64;
}

/* The words of a block: its part of the front, and its planes. */
typedef struct layered_block {
    uint64_t *front, *planes;
} layered_block;

static inline layered_block layered_block_at(const bly_filter *f, uint64_t b) {
    return (layered_block){blyi_words(f) + b * BLYI_COUNTER_WORDS,
                           blyi_words(f) + layered_front_bytes(&f->geometry) / 8 +
                               b * BLYI_COUNTER_PLANES * BLYI_COUNTER_WORDS};
}

static inline layered_block layered_block_of(const bly_filter *f, bly_hash h) {
    return layered_block_at(f, blyi_mulhi(h.lo, f->geometry.size));
}

/* The front as an sbbf filter, valid while f does not change. */
static bly_filter layered_front(const bly_filter *f) {
    bly_filter front = *f;
    front.ops = blyi_ops_of(BLY_SBBF);
    front.geometry.kind = BLY_SBBF;
    front.body_bytes = layered_front_bytes(&f->geometry);
    return front;
}

/* ---- planning -------------------------------------------------------------------------------- */

static bly_geometry layered_front_geometry(const bly_geometry *g) {
    return (bly_geometry){.kind = BLY_SBBF, .hashes = LAYERED_LANES, .size = g->size};
}

/* The size of the body in bits: the front with its padding, and the planes. */
static uint64_t layered_bits(const bly_geometry *g) {
    const bly_geometry front = layered_front_geometry(g);
    return 8 * bly_plan_bytes(&front) + g->size * (LAYERED_CELL_BITS - 1) * LAYERED_CELLS;
}

static bly_status layered_check(const bly_geometry *g) {
    if (g->size == 0 || g->hashes != LAYERED_LANES || g->detail != 0)
        return BLY_EGEOMETRY;
    if (g->size > BLYI_MAX_BITS / (LAYERED_CELL_BITS * LAYERED_CELLS))
        return BLY_ETOOBIG;
    return layered_bits(g) > BLYI_MAX_BITS ? BLY_ETOOBIG : BLY_OK;
}

static unsigned layered_width(const bly_geometry *g) {
    (void)g;
    return LAYERED_CELL_BITS;
}

/* The rate of hash collisions was already subtracted from `fpr`, so the front is planned for a
 * 128-bit hash, which has practically none. */
static bly_status layered_plan(uint64_t keys, double fpr, bly_geometry *out) {
    bly_geometry g;
    bly_status status = bly_plan(BLY_SBBF, keys, fpr, 0, 128, &g);
    if (status)
        return status;
    g.kind = BLY_LAYERED;
    status = layered_check(&g);
    if (status == BLY_OK)
        *out = g;
    return status;
}

static double layered_rate(const bly_geometry *g, double n) {
    const bly_geometry front = layered_front_geometry(g);
    return blyi_rate(&front, n);
}

static uint64_t layered_max_keys(const bly_geometry *g) {
    (void)g;
    return BLYI_UNLIMITED_KEYS;
}

static double layered_fill(const bly_geometry *g, double n) {
    const bly_geometry front = layered_front_geometry(g);
    return bly_plan_fill(&front, n);
}

static uint64_t layered_counters(const bly_geometry *g) {
    return g->size * LAYERED_CELLS;
}

static const blyi_planner layered_planner = {
    .check = layered_check,
    .bits = layered_bits,
    .width = layered_width,
    .plan = layered_plan,
    .rate = layered_rate,
    .max_keys = layered_max_keys,
    .fill = layered_fill,
    .lookup_lines = 1,
    .counters = layered_counters,
};

/* ---- lookups: sbbf's, on the front ----------------------------------------------------------- */

static void layered_select_kernels(bly_filter *f) {
    f->contains_block = f->kernels->sbbf_contains_block;
    f->contains_key_xxh3 = f->kernels->sbbf_contains_key;
    f->contains_blocks = f->kernels->sbbf_contains_blocks;
    f->contains_keys_xxh3 = f->kernels->sbbf_contains_keys;
}

static void layered_prefetch_contains(const bly_filter *f, const bly_hash *h, size_t n) {
    blyi_ops_of(BLY_SBBF)->prefetch(f, h, n);
}

static double layered_current_fpr(const bly_filter *f) {
    return blyi_ops_of(BLY_SBBF)->current_fpr(f);
}

/* The lowest count of a key's cells. It is found from the highest plane down: if some candidate has
 * a 0 in a plane, only the candidates with a 0 there remain. */
static uint64_t layered_count_copies(const bly_filter *f, bly_hash h) {
    layered_block b = layered_block_of(f, h);
    uint64_t candidates[BLYI_COUNTER_WORDS], free = 0, min = 0;
    blyi_sbbf_mask(h.hi, candidates);
    for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++) {
        candidates[i] = blyi_le64(candidates[i]);
        free |= candidates[i] & ~b.front[i];
    }
    for (unsigned p = BLYI_COUNTER_PLANES; p-- > 0;) {
        uint64_t low[BLYI_COUNTER_WORDS], any = 0;
        for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++)
            any |= low[i] = candidates[i] & ~b.planes[p * BLYI_COUNTER_WORDS + i];
        min = 2 * min + (any == 0);
        for (unsigned i = 0; any && i < BLYI_COUNTER_WORDS; i++)
            candidates[i] = low[i];
    }
    return free ? 0 : min + 1;
}

/* ---- adds and removes ------------------------------------------------------------------------ */

static void layered_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    for (size_t i = 0; i < n; i++) {
        layered_block b = layered_block_of(f, h[i]);
        blyi_prefetch_to_read(b.front);
        blyi_prefetch_to_read(b.planes);
        blyi_prefetch_to_read(b.planes + 8);
    }
}

static bly_status layered_try_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                       bly_batch_result *sum) {
    for (size_t i = 0; i < n; i++) {
        layered_block b = layered_block_of(f, h[i]);
        bool is_new = f->kernels->counters_add(b.front, b.planes, h[i].hi);
        sum->changed += is_new;
        if (added)
            added[i] = is_new;
    }
    f->items = blyi_sum(f->items, n);
    sum->done += n;
    return BLY_OK;
}

/* A non-member whose cells are all stuck can be removed any number of times, so f's count may
 * already be 0 here. */
static bly_status layered_remove_one(bly_filter *f, bly_hash h, bool *removed) {
    layered_block b = layered_block_of(f, h);
    *removed = f->kernels->counters_remove(b.front, b.planes, h.hi);
    if (*removed)
        blyi_filter_subtract_count(f, 1);
    return BLY_OK;
}

/* ---- validity and statistics ----------------------------------------------------------------- */

/* Whether all planes of every unused cell are 0, and the padding between the front and the planes
 * is 0. The number of items cannot be checked: it does not follow from the cells once one of them
 * is stuck. */
static bool layered_body_is_valid(const blyi_shape *shape, const uint8_t *body) {
    const bly_geometry *g = &shape->geometry;
    const size_t bytes =
        sizeof(uint64_t) * BLYI_COUNTER_WORDS; /* of a block's front, or of one of its planes */
    const uint8_t *front = body, *planes = body + layered_front_bytes(g);
    unsigned stray = 0;
    for (const uint8_t *pad = front + g->size * bytes; pad < planes; pad++)
        stray |= *pad;
    for (uint64_t b = 0; b < g->size; b++) {
        for (size_t i = 0; i < bytes; i++) /* by bytes, because the body may be unaligned here */
            stray |= (unsigned)(planes[i] | planes[i + bytes] | planes[i + 2 * bytes]) &
                     ~(unsigned)front[i];
        front += bytes;
        planes += bytes * BLYI_COUNTER_PLANES;
    }
    return stray == 0;
}

/* The number of distinct keys, estimated from the front; INFINITY when all bits are set. */
static double layered_keys(const bly_filter *f) {
    const bly_filter front = layered_front(f);
    return bly_plan_keys(&front.geometry,
                         f->kernels->popcount(blyi_words(&front), blyi_word_count(&front)));
}

/* Two sums of counts in a block: over all cells, and over the stuck cells. */
typedef struct layered_sums {
    uint64_t all, stuck;
} layered_sums;

static layered_sums layered_block_sums(const bly_filter *f, uint64_t number) {
    const layered_block b = layered_block_at(f, number);
    layered_sums s = {0, 0};
    for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++) {
        blyi_counters64 c = blyi_counters64_get(b.front, b.planes, i);
        s.all += blyi_popcount64(c.used) + blyi_popcount64(c.plane[0]) +
                 2 * blyi_popcount64(c.plane[1]) + 4 * blyi_popcount64(c.plane[2]);
        s.stuck += 8 * blyi_popcount64(blyi_counters64_stuck(&c));
    }
    return s;
}

/* Keys and rates are those of the front. Each cell in use counts as four set bits. */
static void layered_fill_stats(const bly_filter *f, bly_filter_info *out) {
    const bly_filter front = layered_front(f);
    bly_filter_info s;
    blyi_filter_info(&front, &s);
    out->set_bits = s.set_bits * (BLYI_COUNTER_PLANES + 1);
    out->fill = s.fill;
    out->estimated_keys = s.estimated_keys;
    out->expected_fill = blyi_copies_fill(f, layered_keys(f));
    out->expected_fpr = s.expected_fpr;
    out->current_fpr = s.current_fpr;
    for (uint64_t number = 0; number < f->geometry.size; number++)
        out->stuck += layered_block_sums(f, number).stuck / 8;
}

/* ---- set operations ----------------------------------------------------------------------------
 *
 * They work cell by cell, because it is not known how much each key has contributed to a cell that
 * several keys have.
 *
 * Union adds counts: byte for byte the filter of both multisets, unless copies were removed after a
 * cell got stuck. Intersection keeps the lower count of each cell: a key with a copies here and b
 * there keeps at least min(a, b), as a sum of minima is no more than the minimum of the sums.
 * Difference removes all copies that the other filter has. Like a remove, it changes all cells or
 * none, so that counts of other keys are not lowered for a key that is not there. A remove changes
 * all cells of a key or none; a difference, all cells of a block, which is the smallest unit that
 * can be checked as a whole.
 *
 * The overlap, and the number of keys in an intersection, are estimated from the fronts. */

typedef blyi_counters64 layered_combine_fn(blyi_counters64 a, blyi_counters64 b);

/* Combines block `number` of src into that of dst. */
static inline void layered_combine_block(bly_filter *dst, const bly_filter *src, uint64_t number,
                                         layered_combine_fn *combine) {
    const layered_block a = layered_block_at(dst, number), b = layered_block_at(src, number);
    for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++) {
        blyi_counters64 mine = blyi_counters64_get(a.front, a.planes, i);
        blyi_counters64_set(a.front, a.planes, i,
                            combine(mine, blyi_counters64_get(b.front, b.planes, i)));
    }
}

static bly_status layered_union(bly_filter *dst, const bly_filter *src) {
    for (uint64_t number = 0; number < dst->geometry.size; number++)
        layered_combine_block(dst, src, number, blyi_counters64_sum);
    dst->items = blyi_sum(dst->items, src->items);
    dst->approximate |= src->approximate;
    return BLY_OK;
}

static bly_status layered_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    const bly_filter front_a = layered_front(a), front_b = layered_front(b);
    return bly_filter_overlap(&front_a, &front_b, out);
}

/* The number of copies: a copy is counted in eight cells. */
static double layered_estimate_copies(const bly_filter *f) {
    uint64_t sum = 0;
    for (uint64_t number = 0; number < f->geometry.size; number++)
        sum += layered_block_sums(f, number).all;
    return (double)sum / 8;
}

static bly_status layered_intersect(bly_filter *dst, const bly_filter *src) {
    uint64_t fewer = dst->items < src->items ? dst->items : src->items;
    bly_overlap o;
    bly_status status = layered_overlap(dst, src, &o);
    if (status)
        return status;
    for (uint64_t number = 0; number < dst->geometry.size; number++)
        layered_combine_block(dst, src, number, blyi_counters64_min);
    dst->items =
        blyi_copies_in_both(o.both, layered_estimate_copies(dst), layered_keys(dst), fewer);
    dst->approximate = true;
    return BLY_OK;
}

/* Whether no count in block `number` of dst is below that of src. */
static bool layered_block_includes(const bly_filter *dst, const bly_filter *src, uint64_t number) {
    const layered_block a = layered_block_at(dst, number), b = layered_block_at(src, number);
    uint64_t fewer = 0;
    for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++)
        fewer |= blyi_counters64_less(blyi_counters64_get(a.front, a.planes, i),
                                      blyi_counters64_get(b.front, b.planes, i));
    return fewer == 0;
}

static bly_status layered_subtract(bly_filter *dst, const bly_filter *src) {
    const uint64_t others = src->items; /* read first: src may be dst */
    blyi_subtraction t = {0, 0, 0, 0};
    for (uint64_t number = 0; number < dst->geometry.size; number++) {
        uint64_t here = layered_block_sums(src, number).all;
        if (layered_block_includes(dst, src, number)) {
            layered_combine_block(dst, src, number, blyi_counters64_difference);
            t.taken += here;
        } else {
            t.passed += here;
        }
        layered_sums rest = layered_block_sums(dst, number);
        t.left += rest.all - rest.stuck;
        t.stuck += rest.stuck;
    }
    dst->items = blyi_copies_left(dst->items, others, &t);
    dst->approximate |= src->approximate;
    return BLY_OK;
}

/* ---- the front as a separate filter -------------------------------------------------------- */

static bly_status layered_refuse_add(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                     bly_batch_result *sum) {
    (void)f, (void)h, (void)n, (void)added, (void)sum;
    return BLY_EUNSUPPORTED;
}

static void layered_refuse_clear(bly_filter *f) {
    (void)f;
}

static void layered_fold_front(const bly_filter *from, uint64_t divisor, bly_filter *to) {
    blyi_ops_of(BLY_SBBF)->fold(from, divisor, to);
}

/* sbbf's operations, without those that would change bits that belong to the layered filter. */
static const blyi_ops layered_front_ops = {
    .capabilities = BLY_CAN_OVERLAP | BLY_CAN_FOLD | BLY_CAN_MAP,
    .block_shift = 5,
    .select_kernels = layered_select_kernels,
    .prefetch = layered_prefetch_contains,
    .try_add_many = layered_refuse_add,
    .contains_many = blyi_blocks_contain_many,
    .current_fpr = layered_current_fpr,
    .fold = layered_fold_front,
    .clear = layered_refuse_clear,
};

/* The estimated number of distinct keys, but at most the number of copies. */
static uint64_t layered_count_distinct(const bly_filter *f) {
    double keys = layered_keys(f);
    return keys < (double)f->items ? (uint64_t)llround(keys) : f->items;
}

bly_status bly_layered_front(const bly_filter *f, bly_filter **out) {
    *out = NULL;
    if (f->geometry.kind != BLY_LAYERED)
        return BLY_EUNSUPPORTED;
    blyi_shape shape = blyi_filter_shape(f);
    shape.geometry.kind = BLY_SBBF;
    shape.items = layered_count_distinct(f);
    bly_status status = blyi_filter_make(&shape, &f->alloc, f->body, out);
    if (status == BLY_OK)
        blyi_filter_switch_ops(*out, &layered_front_ops);
    return status;
}

/* ---- descriptor ------------------------------------------------------------------------------ */

static const blyi_ops layered_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_INTERSECT | BLY_CAN_OVERLAP |
                    BLY_CAN_MAP | BLY_CAN_REMOVE | BLY_CAN_SUBTRACT | BLY_CAN_COUNT,
    .block_shift = 5,
    .select_kernels = layered_select_kernels,
    .prefetch = layered_prefetch,
    .prefetch_contains = layered_prefetch_contains,
    .try_add_many = layered_try_add_many,
    .contains_many = blyi_blocks_contain_many,
    .current_fpr = layered_current_fpr,
    .remove_one = layered_remove_one,
    .count_copies = layered_count_copies,
    .body_is_valid = layered_body_is_valid,
    .fill_stats = layered_fill_stats,
    .union_with = layered_union,
    .intersect_with = layered_intersect,
    .subtract_from = layered_subtract,
    .estimate_overlap = layered_overlap,
};

const blyi_kind blyi_kind_layered = {
    .code = BLY_LAYERED,
    .name = "layered",
    .meaning = "an sbbf filter in front, its counters behind; keys can be removed",
    .reason =
        "keys can be removed, and lookups are as fast as sbbf's; its front can be shared as an "
        "sbbf filter",
    .hashes_name = "counters per key",
    .describe_rest = blyi_describe_counters,
    .planner = &layered_planner,
    .ops = &layered_ops,
};
