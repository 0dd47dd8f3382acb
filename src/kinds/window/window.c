/* The window: a filter that forgets keys in the order in which they were added.
 *
 * The idea is old: keep several Bloom filters, add to the newest, look up in all, and from time to
 * time drop the oldest. Suppose that the last W arrivals must be remembered, and s generations of
 * W/s arrivals each are kept in addition to the one being filled. Then the keys of the last W
 * arrivals are always found, and a key is forgotten after at most W (1 + 1/s) further arrivals.
 * This has two costs: a lookup tests s + 1 filters, and a whole filter must be cleared when it is
 * dropped. The design below avoids both.
 *
 * Slices across generations. All generations have the same geometry, and the bits that they have at
 * the same place lie side by side: a line of 64 bytes has 56 places of nine bits, one for each of
 * the s + 1 = 9 generations. Reading a place tests all generations. A key has L lines, one in each
 * of L parts of the body, and three places in each line. The AND of all these words is the set of
 * the generations that contain the key, from which its age follows as well. After the first line a
 * non-member is ruled out in all but one or two generations, after the second mostly in all: a
 * lookup reads two lines, and seldom another, whatever the rate. (The usual layout has a line for
 * each generation, side by side: nine lines for each lookup. It was measured to be three times
 * slower, and to take more space: three lines with three bits each are filled more evenly than one
 * with eight.)
 *
 * Sweeping. When the window rotates, nothing is cleared. The slot of the dropped generation becomes
 * the active one, with all its old bits. The old bits in a line are cleared when an add first
 * touches the line. In addition every arrival clears the old bits in the next line or two, so that
 * all lines have been swept when the generation is full. The last bit of a line, its mark, says
 * whether the line has been swept. If it has not, lookups in this line ignore the active slot. A
 * mark means "swept" when it equals the phase, a bit in the heading, so that flipping the phase
 * resets all marks. (Other designs have a spare generation, which they clear before it is needed:
 * at s = 8 that is 11% of the space.)
 *
 * Slots without keys are not live, and their bits are not read. When the clock advances while
 * nothing is added, only the generations that are too old are dropped. The empty slot stays the
 * active one.
 *
 * Small windows have another body (window_small.c). They have no lines, so there is nothing in them
 * to sweep. Everything else here applies to both forms.
 *
 * A key that is added again is added to the active generation as well, and is remembered for as
 * long as that generation. If the active generation contains the key, an add changes nothing in a
 * window by time. In a window by number it is nevertheless an arrival, and counted as a repeat:
 * even in a stream that is mostly one key, the window must forget the other keys after the same
 * number of arrivals.
 *
 * Body, all numbers little-endian words of 64 bits:
 *
 *   heading     fields (window_layout.h); then for each slot the number of its keys and the number
 *               of its generation, padded to 64 bytes
 *   lines       L parts of `size` lines. Place j is the bits (s+1) j .. (s+1) j + s, bit i of it
 *               belongs to slot i; bit 511 is the mark
 *
 * A line has places = 511 / (s+1), rounded down. They form three lanes, or two if s > 9: lane t
 * begins at place t * places / lanes. Part i of a key, with x = lo and y = hi at first:
 *   line   mulhi(x, size) of the part;  then x = x * LCG + (hi | 1)
 *   place  in lane t: its first place + (the t-th 16 bits of y from the top * its places >> 16);
 *          then y = y * LCG, y ^= y >> 32
 *
 * Bits per key of the window: docs/kinds/window.md.
 */
#include "filter/batch.h"
#include "filter/rate.h"
#include "kinds/window/window_layout.h"

#include <bloomery/filter.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WINDOW_MIN_PAGE = 4096 };

/* ---- generations ----------------------------------------------------------------------------- */

