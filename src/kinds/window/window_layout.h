/* window_layout.h - the body of a window: its geometry, its heading, its lines, and which bits a
 * key has in them. Internal. window.c explains the parts, window_small.c the form for few keys.
 */
#ifndef BLYI_KINDS_WINDOW_LAYOUT_H
#define BLYI_KINDS_WINDOW_LAYOUT_H

#include "base/bits.h"
#include "base/little_endian.h"
#include "filter/filter.h"
#include "filter/kind.h"
#include "hash/mix.h"

#include <bloomery/plan.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLYI_WIN_INLINE static inline __attribute__((always_inline))

/* ---- geometry -------------------------------------------------------------------------------- */

enum {
    BLYI_WIN_DEFAULT_GENERATIONS = 8, /* in addition to the one being filled */
    BLYI_WIN_DEFAULT_SLOTS = BLYI_WIN_DEFAULT_GENERATIONS + 1,
    BLYI_WIN_MAX_SLOTS = 33,
    BLYI_WIN_MAX_PARTS = 16,
    BLYI_WIN_MAX_LANES = 3,
    BLYI_WIN_MARK = 511 /* the bit of a line that is its mark (window.c) */
};

/* A small window has a table of columns instead of lines (window_small.c). */
enum {
    BLYI_WINDOW_SMALL = 64,        /* added to the generations in the geometry's detail */
    BLYI_WIN_SMALL_MIN_SIZE = 128, /* columns; with fewer the formula for the rate is inaccurate */
    BLYI_WIN_SMALL_MAX_BITS = 8 * 4096, /* bits of the body: a rotation reads them all */
    BLYI_WIN_SMALL_MAX_HASHES = 64,
    BLYI_WIN_SMALL_SLOTS = 7 /* the first word of the heading that belongs to a slot */
};

static inline bool blyi_window_is_small(const bly_geometry *g) {
    return g->detail & BLYI_WINDOW_SMALL;
}

/* The number of generations that are kept in addition to the one being filled. */
static inline unsigned blyi_window_generations(const bly_geometry *g) {
    return g->detail % (unsigned)BLYI_WINDOW_SMALL;
}

/* The number of slots: one for each generation kept, and one for the generation being filled. */
static inline unsigned blyi_window_slots(const bly_geometry *g) {
    return blyi_window_generations(g) + 1;
}

/* The number of places in a line. A place has one bit for each slot. */
static inline unsigned blyi_window_place_count(unsigned slots) {
    return BLYI_WIN_MARK / slots;
}

/* The number of lanes into which the places of a line are divided. A key has one place in each
 * lane. */
static inline unsigned blyi_window_lane_count(unsigned slots) {
    return slots <= 10 ? 3 : 2;
}

/* The first place of a lane. */
static inline unsigned blyi_window_lane_start(unsigned slots, unsigned lane) {
    return lane * blyi_window_place_count(slots) / blyi_window_lane_count(slots);
}

/* The number of parts of the body. A key has one line in each part. */
static inline unsigned blyi_window_parts(const bly_geometry *g) {
    return g->hashes / blyi_window_lane_count(blyi_window_slots(g));
}

/* The number of lines in all parts; 0 for a small window. */
static inline uint64_t blyi_window_lines(const bly_geometry *g) {
    return blyi_window_is_small(g) ? 0 : g->size * blyi_window_parts(g);
}

/* The number of bits that each slot has in the body. */
static inline uint64_t blyi_window_slot_bits(const bly_geometry *g) {
    return blyi_window_is_small(g)
               ? g->size
               : blyi_window_lines(g) * blyi_window_place_count(blyi_window_slots(g));
}

/* keys / generations, rounded up: the number of keys of one generation in a window of `keys` keys,
 * or of ticks of a slice in a window of `keys` ticks. */
static inline uint64_t blyi_window_quota(uint64_t keys, uint32_t generations) {
    return keys / generations + (keys % generations != 0);
}

/* The size in bytes of the heading, the first part of the body. In a window with lines it has 16
 * words of fields, then two words for each slot, padded to a multiple of 64 bytes. In a small
 * window it has seven words of fields, then one word for each slot. */
static inline uint64_t blyi_window_heading_bytes(const bly_geometry *g) {
    if (blyi_window_is_small(g))
        return 8 * (BLYI_WIN_SMALL_SLOTS + (uint64_t)blyi_window_slots(g));
    return 128 + (uint64_t)(16 * blyi_window_slots(g) + 63) / 64 * 64;
}

