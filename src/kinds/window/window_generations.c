/* Operations that treat the generations of a window one by one: the age of a key, the union of two
 * windows, statistics, and the check of a body. */
#include "base/struct_size.h"
#include "filter/rate.h"
#include "kinds/window/window_layout.h"

#include <bloomery/filter.h>
#include <math.h>
#include <string.h>

/* ---- age ------------------------------------------------------------------------------------- */

/* The number of arrivals in a window by number, in the generation with that ordinal and all later
 * ones. A generation that is no longer active has had its quota of arrivals, or, after a union with
 * a window of larger capacity, possibly more. */
static uint64_t window_arrivals_since(const bly_filter *f, uint64_t ordinal) {
    uint64_t quota = blyi_window_quota(f->capacity, blyi_window_generations(&f->geometry));
    uint64_t sum = blyi_window_active_arrivals(f);
    for (unsigned i = 0; i < blyi_window_slots(&f->geometry); i++) {
        uint64_t keys = blyi_window_keys_in(f, i);
        if (i != blyi_window_active(f) && keys != 0 && blyi_window_ordinal_of(f, i) >= ordinal)
            sum += keys > quota ? keys : quota;
    }
    return sum;
}

/* The age of the oldest key that the slot may contain. */
static uint64_t window_max_age(const bly_filter *f, unsigned slot) {
    uint64_t slice = blyi_window_slice(f), ordinal = blyi_window_ordinal_of(f, slot);
    return slice ? blyi_window_get_field(f, BLYI_WIN_NOW) - ordinal * slice
                 : window_arrivals_since(f, ordinal);
}

bly_status bly_window_age_hash(const bly_filter *f, bly_hash h, uint64_t *age) {
    if (f->geometry.kind != BLY_WINDOW)
        return BLY_EKIND;
    uint64_t where = blyi_window_is_small(&f->geometry) ? blyi_window_small_lookup(f, h)
                                                        : blyi_window_lookup(f, h);
    uint64_t lowest = BLY_WINDOW_ABSENT;
    for (unsigned slot = 0; slot < blyi_window_slots(&f->geometry); slot++)
        if (where >> slot & 1 && window_max_age(f, slot) < lowest)
            lowest = window_max_age(f, slot);
    /* The largest number means "absent". */
    *age = where != 0 && lowest == BLY_WINDOW_ABSENT ? BLY_WINDOW_ABSENT - 1 : lowest;
    return BLY_OK;
}

bly_status bly_window_age(const bly_filter *f, const void *key, size_t len, uint64_t *age) {
    if (f->geometry.kind != BLY_WINDOW)
        return BLY_EKIND;
    if (f->keyless)
        return BLY_EKEY;
    return bly_window_age_hash(f, f->hasher.one(&f->hasher, key, len), age);
}

bly_status bly_window_get_info(const bly_filter *f, bly_window_info *out) {
    if (f->geometry.kind != BLY_WINDOW)
        return BLY_EKIND;
    unsigned generations = blyi_window_generations(&f->geometry);
    bool by_number = blyi_window_by_number(f);
    const bly_window_info info = {
        .generations = generations,
        .generation_keys = blyi_window_quota(f->capacity, generations),
        .active_keys = blyi_window_keys_in(f, blyi_window_active(f)),
        .ordinal = blyi_window_get_field(f, BLYI_WIN_ORDINAL),
        .span = blyi_window_get_field(f, BLYI_WIN_SPAN),
        .slice = blyi_window_slice(f),
        .now = by_number ? 0 : blyi_window_get_field(f, BLYI_WIN_NOW),
        .active_arrivals = by_number ? blyi_window_active_arrivals(f) : 0,
        .arrivals = by_number ? window_arrivals_since(f, 0) : 0,
    };
    if (!blyi_can_write_struct(out, sizeof info))
        return BLY_EINVAL;
    blyi_write_struct(out, &info, sizeof info);
    return BLY_OK;
}

/* ---- union ----------------------------------------------------------------------------------- */

bool blyi_window_is_compatible(const bly_filter *a, const bly_filter *b) {
    return blyi_window_get_field(a, BLYI_WIN_SPAN) == blyi_window_get_field(b, BLYI_WIN_SPAN) &&
           blyi_window_get_field(a, BLYI_WIN_ORDINAL) ==
               blyi_window_get_field(b, BLYI_WIN_ORDINAL) &&
           ((blyi_window_get_field(a, BLYI_WIN_STATE) ^ blyi_window_get_field(b, BLYI_WIN_STATE)) &
            BLYI_WIN_STARTED) == 0;
}

