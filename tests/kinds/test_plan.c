/* Plans are pure functions of numbers, so most of their contracts are checked without filters. */
#include "support.h"

#include <bloomery/formulas.h>
#include <math.h>

static void refuses_nonsense(void **state) {
    static const double bad_rates[] = {0, -0.5, 1, 2, NAN, INFINITY, -INFINITY, 1e-13};
    bly_geometry g = {0};
    const bly_geometry untouched = {0};
    (void)state;
    FOR_EACH_CASE(c) {
        bly_kind kind = c->kind;
        if (!blyt_plans(c))
            continue;
        for (size_t i = 0; i < COUNT_OF(bad_rates); i++)
            assert_int_equal(bly_plan(kind, 1000, bad_rates[i], 0, 64, &g), BLY_ERATE);
        assert_int_equal(bly_plan(kind, 0, 0.01, 0, 64, &g), BLY_ECOUNT);
        if (kind != BLY_CLASSIC)
            assert_int_equal(bly_plan(kind, 10, 0.01, BLY_TEXTBOOK, 64, &g), BLY_EINVAL);
        if (!blyt_can(c, BLY_CAN_FOLD))
            assert_int_equal(bly_plan(kind, 10, 0.01, BLY_FOLDABLE, 64, &g), BLY_EINVAL);
        assert_int_equal(bly_plan(kind, 10, 0.01, 1u << 9, 64, &g), BLY_EINVAL);
        assert_int_equal(bly_plan(kind, 10, 0.01, 0, 16, &g), BLY_EINVAL);
        assert_int_equal(bly_plan(kind, 10, 0.01, 0, 129, &g), BLY_EINVAL);
        assert_int_equal(bly_plan(kind, UINT64_MAX, 0.01, 0, 128, &g), BLY_ETOOBIG);
        /* Kinds that only count take the same memory for any number of keys. */
        if (!blyt_can(c, BLY_CARDINALITY_ONLY))
            assert_int_equal(bly_plan(kind, (uint64_t)1 << 47, 0.01, 0, 64, &g), BLY_ETOOBIG);
        assert_int_equal(bly_plan(kind, 1000000, 0.0001, 0, 32, &g), BLY_EWEAKHASH);
        assert_int_equal(bly_plan(kind, 4300000, 0.01, 0, 32, &g), BLY_EWEAKHASH);
        assert_ok(bly_plan(kind, 4200000, 0.01, 0, 32, &(bly_geometry){0}));
    }
    assert_int_equal(bly_plan((bly_kind)99, 10, 0.01, 0, 64, &g), BLY_EKIND);
    assert_int_equal(bly_plan(BLY_KIND_NONE, 10, 0.01, 0, 64, &g), BLY_EKIND);
    assert_memory_equal(&g, &untouched, sizeof g);
}

static void every_status_has_a_sentence(void **state) {
    (void)state;
    for (int s = 0; s >= -22; s--)
        assert_true(strlen(bly_strerror((bly_status)s)) > 5);
    assert_string_equal(bly_strerror((bly_status)-23), "unknown status");
    assert_string_equal(bly_strerror((bly_status)77), "unknown status");
    assert_string_equal(bly_version(), BLOOMERY_VERSION_STRING);
}

/* Returns the step between sizes. Except for classic filters, it is also the smallest planned
 * size. */
static uint64_t step_of(bly_kind kind) {
    return kind == BLY_CLASSIC || kind == BLY_PARTITIONED ? 64 : 1;
}

static uint64_t least_of(bly_kind kind) {
    return kind == BLY_CLASSIC ? 512 : step_of(kind);
}

/* Reduces the size to the next smaller valid one. Returns false if there is no such size nearby. */
static bool one_less(bly_geometry *g) {
    uint64_t step = step_of(g->kind);
    for (int tries = 0; tries < 1000 && g->size > least_of(g->kind); tries++) {
        g->size -= step;
        if (bly_plan_check(g) == BLY_OK)
            return true;
    }
    return false;
}

/* Plans a filter for the case, with its counter width. */
static bly_status plan_case(const blyt_case *c, uint64_t n, double rate, bly_geometry *out) {
    if (c->counter_bits)
        return bly_plan_counting(n, rate, c->counter_bits, 128, out);
    return bly_plan(c->kind, n, rate, c->options, 128, out);
}

