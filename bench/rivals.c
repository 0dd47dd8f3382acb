/* The filters that are measured, and each operation. Every operation takes the same keys in the
 * same order: batches, and the bare hash beside them, from an array in memory, so that the cost of
 * fetching keys is in all of them alike; single calls, ours and the peer's, just after they were
 * made. */
#include "bench.h"

/* ---- operations on a chunk: how many keys were new, or found --------------------------------- */

static uint64_t add_many(bly_filter *f, const bly_bytes *keys, size_t n) {
    uint8_t added[BATCH];
    uint64_t fresh = 0;
    for (size_t at = 0; at < n; at += BATCH) {
        size_t some = n - at < BATCH ? n - at : BATCH;
        bly_batch_result tally;
        must(bly_filter_add_many(f, keys + at, some, added, &tally) == BLY_OK, "a batched add");
        fresh += tally.changed;
    }
    return fresh;
}

static uint64_t contains_many(bly_filter *f, const bly_bytes *keys, size_t n) {
    uint8_t found[BATCH];
    uint64_t sum = 0;
    for (size_t at = 0; at < n; at += BATCH)
        sum += bly_filter_contains_many(f, keys + at, n - at < BATCH ? n - at : BATCH, found);
    return sum;
}

static uint64_t add_one(bly_filter *f, const bly_bytes *keys, size_t n) {
    uint64_t fresh = 0, failed = 0;
    for (size_t i = 0; i < n; i++) {
        bool added = false;
        failed += bly_filter_add(f, keys[i].data, keys[i].size, &added) != BLY_OK;
        fresh += added;
    }
    must(failed == 0, "an add");
    return fresh;
}

static uint64_t contains_one(const bly_filter *f, const bly_bytes *keys, size_t n) {
    uint64_t sum = 0;
    for (const bly_bytes *key = keys; key < keys + n; key++)
        sum += bly_filter_contains(f, key->data, key->size);
    return sum;
}

static uint64_t hash_many(bly_filter *unused, const bly_bytes *keys, size_t n) {
    (void)unused;
    return limit_hash(keys, n);
}

static uint64_t peer_add(struct bloom *b, const bly_bytes *keys, size_t n) {
    uint64_t fresh = 0;
    for (size_t i = 0; i < n; i++)
        fresh += bloom_add(b, keys[i].data, (int)keys[i].size) == 0;
    return fresh;
}

static uint64_t peer_contains(struct bloom *b, const bly_bytes *keys, size_t n) {
    uint64_t sum = 0;
    for (const bly_bytes *key = keys; key < keys + n; key++)
        sum += bloom_check(b, key->data, (int)key->size) == 1;
    return sum;
}

/* ---- rivals ---------------------------------------------------------------------------------- */

static bool takes(const rival *r, op what) {
    return r->ops & (UINT32_C(1) << what);
}

static bly_filter *create(const rival *r, uint64_t n, double p, bly_sharing sharing) {
    bly_spec spec = bly_spec_for(r->kind, n, p);
    spec.sharing = sharing;
    bly_filter *f;
    must(bly_filter_create(&spec, &f) == BLY_OK, "creating a filter");
    return f;
}

void rival_open(rival *r, uint64_t n, double p) {
    if (r->kind == BLY_KIND_NONE) {
        must(bloom_init(&r->peer, (int)n, p) == 0, "creating libbloom's filter");
        r->bytes = (uint64_t)r->peer.bytes;
    } else {
        r->many = create(r, n, p, BLY_EXCLUSIVE);
        r->one = create(r, n, p, BLY_EXCLUSIVE);
        if (takes(r, ADD_SHARED)) {
            r->shared = create(r, n, p, BLY_SHARED);
            r->pair = create(r, n, p, BLY_SHARED);
        }
        bly_geometry g = bly_filter_geometry(r->many);
        r->bytes = bly_plan_bytes(&g);
    }
    rival_clear(r);
}

void rival_clear(rival *r) {
    if (r->kind == BLY_KIND_NONE) {
        must(bloom_reset(&r->peer) == 0, "clearing libbloom's filter");
        return;
    }
    bly_filter_clear(r->many);
    bly_filter_clear(r->one);
    if (r->shared) {
        bly_filter_clear(r->shared);
        bly_filter_clear(r->pair);
    }
}

void rival_close(rival *r) {
    if (r->kind == BLY_KIND_NONE)
        bloom_free(&r->peer);
    bly_filter_destroy(r->many);
    bly_filter_destroy(r->one);
    bly_filter_destroy(r->shared);
    bly_filter_destroy(r->pair);
    r->many = r->one = r->shared = r->pair = NULL;
}

bool rival_agrees(const rival *r) {
    if (r->kind == BLY_KIND_NONE)
        return true;
    if (!bly_filter_equal(r->many, r->one))
        return false;
    return !r->shared ||
           (bly_filter_equal(r->many, r->shared) && bly_filter_equal(r->many, r->pair));
}

static uint64_t run_ours(rival *r, op what, const bly_bytes *keys, size_t n) {
    switch (what) {
    case ADD_MANY:
        return add_many(r->many, keys, n);
    case ADD_ONE:
        return add_one(r->one, keys, n);
    case ADD_SHARED:
        return add_many(r->shared, keys, n);
    case ADD_PAIR:
        return pair_run(add_many, r->pair, keys, n);
    case MISS_SHARED:
        return contains_many(r->shared, keys, n);
    case MISS_PAIR:
        return pair_run(contains_many, r->shared, keys, n);
    case MISS_MANY:
    case HIT_MANY:
        return contains_many(r->many, keys, n);
    default:
        return contains_one(r->many, keys, n);
    }
}