/* Whether a slot of src has keys, and dst keeps the generation to which they belong. In a valid src
 * every slot with keys has such a generation. */
static bool window_can_use_slot(const bly_filter *dst, const bly_filter *src, unsigned slot) {
    uint64_t age = blyi_window_get_field(dst, BLYI_WIN_ORDINAL) - blyi_window_ordinal_of(src, slot);
    return blyi_window_is_live(src, slot) && age <= blyi_window_generations(&dst->geometry);
}

/* The slot of the generation with that ordinal; the number of slots if no slot has it. */
static unsigned window_slot_with(const bly_filter *f, uint64_t ordinal) {
    unsigned slots = blyi_window_slots(&f->geometry), active = blyi_window_active(f);
    if (ordinal == blyi_window_get_field(f, BLYI_WIN_ORDINAL))
        return active;
    for (unsigned i = 0; i < slots; i++)
        if (i != active && blyi_window_is_live(f, i) && blyi_window_ordinal_of(f, i) == ordinal)
            return i;
    return slots;
}

/* Sets to[i], for each slot i of src that can be used, to the slot of dst that has, or gets, the
 * same generation. dst has such a slot, because neither window has more than the active generation
 * and the s before it. (A damaged mapped file may have two slots for one generation. A slot of src
 * for which dst has none left is ignored.) Returns the set of slots of src that can be used. */
static uint64_t window_match_slots(const bly_filter *dst, const bly_filter *src, unsigned *to) {
    unsigned slots = blyi_window_slots(&dst->geometry), active = blyi_window_active(dst);
    uint64_t taken = blyi_window_get_field(dst, BLYI_WIN_LIVE) | (uint64_t)1 << active,
             used_slots = 0;
    for (unsigned i = 0; i < slots; i++) {
        uint64_t ordinal = blyi_window_ordinal_of(src, i);
        to[i] = active;
        if (!window_can_use_slot(dst, src, i))
            continue;
        unsigned slot = window_slot_with(dst, ordinal);
        for (unsigned j = 0; slot == slots && j < slots; j++)
            slot = taken >> j & 1 ? slots : j;
        if (slot == slots)
            continue;
        to[i] = slot;
        taken |= (uint64_t)1 << slot;
        used_slots |= (uint64_t)1 << i;
    }
    return used_slots;
}

/* The slots whose bits in this line are valid. */
static uint64_t window_kept_slots(const bly_filter *f, const uint8_t *line) {
    uint64_t active = (uint64_t)1 << blyi_window_active(f);
    return blyi_window_get_field(f, BLYI_WIN_LIVE) & ~(blyi_window_is_swept(f, line) ? 0 : active);
}

/* Makes one line of a union: keeps the slots `keep` of dst and adds the slots `bring` of src. Drops
 * all other bits, so the line is then swept. */
static void window_union_line(uint8_t *dst, uint64_t keep, const uint8_t *src, uint64_t bring,
                              const unsigned *to, unsigned slots, unsigned phase) {
    uint64_t words[8] = {0};
    for (unsigned place = 0; place < blyi_window_place_count(slots); place++) {
        uint64_t have =
            blyi_window_move_slots(blyi_window_read_place(dst, place, slots) & keep,
                                   blyi_window_read_place(src, place, slots) & bring, to);
        unsigned bit = place * slots;
        words[bit / 64] |= have << bit % 64;
        if (bit % 64 + slots > 64)
            words[bit / 64 + 1] |= have >> (64 - bit % 64);
    }
    words[7] |= (uint64_t)phase << 63;
    for (unsigned j = 0; j < 8; j++)
        blyi_store64le(dst + (size_t)8 * j, words[j]);
}

/* After a union a generation has the larger of the two numbers of keys. This is a lower bound on
 * purpose: a window by number that overestimates its keys would forget too early. */
static void window_union_keys(bly_filter *dst, const bly_filter *src, const unsigned *to,
                              uint64_t used_slots) {
    unsigned slots = blyi_window_slots(&dst->geometry);
    uint64_t max = blyi_window_max_keys(&dst->geometry) - 1;
    for (unsigned i = 0; i < slots; i++) {
        if (!(used_slots >> i & 1))
            continue;
        uint64_t ours = blyi_window_keys_in(dst, to[i]), keys = blyi_window_keys_in(src, i);
        keys = keys < max ? keys : max;
        blyi_window_set_keys(dst, to[i], keys > ours ? keys : ours, blyi_window_ordinal_of(src, i));
    }
    dst->items = 0;
    for (unsigned i = 0; i < slots; i++)
        dst->items += blyi_window_keys_in(dst, i);
}