/* Plans the smallest window of `keys` keys at `fpr` with that number of generations, or a faster
 * one that is at most 2% larger. Chooses a small window (window_small.c) if that takes less space.
 * Returns BLY_OK; BLY_ETOOBIG; or BLY_EGEOMETRY if no window can have that number of
 * generations. */
bly_status blyi_window_plan(uint64_t keys, double fpr, uint32_t generations, bly_geometry *out);

/* The expected FPR of one generation with n keys. */
double blyi_window_generation_rate(const bly_geometry *g, double n);

/* The expected share of a generation's bits that n keys set. */
double blyi_window_generation_fill(const bly_geometry *g, double n);

/* The number of keys that are expected to set a share `fill` of a generation's bits. */
double blyi_window_generation_keys(const bly_geometry *g, double fill);

extern const blyi_planner blyi_window_planner;

/* ---- heading --------------------------------------------------------------------------------- */

/* The fields of the heading, as the number of their 64-bit word. */
enum {
    BLYI_WIN_ORDINAL,   /* the active generation's number; by time, that of its slice */
    BLYI_WIN_ACTIVE,    /* the slot being filled */
    BLYI_WIN_CURSOR,    /* lines before this one are swept */
    BLYI_WIN_LIVE,      /* bit i: slot i has keys. The bits of other slots are ignored */
    BLYI_WIN_SPAN,      /* by time: its span in ticks; 0: a window by number */
    BLYI_WIN_NOW,       /* by time: the clock, 0 until it is first set */
    BLYI_WIN_STATE,     /* flags: BLYI_WIN_PHASE, BLYI_WIN_STARTED */
    BLYI_WIN_STEP,      /* lines that an arrival sweeps */
    BLYI_WIN_STENCIL,   /* eight words: which bits of a line are the active slot's */
    BLYI_WIN_SLOTS = 16 /* two words per slot from here on: keys, generation's number */
};

/* In a window by number this field, instead of the clock, counts arrivals of keys that the active
 * generation already contained. */
enum { BLYI_WIN_REPEATS = BLYI_WIN_NOW };

/* The bits of BLYI_WIN_STATE. */
enum {
    BLYI_WIN_PHASE = 1,  /* the value that the mark of a swept line has */
    BLYI_WIN_STARTED = 2 /* the clock has been set */
};

/* The largest number of keys that a generation may count. It is more than can ever be added, but a
 * file may claim as many. Adds do not count any further, so that such a window can be saved and
 * loaded again. In a small window the count has 56 bits, of which the highest is never used. */
static inline uint64_t blyi_window_max_keys(const bly_geometry *g) {
    return ((uint64_t)1 << (blyi_window_is_small(g) ? 55 : 56)) - 1;
}

static inline uint64_t blyi_window_get_field(const bly_filter *f, unsigned field) {
    return blyi_le64(blyi_words(f)[field]);
}

static inline void blyi_window_set_field(bly_filter *f, unsigned field, uint64_t value) {
    blyi_words(f)[field] = blyi_le64(value);
}

/* The active slot. The result is a valid slot even if the body is damaged. */
static inline unsigned blyi_window_active(const bly_filter *f) {
    uint64_t slot = blyi_window_get_field(f, BLYI_WIN_ACTIVE);
    return slot < blyi_window_slots(&f->geometry) ? (unsigned)slot : 0;
}

/* The number of keys of a slot, in any body of that geometry. */
static inline uint64_t blyi_window_slot_keys(const bly_geometry *g, const uint8_t *body,
                                             unsigned slot) {
    if (blyi_window_is_small(g))
        return blyi_load64le(body + 8 * (BLYI_WIN_SMALL_SLOTS + (size_t)slot)) << 8 >> 8;
    return blyi_load64le(body + 8 * (BLYI_WIN_SLOTS + 2 * (size_t)slot));
}

/* The number of a slot's generation, in any body of that geometry; 0 if the slot has no keys. A
 * small window stores only the last byte of that number. The other bytes follow from the number of
 * the active generation, which is higher by less than 256. */
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
    return blyi_window_get_field(f, BLYI_WIN_LIVE) >> slot & 1;
}

