/* Filters made of filters cannot be planned: what they take depends on what comes. All there is to
 * say of a geometry is whether a file may have it. */
#include "filter/plan_levels.h"
#include "filter/planner.h"
#include "filter/rate.h"

enum {
    MIN_LEVEL = 128, /* bytes: a header and a line */
    MAX_LEVELS = 48,
};

bly_status blyi_levels_geometry_check(const bly_geometry *g, uint32_t least, uint32_t most) {
    if (g->hashes < least || g->hashes > most)
        return BLY_EGEOMETRY;
    if (g->size % 64 || g->size / MIN_LEVEL < g->hashes)
        return BLY_EGEOMETRY;
    return g->size > BLYI_MAX_BITS / 8 ? BLY_ETOOBIG : BLY_OK;
}

uint64_t blyi_levels_geometry_bits(const bly_geometry *g) {
    return g->size * 8;
}

unsigned blyi_levels_geometry_width(const bly_geometry *g) {
    (void)g;
    return 1;
}

bly_status blyi_levels_geometry_plan(uint64_t keys, double fpr, bly_geometry *out) {
    (void)keys;
    (void)fpr;
    (void)out;
    return BLY_EKIND;
}

double blyi_levels_geometry_rate(const bly_geometry *g, double n) {
    (void)g;
    (void)n;
    return 1;
}

uint64_t blyi_levels_geometry_max_keys(const bly_geometry *g) {
    (void)g;
    return 0;
}

double blyi_levels_geometry_fill(const bly_geometry *g, double n) {
    (void)g;
    (void)n;
    return 0;
}

/* The factor is a power of two. */
static bly_status check_scalable_cuckoo(const bly_geometry *g) {
    if (!blyi_growth_is_valid(g->detail) || g->detail == 1 || g->detail & (g->detail - 1))
        return BLY_EGEOMETRY;
    return blyi_levels_geometry_check(g, 1, MAX_LEVELS);
}

const blyi_planner blyi_plan_scalable_cuckoo = {
    .kind = BLY_SCALABLE_CUCKOO,
    .name = "scalable-cuckoo",
    .check = check_scalable_cuckoo,
    .bits = blyi_levels_geometry_bits,
    .width = blyi_levels_geometry_width,
    .plan = blyi_levels_geometry_plan,
    .rate = blyi_levels_geometry_rate,
    .max_keys = blyi_levels_geometry_max_keys,
    .fill = blyi_levels_geometry_fill,
};
