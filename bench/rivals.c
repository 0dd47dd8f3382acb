/* The filters that are measured, and the operations. All operations use the same keys in the same
 * order. Batches and the bare hash read keys from an array in memory, so their times include the
 * cost of fetching keys. Single calls of Bloomery and of libbloom use keys that were generated just
 * before. */
#include "bench.h"

/* ---- operations on a chunk; they return the number of new or found keys ---------------------- */

static uint64_t add_many(bly_filter *f, const bly_bytes *keys, size_t n) {
    uint8_t added[BATCH];
    uint64_t added_keys = 0;
    for (size_t at = 0; at < n; at += BATCH) {
        size_t some = n - at < BATCH ? n - at : BATCH;
        bly_batch_result result;
        must(bly_filter_add_many(f, keys + at, some, added, &result) == BLY_OK, "a batched add");
        added_keys += result.changed;
    }
    return added_keys;
}

static uint64_t contains_many(bly_filter *f, const bly_bytes *keys, size_t n) {
    uint8_t found[BATCH];
    uint64_t sum = 0;
    for (size_t at = 0; at < n; at += BATCH)
        sum += bly_filter_contains_many(f, keys + at, n - at < BATCH ? n - at : BATCH, found);
    return sum;
}

static uint64_t add_one(bly_filter *f, const bly_bytes *keys, size_t n) {
    uint64_t added_keys = 0, failed = 0;
    for (size_t i = 0; i < n; i++) {
        bool added = false;
        failed += bly_filter_add(f, keys[i].data, keys[i].size, &added) != BLY_OK;
        added_keys += added;
    }
    must(failed == 0, "an add");
    return added_keys;
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
    uint64_t added_keys = 0;
    for (size_t i = 0; i < n; i++)
        added_keys += bloom_add(b, keys[i].data, (int)keys[i].size) == 0;
    return added_keys;
}

static uint64_t peer_contains(struct bloom *b, const bly_bytes *keys, size_t n) {
    uint64_t sum = 0;
    for (const bly_bytes *key = keys; key < keys + n; key++)
        sum += bloom_check(b, key->data, (int)key->size) == 1;
    return sum;
}

/* ---- filters --------------------------------------------------------------------------------- */

static bool does(const rival *r, op what) {
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
        if (does(r, ADD_SHARED)) {
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

static uint64_t look_up_others(rival *r, op what, const bly_bytes *keys, size_t n) {
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

/* Returns how many times n keys must be looked up so that a filter that fits into a cache is in the
 * cache. Each of its lines must be used three times on average, but the result is at most WARM_UPS.
 * (Otherwise a filter that reads several lines per key would be warm when it is measured, and the
 * others cold.) */
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

static uint64_t call_look_up(void *context, const bly_bytes *keys, size_t n) {
    caller *c = context;
    return look_up_others(c->who, c->what, keys, n);
}

/* Looks up other keys than those of the measurement: the stored keys without their last bytes. Keys
 * are shortened one batch at a time, so that few of them are written just before the measurement;
 * but all at once if two threads share them. */
static void look_up_cut(rival *r, op what, const keyset *stored, size_t n, size_t cut) {
    size_t step = is_pair(what) ? n : BATCH;
    for (size_t at = 0; at < n; at += step) {
        size_t some = n - at < step ? n - at : step;
        keys_cut(stored->keys + at, stored->len - cut, some);
        fold(look_up_others(r, what, stored->keys + at, some));
        keys_cut(stored->keys + at, stored->len, some);
    }
}

/* Makes the caches independent of what ran before: looks up other keys, so that the caches contain
 * as much of the filter as they do in a program that uses it. (Lookups of the same keys would load
 * exactly the lines that the measurement needs.) */
static void warm_up(rival *r, op what, arena *lines, const chunk *keys) {
    static uint64_t next = WARM_KEYS;
    size_t n = keys->n, times = warm_ups(r, n);
    uint64_t found = 0;
    if (is_single(what)) {
        keys_spend(keys->fresh, next, times * n, call_look_up, &(caller){r, what}, &found);
        next += times * n;
        fold(found);
        return;
    }
    for (size_t i = times; i > 0; i--)
        if (is_limit(what))
            fold(limit_lines(lines, r->bytes, n));
        else
            look_up_cut(r, what, keys->stored, n, i);
}

/* Does the operation. Returns the seconds that it took. */
static double timed(rival *r, op what, arena *lines, const chunk *keys, uint64_t *result) {
    if (is_single(what))
        return keys_spend(keys->fresh, keys->first, keys->n, call_each, &(caller){r, what}, result);
    double start = seconds_now();
    *result = is_limit(what) ? limit_lines(lines, r->bytes, keys->n)
                             : perform(r, what, keys->stored->keys, keys->n);
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
    /* The result of ADD_PAIR is not added: it is the only one that depends on how two threads
     * interleave. */
    if (what != ADD_PAIR)
        fold(result);
    must((what != HIT_MANY && what != HIT_ONE) || result == keys->n,
         "finding every key that was added");
}
