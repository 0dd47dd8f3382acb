/* plan_levels.h - the shapes of filters that are made of filters, for those who check one and those
 * who make one. Internal.
 */
#ifndef BLYI_FILTER_PLAN_LEVELS_H
#define BLYI_FILTER_PLAN_LEVELS_H

#include <bloomery/plan.h>
#include <stdbool.h>

/* The factor between the capacities of successive levels, as the detail of a geometry holds it: 2
 * is written as 0. */
enum { BLYI_DEFAULT_GROWTH = 2, BLYI_MAX_GROWTH = 32768 };

static inline uint32_t blyi_growth_detail(uint32_t growth) {
    return growth == BLYI_DEFAULT_GROWTH ? 0 : growth;
}

static inline uint32_t blyi_growth_factor(uint32_t detail) {
    return detail == 0 ? BLYI_DEFAULT_GROWTH : detail;
}

static inline bool blyi_growth_is_valid(uint32_t detail) {
    return detail <= BLYI_MAX_GROWTH && detail != BLYI_DEFAULT_GROWTH;
}

/* What such a filter takes follows from its levels, and cannot be planned. These are the functions
 * of a blyi_planner that say so: the geometry is {kind, levels, bytes}. */
uint64_t blyi_levels_geometry_bits(const bly_geometry *g);
unsigned blyi_levels_geometry_width(const bly_geometry *g);
bly_status blyi_levels_geometry_plan(uint64_t keys, double fpr, bly_geometry *out);
double blyi_levels_geometry_rate(const bly_geometry *g, double n);
uint64_t blyi_levels_geometry_max_keys(const bly_geometry *g);
double blyi_levels_geometry_fill(const bly_geometry *g, double n);

/* BLY_OK, BLY_EGEOMETRY or BLY_ETOOBIG: so many levels, from `least` to `most`, in so many bytes.
 */
bly_status blyi_levels_geometry_check(const bly_geometry *g, uint32_t least, uint32_t most);

#endif
