/* fuzz_ops.c - bytes as a program, run on filters and on exact sets side by side.
 *
 * Four filters, 256 possible keys. After every operation no key of a set may be missing from its
 * filter, batches must answer as single calls do, and as long as nothing was intersected a filter
 * must equal, bit for bit, one built anew from the keys of its set: after unions, folds, clones
 * and trips through bytes alike.
 */
#include <bloomery/bloomery.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4, KEYS = 256, MAX_BATCH = 70, MAX_OPS = 120 };

typedef struct slot {
    bly_filter *filter; /* NULL: nothing there */
    bool in[KEYS];
    bool exact; /* the filter is that of the set, and not an intersection */
} slot;

typedef struct program {
    const uint8_t *at, *end;
} program;

static slot slots[SLOTS];
static char names[KEYS][16];
static bly_bytes keys[KEYS];

static void demand(bool truth) {
    if (!truth)
        __builtin_trap();
}

static unsigned take(program *p) {
    return p->at < p->end ? *p->at++ : 0;
}

static slot *take_slot(program *p) {
    return &slots[take(p) % SLOTS];
}

/* ---- what must hold -------------------------------------------------------------------------- */

static bly_filter *rebuilt(const slot *s) {
    bly_stats stats;
    bly_filter *f;
    bly_filter_stats(s->filter, &stats);
    bly_spec spec = {
        .geometry = bly_filter_geometry(s->filter),
        .capacity = stats.capacity,
        .fpr = stats.target_fpr,
        .hasher = *bly_filter_hasher(s->filter),
        .allow_weak_hash = true,
    };
    if (bly_filter_create(&spec, &f) != BLY_OK)
        return NULL;
    for (int i = 0; i < KEYS; i++)
        if (s->in[i])
            demand(bly_filter_add(f, keys[i].data, keys[i].size, NULL) == BLY_OK);
    return f;
}

static void check(const slot *s) {
    if (!s->filter)
        return;
    for (int i = 0; i < KEYS; i++)
        demand(!s->in[i] || bly_filter_contains(s->filter, keys[i].data, keys[i].size));
    if (!s->exact)
        return;
    bly_filter *f = rebuilt(s);
    demand(!f || bly_filter_equal(f, s->filter));
    bly_filter_destroy(f);
}

/* ---- operations ------------------------------------------------------------------------------ */

static bly_hash custom(void *user, const void *key, size_t len) {
    (void)user;
    uint64_t h = 1469598103934665603U;
    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const uint8_t *)key)[i]) * 1099511628211U;
    return (bly_hash){h * 0x9E3779B97F4A7C15U, h * 0xf1357aea2e62a9c5U};
}

static bly_hasher take_hasher(program *p) {
    static const bly_hash_id ids[] = {BLY_HASH_XXH3, BLY_HASH_XXH3_128, BLY_HASH_MURMUR3,
                                      BLY_HASH_FNV1A_32};
    const uint8_t secret[16] = {0};
    bly_hasher h = {0};
    unsigned choice = take(p) % 8;
    bly_status status = choice == 7   ? bly_hasher_keyed(&h, secret)
                        : choice == 6 ? bly_hasher_custom(&h, custom, NULL, 64, 1)
                                      : bly_hasher_init(&h, ids[choice % 4], choice / 4);
    return status == BLY_OK ? h : (bly_hasher){0};
}

static bly_geometry take_geometry(program *p) {
    bly_geometry g = {0};
    g.kind = (bly_kind)(1 + take(p) % 5);
    g.hashes = take(p);
    g.size = take(p);
    g.options = take(p) % 4;
    switch (g.kind) {
    case BLY_CLASSIC:
        g.hashes = 1 + g.hashes % 64;
        g.size = 64 + g.size * (1 + take(p) % 20);
        break;
    case BLY_PARTITIONED:
        g.hashes = 1 + g.hashes % 64;
        g.size = 64 * (1 + g.size % 8);
        break;
    case BLY_SBBF:
        g.hashes = 8;
        break;
    case BLY_SPLIT512:
        g.hashes = 8 + 4 * (g.hashes % 3);
        break;
    default:
        g.hashes = 2 + 2 * (g.hashes % 8);
    }
    if (g.kind != BLY_CLASSIC)
        g.options &= BLY_FOLDABLE;
    return g;
}

static void op_create(slot *s, program *p) {
    bly_spec spec = {.geometry = take_geometry(p), .allow_weak_hash = true};
    spec.sharing = (bly_sharing)(take(p) % 3);
    spec.hasher = take_hasher(p);
    if (spec.geometry.size == 0) { /* planned instead */
        spec.capacity = 1 + take(p);
        spec.fpr = (1 + take(p)) / 300.0;
    }
    bly_filter_destroy(s->filter);
    memset(s, 0, sizeof *s);
    s->exact = bly_filter_create(&spec, &s->filter) == BLY_OK;
    demand(s->exact == (s->filter != NULL));
}

static void op_add(slot *s, unsigned key) {
    bool added, known = s->in[key];
    demand(bly_filter_add(s->filter, keys[key].data, keys[key].size, &added) == BLY_OK);
    demand(!(known && added));
    s->in[key] = true;
}

