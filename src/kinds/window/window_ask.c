/* Asking a window about many keys.
 *
 * Every key needs its first two lines, and few strangers any other. So keys take seats, 32 of them:
 * a key is hashed, its first lines are requested, and where to look in them is worked out. When all
 * seats have been taken once more, the lines are there and the key is looked for. The keys that its
 * first lines leave in question have their other lines requested then, and are settled a turn
 * later.
 *
 * Keys that are there need all their lines. They tend to come together, as repeats do; so after a
 * turn in which most keys were left, the next ones request three lines at once. (Three are all, at
 * the usual rates.) What is requested is thus a guess; what is answered is not.
 *
 * A key costs more in counting than in waiting: nine places, each with its own word and shift. The
 * places of two lines are found at once, in one vector, when the key sits down, and looking and
 * sitting down are one loop, seat by seat, as in simd/turn.h. (Places found by a kernel of AVX2
 * when they were needed, for eight keys at a time, took 1.4 times as long: measured on Zen 3, a
 * window for 100,000 keys at 1%.) Hashing is a loop of its own: it is as long as the rest, and
 * mixed with it would keep a processor from looking ahead to the next key.
 */
#include "filter/batch.h"
#include "kinds/window/window_probe_sequence.h"

#include <string.h>

enum {
    SEATS = 32,
    LINES = 3,     /* of a key that sits: at most */
    MAX_SLOTS = 16 /* of a window whose keys sit: sets of slots are kept in 16 bits */
};

/* What all of it needs. */
typedef struct desk {
    view v;
    const blyi_line_layout *p;
    bool half; /* hashes come with their first word alone, from which the other follows */
} desk;

/* A key whose lines are under way, and its places in them. */
typedef struct seat {
    const uint8_t *line[LINES];
    uint16_t place[LINES * BLYI_SLICES];
} seat;

/* What a batch is of: keys, or else their hashes. */
typedef struct batch {
    const bly_filter *f;
    const bly_bytes *keys;
    const bly_hash *hashes;
    size_t n;
    uint8_t *found; /* or NULL */
} batch;

/* Keys in question, their other lines under way: which they are, and the slots that may have
 * them. */
typedef struct question {
    size_t n;
    unsigned lines; /* that have been looked at */
    bly_hash h[SEATS];
    uint16_t where[SEATS];
    size_t number[SEATS];
} question;

INLINE desk desk_of(const batch *b, const blyi_line_layout *p) {
    desk d = {view_of(b->f, p->lanes), p, b->keys && b->f->hasher.id == BLY_HASH_XXH3};
    /* A damaged map may name others, and above a place's slots are those of the next place. */
    d.v.live &= ((uint64_t)1 << p->slots) - 1;
    return d;
}

/* The word that is missing is worked out where it is used: reading it from memory takes longer. */
INLINE bly_hash whole(const desk *d, bly_hash h) {
    return d->half ? blyi_hash_from_strong64(h.lo) : h;
}

/* ---- seats ----------------------------------------------------------------------------------- */

/* The next line of a key, requested. */
INLINE const uint8_t *request(const desk *d, walk *w, uint64_t *y) {
    const uint8_t *line = line_of(&d->v, w);
    blyi_prefetch_to_read(line);
    *y = w->y;
    next_part(w);
    return line;
}

INLINE void sit(const desk *d, bly_hash h, seat *s, unsigned lines) {
    uint64_t y[LINES] = {0};
    walk w = walk_of(h);
    s->line[0] = request(d, &w, y);
    if (lines > 1)
        s->line[1] = request(d, &w, y + 1);
    blyi_slices_of_two both = blyi_positions_of(d->p, y[0], y[1]);
    memcpy(s->place, &both, sizeof both);
    if (lines > 2) {
        s->line[2] = request(d, &w, y + 2);
        both = blyi_positions_of(d->p, y[2], 0);
        memcpy(s->place + 2 * BLYI_SLICES, &both, sizeof both / 2);
    }
}

/* The slots that have the key in all its lines so far; the active one only if it is swept there. */
INLINE uint64_t look(const desk *d, const seat *s, unsigned lines) {
    uint64_t where = d->v.live;
    for (unsigned i = 0; i < lines; i++) {
        const uint16_t *at = s->place + (size_t)i * BLYI_SLICES;
        where &= blyi_position_slots(s->line[i], at[blyi_slice_of_lane(0)], d->p->slots);
        where &= blyi_position_slots(s->line[i], at[blyi_slice_of_lane(1)], d->p->slots);
        if (d->p->lanes > 2)
            where &= blyi_position_slots(s->line[i], at[blyi_slice_of_lane(2)], d->p->slots);
        if (!d->v.swept)
            where &= counted(&d->v, s->line[i]);
    }
    return where;
}

