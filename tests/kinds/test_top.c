/* The list of the most frequent keys: it equals an exact list for any order of offers, and together
 * with a sketch of counts it finds the most frequent keys. */
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

/* Returns the list as text: "key:count key:count". */
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
    offer(t, "d", 2); /* not higher than the lowest count */
    offer(t, "d", 1);
    assert_string_equal(text_of(t), "c:5 a:2 b:2");
    offer(t, "b", 9);
    offer(t, "e", 3); /* replaces a */
    assert_string_equal(text_of(t), "b:9 c:5 e:3");
    offer(t, "b", 4); /* a lower count */
    assert_string_equal(text_of(t), "c:5 b:4 e:3");
    offer(t, "f", 4); /* replaces e */
    assert_string_equal(text_of(t), "c:5 b:4 f:4");
    offer(t, "c", 0); /* removes c */
    offer(t, "x", 0); /* not in the list */
    assert_string_equal(text_of(t), "b:4 f:4");
    offer(t, "", 1);
    offer(t, "bb", 4); /* replaces the empty key */
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

/* Keys may have bytes that are not text, and may differ only in length. */
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

/* Returns the lowest count, and in `how_many` the number of keys that have it. */
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

/* Offers a key to the model. If several keys have the lowest count, the list may drop any of them,
 * so the model looks up in the list which one it has dropped. */
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
    offer(t, "a", 3); /* needs no memory */
    size_t live = heap.live;
    for (uint64_t i = 10; i < 1000; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "key %llu", (unsigned long long)i * i * i);
        offer(t, key, i);
    }
    assert_int_equal(heap.live, live); /* memory for no more than n keys */
    bly_top_destroy(t);
    assert_int_equal(heap.live, 0);
}

/* ---- with a sketch --------------------------------------------------------------------------- */

/* With keys drawn from 100,000 by Zipf's law with exponent 1.1, the twenty most frequent keys are
 * found, with counts within five standard errors. */
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
        assert_ok(blyt_new_exact(BLY_COUNTS, KEYS / 64, 4, &counts));
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_highest),
        cmocka_unit_test(keys_are_bytes),
        cmocka_unit_test(holds_what_an_exact_list_would),
        cmocka_unit_test(no_memory_changes_nothing),
        cmocka_unit_test(finds_the_true_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