static void op_add_many(slot *s, program *p) {
    bly_bytes batch[MAX_BATCH];
    bly_hash hashes[MAX_BATCH];
    uint8_t added[MAX_BATCH];
    unsigned chosen[MAX_BATCH];
    size_t n = take(p) % (MAX_BATCH + 1), fresh = 0;
    bool by_hash = take(p) & 1;
    bly_tally tally;
    bly_filter *single;
    if (bly_filter_clone(s->filter, NULL, &single) != BLY_OK)
        return;
    for (size_t i = 0; i < n; i++) {
        chosen[i] = take(p);
        batch[i] = keys[chosen[i]];
    }
    bly_hash_keys(bly_filter_hasher(s->filter), batch, n, hashes);
    demand(by_hash ? bly_filter_add_hashes(s->filter, hashes, n, added, &tally) == BLY_OK
                   : bly_filter_add_many(s->filter, batch, n, added, &tally) == BLY_OK);
    for (size_t i = 0; i < n; i++) {
        bool is_new;
        demand(bly_filter_add(single, batch[i].data, batch[i].size, &is_new) == BLY_OK);
        demand(is_new == added[i]);
        fresh += is_new;
        s->in[chosen[i]] = true;
    }
    demand(tally.done == n && tally.fresh == fresh);
    demand(bly_filter_equal(single, s->filter));
    demand(bly_filter_count(single) == bly_filter_count(s->filter));
    bly_filter_destroy(single);
}

static void op_contains_many(const slot *s, program *p) {
    bly_hash hashes[KEYS];
    uint8_t by_key[KEYS], by_hash[KEYS];
    size_t n = take(p) + 1, hits = 0;
    bly_hash_keys(bly_filter_hasher(s->filter), keys, n, hashes);
    size_t found = bly_filter_contains_many(s->filter, keys, n, by_key);
    demand(found == bly_filter_contains_hashes(s->filter, hashes, n, by_hash));
    demand(found == bly_filter_contains_many(s->filter, keys, n, NULL));
    for (size_t i = 0; i < n; i++) {
        bool one = bly_filter_contains(s->filter, keys[i].data, keys[i].size);
        demand(one == by_key[i] && one == by_hash[i]);
        demand(one == bly_filter_contains_hash(s->filter, hashes[i]));
        hits += one;
    }
    demand(found == hits);
}

static void op_union(slot *s, const slot *other) {
    if (bly_filter_union(s->filter, other->filter) != BLY_OK)
        return;
    for (int i = 0; i < KEYS; i++)
        s->in[i] = s->in[i] || other->in[i];
    s->exact = s->exact && other->exact;
}

static void op_intersect(slot *s, const slot *other) {
    bly_stats stats;
    if (bly_filter_intersect(s->filter, other->filter) != BLY_OK)
        return;
    for (int i = 0; i < KEYS; i++)
        s->in[i] = s->in[i] && other->in[i];
    s->exact = false;
    bly_filter_stats(s->filter, &stats);
    demand(stats.approximate);
}

static void op_fold(slot *s, uint64_t divisor) {
    bly_filter *folded;
    if (bly_filter_fold(s->filter, divisor, NULL, &folded) != BLY_OK)
        return;
    bly_filter_destroy(s->filter);
    s->filter = folded;
}

static void op_clear(slot *s) {
    bly_filter_clear(s->filter);
    memset(s->in, 0, sizeof s->in);
    s->exact = true;
    demand(bly_filter_count(s->filter) == 0);
    demand(bly_filter_contains_many(s->filter, keys, KEYS, NULL) == 0);
}

static void op_clone(slot *s, const slot *from) {
    bly_filter *copy;
    if (s == from || bly_filter_clone(from->filter, NULL, &copy) != BLY_OK)
        return;
    demand(bly_filter_equal(copy, from->filter));
    bly_filter_destroy(s->filter);
    *s = *from;
    s->filter = copy;
}

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

static bly_status append(void *ctx, const void *data, size_t size) {
    bytes *b = ctx;
    uint8_t *more = realloc(b->data, b->size + size);
    if (!more)
        return BLY_ENOMEM;
    b->data = more;
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return BLY_OK;
}

static void op_trip(slot *s, program *p) {
    bytes b = {NULL, 0};
    bly_filter *back;
    bly_hasher hasher = *bly_filter_hasher(s->filter);
    const bly_open_options o = {.hasher = &hasher, .sharing = (bly_sharing)(take(p) % 3)};
    demand(bly_filter_write(s->filter, append, &b) == BLY_OK);
    demand(b.size == bly_filter_file_size(s->filter));
    demand(bly_filter_parse(b.data, b.size, &o, &back) == BLY_OK);
    free(b.data);
    demand(bly_filter_equal(back, s->filter));
    demand(bly_filter_count(back) == bly_filter_count(s->filter));
    bly_filter_destroy(s->filter);
    s->filter = back;
}

static void step(program *p) {
    unsigned op = take(p) % 10;
    slot *s = take_slot(p);
    if (op == 0) {
        op_create(s, p);
        return;
    }
    if (!s->filter)
        return;
    const slot *other = op >= 4 && op <= 6 ? take_slot(p) : s;
    if (!other->filter)
        return;
    switch (op) {
    case 1:
        op_add(s, take(p));
        break;
    case 2:
        op_add_many(s, p);
        break;
    case 3:
        op_contains_many(s, p);
        break;
    case 4:
        op_union(s, other);
        break;
    case 5:
        op_intersect(s, other);
        break;
    case 6:
        op_clone(s, other);
        break;
    case 7:
        op_fold(s, take(p) % 9);
        break;
    case 8:
        op_clear(s);
        break;
    default:
        op_trip(s, p);
    }
    check(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    program p = {data, data + size};
    for (int i = 0; i < KEYS; i++) {
        int len = snprintf(names[i], sizeof names[i], "%d", i * i);
        keys[i] = (bly_bytes){names[i], (size_t)len};
    }
    keys[0].size = 0; /* the empty key */
    for (int i = 0; i < MAX_OPS && p.at < p.end; i++)
        step(&p);
    for (int i = 0; i < SLOTS; i++) {
        bly_filter_destroy(slots[i].filter);
        memset(&slots[i], 0, sizeof slots[i]);
    }
    return 0;
}
