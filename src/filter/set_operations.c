/* Set operations on compatible filters, and the reasons why two filters cannot be combined.
 *
 * The bitwise OR of two filters is exactly the filter of the union. AND keeps every common key, but
 * also bits that different keys happened to set in both filters, so its result is marked
 * approximate. The size of an intersection is estimated as |A and B| = n(A) + n(B) - n(A or B),
 * where each n is estimated from a popcount. The estimate is limited to the number of keys that
 * would set the bits common to both. Plain bits cannot be subtracted: other keys would be lost.
 */
#include "filter/set_operations.h"
#include "base/bits.h"
#include "filter/filter.h"

#include <math.h>
#include <string.h>

bly_status bly_filter_compatible(const bly_filter *a, const bly_filter *b) {
    const uint32_t probing = BLY_TEXTBOOK;
    bool same = a->geometry.kind == b->geometry.kind && a->hasher.id == b->hasher.id &&
                a->hasher.seed == b->hasher.seed;
    if (same)
        same = (a->ops->any_detail || a->geometry.detail == b->geometry.detail) &&
               (a->geometry.options & probing) == (b->geometry.options & probing);
    if (same && !a->ops->any_size)
        same = a->geometry.size == b->geometry.size && a->geometry.hashes == b->geometry.hashes;
    if (same && a->ops->is_compatible)
        same = a->ops->is_compatible(a, b);
    return same ? BLY_OK : BLY_EMISMATCH;
}

bool bly_filter_equal(const bly_filter *a, const bly_filter *b) {
    if (bly_filter_compatible(a, b) != BLY_OK)
        return false;
    return a->ops->is_equal ? a->ops->is_equal(a, b)
                            : memcmp(a->body, b->body, (size_t)a->body_bytes) == 0;
}

static double estimated_keys_in(const bly_filter *f) {
    return bly_plan_keys(&f->geometry, f->kernels->popcount(blyi_words(f), blyi_word_count(f)));
}

bly_overlap blyi_overlap_of(double a, double b, double either, double shared) {
    /* The common keys set only bits that are set in both filters. So `shared` is an upper bound of
     * the result, and is the result if all bits of the union are set. */
    double both = isfinite(either) ? fmin(shared, fmax(a + b - either, 0)) : shared;
    double all = isfinite(either) ? either : a + b - both;
    bly_overlap o = {a, b, both, either, 1};
    if (all > 0 && isfinite(all))
        o.jaccard = fmin(1, both / all);
    return o;
}

bly_status bly_filter_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    if (!(a->ops->capabilities & BLY_CAN_OVERLAP))
        return BLY_EUNSUPPORTED;
    bly_status status = bly_filter_compatible(a, b);
    if (status)
        return status;
    if (a->ops->estimate_overlap)
        return a->ops->estimate_overlap(a, b, out);
    const uint64_t *wa = blyi_words(a), *wb = blyi_words(b);
    size_t n = blyi_word_count(a);
    uint64_t in_a = a->kernels->popcount(wa, n), in_b = a->kernels->popcount(wb, n);
    uint64_t in_either = a->kernels->popcount_or(wa, wb, n);
    *out = blyi_overlap_of(bly_plan_keys(&a->geometry, in_a), bly_plan_keys(&a->geometry, in_b),
                           bly_plan_keys(&a->geometry, in_either),
                           bly_plan_keys(&a->geometry, in_a + in_b - in_either));
    return BLY_OK;
}

/* Rounds an estimated count, and limits it to the range least..most, which is certain. */
static uint64_t bounded_estimate(double estimate, uint64_t least, uint64_t most) {
    if (!(estimate < (double)most))
        return most;
    if (!(estimate > (double)least))
        return least;
    /* From 2^53 on every double is a whole number, and llround works only below 2^63. */
    return estimate < 0x1p53 ? (uint64_t)llround(estimate) : (uint64_t)estimate;
}

/* Further copies of a key set no further cells, so `keys` counts distinct keys. */
double blyi_copies_fill(const bly_filter *f, double keys) {
    return bly_plan_fill(&f->geometry, fmin(keys, (double)f->items));
}

