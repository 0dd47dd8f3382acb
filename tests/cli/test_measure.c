/* test_measure.c - what a measured rate is taken to say. */
#include "support.h"

#include "measure.h"

static void test_broken(void **state) {
    (void)state;
    assert_false(measure_broken(&(measurement){.rate = 0.0109, .low = 0.0105}, 0.01));
    assert_false(measure_broken(&(measurement){.rate = 0.02, .low = 0.0099}, 0.01));
    assert_true(measure_broken(&(measurement){.rate = 0.02, .low = 0.0101}, 0.01));
}

/* An interval that misses the truth by a little is chance: one of twenty does. */
static void test_blames_hash(void **state) {
    (void)state;
    assert_false(measure_blames_hash(&(measurement){.rate = 0.02, .low = 0.0099}, 0.01));
    assert_false(measure_blames_hash(&(measurement){.rate = 0.02, .low = 0.0101}, 0.01));
    assert_false(measure_blames_hash(&(measurement){.rate = 0.02, .low = 0.0109}, 0.01));
    assert_true(measure_blames_hash(&(measurement){.rate = 0.02, .low = 0.0111}, 0.01));
}

/* A hundred measurements of a filter whose bits tell the whole truth: none may blame the hash. */
static void test_chance(void **state) {
    (void)state;
    bly_spec spec = bly_spec_for(BLY_SBBF, 1000, 0.01);
    bly_filter *f;
    bly_stats stats;
    measurement m;
    assert_ok(bly_filter_create(&spec, &f));
    for (uint64_t i = 0; i < 1000; i++)
        assert_ok(bly_filter_add(f, &i, sizeof i, NULL));
    bly_filter_stats(f, &stats);
    for (int i = 0; i < 100 / BLYT_SLOW; i++) {
        assert_true(measure(f, 100000, 1, &m));
        assert_int_equal(m.asked, 100000);
        assert_true(m.low < m.rate && m.rate < m.high);
        assert_false(measure_blames_hash(&m, stats.current_fpr));
    }
    bly_filter_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_blames_hash),
        cmocka_unit_test(test_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
