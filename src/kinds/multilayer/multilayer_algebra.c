/* Two multilayer filters combined: count by count, block by block.
 *
 * The result is written into a body of its own, which then takes the place of the first filter's:
 * so a failure changes nothing, and a filter may be combined with itself. How many blocks are
 * spilled in the result, and so how large a body it needs, is worked out before.
 *
 *     union          a + b, at most 65535
 *     intersection   the smaller of a and b
 *     difference     a - b, in blocks none of whose a is smaller than b
 *
 * A count of 65535 stands for any number from there on, or for fewer when copies were removed
 * since. A difference leaves such a count as it is, and takes nothing away for one: a count too
 * many does no harm, one too few would lose keys. For the same reason it passes a block over in
 * which something is to be taken out that is not there: what would be taken of the other cells
 * would be other keys'.
 */
#include "base/memory.h"
#include "filter/set_operations.h"
#include "kinds/multilayer/multilayer.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Of a block: counts becomes the two combined. */
typedef void combine_fn(uint16_t counts[BLYI_ML_CELLS], const uint16_t other[BLYI_ML_CELLS],
                        blyi_subtraction *t);

INLINE void plus(uint16_t counts[BLYI_ML_CELLS], const uint16_t other[BLYI_ML_CELLS],
                 blyi_subtraction *t) {
    (void)t;
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++) {
        unsigned sum = (unsigned)counts[cell] + other[cell];
        counts[cell] = (uint16_t)(sum < BLYI_ML_STUCK ? sum : BLYI_ML_STUCK);
    }
}

INLINE void least(uint16_t counts[BLYI_ML_CELLS], const uint16_t other[BLYI_ML_CELLS],
                  blyi_subtraction *t) {
    (void)t;
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++)
        counts[cell] = counts[cell] < other[cell] ? counts[cell] : other[cell];
}

INLINE void minus(uint16_t counts[BLYI_ML_CELLS], const uint16_t other[BLYI_ML_CELLS],
                  blyi_subtraction *t) {
    bool lacks = false;
    uint64_t known = 0;
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++) {
        bool told = other[cell] < BLYI_ML_STUCK || counts[cell] == BLYI_ML_STUCK;
        known += told ? other[cell] : 0;
        lacks |= told && counts[cell] < other[cell];
    }
    *(lacks ? &t->passed : &t->taken) += known;
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++) {
        bool stuck = counts[cell] == BLYI_ML_STUCK;
        if (!lacks && !stuck && other[cell] < BLYI_ML_STUCK)
            counts[cell] = (uint16_t)(counts[cell] - other[cell]);
        *(stuck ? &t->stuck : &t->left) += counts[cell];
    }
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
                         uint16_t counts[BLYI_ML_CELLS], blyi_subtraction *t) {
    uint16_t other[BLYI_ML_CELLS];
    uint32_t sum = 0;
    blyi_ml_counts(a, number, counts);
    blyi_ml_counts(b, number, other);
    how(counts, other, t);
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++)
        sum += counts[cell];
    return sum;
}

/* dst becomes the two combined, but for its number of items. */
INLINE bly_status combine(bly_filter *dst, const bly_filter *src, combine_fn *how,
                          blyi_subtraction *t) {
    bly_geometry g = dst->geometry;
    uint16_t counts[BLYI_ML_CELLS];
    uint64_t spilled = spills(dst, src, how == plus);
    void *block;
    if (spilled > blyi_ml_room(&g))
        g.detail = blyi_size_class_for(spilled);
    bly_status status = bly_plan_check(&g);
    if (status)
        return status;
    uint8_t *body = blyi_alloc_array(&dst->alloc, bly_plan_bytes(&g), &block);
    if (!body)
        return BLY_ENOMEM;
    for (uint64_t i = 0; i < g.size; i++) {
        uint32_t sum = combined(dst, src, i, how, counts, t);
        blyi_ml_store(&g, body, i, counts, sum);
    }
    bool approximate = dst->approximate || src->approximate;
    blyi_filter_replace_body(dst, &g, body, block);
    dst->approximate = approximate;
    return BLY_OK;
}

bly_status blyi_ml_unite(bly_filter *dst, const bly_filter *src) {
    uint64_t items = blyi_sum(dst->items, src->items);
    bly_status status = combine(dst, src, plus, NULL);
    if (status == BLY_OK)
        dst->items = items;
    return status;
}

bly_status blyi_ml_subtract(bly_filter *dst, const bly_filter *src) {
    const uint64_t others = src->items; /* perhaps dst's own */
    blyi_subtraction t = {0, 0, 0, 0};
    bly_status status = combine(dst, src, minus, &t);
    if (status == BLY_OK)
        dst->items = blyi_copies_left(dst->items, others, &t);
    return status;
}

/* ---- estimates ------------------------------------------------------------------------------- */

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

bly_status blyi_ml_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    uint64_t in_a = set_bits(a, a), in_b = set_bits(b, b), in_either = set_bits(a, b);
    *out = blyi_overlap_of(keys_of(a, in_a), keys_of(a, in_b), keys_of(a, in_either),
                           keys_of(a, in_a + in_b - in_either));
    return BLY_OK;
}

/* The sum of all counts, as the blocks of a sound filter say, over how many cells a copy owns on
 * average. */
static double copies_held(const bly_filter *f) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < f->geometry.size; i++) {
        const uint64_t *block = blyi_ml_block(f, i);
        bool is_spilled = blyi_ml_used(block) == BLYI_ML_SPILLED;
        sum += is_spilled ? blyi_le64(block[BLYI_ML_AT_SUM]) : blyi_ml_used(block);
    }
    return (double)sum / (blyi_ml_chance(&f->geometry) * (double)f->geometry.size * BLYI_ML_CELLS);
}

bly_status blyi_ml_intersect(bly_filter *dst, const bly_filter *src) {
    uint64_t fewer = dst->items < src->items ? dst->items : src->items;
    bly_overlap o;
    bly_status status = blyi_ml_overlap(dst, src, &o);
    if (status == BLY_OK)
        status = combine(dst, src, least, NULL);
    if (status)
        return status;
    double keys = keys_of(dst, set_bits(dst, dst));
    dst->items = blyi_copies_in_both(o.both, copies_held(dst), keys, fewer);
    dst->approximate = true;
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