/* Some cells of an intersection are set by chance, so neither the cells nor their counts give the
 * number of common copies. But the overlap gives the number of common keys, and the cells give the
 * mean number of copies per key. */
uint64_t blyi_copies_in_both(double both, double copies, double keys, uint64_t most) {
    double mean = keys > 0 && isfinite(keys) ? copies / keys : 1;
    return bounded_estimate(both * fmax(mean, 1), 0, most);
}

/* Returns the share part / (part + rest) of `all`. The result is `all` only if rest is 0 (or if
 * `all` is 0): it is never rounded up to `all`. */
static uint64_t share_of(uint64_t all, uint64_t part, uint64_t rest) {
    if (part == 0 || all == 0)
        return 0;
    double share = (double)part / ((double)part + (double)rest);
    return rest == 0 ? all : bounded_estimate((double)all * share, 0, all - 1);
}

uint64_t blyi_copies_left(uint64_t items, uint64_t others, const blyi_subtraction *t) {
    uint64_t taken = share_of(others, t->taken, t->passed);
    if (t->left == 0 && t->stuck == 0)
        return 0;
    /* If dst lacks keys of src, the estimate from src's cells is less accurate, the more so the
     * more keys it lacks. Then the cells of dst give an upper bound. */
    if (t->passed > 0 || taken >= items) {
        uint64_t bound = share_of(items, t->taken, t->left);
        taken = bound < taken ? bound : taken;
    }
    return items - taken;
}

static bly_status union_bits(bly_filter *dst, const bly_filter *src) {
    if (!(dst->ops->capabilities & BLY_CAN_UNION))
        return BLY_EUNSUPPORTED;
    bly_status status = bly_filter_compatible(dst, src);
    if (status)
        return status;
    if (dst->ops->union_with)
        return dst->ops->union_with(dst, src);
    uint64_t a = blyi_filter_items(dst), b = blyi_filter_items(src);
    uint64_t *into = blyi_words(dst);
    const uint64_t *from = blyi_words(src);
    for (size_t i = 0; i < blyi_word_count(dst); i++)
        into[i] |= from[i];
    blyi_filter_trim(dst);
    blyi_filter_set_items(dst,
                          bounded_estimate(estimated_keys_in(dst), a > b ? a : b, blyi_sum(a, b)));
    dst->approximate |= src->approximate;
    return BLY_OK;
}

/* Returns a key rule only if all keys of the result follow it. */
static bly_key_rule rule_of_union(const bly_filter *a, const bly_filter *b) {
    if (a->key_rule == b->key_rule || bly_filter_count(b) == 0)
        return a->key_rule;
    return bly_filter_count(a) == 0 ? b->key_rule : BLY_KEYS_UNRECORDED;
}

bly_status bly_filter_union(bly_filter *dst, const bly_filter *src) {
    const bly_key_rule rule = rule_of_union(dst, src);
    bly_status status = union_bits(dst, src);
    if (status == BLY_OK)
        blyi_filter_set_key_rule(dst, rule);
    return status;
}

static bly_status intersect_bits(bly_filter *dst, const bly_filter *src) {
    bly_overlap o;
    if (!(dst->ops->capabilities & BLY_CAN_INTERSECT))
        return BLY_EUNSUPPORTED;
    bly_status status = bly_filter_compatible(dst, src);
    if (status == BLY_OK && dst->ops->intersect_with)
        return dst->ops->intersect_with(dst, src);
    if (status == BLY_OK)
        status = bly_filter_overlap(dst, src, &o);
    if (status)
        return status;
    uint64_t a = blyi_filter_items(dst), b = blyi_filter_items(src);
    uint64_t *into = blyi_words(dst);
    const uint64_t *from = blyi_words(src);
    for (size_t i = 0; i < blyi_word_count(dst); i++)
        into[i] &= from[i];
    blyi_filter_set_items(dst, bounded_estimate(o.both, 0, a < b ? a : b));
    dst->approximate = true;
    return BLY_OK;
}

