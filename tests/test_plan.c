/* Planning: pure functions, so every promise can be checked without a filter. */
#include "support.h"

#include <math.h>

static void refuses_nonsense(void **state) {
    static const double bad_rates[] = {0, -0.5, 1, 2, NAN, INFINITY, -INFINITY, 1e-13};
    bly_geometry g = {0};
    const bly_geometry untouched = {0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_rates); i++)
        assert_int_equal(bly_plan(BLY_SBBF, 1000, bad_rates[i], 0, 64, &g), BLY_ERATE);
    assert_int_equal(bly_plan(BLY_SBBF, 0, 0.01, 0, 64, &g), BLY_ECOUNT);
    assert_int_equal(bly_plan((bly_kind)99, 10, 0.01, 0, 64, &g), BLY_EKIND);
    assert_int_equal(bly_plan(BLY_KIND_NONE, 10, 0.01, 0, 64, &g), BLY_EKIND);
    assert_int_equal(bly_plan(BLY_SBBF, 10, 0.01, BLY_TEXTBOOK, 64, &g), BLY_EINVAL);
    assert_int_equal(bly_plan(BLY_CLASSIC, 10, 0.01, 1u << 9, 64, &g), BLY_EINVAL);
    assert_int_equal(bly_plan(BLY_SBBF, 10, 0.01, 0, 16, &g), BLY_EINVAL);
    assert_int_equal(bly_plan(BLY_SBBF, UINT64_MAX, 0.01, 0, 128, &g), BLY_ETOOBIG);
    assert_int_equal(bly_plan(BLY_CLASSIC, (uint64_t)1 << 47, 0.01, 0, 64, &g), BLY_ETOOBIG);
    assert_int_equal(bly_plan(BLY_SBBF, 1000000, 0.0001, 0, 32, &g), BLY_EWEAKHASH);
    assert_int_equal(bly_plan(BLY_SBBF, 4300000, 0.01, 0, 32, &g), BLY_EWEAKHASH);
    assert_ok(bly_plan(BLY_SBBF, 4200000, 0.01, 0, 32, &(bly_geometry){0}));
    assert_memory_equal(&g, &untouched, sizeof g);
}

static void every_status_has_a_sentence(void **state) {
    (void)state;
    for (int s = 0; s >= -17; s--)
        assert_true(strlen(bly_strerror((bly_status)s)) > 5);
    assert_string_equal(bly_strerror((bly_status)-18), "unknown status");
    assert_string_equal(bly_strerror((bly_status)77), "unknown status");
    assert_string_equal(bly_version(), BLOOMERY_VERSION_STRING);
}

/* A plan is the smallest: it keeps the rate, and one step less would not. */
static void plans_are_tight(void **state) {
    static const uint64_t sizes[] = {1, 7, 100, 5000, 1000000, 3000000000};
    static const double rates[] = {0.5, 0.1, 0.03, 0.01, 0.001, 1e-4, 1e-6, 1e-9};
    (void)state;
    for (size_t c = 0; c < BLYT_PLANNED; c++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++)
            for (size_t j = 0; j < COUNT_OF(rates); j++) {
                bly_geometry g;
                uint64_t n = sizes[i];
                assert_ok(
                    bly_plan(blyt_cases[c].kind, n, rates[j], blyt_cases[c].options, 128, &g));
                assert_ok(bly_plan_check(&g));
                assert_true(bly_plan_fpr(&g, n, 128) <= rates[j]);
                assert_true(bly_plan_capacity(&g, rates[j], 128) >= n);
                uint64_t step = g.kind == BLY_CLASSIC || g.kind == BLY_PARTITIONED ? 64 : 1;
                uint64_t least = g.kind == BLY_CLASSIC ? 512 : step;
                if (g.size > least) {
                    g.size -= step;
                    assert_true(bly_plan_fpr(&g, n, 128) > rates[j]);
                }
            }
}

/* No other k would have done with less: every k, every smaller size, tried one by one. */
static void no_smaller_geometry_exists(void **state) {
    static const double rates[] = {0.3, 0.1, 0.01, 1e-3, 1e-5, 1e-7};
    static const uint64_t sizes[] = {1, 5, 100, 1000};
    (void)state;
    for (size_t c = 0; c < BLYT_PLANNED; c++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++)
            for (size_t j = 0; j < COUNT_OF(rates); j++) {
                bly_geometry best;
                bly_kind kind = blyt_cases[c].kind;
                assert_ok(bly_plan(kind, sizes[i], rates[j], blyt_cases[c].options, 128, &best));
                uint64_t bits = bly_plan_bits(&best);
                uint64_t step = kind == BLY_CLASSIC || kind == BLY_PARTITIONED ? 64 : 1;
                for (uint32_t k = 1; k <= 64; k++) {
                    bly_geometry g = {kind, k, step, blyt_cases[c].options};
                    if (bly_plan_check(&g))
                        continue;
                    uint64_t per_step = bly_plan_bits(&g);
                    g.size = (bits - 1) / per_step * step;
                    if (kind == BLY_CLASSIC && g.size < 512)
                        continue; /* a plan never proposes less than a cache line */
                    if (g.size)
                        assert_true(bly_plan_fpr(&g, sizes[i], 128) > rates[j]);
                }
            }
}

