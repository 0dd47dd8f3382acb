/* Measures one setting: n keys of one length at rate p. A round fills new filters, and then looks
 * keys up. All filters process a chunk of keys, in an order that rotates, before the next chunk
 * begins, so that a disturbance affects all of them. Ratios are computed per chunk. */
#include "bench.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define BIT(what) (UINT32_C(1) << (what))

enum { MAX_TASKS = MAX_RIVALS * OPS };

typedef struct task {
    rival *who;
    op what;
} task;

static const uint32_t adding = BIT(ADD_MANY) | BIT(ADD_ONE) | BIT(ADD_SHARED) | BIT(ADD_PAIR);
static const uint32_t missing = BIT(LIMIT) | BIT(HASH) | BIT(HASH_PAIR) | BIT(MISS_MANY) |
                                BIT(MISS_ONE) | BIT(MISS_SHARED) | BIT(MISS_PAIR);
static const uint32_t hitting = BIT(HIT_LIMIT) | BIT(HIT_HASH) | BIT(HIT_MANY) | BIT(HIT_ONE);

static void add_rival(setting *s, const char *name, bly_kind kind, uint32_t ops) {
    rival *r = &s->rivals[s->count++];
    memset(r, 0, sizeof *r);
    r->name = name;
    r->kind = kind;
    r->ops = ops;
}

/* Whether libbloom supports this filter: it stores the numbers of keys and of bits as int. */
static bool peer_fits(uint64_t n, double p) {
    double bits = (double)n * -log(p) / (log(2) * log(2));
    return n >= 1000 && bits < INT_MAX;
}

static void choose_rivals(setting *s, const options *opt) {
    const uint32_t single = BIT(LIMIT) | BIT(HIT_LIMIT) | BIT(ADD_MANY) | BIT(ADD_ONE) |
                            BIT(MISS_MANY) | BIT(MISS_ONE) | BIT(HIT_MANY) | BIT(HIT_ONE);
    const uint32_t threads =
        BIT(HASH_PAIR) | BIT(ADD_SHARED) | BIT(ADD_PAIR) | BIT(MISS_SHARED) | BIT(MISS_PAIR);
    bly_kind planned = bly_plan_kind(s->p);
    s->count = 0;
    add_rival(s, bly_kind_name(planned), planned,
              single | BIT(HASH) | BIT(HIT_HASH) | (pair_processors() > 1 ? threads : 0));
    for (size_t i = 0; i < opt->kind_count; i++)
        if (opt->kinds[i] != planned)
            add_rival(s, bly_kind_name(opt->kinds[i]), opt->kinds[i], single);
    s->has_peer = peer_fits(s->n, s->p);
    if (s->has_peer)
        add_rival(s, "libbloom", BLY_KIND_NONE, BIT(ADD_ONE) | BIT(MISS_ONE) | BIT(HIT_ONE));
}

/* Every filter does those of the operations `ops` that are measured for it, on the same keys.
 * `rotation` selects the operation that comes first. */
static void run_tasks(setting *s, uint32_t ops, arena *lines, const chunk *keys, size_t rotation) {
    task tasks[MAX_TASKS];
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        for (int what = 0; what < OPS; what++)
            if (s->rivals[i].ops & ops & BIT(what))
                tasks[count++] = (task){&s->rivals[i], (op)what};
    for (size_t i = 0; i < count; i++) {
        task t = tasks[(rotation + i) % count];
        rival_run(t.who, t.what, lines, keys);
    }
}

static chunk make_chunk(const keyset sets[2], uint64_t first, size_t n) {
    keys_make(&sets[0], first, n);
    return (chunk){&sets[0], &sets[1], first, n};
}

static void fill(setting *s, const keyset sets[2], size_t rotation) {
    for (size_t i = 0; i < s->count; i++)
        rival_clear(&s->rivals[i]);
    for (uint64_t at = 0; at < s->n; at += CHUNK) {
        size_t n = s->n - at < CHUNK ? (size_t)(s->n - at) : CHUNK;
        chunk keys = make_chunk(sets, at, n);
        run_tasks(s, adding, NULL, &keys, rotation++);
    }
}

static void query(setting *s, arena *lines, const keyset sets[2], uint64_t work, size_t rotation) {
    size_t n = s->n < CHUNK ? (size_t)s->n : CHUNK;
    uint64_t places = s->n / n; /* number of chunks of members */
    for (uint64_t done = 0, i = 0; done < work; done += n, i++) {
        chunk keys = make_chunk(sets, MISS_KEYS + done, n);
        run_tasks(s, missing, lines, &keys, rotation + i);
        /* Then a chunk of members; over time, chunks from all of the filter's keys. */
        keys = make_chunk(sets, i * 7919 % places * n, n);
        run_tasks(s, hitting, lines, &keys, rotation + i);
    }
}

static void end_round(setting *s) {
    for (size_t i = 0; i < s->count; i++) {
        must(rival_agrees(&s->rivals[i]), "batched, single and shared adds setting the same bits");
        rival_close(&s->rivals[i]);
    }
}

void measure(setting *s, const options *opt) {
    choose_rivals(s, opt);
    keyset sets[2] = {keys_open(s->len), keys_open(s->len)};
    for (unsigned round = 0; round < opt->rounds; round++) {
        uint64_t largest = 0;
        for (size_t i = 0; i < s->count; i++) {
            rival_open(&s->rivals[i], s->n, s->p);
            if (s->rivals[i].bytes > largest)
                largest = s->rivals[i].bytes;
        }
        arena lines = arena_open(largest);
        uint64_t fills = (opt->work + s->n - 1) / s->n;
        for (uint64_t i = 0; i < fills; i++)
            fill(s, sets, round + i);
        query(s, &lines, sets, opt->work, round);
        arena_close(&lines);
        end_round(s);
    }
    keys_close(&sets[0]);
    keys_close(&sets[1]);
}