/* Sets the number of keys of a slot and its generation's number, and updates whether it is live. */
void blyi_window_set_keys(bly_filter *f, unsigned slot, uint64_t keys, uint64_t ordinal);

/* Whether this is a window by number, whose generations are numbers of arrivals. In a window by
 * time they are slices of time. */
static inline bool blyi_window_by_number(const bly_filter *f) {
    return blyi_window_get_field(f, BLYI_WIN_SPAN) == 0;
}

/* Arrivals in the active generation of a window by number. */
static inline uint64_t blyi_window_active_arrivals(const bly_filter *f) {
    return blyi_window_keys_in(f, blyi_window_active(f)) +
           blyi_window_get_field(f, BLYI_WIN_REPEATS);
}

/* Whether the active generation has had its quota of arrivals. Never true in a window by time. */
static inline bool blyi_window_is_full(const bly_filter *f) {
    return blyi_window_by_number(f) &&
           blyi_window_active_arrivals(f) * blyi_window_generations(&f->geometry) >= f->capacity;
}

/* Counts a key that was added to the active generation. */
static inline void blyi_window_count(bly_filter *f) {
    unsigned active = blyi_window_active(f);
    uint64_t keys = blyi_window_keys_in(f, active);
    if (keys >= blyi_window_max_keys(&f->geometry))
        return;
    blyi_window_set_keys(f, active, keys + 1, blyi_window_get_field(f, BLYI_WIN_ORDINAL));
    f->items++;
}

/* Counts an arrival in a window by number whose active generation has the key already. */
static inline void blyi_window_count_repeat(bly_filter *f) {
    blyi_window_set_field(f, BLYI_WIN_REPEATS, blyi_window_get_field(f, BLYI_WIN_REPEATS) + 1);
}