/* Asserts that the plan is the smallest that keeps the rate: the next smaller size does not. */
static void check_tight(const blyt_case *c, uint64_t n, double rate) {
    bly_geometry g;
    bly_status status = plan_case(c, n, rate, &g);
    if (status == BLY_ERATE && !blyt_sets_bits(c)) {
        assert_true(rate < 1e-6 || rate < c->finest); /* not every kind has rates that low */
        return;
    }
    if (status == BLY_ETOOBIG && !blyt_sets_bits(c)) {
        assert_true(n > UINT32_MAX / 2 && rate < 1e-5); /* few or wide cells per key */
        return;
    }
    assert_ok(status);
    assert_ok(bly_plan_check(&g));
    /* The error of a sketch may exceed the requested one a little, because that may be rounded to
     * two digits. */
    assert_true(bly_plan_fpr(&g, n, 128) <= rate * (blyt_can(c, BLY_CARDINALITY_ONLY) ? 1.005 : 1));
    if (blyt_can(c, BLY_CARDINALITY_ONLY))
        return;
    assert_true(bly_plan_capacity(&g, rate, 128) >= n);
    /* Kinds that are built in shards have room to spare, for the fullest shard. */
    uint64_t bytes = bly_plan_bytes(&g), spare = blyt_can(c, BLY_CAN_BUILD) ? n / 500 : 0;
    if (one_less(&g) && bly_plan_bytes(&g) < bytes)
        assert_true(bly_plan_capacity(&g, rate, 128) < n + spare);
}

static void plans_are_tight(void **state) {
    static const uint64_t sizes[] = {1, 7, 100, 5000, 1000000, 3000000000};
    static const double rates[] = {0.5, 0.1, 0.03, 0.01, 0.001, 1e-4, 1e-6, 1e-9};
    (void)state;
    FOR_EACH_CASE(c)
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (size_t j = 0; j < COUNT_OF(rates); j++)
            if (blyt_plans(c))
                check_tight(c, sizes[i], rates[j]);
}

/* Asserts that no other k allows a smaller size, by trying every k. */
static void check_smallest(const blyt_case *c, uint64_t n, double rate) {
    bly_geometry best;
    bly_kind kind = c->kind;
    assert_ok(bly_plan(kind, n, rate, c->options, 128, &best));
    uint64_t bits = bly_plan_bits(&best), step = step_of(kind);
    for (uint32_t k = 1; k <= 64; k++) {
        bly_geometry g = {kind, k, step, c->options, 0};
        if (bly_plan_check(&g))
            continue;
        uint64_t per_step = bly_plan_bits(&g);
        g.size = (bits - 1) / per_step * step;
        if (g.size >= least_of(kind))
            assert_true(bly_plan_fpr(&g, n, 128) > rate);
    }
}

static void no_smaller_geometry_exists(void **state) {
    static const double rates[] = {0.3, 0.1, 0.01, 1e-3, 1e-5, 1e-7};
    static const uint64_t sizes[] = {1, 5, 100, 1000};
    (void)state;
    FOR_EACH_CASE(c)
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (size_t j = 0; j < COUNT_OF(rates); j++)
            if (blyt_plans(c) && blyt_sets_bits(c))
                check_smallest(c, sizes[i], rates[j]);
}

/* Plans agree with the published closed formula for each k, except for rounding. */
static void classic_matches_theory(void **state) {
    (void)state;
    for (double p = 0.3; p > 1e-9; p /= 3) {
        bly_geometry g;
        assert_ok(bly_plan(BLY_CLASSIC, 10000000, p, 0, 128, &g));
        double theory = -log(p) / (log(2) * log(2)) * 1e7;
        assert_true((double)g.size > theory * 0.9999 && (double)g.size < theory * 1.03);
    }
}

/* Returns the largest number of keys to check. Nothing is guaranteed above the capacity at a rate
 * of 1. */
static uint64_t most_keys(const bly_geometry *g) {
    uint64_t most = bly_plan_capacity(g, 1, 128);
    return most < 10000000 ? most : 10000000;
}

