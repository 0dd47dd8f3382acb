/* window_body.h - the parts of a window's body, and its clockwork. Internal; window.c has the
 * essay.
 */
#ifndef BLYI_KINDS_WINDOW_WINDOW_BODY_H
#define BLYI_KINDS_WINDOW_WINDOW_BODY_H

#include "base/bytes.h"
#include "filter/filter.h"
#include "kinds/window/window_plan.h"
#include "simd/window_kernel.h"

/* The fields of the heading, as the number of their 64-bit word. */
enum {
    BLYI_WIN_ORDINAL,   /* the number of the active generation: by time, that of its slice */
    BLYI_WIN_ACTIVE,    /* the slot being filled */
    BLYI_WIN_CURSOR,    /* lines before this one are swept */
    BLYI_WIN_LIVE,      /* bit i: slot i has keys. The bits of any other slot mean nothing */
    BLYI_WIN_SPAN,      /* in ticks; 0: a window by number */
    BLYI_WIN_NOW,       /* by time: the clock, 0 until it is first set */
    BLYI_WIN_STATE,     /* below */
    BLYI_WIN_STEP,      /* lines that an arrival sweeps */
    BLYI_WIN_STENCIL,   /* eight words: the bits of a line that are the active slot's */
    BLYI_WIN_SLOTS = 16 /* from here on, for each slot: its keys, and its number when it has any */
};

/* By number, in place of the clock: arrivals of keys that the active generation had already. */
enum { BLYI_WIN_REPEATS = BLYI_WIN_NOW };

/* BLYI_WIN_STATE */
enum {
    BLYI_WIN_PHASE = 1,  /* what the mark of a swept line is */
    BLYI_WIN_STARTED = 2 /* the clock has been set */
};

/* The most keys that a generation may count, more than it can ever be given. Adds do not count
 * beyond, so that a loaded window, whatever it claims to contain, can be saved and loaded again. In
 * a small window there is room for as many again before they meet the byte above them. */
static inline uint64_t blyi_window_most_keys(const bly_geometry *g) {
    return ((uint64_t)1 << (blyi_window_is_small(g) ? 55 : 56)) - 1;
}

static inline uint64_t blyi_window_get(const bly_filter *f, unsigned field) {
    return blyi_le64(blyi_words(f)[field]);
}

static inline void blyi_window_set(bly_filter *f, unsigned field, uint64_t value) {
    blyi_words(f)[field] = blyi_le64(value);
}

/* Kept within the slots there are, whatever the body says. */
static inline unsigned blyi_window_active(const bly_filter *f) {
    uint64_t slot = blyi_window_get(f, BLYI_WIN_ACTIVE);
    return slot < blyi_window_slots(&f->geometry) ? (unsigned)slot : 0;
}

/* Of the slot in any body of that geometry: its keys, and the number of its generation, both 0 when
 * it has none. A small window has the last byte of that number. The others are those of the active
 * one's, which is less than 256 ahead. */
static inline uint64_t blyi_window_slot_keys(const bly_geometry *g, const uint8_t *body,
                                             unsigned slot) {
    if (blyi_window_is_small(g))
        return blyi_load64le(body + 8 * (BLYI_WIN_SMALL_SLOTS + (size_t)slot)) << 8 >> 8;
    return blyi_load64le(body + 8 * (BLYI_WIN_SLOTS + 2 * (size_t)slot));
}

static inline uint64_t blyi_window_slot_ordinal(const bly_geometry *g, const uint8_t *body,
                                                unsigned slot) {
    if (!blyi_window_is_small(g))
        return blyi_load64le(body + 8 * (BLYI_WIN_SLOTS + 2 * (size_t)slot + 1));
    uint64_t word = blyi_load64le(body + 8 * (BLYI_WIN_SMALL_SLOTS + (size_t)slot));
    uint64_t last = blyi_load64le(body + (size_t)8 * BLYI_WIN_ORDINAL);
    return word == 0 ? 0 : last - (uint8_t)(last - (word >> 56));
}

static inline uint64_t blyi_window_keys_in(const bly_filter *f, unsigned slot) {
    return blyi_window_slot_keys(&f->geometry, f->body, slot);
}

static inline uint64_t blyi_window_ordinal_of(const bly_filter *f, unsigned slot) {
    return blyi_window_slot_ordinal(&f->geometry, f->body, slot);
}

static inline bool blyi_window_is_live(const bly_filter *f, unsigned slot) {
    return blyi_window_get(f, BLYI_WIN_LIVE) >> slot & 1;
}