/* The published closed formula, per k, is never beaten by more than rounding. */
static void classic_matches_theory(void **state) {
    (void)state;
    for (double p = 0.3; p > 1e-9; p /= 3) {
        bly_geometry g;
        assert_ok(bly_plan(BLY_CLASSIC, 10000000, p, 0, 128, &g));
        double theory = -log(p) / (log(2) * log(2)) * 1e7;
        assert_true((double)g.size > theory * 0.9999 && (double)g.size < theory * 1.03);
    }
}

static void rate_grows_and_capacity_inverts(void **state) {
    (void)state;
    for (size_t c = 0; c < BLYT_PLANNED; c++) {
        bly_geometry g;
        assert_ok(bly_plan(blyt_cases[c].kind, 50000, 0.01, blyt_cases[c].options, 64, &g));
        double last = 0;
        for (uint64_t n = 0; n <= 10000000; n = n * 2 + 1) {
            double rate = bly_plan_fpr(&g, n, 64);
            assert_true(rate >= last && rate <= 1);
            last = rate;
        }
        assert_true(last > 0.999);
        for (double p = 1e-5; p < 0.9; p *= 3) {
            uint64_t n = bly_plan_capacity(&g, p, 64);
            assert_true(n == 0 || bly_plan_fpr(&g, n, 64) <= p);
            assert_true(bly_plan_fpr(&g, n + 1, 64) > p);
        }
        assert_int_equal(bly_plan_capacity(&g, 0, 64), 0);
        assert_int_equal(bly_plan_capacity(&g, NAN, 64), 0);
        assert_true(bly_plan_fpr(&g, UINT64_MAX, 128) == 1);
    }
}

static void fill_and_keys_are_inverse(void **state) {
    (void)state;
    for (size_t c = 0; c < BLYT_PLANNED; c++) {
        bly_geometry g;
        assert_ok(bly_plan(blyt_cases[c].kind, 100000, 0.001, blyt_cases[c].options, 64, &g));
        uint64_t bits = bly_plan_bits(&g);
        for (double n = 10; n < 400000; n *= 3) {
            double set = bly_plan_fill(&g, n) * (double)bits;
            assert_true(fabs(bly_plan_keys(&g, (uint64_t)set) / n - 1) < 0.02);
        }
        assert_true(bly_plan_keys(&g, 0) == 0);
        assert_true(isinf(bly_plan_keys(&g, bits)));
        assert_true(bly_plan_fill(&g, 0) == 0);
    }
}

/* More than 2^32 keys and bits: nothing wraps, and the rate per key is what small plans have. */
static void huge_plans(void **state) {
    (void)state;
    for (size_t c = 0; c < BLYT_PLANNED; c++) {
        bly_geometry small, huge;
        bly_kind kind = blyt_cases[c].kind;
        uint64_t n = 5000000000;
        assert_ok(bly_plan(kind, 1000000, 0.01, blyt_cases[c].options, 128, &small));
        assert_ok(bly_plan(kind, n, 0.01, blyt_cases[c].options, 128, &huge));
        double ratio = (double)bly_plan_bits(&huge) / (double)bly_plan_bits(&small) / 5000;
        assert_true(fabs(ratio - 1) < 0.005);
        assert_true(bly_plan_bits(&huge) > (uint64_t)1 << 35);
        assert_true(bly_plan_bytes(&huge) >= bly_plan_bits(&huge) / 8);
        assert_true(bly_plan_bytes(&huge) < bly_plan_bits(&huge) / 8 + 64);
        assert_true(bly_plan_capacity(&huge, 0.01, 128) >= n);
    }
}

static void foldable_rounds_by_little(void **state) {
    (void)state;
    for (uint64_t n = 100; n < 100000000; n = n * 7 + 3) {
        bly_geometry exact, round;
        assert_ok(bly_plan(BLY_SPLIT512, n, 0.01, 0, 64, &exact));
        assert_ok(bly_plan(BLY_SPLIT512, n, 0.01, BLY_FOLDABLE, 64, &round));
        assert_true(round.size >= exact.size);
        assert_true((double)round.size <= (double)exact.size * 1.033);
        uint64_t odd = round.size;
        while (odd % 2 == 0)
            odd /= 2;
        assert_true(odd < 64);
    }
}

