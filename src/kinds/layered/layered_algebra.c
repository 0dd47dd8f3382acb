/* Set algebra on layered filters: cell by cell, because cells that keys share cannot be told apart.
 *
 * Union adds counts: it is the filter of both multisets, byte for byte, as long as neither has been
 * lowered since a cell of it got stuck. Intersection keeps the lower count of each cell: a key with
 * a copies here and b there keeps the min of them at least, as sums of minima are no more than the
 * minimum of sums. Difference is a remove of everything in the other filter, and follows its rule:
 * all or nothing, so that a count that is not there takes no other key's with it. There the unit is
 * a key, here it is a block, the least that can be told to be there as a whole.
 *
 * Overlap, and how many keys an intersection has, are estimated from the fronts (combine.c).
 */
#include "filter/set_operations.h"
#include "kinds/layered/layered_body.h"

typedef blyi_counters64 combine_fn(blyi_counters64 a, blyi_counters64 b);

/* Block b of dst becomes dst combined with src. */
static inline void combine_block(bly_filter *dst, const bly_filter *src, uint64_t b,
                                 combine_fn *combine) {
    uint64_t *front = blyi_words(dst) + b * BLYI_COUNTER_WORDS;
    uint64_t *planes = blyi_layered_planes(dst, b);
    const uint64_t *other = blyi_words(src) + b * BLYI_COUNTER_WORDS;
    const uint64_t *other_planes = blyi_layered_planes(src, b);
    for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++) {
        blyi_counters64 mine = blyi_counters64_get(front, planes, i);
        blyi_counters64_set(front, planes, i,
                            combine(mine, blyi_counters64_get(other, other_planes, i)));
    }
}

bly_status blyi_layered_unite(bly_filter *dst, const bly_filter *src) {
    for (uint64_t b = 0; b < dst->geometry.size; b++)
        combine_block(dst, src, b, blyi_counters64_sum);
    dst->items = blyi_sum(dst->items, src->items);
    dst->approximate |= src->approximate;
    return BLY_OK;
}

bly_status blyi_layered_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    const bly_filter front_a = blyi_layered_front(a), front_b = blyi_layered_front(b);
    return bly_filter_overlap(&front_a, &front_b, out);
}

/* The counts of a block, all of them and those that are stuck. */
typedef struct sums {
    uint64_t all, stuck;
} sums;

static sums block_sums(const bly_filter *f, uint64_t b) {
    const uint64_t *front = blyi_words(f) + b * BLYI_COUNTER_WORDS;
    sums s = {0, 0};
    for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++) {
        blyi_counters64 c = blyi_counters64_get(front, blyi_layered_planes(f, b), i);
        s.all += blyi_popcount64(c.used) + blyi_popcount64(c.plane[0]) +
                 2 * blyi_popcount64(c.plane[1]) + 4 * blyi_popcount64(c.plane[2]);
        s.stuck += 8 * blyi_popcount64(blyi_counters64_stuck(&c));
    }
    return s;
}

/* The sum of all counts, an eighth of which is the number of copies. */
static double total(const bly_filter *f) {
    uint64_t sum = 0;
    for (uint64_t b = 0; b < f->geometry.size; b++)
        sum += block_sums(f, b).all;
    return (double)sum;
}

bly_status blyi_layered_intersect(bly_filter *dst, const bly_filter *src) {
    uint64_t fewer = dst->items < src->items ? dst->items : src->items;
    bly_overlap o;
    bly_status status = blyi_layered_overlap(dst, src, &o);
    if (status)
        return status;
    for (uint64_t b = 0; b < dst->geometry.size; b++)
        combine_block(dst, src, b, blyi_counters64_min);
    dst->items = blyi_copies_in_both(o.both, total(dst) / 8, blyi_layered_keys(dst), fewer);
    dst->approximate = true;
    return BLY_OK;
}

/* Whether block b of dst has what that of src has. */
static bool holds_block(const bly_filter *dst, const bly_filter *src, uint64_t b) {
    const uint64_t *front = blyi_words(dst) + b * BLYI_COUNTER_WORDS;
    const uint64_t *other = blyi_words(src) + b * BLYI_COUNTER_WORDS;
    uint64_t fewer = 0;
    for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++)
        fewer |= blyi_counters64_less(blyi_counters64_get(front, blyi_layered_planes(dst, b), i),
                                      blyi_counters64_get(other, blyi_layered_planes(src, b), i));
    return fewer == 0;
}

bly_status blyi_layered_subtract(bly_filter *dst, const bly_filter *src) {
    const uint64_t others = src->items; /* perhaps dst's own */
    blyi_subtraction t = {0, 0, 0, 0};
    for (uint64_t b = 0; b < dst->geometry.size; b++) {
        uint64_t here = block_sums(src, b).all;
        if (holds_block(dst, src, b)) {
            combine_block(dst, src, b, blyi_counters64_difference);
            t.taken += here;
        } else {
            t.passed += here;
        }
        sums rest = block_sums(dst, b);
        t.left += rest.all - rest.stuck;
        t.stuck += rest.stuck;
    }
    dst->items = blyi_copies_left(dst->items, others, &t);
    dst->approximate |= src->approximate;
    return BLY_OK;
}
