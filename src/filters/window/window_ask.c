/* Asking a window about many keys.
 *
 * Every key needs its first two lines, and few strangers any other. So a group of keys departs (is
 * hashed, and its first lines are requested), and arrives when others have departed, so that
 * nothing is waited for. The keys that its lines leave in question queue up until there are as many
 * as a group; then their other lines are requested, and when the next such group is complete, they
 * are settled. How many keys of a group are left is anyone's guess, so nothing branches on it.
 *
 * Keys that are there need all their lines. They tend to come together, as repeats do; so a group
 * that departs after one in which most keys were left requests all its lines at once, and is
 * settled when it arrives. What is requested is thus a guess; what is answered is not.
 */
#include "../../core/xxh3.h"
#include "../batch.h"
#include "window_walk.h"

enum {
    GROUP = 8, /* keys; the lines of all their parts are about as many as a core can wait for */
    MOST_SPOTS = GROUP * BLYI_WIN_MOST_PARTS
};

/* What all of it needs. */
typedef struct desk {
    view v;
    const blyi_places *p;
    const blyi_kernels *kernels;
    uint8_t *found; /* or NULL */
} desk;

/* Keys whose lines are under way. */
typedef struct group {
    size_t first;   /* the number of the first key */
    unsigned parts; /* requested */
    bly_hash h[GROUP];
    blyi_spot spots[MOST_SPOTS]; /* of all in one part, then of all in the next */
} group;

/* Keys in question: which they are, and the slots that may have them. */
typedef struct queue {
    size_t n;
    struct {
        bly_hash h;
        uint64_t where;
        size_t number;
    } keys[2 * GROUP];
} queue;

/* Such keys, their other lines under way. */
typedef struct question {
    size_t n;
    size_t number[GROUP];
    uint64_t where[GROUP];
    blyi_spot spots[MOST_SPOTS];
} question;

/* For each of n keys the slots that have it in all of so many parts; the active one only if it is
 * swept there. */
INLINE void look(const desk *d, const blyi_spot *spots, size_t n, unsigned parts, uint64_t *where) {
    d->kernels->places(d->v.body, spots, parts * n, d->p, where);
    if (!d->v.swept)
        for (size_t i = 0; i < parts * n; i++)
            where[i] &= counted(&d->v, d->v.body + spots[i].at);
    for (unsigned part = 1; part < parts; part++)
        for (size_t i = 0; i < n; i++)
            where[i] &= where[part * n + i];
}

/* Requests lines of a key, one part after another; `stride` spots are between them. */
INLINE void request(const view *v, walk w, unsigned parts, blyi_spot *spots, size_t stride) {
    for (unsigned i = 0; i < parts; i++, next_part(&w)) {
        blyi_spot s = spot_of(v, &w);
        __builtin_prefetch(v->body + s.at);
        spots[i * stride] = s;
    }
}

INLINE void depart_by(const view *v, group *g, unsigned parts) {
    g->parts = parts;
    for (size_t i = 0; i < GROUP; i++)
        request(v, walk_of(g->h[i]), parts, g->spots + i, GROUP);
}

/* With the hashes in place. The usual numbers of parts have copies of their own. */
INLINE void depart(const view *v, group *g, bool all) {
    if (!all && v->parts > FETCHED)
        depart_by(v, g, FETCHED);
    else if (v->parts == 3)
        depart_by(v, g, 3);
    else
        depart_by(v, g, v->parts);
}

/* ---- keys in question ------------------------------------------------------------------------ */

INLINE size_t settle(const desk *d, const question *q, size_t n) {
    uint64_t where[MOST_SPOTS];
    size_t hits = 0;
    look(d, q->spots, n, d->v.parts - FETCHED, where);
    for (size_t i = 0; i < n; i++) {
        bool hit = where[i] & q->where[i];
        hits += hit;
        if (d->found)
            d->found[q->number[i]] = hit;
    }
    return hits;
}

/* The first n keys of a queue. */
INLINE void ask_on(const desk *d, const queue *from, size_t n, question *q) {
    for (size_t i = 0; i < n; i++) {
        walk w = walk_of(from->keys[i].h);
        for (unsigned part = 0; part < FETCHED; part++)
            next_part(&w);
        request(&d->v, w, d->v.parts - FETCHED, q->spots + i, n);
        q->number[i] = from->keys[i].number;
        q->where[i] = from->keys[i].where;
    }
    q->n = n;
}

/* Adds the keys of a group that are left; when the queue is long enough, those asked before are
 * settled, and the first of it asked about. Returns how many were found. */
INLINE size_t line_up(const desk *d, const group *g, const uint64_t *where, queue *to,
                      question *q) {
    size_t hits = 0;
    for (size_t i = 0; i < GROUP; i++) {
        to->keys[to->n].h = g->h[i];
        to->keys[to->n].where = where[i];
        to->keys[to->n].number = g->first + i;
        to->n += where[i] != 0;
    }
    if (to->n < GROUP)
        return 0;
    if (q->n)
        hits = settle(d, q, GROUP);
    ask_on(d, to, GROUP, q);
    to->n -= GROUP;
    memcpy(to->keys, to->keys + GROUP, GROUP * sizeof *to->keys);
    return hits;
}

