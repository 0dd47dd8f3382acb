/* The multilayer filter: its plan, the spills that go with it, and its rates. */
#include "multilayer_support.h"

/* ---- plan ------------------------------------------------------------------------------------ */

static void takes_the_bits_promised(void **state) {
    static const struct {
        double p, most;
        uint32_t k;
    } table[] = {{0.01, 18.5, 4}, {0.005, 22, 4}, {0.001, 30.5, 5}, {0.0001, 42.7, 7}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        for (uint64_t n = 100000; n <= 1000000000; n *= 10) {
            bly_geometry g;
            assert_ok(bly_plan(BLY_MULTILAYER, n, table[i].p, 0, 64, &g));
            assert_int_equal(g.hashes, table[i].k);
            assert_true((double)bly_plan_bits(&g) / (double)n <= table[i].most);
            assert_true(bly_plan_fpr(&g, n, 64) <= table[i].p);
            assert_true(blyi_ml_spill(&g, (double)n) <= 1e-3);
        }
}

static void plans_hold_their_keys(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 3000; n += n < 200 ? 1 : 37) {
        bly_geometry g;
        assert_ok(bly_plan(BLY_MULTILAYER, n, 0.01, 0, 64, &g));
        assert_ok(bly_plan_check(&g));
        assert_true(bly_plan_capacity(&g, 0.01, 64) >= n);
    }
    for (uint64_t n = (uint64_t)1 << 56; n > 1; n /= 13)
        for (double p = 0.9; p > 0x1p-40; p /= 17) {
            bly_geometry g;
            bly_status status = bly_plan(BLY_MULTILAYER, n, p, 0, 128, &g);
            assert_true(status == BLY_OK || (status == BLY_ETOOBIG && n > (uint64_t)1 << 38));
            if (status == BLY_OK)
                assert_true(bly_plan_fpr(&g, n, 128) <= p && bly_plan_capacity(&g, p, 128) >= n);
        }
}

/* The rate of a block with t places taken, from the chances of every number of bits that are set.
 */
static double rate_of_block(unsigned t, unsigned k) {
    double chance[BLYI_ML_CELLS + 1] = {1}, rate = 0;
    for (; t > 0; t--)
        for (unsigned x = BLYI_ML_CELLS + 1; x-- > 0;)
            chance[x] =
                (chance[x] * x + (x ? chance[x - 1] * (BLYI_ML_CELLS - x + 1) : 0)) / BLYI_ML_CELLS;
    for (unsigned x = 1; x <= BLYI_ML_CELLS; x++)
        rate += chance[x] * pow((double)x / BLYI_ML_CELLS, k);
    return rate;
}

static void low_rates_are_exact(void **state) {
    static const double asked[] = {1e-2, 1e-4, 1e-8, 1e-10, 1e-12};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        bly_geometry g;
        const double n = 100000;
        assert_ok(bly_plan(BLY_MULTILAYER, 100000, asked[i], 0, 128, &g));
        double q = 1 / (double)g.size, rate = 0;
        for (unsigned keys = 1; keys < 100; keys++) {
            double ways = lgamma(n + 1) - lgamma(keys + 1.0) - lgamma(n - keys + 1);
            rate += exp(ways + keys * log(q) + (n - keys) * log1p(-q)) *
                    rate_of_block(keys * g.hashes, g.hashes);
        }
        assert_true(rate <= asked[i] * (1 + 1e-6));
        assert_true(fabs(bly_plan_fpr(&g, 100000, 128) / rate - 1) < 1e-6);
    }
}

static void refuses_other_geometries(void **state) {
    const uint64_t most = (uint64_t)1 << 39;
    const struct {
        bly_geometry g;
        bly_status status;
    } table[] = {
        {{BLY_MULTILAYER, 0, 100, 0, 0}, BLY_EGEOMETRY},
        {{BLY_MULTILAYER, 33, 100, 0, 0}, BLY_EGEOMETRY},
        {{BLY_MULTILAYER, 4, 0, 0, 0}, BLY_EGEOMETRY},
        {{BLY_MULTILAYER, 4, 100, BLY_FOLDABLE, 0}, BLY_EGEOMETRY},
        {{BLY_MULTILAYER, 4, 100, 0, 21}, BLY_EGEOMETRY}, /* 112 records do for 100 blocks */
        {{BLY_MULTILAYER, 4, 100, 0, 65535}, BLY_EGEOMETRY},
        {{BLY_MULTILAYER, 4, UINT64_MAX, 0, 0}, BLY_ETOOBIG},
        {{BLY_MULTILAYER, 4, most + 1, 0, 0}, BLY_ETOOBIG},
        {{BLY_MULTILAYER, 4, most, 0, 1}, BLY_ETOOBIG},
        {{BLY_MULTILAYER, 4, most / 2, 0, blyi_size_class_for(most / 2)}, BLY_ETOOBIG},
        {{BLY_MULTILAYER, 4, most, 0, 0}, BLY_OK},
        {{BLY_MULTILAYER, 4, 1, 0, 1}, BLY_OK},
        {{BLY_MULTILAYER, 32, 100, 0, 20}, BLY_OK},
        {{BLY_MULTILAYER, 1, 1, 0, 0}, BLY_OK},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        if (bly_plan_check(&table[i].g) != table[i].status)
            print_message("geometry %zu\n", i);
        assert_int_equal(bly_plan_check(&table[i].g), table[i].status);
    }
}

