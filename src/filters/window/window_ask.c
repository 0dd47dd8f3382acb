/* Asking a window about many keys.
 *
 * Every key needs its first two lines, and few strangers any other. So a group of keys goes through
 * three stations, with other groups in between, so that nothing is waited for: it departs (is
 * hashed, and its first lines are requested), arrives (these lines are looked at, and for the keys
 * that they left in question the others are requested), and is settled.
 */
#include "../batch.h"
#include "window_walk.h"

/* A group of at most BLYI_GROUP keys. */
typedef struct group {
    size_t n;
    bly_hash h[BLYI_GROUP];
    blyi_spot spots[FETCHED * BLYI_GROUP]; /* of all in the first part, then of all in the second */
} group;

/* Keys of a group that are still in question, and what is known of them. */
typedef struct question {
    size_t n;
    const group *about;
    uint8_t *found; /* of the group, or NULL */
    uint8_t from[BLYI_GROUP];
    uint64_t where[BLYI_GROUP];
} question;

/* With the hashes in place. */
INLINE void depart(const view *v, group *g) {
    for (size_t i = 0; i < g->n; i++) {
        walk w = walk_of(g->h[i]);
        for (unsigned part = 0; part < FETCHED && part < v->parts; part++, next_part(&w)) {
            blyi_spot s = spot_of(v, &w);
            __builtin_prefetch(v->body + s.at);
            g->spots[part * g->n + i] = s;
        }
    }
}

INLINE void arrive(const view *v, const blyi_places *p, const blyi_kernels *kernels, const group *g,
                   uint8_t *found, question *q) {
    uint64_t where[FETCHED * BLYI_GROUP];
    size_t left = 0, second = v->parts > 1 ? g->n : 0;
    kernels->places(v->body, g->spots, g->n + second, p, where);
    for (size_t i = 0; i < g->n; i++) { /* without a branch: which are left is anyone's guess */
        q->from[left] = (uint8_t)i;
        q->where[left] = where[i] & where[second + i] & v->live;
        left += q->where[left] != 0;
        if (found)
            found[i] = 0;
    }
    for (size_t i = 0; i < left; i++)
        fetch(v, g->h[q->from[i]], FETCHED, v->parts);
    q->n = left;
    q->about = g;
    q->found = found;
}

INLINE size_t settle(const view *v, const blyi_places *p, const question *q) {
    size_t hits = 0;
    for (size_t i = 0; i < q->n; i++) {
        bool hit = look_on(v, p, q->about->h[q->from[i]], q->where[i]) != 0;
        hits += hit;
        if (q->found)
            q->found[q->from[i]] = hit;
    }
    return hits;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Groups that have departed and not arrived; one more is yet to be settled. */
enum { GROUPS = 3, RING = GROUPS + 1 };

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

INLINE size_t ask_by(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found,
                     const blyi_places *p) {
    const view v = view_of(f, p->lanes);
    group ring[RING];
    question open = {0};
    size_t hits = 0;
    for (size_t head = 0, tail = 0, out = 0, in = 0; tail < n; tail += BLYI_GROUP) {
        for (; head < n && head - tail < GROUPS * BLYI_GROUP; head += BLYI_GROUP) {
            group *g = &ring[in];
            in = in + 1 < RING ? in + 1 : 0;
            g->n = smaller(n - head, BLYI_GROUP);
            f->hasher.many(&f->hasher, keys + head, g->n, g->h);
            depart(&v, g);
        }
        hits += settle(&v, p, &open);
        arrive(&v, p, f->kernels, &ring[out], found ? found + tail : NULL, &open);
        out = out + 1 < RING ? out + 1 : 0;
    }
    return hits + settle(&v, p, &open);
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
    const view v = view_of(f, p->lanes);
    size_t hits = 0;
    for (size_t done = 0; done < n; done += BLYI_GROUP) {
        group g = {.n = smaller(n - done, BLYI_GROUP)};
        question q;
        memcpy(g.h, h + done, g.n * sizeof *h);
        depart(&v, &g);
        arrive(&v, p, f->kernels, &g, found ? found + done : NULL, &q);
        hits += settle(&v, p, &q);
    }
    return hits;
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