/* What is left at the end. */
INLINE size_t close_up(const desk *d, const queue *left, question *q) {
    size_t hits = q->n ? settle(d, q, q->n) : 0;
    if (left->n == 0)
        return hits;
    ask_on(d, left, left->n, q);
    return hits + settle(d, q, q->n);
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Looks at a group. *most: whether most of its keys are there, for all that is known of them.
 * Returns how many were found, of these keys or others. */
INLINE size_t arrive(const desk *d, const group *g, queue *left, question *q, bool *most) {
    uint64_t where[MOST_SPOTS];
    uint8_t hit[GROUP];
    size_t hits = 0;
    if (g->parts == FETCHED)
        look(d, g->spots, GROUP, FETCHED, where);
    else if (g->parts == 3)
        look(d, g->spots, GROUP, 3, where);
    else
        look(d, g->spots, GROUP, g->parts, where);
    for (size_t i = 0; i < GROUP; i++) {
        where[i] &= d->v.live;
        hit[i] = where[i] != 0;
        hits += hit[i];
    }
    *most = hits > GROUP / 2;
    if (g->parts < d->v.parts) {
        memset(hit, 0, sizeof hit);
        hits = line_up(d, g, where, left, q);
    }
    if (d->found)
        memcpy(d->found + g->first, hit, sizeof hit);
    return hits;
}

/* Fewer keys than a group. */
INLINE size_t ask_few(const desk *d, const bly_hash *h, size_t n, size_t first) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = find(&d->v, d->p, h[i]) != 0;
        hits += hit;
        if (d->found)
            d->found[first + i] = hit;
    }
    return hits;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Groups that have departed and not arrived. */
enum { GROUPS = 4 };

/* The default hash is compiled into the loop, as in stream.c. */
INLINE void hash_group(const bly_filter *f, const bly_bytes *keys, bly_hash *out) {
    if (f->hasher.id != BLY_HASH_XXH3) {
        f->hasher.many(&f->hasher, keys, GROUP, out);
        return;
    }
    for (size_t i = 0; i < GROUP; i++)
        out[i] = blyi_hash_from_strong64(blyi_xxh3(&f->pad, keys[i].data, keys[i].size));
}

INLINE size_t ask_by(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found,
                     const blyi_places *p) {
    const desk d = {view_of(f, p->lanes), p, f->kernels, found};
    const size_t rest = n % GROUP, whole = n - rest;
    group ring[GROUPS];
    queue left;
    question open;
    bly_hash last[GROUP];
    size_t hits = 0, head = 0, in = 0, out = 0;
    bool most = false;
    left.n = open.n = 0;
    for (size_t tail = 0; tail < whole; tail += GROUP) {
        for (; head < whole && head - tail < GROUPS * GROUP; head += GROUP) {
            group *g = &ring[in];
            in = in + 1 < GROUPS ? in + 1 : 0;
            g->first = head;
            hash_group(f, keys + head, g->h);
            depart(&d.v, g, most);
        }
        hits += arrive(&d, &ring[out], &left, &open, &most);
        out = out + 1 < GROUPS ? out + 1 : 0;
    }
    if (rest)
        f->hasher.many(&f->hasher, keys + whole, rest, last);
    for (size_t i = 0; i < rest; i++)
        fetch(&d.v, last[i], 0, FETCHED);
    hits += close_up(&d, &left, &open);
    return hits + ask_few(&d, last, rest, whole);
}

/* The usual number of generations has a copy of its own, in which the places are constants. */
size_t blyi_window_ask(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found) {
    if (f->geometry.detail == BLYI_GENERATIONS)
        return ask_by(f, keys, n, found, &usual);
    const blyi_places p = places_of(blyi_window_slots(&f->geometry));
    return ask_by(f, keys, n, found, &p);
}

/* ---- hashes ---------------------------------------------------------------------------------- */

void blyi_window_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    view v = {
        .body = blyi_window_body(f),
        .size = f->geometry.size,
        .parts = blyi_window_parts(&f->geometry),
    };
    for (size_t i = 0; i < n; i++)
        fetch(&v, h[i], 0, FETCHED);
}

INLINE size_t contains_by(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found,
                          const blyi_places *p) {
    const desk d = {view_of(f, p->lanes), p, f->kernels, found};
    const size_t whole = n - n % GROUP;
    group g;
    queue left;
    question open;
    bool most = false;
    size_t hits = 0;
    left.n = open.n = 0;
    for (g.first = 0; g.first < whole; g.first += GROUP) {
        memcpy(g.h, h + g.first, sizeof g.h);
        depart(&d.v, &g, most);
        hits += arrive(&d, &g, &left, &open, &most);
    }
    return hits + close_up(&d, &left, &open) + ask_few(&d, h + whole, n % GROUP, whole);
}

INLINE size_t has(const bly_filter *f, bly_hash h, const blyi_places *p) {
    const view v = view_of(f, p->lanes);
    return find(&v, p, h) != 0;
}

/* A single key needs none of this. */
size_t blyi_window_contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    bool plain = f->geometry.detail == BLYI_GENERATIONS;
    if (plain && n == 1 && !found)
        return has(f, *h, &usual);
    if (plain)
        return contains_by(f, h, n, found, &usual);
    const blyi_places p = places_of(blyi_window_slots(&f->geometry));
    return n == 1 && !found ? has(f, *h, &p) : contains_by(f, h, n, found, &p);
}

uint64_t blyi_window_find(const bly_filter *f, bly_hash h) {
    const blyi_places p = places_of(blyi_window_slots(&f->geometry));
    const view v = view_of(f, p.lanes);
    return find(&v, &p, h);
}
