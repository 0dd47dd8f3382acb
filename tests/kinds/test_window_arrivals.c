/* Windows by number of keys count arrivals: every add is one, also of a key that is present. In
 * streams by Zipf's law, in which a few keys are repeated often, the keys of the last N arrivals
 * are found, and keys that last arrived before the oldest generation are not. */
#include "window_support.h"
#include "zipf_support.h"

#include <limits.h>
#include <stdio.h>

enum { NEVER = -1 };

/* The rate is so low that these streams have no false positives. */
static const double rate = 1e-9;

/* ---- streams ----------------------------------------------------------------------------------
 */

/* An exact reference: for each possible key, the number of its last arrival. */
typedef struct reference {
    int64_t *last;
    int64_t keys, limit; /* the latest `keys` arrivals must be found; those before the latest
                            `limit` must not */
    uint64_t known, forgotten;
} reference;

/* Asserts that the lookup of a key just before arrival number `now` is right. */
static void expect(reference *r, const bly_filter *f, unsigned id, int64_t now) {
    int64_t others = now - 1 - r->last[id];
    bool found = bly_filter_contains_hash(f, key(1, id));
    if (r->last[id] == NEVER || others >= r->limit) {
        assert_false(found);
        r->forgotten += r->last[id] != NEVER;
    } else if (others < r->keys) {
        assert_true(found);
        r->known++;
    }
}

/* Adds keys by Zipf's law to a window with s generations. */
static void one_stream(uint64_t keys, uint32_t s, double exponent, int64_t n) {
    unsigned universe = (unsigned)(keys * 3 + 50);
    bly_filter *f = window(keys, rate, s, 0, s);
    zipf z = zipf_of(universe, exponent);
    reference r = {malloc(universe * sizeof *r.last), (int64_t)keys, 0, 0, 0};
    uint64_t rng = keys + s;
    bly_window_info w = info_of(f);
    assert_non_null(r.last);
    r.limit = (int64_t)((w.generations + 1) * w.generation_keys);
    for (unsigned i = 0; i < universe; i++)
        r.last[i] = NEVER;
    for (int64_t i = 0; i < n; i++) {
        unsigned id = zipf_draw(&z, &rng);
        bool there = bly_filter_contains_hash(f, key(1, id));
        expect(&r, f, id, i);
        assert_int_equal(add(f, key(1, id)), !there);
        r.last[id] = i;
        expect(&r, f, (unsigned)(blyt_next(&rng) % universe), i + 1);
        for (unsigned j = 0; i % (n / 8) == n / 8 - 1 && j < universe; j++)
            expect(&r, f, j, i + 1);
    }
    w = info_of(f);
    assert_true(w.arrivals >= bly_filter_count(f) && w.arrivals > keys);
    assert_true(w.ordinal * w.generation_keys + w.active_arrivals == (uint64_t)n);
    assert_true(r.known > (uint64_t)n / 20 && r.forgotten > (uint64_t)n / 500);
    assert_sound(f);
    free(r.last);
    zipf_free(&z);
    bly_filter_destroy(f);
}

static void zipf_streams(void **state) {
    static const double exponents[] = {0.8, 1.2, 3};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(exponents); i++) {
        one_stream(1, 8, exponents[i], 20000 / BLYT_SLOW);
        one_stream(10, 8, exponents[i], 20000 / BLYT_SLOW);
        one_stream(10, 3, exponents[i], 20000 / BLYT_SLOW);
        one_stream(1000, 8, exponents[i], 50000 / BLYT_SLOW);
        one_stream(1000, 20, exponents[i], 50000 / BLYT_SLOW);
    }
    one_stream(100000, 8, 1.1, 500000);
}

/* If a single key is repeated, all others are gone after as many arrivals as the window keeps. */
static void one_key_makes_others_go(void **state) {
    static const uint64_t sizes[] = {1, 2, 10, 100, 1000, 3000};
    (void)state;
    for (size_t c = 0; c < COUNT_OF(sizes); c++) {
        bly_filter *f = window(sizes[c], rate, 8, 0, 1);
        uint64_t limit = 9 * info_of(f).generation_keys;
        assert_true(add(f, key(1, 0)));
        for (uint64_t i = 1; i <= limit; i++) {
            assert_true(i > sizes[c] || bly_filter_contains_hash(f, key(1, 0)));
            assert_int_equal(add(f, key(1, 1)), i == 1);
        }
        assert_false(bly_filter_contains_hash(f, key(1, 0)));
        assert_true(bly_filter_contains_hash(f, key(1, 1)));
        assert_int_equal(bly_filter_count(f), 9); /* counted once per generation */
        bly_filter_destroy(f);
    }
}

/* ---- arrivals ---------------------------------------------------------------------------------
 */

