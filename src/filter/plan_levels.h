/* plan_levels.h - the shapes of filters that are made of filters, for those who check one and those
 * who make one. Internal.
 */
#ifndef BLYI_CORE_PLAN_LEVELS_H
#define BLYI_CORE_PLAN_LEVELS_H

#include <bloomery/plan.h>
#include <stdbool.h>

/* The factor between the capacities of successive levels, as the detail of a geometry holds it: 2
 * is written as 0. */
enum { BLYI_USUAL_GROWTH = 2, BLYI_MOST_GROWTH = 32768 };

static inline uint32_t blyi_growth_detail(uint32_t growth) {
    return growth == BLYI_USUAL_GROWTH ? 0 : growth;
}

static inline uint32_t blyi_growth_of(uint32_t detail) {
    return detail == 0 ? BLYI_USUAL_GROWTH : detail;
}

static inline bool blyi_growth_is_sound(uint32_t detail) {
    return detail <= BLYI_MOST_GROWTH && detail != BLYI_USUAL_GROWTH;
}

/* What such a filter takes follows from its levels, and cannot be planned. These are the functions
 * of a blyi_planner that say so: the geometry is {kind, levels, bytes}. */
uint64_t blyi_whole_bits(const bly_geometry *g);
unsigned blyi_whole_width(const bly_geometry *g);
bly_status blyi_whole_plan(uint64_t keys, double fpr, bly_geometry *out);
double blyi_whole_rate(const bly_geometry *g, double n);
uint64_t blyi_whole_most(const bly_geometry *g);
double blyi_whole_fill(const bly_geometry *g, double n);

/* BLY_OK, BLY_EGEOMETRY or BLY_ETOOBIG: so many levels, from `least` to `most`, in so many bytes.
 */
bly_status blyi_whole_check(const bly_geometry *g, uint32_t least, uint32_t most);

#endif
