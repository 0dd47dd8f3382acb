/* What a window can say of itself, and whether bytes can be one. */
#include "filter/rate.h"
#include "kinds/window/window_small.h"

#include <math.h>
#include <string.h>

/* ---- sound ----------------------------------------------------------------------------------- */

static uint64_t field(const uint8_t *body, unsigned i) {
    return blyi_load64le(body + (size_t)8 * i);
}

static bool clock_sound(const blyi_shape *shape, const uint8_t *body) {
    uint64_t span = field(body, BLYI_WIN_SPAN), now = field(body, BLYI_WIN_NOW);
    uint64_t state = field(body, BLYI_WIN_STATE), ordinal = field(body, BLYI_WIN_ORDINAL);
    bool started = state & BLYI_WIN_STARTED;
    if (state & ~(uint64_t)(BLYI_WIN_PHASE | BLYI_WIN_STARTED) || (started && span == 0))
        return false;
    if (!started && span != 0 && (now != 0 || ordinal != 0))
        return false;
    return !started ||
           ordinal == now / blyi_window_quota(span, blyi_window_generations(&shape->geometry));
}

/* A slot that is filled next has been emptied. */
static bool table_sound(const blyi_shape *shape, const uint8_t *body, unsigned active) {
    return !(field(body, BLYI_WIN_STATE) & BLYI_WIN_PHASE) &&
           (field(body, BLYI_WIN_LIVE) >> active & 1 ||
            blyi_window_small_clean(shape, body, active));
}

static bool cursor_sound(const blyi_shape *shape, const uint8_t *body) {
    const bly_geometry *g = &shape->geometry;
    unsigned slots = blyi_window_slots(g);
    uint64_t active = field(body, BLYI_WIN_ACTIVE), stencil[8];
    if (active >= slots || field(body, BLYI_WIN_CURSOR) > blyi_window_lines(g))
        return false;
    if (blyi_window_is_small(g))
        return table_sound(shape, body, (unsigned)active);
    blyi_window_stencil(slots, (unsigned)active, 0, blyi_window_places(slots), stencil);
    for (unsigned j = 0; j < 8; j++)
        if (field(body, BLYI_WIN_STENCIL + j) != stencil[j])
            return false;
    return field(body, BLYI_WIN_STEP) == blyi_window_step(g, shape->capacity);
}

/* A slot that has keys is one of the last s + 1 generations, and no two are the same; the active
 * slot has the last one. A slot without keys, and one that there is not, is all 0. */
static bool slots_sound(const blyi_shape *shape, const uint8_t *body) {
    const bly_geometry *g = &shape->geometry;
    unsigned slots = blyi_window_slots(g), entries = slots;
    if (!blyi_window_is_small(g)) /* whole lines of them */
        entries = (unsigned)(blyi_window_heading(g) / 8 - BLYI_WIN_SLOTS) / 2;
    uint64_t sum = 0, live = 0, ages = 0, last = field(body, BLYI_WIN_ORDINAL);
    for (unsigned i = 0; i < entries; i++) {
        uint64_t keys = blyi_window_slot_keys(g, body, i);
        uint64_t age = last - blyi_window_slot_ordinal(g, body, i);
        if (keys == 0 && age == last)
            continue;
        if (keys == 0 || keys > blyi_window_most_keys(g) || i >= slots || age >= slots ||
            age > last || ages >> age & 1 || (age == 0) != (i == field(body, BLYI_WIN_ACTIVE)))
            return false;
        ages |= (uint64_t)1 << age;
        sum += keys;
        live |= (uint64_t)1 << i;
    }
    return sum == shape->items && live == field(body, BLYI_WIN_LIVE);
}

/* Repeats, which a window by number counts in the clock's place, are of a key that the active
 * generation has, and end with its quota. */
static bool repeats_sound(const blyi_shape *shape, const uint8_t *body) {
    const bly_geometry *g = &shape->geometry;
    uint64_t repeats = field(body, BLYI_WIN_REPEATS);
    if (field(body, BLYI_WIN_SPAN) != 0 || repeats == 0)
        return true;
    uint64_t quota = blyi_window_quota(shape->capacity, blyi_window_generations(g));
    uint64_t keys = blyi_window_slot_keys(g, body, (unsigned)field(body, BLYI_WIN_ACTIVE));
    return keys != 0 && keys < quota && repeats <= quota - keys;
}

/* What the cursor has passed is marked so, and no bit is set between the last place and the mark.
 */