static void rate_grows_and_capacity_inverts(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        bly_geometry g;
        if (!blyt_plans(c))
            continue;
        if (blyt_can(c, BLY_CARDINALITY_ONLY))
            continue;
        assert_ok(plan_case(c, 50000, 0.01, &g));
        uint64_t most = most_keys(&g);
        double last = 0;
        assert_true(most >= 50000);
        for (uint64_t n = 0; n <= most; n = n * 2 + 1) {
            double rate = bly_plan_fpr(&g, n, 64);
            assert_true(rate >= last && rate <= 1);
            last = rate;
        }
        assert_true(!blyt_sets_bits(c) || last > 0.999);
        for (double p = 1e-5; p < 0.9; p *= 3) {
            uint64_t n = bly_plan_capacity(&g, p, 64);
            assert_true(n == 0 || bly_plan_fpr(&g, n, 64) <= p);
            assert_true(n >= most || bly_plan_fpr(&g, n + 1, 64) > p);
        }
        assert_int_equal(bly_plan_capacity(&g, 0, 64), 0);
        assert_int_equal(bly_plan_capacity(&g, NAN, 64), 0);
        double beyond = bly_plan_fpr(&g, UINT64_MAX, 128);
        assert_true(blyt_sets_bits(c) ? beyond == 1 : beyond > 0 && beyond <= 1);
    }
}

static void fill_and_keys_are_inverse(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        bly_geometry g;
        if (!blyt_plans(c))
            continue;
        assert_ok(plan_case(c, 100000, fmax(0.001, c->finest), &g));
        uint64_t bits = bly_plan_bits(&g);
        double last = 0;
        for (double n = 10; n < 400000; n *= 3) {
            double fill = bly_plan_fill(&g, n);
            assert_true(fill >= last && fill <= 1);
            last = fill;
            if (blyt_sets_bits(c))
                assert_true(fabs(bly_plan_keys(&g, (uint64_t)(fill * (double)bits)) / n - 1) <
                            0.02);
            else
                assert_true(isinf(bly_plan_keys(&g, (uint64_t)(fill * (double)bits))));
        }
        assert_true(last > 0);
        assert_true(!blyt_sets_bits(c) || bly_plan_keys(&g, 0) == 0);
        assert_true(isinf(bly_plan_keys(&g, bits)));
        assert_true(bly_plan_fill(&g, 0) == 0);
    }
}

/* With more than 2^32 keys and bits, nothing wraps, and plans have as many bits per key as small
 * ones. */