/* Lookups are not arrivals. In a window by time, a repeat within the same slice changes nothing. */
static void what_is_none(void **state) {
    (void)state;
    for (int form = 0; form < 4; form++) {
        int timed = form % 2, small = form / 2;
        bly_filter *f = any_window(small, 800, 8, timed ? 1000 : 0), *before;
        bly_window_info w = {.struct_size = sizeof w};
        for (uint64_t i = 0; i < 2050; i++) {
            if (timed)
                assert_ok(bly_window_advance(f, i));
            (void)add(f, key(1, i / 2));
        }
        assert_ok(bly_filter_clone(f, NULL, &before));
        assert_int_equal(count_found(f, 1, 1000, 1024), 24);
        assert_true(bly_filter_equal(f, before));
        assert_false(add(f, key(1, 1024)));
        assert_int_equal(bly_filter_equal(f, before), timed);
        w = info_of(f);
        assert_int_equal(w.active_arrivals, timed ? 0 : info_of(before).active_arrivals + 1);
        assert_true(timed == (w.arrivals == 0) && w.active_keys == info_of(before).active_keys);
        bly_filter_destroy(before);
        bly_filter_destroy(f);
    }
}

/* Every way to add a key counts an arrival, also in batches. */
static void every_add_counts(void **state) {
    (void)state;
    for (int small = 0; small < 2; small++) {
        bly_filter *f = any_window(small, 800, 8, 0);
        bly_bytes keys[8];
        bly_hash hashes[8];
        for (size_t i = 0; i < COUNT_OF(keys); i++) {
            keys[i] = (bly_bytes){"the same", 8};
            hashes[i] = bly_hash_key(bly_filter_hasher(f), "the same", 8);
        }
        assert_ok(bly_filter_add(f, "the same", 8, NULL));
        assert_ok(bly_filter_add_hash(f, hashes[0], NULL));
        assert_ok(bly_filter_add_many(f, keys, COUNT_OF(keys), NULL, NULL));
        assert_ok(bly_filter_add_hashes(f, hashes, COUNT_OF(hashes), NULL, NULL));
        assert_true(info_of(f).active_arrivals == 18 && info_of(f).arrivals == 18);
        assert_true(info_of(f).active_keys == 1 && bly_filter_count(f) == 1);
        assert_sound(f);
        bly_filter_clear(f);
        assert_true(info_of(f).active_arrivals == 0 && info_of(f).arrivals == 0);
        assert_sound(f);
        bly_filter_destroy(f);
    }
}

/* The age of a key is the number of arrivals since its last one. */
static void ages(void **state) {
    enum { N = 9000 };
    (void)state;
    for (uint64_t keys = 500; keys <= 4000; keys *= 8) {
        bly_filter *f = window(keys, rate, 8, 0, 1);
        uint64_t quota = info_of(f).generation_keys, age;
        for (uint64_t i = 0; i < N; i++)
            (void)add(f, key(1, i / 5));
        for (uint64_t back = 1; back <= keys; back++) {
            uint64_t last = (N - back) / 5 * 5 + 4; /* the last arrival of the key */
            uint64_t since = last < N ? N - last : 1;
            assert_ok(bly_window_age_hash(f, key(1, (N - back) / 5), &age));
            assert_true(age >= since && age <= since + quota - 1);
        }
        bly_filter_destroy(f);
    }
}

/* ---- files, unions and limits -----------------------------------------------------------------
 */

/* A window in an old file, which has no count of arrivals, has as many arrivals as keys. */
static void files_from_before(void **state) {
    static const char *const names[] = {
        "window-fnv1a",       "window-turned-fnv1a",       "window-empty-fnv1",
        "window-small-fnv1a", "window-small-turned-fnv1a", "window-small-empty-fnv1"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char path[PATH_MAX];
        bly_filter *f = NULL;
        (void)snprintf(path, sizeof path, "%s/good/%s.bly", BLYT_GOLDEN_DIR, names[i]);
        assert_ok(bly_filter_load(path, NULL, &f));
        bly_window_info w = info_of(f);
        assert_true(w.active_arrivals == w.active_keys && w.arrivals == bly_filter_count(f));
        bly_filter_destroy(f);
    }
}

/* The current generation of a union has the larger number of arrivals of the two, but at most the
 * quota of the result. */
static void unions(void **state) {
    static const uint64_t ours[] = {0, 3, 50, 50, 100, 99}, theirs[] = {7, 90, 50, 2, 3, 100};
    (void)state;
    for (size_t c = 0; c < 2 * COUNT_OF(ours); c++) {
        bool small = c % 2;
        bly_filter *a = any_window(small, 800, 8, 0), *b = any_window(small, 800, 8, 0);
        uint64_t x = ours[c / 2], y = theirs[c / 2];
        for (uint64_t i = 0; i < x; i++)
            (void)add(a, key(1, i / 3));
        for (uint64_t i = 0; i < y; i++)
            (void)add(b, key(2, i / 2));
        assert_ok(bly_filter_union(a, b));
        assert_int_equal(info_of(a).active_arrivals, x > y ? x : y);
        assert_sound(a);
        for (uint64_t i = 0; i < 700; i++)
            (void)add(a, key(3, 0));
        assert_int_equal(count_found(a, 1, 0, (x + 2) / 3), (x + 2) / 3);
        assert_int_equal(count_found(a, 2, 0, (y + 1) / 2), (y + 1) / 2);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
    }
}

