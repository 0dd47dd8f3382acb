/* test_documents_counting.c - the six ways to count in a Bloom filter that document 004 lists, and
 * the probability of overflow that it states. docs/vocabulary.md has one row for each case. */
#include "support.h"

enum { KEYS = 10000 };

/* Returns key number i, which is valid until the next call. */
static bly_bytes number(uint64_t i) {
    static uint64_t word;
    word = i;
    return (bly_bytes){&word, sizeof word};
}

static void add_copies(bly_filter *f, uint64_t i, unsigned copies) {
    while (copies-- > 0)
        assert_ok(bly_filter_add(f, number(i).data, sizeof(uint64_t), NULL));
}

static uint64_t copies_of(const bly_filter *f, uint64_t i) {
    return bly_filter_copies(f, number(i).data, sizeof(uint64_t));
}

static bool contains(const bly_filter *f, uint64_t i) {
    return bly_filter_contains(f, number(i).data, sizeof(uint64_t));
}

static bool remove_key(bly_filter *f, uint64_t i) {
    bool removed = false;
    assert_ok(bly_filter_remove(f, number(i).data, sizeof(uint64_t), &removed));
    return removed;
}

/* Adds KEYS keys, removes every second one, and checks that the others are found. Returns how many
 * of the removed keys are still found. */
static unsigned found_after_removal(bly_filter *f) {
    unsigned found = 0;
    for (uint64_t i = 0; i < KEYS; i++)
        add_copies(f, i, 1);
    for (uint64_t i = 0; i < KEYS; i += 2)
        assert_true(remove_key(f, i));
    for (uint64_t i = 0; i < KEYS; i++) {
        if (i % 2 == 1)
            assert_true(contains(f, i));
        else
            found += contains(f, i);
    }
    return found;
}

static bly_filter *created(bly_kind kind) {
    bly_filter *f;
    assert_ok(blyt_new(kind, KEYS, 0.01, &f));
    return f;
}

/* 1: counters of four bits reach 15 and stay there. */
static void test_fixed_width_counters(void **state) {
    (void)state;
    bly_filter *f = created(BLY_COUNTING);
    assert_int_equal(bly_filter_geometry(f).detail, 4);
    assert_in_range(found_after_removal(f), 0, 20); /* at half the capacity the rate is 0.025% */
    bly_filter_clear(f);
    add_copies(f, 1, 14);
    for (unsigned i = 0; i < 14; i++)
        assert_true(remove_key(f, 1));
    assert_false(contains(f, 1));
    add_copies(f, 1, 15);
    for (unsigned i = 0; i < 15; i++)
        assert_true(remove_key(f, 1));
    assert_true(contains(f, 1));
    assert_int_equal(blyt_info(f).stuck, bly_filter_geometry(f).hashes);
    bly_filter_destroy(f);
}

/* Returns the probability that a Poisson variable with the mean ln 2 is at least `at_least`. */
static double poisson_tail(unsigned at_least) {
    double term = exp(-log(2)), sum = 0;
    for (unsigned i = 1; i < at_least + 30; i++) {
        term *= log(2) / i;
        if (i >= at_least)
            sum += term;
    }
    return sum;
}

/* Document 004 gives the probability 1 - P(X <= 16) as 3.33e-18, but it is 2.88e-18. Besides, a
 * counter of four bits ends at 15, so it would overflow at 16, not at 17. Our counters are stuck
 * from 15 on. */
static void test_counter_overflow(void **state) {
    (void)state;
    const bly_geometry g = {BLY_COUNTING, 7, 7000000000, 0, 4};
    const double keys = 1e9 * log(2); /* ln 2 for each counter */
    assert_true(fabs(poisson_tail(17) / 2.877e-18 - 1) < 0.001);
    assert_true(fabs(poisson_tail(16) / 7.073e-17 - 1) < 0.001);
    assert_true(fabs(poisson_tail(15) / 1.637e-15 - 1) < 0.001);
    assert_true(fabs(bly_plan_counter_overflow(&g, keys) / poisson_tail(15) - 1) < 0.001);
    /* The bound of Fan et al. (2000) for P(X >= 16), which is 19.3 times the probability. */
    assert_true(fabs(pow(exp(1) * log(2) / 16, 16) / 1.368e-15 - 1) < 0.001);
    assert_true(fabs(1.368e-15 / poisson_tail(16) / 19.3 - 1) < 0.01);
}

/* 2: counters of variable length in one cache line. They need half the memory of counters of four
 * bits. */
static void test_variable_length_counters(void **state) {
    (void)state;
    bly_filter *f = created(BLY_MULTILAYER), *fixed = created(BLY_COUNTING);
    assert_true((double)blyt_info(f).bytes < 0.55 * (double)blyt_info(fixed).bytes);
    assert_in_range(found_after_removal(f), 0, 50);
    bly_filter_clear(f);
    add_copies(f, 1, 1000);
    add_copies(f, 2, 1);
    assert_int_equal(copies_of(f, 1), 1000);
    assert_int_equal(copies_of(f, 2), 1);
    bly_filter_destroy(f);
    bly_filter_destroy(fixed);
}