void blyi_window_stencil(unsigned slots, unsigned slot, unsigned from, unsigned to,
                         uint64_t out[8]) {
    memset(out, 0, 64);
    for (unsigned place = from; place < to; place++) {
        unsigned bit = place * slots + slot;
        out[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

void blyi_window_set_keys(bly_filter *f, unsigned slot, uint64_t keys, uint64_t ordinal) {
    uint64_t live = blyi_window_get_field(f, BLYI_WIN_LIVE), bit = (uint64_t)1 << slot;
    ordinal = keys ? ordinal : 0;
    if (blyi_window_is_small(&f->geometry)) {
        blyi_window_set_field(f, BLYI_WIN_SMALL_SLOTS + slot, ordinal << 56 | keys);
    } else {
        blyi_window_set_field(f, BLYI_WIN_SLOTS + 2 * slot, keys);
        blyi_window_set_field(f, BLYI_WIN_SLOTS + 2 * slot + 1, ordinal);
    }
    blyi_window_set_field(f, BLYI_WIN_LIVE, keys ? live | bit : live & ~bit);
}

/* Makes a slot the active one. Its old bits are cleared now in a small window, and swept later in
 * one with lines. */
static void window_activate(bly_filter *f, unsigned slot) {
    unsigned slots = blyi_window_slots(&f->geometry);
    uint64_t stencil[8];
    blyi_window_set_field(f, BLYI_WIN_ACTIVE, slot);
    if (blyi_window_is_small(&f->geometry)) {
        blyi_window_small_clear_slot(f, slot);
        return;
    }
    blyi_window_stencil(slots, slot, 0, blyi_window_place_count(slots), stencil);
    for (unsigned j = 0; j < 8; j++)
        blyi_window_set_field(f, BLYI_WIN_STENCIL + j, stencil[j]);
}

/* Writes the heading of an empty window into a body of zeros. `state` is 0 or BLYI_WIN_STARTED. */
static void window_write_heading(bly_filter *f, uint64_t span, uint64_t now, uint64_t state) {
    uint64_t slice = span ? blyi_window_quota(span, blyi_window_generations(&f->geometry)) : 1;
    blyi_window_set_field(f, BLYI_WIN_ORDINAL, now / slice);
    blyi_window_set_field(f, BLYI_WIN_CURSOR, blyi_window_lines(&f->geometry));
    blyi_window_set_field(f, BLYI_WIN_SPAN, span);
    blyi_window_set_field(f, BLYI_WIN_NOW, now);
    blyi_window_set_field(f, BLYI_WIN_STATE, state);
    if (!blyi_window_is_small(&f->geometry))
        blyi_window_set_field(f, BLYI_WIN_STEP, blyi_window_sweep_step(&f->geometry, f->capacity));
    window_activate(f, 0);
}

static void window_clear(bly_filter *f) {
    uint64_t span = blyi_window_get_field(f, BLYI_WIN_SPAN);
    uint64_t now = span ? blyi_window_get_field(f, BLYI_WIN_NOW) : 0;
    uint64_t state = blyi_window_get_field(f, BLYI_WIN_STATE) & BLYI_WIN_STARTED;
    memset(f->body, 0, (size_t)f->body_bytes);
    f->items = 0;
    f->approximate = false;
    window_write_heading(f, span, now, state);
}

/* Clears the active slot's old bits in a line, unless the line has been swept already. */
static inline void window_sweep_line(bly_filter *f, uint8_t *line) {
    uint64_t *words = (uint64_t *)(void *)line;
    const uint64_t *stencil = blyi_words(f) + BLYI_WIN_STENCIL;
    if (blyi_window_is_swept(f, line))
        return;
    for (unsigned j = 0; j < 8; j++)
        words[j] &= ~stencil[j];
    line[63] ^= 0x80;
}

/* Faults a page in by writing to it (twice, so that nothing changes). Memory that was never touched
 * would otherwise fault twice: as a page of zeros when the mark is read, then as a page to write
 * to. */
static inline void window_fault_page(uint8_t *line) {
    (void)__atomic_fetch_xor(&line[63], 0x80, __ATOMIC_RELAXED);
    (void)__atomic_fetch_xor(&line[63], 0x80, __ATOMIC_RELAXED);
}

/* Clears the active slot's old bits in the lines from the cursor up to, not including, `end`, and
 * moves the cursor there. */
static void window_sweep(bly_filter *f, uint64_t end) {
    uint64_t at = blyi_window_get_field(f, BLYI_WIN_CURSOR),
             lines = blyi_window_lines(&f->geometry);
    uint8_t *body = blyi_window_first_line(f);
    end = end < lines ? end : lines;
    if (at >= end)
        return;
    for (; at < end; at++) {
        uint8_t *line = body + 64 * at;
        if ((uintptr_t)line % WINDOW_MIN_PAGE == 0)
            window_fault_page(line);
        window_sweep_line(f, line);
    }
    blyi_window_set_field(f, BLYI_WIN_CURSOR, at);
}

/* The next slot that has no keys. There is one, because at most s generations are kept. */
static unsigned window_free_slot(const bly_filter *f) {
    unsigned slots = blyi_window_slots(&f->geometry), slot = blyi_window_active(f);
    for (unsigned i = 0; i < slots; i++) {
        slot = slot + 1 < slots ? slot + 1 : 0;
        if (!blyi_window_is_live(f, slot))
            break;
    }
    return slot;
}

/* Reduces the numbers of all generations by the same amount, to numbers that a loader accepts. This
 * is needed because a file may claim that its active generation has the largest possible number. In
 * a window by number only the differences between these numbers matter. Returns the number of the
 * next generation. */
static uint64_t window_renumber(bly_filter *f) {
    const uint64_t first = blyi_window_slots(&f->geometry);
    const uint64_t less = blyi_window_get_field(f, BLYI_WIN_ORDINAL) - first;
    for (unsigned slot = 0; slot < blyi_window_slots(&f->geometry); slot++) {
        uint64_t ordinal = blyi_window_ordinal_of(f, slot) - less;
        if (blyi_window_is_live(f, slot))
            blyi_window_set_keys(f, slot, blyi_window_keys_in(f, slot), ordinal);
    }
    blyi_window_set_field(f, BLYI_WIN_ORDINAL, first);
    return first + 1;
}

void blyi_window_rotate(bly_filter *f, uint64_t ordinal) {
    if (ordinal == 0) /* the largest number was reached, and numbers must increase */
        ordinal = window_renumber(f);
    bool used = blyi_window_is_live(f, blyi_window_active(f));
    if (used)
        window_sweep(f, blyi_window_lines(&f->geometry));
    for (unsigned slot = 0; slot < blyi_window_slots(&f->geometry); slot++) {
        if (!blyi_window_is_live(f, slot) ||
            ordinal - blyi_window_ordinal_of(f, slot) <= blyi_window_generations(&f->geometry))
            continue;
        f->items -= blyi_window_keys_in(f, slot);
        blyi_window_set_keys(f, slot, 0, 0);
    }
    blyi_window_set_field(f, BLYI_WIN_ORDINAL, ordinal);
    if (blyi_window_by_number(f))
        blyi_window_set_field(f, BLYI_WIN_REPEATS, 0);
    if (!used)
        return;
    window_activate(f, window_free_slot(f));
    if (blyi_window_is_small(&f->geometry))
        return;
    blyi_window_set_field(f, BLYI_WIN_STATE,
                          blyi_window_get_field(f, BLYI_WIN_STATE) ^ BLYI_WIN_PHASE);
    blyi_window_set_field(f, BLYI_WIN_CURSOR, 0);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* The number of lines that must be swept at `now`: the share of all lines that equals the share of
 * the slice that has passed. */
static uint64_t window_lines_due(const bly_filter *f, uint64_t now, uint64_t slice) {
    double part = (double)(now % slice) / (double)slice;
    return (uint64_t)(part * (double)blyi_window_lines(&f->geometry));
}

/* Sets the clock for the first time. Keys that were added before count as added now. */
static void window_start_clock(bly_filter *f, uint64_t ordinal) {
    unsigned active = blyi_window_active(f);
    blyi_window_set_field(f, BLYI_WIN_STATE,
                          blyi_window_get_field(f, BLYI_WIN_STATE) | BLYI_WIN_STARTED);
    blyi_window_set_field(f, BLYI_WIN_ORDINAL, ordinal);
    blyi_window_set_keys(f, active, blyi_window_keys_in(f, active), ordinal);
}

bly_status bly_window_advance(bly_filter *f, uint64_t now) {
    if (f->geometry.kind != BLY_WINDOW)
        return BLY_EKIND;
    uint64_t slice = blyi_window_slice(f);
    if (slice == 0)
        return BLY_EUNSUPPORTED;
    if (now < blyi_window_get_field(f, BLYI_WIN_NOW))
        return BLY_EINVAL;
    uint64_t ordinal = now / slice;
    if (!(blyi_window_get_field(f, BLYI_WIN_STATE) & BLYI_WIN_STARTED))
        window_start_clock(f, ordinal);
    if (ordinal != blyi_window_get_field(f, BLYI_WIN_ORDINAL))
        blyi_window_rotate(f, ordinal);
    blyi_window_set_field(f, BLYI_WIN_NOW, now);
    window_sweep(f, window_lines_due(f, now, slice));
    return BLY_OK;
}

/* ---- add ------------------------------------------------------------------------------------- */

/* Sets the key's bits in a slot. */
BLYI_WIN_INLINE void window_add_bits(bly_filter *f, const blyi_window_view *v,
                                     const blyi_window_places *p, bly_hash h, unsigned slot) {
    for (blyi_window_probe w = blyi_window_probe_begin(h); w.part < v->parts;
         blyi_window_probe_next(&w)) {
        uint8_t *line = blyi_window_probe_line(v, &w);
        window_sweep_line(f, line);
        for (unsigned lane = 0; lane < p->lanes; lane++) {
            unsigned bit = blyi_window_place_of(p, w.y, lane) * p->slots + slot;
            line[bit / 8] |= (uint8_t)(1U << bit % 8);
        }
    }
}

/* Adds a key, and returns whether no generation contained it. Keeps *v up to date. */
BLYI_WIN_INLINE bool window_add_one(bly_filter *f, blyi_window_view *v, const blyi_window_places *p,
                                    bly_hash h) {
    uint64_t where = blyi_window_lookup_in(v, p, h);
    bool in_active = where & v->active;
    if (blyi_window_is_full(f)) {
        blyi_window_rotate(f, blyi_window_get_field(f, BLYI_WIN_ORDINAL) + 1);
        *v = blyi_window_view_of(f, p->lanes);
        in_active = false;
    }
    if (in_active && !blyi_window_by_number(f))
        return false;
    if (in_active) {
        blyi_window_count_repeat(f);
    } else {
        window_add_bits(f, v, p, h, blyi_window_active(f));
        blyi_window_count(f);
        v->live |= v->active;
    }
    window_sweep(f, blyi_window_get_field(f, BLYI_WIN_CURSOR) +
                        blyi_window_get_field(f, BLYI_WIN_STEP));
    return where == 0;
}

BLYI_WIN_INLINE void window_add_with(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                     bly_batch_result *sum, const blyi_window_places *p) {
    blyi_window_view v = blyi_window_view_of(f, p->lanes);
    for (size_t i = 0; i < n; i++)
        blyi_window_prefetch_parts(&v, h[i], BLYI_WIN_PREFETCHED, v.parts);
    for (size_t i = 0; i < n; i++) {
        bool is_new = window_add_one(f, &v, p, h[i]);
        sum->changed += is_new;
        if (added)
            added[i] = is_new;
    }
    sum->done += n;
}

static bly_status window_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                  bly_batch_result *sum) {
    if (blyi_window_is_small(&f->geometry))
        return blyi_window_small_add_many(f, h, n, added, sum);
    blyi_window_places p = blyi_window_places_of(blyi_window_slots(&f->geometry));
    if (f->geometry.detail == BLYI_WIN_DEFAULT_GENERATIONS)
        window_add_with(f, h, n, added, sum, &blyi_window_default_places);
    else
        window_add_with(f, h, n, added, sum, &p);
    return BLY_OK;
}

/* ---- create ---------------------------------------------------------------------------------- */

static bly_status window_check_spec(const bly_spec *spec) {
    const bly_geometry *g = &spec->geometry;
    if (g->options != 0)
        return BLY_EINVAL;
    /* The number of generations may be given both in the geometry and in spec->window if they
     * agree. */
    if (g->size == 0 && g->detail != 0)
        return BLY_EINVAL;
    if (g->size != 0 && spec->window.generations != 0 &&
        spec->window.generations != blyi_window_generations(g))
        return BLY_EINVAL;
    if (spec->fpr != 0 && !(spec->fpr >= 0x1p-40 && spec->fpr < 1))
        return BLY_ERATE;
    return BLY_OK;
}

/* For a geometry that the caller gave, computes the capacity and the rate unless the caller gave
 * them too. If both are missing, the capacity is that at which half of a generation's bits are
 * set. */
static bly_status window_resolve_exact(const bly_spec *spec, unsigned hash_bits,
                                       blyi_shape *shape) {
    bly_status status = bly_plan_check(&spec->geometry);
    if (status)
        return status;
    shape->geometry = spec->geometry;
    if (shape->capacity == 0 && shape->fpr != 0)
        shape->capacity = bly_plan_capacity(&spec->geometry, shape->fpr, hash_bits);
    else if (shape->capacity == 0)
        shape->capacity = blyi_window_generations(&spec->geometry) *
                          (uint64_t)fmax(1, blyi_window_generation_keys(&spec->geometry, 0.5));
    if (shape->capacity == 0)
        return BLY_EIMPOSSIBLE;
    if (shape->fpr == 0)
        shape->fpr = fmax(bly_plan_fpr(&spec->geometry, shape->capacity, hash_bits), 0x1p-40);
    return shape->fpr < 1 ? BLY_OK : BLY_EIMPOSSIBLE;
}

static bly_status window_resolve(const bly_spec *spec, blyi_shape *shape) {
    bool exact = spec->geometry.size != 0, chosen = spec->hasher.id != BLY_HASH_NONE;
    uint32_t generations =
        spec->window.generations ? spec->window.generations : BLYI_WIN_DEFAULT_GENERATIONS;
    bly_status status = window_check_spec(spec);
    if (status == BLY_OK && exact)
        status = window_resolve_exact(
            spec, spec->allow_weak_hash || !chosen ? 128 : spec->hasher.bits, shape);
    if (status == BLY_OK && shape->capacity == 0)
        status = BLY_ECOUNT;
    if (status == BLY_OK && shape->fpr == 0)
        status = BLY_ERATE;
    if (status == BLY_OK && !chosen)
        status = bly_hasher_default(&shape->hasher, shape->capacity, shape->fpr, spec->seed);
    if (status)
        return status;
    unsigned bits = spec->allow_weak_hash ? 128 : shape->hasher.bits;
    double floor = blyi_hash_floor((double)shape->capacity, bits);
    if (floor > shape->fpr / 10)
        return BLY_EWEAKHASH;
    if (exact)
        return BLY_OK;
    return blyi_window_plan(shape->capacity, shape->fpr - floor, generations, &shape->geometry);
}

static bly_status window_create(const bly_spec *spec, bly_filter **out) {
    blyi_shape shape = {
        .hasher = spec->hasher,
        .capacity = spec->capacity,
        .fpr = spec->fpr,
        .sharing = spec->sharing,
    };
    bly_status status = window_resolve(spec, &shape);
    if (status == BLY_OK)
        status = blyi_filter_make(&shape, spec->allocator, NULL, out);
    if (status == BLY_OK)
        window_write_heading(*out, spec->window.span, 0, 0);
    return status;
}

/* ---- lookup, by form ------------------------------------------------------------------------- */

static void window_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    if (!blyi_window_is_small(&f->geometry))
        blyi_window_prefetch(f, h, n);
}

static size_t window_contains_hashes(const bly_filter *f, const bly_hash *h, size_t n,
                                     uint8_t *found) {
    return blyi_window_is_small(&f->geometry) ? blyi_window_small_contains_hashes(f, h, n, found)
                                              : blyi_window_contains_hashes(f, h, n, found);
}

static size_t window_contains_keys(const bly_filter *f, const bly_bytes *keys, size_t n,
                                   uint8_t *found) {
    return blyi_window_is_small(&f->geometry) ? blyi_window_small_contains_keys(f, keys, n, found)
                                              : blyi_window_contains_keys(f, keys, n, found);
}

static const blyi_ops window_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_MAP | BLY_FORGETS,
    .create = window_create,
    .prefetch = window_prefetch,
    .try_add_many = window_add_many,
    .contains_many = window_contains_hashes,
    .contains_keys_pipelined = window_contains_keys,
    .contains_hashes_pipelined = window_contains_hashes,
    .clear = window_clear,
    .body_is_valid = blyi_window_body_is_valid,
    .fill_stats = blyi_window_fill_stats,
    .union_with = blyi_window_union,
    .is_compatible = blyi_window_is_compatible,
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
    .meaning = "contains the last keys, or those of the last hours, and forgets older ones",
    .reason = "contains the last keys, or those of the last hours, without exception, and forgets "
              "older ones",
    .describe_size = window_describe_size,
    .meets = BLY_NEED_WINDOW,
    .requires = BLY_NEED_WINDOW,
    .spec_fields = BLYI_SPEC_WINDOW,
    .planner = &blyi_window_planner,
    .ops = &window_ops,
};
