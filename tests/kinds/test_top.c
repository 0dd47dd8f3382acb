/* The list of the most frequent keys: it holds what an exact list would, whatever is offered in
 * whatever order, and together with a sketch of counts it finds the true ones. And sketches beside
 * filters: every kind feeds them with what it was given. */
#include "support.h"
#include "table_support.h"

static bly_top *top_of(size_t n) {
    bly_top *t = NULL;
    assert_ok(bly_top_create(n, NULL, &t));
    return t;
}

static void offer(bly_top *t, const char *key, uint64_t count) {
    assert_ok(bly_top_offer(t, key, strlen(key), count));
}

/* The list as text: "key:count key:count". */
static const char *text_of(bly_top *t) {
    static char text[1000];
    const bly_top_entry *e;
    size_t n = bly_top_list(t, &e), at = 0;
    text[0] = 0;
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%.*s:%llu", i ? " " : "",
                               (int)e[i].key.size, (const char *)e[i].key.data,
                               (unsigned long long)e[i].count);
    return text;
}

static void keeps_the_highest(void **state) {
    bly_top *t = top_of(3);
    (void)state;
    assert_string_equal(text_of(t), "");
    offer(t, "b", 2);
    offer(t, "a", 2);
    offer(t, "c", 5);
    assert_string_equal(text_of(t), "c:5 a:2 b:2");
    offer(t, "d", 2); /* not higher */
    offer(t, "d", 1);
    assert_string_equal(text_of(t), "c:5 a:2 b:2");
    offer(t, "b", 9);
    offer(t, "e", 3); /* in the place of a */
    assert_string_equal(text_of(t), "b:9 c:5 e:3");
    offer(t, "b", 4); /* downwards */
    assert_string_equal(text_of(t), "c:5 b:4 e:3");
    offer(t, "f", 4); /* e leaves */
    assert_string_equal(text_of(t), "c:5 b:4 f:4");
    offer(t, "c", 0); /* out */
    offer(t, "x", 0); /* was not in */
    assert_string_equal(text_of(t), "b:4 f:4");
    offer(t, "", 1);
    offer(t, "bb", 4); /* in the place of the empty key */
    assert_string_equal(text_of(t), "b:4 bb:4 f:4");
    bly_top_destroy(t);
    t = top_of(1);
    for (uint64_t i = 1; i <= 100; i++)
        offer(t, i % 2 ? "odd" : "even", i);
    assert_string_equal(text_of(t), "even:100");
    bly_top_destroy(t);
    bly_top_destroy(NULL);
    assert_int_equal(bly_top_create(0, NULL, &t), BLY_EINVAL);
    assert_null(t);
    assert_int_equal(bly_top_create(SIZE_MAX, NULL, &t), BLY_ENOMEM);
}

/* Bytes that are not text, and keys that differ only in length. */
static void keys_are_bytes(void **state) {
    bly_top *t = top_of(100);
    static const uint8_t zeros[64];
    const bly_top_entry *e;
    (void)state;
    for (size_t i = 0; i < 64; i++)
        assert_ok(bly_top_offer(t, i ? zeros : NULL, i, 7));
    assert_int_equal(bly_top_list(t, &e), 64);
    for (size_t i = 0; i < 64; i++) {
        assert_int_equal(e[i].key.size, i);
        assert_true(i == 0 || memcmp(e[i].key.data, zeros, i) == 0);
    }
    bly_top_destroy(t);
}

/* ---- against an exact list ------------------------------------------------------------------- */

enum { MODEL_KEYS = 400 };

typedef struct model {
    uint64_t count[MODEL_KEYS]; /* 0: not in the list */
    size_t n, most;
} model;

/* The lowest count, and how many have it. */
static uint64_t lowest(const model *m, size_t *how_many) {
    uint64_t least = UINT64_MAX;
    *how_many = 0;
    for (unsigned i = 0; i < MODEL_KEYS; i++)
        if (m->count[i] && m->count[i] <= least) {
            *how_many = m->count[i] == least ? *how_many + 1 : 1;
            least = m->count[i];
        }
    return least;
}

/* Which of several keys with the lowest count has left is for the list to choose, so the model asks
 * it. */
static void model_offer(model *m, unsigned key, uint64_t count, bly_top *t) {
    size_t ties;
    bool in = m->count[key] > 0;
    if (!in && m->n == m->most && count > lowest(m, &ties)) {
        uint64_t least = lowest(m, &ties);
        const bly_top_entry *e;
        size_t n = bly_top_list(t, &e), left = 0;
        for (unsigned i = 0; i < MODEL_KEYS; i++) {
            bool listed = i == key;
            for (size_t j = 0; j < n; j++)
                listed |= memcmp(e[j].key.data, &i, sizeof i) == 0;
            if (m->count[i] == least && !listed) {
                m->count[i] = 0;
                left++;
            }
        }
        assert_int_equal(left, 1);
        m->n--;
    } else if (!in && m->n == m->most) {
        return;
    }
    m->n = m->n + (!in && count > 0) - (in && count == 0);
    m->count[key] = count;
}

