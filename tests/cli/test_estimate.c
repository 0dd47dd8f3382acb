/* The estimated number of keys in a sketch and its 95% range; and how often a state is saved. */
#include "support.h"

#include "filters/measure.h"
#include "io/autosave.h"

#include <time.h>

/* ---- estimates ------------------------------------------------------------------------------- */

static bly_filter *sketch_of(uint64_t keys, uint64_t seed) {
    bly_filter *f;
    assert_ok(blyt_new_exact(BLY_HLL, (uint64_t)1 << 12, 12, &f));
    for (uint64_t i = 0; i < keys; i++) {
        const uint64_t key[] = {seed, i};
        assert_ok(bly_filter_add(f, key, sizeof key, NULL));
    }
    return f;
}

/* In 400 trials, about 20 of the 95% ranges miss the true number of keys. From 1 to 45 misses are
 * accepted; 45 is 5.7 sigma above the mean. */
static void test_range(void **state) {
    enum { TRIALS = 400, KEYS = 5000 };
    unsigned missed = 0;
    (void)state;
    for (uint64_t i = 0; i < TRIALS; i++) {
        bly_filter *f = sketch_of(KEYS, i);
        const estimate e = estimate_of(f, UINT64_MAX);
        assert_true(e.low < e.keys && e.keys < e.high);
        assert_true(fabs(e.error - 0.01623) < 0.0001);
        missed += KEYS < e.low || KEYS > e.high;
        bly_filter_destroy(f);
    }
    assert_in_range(missed, 1, 45);
}

static void test_few(void **state) {
    char range[ESTIMATE_RANGE];
    (void)state;
    for (uint64_t keys = 0; keys <= 10; keys++) {
        bly_filter *f = sketch_of(keys, 1);
        const estimate e = estimate_of(f, UINT64_MAX);
        assert_true(e.keys == keys && e.low == keys && e.high == keys);
        assert_string_equal(estimate_range(&e, range), "");
        bly_filter_destroy(f);
    }
}

/* The estimate is limited to the number of lines, which the caller gives. */
static void test_most(void **state) {
    char range[ESTIMATE_RANGE];
    (void)state;
    bly_filter *f = sketch_of(5000, 3);
    const estimate free = estimate_of(f, UINT64_MAX), bound = estimate_of(f, free.keys),
                   less = estimate_of(f, 10);
    assert_true(bound.keys == free.keys && bound.high == free.keys && bound.low == free.low);
    assert_true(less.keys == 10 && less.low == 10 && less.high == 10);
    assert_string_equal(estimate_range(&less, range), "");
    /* An estimate that is reduced to a much smaller limit still has a range, unless the limit is
     * small. */
    const estimate half = estimate_of(f, 2500);
    assert_true(half.keys == 2500 && half.high == 2500 && half.low == 2420);
    assert_non_null(strstr(estimate_range(&free, range), " with 95% certainty)"));
    bly_filter_destroy(f);
}

/* Even registers that no number of keys is likely to produce give an estimate. */
static void test_full(void **state) {
    bly_filter *f;
    (void)state;
    assert_ok(blyt_new_exact(BLY_HLL, (uint64_t)1 << 4, 4, &f));
    for (uint64_t i = 0; i < 16; i++)
        assert_ok(bly_filter_add_hash(f, (bly_hash){0, i << 60}, NULL));
    const estimate e = estimate_of(f, UINT64_MAX);
    assert_true(e.keys > UINT64_C(1) << 50 && e.keys <= INT64_MAX && e.high <= INT64_MAX);
    assert_int_equal(estimate_of(f, 7).keys, 7);
    bly_filter_destroy(f);
}

/* ---- autosave -------------------------------------------------------------------------------- */

static double now = 1000;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out) {
    (void)clock;
    out->tv_sec = (time_t)now;
    out->tv_nsec = (long)((now - (double)out->tv_sec) * 1e9);
    return 0;
}

static void save_in(autosave *p, double seconds) {
    autosave_begin(p);
    now += seconds;
    autosave_end(p);
}

static void test_autosave(void **state) {
    (void)state;
    autosave p = autosave_start();
    assert_false(autosave_due(&p));
    now += 0.9;
    assert_false(autosave_due(&p));
    now += 0.2;
    assert_true(autosave_due(&p));
    save_in(&p, 0.01); /* after a short save, the next is due in 1 s */
    assert_false(autosave_due(&p));
    now += 1.1;
    assert_true(autosave_due(&p));
    save_in(&p, 3); /* at most a twentieth of the time: after 3 s, the next is due in 60 s */
    now += 59;
    assert_false(autosave_due(&p));
    now += 2;
    assert_true(autosave_due(&p));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_range), cmocka_unit_test(test_few),      cmocka_unit_test(test_most),
        cmocka_unit_test(test_full),  cmocka_unit_test(test_autosave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
