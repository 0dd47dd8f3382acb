/* Looks up many keys at once in a window, by a prefetch pipeline.
 *
 * Every key needs its first two lines, and few non-members need more. So 32 keys are in flight: a
 * key is hashed, its first lines are prefetched, and its places in them are computed. When all 32
 * entries of the pipeline have been filled again, the lines are there and the key is tested. A key
 * that is not ruled out by its first lines is pending: its other lines are prefetched then, and
 * tested one round later.
 *
 * A member needs all of its lines, and members often follow each other, as repeats do. So after a
 * round in which most keys were not ruled out, the next keys prefetch three lines at once, which
 * are all their lines at the usual rates. Only the prefetching is a guess; the answers do not
 * depend on it.
 *
 * Computing takes more time than waiting: a key has nine places, each with its own word and shift.
 * The places of two lines are computed at once, in one vector, when the key enters the pipeline,
 * and testing a key and filling its entry with the next one are one loop, entry by entry, as in
 * simd/hash_probe.h. (An AVX2 kernel that computed the places of eight keys at a time, when they
 * were needed, took 1.4 times as long. Measured on Zen 3 with a window for 100,000 keys at 1%.)
 * Hashing has a separate loop: it takes as long as the rest, and in the same loop it would keep the
 * processor from running ahead to the next key.
 */
#include "filter/batch.h"
#include "kinds/window/window_layout.h"

#include <string.h>

enum {
    WINDOW_PIPELINE_KEYS = 32,      /* keys in flight at a time */
    WINDOW_PIPELINE_MAX_LINES = 3,  /* the most lines of a key in flight */
    WINDOW_PIPELINE_MAX_SLOTS = 16, /* the most slots in this pipeline: sets have 16 bits */
};

/* What every step of a batch needs. */
typedef struct window_pipeline {
    blyi_window_view v;
    const blyi_window_places *p;
    bool half; /* hashes come as their first word only, from which the other follows */
} window_pipeline;

/* A key in flight: its lines, which are being loaded, and its places in them. */
typedef struct window_pipeline_entry {
    const uint8_t *line[WINDOW_PIPELINE_MAX_LINES];
    uint16_t place[WINDOW_PIPELINE_MAX_LINES * BLYI_WIN_QUARTERS];
} window_pipeline_entry;

/* A batch of keys (`hashes` is NULL) or of hashes (`keys` is NULL). */
typedef struct window_pipeline_batch {
    const bly_filter *f;
    const bly_bytes *keys;
    const bly_hash *hashes;
    size_t n;
    uint8_t *found; /* or NULL */
} window_pipeline_batch;

/* The pending keys: those that were not ruled out by their first lines, and whose other lines are
 * being loaded. For each its hash, the slots that may contain it, and its number in the batch. */
typedef struct window_pipeline_pending {
    size_t n;
    unsigned lines; /* how many lines of each key have been tested */
    bly_hash h[WINDOW_PIPELINE_KEYS];
    uint16_t where[WINDOW_PIPELINE_KEYS];
    size_t number[WINDOW_PIPELINE_KEYS];
} window_pipeline_pending;

BLYI_WIN_INLINE window_pipeline window_pipeline_of(const window_pipeline_batch *b,
                                                   const blyi_window_places *p) {
    window_pipeline pl = {blyi_window_view_of(b->f, p->lanes), p,
                          b->keys && b->f->hasher.id == BLY_HASH_XXH3};
    /* Drops bits that belong to no slot, which a damaged mapped file may have set: at these
     * positions, a word that is read has bits of the next place. */
    pl.v.live &= ((uint64_t)1 << p->slots) - 1;
    return pl;
}

/* Returns the whole hash. If only its first word was stored, computes the other one here, because
 * reading it from memory would take longer. */
BLYI_WIN_INLINE bly_hash window_pipeline_complete_hash(const window_pipeline *pl, bly_hash h) {
    return pl->half ? blyi_hash_from_strong64(h.lo) : h;
}

/* ---- keys in flight -------------------------------------------------------------------------- */

/* Prefetches the next line of a key and returns it. Sets *y to the bits that choose the places in
 * it. */
BLYI_WIN_INLINE const uint8_t *window_pipeline_prefetch_line(const window_pipeline *pl,
                                                             blyi_window_probe *w, uint64_t *y) {
    const uint8_t *line = blyi_window_probe_line(&pl->v, w);
    blyi_prefetch_to_read(line);
    *y = w->y;
    blyi_window_probe_next(w);
    return line;
}

