/* Set operations of multilayer filters: count by count, block by block.
 *
 * The result is written into a new body, which then replaces the first filter's. So a failure
 * changes nothing, and a filter may be combined with itself. The number of spilled blocks in the
 * result, which determines the size of its body, is computed first.
 *
 *     union          a + b, at most 65535
 *     intersection   the smaller of a and b
 *     difference     a - b, in blocks none of whose a is smaller than b
 *
 * A count of 65535 stands for that number or any larger one, or for fewer when copies were removed
 * since. A difference leaves such a count of dst as it is, and subtracts nothing for one of src: a
 * count that is too high does no harm, one that is too low would lose keys. For the same reason it
 * skips a block in which some count of src is larger than that of dst: such a block shows that some
 * of src's keys are not in dst, and lowering its other counts would remove keys of dst.
 */
#include "base/memory.h"
#include "filter/set_operations.h"
#include "kinds/multilayer/multilayer_layout.h"

#include <string.h>

/* Combines the counts of two blocks, and writes the result to `counts`. A difference also adds to
 * *t what it has subtracted and what is left. */
typedef void ml_combine_fn(uint16_t counts[BLYI_ML_CELLS], const uint16_t other[BLYI_ML_CELLS],
                           blyi_subtraction *t);

BLYI_ML_INLINE void ml_counts_sum(uint16_t counts[BLYI_ML_CELLS],
                                  const uint16_t other[BLYI_ML_CELLS], blyi_subtraction *t) {
    (void)t;
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++) {
        unsigned sum = (unsigned)counts[cell] + other[cell];
        counts[cell] = (uint16_t)(sum < BLYI_ML_STUCK ? sum : BLYI_ML_STUCK);
    }
}

BLYI_ML_INLINE void ml_counts_min(uint16_t counts[BLYI_ML_CELLS],
                                  const uint16_t other[BLYI_ML_CELLS], blyi_subtraction *t) {
    (void)t;
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++)
        counts[cell] = counts[cell] < other[cell] ? counts[cell] : other[cell];
}

BLYI_ML_INLINE void ml_counts_difference(uint16_t counts[BLYI_ML_CELLS],
                                         const uint16_t other[BLYI_ML_CELLS], blyi_subtraction *t) {
    bool lacks = false;
    uint64_t known = 0;
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++) {
        bool is_known = other[cell] < BLYI_ML_STUCK || counts[cell] == BLYI_ML_STUCK;
        known += is_known ? other[cell] : 0;
        lacks |= is_known && counts[cell] < other[cell];
    }
    *(lacks ? &t->passed : &t->taken) += known;
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++) {
        bool stuck = counts[cell] == BLYI_ML_STUCK;
        if (!lacks && !stuck && other[cell] < BLYI_ML_STUCK)
            counts[cell] = (uint16_t)(counts[cell] - other[cell]);
        *(stuck ? &t->stuck : &t->left) += counts[cell];
    }
}

/* The largest possible sum of the counts of a block. Safe for any contents of a mapped file. */
static uint64_t ml_max_sum(const bly_filter *f, uint64_t number) {
    const uint64_t *block = blyi_ml_block(f, number);
    bool is_inline = blyi_ml_used(block) != BLYI_ML_SPILLED && blyi_ml_block_is_valid(block);
    return is_inline ? blyi_ml_used(block) : UINT32_MAX;
}

/* How many blocks of the result may be spilled. For a union of two valid filters this is exactly
 * how many will be. */
static uint64_t ml_count_spilled(const bly_filter *a, const bly_filter *b, bool sums) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < a->geometry.size; i++)
        n += ml_max_sum(a, i) + (sums ? ml_max_sum(b, i) : 0) > BLYI_ML_LAYER_BITS;
    return n;
}

/* Computes the counts of a block of the result. Returns their sum. */
BLYI_ML_INLINE uint32_t ml_combine_block(const bly_filter *a, const bly_filter *b, uint64_t number,
                                         ml_combine_fn *how, uint16_t counts[BLYI_ML_CELLS],
                                         blyi_subtraction *t) {
    uint16_t other[BLYI_ML_CELLS];
    uint32_t sum = 0;
    blyi_ml_counts(a, number, counts);
    blyi_ml_counts(b, number, other);
    how(counts, other, t);
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++)
        sum += counts[cell];
    return sum;
}