/* Sets the number of keys of a slot, and with it whether it is live. */
void blyi_window_set_keys(bly_filter *f, unsigned slot, uint64_t keys, uint64_t ordinal);

/* Whether its generations are of so many arrivals each. Else they are slices of time. */
static inline bool blyi_window_by_number(const bly_filter *f) {
    return blyi_window_get(f, BLYI_WIN_SPAN) == 0;
}

/* Arrivals in the active generation of a window by number. */
static inline uint64_t blyi_window_active_arrivals(const bly_filter *f) {
    return blyi_window_keys_in(f, blyi_window_active(f)) + blyi_window_get(f, BLYI_WIN_REPEATS);
}

/* Whether the active generation has had all the arrivals that it is for. */
static inline bool blyi_window_is_full(const bly_filter *f) {
    return blyi_window_by_number(f) &&
           blyi_window_active_arrivals(f) * blyi_window_generations(&f->geometry) >= f->capacity;
}

/* Counts a key that the active generation has been given. */
static inline void blyi_window_count(bly_filter *f) {
    unsigned active = blyi_window_active(f);
    uint64_t keys = blyi_window_keys_in(f, active);
    if (keys >= blyi_window_most_keys(&f->geometry))
        return;
    blyi_window_set_keys(f, active, keys + 1, blyi_window_get(f, BLYI_WIN_ORDINAL));
    f->items++;
}

/* Counts an arrival in a window by number whose active generation has the key already. */
static inline void blyi_window_count_repeat(bly_filter *f) {
    blyi_window_set(f, BLYI_WIN_REPEATS, blyi_window_get(f, BLYI_WIN_REPEATS) + 1);
}

/* The lines, 64 bytes each. */
static inline uint8_t *blyi_window_body(const bly_filter *f) {
    return f->body + blyi_window_heading(&f->geometry);
}

/* Whether the active slot's bits in this line have been emptied. */
static inline bool blyi_window_swept(const bly_filter *f, const uint8_t *line) {
    return line[63] >> 7 == (blyi_window_get(f, BLYI_WIN_STATE) & BLYI_WIN_PHASE);
}

/* The bits of a slot at the places from..to-1 of a line. */
void blyi_window_stencil(unsigned slots, unsigned slot, unsigned from, unsigned to,
                         uint64_t out[8]);

/* Ticks of a slice; 0 for a window by number. */
static inline uint64_t blyi_window_slice(const bly_filter *f) {
    uint64_t span = blyi_window_get(f, BLYI_WIN_SPAN);
    return span ? blyi_window_quota(span, blyi_window_generations(&f->geometry)) : 0;
}

/* Lines to sweep with each arrival, so that all are swept when a generation has had its quota. */
static inline uint64_t blyi_window_step(const bly_geometry *g, uint64_t capacity) {
    uint64_t lines = blyi_window_lines(g);
    uint64_t quota = blyi_window_quota(capacity, blyi_window_generations(g));
    return lines / quota + (lines % quota != 0);
}

/* Writes the heading of an empty window into a body of zeros. `state` may say STARTED. */
void blyi_window_begin(bly_filter *f, uint64_t span, uint64_t now, uint64_t state);

/* Empties the active slot's bits in the lines before `end`, where that is not done yet. */
void blyi_window_sweep(bly_filter *f, uint64_t end);

/* The active generation is now number `ordinal`. Those that are more than s behind it are dropped;
 * if the active one has keys, another slot takes its place, and what is left to sweep is swept
 * first. */
void blyi_window_turn(bly_filter *f, uint64_t ordinal);

/* At a place: what is there, and what other slots bring, slot i's bit to slot to[i]. */
static inline uint64_t blyi_window_moved(uint64_t have, uint64_t more, const unsigned *to) {
    for (unsigned i = 0; more; i++, more >>= 1)
        have |= (more & 1) << to[i];
    return have;
}

/* Which slots of a large window hold the key: bit i for slot i. */
uint64_t blyi_window_find(const bly_filter *f, bly_hash h);

/* The row's other hooks, those of window_ask.c for large windows only: window_ask.c,
 * window_create.c, window_look.c, window_unite.c. */
void blyi_window_prefetch(const bly_filter *f, const bly_hash *h, size_t n);
size_t blyi_window_contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found);
size_t blyi_window_ask(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found);
bly_status blyi_window_create(const bly_spec *spec, bly_filter **out);
bool blyi_window_sound(const blyi_shape *shape, const uint8_t *body);
void blyi_window_stats(const bly_filter *f, bly_stats *out);
bool blyi_window_compatible(const bly_filter *a, const bly_filter *b);
bly_status blyi_window_unite(bly_filter *dst, const bly_filter *src);

#endif
