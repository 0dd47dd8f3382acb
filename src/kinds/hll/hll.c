/* HyperLogLog: how many distinct keys (Flajolet, Fusy, Gandouet and Meunier 2007).
 *
 * The idea: among n random numbers, the one that begins with the most zeros begins with about log2
 * n of them. One such record is a poor guess, so there are m = 2^p: the first p bits of a key's
 * hash choose a register, and the register keeps the highest rank it has seen, the rank of a hash
 * being one more than the number of zeros after those p bits. A key that comes again changes
 * nothing, by whatever way and in whatever order; so the larger of every two registers is the
 * sketch of two streams' union, to the last bit. hll_estimate.c makes a number of the registers.
 *
 * Only the word `hi` of a hash is used: index = hi >> (64-p), rank = zeros at the top of hi << p,
 * at most 64-p, plus 1. A register is thus at most 65-p <= 61, and six bits hold it.
 *
 * A sketch can be asked about a key like any filter: "no" if the register is below the key's rank,
 * for then the key never came. It is the same look that tells whether an add has changed anything.
 *
 * Body: register i is bits 6i .. 6i+5, counted from the lowest bit of the first byte. With p = 14,
 * 12 KiB, it stays in a processor's first cache. Nearly every add finds its register high enough
 * already, and ends there: some 3 ns for a hash at hand.
 */
#include "kinds/hll/hll.h"

#include "filter/kind.h"
#include "filter/rate.h"
#include "filter/set_operations.h"
#include <bloomery/sketch.h>
#include <math.h>
#include <stdio.h>

#define INLINE static inline __attribute__((always_inline))

enum { USUAL = 14 };

/* ---- use ------------------------------------------------------------------------------------- */

INLINE uint64_t index_of(bly_hash h, unsigned precision) {
    return h.hi >> (64 - precision);
}

/* The bits that the rank is read from, at the top, and a 1 after the last of them. */
INLINE uint64_t rest_of(bly_hash h, unsigned precision) {
    return h.hi << precision | (uint64_t)1 << (precision - 1);
}

INLINE unsigned rank_of(bly_hash h, unsigned precision) {
    return (unsigned)__builtin_clzll(rest_of(h, precision)) + 1;
}

/* Whether the register is at least the rank: fewer zeros lead than it says. Shifting asks that in
 * less time than counting them takes. */
INLINE bool has(const uint8_t *body, bly_hash h, unsigned precision) {
    unsigned value = blyi_hll_get(body, index_of(h, precision));
    return rest_of(h, precision) >> 1 >> (BLYI_HLL_VALUES - 1 - value) != 0;
}

static void prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    (void)f; /* small enough to be near */
    (void)h;
    (void)n;
}

/* Returns whether the register had to be raised. */
INLINE bool put(uint8_t *body, bly_hash h, unsigned precision) {
    bool higher = !has(body, h, precision);
    if (__builtin_expect(higher, 0))
        blyi_hll_set(body, index_of(h, precision), rank_of(h, precision));
    return higher;
}

INLINE size_t add_by(uint8_t *body, const bly_hash *h, size_t n, uint8_t *added,
                     unsigned precision) {
    size_t changes = 0;
    if (!added) {
        for (size_t i = 0; i < n; i++)
            changes += put(body, h[i], precision);
        return changes;
    }
    for (size_t i = 0; i < n; i++)
        changes += added[i] = put(body, h[i], precision);
    return changes;
}

/* The usual precision has a loop of its own, in which the shifts are constants. */
static size_t add(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    unsigned precision = f->geometry.hashes;
    return precision == USUAL ? add_by(f->body, h, n, added, USUAL)
                              : add_by(f->body, h, n, added, precision);
}

static size_t contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = has(f->body, h[i], f->geometry.hashes);
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

/* ---- look ------------------------------------------------------------------------------------ */

static bool sound(const blyi_shape *shape, const uint8_t *body) {
    bool fits = true;
    for (uint64_t i = 0; i < shape->geometry.size; i++)
        fits &= blyi_hll_get(body, i) <= blyi_hll_top(shape->geometry.hashes);
    return fits;
}