/* 3: counters, and in front of them a Bloom filter for lookups. */
static void test_layers(void **state) {
    (void)state;
    bly_filter *f = created(BLY_LAYERED), *front;
    assert_in_range(found_after_removal(f), 0, 50);
    assert_ok(bly_layered_front(f, &front));
    assert_int_equal(bly_filter_geometry(front).kind, BLY_SBBF);
    for (uint64_t i = 0; i < KEYS; i++)
        assert_int_equal(contains(front, i), contains(f, i));
    bly_filter_destroy(front);
    bly_filter_destroy(f);
}

/* 4: a second filter, for removed keys. If it is a Bloom filter, members are missed at its
 * false-positive rate. In the overlay's default form, none is missed here. In both, a removed key
 * can be added again. */
static void test_removed_keys(void **state) {
    (void)state;
    for (unsigned marker = 0; marker < 2; marker++) {
        bly_filter *base, *f;
        const bly_overlay_options options = {.changes = KEYS,
                                             .marker = marker ? BLY_CLASSIC : BLY_KIND_NONE};
        bly_overlay_info info = {.struct_size = sizeof info};
        unsigned missed = 0;
        assert_ok(blyt_new(BLY_CLASSIC, 2 * KEYS, 0.01, &base));
        for (uint64_t i = 0; i < 2 * KEYS; i++)
            add_copies(base, i, 1);
        assert_ok(bly_overlay_over(base, &options, NULL, &f));
        for (uint64_t i = 0; i < KEYS; i++) {
            const bool removed = remove_key(f, i);
            assert_true(removed || marker); /* with a Bloom marker it may look removed already */
        }
        for (uint64_t i = KEYS; i < 2 * KEYS; i++)
            missed += !contains(f, i);
        assert_ok(bly_overlay_get_info(f, &info));
        if (marker) { /* 10 of 10,000 are expected, at 0.1%; 26 is five sigma more */
            assert_in_range(missed, 1, 26);
            assert_true(fabs(info.miss_bound / 0.001 - 1) < 0.2);
        } else {
            assert_int_equal(missed, 0);
            assert_true(info.miss_bound < 1e-9);
        }
        assert_false(contains(f, 1));
        add_copies(f, 1, 1);
        assert_true(contains(f, 1));
        bly_filter_destroy(f);
        bly_filter_destroy(base);
    }
}

/* 5: counters that are increased at random, for approximate counts without removal; and hll for the
 * number of distinct keys. */
static void test_probabilistic_counters(void **state) {
    (void)state;
    bool removed;
    bly_filter *f = created(BLY_COUNTS), *distinct;
    bly_spec spec = bly_spec_for(BLY_HLL, 0, 0);
    add_copies(f, 1, 27);
    add_copies(f, 2, 5000);
    assert_int_equal(copies_of(f, 1), 27);
    /* The standard error is at most 21.3%. Five standard errors are accepted. */
    assert_true(fabs((double)copies_of(f, 2) / 5000 - 1) < 5 * 0.213);
    assert_int_equal(bly_filter_remove(f, "x", 1, &removed), BLY_EUNSUPPORTED);
    bly_filter_destroy(f);
    spec.geometry.size = 1 << 14; /* 12 KiB */
    spec.geometry.hashes = 14;
    assert_ok(bly_filter_create(&spec, &distinct));
    for (unsigned round = 0; round < 3; round++)
        for (uint64_t i = 0; i < KEYS; i++)
            add_copies(distinct, i, 1);
    assert_true(fabs(blyt_info(distinct).estimated_keys / KEYS - 1) < 5 * 0.0082);
    bly_filter_destroy(distinct);
}

/* 6: one entry for each key. Small counts are stored in the entry, large ones elsewhere; all are
 * exact. */
static void test_hybrid_counters(void **state) {
    (void)state;
    bly_filter *f = created(BLY_HYBRID);
    assert_in_range(found_after_removal(f), 0, 150); /* half-full, the rate is 0.37%: 19 of 5,000 */
    bly_filter_clear(f);
    add_copies(f, 1, 14);
    assert_int_equal(blyt_info(f).spilled, 0);
    add_copies(f, 1, 1);
    assert_int_equal(blyt_info(f).spilled, 1);
    add_copies(f, 1, 999985);
    assert_int_equal(copies_of(f, 1), 1000000);
    while (copies_of(f, 1) > 0)
        assert_true(remove_key(f, 1));
    assert_false(contains(f, 1));
    assert_int_equal(blyt_info(f).spilled, 0);
    bly_filter_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_width_counters),
        cmocka_unit_test(test_counter_overflow),
        cmocka_unit_test(test_variable_length_counters),
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_removed_keys),
        cmocka_unit_test(test_probabilistic_counters),
        cmocka_unit_test(test_hybrid_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
