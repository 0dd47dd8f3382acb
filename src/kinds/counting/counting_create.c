/* Filters of counters by their width: made, planned, and how likely one is to get stuck. */
#include "filter/rate.h"
#include "kinds/counting/counting_cells.h"

#include <bloomery/counting.h>
#include <math.h>

bly_status bly_counting_create(uint64_t keys, double fpr, uint32_t counter_bits, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_COUNTING, keys, fpr);
    spec.counter_bits = counter_bits;
    return bly_filter_create(&spec, out);
}

bly_status bly_counting_plan(bly_kind kind, uint64_t keys, double fpr, uint32_t counter_bits,
                             unsigned hash_bits, bly_geometry *out) {
    const uint32_t width = counter_bits ? counter_bits : BLYI_COUNTER_BITS;
    bly_geometry bits;
    if (kind != BLY_COUNTING)
        return BLY_EKIND;
    if (!blyi_counter_fits(width))
        return BLY_EINVAL;
    /* Whether the rest can be asked does not depend on the width. */
    bly_status status = bly_plan(BLY_CLASSIC, keys, fpr, 0, hash_bits, &bits);
    if (status)
        return status;
    return blyi_counting_plan(keys, fpr - blyi_hash_floor((double)keys, hash_bits), width, out);
}

double bly_counting_overflow(const bly_geometry *g, double keys) {
    if (g->kind != BLY_COUNTING)
        return NAN;
    return blyi_counting_tail(g, keys, (uint32_t)blyi_counter_limit(g->detail));
}