bly_status bly_filter_intersect(bly_filter *dst, const bly_filter *src) {
    bly_status status = intersect_bits(dst, src);
    if (status == BLY_OK && dst->key_rule != src->key_rule)
        blyi_filter_set_key_rule(dst, BLY_KEYS_UNRECORDED);
    return status;
}

bly_status bly_filter_subtract(bly_filter *dst, const bly_filter *src) {
    if (!dst->ops->subtract_from)
        return BLY_EUNSUPPORTED;
    bly_status status = bly_filter_compatible(dst, src);
    return status ? status : dst->ops->subtract_from(dst, src);
}

uint64_t bly_filter_best_fold(const bly_filter *f, double fpr) {
    bly_geometry g = f->geometry;
    uint64_t divisor = 1;
    if (!f->ops->fold)
        return 1;
    double n = estimated_keys_in(f);
    if (!isfinite(n))
        return 1;
    uint64_t keys = (uint64_t)ceil(n);
    for (; g.size % 2 == 0; divisor *= 2) {
        g.size /= 2;
        if (bly_plan_check(&g) || !(bly_plan_fpr(&g, keys, f->hasher.bits) <= fpr))
            break;
    }
    return divisor;
}

/* ---- reasons --------------------------------------------------------------------------------- */

static const char *why_unsupported(bly_operation op, const bly_filter *f) {
    uint32_t can = f->ops->capabilities;
    if (f->ops->solver && op == BLY_OP_OVERLAP)
        return "the overlap of filters that are built from all keys at once cannot be estimated";
    if (f->ops->solver)
        return "a filter that is built from all keys at once cannot be changed; build a new one "
               "from the keys, or look keys up in both";
    const blyi_kind *kind = blyi_kind_of(f->geometry.kind);
    if ((unsigned)op < BLYI_OPERATIONS && kind->refusals[op])
        return kind->refusals[op];
    bool view = f->ops != kind->ops; /* a read-only view of another filter's memory */
    if (view && (op == BLY_OP_UNION || op == BLY_OP_INTERSECT))
        return "it is a read-only view of another filter's memory; clone it first";
    switch (op) {
    case BLY_OP_UNION:
        return can & BLY_CAN_UNION ? NULL : "filters of this kind cannot be united";
    case BLY_OP_INTERSECT:
        if (can & BLY_CAN_INTERSECT)
            return NULL;
        return f->levels ? "a common key may be in different levels of the two, and would be lost"
                         : "a common key may have a different age in each, and would be lost";
    case BLY_OP_SUBTRACT:
        return can & BLY_CAN_SUBTRACT ? NULL
                                      : "keys share bits in this kind, so removing some would "
                                        "lose others";
    case BLY_OP_OVERLAP:
        return can & BLY_CAN_OVERLAP
                   ? NULL
                   : "the overlap of two filters of this kind cannot be estimated";
    }
    return "there is no such operation";
}

static bool has_custom_hash(const bly_filter *f) {
    return bly_hash_is_custom((bly_hash_id)f->hasher.id);
}

static const char *why_incompatible(const bly_filter *a, const bly_filter *b) {
    if (a->geometry.kind != b->geometry.kind)
        return "they are of different kinds";
    if (a->hasher.id != b->hasher.id && has_custom_hash(a) && has_custom_hash(b))
        return "one of them mixes the output of its custom hash function, the other does not";
    if (a->hasher.id != b->hasher.id)
        return "they use different hash functions";
    if (a->hasher.seed != b->hasher.seed)
        return a->hasher.id == BLY_HASH_SIPHASH ? "their secret keys differ" : "their seeds differ";
    if (a->levels)
        return "their levels, growth or rates differ";
    if (a->geometry.size != b->geometry.size || a->geometry.hashes != b->geometry.hashes ||
        a->geometry.detail != b->geometry.detail)
        return "they have different sizes or shapes";
    if (a->geometry.options != b->geometry.options)
        return "they use different probe sequences";
    return "their clocks or generations differ";
}

const char *bly_filter_why_not(bly_operation op, const bly_filter *a, const bly_filter *b) {
    const char *reason = why_unsupported(op, a);
    if (!reason && bly_filter_compatible(a, b) != BLY_OK)
        reason = why_incompatible(a, b);
    return reason;
}
