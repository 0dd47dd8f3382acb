/* test_fingerprint_set.c - the set of fingerprints in memory: it gives the same answers as a sorted
 * list, stays within its limit, and is unchanged if it cannot grow. A set that was saved and loaded
 * has the same elements. */
#include "store_support.h"

#include "dedup/state_exact.h"

#include <sys/resource.h>

/* ---- a sorted list --------------------------------------------------------------------------- */

typedef struct list {
    uint64_t *at;
    size_t n, room;
} list;

/* Returns the index of x, or the index at which x would be inserted. */
static size_t list_find(const list *l, uint64_t x) {
    size_t low = 0, high = l->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->at[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool list_has(const list *l, uint64_t x) {
    size_t i = list_find(l, x);
    return i < l->n && l->at[i] == x;
}

static bool list_add(list *l, uint64_t x) {
    size_t i = list_find(l, x);
    if (i < l->n && l->at[i] == x)
        return false;
    if (l->n == l->room) {
        l->room = 2 * l->room + 64;
        l->at = realloc(l->at, l->room * sizeof *l->at);
        assert_non_null(l->at);
    }
    memmove(l->at + i + 1, l->at + i, (l->n - i) * sizeof *l->at);
    l->at[i] = x;
    l->n++;
    return true;
}

/* How the fingerprints of a trial are distributed. */
typedef enum source { ANYWHERE, AT_THE_END, FEW, SOURCES } source;

static uint64_t draw(source from, uint64_t *rng) {
    uint64_t r = blyt_next(rng);
    if (r % 97 == 0)
        return r / 97 % 3 - 1; /* 0, 1 or UINT64_MAX */
    if (from == AT_THE_END)    /* a cluster that wraps around to the front of the table */
        return UINT64_MAX - (r >> 4) % 0x300000000;
    if (from == FEW)
        r = r % 3000 * UINT64_C(0x9E3779B97F4A7C15);
    return r;
}

static void assert_same_set(const fingerprint_set *e, const list *l) {
    uint64_t *all = malloc((l->n + 1) * sizeof *all);
    assert_non_null(all);
    assert_int_equal(fingerprint_set_count(e), l->n);
    assert_int_equal(fingerprint_set_range(e, 0, UINT64_MAX, all, l->n), l->n);
    if (l->n > 0)
        assert_memory_equal(all, l->at, l->n * sizeof *all);
    free(all);
}

/* ---- the set --------------------------------------------------------------------------------- */

static void test_answers_as_a_list_does(void **state) {
    (void)state;
    uint64_t rng = 1, batch[700];
    uint8_t fresh[700];
    for (int trial = 0; trial < (blyt_large() ? 60 : 30) / BLYT_SLOW + 6; trial++) {
        source from = (source)(trial % SOURCES);
        list l = {0};
        fingerprint_set *e = fingerprint_set_create(trial % 2 ? 0 : blyt_next(&rng) % 2000, 0);
        assert_non_null(e);
        for (int step = 0; step < (from == AT_THE_END ? 6 : 40); step++) {
            size_t n = blyt_next(&rng) % 700;
            for (size_t i = 0; i < n; i++)
                batch[i] = i > 0 && blyt_next(&rng) % 4 == 0 ? batch[blyt_next(&rng) % i]
                                                             : draw(from, &rng);
            bool ask = blyt_next(&rng) % 8 != 0;
            assert_ok(fingerprint_set_add(e, batch, n, ask ? fresh : NULL));
            for (size_t i = 0; i < n; i++) {
                bool added = list_add(&l, batch[i]);
                if (ask)
                    assert_int_equal(fresh[i], added);
            }
            for (size_t i = 0; i < n; i++) {
                uint64_t other = draw(from, &rng);
                assert_true(fingerprint_set_contains(e, batch[i]));
                assert_int_equal(fingerprint_set_contains(e, other), list_has(&l, other));
            }
        }
        assert_same_set(e, &l);
        fingerprint_set_clear(e);
        assert_int_equal(fingerprint_set_count(e), 0);
        for (size_t i = 0; i < l.n; i++)
            assert_false(fingerprint_set_contains(e, l.at[i]));
        fingerprint_set_destroy(e);
        free(l.at);
    }
}

static void test_repeats_within_a_batch(void **state) {
    (void)state;
    const uint64_t batch[] = {7, 0, 7, 0, UINT64_MAX, 8, UINT64_MAX, 7};
    const uint8_t want[] = {1, 1, 0, 0, 1, 1, 0, 0};
    uint8_t fresh[8];
    fingerprint_set *e = fingerprint_set_create(0, 0);
    assert_ok(fingerprint_set_add(e, batch, 8, fresh));
    assert_memory_equal(fresh, want, 8);
    assert_int_equal(fingerprint_set_count(e), 4);
    assert_ok(fingerprint_set_add(e, batch, 8, fresh));
    for (int i = 0; i < 8; i++)
        assert_int_equal(fresh[i], 0);
    fingerprint_set_destroy(e);
}

static void test_ranges(void **state) {
    (void)state;
    uint64_t rng = 2, out[4000];
    for (int trial = 0; trial < 12; trial++) {
        source from = (source)(trial % SOURCES);
        list l = {0};
        fingerprint_set *e = fingerprint_set_create(0, 0);
        for (int i = 0; i < 4000; i++) {
            uint64_t x = draw(from, &rng);
            (void)list_add(&l, x);
            assert_ok(fingerprint_set_add(e, &x, 1, NULL));
        }
        for (int i = 0; i < (blyt_large() ? 300 : 120); i++) {
            uint64_t a = draw(from, &rng),
                     b = i % 3 ? draw(from, &rng) : a + (blyt_next(&rng) >> 9);
            uint64_t first = a < b ? a : b, last = a < b ? b : a;
            size_t begin = list_find(&l, first), end = list_find(&l, last);
            end += end < l.n && l.at[end] == last;
            size_t n = end - begin, room = i % 2 ? 4000 : n / 2;
            out[room < 4000 ? room : 0] = 99;
            assert_int_equal(fingerprint_set_range(e, first, last, out, room), n);
            if (room < n)
                assert_int_equal(out[room], 99);
            else if (n > 0)
                assert_memory_equal(out, l.at + begin, n * sizeof *out);
        }
        fingerprint_set_destroy(e);
        free(l.at);
    }
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Adds batches of new fingerprints until one is refused, which must be with the status `want`.
 * Returns how many were added. */
static uint64_t fill_up(fingerprint_set *e, bly_status want) {
    uint64_t rng = 3, batch[500];
    uint8_t fresh[500];
    bly_status status = BLY_OK;
    while (status == BLY_OK) {
        for (int i = 0; i < 500; i++)
            batch[i] = blyt_next(&rng);
        uint64_t before = fingerprint_set_count(e);
        status = fingerprint_set_add(e, batch, 500, fresh);
        assert_int_equal(fingerprint_set_count(e), before + (status == BLY_OK ? 500 : 0));
    }
    assert_int_equal(status, want);
    for (int i = 0; i < 500; i++)
        assert_false(fingerprint_set_contains(e, batch[i]));
    return fingerprint_set_count(e);
}

/* Checks that the set contains all n fingerprints of fill_up and no others. This adds them again,
 * which must succeed without memory. */
static void assert_still_whole(fingerprint_set *e, uint64_t n) {
    uint64_t rng = 3, batch[500];
    uint8_t fresh[500];
    for (uint64_t i = 0; i < n; i += 500) {
        for (int k = 0; k < 500; k++)
            batch[k] = blyt_next(&rng);
        assert_ok(fingerprint_set_add(e, batch, 500, fresh));
        for (int k = 0; k < 500; k++)
            assert_int_equal(fresh[k], 0);
    }
    assert_int_equal(fingerprint_set_count(e), n);
}

static void test_limit(void **state) {
    (void)state;
    for (uint64_t limit = 20000; limit < 3000000; limit += limit / 3) {
        fingerprint_set *e = fingerprint_set_create(0, limit);
        assert_non_null(e);
        uint64_t n = fill_up(e, BLY_EFULL);
        assert_true(fingerprint_set_bytes(e) <= limit);
        /* A table is filled up to 70%. The largest table within the limit is that full, less one
         * batch. */
        assert_true(n + 500 >= (limit - 200) / 8 * 7 / 10);
        assert_still_whole(e, n);
        fingerprint_set_destroy(e);
    }
}

static void test_limit_too_small(void **state) {
    (void)state;
    assert_null(fingerprint_set_create(0, 1));
    assert_null(fingerprint_set_create(0, 300));
    assert_null(fingerprint_set_create(10000, 80000));
    assert_null(fingerprint_set_create(UINT64_MAX, 0));
    assert_null(fingerprint_set_create((uint64_t)1 << 59, 0));
    fingerprint_set *e = fingerprint_set_create(10000, 120000);
    assert_non_null(e);
    assert_true(fingerprint_set_bytes(e) <= 120000);
    fingerprint_set_destroy(e);
    fingerprint_set_destroy(NULL);
}

/* The system refuses more memory (RLIMIT_AS). */
static void test_out_of_memory(void **state) {
    (void)state;
    if (BLYT_SLOW > 1)
        skip(); /* sanitizers need address space too */
    struct rlimit usual, none;
    fingerprint_set *e = fingerprint_set_create(400000, 0);
    assert_non_null(e);
    assert_int_equal(getrlimit(RLIMIT_AS, &usual), 0);
    none = usual;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    uint64_t n = fill_up(e, BLY_ENOMEM);
    assert_null(fingerprint_set_create(400000, 0));
    assert_int_equal(setrlimit(RLIMIT_AS, &usual), 0);
    assert_true(n >= 400000);
    assert_still_whole(e, n);
    fingerprint_set_destroy(e);
}

/* ---- in a file ------------------------------------------------------------------------------- */

static void add_random(fingerprint_set *set, uint64_t seed, size_t n, bool zero) {
    uint64_t x;
    for (size_t i = 0; i < n; i++) {
        x = blyt_next(&seed);
        assert_ok(fingerprint_set_add(set, &x, 1, NULL));
    }
    x = 0;
    if (zero)
        assert_ok(fingerprint_set_add(set, &x, 1, NULL));
}

static exact_file opened(const char *name) {
    exact_file f;
    assert_true(exact_file_open(&f, at(name), 0, 0));
    return f;
}

static void assert_equal_sets(const fingerprint_set *a, const fingerprint_set *b) {
    size_t n = (size_t)fingerprint_set_count(a);
    uint64_t *x = malloc((n + 1) * sizeof *x), *y = malloc((n + 1) * sizeof *y);
    assert_int_equal(fingerprint_set_count(b), n);
    assert_int_equal(fingerprint_set_range(a, 0, UINT64_MAX, x, n), n);
    assert_int_equal(fingerprint_set_range(b, 0, UINT64_MAX, y, n), n);
    assert_memory_equal(x, y, n * sizeof *x);
    free(x);
    free(y);
}

static void test_saved_and_loaded(void **state) {
    (void)state;
    const size_t large = (blyt_large() ? 1000000U : 400000U) / BLYT_SLOW;
    const size_t sizes[] = {0, 1, 383, 384, 385, 513, 5000, 100000, large};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        fingerprint_set *wanted = fingerprint_set_create(0, 0);
        char name[8];
        (void)snprintf(name, sizeof name, "%u", (unsigned)i);
        assert_non_null(wanted);
        add_random(wanted, i, sizes[i], i % 2);
        exact_file f = opened(name);
        const uint64_t seed = f.pages.shape.seed;
        add_random(f.set, i, sizes[i], i % 2);
        assert_true(exact_file_save(&f));
        exact_file_close(&f);
        f = opened(name);
        assert_int_equal(f.pages.shape.seed, seed);
        assert_equal_sets(wanted, f.set);
        exact_file_close(&f);
        fingerprint_set_destroy(wanted);
    }
}

static void test_saved_again(void **state) {
    (void)state;
    uint64_t x = 0;
    exact_file e, f;
    assert_true(exact_file_open(&e, at("set"), 100, 0));
    assert_int_equal(fingerprint_set_count(e.set), 0);
    const uint64_t seed = e.pages.shape.seed;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 1000; i++) {
            assert_ok(fingerprint_set_add(e.set, &x, 1, NULL));
            x = blyt_next(&x);
        }
        assert_true(exact_file_save(&e));
        assert_false(exact_file_open(&f, at("set"), 0, 0)); /* locked */
    }
    exact_file_close(&e);
    f = opened("set");
    assert_int_equal(f.pages.shape.seed, seed);
    assert_int_equal(fingerprint_set_count(f.set), 5000);
    exact_file_close(&f);
}

