/* test_measure.c - when a measured rate counts as too high. */
#include "support.h"

#include "filters/measure.h"

static bool above(uint64_t lines, uint64_t positives, double requested) {
    measurement m = {
        .lines = lines, .positives = positives, .rate = (double)positives / (double)lines};
    return measure_above(&m, requested);
}

static void test_above(void **state) {
    (void)state;
    assert_false(above(1000000, 10900, 0.01)); /* less than a tenth above 0.01 */
    assert_true(above(1000000, 11100, 0.01));
    /* 10 false positives are expected; 5 sqrt(10 * 0.999) + 4 = 19.8 more are possible by
     * chance. */
    assert_false(above(10000, 20, 0.001));
    assert_false(above(10000, 29, 0.001));
    assert_true(above(10000, 30, 0.001));
    assert_false(above(100, 4, 1e-6)); /* too few lines to decide */
}

/* A rate above that of the bits blames the hash only if chance does not explain it. Here 1,100
 * false positives are accepted as expected, a tenth more than the bits give, and 5 sqrt(1100 *
 * 0.989) + 4 = 168.9 more as chance. */
static void test_blames_hash(void **state) {
    (void)state;
    assert_false(measure_blames_hash(&(measurement){.lines = 100000, .positives = 1000}, 0.01));
    assert_false(measure_blames_hash(&(measurement){.lines = 100000, .positives = 1268}, 0.01));
    assert_true(measure_blames_hash(&(measurement){.lines = 100000, .positives = 1269}, 0.01));
    assert_false(measure_blames_hash(&(measurement){.lines = 100, .positives = 100}, 1)); /* full */
}

/* A hundred measurements of one filter, whose true rate follows from its bits. None may blame the
 * hash, or find a rate that counts as above the true one. */
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
        assert_int_equal(m.lines, 100000);
        assert_true(m.low < m.rate && m.rate < m.high);
        assert_false(measure_blames_hash(&m, stats.current_fpr));
        assert_false(measure_above(&m, stats.current_fpr));
    }
    bly_filter_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_above),
        cmocka_unit_test(test_blames_hash),
        cmocka_unit_test(test_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