BLYI_WIN_INLINE void window_pipeline_fill_entry(const window_pipeline *pl, bly_hash h,
                                                window_pipeline_entry *e, unsigned lines) {
    uint64_t y[WINDOW_PIPELINE_MAX_LINES] = {0};
    blyi_window_probe w = blyi_window_probe_begin(h);
    e->line[0] = window_pipeline_prefetch_line(pl, &w, y);
    if (lines > 1)
        e->line[1] = window_pipeline_prefetch_line(pl, &w, y + 1);
    blyi_window_u16x8 both = blyi_window_place_pair(pl->p, y[0], y[1]);
    memcpy(e->place, &both, sizeof both);
    if (lines > 2) {
        e->line[2] = window_pipeline_prefetch_line(pl, &w, y + 2);
        both = blyi_window_place_pair(pl->p, y[2], 0);
        memcpy(e->place + 2 * BLYI_WIN_QUARTERS, &both, sizeof both / 2);
    }
}

/* The slots that have all of the key's bits in its first `lines` lines. The active slot is included
 * only if these lines are swept. */
BLYI_WIN_INLINE uint64_t window_pipeline_test_entry(const window_pipeline *pl,
                                                    const window_pipeline_entry *e,
                                                    unsigned lines) {
    uint64_t where = pl->v.live;
    for (unsigned i = 0; i < lines; i++) {
        const uint16_t *at = e->place + (size_t)i * BLYI_WIN_QUARTERS;
        where &= blyi_window_read_place(e->line[i], at[blyi_window_quarter_of(0)], pl->p->slots);
        where &= blyi_window_read_place(e->line[i], at[blyi_window_quarter_of(1)], pl->p->slots);
        if (pl->p->lanes > 2)
            where &=
                blyi_window_read_place(e->line[i], at[blyi_window_quarter_of(2)], pl->p->slots);
        if (!pl->v.swept)
            where &= blyi_window_valid_slots(&pl->v, e->line[i]);
    }
    return where;
}

#define WINDOW_PIPELINE_NOINLINE static __attribute__((noinline))

WINDOW_PIPELINE_NOINLINE void window_pipeline_test(const window_pipeline *pl,
                                                   const window_pipeline_entry *e, size_t n,
                                                   unsigned lines, uint16_t *where) {
    for (size_t i = 0; i < n; i++)
        where[i] = (uint16_t)window_pipeline_test_entry(pl, e + i, lines);
}

WINDOW_PIPELINE_NOINLINE void window_pipeline_fill(const window_pipeline *pl, bly_hash *h, size_t n,
                                                   window_pipeline_entry *e, unsigned lines) {
    for (size_t i = 0; i < n; i++) {
        h[i] = window_pipeline_complete_hash(pl, h[i]);
        window_pipeline_fill_entry(pl, h[i], e + i, lines);
    }
}

/* Tests the keys in flight and fills their entries with the next keys, entry by entry. Completes
 * the hashes in h, unless `lines` are all of a key's lines, so that no key will be pending. */
BLYI_WIN_INLINE void window_pipeline_round_with(const window_pipeline *pl, window_pipeline_entry *e,
                                                unsigned lines, uint16_t *where, bly_hash *h) {
    const window_pipeline here = *pl;
    for (size_t i = 0; i < WINDOW_PIPELINE_KEYS; i++) {
        bly_hash next = window_pipeline_complete_hash(&here, h[i]);
        where[i] = (uint16_t)window_pipeline_test_entry(&here, e + i, lines);
        if (lines < here.v.parts)
            h[i].hi = next.hi;
        window_pipeline_fill_entry(&here, next, e + i, lines);
    }
}

/* The usual cases are compiled separately: all lines are swept, the number of slots is the default,
 * hashes come as first words, and a key prefetches two of its lines, or all three. */
BLYI_WIN_INLINE window_pipeline window_pipeline_default(const window_pipeline *pl) {
    window_pipeline u = {pl->v, &blyi_window_default_places, true};
    u.v.swept = true;
    u.v.parts = 3;
    return u;
}

WINDOW_PIPELINE_NOINLINE void window_pipeline_round_two(const window_pipeline *pl,
                                                        window_pipeline_entry *e, uint16_t *where,
                                                        bly_hash *h) {
    const window_pipeline u = window_pipeline_default(pl);
    window_pipeline_round_with(&u, e, 2, where, h);
}

WINDOW_PIPELINE_NOINLINE void window_pipeline_round_three(const window_pipeline *pl,
                                                          window_pipeline_entry *e, uint16_t *where,
                                                          bly_hash *h) {
    const window_pipeline u = window_pipeline_default(pl);
    window_pipeline_round_with(&u, e, 3, where, h);
}

