/* Counts: what can be made, the smallest that keeps its rate, and whether it does keep it. */
#include "counts_support.h"

static void refuses_what_it_cannot_be(void **state) {
    static const struct {
        bly_geometry g;
        bly_status status;
    } table[] = {
        {{BLY_COUNTS, 4, 1, 0, 0}, BLY_OK},
        {{BLY_COUNTS, 4, 1, 0, 1}, BLY_OK},
        {{BLY_COUNTS, 4, 1, 0, 2}, BLY_EGEOMETRY},
        {{BLY_COUNTS, 3, 1, 0, 0}, BLY_EGEOMETRY},
        {{BLY_COUNTS, 4, 0, 0, 0}, BLY_EGEOMETRY},
        {{BLY_COUNTS, 4, 8, BLY_FOLDABLE, 0}, BLY_EGEOMETRY},
        {{BLY_COUNTS, 4, (uint64_t)1 << 39, 0, 0}, BLY_OK},
        {{BLY_COUNTS, 4, ((uint64_t)1 << 39) + 1, 0, 0}, BLY_ETOOBIG},
        {{BLY_COUNTS, 4, UINT64_MAX, 0, 0}, BLY_ETOOBIG},
    };
    bly_filter *f = NULL;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        assert_int_equal(bly_plan_check(&table[i].g), table[i].status);
    assert_int_equal(bly_counts_create_in(63, &f), BLY_EIMPOSSIBLE);
    assert_int_equal(bly_counts_create_in(UINT64_MAX, &f), BLY_ETOOBIG);
    assert_int_equal(bly_counts_create(0, 0.01, &f), BLY_ECOUNT);
    assert_int_equal(bly_counts_create(1000, 0, &f), BLY_ERATE);
    assert_null(f);
    for (uint64_t bytes = 64; bytes < 100000; bytes = bytes * 3 / 2 + 1) {
        assert_ok(bly_counts_create_in(bytes, &f));
        assert_int_equal(bly_filter_file_size(f), 64 + bytes / 64 * 64);
        assert_true(bly_filter_capacity(f) >= bytes / 64 * 10);
        assert_int_equal(bly_filter_remove(f, "a", 1, NULL), BLY_EUNSUPPORTED);
        bly_filter_destroy(f);
    }
    bly_spec spec = bly_spec_for(BLY_COUNTS, 100, 0.1);
    spec.sharing = BLY_SHARED;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EUNSUPPORTED);
}

static void plans_are_the_smallest(void **state) {
    static const double rates[] = {0.5, 0.1, 0.01, 0.001, 0.0001, 0.00001};
    static const double bytes[] = {0, 5.12, 12.22, 27.62, 65.28, 0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        for (uint64_t n = 1; n < 1000000000; n *= 10) {
            bly_geometry g;
            assert_ok(bly_plan(BLY_COUNTS, n, rates[i], 0, 128, &g));
            assert_true(bly_plan_fpr(&g, n, 128) <= rates[i]);
            assert_true(bly_plan_capacity(&g, rates[i], 128) >= n);
            double each = (double)bly_plan_bytes(&g) / (double)n;
            assert_true(n < 1000000 || bytes[i] == 0 || fabs(each / bytes[i] - 1) < 0.01);
            g.size--;
            assert_true(g.size == 0 || bly_plan_fpr(&g, n, 128) > rates[i]);
        }
}

/* Strangers are found as often as the counters say, and these say on average what was planned. */
static void check_rate(uint64_t n, double p, unsigned filters) {
    bly_filter *f = NULL;
    assert_ok(bly_counts_create(n, p, &f));
    bly_geometry g = bly_filter_geometry(f);
    double planned = bly_plan_fpr(&g, n, 64), sum = 0, squares = 0;
    uint64_t queries = (uint64_t)(2500 / planned / filters) + 1;
    tally found = {0};
    for (unsigned seed = 1; seed <= filters; seed++) {
        bly_stats s;
        bly_filter_clear(f);
        add_hashes(f, seed, 0, n);
        bly_filter_stats(f, &s);
        ask_strangers(f, seed + 100000, queries, s.current_fpr, &found);
        sum += s.current_fpr;
        squares += s.current_fpr * s.current_fpr;
        double sigma = sqrt(0.3 / (double)g.size / 16) + 1 / (double)n;
        assert_true(fabs(s.estimated_keys / (double)n - 1) < 5 * sigma);
        assert_true(fabs(s.expected_fill / s.fill - 1) < 1e-9 && s.stuck == 0);
        assert_true(fabs(s.predicted_fpr / planned - 1) < 25 * sigma);
    }
    double mean = sum / filters, spread = sqrt(fmax(0, squares / filters - mean * mean));
    bool fits = fabs(mean - planned) <= 5 * spread / sqrt(filters - 1.0) + 1e-3 * planned;
    if (!fits || getenv("BLYT_VERBOSE"))
        print_message("%g keys at %g: mean %g, planned %g, spread %g of %u\n", (double)n, p, mean,
                      planned, spread, filters);
    assert_true(fits && planned <= p && planned > 0.7 * p);
    judge(&found, "current", (double)n, p);
    bly_filter_destroy(f);
}

static void rates_are_as_planned(void **state) {
    static const double rates[] = {0.01, 0.001, 0.0001};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        check_rate(1000, rates[i], 60);
        check_rate(100000, rates[i], 12 / (BLYT_SLOW > 1 ? 2 : 1));
        if (i == 0 || long_run())
            check_rate(1000000 / BLYT_SLOW, rates[i], 6);
        if (long_run())
            check_rate(10000000, rates[i], 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_it_cannot_be),
        cmocka_unit_test(plans_are_the_smallest),
        cmocka_unit_test(rates_are_as_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