/* Windows of the same shape may be planned for different numbers of keys. */
static void unions_of_other_capacities(void **state) {
    (void)state;
    for (int small = 0; small < 2; small++) {
        bly_spec spec = bly_spec_for(BLY_WINDOW, 40, 0.01);
        bly_filter *few = NULL, *many = any_window(small, 800, 8, 0), *both;
        spec.geometry = bly_filter_geometry(many);
        assert_ok(bly_filter_create(&spec, &few));
        for (uint64_t i = 0; i < 90; i++)
            (void)add(many, key(1, i / 30));
        (void)add(few, key(2, 0));
        assert_ok(bly_filter_clone(many, NULL, &both));
        assert_ok(bly_filter_union(both, few));
        assert_sound(both);
        assert_int_equal(info_of(both).active_arrivals, 90);
        assert_ok(bly_filter_union(few, many)); /* the quota of `few` is five */
        assert_sound(few);
        assert_true(info_of(few).active_arrivals == 5 && info_of(few).active_keys == 3);
        (void)add(few, key(2, 0));
        assert_true(info_of(few).ordinal == 1 && info_of(few).active_arrivals == 1);
        assert_sound(few);
        bly_filter_destroy(both);
        bly_filter_destroy(few);
        bly_filter_destroy(many);
    }
}

/* Files with numbers of repeats that adds cannot cause are refused. */
static void wrong_repeats(void **state) {
    (void)state;
    for (int small = 0; small < 2; small++) {
        bly_filter *f = any_window(small, 800, 8, 0);
        blyi_shape shape = blyi_filter_shape(f);
        blyi_window_set_field(f, BLYI_WIN_REPEATS, 1); /* a repeat without a key */
        assert_false(blyi_window_body_is_valid(&shape, f->body));
        blyi_window_set_field(f, BLYI_WIN_REPEATS, 0);
        for (uint64_t i = 0; i < 30; i++)
            (void)add(f, key(1, i));
        shape = blyi_filter_shape(f);
        uint64_t most = 100 - info_of(f).active_keys;
        static const uint64_t more[] = {1, 2, 1000, UINT64_C(1) << 56, UINT64_C(1) << 63};
        for (size_t i = 0; i < COUNT_OF(more); i++) {
            blyi_window_set_field(f, BLYI_WIN_REPEATS, most + more[i]);
            assert_false(blyi_window_body_is_valid(&shape, f->body));
        }
        blyi_window_set_field(f, BLYI_WIN_REPEATS, 0 - info_of(f).active_keys); /* the sum wraps */
        assert_false(blyi_window_body_is_valid(&shape, f->body));
        blyi_window_set_field(f, BLYI_WIN_REPEATS, most);
        assert_true(blyi_window_body_is_valid(&shape, f->body));
        (void)add(f, key(1, 0)); /* then the generation is full */
        assert_true(info_of(f).ordinal == 1 && info_of(f).active_arrivals == 1);
        assert_sound(f);
        bly_filter_destroy(f);
    }
}

/* A file may state the maximum capacity. After adds, the filter can still be saved and loaded. */
static void most_keys(void **state) {
    (void)state;
    for (int form = 0; form < 4; form++) {
        bly_spec spec = bly_spec_for(BLY_WINDOW, UINT64_C(1) << 60, 0.5);
        bly_filter *model = any_window(form / 2, 800, 8, 0), *f = NULL;
        spec.geometry = bly_filter_geometry(model);
        spec.allow_weak_hash = true;
        spec.window.span = form % 2 ? 1000 : 0;
        assert_ok(bly_filter_create(&spec, &f));
        (void)add(f, key(1, 0));
        blyi_window_set_keys(f, 0, blyi_window_max_keys(&f->geometry), 0);
        f->items = blyi_window_max_keys(&f->geometry);
        assert_sound(f);
        for (uint64_t i = 0; i < 100; i++)
            (void)add(f, key(1, i / 2));
        assert_sound(f);
        assert_int_equal(count_found(f, 1, 0, 50), 50);
        bly_filter_destroy(f);
        bly_filter_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zipf_streams),  cmocka_unit_test(one_key_makes_others_go),
        cmocka_unit_test(what_is_none),  cmocka_unit_test(every_add_counts),
        cmocka_unit_test(ages),          cmocka_unit_test(files_from_before),
        cmocka_unit_test(unions),        cmocka_unit_test(unions_of_other_capacities),
        cmocka_unit_test(wrong_repeats), cmocka_unit_test(most_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