static void bad_geometries(void **state) {
    static const struct {
        bly_geometry g;
        bly_status status;
    } table[] = {
        {{BLY_CLASSIC, 0, 1024, 0}, BLY_EGEOMETRY},
        {{BLY_CLASSIC, 65, 1024, 0}, BLY_EGEOMETRY},
        {{BLY_CLASSIC, 7, 63, 0}, BLY_EGEOMETRY},
        {{BLY_CLASSIC, 7, 64, 0}, BLY_OK},
        {{BLY_CLASSIC, 7, (uint64_t)1 << 48, 0}, BLY_OK},
        {{BLY_CLASSIC, 7, ((uint64_t)1 << 48) + 1, 0}, BLY_ETOOBIG},
        {{BLY_CLASSIC, 7, 1001, BLY_TEXTBOOK}, BLY_OK},
        {{BLY_CLASSIC, 7, 1024, 8}, BLY_EGEOMETRY},
        {{BLY_SBBF, 8, 10, BLY_TEXTBOOK}, BLY_EGEOMETRY},
        {{BLY_PARTITIONED, 7, 100, 0}, BLY_EGEOMETRY},
        {{BLY_PARTITIONED, 7, 128, 0}, BLY_OK},
        {{BLY_PARTITIONED, 64, (uint64_t)1 << 43, 0}, BLY_ETOOBIG},
        {{BLY_SBBF, 8, 0, 0}, BLY_EGEOMETRY},
        {{BLY_SBBF, 7, 10, 0}, BLY_EGEOMETRY},
        {{BLY_SBBF, 8, UINT64_MAX, 0}, BLY_ETOOBIG},
        {{BLY_SPLIT512, 10, 10, 0}, BLY_EGEOMETRY},
        {{BLY_SPLIT512, 12, 10, 0}, BLY_OK},
        {{BLY_BB2X512, 7, 10, 0}, BLY_EGEOMETRY},
        {{BLY_BB2X512, 18, 10, 0}, BLY_EGEOMETRY},
        {{BLY_SCALABLE, 1, 128, 0}, BLY_OK},
        {{BLY_SCALABLE, 48, 48 * 128, 0}, BLY_OK},
        {{BLY_SCALABLE, 0, 128, 0}, BLY_EGEOMETRY},
        {{BLY_SCALABLE, 49, 49 * 128, 0}, BLY_EGEOMETRY},
        {{BLY_SCALABLE, 1, 64, 0}, BLY_EGEOMETRY},
        {{BLY_SCALABLE, 1, 0, 0}, BLY_EGEOMETRY},
        {{BLY_SCALABLE, 2, 192, 0}, BLY_EGEOMETRY},
        {{BLY_SCALABLE, 1, 130, 0}, BLY_EGEOMETRY},
        {{BLY_SCALABLE, 1, 128, BLY_FOLDABLE}, BLY_EGEOMETRY},
        {{BLY_SCALABLE, 1, (uint64_t)1 << 45, 0}, BLY_OK},
        {{BLY_SCALABLE, 1, ((uint64_t)1 << 45) + 64, 0}, BLY_ETOOBIG},
        {{BLY_SCALABLE, 1, UINT64_MAX - 63, 0}, BLY_ETOOBIG},
        {{(bly_kind)7, 8, 10, 0}, BLY_EKIND},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        assert_int_equal(bly_plan_check(&table[i].g), table[i].status);
}

/* A scalable filter has a size, but none that could be planned. */
static void scalable_has_no_plan(void **state) {
    bly_geometry g = {BLY_SCALABLE, 2, 1024, 0};
    (void)state;
    assert_int_equal(bly_plan(BLY_SCALABLE, 10, 0.01, 0, 64, &g), BLY_EKIND);
    assert_int_equal(bly_plan_bytes(&g), 1024); /* untouched */
    assert_int_equal(bly_plan_bits(&g), 8192);
    assert_true(bly_plan_fpr(&g, 1, 64) == 1 && bly_plan_capacity(&g, 0.5, 64) == 0);
    assert_true(bly_plan_fill(&g, 100) == 0 && isinf(bly_plan_keys(&g, 0)));
}

static void names(void **state) {
    bly_kind kind = BLY_CLASSIC, next = BLY_KIND_NONE;
    (void)state;
    for (int k = BLY_CLASSIC; k <= BLY_SCALABLE; k++) {
        next = bly_kind_next(next);
        assert_int_equal(next, k);
        assert_ok(bly_kind_by_name(bly_kind_name((bly_kind)k), &kind));
        assert_int_equal(kind, k);
        assert_int_not_equal(bly_kind_capabilities(kind), 0);
    }
    assert_int_equal(bly_kind_next(next), BLY_KIND_NONE);
    assert_int_equal(bly_kind_next((bly_kind)99), BLY_KIND_NONE);
    assert_int_equal(bly_kind_by_name("bloomy", &kind), BLY_EKIND);
    assert_int_equal(kind, BLY_SCALABLE);
    assert_null(bly_kind_name((bly_kind)0));
    assert_int_equal(bly_kind_capabilities((bly_kind)0), 0);
    assert_int_equal(bly_plan_layout(0.01), BLY_SBBF);
    assert_int_equal(bly_plan_layout(0.001), BLY_SPLIT512);
    assert_int_equal(bly_plan_layout(0.0001), BLY_BB2X512);
}

/* Any three give the fourth, and the answer is the best whole number. */
static void textbook_round_trip(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 100000000000; n = n * 11 + 1) {
        for (double p = 0.3; p > 1e-7; p /= 7) {
            bly_textbook t = {.keys = n, .hashes = bly_textbook_hashes(p), .fpr = p};
            assert_ok(bly_textbook_solve(&t));
            assert_true(bly_textbook_fpr(t.bits, t.hashes, n) <= p * (1 + 1e-9));
            if (t.bits > 1)
                assert_true(bly_textbook_fpr(t.bits - 1, t.hashes, n) >= p * (1 - 1e-9));
            bly_textbook back = {.bits = t.bits, .hashes = t.hashes, .fpr = p};
            assert_ok(bly_textbook_solve(&back));
            assert_true(back.keys >= n && (double)back.keys <= (double)n * 1.5 + 1);
            bly_textbook rate = {.keys = n, .bits = t.bits, .hashes = t.hashes};
            assert_ok(bly_textbook_solve(&rate));
            assert_true(rate.fpr <= p * (1 + 1e-9));
            bly_textbook k = {.keys = n, .bits = t.bits + 1, .fpr = p};
            assert_ok(bly_textbook_solve(&k));
            assert_true(k.hashes <= t.hashes);
            assert_true(bly_textbook_fpr(k.bits, k.hashes, n) <= p);
        }
    }
}