static bool lines_sound(const bly_geometry *g, const uint8_t *body) {
    unsigned slots = blyi_window_slots(g), used = blyi_window_places(slots) * slots;
    uint64_t phase = field(body, BLYI_WIN_STATE) & BLYI_WIN_PHASE;
    uint64_t cursor = field(body, BLYI_WIN_CURSOR), stray = 0;
    const uint8_t *line = body + blyi_window_heading(g);
    for (uint64_t i = 0; i < blyi_window_lines(g); i++, line += 64) {
        uint64_t last = blyi_load64le(line + 56);
        stray |= (last & INT64_MAX) >> (used - 448);
        stray |= i < cursor ? last >> 63 ^ phase : 0;
    }
    return stray == 0;
}

bool blyi_window_sound(const blyi_shape *shape, const uint8_t *body) {
    return clock_sound(shape, body) && cursor_sound(shape, body) && slots_sound(shape, body) &&
           repeats_sound(shape, body) && lines_sound(&shape->geometry, body);
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* The bits of each slot in each lane of a line. */
typedef struct stencils {
    uint64_t of[BLYI_WIN_MAX_SLOTS][BLYI_MAX_LANES][8];
    double places[BLYI_MAX_LANES];
} stencils;

static void cut(unsigned slots, stencils *out) {
    for (unsigned t = 0; t < blyi_window_lanes(slots); t++) {
        unsigned from = blyi_window_lane(slots, t), to = blyi_window_lane(slots, t + 1);
        out->places[t] = to - from;
        for (unsigned slot = 0; slot < slots; slot++)
            blyi_window_stencil(slots, slot, from, to, out->of[slot][t]);
    }
}

/* Adds up the bits of a slot in a line, and returns the chance that a stranger finds all of its own
 * there. */
static double weigh(const uint64_t line[8], const stencils *s, unsigned slot, unsigned lanes,
                    uint64_t *set) {
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

/* Of each slot that is live: the bits that are set, and its rate as they stand. The others get 0.
 */
typedef struct scan {
    uint64_t set[BLYI_WIN_MAX_SLOTS];
    double rate[BLYI_WIN_MAX_SLOTS];
} scan;

static void count_table(const bly_filter *f, scan *out) {
    const bly_geometry *g = &f->geometry;
    memset(out, 0, sizeof *out);
    blyi_window_small_tally(f, out->set);
    for (unsigned slot = 0; slot < blyi_window_slots(g); slot++)
        out->rate[slot] = pow((double)out->set[slot] / (double)g->size, g->hashes);
}

/* The rate of a slot is the product over parts of the mean over lines. */
static void count_lines(const bly_filter *f, scan *out) {
    const bly_geometry *g = &f->geometry;
    unsigned slots = blyi_window_slots(g), active = blyi_window_active(f);
    const uint8_t *at = blyi_window_body(f);
    stencils s;
    cut(slots, &s);
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
                if (blyi_window_is_live(f, slot) && (slot != active || blyi_window_swept(f, at)))
                    sum[slot] += weigh(line, &s, slot, blyi_window_lanes(slots), &out->set[slot]);
        }
        for (unsigned slot = 0; slot < slots; slot++)
            out->rate[slot] *= sum[slot] / (double)g->size;
    }
}

void blyi_window_stats(const bly_filter *f, bly_stats *out) {
    const bly_geometry *g = &f->geometry;
    unsigned slots = blyi_window_slots(g);
    double own = (double)blyi_window_own(g);
    double floor = out->current_fpr, miss = 1, predicted_miss = 1, expected = 0;
    scan seen;
    if (blyi_window_is_small(g))
        count_table(f, &seen);
    else
        count_lines(f, &seen);
    out->set_bits = 0;
    out->estimated_keys = 0;
    for (unsigned slot = 0; slot < slots; slot++) {
        double keys = blyi_window_keys(g, (double)seen.set[slot] / own);
        out->set_bits += seen.set[slot];
        out->estimated_keys += keys;
        expected += own * blyi_window_fill(g, (double)blyi_window_keys_in(f, slot));
        miss *= 1 - seen.rate[slot];
        predicted_miss *= !isfinite(keys) ? 0 : keys > 0 ? 1 - blyi_window_rate(g, keys) : 1;
    }
    out->fill = (double)out->set_bits / (double)out->bits;
    out->expected_fill = expected / (double)out->bits;
    out->predicted_fpr = fmin(1, 1 - predicted_miss + floor);
    out->current_fpr = fmin(1, 1 - miss + floor);
}
