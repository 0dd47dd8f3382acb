/* Sizing hybrid filters: a cuckoo filter's table for the distinct keys (plan_cuckoo.c), half a byte
 * more for each slot, and no spill map at first: how large that gets depends on how often the keys
 * come, which nobody has said.
 */
#include "kinds/hybrid/hybrid_plan.h"
#include "filter/kind.h"
#include "filter/rate.h"

static unsigned entry_bits(const bly_geometry *g) {
    return 8 * (blyi_hybrid_id_bytes(g) + BLYI_COUNT_BYTES);
}

/* A table that passes has less than 2^48 bits, so the sums stay far below 2^64. */
static bly_status check(const bly_geometry *g) {
    bly_status status = blyi_table_check(g);
    if (status)
        return status;
    if (g->detail > BLYI_MAX_SIZE_CLASS)
        return BLY_EGEOMETRY;
    uint64_t before = (blyi_hybrid_spill_at(g) + BLYI_SPILL_HEAD) * 8;
    if (before > BLYI_MAX_BITS)
        return BLY_ETOOBIG;
    uint64_t most = (BLYI_MAX_BITS - before) / entry_bits(g);
    return blyi_size_of_class(g->detail) > most ? BLY_ETOOBIG : BLY_OK;
}

static uint64_t bits(const bly_geometry *g) {
    uint64_t before = blyi_hybrid_spill_at(g) * 8;
    if (g->detail == 0)
        return before;
    return before + (uint64_t)BLYI_SPILL_HEAD * 8 + blyi_size_of_class(g->detail) * entry_bits(g);
}

static unsigned width(const bly_geometry *g) {
    return g->hashes + 1 + 4;
}

static bly_status plan(uint64_t keys, double fpr, bly_geometry *out) {
    return blyi_table_plan(BLY_HYBRID, keys, fpr, out);
}

const blyi_planner blyi_hybrid_planner = {
    .check = check,
    .bits = bits,
    .width = width,
    .plan = plan,
    .rate = blyi_table_rate,
    .max_keys = blyi_table_most,
    .fill = blyi_table_fill,
    .lookup_lines = 2,
};
