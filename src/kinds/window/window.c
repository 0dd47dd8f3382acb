/* The window: a filter that forgets in order.
 *
 * The idea is old: keep several Bloom filters, add to the newest, ask them all, and from time to
 * time drop the oldest. With s generations kept beside the one being filled, each for W/s arrivals,
 * the keys of the last W arrivals are always there, and a key is gone after W (1 + 1/s) others. It
 * has two costs: a query asks s + 1 filters, and a whole filter must be emptied when it is dropped.
 * This is what is done about them.
 *
 * Slices across generations. All generations have the same geometry, and the bits that they have at
 * the same place lie side by side: a line of 64 bytes has 56 places of nine bits, one for each of
 * the s + 1 = 9 generations. Reading a place asks them all. A key has L lines, one in each of L
 * parts of the body, and three places in each line; the AND of all these words is the set of the
 * generations that have the key, and so tells its age as well. After the first line a stranger is
 * ruled out in all but one or two generations, after the second mostly in all: a query reads two
 * lines, and seldom another, whatever the rate. (The usual layout has a line for each generation,
 * side by side: nine lines for each query. It was measured to be three times slower, and to take
 * more space: three lines with three bits each are filled more evenly than one with eight.)
 *
 * Sweeping. When the window moves on, nothing is emptied. The slot of the dropped generation
 * becomes the active one, with all its old bits. They are taken out of a line when an add first
 * touches it, and every arrival takes them out of the next line or two by the way, so that all are
 * gone when the generation is full. The last bit of a line, its mark, tells whether that has been
 * done; a query that meets a line where it has not disregards the active slot. A mark means "swept"
 * when it equals the phase, a bit in the heading, so that all marks are set back by turning that
 * over. Other designs set a spare generation aside to empty it in time: at s = 8 that is 11% of the
 * space.
 *
 * Slots without keys are not live, and their bits are not looked at. A window whose clock moves on
 * while nothing is added just drops what is too old; the empty slot stays the active one.
 *
 * Small windows have another body (window_small.c). They have no lines, so there is nothing in them
 * to sweep; all else here is for both.
 *
 * A key that is added again is put into the active generation as well, and lives on from there. If
 * the active generation has the key, an add changes nothing in a window by time. In a window by
 * number it is an arrival all the same, and counted as a repeat: a stream of which most is one key
 * repeated must make the window forget the others after as many arrivals as any stream does.
 *
 * Body, all numbers little-endian words of 64 bits:
 *
 *   heading     fields (window_body.h); then for each slot the number of its keys and the number of
 *               its generation, filled up to 64 bytes
 *   lines       L parts of `size` lines. Place j is the bits (s+1) j .. (s+1) j + s, bit i of it
 *               belongs to slot i; bit 511 is the mark
 *
 * A line has places = 511 / (s+1) places (rounded down) in three lanes, two where s > 9: lane t
 * begins at place t * places / lanes. Part i of a key, with x = lo and y = hi at first:
 *   line   mulhi(x, size) of the part;  then x = x * LCG + (hi | 1)
 *   place  in lane t: its first place + (the t-th 16 bits of y from the top * its places >> 16);
 *          then y = y * LCG, y ^= y >> 32
 *
 * Bits per key of the window at 1% / 0.1% / 0.01% with s = 8: 17.2 / 23.1 / 29.0.
 */
#include "filter/batch.h"
#include "kinds/window/window_probe_sequence.h"
#include "kinds/window/window_small.h"

#include <bloomery/window.h>
#include <stdio.h>
#include <string.h>

enum { MIN_PAGE = 4096 };

/* ---- moving on ------------------------------------------------------------------------------- */

