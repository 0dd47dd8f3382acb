/* Small windows: a table of columns.
 *
 * A window of a thousand keys takes two kilobytes. What makes a large one fast costs a small one
 * too much: fields for sweeping, a few hundred bytes; lines that fill unevenly; parts of whole
 * lines. So a small window has only a short heading and `size` columns of s + 1 bits, one bit for
 * each slot. Each slot is a plain Bloom filter of `size` bits, and all slots lie side by side, as
 * in a large window: the AND of a key's k columns, anywhere in the table, is the set of the slots
 * that contain the key.
 *
 * Such a table is in the cache, because it has four kilobytes at most. So the slot that a rotation
 * makes the active one is cleared immediately, in a pass over the table that takes a fraction of a
 * microsecond. There is nothing to sweep later, and no mark to test. Rotating, counting and
 * forgetting are the same as in a large window: window.c treats a small window as one without
 * lines.
 *
 * Body, all numbers little-endian:
 *
 * - a heading: the first seven fields of a large window's heading, with the cursor 0; then a word
 * for each slot, which has the last eight bits of its generation's number in the top byte, and its
 * number of keys in the others;
 *
 * - the table: column c is the bits (s+1) c .. (s+1) c + s, and bit i of it belongs to slot i.
 *
 * Column j of a key is probe j of a classic filter of `size` bits (filter/probe_sequence.h).
 *
 * So a thousand keys need about as many bits per key as a million keys in a large window
 * (docs/kinds/window.md). In a large window they would need a tenth to a fifth more.
 */
#include "filter/batch.h"
#include "filter/probe_sequence.h"
#include "kinds/window/window_layout.h"

/* What a lookup needs to know of the window, read once for many keys. */
typedef struct window_table {
    uint8_t *at;
    uint64_t size, all, live;
    size_t last; /* where the last whole word of the table begins */
    unsigned slots, hashes;
} window_table;

static inline window_table window_table_of(const bly_filter *f) {
    const bly_geometry *g = &f->geometry;
    size_t heading = (size_t)blyi_window_heading_bytes(g);
    unsigned slots = blyi_window_slots(g);
    return (window_table){
        .at = f->body + heading,
        .size = g->size,
        .all = ((uint64_t)1 << slots) - 1,
        .live = blyi_window_get_field(f, BLYI_WIN_LIVE),
        .last = (size_t)f->body_bytes - heading - 8,
        .slots = slots,
        .hashes = g->hashes,
    };
}

/* Where a column is: at which bit of the word that begins at its first byte or, near the end of the
 * table, of the table's last word. */
typedef struct window_column_position {
    uint8_t *word;
    unsigned shift;
} window_column_position;

static inline window_column_position window_column_at(const window_table *t, uint64_t column) {
    size_t bit = (size_t)column * t->slots, byte = bit / 8;
    byte = byte < t->last ? byte : t->last;
    return (window_column_position){t->at + byte, (unsigned)(bit - 8 * byte)};
}

static inline uint64_t window_get_column(const window_table *t, uint64_t column) {
    window_column_position s = window_column_at(t, column);
    return blyi_load64le(s.word) >> s.shift & t->all;
}

