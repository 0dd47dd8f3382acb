/* HyperLogLog: estimates the number of distinct keys (Flajolet, Fusy, Gandouet and Meunier 2007).
 *
 * The idea: among n random numbers, the one that begins with the most zeros begins with about log2
 * n of them. One such record is a poor estimate, so there are m = 2^p of them: the first p bits of
 * a key's hash choose a register, and the register keeps the highest rank of its keys, the rank of
 * a hash being one more than the number of zeros after those p bits. A key that comes again changes
 * nothing, whatever the order. So the larger of every two registers is exactly the sketch of the
 * union of two streams.
 *
 * Only the word `hi` of a hash is used: index = hi >> (64-p), rank = zeros at the top of hi << p,
 * at most 64-p, plus 1. So a register is at most 65-p <= 61, which fits six bits.
 *
 * A sketch supports lookups like any filter: "no" if the register is below the key's rank, because
 * then the key was never added. The same test decides whether an add changes anything.
 *
 * Body: register i is bits 6i .. 6i+5, counted from the lowest bit of the first byte. With p = 14
 * it has 12 KiB, and stays in a processor's first-level cache. Nearly every add finds its register
 * high enough already and changes nothing, which takes about 3 ns if the hash is given.
 *
 * Estimate: the improved estimator of Ertl ("New cardinality estimation algorithms for HyperLogLog
 * sketches", 2017). Let m registers have the values 0 .. q + 1, where q = 64 - precision is the
 * number of bits that a rank is read from, and let c(k) of them have value k. The first HyperLogLog
 * computed
 *     a m^2 / sum over k of c(k) 2^-k
 * which is right only between some multiples of m and 2^q: below, linear counting had to be used,
 * and around the seam, tables of measured bias. Ertl replaces the two ends of the sum by what they
 * would be if registers had values from minus to plus infinity,
 *     c(0)          by   m sigma(c(0) / m),       sigma(x) = x + sum over k of x^(2^k) 2^(k-1)
 *     c(q+1) 2^-q-1 by   m tau(1 - c(q+1)/m) 2^-q,
 *                        tau(x) = (1 - x - sum over k of (1 - x^(2^-k))^2 2^-k) / 3
 * with k from 1 on, and the same formula, with a = 1 / (2 ln 2), holds from 0 keys to 2^64, without
 * special cases and without tables. Both sums are computed until they no longer change, which is a
 * few dozen terms. They use only roots and products, so that every machine gets the same result.
 * All that is needed of a sketch is the histogram c.
 */
#include "filter/kind.h"
#include "filter/rate.h"
#include "filter/set_operations.h"
#include "kinds/hll/hll_layout.h"
#include <bloomery/filter.h>
#include <math.h>
#include <stdio.h>

#define HLL_INLINE static inline __attribute__((always_inline))

enum { HLL_DEFAULT_PRECISION = 14 };

/* ---- add and contains ------------------------------------------------------------------------ */

HLL_INLINE uint64_t hll_index_of(bly_hash h, unsigned precision) {
    return h.hi >> (64 - precision);
}

/* The bits from which the rank is read, shifted to the top, and a 1 after the last of them. */
HLL_INLINE uint64_t hll_rest_of(bly_hash h, unsigned precision) {
    return h.hi << precision | (uint64_t)1 << (precision - 1);
}

HLL_INLINE unsigned hll_rank_of(bly_hash h, unsigned precision) {
    return (unsigned)__builtin_clzll(hll_rest_of(h, precision)) + 1;
}

/* Whether the register is at least the rank, that is, whether the hash has fewer leading zeros than
 * the register's value. A shift tests this faster than counting the zeros would. */
HLL_INLINE bool hll_contains_one(const uint8_t *body, bly_hash h, unsigned precision) {
    unsigned value = blyi_hll_get(body, hll_index_of(h, precision));
    return hll_rest_of(h, precision) >> 1 >> (BLYI_HLL_VALUES - 1 - value) != 0;
}

static void hll_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    (void)f; /* nothing to do: a sketch is small enough to stay in the cache */
    (void)h;
    (void)n;
}

/* Adds a key. Returns whether its register had to be raised. */
HLL_INLINE bool hll_add_one(uint8_t *body, bly_hash h, unsigned precision) {
    bool higher = !hll_contains_one(body, h, precision);
    if (__builtin_expect(higher, 0))
        blyi_hll_set(body, hll_index_of(h, precision), hll_rank_of(h, precision));
    return higher;
}