static double estimate(const bly_filter *f) {
    return blyi_hll_estimate(&f->geometry, f->body, NULL);
}

static uint64_t count(const bly_filter *f) {
    double keys = estimate(f);
    return keys < 0x1p63 ? (uint64_t)llround(keys) : UINT64_MAX;
}

static void stats(const bly_filter *f, bly_stats *out) {
    uint64_t used = 0;
    for (uint64_t i = 0; i < f->geometry.size; i++)
        used += blyi_hll_get(f->body, i) != 0;
    out->set_bits = used * BLYI_HLL_BITS;
    out->fill = (double)used / (double)f->geometry.size;
    out->estimated_keys = estimate(f);
    out->expected_fill = bly_plan_fill(&f->geometry, out->estimated_keys);
    out->predicted_fpr = out->current_fpr = bly_hll_error(f);
}

/* ---- combine --------------------------------------------------------------------------------- */

/* What a damaged map has in its registers must not come into sound ones. */
static bly_status unite(bly_filter *dst, const bly_filter *src) {
    unsigned top = blyi_hll_top(dst->geometry.hashes);
    for (uint64_t i = 0; i < dst->geometry.size; i++) {
        unsigned value = blyi_hll_get(src->body, i);
        value = value < top ? value : top;
        if (value > blyi_hll_get(dst->body, i))
            blyi_hll_set(dst->body, i, value);
    }
    dst->approximate |= src->approximate;
    return BLY_OK;
}

static bly_status overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    double na = estimate(a), nb = estimate(b);
    double either = blyi_hll_estimate(&a->geometry, a->body, b->body);
    *out = blyi_overlap_of(na, nb, either, fmin(na, nb));
    return BLY_OK;
}

/* ---- create ---------------------------------------------------------------------------------- */

/* The capacity says nothing here but what hash is good enough, and the rate that the filter goes by
 * is the error it has. */
static bly_status create(const bly_spec *spec, bly_filter **out) {
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
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_OVERLAP | BLY_CAN_MAP | BLY_ONLY_COUNTS,
    .create = create,
    .prefetch = prefetch,
    .add_many = add,
    .contains_many = contains,
    .count_keys = count,
    .body_is_valid = sound,
    .fill_stats = stats,
    .union_with = unite,
    .estimate_overlap = overlap,
};

bly_status bly_hll_create(uint32_t precision, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_HLL, 0, 0);
    *out = NULL;
    if (precision >= 64)
        return BLY_EGEOMETRY;
    spec.geometry.hashes = precision;
    spec.geometry.size = (uint64_t)1 << precision;
    return bly_filter_create(&spec, out);
}

double bly_hll_estimate(const bly_filter *f) {
    return f->geometry.kind == BLY_HLL ? estimate(f) : (double)NAN;
}

double bly_hll_error(const bly_filter *f) {
    return f->geometry.kind == BLY_HLL ? blyi_hll_planner.rate(&f->geometry, 1) : (double)NAN;
}

/* ---- descriptor ------------------------------------------------------------------------------ */

#define ONLY_HOW_MANY                                                                              \
    "registers tell how many keys there are, not which; the overlap of two can be estimated"

static void hll_describe_rest(const bly_geometry *g, char *out, size_t room) {
    (void)g;
    snprintf(out, room, " of 6 bits");
}

const blyi_kind blyi_kind_hll = {
    .code = BLY_HLL,
    .name = "hll",
    .article = "an",
    .meaning = "how many different keys came, an estimate, in a few kilobytes",
    .reason = "how many different keys came, roughly",
    .never_advised = "it tells how many keys there are, not which",
    .hashes_name = "precision",
    .size_unit = "register",
    .describe_rest = hll_describe_rest,
    .refusals = {[BLY_OP_INTERSECT] = ONLY_HOW_MANY, [BLY_OP_SUBTRACT] = ONLY_HOW_MANY},
    .planner = &blyi_hll_planner,
    .ops = &hll_ops,
};