/* Replaces dst's body by the result. The caller must update its number of items. */
BLYI_ML_INLINE bly_status ml_combine(bly_filter *dst, const bly_filter *src, ml_combine_fn *how,
                                     blyi_subtraction *t) {
    bly_geometry g = dst->geometry;
    uint16_t counts[BLYI_ML_CELLS];
    uint64_t spilled = ml_count_spilled(dst, src, how == ml_counts_sum);
    void *block;
    if (spilled > blyi_ml_max_records(&g))
        g.detail = blyi_size_class_for(spilled);
    bly_status status = bly_plan_check(&g);
    if (status)
        return status;
    uint8_t *body = blyi_alloc_array(&dst->alloc, bly_plan_bytes(&g), &block);
    if (!body)
        return BLY_ENOMEM;
    for (uint64_t i = 0; i < g.size; i++) {
        uint32_t sum = ml_combine_block(dst, src, i, how, counts, t);
        blyi_ml_write_block(&g, body, i, counts, sum);
    }
    bool approximate = dst->approximate || src->approximate;
    blyi_filter_replace_body(dst, &g, body, block);
    dst->approximate = approximate;
    return BLY_OK;
}

bly_status blyi_ml_union(bly_filter *dst, const bly_filter *src) {
    uint64_t items = blyi_sum(dst->items, src->items);
    bly_status status = ml_combine(dst, src, ml_counts_sum, NULL);
    if (status == BLY_OK)
        dst->items = items;
    return status;
}

bly_status blyi_ml_subtract(bly_filter *dst, const bly_filter *src) {
    const uint64_t others = src->items; /* read first: src may be dst */
    blyi_subtraction t = {0, 0, 0, 0};
    bly_status status = ml_combine(dst, src, ml_counts_difference, &t);
    if (status == BLY_OK)
        dst->items = blyi_copies_left(dst->items, others, &t);
    return status;
}

/* ---- estimates ------------------------------------------------------------------------------- */

/* The number of bits that are set in the base of at least one of a and b. */
static uint64_t ml_set_bits(const bly_filter *a, const bly_filter *b) {
    uint64_t set = 0;
    for (uint64_t i = 0; i < a->geometry.size; i++)
        for (unsigned j = 0; j < BLYI_ML_BASE_WORDS; j++)
            set += blyi_popcount64(blyi_ml_block(a, i)[j] | blyi_ml_block(b, i)[j]);
    return set;
}

static double ml_keys_of(const bly_filter *f, uint64_t set) {
    return blyi_ml_keys(&f->geometry, (double)set / ((double)f->geometry.size * BLYI_ML_CELLS));
}

bly_status blyi_ml_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out) {
    uint64_t in_a = ml_set_bits(a, a), in_b = ml_set_bits(b, b), in_either = ml_set_bits(a, b);
    *out = blyi_overlap_of(ml_keys_of(a, in_a), ml_keys_of(a, in_b), ml_keys_of(a, in_either),
                           ml_keys_of(a, in_a + in_b - in_either));
    return BLY_OK;
}

/* The number of copies in a valid filter: the sum of all counts over the mean number of cells of a
 * copy. */
static double ml_estimate_copies(const bly_filter *f) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < f->geometry.size; i++) {
        const uint64_t *block = blyi_ml_block(f, i);
        bool is_spilled = blyi_ml_used(block) == BLYI_ML_SPILLED;
        sum += is_spilled ? blyi_le64(block[BLYI_ML_SUM_WORD]) : blyi_ml_used(block);
    }
    return (double)sum /
           (blyi_ml_bit_probability(&f->geometry) * (double)f->geometry.size * BLYI_ML_CELLS);
}

bly_status blyi_ml_intersect(bly_filter *dst, const bly_filter *src) {
    uint64_t fewer = dst->items < src->items ? dst->items : src->items;
    bly_overlap o;
    bly_status status = blyi_ml_overlap(dst, src, &o);
    if (status == BLY_OK)
        status = ml_combine(dst, src, ml_counts_min, NULL);
    if (status)
        return status;
    double keys = ml_keys_of(dst, ml_set_bits(dst, dst));
    dst->items = blyi_copies_in_both(o.both, ml_estimate_copies(dst), keys, fewer);
    dst->approximate = true;
    return BLY_OK;
}

/* Blocks that are not spilled are equal if and only if their bits are. */
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