/* After a union by number, the active generation has the larger of the two numbers of arrivals, but
 * at most its quota. */
static void window_union_arrivals(bly_filter *dst, uint64_t arrivals) {
    uint64_t quota = blyi_window_quota(dst->capacity, blyi_window_generations(&dst->geometry));
    uint64_t keys = blyi_window_keys_in(dst, blyi_window_active(dst));
    arrivals = arrivals < quota ? arrivals : quota;
    blyi_window_set_field(dst, BLYI_WIN_REPEATS, keys && arrivals > keys ? arrivals - keys : 0);
}

static void window_union_lines(bly_filter *dst, const bly_filter *src, uint64_t bring,
                               const unsigned *to) {
    unsigned slots = blyi_window_slots(&dst->geometry);
    unsigned phase = (unsigned)blyi_window_get_field(dst, BLYI_WIN_STATE) & BLYI_WIN_PHASE;
    uint64_t lines = blyi_window_lines(&dst->geometry);
    uint8_t *into = blyi_window_first_line(dst);
    const uint8_t *from = blyi_window_first_line(src);
    for (uint64_t i = 0; i < lines; i++, into += 64, from += 64)
        window_union_line(into, window_kept_slots(dst, into), from,
                          window_kept_slots(src, from) & bring, to, slots, phase);
    blyi_window_set_field(dst, BLYI_WIN_CURSOR, lines);
}

bly_status blyi_window_union(bly_filter *dst, const bly_filter *src) {
    unsigned to[BLYI_WIN_MAX_SLOTS];
    uint64_t now = blyi_window_get_field(src, BLYI_WIN_NOW);
    if (dst == src)
        return BLY_OK;
    uint64_t ours = blyi_window_active_arrivals(dst), theirs = blyi_window_active_arrivals(src);
    uint64_t used_slots = window_match_slots(dst, src, to);
    if (blyi_window_is_small(&dst->geometry))
        blyi_window_small_union(dst, src, used_slots, to);
    else
        window_union_lines(dst, src, used_slots, to);
    window_union_keys(dst, src, to, used_slots);
    if (blyi_window_by_number(dst))
        window_union_arrivals(dst, ours > theirs ? ours : theirs);
    else if (now > blyi_window_get_field(dst, BLYI_WIN_NOW))
        blyi_window_set_field(dst, BLYI_WIN_NOW, now);
    dst->approximate |= src->approximate;
    return BLY_OK;
}

/* ---- validity -------------------------------------------------------------------------------- */

static uint64_t window_body_field(const uint8_t *body, unsigned i) {
    return blyi_load64le(body + (size_t)8 * i);
}

static bool window_clock_is_valid(const blyi_shape *shape, const uint8_t *body) {
    uint64_t span = window_body_field(body, BLYI_WIN_SPAN),
             now = window_body_field(body, BLYI_WIN_NOW);
    uint64_t state = window_body_field(body, BLYI_WIN_STATE),
             ordinal = window_body_field(body, BLYI_WIN_ORDINAL);
    bool started = state & BLYI_WIN_STARTED;
    if (state & ~(uint64_t)(BLYI_WIN_PHASE | BLYI_WIN_STARTED) || (started && span == 0))
        return false;
    if (!started && span != 0 && (now != 0 || ordinal != 0))
        return false;
    return !started ||
           ordinal == now / blyi_window_quota(span, blyi_window_generations(&shape->geometry));
}

/* Whether a small window is consistent: its phase must be 0, and an active slot without keys must
 * have no bits set, because it was cleared when it became active. */
static bool window_table_is_valid(const blyi_shape *shape, const uint8_t *body, unsigned active) {
    return !(window_body_field(body, BLYI_WIN_STATE) & BLYI_WIN_PHASE) &&
           (window_body_field(body, BLYI_WIN_LIVE) >> active & 1 ||
            blyi_window_small_slot_is_clear(shape, body, active));
}