#define OUT_OF_LINE static __attribute__((noinline))

OUT_OF_LINE void look_at(const desk *d, const seat *s, size_t n, unsigned lines, uint16_t *where) {
    for (size_t i = 0; i < n; i++)
        where[i] = (uint16_t)look(d, s + i, lines);
}

OUT_OF_LINE void sit_down(const desk *d, bly_hash *h, size_t n, seat *s, unsigned lines) {
    for (size_t i = 0; i < n; i++) {
        h[i] = whole(d, h[i]);
        sit(d, h[i], s + i, lines);
    }
}

/* Both, seat by seat. Hashes are made whole, unless these are all of a key's lines. */
INLINE void turn_as(const desk *d, seat *s, unsigned lines, uint16_t *where, bly_hash *h) {
    const desk here = *d;
    for (size_t i = 0; i < SEATS; i++) {
        bly_hash next = whole(&here, h[i]);
        where[i] = (uint16_t)look(&here, s + i, lines);
        if (lines < here.v.parts)
            h[i].hi = next.hi;
        sit(&here, next, s + i, lines);
    }
}

/* The usual cases, compiled for themselves: all is swept, there are as many slots as usual, hashes
 * come in halves, and there are two lines of more, or all three. */
INLINE desk usual_desk(const desk *d) {
    desk u = {d->v, &usual, true};
    u.v.swept = true;
    u.v.parts = 3;
    return u;
}

OUT_OF_LINE void turn_two(const desk *d, seat *s, uint16_t *where, bly_hash *h) {
    const desk u = usual_desk(d);
    turn_as(&u, s, 2, where, h);
}

OUT_OF_LINE void turn_three(const desk *d, seat *s, uint16_t *where, bly_hash *h) {
    const desk u = usual_desk(d);
    turn_as(&u, s, 3, where, h);
}

static void turn(const desk *d, seat *s, unsigned lines, uint16_t *where, bly_hash *h) {
    bool is_usual = d->p->slots == USUAL_SLOTS && d->v.swept && d->half;
    if (is_usual && lines == 2 && d->v.parts > 2)
        turn_two(d, s, where, h);
    else if (is_usual && lines == 3 && d->v.parts == 3)
        turn_three(d, s, where, h);
    else
        turn_as(d, s, lines, where, h);
}

/* ---- keys in question ------------------------------------------------------------------------ */

INLINE walk other_lines(bly_hash h, unsigned lines) {
    walk w = walk_of(h);
    while (w.part < lines)
        next_part(&w);
    return w;
}

/* Returns how many are there. */
INLINE size_t settle(const desk *d, const question *q, uint8_t *found) {
    size_t hits = 0;
    for (size_t i = 0; i < q->n; i++) {
        uint64_t where = q->where[i];
        for (walk w = other_lines(q->h[i], q->lines); w.part < d->v.parts; next_part(&w)) {
            const uint8_t *line = line_of(&d->v, &w);
            where &= blyi_line_slots(line, w.y, d->p);
            if (!d->v.swept)
                where &= counted(&d->v, line);
        }
        hits += where != 0;
        if (found)
            found[q->number[i]] = where != 0;
    }
    return hits;
}

/* Of n keys, from the number `first` on, those that are left. How many that are is anyone's guess,
 * so nothing branches on a key. */
INLINE void ask_on(const desk *d, const bly_hash *h, const uint16_t *where, size_t n, size_t first,
                   unsigned lines, question *q) {
    q->n = 0;
    q->lines = lines;
    for (size_t i = 0; i < n; i++) {
        q->h[q->n] = h[i];
        q->where[q->n] = where[i];
        q->number[q->n] = first + i;
        q->n += where[i] != 0;
    }
    for (size_t i = 0; i < q->n; i++)
        for (walk w = other_lines(q->h[i], lines); w.part < d->v.parts; next_part(&w))
            blyi_prefetch_to_read(line_of(&d->v, &w));
}

/* ---- batches --------------------------------------------------------------------------------- */

/* The hashes of n keys from `at` on, or half of them. */
INLINE void hash_keys(const batch *b, bool half, size_t at, size_t n, bly_hash *out) {
    if (!b->keys)
        memcpy(out, b->hashes + at, n * sizeof *out);
    else if (!half)
        blyi_batch_hash(b->f, b->keys + at, n, out);
    else
        blyi_batch_hash_first(b->f, b->keys + at, n, out);
}