static bool is_limit(op what) {
    return what == LIMIT || what == HIT_LIMIT;
}

static bool is_pair(op what) {
    return what == ADD_PAIR || what == MISS_PAIR || what == HASH_PAIR;
}

static bool is_single(op what) {
    return what == ADD_ONE || what == MISS_ONE || what == HIT_ONE;
}

static uint64_t perform(rival *r, op what, const bly_bytes *keys, size_t n) {
    if (what == HASH || what == HIT_HASH)
        return limit_hash(keys, n);
    if (what == HASH_PAIR)
        return pair_run(hash_many, NULL, keys, n);
    if (r->kind == BLY_KIND_NONE)
        return what == ADD_ONE ? peer_add(&r->peer, keys, n) : peer_contains(&r->peer, keys, n);
    return run_ours(r, what, keys, n);
}

static bly_filter *filter_of(const rival *r, op what) {
    switch (what) {
    case ADD_ONE:
        return r->one;
    case ADD_PAIR:
        return r->pair;
    case ADD_SHARED:
    case MISS_SHARED:
    case MISS_PAIR:
        return r->shared;
    default:
        return r->many;
    }
}

static uint64_t ask_others(rival *r, op what, const bly_bytes *keys, size_t n) {
    if (what == HASH || what == HIT_HASH || what == HASH_PAIR)
        return perform(r, what, keys, n);
    if (r->kind == BLY_KIND_NONE)
        return peer_contains(&r->peer, keys, n);
    if (what == ADD_PAIR || what == MISS_PAIR)
        return pair_run(contains_many, filter_of(r, what), keys, n);
    if (is_single(what))
        return contains_one(filter_of(r, what), keys, n);
    return contains_many(filter_of(r, what), keys, n);
}

/* How often n keys have to be asked for until a filter that can stay in a cache is there: until
 * each of its lines was wanted three times over, or WARM_UPS times. Who reads several lines for a
 * key has them there sooner, and would else be measured warm beside others that are cold. */
static size_t warm_ups(const rival *r, size_t n) {
    const uint64_t line = 64, largest_cache = 64 << 20;
    if (r->bytes > largest_cache)
        return 1;
    uint64_t times = 3 * r->bytes / line / n + 1;
    return times < WARM_UPS ? (size_t)times : WARM_UPS;
}

/* ---- one operation, timed -------------------------------------------------------------------- */

typedef struct caller {
    rival *who;
    op what;
} caller;

static uint64_t call_each(void *context, const bly_bytes *keys, size_t n) {
    caller *c = context;
    return perform(c->who, c->what, keys, n);
}

static uint64_t call_others(void *context, const bly_bytes *keys, size_t n) {
    caller *c = context;
    return ask_others(c->who, c->what, keys, n);
}

/* Keys of the pile become others without their last bytes: a batch at a time, so that few have to
 * be written anew just before the clock starts; but all at once where two threads share them. */
static void ask_pile(rival *r, op what, const keyset *pile, size_t n, size_t cut) {
    size_t step = is_pair(what) ? n : BATCH;
    for (size_t at = 0; at < n; at += step) {
        size_t some = n - at < step ? n - at : step;
        keys_cut(pile->keys + at, pile->len - cut, some);
        fold(ask_others(r, what, pile->keys + at, some));
        keys_cut(pile->keys + at, pile->len, some);
    }
}

/* Whoever had the cache before, the filter is as warm as one that is in use: it is asked for other
 * keys. (Asked for the same ones, it would have all their lines in the cache, however large it is.)
 */
static void warm_up(rival *r, op what, arena *lines, const chunk *keys) {
    static uint64_t next = WARM_KEYS;
    size_t n = keys->n, times = warm_ups(r, n);
    uint64_t found = 0;
    if (is_single(what)) {
        keys_spend(keys->hand, next, times * n, call_others, &(caller){r, what}, &found);
        next += times * n;
        fold(found);
        return;
    }
    for (size_t i = times; i > 0; i--)
        if (is_limit(what))
            fold(limit_lines(lines, r->bytes, n));
        else
            ask_pile(r, what, keys->pile, n, i);
}

/* In seconds. */
static double timed(rival *r, op what, arena *lines, const chunk *keys, uint64_t *result) {
    if (is_single(what))
        return keys_spend(keys->hand, keys->first, keys->n, call_each, &(caller){r, what}, result);
    double start = seconds_now();
    *result = is_limit(what) ? limit_lines(lines, r->bytes, keys->n)
                             : perform(r, what, keys->pile->keys, keys->n);
    return seconds_now() - start;
}

void rival_run(rival *r, op what, arena *lines, const chunk *keys) {
    bool pair = is_pair(what);
    uint64_t result = 0;
    if (pair)
        pair_ready();
    warm_up(r, what, lines, keys);
    bool calm = calm_now(pair);
    double took = timed(r, what, lines, keys, &result);
    calm &= calm_now(pair);
    if (pair)
        pair_rest();
    size_t i = r->taken[what];
    if (i < MAX_SAMPLES) {
        r->ns[what][i] = 1e9 * took / (double)keys->n;
        r->calm[what][i] = calm;
        r->taken[what]++;
        calm_count(calm);
    }
    /* The one figure of a run that depends on how two threads met. */
    if (what != ADD_PAIR)
        fold(result);
    must((what != HIT_MANY && what != HIT_ONE) || result == keys->n,
         "finding every key that was added");
}
