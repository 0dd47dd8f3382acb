/* Small windows: a table of columns.
 *
 * A window of a thousand keys is two kilobytes. What makes a large one quick costs a small one too
 * much: fields to sweep by, a few hundred bytes; lines that fill unevenly; parts of whole lines. So
 * a small window has nothing but a column of s + 1 bits, one for each slot, at each of `size`
 * places. Each slot is a plain Bloom filter of `size` bits, and they all lie side by side, as in a
 * large window: the AND of a key's k columns, anywhere in the table, is the set of the slots that
 * have the key.
 *
 * Such a table is in the cache, and four kilobytes at most. So the slot that a turn makes the
 * active one is emptied there and then, in a pass over the table that takes a fraction of a
 * microsecond; there is nothing to sweep later, and no mark to look at. Turning, counting and
 * forgetting are the large window's (window.c), to which this is one without lines.
 *
 * Body, all numbers little-endian:
 *
 * - a heading: the first seven fields of a large window's, the cursor 0; then a word for each slot,
 *   its keys, and in the top byte the last eight bits of its generation's number;
 *
 * - the table: column c is the bits (s+1) c .. (s+1) c + s, and bit i of it belongs to slot i.
 *
 * Column j of a key is probe j of a classic filter of `size` bits (walk.h).
 *
 * Bits per key at n = 1000 and 1% / 0.1% / 0.01% with s = 8: 17.2 / 22.6 / 28.3. A large window has
 * 20.5 / 25.6 / 33.3.
 */
#include "kinds/window/window_small.h"
#include "filter/batch.h"
#include "filter/probe_sequence.h"

/* What a question needs, read once for many. */
typedef struct table {
    uint8_t *at;
    uint64_t size, all, live;
    size_t last; /* where the last whole word of the table begins */
    unsigned slots, hashes;
} table;

static inline table table_of(const bly_filter *f) {
    const bly_geometry *g = &f->geometry;
    size_t heading = (size_t)blyi_window_heading(g);
    unsigned slots = blyi_window_slots(g);
    return (table){
        .at = f->body + heading,
        .size = g->size,
        .all = ((uint64_t)1 << slots) - 1,
        .live = blyi_window_get(f, BLYI_WIN_LIVE),
        .last = (size_t)f->body_bytes - heading - 8,
        .slots = slots,
        .hashes = g->hashes,
    };
}

/* A column is read in the word that begins at its first byte, or in the last word of all. */
typedef struct spot {
    uint8_t *word;
    unsigned shift;
} spot;

static inline spot spot_of(const table *t, uint64_t column) {
    size_t bit = (size_t)column * t->slots, byte = bit / 8;
    byte = byte < t->last ? byte : t->last;
    return (spot){t->at + byte, (unsigned)(bit - 8 * byte)};
}

static inline uint64_t column_of(const table *t, uint64_t column) {
    spot s = spot_of(t, column);
    return blyi_load64le(s.word) >> s.shift & t->all;
}