HLL_INLINE size_t hll_add_with(uint8_t *body, const bly_hash *h, size_t n, uint8_t *added,
                               unsigned precision) {
    size_t changes = 0;
    if (!added) {
        for (size_t i = 0; i < n; i++)
            changes += hll_add_one(body, h[i], precision);
        return changes;
    }
    for (size_t i = 0; i < n; i++)
        changes += added[i] = hll_add_one(body, h[i], precision);
    return changes;
}

/* For the default precision there is a separate loop, in which the shifts are constants. */
static size_t hll_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    unsigned precision = f->geometry.hashes;
    return precision == HLL_DEFAULT_PRECISION
               ? hll_add_with(f->body, h, n, added, HLL_DEFAULT_PRECISION)
               : hll_add_with(f->body, h, n, added, precision);
}

static size_t hll_contains_many(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = hll_contains_one(f->body, h[i], f->geometry.hashes);
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

/* ---- estimate -------------------------------------------------------------------------------- */

/* 1 / (2 ln 2) */
#define HLL_ALPHA 0.72134752044448170

static double hll_sigma(double x) {
    if (x >= 1)
        return INFINITY;
    double sum = x, before = -1, weight = 1;
    while (sum != before) {
        before = sum;
        x *= x;
        sum += x * weight;
        weight *= 2;
    }
    return sum;
}

static double hll_tau(double x) {
    if (x <= 0 || x >= 1)
        return 0;
    double sum = 1 - x, before = -1, weight = 1;
    while (sum != before) {
        before = sum;
        x = sqrt(x);
        weight /= 2;
        sum -= (1 - x) * (1 - x) * weight;
    }
    return sum / 3;
}

/* Estimates the number of distinct keys from the registers of a sketch of that geometry or, if
 * `other` is not NULL, of the union of two sketches. Safe for any bytes: a register above the
 * largest rank counts as the largest rank. Returns INFINITY if all registers have the largest
 * rank. */
static double hll_estimate_registers(const bly_geometry *g, const uint8_t *body,
                                     const uint8_t *other) {
    uint64_t count[BLYI_HLL_VALUES] = {0};
    unsigned max_rank = blyi_hll_max_rank(g->hashes);
    for (uint64_t i = 0; i < g->size; i++) {
        unsigned value = blyi_hll_get(body, i), second = other ? blyi_hll_get(other, i) : 0;
        value = value > second ? value : second;
        count[value < max_rank ? value : max_rank]++;
    }
    double m = (double)g->size;
    double sum = m * hll_tau(1 - (double)count[max_rank] / m);
    for (unsigned k = max_rank - 1; k > 0; k--)
        sum = (sum + (double)count[k]) / 2;
    sum += m * hll_sigma((double)count[0] / m);
    return HLL_ALPHA * m * m / sum;
}

static double hll_estimate(const bly_filter *f) {
    return hll_estimate_registers(&f->geometry, f->body, NULL);
}

static uint64_t hll_count_keys(const bly_filter *f) {
    double keys = hll_estimate(f);
    return keys < 0x1p63 ? (uint64_t)llround(keys) : UINT64_MAX;
}

static void hll_fill_stats(const bly_filter *f, bly_filter_info *out) {
    uint64_t used = 0;
    for (uint64_t i = 0; i < f->geometry.size; i++)
        used += blyi_hll_get(f->body, i) != 0;
    out->set_bits = used * BLYI_HLL_BITS;
    out->fill = (double)used / (double)f->geometry.size;
    out->estimated_keys = hll_estimate(f);
    out->expected_fill = bly_plan_fill(&f->geometry, out->estimated_keys);
    out->expected_fpr = out->current_fpr = bly_hll_error(f);
}

/* ---- set operations, valid bodies ------------------------------------------------------------ */

/* Values of src are limited to the largest rank, so that a damaged mapped file does not make dst
 * invalid. */
static bly_status hll_union(bly_filter *dst, const bly_filter *src) {
    unsigned max_rank = blyi_hll_max_rank(dst->geometry.hashes);
    for (uint64_t i = 0; i < dst->geometry.size; i++) {
        unsigned value = blyi_hll_get(src->body, i);
        value = value < max_rank ? value : max_rank;
        if (value > blyi_hll_get(dst->body, i))
            blyi_hll_set(dst->body, i, value);
    }
    dst->approximate |= src->approximate;
    return BLY_OK;
}

static bly_status hll_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    double na = hll_estimate(a), nb = hll_estimate(b);
    double either = hll_estimate_registers(&a->geometry, a->body, b->body);
    *out = blyi_overlap_of(na, nb, either, fmin(na, nb));
    return BLY_OK;
}