static bool window_cursor_is_valid(const blyi_shape *shape, const uint8_t *body) {
    const bly_geometry *g = &shape->geometry;
    unsigned slots = blyi_window_slots(g);
    uint64_t active = window_body_field(body, BLYI_WIN_ACTIVE), stencil[8];
    if (active >= slots || window_body_field(body, BLYI_WIN_CURSOR) > blyi_window_lines(g))
        return false;
    if (blyi_window_is_small(g))
        return window_table_is_valid(shape, body, (unsigned)active);
    blyi_window_stencil(slots, (unsigned)active, 0, blyi_window_place_count(slots), stencil);
    for (unsigned j = 0; j < 8; j++)
        if (window_body_field(body, BLYI_WIN_STENCIL + j) != stencil[j])
            return false;
    return window_body_field(body, BLYI_WIN_STEP) == blyi_window_sweep_step(g, shape->capacity);
}

/* Checks the slots. A slot that has keys must belong to one of the last s + 1 generations, and no
 * two slots to the same one. The active slot must belong to the last of them, and no other slot
 * may. The words of a slot without keys, and those that pad the heading, must be 0.
 */
static bool window_slots_are_valid(const blyi_shape *shape, const uint8_t *body) {
    const bly_geometry *g = &shape->geometry;
    unsigned slots = blyi_window_slots(g), entries = slots;
    if (!blyi_window_is_small(g)) /* up to the end of the heading, which is whole lines */
        entries = (unsigned)(blyi_window_heading_bytes(g) / 8 - BLYI_WIN_SLOTS) / 2;
    uint64_t sum = 0, live = 0, ages = 0, last = window_body_field(body, BLYI_WIN_ORDINAL);
    for (unsigned i = 0; i < entries; i++) {
        uint64_t keys = blyi_window_slot_keys(g, body, i);
        uint64_t age = last - blyi_window_slot_ordinal(g, body, i);
        if (keys == 0 && age == last)
            continue;
        if (keys == 0 || keys > blyi_window_max_keys(g) || i >= slots || age >= slots ||
            age > last || ages >> age & 1 ||
            (age == 0) != (i == window_body_field(body, BLYI_WIN_ACTIVE)))
            return false;
        ages |= (uint64_t)1 << age;
        sum += keys;
        live |= (uint64_t)1 << i;
    }
    return sum == shape->items && live == window_body_field(body, BLYI_WIN_LIVE);
}

/* Checks the repeats, which a window by number counts in the field of the clock. They are arrivals
 * of keys that the active generation contains; together with its keys they must not exceed its
 * quota. */
static bool window_repeats_are_valid(const blyi_shape *shape, const uint8_t *body) {
    const bly_geometry *g = &shape->geometry;
    uint64_t repeats = window_body_field(body, BLYI_WIN_REPEATS);
    if (window_body_field(body, BLYI_WIN_SPAN) != 0 || repeats == 0)
        return true;
    uint64_t quota = blyi_window_quota(shape->capacity, blyi_window_generations(g));
    uint64_t keys =
        blyi_window_slot_keys(g, body, (unsigned)window_body_field(body, BLYI_WIN_ACTIVE));
    return keys != 0 && keys < quota && repeats <= quota - keys;
}

/* Checks that the lines before the cursor are marked as swept, and that no bit is set between the
 * last place and the mark. */
static bool window_lines_are_valid(const bly_geometry *g, const uint8_t *body) {
    unsigned slots = blyi_window_slots(g), used = blyi_window_place_count(slots) * slots;
    uint64_t phase = window_body_field(body, BLYI_WIN_STATE) & BLYI_WIN_PHASE;
    uint64_t cursor = window_body_field(body, BLYI_WIN_CURSOR), stray = 0;
    const uint8_t *line = body + blyi_window_heading_bytes(g);
    for (uint64_t i = 0; i < blyi_window_lines(g); i++, line += 64) {
        uint64_t last = blyi_load64le(line + 56);
        stray |= (last & INT64_MAX) >> (used - 448);
        stray |= i < cursor ? last >> 63 ^ phase : 0;
    }
    return stray == 0;
}