static void huge_plans(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        bly_geometry small, huge;
        uint64_t n = 5000000000;
        if (!blyt_plans(c) || blyt_can(c, BLY_CARDINALITY_ONLY))
            continue;
        assert_ok(plan_case(c, 1000000, 0.01, &small));
        assert_ok(plan_case(c, n, 0.01, &huge));
        double ratio = (double)bly_plan_bits(&huge) / (double)bly_plan_bits(&small) / 5000;
        assert_true(fabs(ratio - 1) < (blyt_sets_bits(c) ? 0.005 : 0.03));
        assert_true(bly_plan_bits(&huge) > (uint64_t)1 << 34);
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

static const struct {
    bly_geometry g;
    bly_status status;
} geometries[] = {
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
    {{BLY_SCALABLE, 1, 128, 0, 1}, BLY_OK},
    {{BLY_SCALABLE, 1, 128, 0, 2}, BLY_EGEOMETRY}, /* a factor of 2 is written as 0 */
    {{BLY_SCALABLE, 1, 128, 0, 3}, BLY_OK},
    {{BLY_SCALABLE, 1, 128, 0, 32768}, BLY_OK},
    {{BLY_SCALABLE, 1, 128, 0, 32769}, BLY_EGEOMETRY},
    {{BLY_SCALABLE_CUCKOO, 1, 128, 0}, BLY_OK},
    {{BLY_SCALABLE_CUCKOO, 48, 48 * 128, 0}, BLY_OK},
    {{BLY_SCALABLE_CUCKOO, 0, 128, 0}, BLY_EGEOMETRY},
    {{BLY_SCALABLE_CUCKOO, 49, 49 * 128, 0}, BLY_EGEOMETRY},
    {{BLY_SCALABLE_CUCKOO, 2, 192, 0}, BLY_EGEOMETRY},
    {{BLY_SCALABLE_CUCKOO, 1, 130, 0}, BLY_EGEOMETRY},
    {{BLY_SCALABLE_CUCKOO, 1, 128, BLY_FOLDABLE}, BLY_EGEOMETRY},
    {{BLY_SCALABLE_CUCKOO, 1, (uint64_t)1 << 45, 0}, BLY_OK},
    {{BLY_SCALABLE_CUCKOO, 1, ((uint64_t)1 << 45) + 64, 0}, BLY_ETOOBIG},
    {{BLY_SCALABLE_CUCKOO, 1, UINT64_MAX - 63, 0}, BLY_ETOOBIG},
    /* The factor must be a power of two, and at least 2. */
    {{BLY_SCALABLE_CUCKOO, 1, 128, 0, 1}, BLY_EGEOMETRY},
    {{BLY_SCALABLE_CUCKOO, 1, 128, 0, 2}, BLY_EGEOMETRY},
    {{BLY_SCALABLE_CUCKOO, 1, 128, 0, 3}, BLY_EGEOMETRY},
    {{BLY_SCALABLE_CUCKOO, 1, 128, 0, 4}, BLY_OK},
    {{BLY_SCALABLE_CUCKOO, 1, 128, 0, 12}, BLY_EGEOMETRY},
    {{BLY_SCALABLE_CUCKOO, 1, 128, 0, 32768}, BLY_OK},
    {{BLY_SCALABLE_CUCKOO, 1, 128, 0, 65535}, BLY_EGEOMETRY},
    {{BLY_COUNTING, 7, 64, 0, 4}, BLY_OK},
    {{BLY_COUNTING, 7, 63, 0, 4}, BLY_EGEOMETRY},
    {{BLY_COUNTING, 0, 64, 0, 4}, BLY_EGEOMETRY},
    {{BLY_COUNTING, 65, 64, 0, 4}, BLY_EGEOMETRY},
    {{BLY_COUNTING, 7, 64, 0, 0}, BLY_EGEOMETRY},
    {{BLY_COUNTING, 7, 64, 0, 3}, BLY_EGEOMETRY},
    {{BLY_COUNTING, 7, 64, BLY_FOLDABLE, 4}, BLY_EGEOMETRY},
    {{BLY_COUNTING, 7, (uint64_t)1 << 46, 0, 4}, BLY_OK},
    {{BLY_COUNTING, 7, ((uint64_t)1 << 46) + 1, 0, 4}, BLY_ETOOBIG},
    {{BLY_COUNTING, 7, (uint64_t)1 << 60, 0, 16}, BLY_ETOOBIG},
    {{BLY_MULTILAYER, 32, 1, 0, 1}, BLY_OK},
    {{BLY_MULTILAYER, 33, 1, 0, 0}, BLY_EGEOMETRY},
    {{BLY_MULTILAYER, 4, 0, 0, 0}, BLY_EGEOMETRY},
    {{BLY_MULTILAYER, 4, 4, 0, 2}, BLY_EGEOMETRY},
    {{BLY_MULTILAYER, 4, 5, 0, 2}, BLY_OK},
    {{BLY_MULTILAYER, 4, (uint64_t)1 << 40, 0, 0}, BLY_ETOOBIG},
    {{BLY_MULTILAYER, 4, (uint64_t)1 << 38, 0, 145}, BLY_ETOOBIG},
    {{BLY_LAYERED, 8, 1, 0, 0}, BLY_OK},
    {{BLY_LAYERED, 7, 1, 0, 0}, BLY_EGEOMETRY},
    {{BLY_LAYERED, 8, 1, 0, 1}, BLY_EGEOMETRY},
    {{BLY_LAYERED, 8, (uint64_t)1 << 39, 0, 0}, BLY_ETOOBIG},
    {{BLY_OVERLAY, 2, 256, 0, 0}, BLY_OK},
    {{BLY_OVERLAY, 3, 384, 0, 1}, BLY_OK},
    {{BLY_OVERLAY, 1, 256, 0, 0}, BLY_EGEOMETRY},
    {{BLY_OVERLAY, 4, 1024, 0, 0}, BLY_EGEOMETRY},
    {{BLY_OVERLAY, 3, 320, 0, 0}, BLY_EGEOMETRY},
    {{BLY_OVERLAY, 2, 256, 0, 2}, BLY_EGEOMETRY},
    {{BLY_OVERLAY, 2, ((uint64_t)1 << 45) + 64, 0, 0}, BLY_ETOOBIG},
    {{BLY_HYBRID, 6, 1, 0, 180}, BLY_ETOOBIG},
    {{BLY_HYBRID, 55, 1, 0, 0}, BLY_OK},
    {{BLY_HYBRID, 5, 1, 0, 0}, BLY_EGEOMETRY},
    {{BLY_HYBRID, 56, 1, 0, 0}, BLY_EGEOMETRY},
    {{BLY_HYBRID, 9, 0, 0, 0}, BLY_EGEOMETRY},
    {{BLY_HYBRID, 9, 1, 0, 181}, BLY_EGEOMETRY},
    {{BLY_HYBRID, 9, (uint64_t)1 << 43, 0, 0}, BLY_ETOOBIG},
    {{BLY_COUNTS, 4, 1, 0, 1}, BLY_OK},
    {{BLY_COUNTS, 3, 1, 0, 0}, BLY_EGEOMETRY},
    {{BLY_COUNTS, 4, 1, 0, 2}, BLY_EGEOMETRY},
    {{BLY_COUNTS, 4, ((uint64_t)1 << 39) + 1, 0, 0}, BLY_ETOOBIG},
    {{BLY_HLL, 4, 16, 0, 0}, BLY_OK},
    {{BLY_HLL, 18, (uint64_t)1 << 18, 0, 0}, BLY_OK},
    {{BLY_HLL, 3, 8, 0, 0}, BLY_EGEOMETRY},
    {{BLY_HLL, 19, (uint64_t)1 << 19, 0, 0}, BLY_EGEOMETRY},
    {{BLY_HLL, 4, 17, 0, 0}, BLY_EGEOMETRY},
    {{BLY_HLL, 4, 16, 0, 1}, BLY_EGEOMETRY},
    {{(bly_kind)77, 8, 10, 0}, BLY_EKIND},
    {{BLY_KIND_NONE, 8, 10, 0}, BLY_EKIND},
};

static void bad_geometries(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(geometries); i++)
        assert_int_equal(bly_plan_check(&geometries[i].g), geometries[i].status);
}