static void compare(const model *m, bly_top *t) {
    const bly_top_entry *e;
    size_t n = bly_top_list(t, &e);
    assert_int_equal(n, m->n);
    for (size_t i = 0; i < n; i++) {
        unsigned key;
        assert_int_equal(e[i].key.size, sizeof key);
        memcpy(&key, e[i].key.data, sizeof key);
        assert_int_equal(e[i].count, m->count[key]);
        assert_true(i == 0 || e[i - 1].count > e[i].count ||
                    (e[i - 1].count == e[i].count &&
                     memcmp(e[i - 1].key.data, e[i].key.data, sizeof key) < 0));
    }
}

static void holds_what_an_exact_list_would(void **state) {
    static const size_t sizes[] = {1, 2, 3, 7, 64, 399, 400, 1000};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        model m = {.most = sizes[i]};
        bly_top *t = top_of(sizes[i]);
        uint64_t seed = sizes[i];
        for (unsigned turn = 0; turn < 20000 / BLYT_SLOW; turn++) {
            uint64_t dice = blyt_next(&seed);
            unsigned key = (unsigned)(dice % MODEL_KEYS);
            uint64_t count = dice >> 32 & (turn % 1000 < 500 ? 1023 : 31);
            assert_ok(bly_top_offer(t, &key, sizeof key, count));
            model_offer(&m, key, count, t);
            if (turn % 16 == 0)
                compare(&m, t);
        }
        bly_top_destroy(t);
    }
}

static void no_memory_changes_nothing(void **state) {
    (void)state;
    for (size_t fail = 1; fail <= 5; fail++) {
        blyt_heap heap = {.fail_at = fail};
        bly_allocator a = blyt_heap_allocator(&heap);
        bly_top *t = NULL;
        assert_int_equal(bly_top_create(4, &a, &t), BLY_ENOMEM);
        assert_true(t == NULL && heap.live == 0);
    }
    blyt_heap heap = {0};
    bly_allocator a = blyt_heap_allocator(&heap);
    bly_top *t = NULL;
    assert_ok(bly_top_create(2, &a, &t));
    offer(t, "a", 1);
    heap.fail_at = heap.calls + 1;
    assert_int_equal(bly_top_offer(t, "b", 1, 9), BLY_ENOMEM);
    assert_string_equal(text_of(t), "a:1");
    offer(t, "b", 9);
    heap.fail_at = heap.calls + 1;
    assert_int_equal(bly_top_offer(t, "c", 1, 9), BLY_ENOMEM);
    assert_string_equal(text_of(t), "b:9 a:1");
    offer(t, "a", 3); /* needs none */
    size_t live = heap.live;
    for (uint64_t i = 10; i < 1000; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "key %llu", (unsigned long long)i * i * i);
        offer(t, key, i);
    }
    assert_int_equal(heap.live, live); /* no more than n keys */
    bly_top_destroy(t);
    assert_int_equal(heap.live, 0);
}

/* ---- with a sketch --------------------------------------------------------------------------- */

/* Zipf 1.1 over 100,000 keys: those that are really among the first twenty are found, and their
 * counts are within five standard errors. */
static void finds_the_true_top(void **state) {
    enum { KEYS = 100000, LISTED = 60 };
    unsigned adds = 2000000 / BLYT_SLOW;
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        double *sums = malloc(KEYS * sizeof *sums), sum = 0;
        uint32_t *truth = calloc(KEYS, sizeof *truth);
        bly_filter *counts = NULL;
        bly_top *t = top_of(LISTED);
        uint64_t dice = seed;
        assert_true(sums && truth);
        assert_ok(bly_counts_create_in(KEYS, &counts));
        for (unsigned i = 0; i < KEYS; i++)
            sums[i] = sum += pow(i + 1, -1.1);
        for (unsigned i = 0; i < adds; i++) {
            double at = (double)(blyt_next(&dice) >> 11) * 0x1p-53 * sum;
            unsigned low = 0, high = KEYS - 1;
            while (low < high) {
                unsigned mid = (low + high) / 2;
                high = sums[mid] > at ? mid : high;
                low = sums[mid] > at ? low : mid + 1;
            }
            bly_hash h = bly_hash_key(bly_filter_hasher(counts), &low, sizeof low);
            truth[low]++;
            assert_ok(bly_filter_add_hash(counts, h, NULL));
            assert_ok(bly_top_offer(t, &low, sizeof low, bly_filter_copies_hash(counts, h)));
        }
        const bly_top_entry *e;
        size_t n = bly_top_list(t, &e), found = 0;
        assert_int_equal(n, LISTED);
        for (size_t i = 0; i < n; i++) {
            unsigned key;
            memcpy(&key, e[i].key.data, sizeof key);
            assert_true(fabs(log((double)e[i].count / truth[key])) < 5 * 0.213);
            found += key < 20;
        }
        assert_int_equal(found, 20);
        free(sums);
        free(truth);
        bly_top_destroy(t);
        bly_filter_destroy(counts);
    }
}