/* How many of n keys may be there, and which. */
INLINE size_t tell(const uint16_t *restrict where, size_t n, uint8_t *restrict found) {
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        found[i] = where[i] != 0;
        sum += where[i] != 0;
    }
    return sum;
}

/* Where there are no seats: the first lines of some keys are requested, then each is looked for. */
static size_t ask_standing(const batch *b, const blyi_line_layout *p) {
    const view v = view_of(b->f, p->lanes);
    bly_hash h[SEATS];
    size_t hits = 0;
    for (size_t at = 0, some; at < b->n; at += some) {
        some = blyi_min_size(b->n - at, SEATS);
        hash_keys(b, false, at, some, h);
        for (size_t i = 0; i < some; i++)
            fetch(&v, h[i], 0, FETCHED);
        for (size_t i = 0; i < some; i++) {
            bool hit = find(&v, p, h[i]) != 0;
            hits += hit;
            if (b->found)
                b->found[at + i] = hit;
        }
    }
    return hits;
}

static size_t ask_seated(const batch *asked, const blyi_line_layout *p) {
    const batch b = *asked;
    const desk d = desk_of(&b, p);
    const unsigned few = d.v.parts < FETCHED ? d.v.parts : FETCHED;
    const unsigned many = d.v.parts < LINES ? d.v.parts : LINES;
    seat seats[SEATS];
    bly_hash hashes[2][SEATS];
    uint16_t where[SEATS];
    uint8_t unseen[SEATS];
    question q;
    size_t hits = 0, taken = blyi_min_size(b.n, SEATS), next;
    unsigned lines = few, next_lines = few, now = 0;
    bool most = false;
    q.n = 0;
    hash_keys(&b, d.half, 0, taken, hashes[now]);
    sit_down(&d, hashes[now], taken, seats, lines);
    for (size_t tail = 0; tail < b.n; tail += taken, taken = next, lines = next_lines, now = !now) {
        bly_hash *next_h = hashes[!now];
        next = blyi_min_size(b.n - tail - taken, SEATS);
        next_lines = most ? many : few;
        hash_keys(&b, d.half, tail + taken, next, next_h);
        if (next == SEATS && next_lines == lines) {
            turn(&d, seats, lines, where, next_h);
        } else {
            look_at(&d, seats, taken, lines, where);
            sit_down(&d, next_h, next, seats, next_lines);
        }
        size_t left = tell(where, taken, b.found ? b.found + tail : unseen);
        most = left > taken / 2;
        if (lines == d.v.parts) {
            hits += left;
        } else {
            hits += settle(&d, &q, b.found);
            ask_on(&d, hashes[now], where, taken, tail, lines, &q);
        }
    }
    return hits + settle(&d, &q, b.found);
}

static size_t ask(const batch *b) {
    if (b->n == 0)
        return 0;
    const blyi_line_layout p = places_of(blyi_window_slots(&b->f->geometry));
    return p.slots > MAX_SLOTS ? ask_standing(b, &p) : ask_seated(b, &p);
}

size_t blyi_window_ask(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found) {
    return ask(&(batch){.f = f, .keys = keys, .n = n, .found = found});
}

/* ---- hashes ---------------------------------------------------------------------------------- */

void blyi_window_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    view v = {
        .body = blyi_window_body(f),
        .part_bytes = 64 * f->geometry.size,
        .parts = blyi_window_parts(&f->geometry),
    };
    for (size_t i = 0; i < n; i++)
        fetch(&v, h[i], 0, FETCHED);
}

INLINE size_t has(const bly_filter *f, bly_hash h, const blyi_line_layout *p) {
    const view v = view_of(f, p->lanes);
    return find(&v, p, h) != 0;
}

/* A single key needs none of this. */
size_t blyi_window_contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    if (n != 1 || found)
        return ask(&(batch){.f = f, .hashes = h, .n = n, .found = found});
    if (f->geometry.detail == BLYI_GENERATIONS)
        return has(f, *h, &usual);
    const blyi_line_layout p = places_of(blyi_window_slots(&f->geometry));
    return has(f, *h, &p);
}

uint64_t blyi_window_find(const bly_filter *f, bly_hash h) {
    const blyi_line_layout p = places_of(blyi_window_slots(&f->geometry));
    const view v = view_of(f, p.lanes);
    return find(&v, &p, h);
}