static inline void window_set_column(const window_table *t, uint64_t column, uint64_t slots) {
    window_column_position s = window_column_at(t, column);
    uint64_t word = blyi_load64le(s.word) & ~(t->all << s.shift);
    blyi_store64le(s.word, word | slots << s.shift);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* The slots that contain a key. Tests only after every four columns whether any slot is left: such
 * a branch is predicted correctly more often than one after each column, and a misprediction costs
 * more than reading three columns. */
static inline uint64_t window_table_lookup(const window_table *t, bly_hash h) {
    enum { AT_ONCE = 4 };
    blyi_probe_sequence w = blyi_probe_sequence_begin(h);
    uint64_t where = t->live;
    for (unsigned i = 0; where && i < t->hashes; i += AT_ONCE)
        for (unsigned j = i; j < i + AT_ONCE && j < t->hashes; j++)
            where &= window_get_column(t, blyi_probe_sequence_next(&w, t->size));
    return where;
}

static inline void window_table_add_bits(const window_table *t, bly_hash h, unsigned slot) {
    blyi_probe_sequence w = blyi_probe_sequence_begin(h);
    for (unsigned i = 0; i < t->hashes; i++) {
        size_t bit = (size_t)blyi_probe_sequence_next(&w, t->size) * t->slots + slot;
        t->at[bit / 8] |= (uint8_t)(1U << bit % 8);
    }
}

uint64_t blyi_window_small_lookup(const bly_filter *f, bly_hash h) {
    const window_table t = window_table_of(f);
    return window_table_lookup(&t, h);
}

size_t blyi_window_small_contains_hashes(const bly_filter *f, const bly_hash *h, size_t n,
                                         uint8_t *found) {
    const window_table t = window_table_of(f);
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = window_table_lookup(&t, h[i]) != 0;
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

size_t blyi_window_small_contains_keys(const bly_filter *f, const bly_bytes *keys, size_t n,
                                       uint8_t *found) {
    enum { BATCH = 32 };
    bly_hash h[BATCH];
    size_t hits = 0;
    for (size_t i = 0; i < n; i += BATCH) {
        size_t count = n - i < BATCH ? n - i : BATCH;
        blyi_batch_hash(f, keys + i, count, h);
        hits += blyi_window_small_contains_hashes(f, h, count, found ? found + i : NULL);
    }
    return hits;
}

/* Adds a key, and returns whether no generation contained it. */
static bool window_table_add_one(bly_filter *f, window_table *t, bly_hash h) {
    uint64_t where = window_table_lookup(t, h);
    bool in_active = where >> blyi_window_active(f) & 1;
    if (blyi_window_is_full(f)) {
        blyi_window_rotate(f, blyi_window_get_field(f, BLYI_WIN_ORDINAL) + 1);
        in_active = false;
    }
    if (in_active) {
        if (blyi_window_by_number(f))
            blyi_window_count_repeat(f);
        return false;
    }
    window_table_add_bits(t, h, blyi_window_active(f));
    blyi_window_count(f);
    t->live = blyi_window_get_field(f, BLYI_WIN_LIVE);
    return where == 0;
}

bly_status blyi_window_small_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                      bly_batch_result *sum) {
    window_table t = window_table_of(f);
    for (size_t i = 0; i < n; i++) {
        bool is_new = window_table_add_one(f, &t, h[i]);
        sum->changed += is_new;
        if (added)
            added[i] = is_new;
    }
    sum->done += n;
    return BLY_OK;
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* The slot's bits repeat after s + 1 words, which are a whole number of columns. */
void blyi_window_small_clear_slot(bly_filter *f, unsigned slot) {
    const window_table t = window_table_of(f);
    uint64_t mask[BLYI_WIN_MAX_SLOTS] = {0};
    size_t bytes = t.last + 8;
    for (unsigned bit = slot; bit < 64 * t.slots; bit += t.slots)
        mask[bit / 64] |= (uint64_t)1 << bit % 64;
    for (size_t at = 0; at < bytes;)
        for (unsigned i = 0; i < t.slots && at < bytes; i++, at += 8)
            blyi_store64le(t.at + at, blyi_load64le(t.at + at) & ~mask[i]);
}

void blyi_window_small_count_bits(const bly_filter *f, uint64_t *set) {
    const window_table t = window_table_of(f);
    for (uint64_t c = 0; c < t.size; c++) {
        uint64_t column = window_get_column(&t, c) & t.live;
        for (; column; column &= column - 1)
            set[__builtin_ctzll(column)]++;
    }
}

bool blyi_window_small_slot_is_clear(const blyi_shape *shape, const uint8_t *body, unsigned slot) {
    const bly_geometry *g = &shape->geometry;
    const uint8_t *at = body + blyi_window_heading_bytes(g);
    unsigned stray = 0;
    for (uint64_t c = 0; c < g->size; c++) {
        size_t bit = (size_t)c * blyi_window_slots(g) + slot;
        stray |= at[bit / 8] >> bit % 8 & 1;
    }
    return stray == 0;
}

void blyi_window_small_union(bly_filter *dst, const bly_filter *src, uint64_t bring,
                             const unsigned *to) {
    const window_table into = window_table_of(dst), from = window_table_of(src);
    for (uint64_t c = 0; c < into.size; c++)
        window_set_column(&into, c,
                          blyi_window_move_slots(window_get_column(&into, c) & into.live,
                                                 window_get_column(&from, c) & from.live & bring,
                                                 to));
}
