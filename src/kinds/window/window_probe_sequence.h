/* window_walk.h - where a key is in a window, part by part. Internal; window.c has the essay. */
#ifndef BLYI_KINDS_WINDOW_WINDOW_PROBE_SEQUENCE_H
#define BLYI_KINDS_WINDOW_WINDOW_PROBE_SEQUENCE_H

#include "hash/mix.h"
#include "kinds/window/window_body.h"

#define INLINE static inline __attribute__((always_inline))

/* Parts that are fetched for every key, and asked together. Few strangers need more. */
enum { FETCHED = 2 };

/* The places of a line for the usual number of slots, and for any other. */
enum { USUAL_SLOTS = BLYI_GENERATIONS + 1 };
static const blyi_line_layout usual = {USUAL_SLOTS, 3, {0, 18, 37}, {18, 19, 19}};

static inline blyi_line_layout places_of(unsigned slots) {
    blyi_line_layout p = {.slots = slots, .lanes = blyi_window_lanes(slots)};
    for (unsigned t = 0; t < p.lanes; t++) {
        p.first[t] = blyi_window_lane(slots, t);
        p.positions[t] = blyi_window_lane(slots, t + 1) - p.first[t];
    }
    return p;
}

/* What an answer depends on besides, read once for many. */
typedef struct view {
    uint8_t *body;
    uint64_t part_bytes;   /* of each */
    uint64_t live, active; /* sets of slots */
    unsigned parts, phase;
    bool swept; /* all of it: no mark need be looked at */
} view;

INLINE view view_of(const bly_filter *f, unsigned lanes) {
    unsigned parts = f->geometry.hashes / lanes;
    return (view){
        .body = f->body + blyi_window_heading(&f->geometry),
        .part_bytes = 64 * f->geometry.size,
        .live = blyi_window_get(f, BLYI_WIN_LIVE),
        .active = (uint64_t)1 << blyi_window_active(f),
        .parts = parts,
        .phase = (unsigned)blyi_window_get(f, BLYI_WIN_STATE) & BLYI_WIN_PHASE,
        .swept = blyi_window_get(f, BLYI_WIN_CURSOR) == parts * f->geometry.size,
    };
}

/* A key on its way through the parts. */
typedef struct walk {
    uint64_t x, y, inc;
    unsigned part;
} walk;

INLINE walk walk_of(bly_hash h) {
    return (walk){h.lo, h.hi, h.hi | 1, 0};
}

INLINE void next_part(walk *w) {
    w->x = w->x * BLYI_LCG + w->inc;
    w->y *= BLYI_LCG;
    w->y ^= w->y >> 32;
    w->part++;
}

/* A distance in bytes, of which those inside the line are dropped: as many lines as x times their
 * number. */
INLINE uint8_t *line_of(const view *v, const walk *w) {
    uint64_t at = blyi_mulhi(w->x, v->part_bytes) & ~(uint64_t)63;
    return v->body + w->part * v->part_bytes + at;
}

/* The slots whose bits in this line count: all but the active one, if that is not swept. */
INLINE uint64_t counted(const view *v, const uint8_t *line) {
    return ~(v->active & (0 - (uint64_t)((unsigned)line[63] >> 7 ^ v->phase)));
}

/* Starts loading the lines of the parts from `from` up to, not including, `to`. */
INLINE void fetch(const view *v, bly_hash h, unsigned from, unsigned to) {
    for (walk w = walk_of(h); w.part < v->parts && w.part < to; next_part(&w))
        if (w.part >= from)
            blyi_prefetch_to_read(line_of(v, &w));
}

/* The slots that have all of a key's bits in its first parts, the active one perhaps by bits that
 * have not been swept. */
INLINE uint64_t look_first(const view *v, const blyi_line_layout *p, bly_hash h) {
    uint64_t where = v->live;
    for (walk w = walk_of(h); w.part < FETCHED && w.part < v->parts; next_part(&w))
        where &= blyi_line_slots(line_of(v, &w), w.y, p);
    return where;
}

/* The rest of the answer, where the first parts left slots to ask about. If a line of the key is
 * not swept, it was not added to the active slot. */
INLINE uint64_t look_on(const view *v, const blyi_line_layout *p, bly_hash h, uint64_t where) {
    for (walk w = walk_of(h); where && w.part < v->parts; next_part(&w)) {
        if (!v->swept)
            where &= counted(v, line_of(v, &w));
        if (w.part >= FETCHED)
            where &= blyi_line_slots(line_of(v, &w), w.y, p);
    }
    return where;
}

/* The slots that a key is in. */
INLINE uint64_t find(const view *v, const blyi_line_layout *p, bly_hash h) {
    return look_on(v, p, h, look_first(v, p, h));
}

#endif