static bool hll_body_is_valid(const blyi_shape *shape, const uint8_t *body) {
    bool fits = true;
    for (uint64_t i = 0; i < shape->geometry.size; i++)
        fits &= blyi_hll_get(body, i) <= blyi_hll_max_rank(shape->geometry.hashes);
    return fits;
}

/* ---- create ---------------------------------------------------------------------------------- */

/* The capacity is used only to decide which hash is good enough. The rate (`fpr`) of the filter is
 * the standard error of its estimate. */
static bly_status hll_create(const bly_spec *spec, bly_filter **out) {
    blyi_shape shape = {
        .geometry = spec->geometry,
        .hasher = spec->hasher,
        .capacity = spec->capacity,
        .sharing = spec->sharing,
    };
    bly_status status = BLY_OK;
    bool exact = spec->geometry.size != 0;
    if (shape.capacity == 0)
        shape.capacity = blyi_hll_planner.max_keys(&shape.geometry);
    if (!exact)
        status = bly_plan(BLY_HLL, shape.capacity, spec->fpr, spec->geometry.options, 128,
                          &shape.geometry);
    else
        status = bly_plan_check(&shape.geometry);
    if (status)
        return status;
    shape.fpr = blyi_hll_planner.rate(&shape.geometry, 1);
    if (exact && spec->fpr != 0 && !(spec->fpr >= 0x1p-40 && spec->fpr < 1))
        return BLY_ERATE;
    if (shape.hasher.id == BLY_HASH_NONE)
        status = bly_hasher_default(&shape.hasher, shape.capacity, shape.fpr, spec->seed);
    if (status)
        return status;
    /* Keys whose hashes collide count as one. */
    if (!spec->allow_weak_hash &&
        blyi_hash_floor((double)shape.capacity, shape.hasher.bits) > shape.fpr / 10)
        return BLY_EWEAKHASH;
    return blyi_filter_make(&shape, spec->allocator, NULL, out);
}

static const blyi_ops hll_ops = {
    .capabilities =
        BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_OVERLAP | BLY_CAN_MAP | BLY_CARDINALITY_ONLY,
    .create = hll_create,
    .prefetch = hll_prefetch,
    .add_many = hll_add_many,
    .contains_many = hll_contains_many,
    .count_keys = hll_count_keys,
    .body_is_valid = hll_body_is_valid,
    .fill_stats = hll_fill_stats,
    .union_with = hll_union,
    .estimate_overlap = hll_overlap,
};

double bly_hll_estimate(const bly_filter *f) {
    return f->geometry.kind == BLY_HLL ? hll_estimate(f) : (double)NAN;
}

double bly_hll_error(const bly_filter *f) {
    return f->geometry.kind == BLY_HLL ? blyi_hll_planner.rate(&f->geometry, 1) : (double)NAN;
}

/* ---- descriptor ------------------------------------------------------------------------------ */

#define HLL_ONLY_COUNTS                                                                            \
    "the registers only give the number of keys, not which; the overlap of two can be estimated"

static void hll_describe_rest(const bly_geometry *g, char *out, size_t room) {
    (void)g;
    snprintf(out, room, " of 6 bits");
}

const blyi_kind blyi_kind_hll = {
    .code = BLY_HLL,
    .name = "hll",
    .article = "an",
    .meaning = "an estimate of the number of distinct keys, in a few kilobytes",
    .reason = "estimates the number of distinct keys",
    .never_advised = "it estimates the number of keys, and cannot look them up",
    .hashes_name = "precision",
    .size_unit = "register",
    .describe_rest = hll_describe_rest,
    .refusals = {[BLY_OP_INTERSECT] = HLL_ONLY_COUNTS, [BLY_OP_SUBTRACT] = HLL_ONLY_COUNTS},
    .planner = &blyi_hll_planner,
    .ops = &hll_ops,
};