/* A filter filled with as many distinct keys as it is for has the spills foretold, and seldom needs
 * more room than it began with. */
static void spills_are_as_planned(void **state) {
    static const struct {
        uint64_t n;
        unsigned seeds;
    } table[] = {{1000, 300}, {10000, 200}, {100000, 60}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        unsigned seeds = table[i].seeds / (blyt_large() ? 1 : 4) / BLYT_SLOW, grown = 0;
        double spilled = 0, expected = 0;
        for (unsigned seed = 1; seed <= seeds; seed++) {
            bly_filter *f = multilayer(table[i].n, 0.01);
            bly_geometry g = bly_filter_geometry(f);
            add_hashes(f, seed, 0, table[i].n);
            grown += bly_filter_geometry(f).detail != g.detail;
            spilled += (double)records_used(f);
            expected += blyi_ml_spill(&g, (double)table[i].n) * (double)g.size;
            bly_filter_destroy(f);
        }
        if (getenv("BLYT_VERBOSE"))
            print_message("%g keys, %u filters: %.0f spilled, %.1f expected, %u grown\n",
                          (double)table[i].n, seeds, spilled, expected, grown);
        assert_true(fabs(spilled - expected) <= 5 * sqrt(expected) + 4);
        assert_true(grown <= 0.05 * seeds + 5 * sqrt(0.05 * seeds));
    }
}

/* ---- rates ----------------------------------------------------------------------------------- */

/* How unlike the blocks' rates are, as a share of the square of their mean: the rate of a filter of
 * z blocks has this over z. */
static double spread_of(const bly_filter *f) {
    double sum = 0, squares = 0, z = (double)f->geometry.size;
    for (uint64_t i = 0; i < f->geometry.size; i++) {
        double set = 0;
        for (unsigned j = 0; j < 5; j++)
            set += blyi_popcount64(blyi_ml_block(f, i)[j]);
        double rate = pow(set / 320, f->geometry.hashes);
        sum += rate;
        squares += rate * rate;
    }
    return sum > 0 ? fmax(0, squares * z / (sum * sum) - 1) : 0;
}

static void judge_with(const tally *t, double variance, double n, double p) {
    double sigma = sqrt(t->expected + variance * t->expected * t->expected);
    bool fits = fabs(t->found - t->expected) <= 5 * sigma + 4;
    if (!fits || getenv("BLYT_VERBOSE"))
        print_message("%g keys at %g: found %.0f of %.0f (%.4g), expected %.1f, sigma %.1f\n", n, p,
                      t->found, t->asked, t->found / t->asked, t->expected, sigma);
    assert_true(fits);
}

/* Of 2500 false positives five sigma are a tenth. Below 0.001 there is only time for as many in
 * test_multilayer_rates_large. */
static void check_rate(uint64_t n, uint64_t capacity, double p) {
    const uint64_t most = (blyt_large() ? 30000000U : 2600000U) / BLYT_SLOW;
    unsigned filters = n <= 10 ? 400 : n <= 1000 ? 50 : n <= 20000 ? 5 : 1;
    bly_filter *f = multilayer(capacity, p);
    bly_geometry g = bly_filter_geometry(f);
    double planned = bly_plan_fpr(&g, n, 64), spread = 0;
    uint64_t queries = (uint64_t)(2500 / planned / filters) + 1;
    tally by_plan = {0}, by_stats = {0};
    if (queries > most / filters)
        queries = most / filters;
    for (unsigned seed = 1; seed <= filters; seed++) {
        bly_stats s;
        bly_filter_clear(f);
        add_hashes(f, seed, 0, n);
        bly_filter_stats(f, &s);
        tally one = {0};
        ask_strangers(f, seed + 100000, queries, planned, &one);
        by_plan = (tally){by_plan.asked + one.asked, by_plan.found + one.found,
                          by_plan.expected + one.expected};
        by_stats = (tally){by_plan.asked, by_plan.found,
                           by_stats.expected + s.current_fpr * (double)queries};
        spread += spread_of(f) / (double)g.size;
        assert_true(fabs(s.estimated_keys / (double)n - 1) < 5 / sqrt((double)n) + 0.02);
        assert_true(fabs(s.fill - s.expected_fill) < 0.05);
    }
    judge_with(&by_plan, spread / filters / filters, (double)n, p);
    judge_with(&by_stats, 0, (double)n, p);
    bly_filter_destroy(f);
}

static void rates_are_as_planned(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(multilayer_rates); i++) {
        check_rate(1000, 1000, multilayer_rates[i]);
        check_rate(500, 1000, multilayer_rates[i]);
        check_rate(100000, 100000, multilayer_rates[i]);
        if (blyt_large() && BLYT_SLOW == 1)
            check_rate(1000000, 1000000, multilayer_rates[i]);
        if (long_run())
            check_rate(10000000, 10000000, multilayer_rates[i]);
    }
    check_rate(10, 10, 0.01);
    check_rate(300, 300, 0.2);
    check_rate(3000, 3000, 0.00001);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_bits_promised), cmocka_unit_test(plans_hold_their_keys),
        cmocka_unit_test(low_rates_are_exact),     cmocka_unit_test(refuses_other_geometries),
        cmocka_unit_test(spills_are_as_planned),   cmocka_unit_test(rates_are_as_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