bool blyi_window_body_is_valid(const blyi_shape *shape, const uint8_t *body) {
    return window_clock_is_valid(shape, body) && window_cursor_is_valid(shape, body) &&
           window_slots_are_valid(shape, body) && window_repeats_are_valid(shape, body) &&
           window_lines_are_valid(&shape->geometry, body);
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* The bits of each slot in each lane of a line. */
typedef struct window_stencils {
    uint64_t of[BLYI_WIN_MAX_SLOTS][BLYI_WIN_MAX_LANES][8];
    double places[BLYI_WIN_MAX_LANES];
} window_stencils;

static void window_make_stencils(unsigned slots, window_stencils *out) {
    for (unsigned t = 0; t < blyi_window_lane_count(slots); t++) {
        unsigned from = blyi_window_lane_start(slots, t), to = blyi_window_lane_start(slots, t + 1);
        out->places[t] = to - from;
        for (unsigned slot = 0; slot < slots; slot++)
            blyi_window_stencil(slots, slot, from, to, out->of[slot][t]);
    }
}

/* Adds the bits that a slot has in a line to *set. Returns the probability that a non-member finds
 * all of its bits set there. */
static double window_scan_slot(const uint64_t line[8], const window_stencils *s, unsigned slot,
                               unsigned lanes, uint64_t *set) {
    double rate = 1;
    for (unsigned t = 0; t < lanes; t++) {
        unsigned here = 0;
        for (unsigned j = 0; j < 8; j++)
            here += blyi_popcount64(line[j] & s->of[slot][t][j]);
        *set += here;
        rate *= here / s->places[t];
    }
    return rate;
}

/* For each live slot, the number of bits set and the FPR that follows from them; 0 for other slots.
 */
typedef struct window_scan {
    uint64_t set[BLYI_WIN_MAX_SLOTS];
    double rate[BLYI_WIN_MAX_SLOTS];
} window_scan;

static void window_scan_table(const bly_filter *f, window_scan *out) {
    const bly_geometry *g = &f->geometry;
    memset(out, 0, sizeof *out);
    blyi_window_small_count_bits(f, out->set);
    for (unsigned slot = 0; slot < blyi_window_slots(g); slot++)
        out->rate[slot] = pow((double)out->set[slot] / (double)g->size, g->hashes);
}

/* The FPR of a slot is the product over parts of the mean over lines. */
static void window_scan_lines(const bly_filter *f, window_scan *out) {
    const bly_geometry *g = &f->geometry;
    unsigned slots = blyi_window_slots(g), active = blyi_window_active(f);
    const uint8_t *at = blyi_window_first_line(f);
    window_stencils s;
    window_make_stencils(slots, &s);
    memset(out, 0, sizeof *out);
    for (unsigned slot = 0; slot < slots; slot++)
        out->rate[slot] = blyi_window_is_live(f, slot);
    for (unsigned part = 0; part < blyi_window_parts(g); part++) {
        double sum[BLYI_WIN_MAX_SLOTS] = {0};
        for (uint64_t i = 0; i < g->size; i++, at += 64) {
            uint64_t line[8];
            for (unsigned j = 0; j < 8; j++)
                line[j] = blyi_load64le(at + (size_t)8 * j);
            for (unsigned slot = 0; slot < slots; slot++)
                if (blyi_window_is_live(f, slot) && (slot != active || blyi_window_is_swept(f, at)))
                    sum[slot] += window_scan_slot(line, &s, slot, blyi_window_lane_count(slots),
                                                  &out->set[slot]);
        }
        for (unsigned slot = 0; slot < slots; slot++)
            out->rate[slot] *= sum[slot] / (double)g->size;
    }
}

void blyi_window_fill_stats(const bly_filter *f, bly_filter_info *out) {
    const bly_geometry *g = &f->geometry;
    unsigned slots = blyi_window_slots(g);
    double own = (double)blyi_window_slot_bits(g);
    double floor = out->current_fpr, miss = 1, predicted_miss = 1, expected = 0;
    window_scan scan;
    if (blyi_window_is_small(g))
        window_scan_table(f, &scan);
    else
        window_scan_lines(f, &scan);
    out->set_bits = 0;
    out->estimated_keys = 0;
    for (unsigned slot = 0; slot < slots; slot++) {
        double keys = blyi_window_generation_keys(g, (double)scan.set[slot] / own);
        out->set_bits += scan.set[slot];
        out->estimated_keys += keys;
        expected += own * blyi_window_generation_fill(g, (double)blyi_window_keys_in(f, slot));
        miss *= 1 - scan.rate[slot];
        predicted_miss *= !isfinite(keys) ? 0
                          : keys > 0      ? 1 - blyi_window_generation_rate(g, keys)
                                          : 1;
    }
    out->fill = (double)out->set_bits / (double)out->bits;
    out->expected_fill = expected / (double)out->bits;
    out->expected_fpr = fmin(1, 1 - predicted_miss + floor);
    out->current_fpr = fmin(1, 1 - miss + floor);
}