/* ---- beside a filter ------------------------------------------------------------------------- */

static bly_filter *hll_seeded(uint64_t seed) {
    bly_spec spec = bly_spec_for(BLY_HLL, 0, 0.0081);
    bly_filter *f = NULL;
    spec.seed = seed;
    assert_ok(bly_filter_create(&spec, &f));
    return f;
}

static void every_kind_feeds_its_sketch(void **state) {
    blyt_list l = blyt_list_of(KEYS_URL, 0, 5000);
    (void)state;
    FOR_EACH_CASE(c) {
        bly_filter *f = blyt_create(c, 5000, 0.01, 7), *plain = blyt_create(c, 5000, 0.01, 7);
        bly_filter *seen = hll_seeded(7), *direct = hll_seeded(7);
        uint8_t added[2000], expected[2000];
        bly_hash h[1000];
        bly_stats s, without;
        bool sketch = c->kind == BLY_COUNTS || c->kind == BLY_HLL;
        if (!blyt_can(c, BLY_CAN_ADD) || sketch) {
            assert_int_equal(bly_filter_attach(f, seen), BLY_EUNSUPPORTED);
            goto next;
        }
        assert_ok(bly_filter_attach(f, seen));
        assert_ok(bly_filter_add_many(f, l.keys, 2000, added, NULL));
        assert_ok(bly_filter_add_many(plain, l.keys, 2000, expected, NULL));
        assert_memory_equal(added, expected, 2000);
        for (size_t i = 2000; i < 4000; i++) {
            bool is_new, was_new;
            assert_ok(bly_filter_add(f, l.keys[i].data, l.keys[i].size, &is_new));
            assert_ok(bly_filter_add(plain, l.keys[i].data, l.keys[i].size, &was_new));
            assert_true(is_new == was_new);
        }
        bly_hash_keys(bly_filter_hasher(f), l.keys + 4000, 1000, h);
        assert_ok(bly_filter_add_hash(f, h[0], NULL));
        assert_ok(bly_filter_add_hashes(f, h + 1, 999, NULL, NULL));
        assert_ok(bly_filter_add_hashes(plain, h, 1000, NULL, NULL));
        blyt_add_all(direct, &l);
        assert_true(bly_filter_equal(f, plain) && bly_filter_equal(seen, direct));
        assert_int_equal(bly_filter_count(f), bly_filter_count(plain));
        bly_filter_stats(f, &s);
        assert_true(s.estimated_keys == bly_hll_estimate(direct));
        assert_ok(bly_filter_attach(f, NULL));
        bly_filter_stats(f, &s);
        bly_filter_stats(plain, &without);
        assert_memory_equal(&s.estimated_keys, &without.estimated_keys, sizeof(double));
    next:
        bly_filter_destroy(f);
        bly_filter_destroy(plain);
        bly_filter_destroy(seen);
        bly_filter_destroy(direct);
    }
    blyt_list_free(&l);
}

static void a_filter_feeds_its_counts(void **state) {
    bly_filter *f = NULL, *counts = NULL, *direct = NULL;
    blyt_list l = blyt_list_of(KEYS_URL, 0, 3000);
    (void)state;
    assert_ok(bly_counts_create_in(32000, &counts));
    assert_ok(bly_counts_create_in(32000, &direct));
    assert_ok(bly_cuckoo_create(3000, 0.01, &f));
    assert_ok(bly_filter_attach(f, counts));
    blyt_add_all(f, &l);
    blyt_add_all(direct, &l);
    assert_true(bly_filter_equal(counts, direct));
    /* The ninth copy of a key finds no place in the filter, and is not counted. */
    bly_status status = BLY_OK;
    unsigned stored = 1;
    while ((status = bly_filter_add(f, l.keys[7].data, l.keys[7].size, NULL)) == BLY_OK)
        stored++;
    assert_int_equal(status, BLY_EFULL);
    assert_true(stored <= 8);
    assert_true(bly_filter_copies(counts, l.keys[7].data, l.keys[7].size) == stored);
    blyt_list_free(&l);
    bly_filter_destroy(f);
    bly_filter_destroy(counts);
    bly_filter_destroy(direct);
}