static void textbook_refuses(void **state) {
    bly_textbook t = {.keys = 10, .bits = 100};
    uint64_t m = 7;
    (void)state;
    assert_int_equal(bly_textbook_solve(&t), BLY_EINVAL);
    t = (bly_textbook){10, 100, 7, 0.5};
    assert_int_equal(bly_textbook_solve(&t), BLY_EINVAL);
    t = (bly_textbook){.keys = 10, .hashes = 7, .fpr = 1.5};
    assert_int_equal(bly_textbook_solve(&t), BLY_ERATE);
    t = (bly_textbook){.keys = 10, .hashes = 7, .fpr = NAN};
    assert_int_equal(bly_textbook_solve(&t), BLY_ERATE);
    t = (bly_textbook){.keys = 1000, .bits = 1000, .fpr = 0.01}; /* no k reaches it */
    assert_int_equal(bly_textbook_solve(&t), BLY_EIMPOSSIBLE);
    assert_int_equal(t.hashes, 0);
    t = (bly_textbook){.bits = 16, .hashes = 30, .fpr = 1e-9};
    assert_int_equal(bly_textbook_solve(&t), BLY_EIMPOSSIBLE);
    t = (bly_textbook){.keys = (uint64_t)1 << 60, .hashes = 7, .fpr = 0.01};
    assert_int_equal(bly_textbook_solve(&t), BLY_ETOOBIG);
    assert_int_equal(bly_textbook_bits(0, 0.1, 0.5, &m), BLY_ECOUNT);
    assert_int_equal(bly_textbook_bits(10, 0, 0.5, &m), BLY_ERATE);
    assert_int_equal(bly_textbook_bits(10, 0.1, 1, &m), BLY_EINVAL);
    assert_int_equal(bly_textbook_bits((uint64_t)1 << 62, 0.1, 0.5, &m), BLY_ETOOBIG);
    assert_int_equal(m, 7);
    assert_int_equal(bly_textbook_hashes(0), 0);
    assert_int_equal(bly_textbook_hashes(5e-324), 1074);
    assert_int_equal(bly_textbook_slice(10, 0), 0);
    assert_int_equal(bly_textbook_best_hashes(10, 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_nonsense),
        cmocka_unit_test(every_status_has_a_sentence),
        cmocka_unit_test(plans_are_tight),
        cmocka_unit_test(no_smaller_geometry_exists),
        cmocka_unit_test(classic_matches_theory),
        cmocka_unit_test(rate_grows_and_capacity_inverts),
        cmocka_unit_test(fill_and_keys_are_inverse),
        cmocka_unit_test(huge_plans),
        cmocka_unit_test(foldable_rounds_by_little),
        cmocka_unit_test(bad_geometries),
        cmocka_unit_test(scalable_has_no_plan),
        cmocka_unit_test(names),
        cmocka_unit_test(textbook_round_trip),
        cmocka_unit_test(textbook_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