/* ---- any numbers from files or callers ------------------------------------------------------- */

static const uint32_t hostile_hashes[] = {0,  1,  2,  3,  5,  7,  8,  9,  12, 16,  17,        28,
                                          29, 40, 41, 48, 49, 55, 56, 64, 65, 255, UINT32_MAX};
static const uint64_t hostile_sizes[] = {
    0,
    1,
    2,
    3,
    7,
    63,
    64,
    65,
    128,
    1000,
    4096,
    UINT64_C(1) << 20,
    UINT32_MAX,
    UINT64_C(1) << 32,
    UINT64_C(1) << 39,
    UINT64_C(1) << 42,
    (UINT64_C(1) << 48) - 1,
    UINT64_C(1) << 48,
    UINT64_C(1) << 55,
    UINT64_C(1) << 58,
    UINT64_C(1) << 63,
    UINT64_MAX - 63,
    UINT64_MAX,
};
static const uint32_t hostile_details[] = {
    0,   1,    2,    3,    4,     5,     6,     7,     8,     9,         12,  13,  16,
    18,  19,   20,   31,   32,    33,    34,    36,    40,    54,        55,  56,  63,
    64,  127,  128,  200,  255,   256,   257,   262,   511,   512,       515, 768, 900,
    992, 1023, 4096, 8190, 32767, 65280, 65504, 65535, 65536, UINT32_MAX};

/* Creates a filter of that geometry and uses it. */
static void use_geometry(const bly_geometry *g) {
    bly_spec spec = bly_spec_for(g->kind, 0, 0);
    bly_filter *f = NULL, *again = NULL;
    bly_filter_info s = {.struct_size = sizeof s};
    spec.geometry = *g;
    spec.allow_weak_hash = true;
    bly_status status = bly_filter_create(&spec, &f);
    if (status != BLY_OK) {
        assert_true(status == BLY_EIMPOSSIBLE || status == BLY_EUNSUPPORTED ||
                    status == BLY_EINVAL || status == BLY_ERATE);
        return;
    }
    /* Adds are slow when the table is full, so this stops after a few. */
    for (uint64_t i = 0, refused = 0; i < 50 && refused < 5; i++) {
        status = bly_filter_add(f, &i, 8, NULL);
        refused += status == BLY_EFULL;
        assert_true(status == BLY_OK || status == BLY_EFULL);
        assert_true(status == BLY_EFULL || bly_filter_contains(f, &i, 8));
    }
    bly_filter_get_info(f, &s);
    assert_true(s.current_fpr >= 0 && s.current_fpr <= 1 && s.fill <= 1);
    blyt_buffer b = blyt_write(f);
    assert_ok(bly_filter_parse(b.data, b.size, NULL, &again));
    assert_true(bly_filter_equal(f, again));
    free(b.data);
    bly_filter_destroy(f);
    bly_filter_destroy(again);
}

