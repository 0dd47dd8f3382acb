/* plan_window.h - the shape of a window: what its body is made of, and how it is sized. Internal.
 *
 * src/filters/window/window.c explains the parts. */
#ifndef BLYI_KINDS_WINDOW_WINDOW_PLAN_H
#define BLYI_KINDS_WINDOW_WINDOW_PLAN_H

#include "filter/kind.h"
#include <bloomery/plan.h>

enum {
    BLYI_GENERATIONS = 8, /* kept beside the one being filled, unless another number is asked */
    BLYI_WIN_MAX_SLOTS = 33,
    BLYI_WIN_MAX_PARTS = 16,
    BLYI_WIN_MARK = 511 /* the bit of a line that belongs to no place */
};

/* A small window has a table of columns instead of lines (src/filters/window/window_small.c). */
enum {
    BLYI_WIN_SMALL_MIN = 128,       /* columns: what the formula for the rate is good for */
    BLYI_WIN_SMALL_BITS = 8 * 4096, /* of the body at most: a turn goes through all of it */
    BLYI_WIN_SMALL_HASHES = 64,
    BLYI_WIN_SMALL_SLOTS = 7 /* the word of the heading where those of the slots begin */
};

static inline bool blyi_window_is_small(const bly_geometry *g) {
    return g->detail & BLY_WINDOW_SMALL;
}

/* That are kept beside the one being filled. */
static inline unsigned blyi_window_generations(const bly_geometry *g) {
    return g->detail % BLY_WINDOW_SMALL;
}

/* A generation for each one kept, and one for that being filled. */
static inline unsigned blyi_window_slots(const bly_geometry *g) {
    return blyi_window_generations(g) + 1;
}

/* Places in a line: a bit for each slot at each place. */
static inline unsigned blyi_window_places(unsigned slots) {
    return BLYI_WIN_MARK / slots;
}

/* The lanes that the places of a line are divided into; a key has a bit in each. */
static inline unsigned blyi_window_lanes(unsigned slots) {
    return slots <= 10 ? 3 : 2;
}

/* The first place of a lane. */
static inline unsigned blyi_window_lane(unsigned slots, unsigned lane) {
    return lane * blyi_window_places(slots) / blyi_window_lanes(slots);
}

/* Lines of a key: one in each part of the body. */
static inline unsigned blyi_window_parts(const bly_geometry *g) {
    return g->hashes / blyi_window_lanes(blyi_window_slots(g));
}

/* Lines in all. */
static inline uint64_t blyi_window_lines(const bly_geometry *g) {
    return blyi_window_is_small(g) ? 0 : g->size * blyi_window_parts(g);
}

/* Bits of one slot. */
static inline uint64_t blyi_window_own(const bly_geometry *g) {
    return blyi_window_is_small(g)
               ? g->size
               : blyi_window_lines(g) * blyi_window_places(blyi_window_slots(g));
}

/* Keys of one generation in a window of `keys`. */
static inline uint64_t blyi_window_quota(uint64_t keys, uint32_t generations) {
    return keys / generations + (keys % generations != 0);
}

/* Bytes before the lines: two lines of fields, then two words for each slot. Before the columns of
 * a small window: seven fields, then a word for each slot. */
static inline uint64_t blyi_window_heading(const bly_geometry *g) {
    if (blyi_window_is_small(g))
        return 8 * (BLYI_WIN_SMALL_SLOTS + (uint64_t)blyi_window_slots(g));
    return 128 + (uint64_t)(16 * blyi_window_slots(g) + 63) / 64 * 64;
}

/* The smallest window of `keys` keys at `fpr`, in so many generations, or one that is 2% larger at
 * most and faster; a small one where that is the smaller. BLY_ETOOBIG, and BLY_EGEOMETRY for a
 * number of generations that no window can have. */
bly_status blyi_window_plan(uint64_t keys, double fpr, uint32_t generations, bly_geometry *out);

/* Of one generation with n keys: its rate, the share of its bits that are set, and the number of
 * keys that such a share stands for. */
double blyi_window_rate(const bly_geometry *g, double n);
double blyi_window_fill(const bly_geometry *g, double n);
double blyi_window_keys(const bly_geometry *g, double fill);

extern const blyi_planner blyi_window_planner;

#endif
