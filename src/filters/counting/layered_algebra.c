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
#include "../levels.h"
#include "layered_body.h"

#include <math.h>

typedef blyi_cells combine_fn(blyi_cells a, blyi_cells b);

/* Block b of dst becomes dst combined with src. */
static inline void combine_block(bly_filter *dst, const bly_filter *src, uint64_t b,
                                 combine_fn *combine) {
    uint64_t *front = blyi_words(dst) + b * BLYI_CELL_WORDS;
    uint64_t *planes = blyi_layered_planes(dst, b);
    const uint64_t *other = blyi_words(src) + b * BLYI_CELL_WORDS;
    const uint64_t *other_planes = blyi_layered_planes(src, b);
    for (unsigned i = 0; i < BLYI_CELL_WORDS; i++) {
        blyi_cells mine = blyi_cells_get(front, planes, i);
        blyi_cells_set(front, planes, i, combine(mine, blyi_cells_get(other, other_planes, i)));
    }
}

bly_status blyi_layered_unite(bly_filter *dst, const bly_filter *src) {
    for (uint64_t b = 0; b < dst->geometry.size; b++)
        combine_block(dst, src, b, blyi_cells_sum);
    dst->items = blyi_sum(dst->items, src->items);
    dst->approximate |= src->approximate;
    return BLY_OK;
}

bly_status blyi_layered_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    const bly_filter front_a = blyi_layered_front(a), front_b = blyi_layered_front(b);
    return bly_filter_overlap(&front_a, &front_b, out);
}

/* The sum of all counts, an eighth of which is the number of copies. */
static double total(const bly_filter *f) {
    const uint64_t *front = blyi_words(f);
    double sum = 0;
    for (uint64_t b = 0; b < f->geometry.size; b++, front += BLYI_CELL_WORDS)
        for (unsigned i = 0; i < BLYI_CELL_WORDS; i++) {
            blyi_cells c = blyi_cells_get(front, blyi_layered_planes(f, b), i);
            sum += blyi_popcount64(c.used) + blyi_popcount64(c.plane[0]) +
                   2 * blyi_popcount64(c.plane[1]) + 4 * blyi_popcount64(c.plane[2]);
        }
    return sum;
}

/* Some of the cells that are left are there by chance, so neither they nor their counts tell how
 * many copies both filters have. But the fronts tell how many keys; and the cells, how many copies
 * a key has on average. */
static uint64_t copies_in_both(const bly_filter *result, double both, uint64_t most) {
    double keys = blyi_layered_keys(result);
    double mean = keys > 0 && isfinite(keys) ? total(result) / 8 / keys : 1;
    double copies = both * fmax(mean, 1);
    return copies < (double)most ? (uint64_t)llround(copies) : most;
}

bly_status blyi_layered_intersect(bly_filter *dst, const bly_filter *src) {
    uint64_t fewer = dst->items < src->items ? dst->items : src->items;
    bly_overlap o;
    bly_status status = blyi_layered_overlap(dst, src, &o);
    if (status)
        return status;
    for (uint64_t b = 0; b < dst->geometry.size; b++)
        combine_block(dst, src, b, blyi_cells_least);
    dst->items = copies_in_both(dst, o.both, fewer);
    dst->approximate = true;
    return BLY_OK;
}

/* Whether block b of dst has what that of src has. */
static bool holds_block(const bly_filter *dst, const bly_filter *src, uint64_t b) {
    const uint64_t *front = blyi_words(dst) + b * BLYI_CELL_WORDS;
    const uint64_t *other = blyi_words(src) + b * BLYI_CELL_WORDS;
    uint64_t fewer = 0;
    for (unsigned i = 0; i < BLYI_CELL_WORDS; i++)
        fewer |= blyi_cells_fewer(blyi_cells_get(front, blyi_layered_planes(dst, b), i),
                                  blyi_cells_get(other, blyi_layered_planes(src, b), i));
    return fewer == 0;
}

/* Copies of keys in block b: every copy has one cell in each word's lower half, so the counts there
 * add up to it. Of the four such sums one without a stuck cell, if there is one. */
static uint64_t copies_in_block(const bly_filter *f, uint64_t b) {
    const uint64_t *front = blyi_words(f) + b * BLYI_CELL_WORDS;
    unsigned best_stuck = 33, sum = 0;
    for (unsigned i = 0; i < BLYI_CELL_WORDS; i++) {
        blyi_cells c = blyi_cells_get(front, blyi_layered_planes(f, b), i);
        const uint64_t lane = blyi_le64(UINT32_MAX);
        unsigned stuck = blyi_popcount64(blyi_cells_stuck(&c) & lane);
        if (stuck >= best_stuck)
            continue;
        best_stuck = stuck;
        sum = blyi_popcount64(c.used & lane) + blyi_popcount64(c.plane[0] & lane) +
              2 * blyi_popcount64(c.plane[1] & lane) + 4 * blyi_popcount64(c.plane[2] & lane);
    }
    return sum;
}

bly_status blyi_layered_subtract(bly_filter *dst, const bly_filter *src) {
    uint64_t taken = src->items, passed_over = 0;
    for (uint64_t b = 0; b < dst->geometry.size; b++) {
        if (holds_block(dst, src, b))
            combine_block(dst, src, b, blyi_cells_difference);
        else
            passed_over += copies_in_block(src, b);
    }
    taken = taken > passed_over ? taken - passed_over : 0;
    dst->items = dst->items > taken ? dst->items - taken : 0;
    dst->approximate |= src->approximate;
    return BLY_OK;
}