/* Asserts that a geometry is refused, or that all figures computed for it are possible. */
static void refused_or_safe(const bly_geometry *g) {
    bly_status status = bly_plan_check(g);
    if (status != BLY_OK) {
        assert_true(status == BLY_EGEOMETRY || status == BLY_ETOOBIG);
        return;
    }
    uint64_t bits = bly_plan_bits(g), bytes = bly_plan_bytes(g);
    assert_true(bits > 0 && bits <= (uint64_t)1 << 48 && bytes % 64 == 0);
    assert_true(bytes >= bits / 8 && bytes < bits / 8 + 65);
    for (uint64_t n = 0; n < UINT64_MAX / 1000; n = n * 999 + 1) {
        double rate = bly_plan_fpr(g, n, 64), fill = bly_plan_fill(g, (double)n);
        assert_true(rate >= 0 && rate <= 1 && fill >= 0 && fill <= 1);
    }
    assert_true(bly_plan_capacity(g, 0.01, 128) <= bly_plan_capacity(g, 0.9, 128));
    assert_true(!isnan(bly_plan_keys(g, bits / 2)));
    if (bytes <= 2048 && !(bly_kind_capabilities(g->kind) & BLY_HAS_LEVELS))
        use_geometry(g);
}

static void hostile_geometries(void **state) {
    (void)state;
    for (bly_kind kind = BLY_KIND_NONE; (kind = bly_kind_next(kind)) != BLY_KIND_NONE;)
        for (size_t h = 0; h < COUNT_OF(hostile_hashes); h++)
            for (size_t i = 0; i < COUNT_OF(hostile_sizes); i++)
                for (size_t d = 0; d < COUNT_OF(hostile_details); d++)
                    for (uint32_t options = 0; options < 5; options++) {
                        const bly_geometry g = {kind, hostile_hashes[h], hostile_sizes[i], options,
                                                hostile_details[d]};
                        refused_or_safe(&g);
                    }
}

/* Kinds with levels have a size, but cannot be planned with bly_plan. */
static void scalable_has_no_plan(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_HAS_LEVELS))
            continue;
        bly_geometry g = {c->kind, 2, 1024, 0};
        assert_int_equal(bly_plan(c->kind, 10, 0.01, 0, 64, &g), BLY_EKIND);
        assert_int_equal(bly_plan_bytes(&g), 1024); /* not written */
        assert_int_equal(bly_plan_bits(&g), 8192);
        assert_true(bly_plan_fpr(&g, 1, 64) == 1 && bly_plan_capacity(&g, 0.5, 64) == 0);
        assert_true(bly_plan_fill(&g, 100) == 0 && isinf(bly_plan_keys(&g, 0)));
    }
}

static void names(void **state) {
    bly_kind kind = BLY_CLASSIC, last = BLY_KIND_NONE, next = BLY_KIND_NONE;
    (void)state;
    while ((next = bly_kind_next(next)) != BLY_KIND_NONE) {
        bool covered = false;
        assert_true(next > last);
        assert_ok(bly_kind_by_name(bly_kind_name(next), &kind));
        assert_int_equal(kind, next);
        assert_int_not_equal(bly_kind_capabilities(kind), 0);
        FOR_EACH_CASE(c)
        covered = covered || (c->kind == kind && strncmp(c->name, bly_kind_name(kind),
                                                         strlen(bly_kind_name(kind))) == 0);
        assert_true(covered);
        last = next;
    }
    assert_int_equal(bly_kind_next((bly_kind)99), BLY_KIND_NONE);
    assert_int_equal(bly_kind_by_name("bloomy", &kind), BLY_EKIND);
    assert_int_equal(kind, last);
    assert_null(bly_kind_name((bly_kind)0));
    assert_int_equal(bly_kind_capabilities((bly_kind)0), 0);
    assert_int_equal(bly_plan_kind(0.01), BLY_SBBF);
    assert_int_equal(bly_plan_kind(0.001), BLY_SPLIT512);
    assert_int_equal(bly_plan_kind(0.0001), BLY_BB2X512);
}

/* Any three of keys, rate, bits and hashes determine the fourth, rounded to the best whole
 * number. */
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
    t = (bly_textbook){.keys = 1000, .bits = 1000, .fpr = 0.01}; /* no k reaches this rate */
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
        cmocka_unit_test(hostile_geometries),
        cmocka_unit_test(scalable_has_no_plan),
        cmocka_unit_test(names),
        cmocka_unit_test(textbook_round_trip),
        cmocka_unit_test(textbook_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
