/* The union of two windows: of each generation that either has. */
#include "kinds/window/window_small.h"

bool blyi_window_compatible(const bly_filter *a, const bly_filter *b) {
    return blyi_window_get(a, BLYI_WIN_SPAN) == blyi_window_get(b, BLYI_WIN_SPAN) &&
           blyi_window_get(a, BLYI_WIN_ORDINAL) == blyi_window_get(b, BLYI_WIN_ORDINAL) &&
           ((blyi_window_get(a, BLYI_WIN_STATE) ^ blyi_window_get(b, BLYI_WIN_STATE)) &
            BLYI_WIN_STARTED) == 0;
}

/* Whether a slot of src has keys that dst can take. All have, unless src is a damaged map. */
static bool is_wanted(const bly_filter *dst, const bly_filter *src, unsigned slot) {
    uint64_t age = blyi_window_get(dst, BLYI_WIN_ORDINAL) - blyi_window_ordinal_of(src, slot);
    return blyi_window_is_live(src, slot) && age <= blyi_window_generations(&dst->geometry);
}

/* The slot of that generation; one past the last when there is none. */
static unsigned slot_with(const bly_filter *f, uint64_t ordinal) {
    unsigned slots = blyi_window_slots(&f->geometry), active = blyi_window_active(f);
    if (ordinal == blyi_window_get(f, BLYI_WIN_ORDINAL))
        return active;
    for (unsigned i = 0; i < slots; i++)
        if (i != active && blyi_window_is_live(f, i) && blyi_window_ordinal_of(f, i) == ordinal)
            return i;
    return slots;
}

/* For each slot of src that is wanted, the one of dst that has, or gets, the same generation. There
 * is one, since both have at most the s last ones and the active; only a damaged map may have two
 * slots for one generation, and what finds no place is left out. Returns the slots of src that go
 * somewhere. */
static uint64_t match(const bly_filter *dst, const bly_filter *src, unsigned *to) {
    unsigned slots = blyi_window_slots(&dst->geometry), active = blyi_window_active(dst);
    uint64_t taken = blyi_window_get(dst, BLYI_WIN_LIVE) | (uint64_t)1 << active, wanted = 0;
    for (unsigned i = 0; i < slots; i++) {
        uint64_t ordinal = blyi_window_ordinal_of(src, i);
        to[i] = active;
        if (!is_wanted(dst, src, i))
            continue;
        unsigned slot = slot_with(dst, ordinal);
        for (unsigned j = 0; slot == slots && j < slots; j++)
            slot = taken >> j & 1 ? slots : j;
        if (slot == slots)
            continue;
        to[i] = slot;
        taken |= (uint64_t)1 << slot;
        wanted |= (uint64_t)1 << i;
    }
    return wanted;
}

/* The slots of a line that count. */
static uint64_t kept(const bly_filter *f, const uint8_t *line) {
    uint64_t active = (uint64_t)1 << blyi_window_active(f);
    return blyi_window_get(f, BLYI_WIN_LIVE) & ~(blyi_window_swept(f, line) ? 0 : active);
}

/* Of dst the slots in `keep` and what `from`'s slots bring; what other slots still had is gone, so
 * the line is swept. */
static void unite_line(uint8_t *dst, uint64_t keep, const uint8_t *src, uint64_t bring,
                       const unsigned *to, unsigned slots, unsigned phase) {
    uint64_t words[8] = {0};
    for (unsigned place = 0; place < blyi_window_places(slots); place++) {
        uint64_t have = blyi_window_moved(blyi_position_slots(dst, place, slots) & keep,
                                          blyi_position_slots(src, place, slots) & bring, to);
        unsigned bit = place * slots;
        words[bit / 64] |= have << bit % 64;
        if (bit % 64 + slots > 64)
            words[bit / 64 + 1] |= have >> (64 - bit % 64);
    }
    words[7] |= (uint64_t)phase << 63;
    for (unsigned j = 0; j < 8; j++)
        blyi_store64le(dst + (size_t)8 * j, words[j]);
}

/* A generation then counts as many keys as the one of the two that has more: a lower bound, since a
 * window by number that took itself for fuller than it is would forget too early. */
static void unite_keys(bly_filter *dst, const bly_filter *src, const unsigned *to,
                       uint64_t wanted) {
    unsigned slots = blyi_window_slots(&dst->geometry);
    uint64_t most = blyi_window_most_keys(&dst->geometry) - 1;
    for (unsigned i = 0; i < slots; i++) {
        if (!(wanted >> i & 1))
            continue;
        uint64_t ours = blyi_window_keys_in(dst, to[i]), keys = blyi_window_keys_in(src, i);
        keys = keys < most ? keys : most;
        blyi_window_set_keys(dst, to[i], keys > ours ? keys : ours, blyi_window_ordinal_of(src, i));
    }
    dst->items = 0;
    for (unsigned i = 0; i < slots; i++)
        dst->items += blyi_window_keys_in(dst, i);
}

/* Of arrivals it counts as many too as the one of the two that had more, up to its quota. */
static void unite_arrivals(bly_filter *dst, uint64_t arrivals) {
    uint64_t quota = blyi_window_quota(dst->capacity, blyi_window_generations(&dst->geometry));
    uint64_t keys = blyi_window_keys_in(dst, blyi_window_active(dst));
    arrivals = arrivals < quota ? arrivals : quota;
    blyi_window_set(dst, BLYI_WIN_REPEATS, keys && arrivals > keys ? arrivals - keys : 0);
}

static void unite_lines(bly_filter *dst, const bly_filter *src, uint64_t bring,
                        const unsigned *to) {
    unsigned slots = blyi_window_slots(&dst->geometry);
    unsigned phase = (unsigned)blyi_window_get(dst, BLYI_WIN_STATE) & BLYI_WIN_PHASE;
    uint64_t lines = blyi_window_lines(&dst->geometry);
    uint8_t *into = blyi_window_body(dst);
    const uint8_t *from = blyi_window_body(src);
    for (uint64_t i = 0; i < lines; i++, into += 64, from += 64)
        unite_line(into, kept(dst, into), from, kept(src, from) & bring, to, slots, phase);
    blyi_window_set(dst, BLYI_WIN_CURSOR, lines);
}

bly_status blyi_window_unite(bly_filter *dst, const bly_filter *src) {
    unsigned to[BLYI_WIN_MAX_SLOTS];
    uint64_t now = blyi_window_get(src, BLYI_WIN_NOW);
    if (dst == src)
        return BLY_OK;
    uint64_t ours = blyi_window_active_arrivals(dst), theirs = blyi_window_active_arrivals(src);
    uint64_t wanted = match(dst, src, to);
    if (blyi_window_is_small(&dst->geometry))
        blyi_window_small_unite(dst, src, wanted, to);
    else
        unite_lines(dst, src, wanted, to);
    unite_keys(dst, src, to, wanted);
    if (blyi_window_by_number(dst))
        unite_arrivals(dst, ours > theirs ? ours : theirs);
    else if (now > blyi_window_get(dst, BLYI_WIN_NOW))
        blyi_window_set(dst, BLYI_WIN_NOW, now);
    dst->approximate |= src->approximate;
    return BLY_OK;
}