static inline void set_column(const table *t, uint64_t column, uint64_t slots) {
    spot s = spot_of(t, column);
    uint64_t word = blyi_load64le(s.word) & ~(t->all << s.shift);
    blyi_store64le(s.word, word | slots << s.shift);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Some columns are read before it is asked whether a slot is left: that can be foretold more often
 * than for each of them, and a wrong guess costs more than reading three columns. */
static inline uint64_t find(const table *t, bly_hash h) {
    enum { AT_ONCE = 4 };
    blyi_probe_sequence w = blyi_probe_sequence_begin(h);
    uint64_t where = t->live;
    for (unsigned i = 0; where && i < t->hashes; i += AT_ONCE)
        for (unsigned j = i; j < i + AT_ONCE && j < t->hashes; j++)
            where &= column_of(t, blyi_probe_sequence_next(&w, t->size));
    return where;
}

static inline void put_bits(const table *t, bly_hash h, unsigned slot) {
    blyi_probe_sequence w = blyi_probe_sequence_begin(h);
    for (unsigned i = 0; i < t->hashes; i++) {
        size_t bit = (size_t)blyi_probe_sequence_next(&w, t->size) * t->slots + slot;
        t->at[bit / 8] |= (uint8_t)(1U << bit % 8);
    }
}

uint64_t blyi_window_small_find(const bly_filter *f, bly_hash h) {
    const table t = table_of(f);
    return find(&t, h);
}

size_t blyi_window_small_contains(const bly_filter *f, const bly_hash *h, size_t n,
                                  uint8_t *found) {
    const table t = table_of(f);
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = find(&t, h[i]) != 0;
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

size_t blyi_window_small_ask(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found) {
    enum { GROUP = 32 };
    bly_hash h[GROUP];
    size_t hits = 0;
    for (size_t i = 0; i < n; i += GROUP) {
        size_t some = n - i < GROUP ? n - i : GROUP;
        blyi_batch_hash(f, keys + i, some, h);
        hits += blyi_window_small_contains(f, h, some, found ? found + i : NULL);
    }
    return hits;
}

/* Returns whether no generation had the key. */
static bool put_one(bly_filter *f, table *t, bly_hash h) {
    uint64_t where = find(t, h);
    bool in_active = where >> blyi_window_active(f) & 1;
    if (blyi_window_is_full(f)) {
        blyi_window_turn(f, blyi_window_get(f, BLYI_WIN_ORDINAL) + 1);
        in_active = false;
    }
    if (in_active) {
        if (blyi_window_by_number(f))
            blyi_window_count_repeat(f);
        return false;
    }
    put_bits(t, h, blyi_window_active(f));
    blyi_window_count(f);
    t->live = blyi_window_get(f, BLYI_WIN_LIVE);
    return where == 0;
}

bly_status blyi_window_small_put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                 bly_tally *sum) {
    table t = table_of(f);
    for (size_t i = 0; i < n; i++) {
        bool is_new = put_one(f, &t, h[i]);
        sum->fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    sum->done += n;
    return BLY_OK;
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* The slot's bits are the same in every (s+1)-th word: after s + 1 words whole columns are over. */
void blyi_window_small_empty(bly_filter *f, unsigned slot) {
    const table t = table_of(f);
    uint64_t mask[BLYI_WIN_MAX_SLOTS] = {0};
    size_t bytes = t.last + 8;
    for (unsigned bit = slot; bit < 64 * t.slots; bit += t.slots)
        mask[bit / 64] |= (uint64_t)1 << bit % 64;
    for (size_t at = 0; at < bytes;)
        for (unsigned i = 0; i < t.slots && at < bytes; i++, at += 8)
            blyi_store64le(t.at + at, blyi_load64le(t.at + at) & ~mask[i]);
}

void blyi_window_small_tally(const bly_filter *f, uint64_t *set) {
    const table t = table_of(f);
    for (uint64_t c = 0; c < t.size; c++) {
        uint64_t column = column_of(&t, c) & t.live;
        for (; column; column &= column - 1)
            set[__builtin_ctzll(column)]++;
    }
}

bool blyi_window_small_clean(const blyi_shape *shape, const uint8_t *body, unsigned slot) {
    const bly_geometry *g = &shape->geometry;
    const uint8_t *at = body + blyi_window_heading(g);
    unsigned stray = 0;
    for (uint64_t c = 0; c < g->size; c++) {
        size_t bit = (size_t)c * blyi_window_slots(g) + slot;
        stray |= at[bit / 8] >> bit % 8 & 1;
    }
    return stray == 0;
}

void blyi_window_small_unite(bly_filter *dst, const bly_filter *src, uint64_t bring,
                             const unsigned *to) {
    const table into = table_of(dst), from = table_of(src);
    for (uint64_t c = 0; c < into.size; c++)
        set_column(&into, c,
                   blyi_window_moved(column_of(&into, c) & into.live,
                                     column_of(&from, c) & from.live & bring, to));
}
