/* test_measure.c - what a measured rate is taken to say. */
#include "support.h"

#include "filters/measure.h"

static bool broken(uint64_t asked, uint64_t wrong, double promise) {
    measurement m = {.asked = asked, .wrong = wrong, .rate = (double)wrong / (double)asked};
    return measure_broken(&m, promise);
}

static void test_broken(void **state) {
    (void)state;
    assert_false(broken(1000000, 10900, 0.01)); /* by less than a tenth */
    assert_true(broken(1000000, 11100, 0.01));
    /* Expected are 10; 5 sqrt(10 * 0.999) + 4 = 19.8 more may come by chance. */
    assert_false(broken(10000, 20, 0.001));
    assert_false(broken(10000, 29, 0.001));
    assert_true(broken(10000, 30, 0.001));
    assert_false(broken(100, 4, 1e-6)); /* too few to say anything */
}

/* A rate that misses the truth by a little is chance: expected are 1100 (a tenth more than the bits
 * give); 5 sqrt(1100 * 0.989) + 4 = 168.9 more may come. */
static void test_blames_hash(void **state) {
    (void)state;
    assert_false(measure_blames_hash(&(measurement){.asked = 100000, .wrong = 1000}, 0.01));
    assert_false(measure_blames_hash(&(measurement){.asked = 100000, .wrong = 1268}, 0.01));
    assert_true(measure_blames_hash(&(measurement){.asked = 100000, .wrong = 1269}, 0.01));
    assert_false(measure_blames_hash(&(measurement){.asked = 100, .wrong = 100}, 1)); /* full */
}

/* A hundred measurements of a filter whose bits tell the whole truth: none may blame the hash
 * or break the promise. */
static void test_chance(void **state) {
    (void)state;
    bly_spec spec = bly_spec_for(BLY_SBBF, 1000, 0.01);
    bly_filter *f;
    bly_filter_info stats = {.struct_size = sizeof stats};
    measurement m;
    assert_ok(bly_filter_create(&spec, &f));
    for (uint64_t i = 0; i < 1000; i++)
        assert_ok(bly_filter_add(f, &i, sizeof i, NULL));
    bly_filter_get_info(f, &stats);
    for (int i = 0; i < 100 / BLYT_SLOW; i++) {
        assert_true(measure(f, 100000, 1, &m));
        assert_int_equal(m.asked, 100000);
        assert_true(m.low < m.rate && m.rate < m.high);
        assert_false(measure_blames_hash(&m, stats.current_fpr));
        assert_false(measure_broken(&m, stats.current_fpr));
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