static void attaching_is_refused(void **state) {
    bly_filter *f = NULL, *g = NULL, *seen = hll_seeded(0), *other = hll_seeded(1);
    bly_spec spec = bly_spec_for(BLY_SBBF, 1000, 0.01);
    (void)state;
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(bly_filter_attach(f, f), BLY_EINVAL);
    assert_int_equal(bly_filter_attach(f, other), BLY_EMISMATCH);
    assert_ok(bly_filter_attach(f, seen));
    assert_ok(bly_blocked_create(10, 0.01, &g));
    assert_int_equal(bly_filter_attach(seen, g), BLY_EKIND);
    bly_filter_destroy(g);
    /* No chains of sketches. */
    assert_ok(bly_counts_create(10, 0.01, &g));
    assert_int_equal(bly_filter_attach(g, seen), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_attach(seen, g), BLY_EUNSUPPORTED);
    bly_filter_destroy(g);
    spec.sharing = BLY_SHARED;
    assert_ok(bly_filter_create(&spec, &g));
    assert_int_equal(bly_filter_attach(g, seen), BLY_EUNSUPPORTED);
    /* What was refused has left the one there was. */
    assert_int_equal(bly_filter_attach(f, other), BLY_EMISMATCH);
    assert_ok(bly_filter_add(f, "a", 1, NULL));
    assert_int_equal(bly_filter_count(seen), 1);
    bly_filter_destroy(f);
    bly_filter_destroy(g);
    bly_filter_destroy(seen);
    bly_filter_destroy(other);
}

/* A full filter, and a window: their bits cannot tell what the sketch does. */
static void tells_what_bits_cannot(void **state) {
    bly_filter *full = NULL, *window = NULL, *a = hll_seeded(0), *b = hll_seeded(0);
    bly_stats s;
    (void)state;
    assert_ok(bly_blocked_create(100, 0.01, &full));
    assert_ok(bly_window_create(1000, 0.01, &window));
    assert_ok(bly_filter_attach(full, a));
    assert_ok(bly_filter_attach(window, b));
    add_hashes(full, 2, 0, 100000);
    add_hashes(window, 2, 0, 100000);
    bly_filter_stats(full, &s);
    assert_true(fabs(s.estimated_keys / 100000 - 1) < 5 * 0.0081 && s.current_fpr > 0.99);
    bly_filter_stats(window, &s);
    assert_true(fabs(s.estimated_keys / 100000 - 1) < 5 * 0.0081 && s.count < 2000);
    bly_filter_clear(full); /* the sketch is the caller's */
    assert_true(bly_hll_estimate(a) > 90000);
    assert_true(bly_filter_equal(a, b));
    bly_filter_destroy(full);
    bly_filter_destroy(window);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

static void unions_take_their_sketches_along(void **state) {
    bly_filter *f[3], *seen[3], *all = hll_seeded(0), *copy = NULL;
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(bly_blocked_create(1000, 0.01, &f[i]));
        seen[i] = hll_seeded(0);
        if (i < 2)
            assert_ok(bly_filter_attach(f[i], seen[i]));
        add_hashes(f[i], 5, 400 * i, 400 * i + 500);
    }
    add_hashes(all, 5, 0, 900);
    assert_ok(bly_filter_union(f[0], f[1]));
    assert_true(bly_filter_equal(seen[0], all));
    assert_ok(bly_filter_union(f[0], f[0])); /* one and the same sketch */
    assert_true(bly_filter_equal(seen[0], all));
    /* A clone is not attached. */
    assert_ok(bly_filter_clone(f[0], NULL, &copy));
    add_hashes(copy, 5, 5000, 6000);
    assert_true(bly_filter_equal(seen[0], all));
    /* Nor is what has taken in keys that no sketch has seen. */
    assert_ok(bly_filter_union(f[0], f[2]));
    add_hashes(f[0], 5, 7000, 8000);
    assert_true(bly_filter_equal(seen[0], all));
    /* Nor what has lost keys. */
    assert_ok(bly_filter_intersect(f[1], f[2]));
    uint64_t before = bly_filter_count(seen[1]);
    add_hashes(f[1], 5, 9000, 9900);
    assert_int_equal(bly_filter_count(seen[1]), before);
    for (unsigned i = 0; i < 3; i++) {
        bly_filter_destroy(f[i]);
        bly_filter_destroy(seen[i]);
    }
    bly_filter_destroy(copy);
    bly_filter_destroy(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_highest),
        cmocka_unit_test(keys_are_bytes),
        cmocka_unit_test(holds_what_an_exact_list_would),
        cmocka_unit_test(no_memory_changes_nothing),
        cmocka_unit_test(finds_the_true_top),
        cmocka_unit_test(every_kind_feeds_its_sketch),
        cmocka_unit_test(a_filter_feeds_its_counts),
        cmocka_unit_test(attaching_is_refused),
        cmocka_unit_test(tells_what_bits_cannot),
        cmocka_unit_test(unions_take_their_sketches_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