static void window_pipeline_round(const window_pipeline *pl, window_pipeline_entry *e,
                                  unsigned lines, uint16_t *where, bly_hash *h) {
    bool is_usual = pl->p->slots == BLYI_WIN_DEFAULT_SLOTS && pl->v.swept && pl->half;
    if (is_usual && lines == 2 && pl->v.parts > 2)
        window_pipeline_round_two(pl, e, where, h);
    else if (is_usual && lines == 3 && pl->v.parts == 3)
        window_pipeline_round_three(pl, e, where, h);
    else
        window_pipeline_round_with(pl, e, lines, where, h);
}

/* ---- pending keys ---------------------------------------------------------------------------- */

BLYI_WIN_INLINE blyi_window_probe window_pipeline_other_lines(bly_hash h, unsigned lines) {
    blyi_window_probe w = blyi_window_probe_begin(h);
    while (w.part < lines)
        blyi_window_probe_next(&w);
    return w;
}

/* Tests the other lines of the pending keys. Returns the number of keys found. */
BLYI_WIN_INLINE size_t window_pipeline_finish_pending(const window_pipeline *pl,
                                                      const window_pipeline_pending *q,
                                                      uint8_t *found) {
    size_t hits = 0;
    for (size_t i = 0; i < q->n; i++) {
        uint64_t where = q->where[i];
        for (blyi_window_probe w = window_pipeline_other_lines(q->h[i], q->lines);
             w.part < pl->v.parts; blyi_window_probe_next(&w)) {
            const uint8_t *line = blyi_window_probe_line(&pl->v, &w);
            where &= blyi_window_read_places(line, w.y, pl->p);
            if (!pl->v.swept)
                where &= blyi_window_valid_slots(&pl->v, line);
        }
        hits += where != 0;
        if (found)
            found[q->number[i]] = where != 0;
    }
    return hits;
}

/* Makes those of n keys pending that are not ruled out, and prefetches their other lines. `first`
 * is the number of the first key in the batch. Which keys are pending is unpredictable, so the loop
 * has no branch for it. */
BLYI_WIN_INLINE void window_pipeline_collect_pending(const window_pipeline *pl, const bly_hash *h,
                                                     const uint16_t *where, size_t n, size_t first,
                                                     unsigned lines, window_pipeline_pending *q) {
    q->n = 0;
    q->lines = lines;
    for (size_t i = 0; i < n; i++) {
        q->h[q->n] = h[i];
        q->where[q->n] = where[i];
        q->number[q->n] = first + i;
        q->n += where[i] != 0;
    }
    for (size_t i = 0; i < q->n; i++)
        for (blyi_window_probe w = window_pipeline_other_lines(q->h[i], lines);
             w.part < pl->v.parts; blyi_window_probe_next(&w))
            blyi_prefetch_to_read(blyi_window_probe_line(&pl->v, &w));
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Copies or computes the hashes of n keys from `at` on, or with `half` only their first words. */
BLYI_WIN_INLINE void window_pipeline_hash_keys(const window_pipeline_batch *b, bool half, size_t at,
                                               size_t n, bly_hash *out) {
    if (!b->keys)
        memcpy(out, b->hashes + at, n * sizeof *out);
    else if (!half)
        blyi_batch_hash(b->f, b->keys + at, n, out);
    else
        blyi_batch_hash_first(b->f, b->keys + at, n, out);
}

/* Sets found[i] to whether key i of n is not ruled out. Returns how many are not. */
BLYI_WIN_INLINE size_t window_pipeline_report(const uint16_t *restrict where, size_t n,
                                              uint8_t *restrict found) {
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        found[i] = where[i] != 0;
        sum += where[i] != 0;
    }
    return sum;
}

/* Looks up a batch in a window with too many slots for the pipeline: prefetches the first lines of
 * up to 32 keys, looks up these keys, and continues with the next ones. */
static size_t window_query_direct(const window_pipeline_batch *b, const blyi_window_places *p) {
    const blyi_window_view v = blyi_window_view_of(b->f, p->lanes);
    bly_hash h[WINDOW_PIPELINE_KEYS];
    size_t hits = 0;
    for (size_t at = 0, some; at < b->n; at += some) {
        some = blyi_min_size(b->n - at, WINDOW_PIPELINE_KEYS);
        window_pipeline_hash_keys(b, false, at, some, h);
        for (size_t i = 0; i < some; i++)
            blyi_window_prefetch_parts(&v, h[i], 0, BLYI_WIN_PREFETCHED);
        for (size_t i = 0; i < some; i++) {
            bool hit = blyi_window_lookup_in(&v, p, h[i]) != 0;
            hits += hit;
            if (b->found)
                b->found[at + i] = hit;
        }
    }
    return hits;
}