static void test_seeds_differ(void **state) {
    (void)state;
    exact_file e = opened("one"), f = opened("two");
    assert_true(e.pages.shape.seed != f.pages.shape.seed);
    exact_file_close(&e);
    exact_file_close(&f);
    assert_int_equal(access(at("one"), F_OK), -1); /* never saved, so there is no file */
}

static void test_loaded_within_a_limit(void **state) {
    (void)state;
    exact_file f = opened("set");
    add_random(f.set, 5, 100000, true);
    assert_true(exact_file_save(&f));
    exact_file_close(&f);
    assert_false(exact_file_open(&f, at("set"), 0, 1000000));
    assert_true(exact_file_open(&f, at("set"), 0, 1600000));
    assert_int_equal(fingerprint_set_count(f.set), 100001);
    assert_true(exact_file_bytes(&f) <= 1600000);
    exact_file_close(&f);
}

static void test_no_such_place(void **state) {
    (void)state;
    exact_file f;
    assert_false(exact_file_open(&f, at("none/set"), 0, 0));
    assert_false(exact_file_open(&f, scratch, 0, 0));
    assert_false(exact_file_open(&f, "/dev/null", 0, 0));
}

#define FILED(test) cmocka_unit_test_setup_teardown(test, fresh_scratch, drop_scratch)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_as_a_list_does),
        cmocka_unit_test(test_repeats_within_a_batch),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_limit_too_small),
        cmocka_unit_test(test_out_of_memory),
        FILED(test_saved_and_loaded),
        FILED(test_saved_again),
        FILED(test_seeds_differ),
        FILED(test_loaded_within_a_limit),
        FILED(test_no_such_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
