/* level_growth.h - filters that grow by levels: what each level must be, and opening one. Internal.
 *
 * The capacities of levels grow by a factor, and their rates form a series whose sum stays within
 * the requested rate (kinds/scalable/scalable.c explains the rule). A level's capacity and rate are
 * in its header, so the next level follows from the existing ones. The functions of the first two
 * sections are pure, because cost.c uses them to plan the growth of a filter that does not exist.
 */
#ifndef BLYI_FILTER_LEVEL_GROWTH_H
#define BLYI_FILTER_LEVEL_GROWTH_H

#include "filter/levels.h"

/* ---- geometries of filters made of levels ------------------------------------------------------
 */

/* The factor between the capacities of successive levels is stored as the geometry's detail. The
 * default factor, 2, is stored as 0. */
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

/* Initialises the planner of a kind made of levels. `checker` is its blyi_planner.check. */
#define BLYI_LEVELS_PLANNER(checker)                                                               \
    {                                                                                              \
        .check = checker, .bits = blyi_levels_geometry_bits, .width = blyi_levels_geometry_width,  \
        .rate = blyi_levels_geometry_rate, .max_keys = blyi_levels_geometry_max_keys,              \
        .fill = blyi_levels_geometry_fill,                                                         \
    }

/* Writes, for example, "3 levels". For blyi_kind.describe_size. */
void blyi_describe_levels(const bly_geometry *g, const char *grouped, char *out, size_t room);

/* The functions of that planner. The size of a filter made of levels follows from its levels and
 * cannot be planned. Its geometry is {kind, number of levels, bytes}. */
uint64_t blyi_levels_geometry_bits(const bly_geometry *g);
unsigned blyi_levels_geometry_width(const bly_geometry *g);
double blyi_levels_geometry_rate(const bly_geometry *g, double n);
uint64_t blyi_levels_geometry_max_keys(const bly_geometry *g);
double blyi_levels_geometry_fill(const bly_geometry *g, double n);

/* Checks that the number of levels is from `min` to `max`, and that their size in bytes is
 * possible. Returns BLY_OK, BLY_EGEOMETRY or BLY_ETOOBIG. */
bly_status blyi_levels_geometry_check(const bly_geometry *g, uint32_t min, uint32_t max);

/* ---- what each level must be -------------------------------------------------------------------
 */

#define BLYI_FIRST_SHARE 0.15 /* the first level's share of the rate */
#define BLYI_NEXT_SHARE  0.15 /* each later level's share of the rate that is left: 1 - r */

/* Returns the rate of two levels together: a lookup is positive if it is positive in either. */
static inline double blyi_combined_rate(double a, double b) {
    return a + b - a * b;
}

/* Returns the rate of the first level: its share of the filter's rate, but at most 1/2, so that a
 * level never has more keys than bits. */
double blyi_first_rate(double fpr, double share);

/* A request for the next level: for `keys` keys, in a filter of that kind. hash_bits = 128 accepts
 * any hash. */
typedef struct blyi_level_request {
    bly_kind kind;
    const bly_geometry *last; /* of the previous level; NULL for the first */
    bool reserved;            /* the first level has taken most of the rate */
    uint64_t keys;
    unsigned hash_bits;
} blyi_level_request;

/* Whether a first level of rate `first` takes at least half of the rate of the whole filter. */
static inline bool blyi_first_level_dominates(double first, double whole) {
    return first >= whole / 2;
}

/* Plans the requested level. On entry *fpr is the rate that the level may have; on success it
 * becomes the part of the filter's rate that the level uses. Returns the statuses of bly_plan. */
bly_status blyi_level_plan(const blyi_level_request *request, double *fpr, bly_geometry *out);

/* Returns the capacity of the level that follows one of capacity `keys`, in a filter that has
 * `levels` levels and a geometry with detail `detail`; at most UINT64_MAX. A growth factor of 1
 * would soon use up the permitted number of levels, so from BLYI_MAX_EQUAL_LEVELS levels on it is
 * treated as 2. */
enum { BLYI_MAX_EQUAL_LEVELS = 16 };
uint64_t blyi_next_keys(uint32_t detail, unsigned levels, uint64_t keys);

/* Returns the number of bits that the default hash must have, for a filter whose first level has
 * capacity `first_keys`. */
unsigned blyi_growth_hash_bits(uint64_t first_keys, double fpr);

/* ---- filters -----------------------------------------------------------------------------------
 */

/* Creates a filter with its first level, for blyi_ops.create. The kind passes the growth factor,
 * which it may derive from the spec. */
bly_status blyi_levels_create(const bly_spec *spec, uint32_t growth, bly_filter **out);

/* Opens the next level. Returns BLY_OK, BLY_ENOMEM, BLY_ETOOBIG, BLY_EGROWTH, or BLY_EFULL if there
 * are too many levels or the rate of the next one would be too low. */
bly_status blyi_levels_grow(bly_filter *f);

/* Empties the filter, and keeps only its first level. For blyi_ops.clear. */
void blyi_levels_clear(bly_filter *f);

/* For blyi_level_rules.levels_are_consistent and .update_totals. */
bool blyi_levels_consistent(const blyi_shape *all, const blyi_shape *const *levels, unsigned n);
void blyi_levels_sum_counts(bly_filter *f);

static inline bly_filter *blyi_newest_level(const bly_filter *f) {
    return f->levels->at[f->levels->n - 1];
}

/* Returns how many more keys fit into a level's capacity. */
static inline uint64_t blyi_level_room(const bly_filter *level) {
    return level->items < level->capacity ? level->capacity - level->items : 0;
}

#endif