/* The number of ticks in a slice; 0 for a window by number. */
static inline uint64_t blyi_window_slice(const bly_filter *f) {
    uint64_t span = blyi_window_get_field(f, BLYI_WIN_SPAN);
    return span ? blyi_window_quota(span, blyi_window_generations(&f->geometry)) : 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The first line of the body. All lines have 64 bytes. */
static inline uint8_t *blyi_window_first_line(const bly_filter *f) {
    return f->body + blyi_window_heading_bytes(&f->geometry);
}

/* Whether the active slot's old bits have been cleared in this line. */
static inline bool blyi_window_is_swept(const bly_filter *f, const uint8_t *line) {
    return line[63] >> 7 == (blyi_window_get_field(f, BLYI_WIN_STATE) & BLYI_WIN_PHASE);
}

/* The number of lines to sweep with each arrival, so that all are swept when a generation has had
 * its quota. */
static inline uint64_t blyi_window_sweep_step(const bly_geometry *g, uint64_t capacity) {
    uint64_t lines = blyi_window_lines(g);
    uint64_t quota = blyi_window_quota(capacity, blyi_window_generations(g));
    return lines / quota + (lines % quota != 0);
}

/* Sets `out` to a line in which only the bits of one slot at the places from .. to - 1 are set. */
void blyi_window_stencil(unsigned slots, unsigned slot, unsigned from, unsigned to,
                         uint64_t out[8]);

/* Merges the bits of one place: returns `have` with, for each bit i that is set in `more`, bit
 * to[i] set as well. */
static inline uint64_t blyi_window_move_slots(uint64_t have, uint64_t more, const unsigned *to) {
    for (unsigned i = 0; more; i++, more >>= 1)
        have |= (more & 1) << to[i];
    return have;
}

/* Makes generation number `ordinal` the active one, and drops those whose number is lower by more
 * than the number of generations kept. If the active slot has keys, first sweeps the remaining
 * lines; then another slot becomes active. `ordinal` 0 means the number after the largest one. */
void blyi_window_rotate(bly_filter *f, uint64_t ordinal);

/* ---- places ----------------------------------------------------------------------------------
 *
 * Place p of a line for s slots is the bits s*p .. s*p + s - 1. A key has one place in each lane:
 * in lane t it is the lane's first place + (slice * places of the lane >> 16). Here y is the key's
 * hash bits for this line, and slice is the t-th group of 16 bits of y from the top, t = 0, 1, 2.
 */

enum { BLYI_WIN_QUARTERS = 4 }; /* of y: its 16-bit groups, in memory order */

typedef struct blyi_window_places {
    unsigned slots, lanes;
    unsigned first[BLYI_WIN_MAX_LANES], places[BLYI_WIN_MAX_LANES]; /* of each lane */
} blyi_window_places;

/* The places of a line for the default number of slots. */
static const blyi_window_places blyi_window_default_places = {
    BLYI_WIN_DEFAULT_SLOTS, 3, {0, 18, 37}, {18, 19, 19}};

/* The places of a line for any number of slots. */
static inline blyi_window_places blyi_window_places_of(unsigned slots) {
    blyi_window_places p = {.slots = slots, .lanes = blyi_window_lane_count(slots)};
    for (unsigned t = 0; t < p.lanes; t++) {
        p.first[t] = blyi_window_lane_start(slots, t);
        p.places[t] = blyi_window_lane_start(slots, t + 1) - p.first[t];
    }
    return p;
}

/* Loads eight bytes as a number. blyi_load64le assembles them byte by byte, which compilers do not
 * turn into one load here. */
static inline uint64_t blyi_window_load_word(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return blyi_le64(word);
}

static inline unsigned blyi_window_place_of(const blyi_window_places *p, uint64_t y,
                                            unsigned lane) {
    unsigned slice = (unsigned)(y >> (48 - 16 * lane)) & 0xffff;
    return p->first[lane] + (slice * p->places[lane] >> 16);
}

/* Which quarter of y, in memory order, chooses the place in a lane. For lane t it is the t-th from
 * the top. */
static inline unsigned blyi_window_quarter_of(unsigned lane) {
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? BLYI_WIN_QUARTERS - 1 - lane : lane;
}

typedef uint16_t blyi_window_u16x8 __attribute__((vector_size(4 * BLYI_WIN_QUARTERS)));
typedef uint64_t blyi_window_u64x2 __attribute__((vector_size(4 * BLYI_WIN_QUARTERS)));

/* A vector for two lines of a key, with n[t] at the quarter that chooses the place in lane t, and 0
 * at quarters that choose none. */
static inline blyi_window_u16x8 blyi_window_lane_vector(const unsigned n[BLYI_WIN_MAX_LANES]) {
    const uint64_t a = n[0], b = n[1], c = n[2];
    const uint64_t line = a << 48 | b << 32 | c << 16;
    return (blyi_window_u16x8)(blyi_window_u64x2){line, line};
}

/* The places that the quarters of y choose in one line, then those that the quarters of z choose in
 * another. */
static inline blyi_window_u16x8 blyi_window_place_pair_plain(const blyi_window_places *p,
                                                             uint64_t y, uint64_t z) {
#ifdef __ARM_NEON
    blyi_window_u16x8 s = (blyi_window_u16x8)(blyi_window_u64x2){y, z};
    blyi_window_u16x8 many = blyi_window_lane_vector(p->places);
    for (unsigned i = 0; i < 2 * BLYI_WIN_QUARTERS; i++)
        s[i] = (uint16_t)((uint32_t)s[i] * many[i] >> 16);
    return s + blyi_window_lane_vector(p->first);
#else
    /* One by one: without vector registers GCC 12 generates wrong code for the version above. */
    uint16_t places[2 * BLYI_WIN_QUARTERS] = {0};
    blyi_window_u16x8 s;
    for (unsigned lane = 0; lane < BLYI_WIN_MAX_LANES; lane++) {
        places[blyi_window_quarter_of(lane)] = (uint16_t)blyi_window_place_of(p, y, lane);
        places[BLYI_WIN_QUARTERS + blyi_window_quarter_of(lane)] =
            (uint16_t)blyi_window_place_of(p, z, lane);
    }
    memcpy(&s, places, sizeof s);
    return s;
#endif
}

/* As blyi_window_place_pair_plain, but multiplies by a single SSE2 instruction, which compilers do
 * not always find. */
static inline blyi_window_u16x8 blyi_window_place_pair(const blyi_window_places *p, uint64_t y,
                                                       uint64_t z) {
#ifdef __SSE2__
    const __m128i many = (__m128i)blyi_window_lane_vector(p->places);
    __m128i s = _mm_mulhi_epu16((__m128i)(blyi_window_u64x2){y, z}, many);
    return (blyi_window_u16x8)s + blyi_window_lane_vector(p->first);
#else
    return blyi_window_place_pair_plain(p, y, z);
#endif
}

/* Returns the set of slots whose bit is set at that place of a line, in the lowest `slots` bits.
 * The bits above are undefined. The place is read from a word that begins at some byte of the line.
 * With nine slots, place p begins at bit 9 p of the line. That is bit p of the word that begins at
 * byte p, and the place ends within this word, because p is at most 55. */
static inline uint64_t blyi_window_read_place(const uint8_t *line, unsigned place, unsigned slots) {
    if (slots == 9)
        return blyi_window_load_word(line + place) >> place;
    unsigned bit = place * slots;
    size_t byte = bit / 8;
    byte = byte < 56 ? byte : 56;
    return blyi_window_load_word(line + byte) >> (bit - 8 * (unsigned)byte);
}

/* The slots whose bits are set at all of the key's places in this line. */
static inline uint64_t blyi_window_read_places(const uint8_t *line, uint64_t y,
                                               const blyi_window_places *p) {
    uint64_t where = blyi_window_read_place(line, blyi_window_place_of(p, y, 0), p->slots) &
                     blyi_window_read_place(line, blyi_window_place_of(p, y, 1), p->slots);
    if (p->lanes > 2)
        where &= blyi_window_read_place(line, blyi_window_place_of(p, y, 2), p->slots);
    return where & (((uint64_t)1 << p->slots) - 1);
}

/* ---- probe sequence -------------------------------------------------------------------------- */

/* The number of parts whose lines are prefetched for every key, and tested together. Few
 * non-members need more. */
enum { BLYI_WIN_PREFETCHED = 2 };

/* What a lookup needs to know of the window, read once for many keys. */
typedef struct blyi_window_view {
    uint8_t *first_line;
    uint64_t part_bytes;   /* bytes of a part */
    uint64_t live, active; /* sets of slots: bit i is slot i */
    unsigned parts, phase;
    bool swept; /* all lines are swept: marks need not be tested */
} blyi_window_view;

BLYI_WIN_INLINE blyi_window_view blyi_window_view_of(const bly_filter *f, unsigned lanes) {
    unsigned parts = f->geometry.hashes / lanes;
    return (blyi_window_view){
        .first_line = f->body + blyi_window_heading_bytes(&f->geometry),
        .part_bytes = 64 * f->geometry.size,
        .live = blyi_window_get_field(f, BLYI_WIN_LIVE),
        .active = (uint64_t)1 << blyi_window_active(f),
        .parts = parts,
        .phase = (unsigned)blyi_window_get_field(f, BLYI_WIN_STATE) & BLYI_WIN_PHASE,
        .swept = blyi_window_get_field(f, BLYI_WIN_CURSOR) == parts * f->geometry.size,
    };
}

/* The probe sequence of a key: a line in each part, and places in the line. */
typedef struct blyi_window_probe {
    uint64_t x, y, inc;
    unsigned part;
} blyi_window_probe;

BLYI_WIN_INLINE blyi_window_probe blyi_window_probe_begin(bly_hash h) {
    return (blyi_window_probe){h.lo, h.hi, h.hi | 1, 0};
}

BLYI_WIN_INLINE void blyi_window_probe_next(blyi_window_probe *w) {
    w->x = w->x * BLYI_LCG + w->inc;
    w->y *= BLYI_LCG;
    w->y ^= w->y >> 32;
    w->part++;
}

/* Line mulhi(x, size) of the part: x times the part's bytes, rounded down to a whole line. */
BLYI_WIN_INLINE uint8_t *blyi_window_probe_line(const blyi_window_view *v,
                                                const blyi_window_probe *w) {
    uint64_t at = blyi_mulhi(w->x, v->part_bytes) & ~(uint64_t)63;
    return v->first_line + w->part * v->part_bytes + at;
}

/* The slots whose bits in this line are valid: all if the line is swept, else all but the active
 * one. */
BLYI_WIN_INLINE uint64_t blyi_window_valid_slots(const blyi_window_view *v, const uint8_t *line) {
    return ~(v->active & (0 - (uint64_t)((unsigned)line[63] >> 7 ^ v->phase)));
}

/* Prefetches the lines of the parts from `from` up to, not including, `to`. */
BLYI_WIN_INLINE void blyi_window_prefetch_parts(const blyi_window_view *v, bly_hash h,
                                                unsigned from, unsigned to) {
    for (blyi_window_probe w = blyi_window_probe_begin(h); w.part < v->parts && w.part < to;
         blyi_window_probe_next(&w))
        if (w.part >= from)
            blyi_prefetch_to_read(blyi_window_probe_line(v, &w));
}

/* The slots that have all of a key's bits in the first BLYI_WIN_PREFETCHED parts. Old bits that
 * have not been swept may put the active slot among them by mistake. */
BLYI_WIN_INLINE uint64_t blyi_window_lookup_first(const blyi_window_view *v,
                                                  const blyi_window_places *p, bly_hash h) {
    uint64_t where = v->live;
    for (blyi_window_probe w = blyi_window_probe_begin(h);
         w.part < BLYI_WIN_PREFETCHED && w.part < v->parts; blyi_window_probe_next(&w))
        where &= blyi_window_read_places(blyi_window_probe_line(v, &w), w.y, p);
    return where;
}

/* Finishes a lookup: returns those of the slots `where`, the result of blyi_window_lookup_first,
 * that contain the key. If a line of the key is not swept, the active slot does not contain the
 * key. */
BLYI_WIN_INLINE uint64_t blyi_window_lookup_rest(const blyi_window_view *v,
                                                 const blyi_window_places *p, bly_hash h,
                                                 uint64_t where) {
    for (blyi_window_probe w = blyi_window_probe_begin(h); where && w.part < v->parts;
         blyi_window_probe_next(&w)) {
        if (!v->swept)
            where &= blyi_window_valid_slots(v, blyi_window_probe_line(v, &w));
        if (w.part >= BLYI_WIN_PREFETCHED)
            where &= blyi_window_read_places(blyi_window_probe_line(v, &w), w.y, p);
    }
    return where;
}

/* The slots that contain a key. */
BLYI_WIN_INLINE uint64_t blyi_window_lookup_in(const blyi_window_view *v,
                                               const blyi_window_places *p, bly_hash h) {
    return blyi_window_lookup_rest(v, p, h, blyi_window_lookup_first(v, p, h));
}

/* ---- operations on windows with lines (window_pipeline.c) -------------------------------------
 */

/* Which slots contain the key: bit i for slot i. */
uint64_t blyi_window_lookup(const bly_filter *f, bly_hash h);

/* For windows with lines: blyi_ops.prefetch; blyi_ops.contains_many and .contains_hashes_pipelined;
 * and blyi_ops.contains_keys_pipelined. */
void blyi_window_prefetch(const bly_filter *f, const bly_hash *h, size_t n);
size_t blyi_window_contains_hashes(const bly_filter *f, const bly_hash *h, size_t n,
                                   uint8_t *found);
size_t blyi_window_contains_keys(const bly_filter *f, const bly_bytes *keys, size_t n,
                                 uint8_t *found);

/* ---- operations on small windows (window_small.c) ---------------------------------------------
 */

uint64_t blyi_window_small_lookup(const bly_filter *f, bly_hash h);
size_t blyi_window_small_contains_hashes(const bly_filter *f, const bly_hash *h, size_t n,
                                         uint8_t *found);
size_t blyi_window_small_contains_keys(const bly_filter *f, const bly_bytes *keys, size_t n,
                                       uint8_t *found);
bly_status blyi_window_small_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                      bly_batch_result *sum);

/* Clears a slot's bits. */
void blyi_window_small_clear_slot(bly_filter *f, unsigned slot);

/* Adds to set[i], for each live slot i, the number of bits that are set in it. */
void blyi_window_small_count_bits(const bly_filter *f, uint64_t *set);

/* Whether none of a slot's bits is set in a body of that shape. */
bool blyi_window_small_slot_is_clear(const blyi_shape *shape, const uint8_t *body, unsigned slot);

/* Adds the bits of src's slots in the set `bring` to dst: those of slot i to dst's slot to[i]. dst
 * keeps only the bits of its live slots. */
void blyi_window_small_union(bly_filter *dst, const bly_filter *src, uint64_t bring,
                             const unsigned *to);

/* ---- operations on either form (window_generations.c) -----------------------------------------
 */

bool blyi_window_body_is_valid(const blyi_shape *shape, const uint8_t *body);
void blyi_window_fill_stats(const bly_filter *f, bly_filter_info *out);
bool blyi_window_is_compatible(const bly_filter *a, const bly_filter *b);
bly_status blyi_window_union(bly_filter *dst, const bly_filter *src);

#endif