static size_t window_query_pipelined(const window_pipeline_batch *request,
                                     const blyi_window_places *p) {
    const window_pipeline_batch b = *request;
    const window_pipeline pl = window_pipeline_of(&b, p);
    const unsigned few = pl.v.parts < BLYI_WIN_PREFETCHED ? pl.v.parts : BLYI_WIN_PREFETCHED;
    const unsigned many =
        pl.v.parts < WINDOW_PIPELINE_MAX_LINES ? pl.v.parts : WINDOW_PIPELINE_MAX_LINES;
    window_pipeline_entry entries[WINDOW_PIPELINE_KEYS];
    bly_hash hashes[2][WINDOW_PIPELINE_KEYS];
    uint16_t where[WINDOW_PIPELINE_KEYS];
    uint8_t unused[WINDOW_PIPELINE_KEYS];
    window_pipeline_pending q;
    size_t hits = 0, current = blyi_min_size(b.n, WINDOW_PIPELINE_KEYS), next;
    unsigned lines = few, next_lines = few, now = 0;
    bool mostly_found = false;
    q.n = 0;
    window_pipeline_hash_keys(&b, pl.half, 0, current, hashes[now]);
    window_pipeline_fill(&pl, hashes[now], current, entries, lines);
    for (size_t tail = 0; tail < b.n;
         tail += current, current = next, lines = next_lines, now = !now) {
        bly_hash *next_h = hashes[!now];
        next = blyi_min_size(b.n - tail - current, WINDOW_PIPELINE_KEYS);
        next_lines = mostly_found ? many : few;
        window_pipeline_hash_keys(&b, pl.half, tail + current, next, next_h);
        if (next == WINDOW_PIPELINE_KEYS && next_lines == lines) {
            window_pipeline_round(&pl, entries, lines, where, next_h);
        } else {
            window_pipeline_test(&pl, entries, current, lines, where);
            window_pipeline_fill(&pl, next_h, next, entries, next_lines);
        }
        size_t left = window_pipeline_report(where, current, b.found ? b.found + tail : unused);
        mostly_found = left > current / 2;
        if (lines == pl.v.parts) {
            hits += left;
        } else {
            hits += window_pipeline_finish_pending(&pl, &q, b.found);
            window_pipeline_collect_pending(&pl, hashes[now], where, current, tail, lines, &q);
        }
    }
    return hits + window_pipeline_finish_pending(&pl, &q, b.found);
}

static size_t window_query(const window_pipeline_batch *b) {
    if (b->n == 0)
        return 0;
    const blyi_window_places p = blyi_window_places_of(blyi_window_slots(&b->f->geometry));
    return p.slots > WINDOW_PIPELINE_MAX_SLOTS ? window_query_direct(b, &p)
                                               : window_query_pipelined(b, &p);
}

size_t blyi_window_contains_keys(const bly_filter *f, const bly_bytes *keys, size_t n,
                                 uint8_t *found) {
    return window_query(&(window_pipeline_batch){.f = f, .keys = keys, .n = n, .found = found});
}

/* ---- hashes ---------------------------------------------------------------------------------- */

void blyi_window_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    blyi_window_view v = {
        .first_line = blyi_window_first_line(f),
        .part_bytes = 64 * f->geometry.size,
        .parts = blyi_window_parts(&f->geometry),
    };
    for (size_t i = 0; i < n; i++)
        blyi_window_prefetch_parts(&v, h[i], 0, BLYI_WIN_PREFETCHED);
}

BLYI_WIN_INLINE size_t window_contains_one(const bly_filter *f, bly_hash h,
                                           const blyi_window_places *p) {
    const blyi_window_view v = blyi_window_view_of(f, p->lanes);
    return blyi_window_lookup_in(&v, p, h) != 0;
}

/* Looks up n hashes, a single one without the pipeline. */
size_t blyi_window_contains_hashes(const bly_filter *f, const bly_hash *h, size_t n,
                                   uint8_t *found) {
    if (n != 1 || found)
        return window_query(&(window_pipeline_batch){.f = f, .hashes = h, .n = n, .found = found});
    if (f->geometry.detail == BLYI_WIN_DEFAULT_GENERATIONS)
        return window_contains_one(f, *h, &blyi_window_default_places);
    const blyi_window_places p = blyi_window_places_of(blyi_window_slots(&f->geometry));
    return window_contains_one(f, *h, &p);
}

uint64_t blyi_window_lookup(const bly_filter *f, bly_hash h) {
    const blyi_window_places p = blyi_window_places_of(blyi_window_slots(&f->geometry));
    const blyi_window_view v = blyi_window_view_of(f, p.lanes);
    return blyi_window_lookup_in(&v, &p, h);
}