void blyi_window_stencil(unsigned slots, unsigned slot, unsigned from, unsigned to,
                         uint64_t out[8]) {
    memset(out, 0, 64);
    for (unsigned place = from; place < to; place++) {
        unsigned bit = place * slots + slot;
        out[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

void blyi_window_set_keys(bly_filter *f, unsigned slot, uint64_t keys, uint64_t ordinal) {
    uint64_t live = blyi_window_get(f, BLYI_WIN_LIVE), bit = (uint64_t)1 << slot;
    ordinal = keys ? ordinal : 0;
    if (blyi_window_is_small(&f->geometry)) {
        blyi_window_set(f, BLYI_WIN_SMALL_SLOTS + slot, ordinal << 56 | keys);
    } else {
        blyi_window_set(f, BLYI_WIN_SLOTS + 2 * slot, keys);
        blyi_window_set(f, BLYI_WIN_SLOTS + 2 * slot + 1, ordinal);
    }
    blyi_window_set(f, BLYI_WIN_LIVE, keys ? live | bit : live & ~bit);
}

/* The slot's old bits are emptied, or will be swept. */
static void activate(bly_filter *f, unsigned slot) {
    unsigned slots = blyi_window_slots(&f->geometry);
    uint64_t stencil[8];
    blyi_window_set(f, BLYI_WIN_ACTIVE, slot);
    if (blyi_window_is_small(&f->geometry)) {
        blyi_window_small_empty(f, slot);
        return;
    }
    blyi_window_stencil(slots, slot, 0, blyi_window_places(slots), stencil);
    for (unsigned j = 0; j < 8; j++)
        blyi_window_set(f, BLYI_WIN_STENCIL + j, stencil[j]);
}

void blyi_window_begin(bly_filter *f, uint64_t span, uint64_t now, uint64_t state) {
    uint64_t slice = span ? blyi_window_quota(span, blyi_window_generations(&f->geometry)) : 1;
    blyi_window_set(f, BLYI_WIN_ORDINAL, now / slice);
    blyi_window_set(f, BLYI_WIN_CURSOR, blyi_window_lines(&f->geometry));
    blyi_window_set(f, BLYI_WIN_SPAN, span);
    blyi_window_set(f, BLYI_WIN_NOW, now);
    blyi_window_set(f, BLYI_WIN_STATE, state);
    if (!blyi_window_is_small(&f->geometry))
        blyi_window_set(f, BLYI_WIN_STEP, blyi_window_step(&f->geometry, f->capacity));
    activate(f, 0);
}

static void clear(bly_filter *f) {
    uint64_t span = blyi_window_get(f, BLYI_WIN_SPAN);
    uint64_t now = span ? blyi_window_get(f, BLYI_WIN_NOW) : 0;
    uint64_t state = blyi_window_get(f, BLYI_WIN_STATE) & BLYI_WIN_STARTED;
    memset(f->body, 0, (size_t)f->body_bytes);
    f->items = 0;
    f->approximate = false;
    blyi_window_begin(f, span, now, state);
}

/* Takes the active slot's old bits out of a line, unless that is done. */
static inline void clean(bly_filter *f, uint8_t *line) {
    uint64_t *words = (uint64_t *)(void *)line;
    const uint64_t *stencil = blyi_words(f) + BLYI_WIN_STENCIL;
    if (blyi_window_swept(f, line))
        return;
    for (unsigned j = 0; j < 8; j++)
        words[j] &= ~stencil[j];
    line[63] ^= 0x80;
}

/* Brings a page in by writing to it (twice, so that nothing changes). Memory that was never touched
 * would else be brought in twice: as a page of zeros when the mark is read, then as one to write
 * to.
 */
static inline void touch(uint8_t *line) {
    (void)__atomic_fetch_xor(&line[63], 0x80, __ATOMIC_RELAXED);
    (void)__atomic_fetch_xor(&line[63], 0x80, __ATOMIC_RELAXED);
}

void blyi_window_sweep(bly_filter *f, uint64_t end) {
    uint64_t at = blyi_window_get(f, BLYI_WIN_CURSOR), lines = blyi_window_lines(&f->geometry);
    uint8_t *body = blyi_window_body(f);
    end = end < lines ? end : lines;
    if (at >= end)
        return;
    for (; at < end; at++) {
        uint8_t *line = body + 64 * at;
        if ((uintptr_t)line % MIN_PAGE == 0)
            touch(line);
        clean(f, line);
    }
    blyi_window_set(f, BLYI_WIN_CURSOR, at);
}

/* The next slot that has no keys: there is one, as s generations at most are kept. */
static unsigned free_slot(const bly_filter *f) {
    unsigned slots = blyi_window_slots(&f->geometry), slot = blyi_window_active(f);
    for (unsigned i = 0; i < slots; i++) {
        slot = slot + 1 < slots ? slot + 1 : 0;
        if (!blyi_window_is_live(f, slot))
            break;
    }
    return slot;
}

/* A file may say that its generation has the largest number there is. In a window by number of keys
 * only the distances between numbers matter, so all of them become small, as a loader demands.
 * Returns the number of the next generation. */
static uint64_t renumber(bly_filter *f) {
    const uint64_t first = blyi_window_slots(&f->geometry);
    const uint64_t less = blyi_window_get(f, BLYI_WIN_ORDINAL) - first;
    for (unsigned slot = 0; slot < blyi_window_slots(&f->geometry); slot++) {
        uint64_t ordinal = blyi_window_ordinal_of(f, slot) - less;
        if (blyi_window_is_live(f, slot))
            blyi_window_set_keys(f, slot, blyi_window_keys_in(f, slot), ordinal);
    }
    blyi_window_set(f, BLYI_WIN_ORDINAL, first);
    return first + 1;
}

void blyi_window_turn(bly_filter *f, uint64_t ordinal) {
    if (ordinal == 0) /* after the largest number: a turn leads to none that is smaller */
        ordinal = renumber(f);
    bool used = blyi_window_is_live(f, blyi_window_active(f));
    if (used)
        blyi_window_sweep(f, blyi_window_lines(&f->geometry));
    for (unsigned slot = 0; slot < blyi_window_slots(&f->geometry); slot++) {
        if (!blyi_window_is_live(f, slot) ||
            ordinal - blyi_window_ordinal_of(f, slot) <= blyi_window_generations(&f->geometry))
            continue;
        f->items -= blyi_window_keys_in(f, slot);
        blyi_window_set_keys(f, slot, 0, 0);
    }
    blyi_window_set(f, BLYI_WIN_ORDINAL, ordinal);
    if (blyi_window_by_number(f))
        blyi_window_set(f, BLYI_WIN_REPEATS, 0);
    if (!used)
        return;
    activate(f, free_slot(f));
    if (blyi_window_is_small(&f->geometry))
        return;
    blyi_window_set(f, BLYI_WIN_STATE, blyi_window_get(f, BLYI_WIN_STATE) ^ BLYI_WIN_PHASE);
    blyi_window_set(f, BLYI_WIN_CURSOR, 0);
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Sets the key's bits of a slot. */
INLINE void put_bits(bly_filter *f, const view *v, const blyi_line_layout *p, bly_hash h,
                     unsigned slot) {
    for (walk w = walk_of(h); w.part < v->parts; next_part(&w)) {
        uint8_t *line = line_of(v, &w);
        clean(f, line);
        for (unsigned lane = 0; lane < p->lanes; lane++) {
            unsigned bit = blyi_position_of(p, w.y, lane) * p->slots + slot;
            line[bit / 8] |= (uint8_t)(1U << bit % 8);
        }
    }
}

/* Returns whether no generation had the key. *v is kept up to date. */
INLINE bool put_one(bly_filter *f, view *v, const blyi_line_layout *p, bly_hash h) {
    uint64_t where = find(v, p, h);
    bool in_active = where & v->active;
    if (blyi_window_is_full(f)) {
        blyi_window_turn(f, blyi_window_get(f, BLYI_WIN_ORDINAL) + 1);
        *v = view_of(f, p->lanes);
        in_active = false;
    }
    if (in_active && !blyi_window_by_number(f))
        return false;
    if (in_active) {
        blyi_window_count_repeat(f);
    } else {
        put_bits(f, v, p, h, blyi_window_active(f));
        blyi_window_count(f);
        v->live |= v->active;
    }
    blyi_window_sweep(f, blyi_window_get(f, BLYI_WIN_CURSOR) + blyi_window_get(f, BLYI_WIN_STEP));
    return where == 0;
}

INLINE void put_by(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, bly_tally *sum,
                   const blyi_line_layout *p) {
    view v = view_of(f, p->lanes);
    for (size_t i = 0; i < n; i++)
        fetch(&v, h[i], FETCHED, v.parts);
    for (size_t i = 0; i < n; i++) {
        bool is_new = put_one(f, &v, p, h[i]);
        sum->fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    sum->done += n;
}

static bly_status put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, bly_tally *sum) {
    if (blyi_window_is_small(&f->geometry))
        return blyi_window_small_put(f, h, n, added, sum);
    blyi_line_layout p = places_of(blyi_window_slots(&f->geometry));
    if (f->geometry.detail == BLYI_GENERATIONS)
        put_by(f, h, n, added, sum, &usual);
    else
        put_by(f, h, n, added, sum, &p);
    return BLY_OK;
}

/* ---- both forms ------------------------------------------------------------------------------ */

static void prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    if (!blyi_window_is_small(&f->geometry))
        blyi_window_prefetch(f, h, n);
}

static size_t contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    return blyi_window_is_small(&f->geometry) ? blyi_window_small_contains(f, h, n, found)
                                              : blyi_window_contains(f, h, n, found);
}

static size_t ask(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found) {
    return blyi_window_is_small(&f->geometry) ? blyi_window_small_ask(f, keys, n, found)
                                              : blyi_window_ask(f, keys, n, found);
}

static const blyi_ops window_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_MAP | BLY_FORGETS,
    .create = blyi_window_create,
    .prefetch = prefetch,
    .try_add_many = put,
    .contains_many = contains,
    .contains_keys_pipelined = ask,
    .contains_hashes_pipelined = contains,
    .clear = clear,
    .body_is_valid = blyi_window_sound,
    .fill_stats = blyi_window_stats,
    .union_with = blyi_window_unite,
    .is_compatible = blyi_window_compatible,
};

/* ---- descriptor ------------------------------------------------------------------------------ */

static void window_describe_size(const bly_geometry *g, const char *grouped, char *out,
                                 size_t room) {
    if (blyi_window_is_small(g))
        snprintf(out, room, "%u generations and the one being filled, %s columns",
                 blyi_window_generations(g), grouped);
    else
        snprintf(out, room, "%u generations and the one being filled, %s line%s a part",
                 blyi_window_generations(g), grouped, g->size == 1 ? "" : "s");
}

const blyi_kind blyi_kind_window = {
    .code = BLY_WINDOW,
    .name = "window",
    .meaning = "remembers the last keys, or those of the last hours, and forgets older ones",
    .reason = "remembers the last keys, or those of the last hours, for certain, and forgets older "
              "ones",
    .describe_size = window_describe_size,
    .meets = BLY_NEED_WINDOW,
    .requires = BLY_NEED_WINDOW,
    .spec_fields = BLYI_SPEC_WINDOW,
    .planner = &blyi_window_planner,
    .ops = &window_ops,
};
