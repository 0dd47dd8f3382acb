/* The rate requested is the rate measured, whatever the filter is made of: every k, rates between
 * the round ones, every hash, and levels. rates_support.h says how they are compared.
 */
#include "rates_support.h"

/* Exact geometries, so that every k of every layout is seen, not only those a plan would pick. */
static void rates_of_every_k(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        for (uint32_t k = 1; k <= 16 && blyt_plans(c) && blyt_sets_bits(c); k++) {
            bly_spec spec = blyt_spec(c, 3000, 0);
            bly_geometry *g = &spec.geometry;
            *g = (bly_geometry){c->kind, k, 1, c->options, 0};
            g->size = c->kind == BLY_PARTITIONED ? 64 : c->kind == BLY_CLASSIC ? 512 : 1;
            if (bly_plan_check(g) != BLY_OK)
                continue;
            while (bly_plan_bits(g) < 30000)
                g->size += g->kind == BLY_PARTITIONED ? 64 : g->kind == BLY_CLASSIC ? 577 : 1;
            double q = bly_plan_fpr(g, 3000, 64);
            outcome o = run(&spec, KEYS_RANDOM, 3000, 60, lookups_for(q));
            judge(c->name, &o, g, 3000, 0);
        }
    }
}

/* The other kinds choose their shape by the rate: so rates between the round ones.
 * (test_rates_low.c has one that is lower.) */
static void rates_between(void **state) {
    static const double rates[] = {0.4, 0.24, 0.11, 0.03, 0.006};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        rate_between(rates[i]);
}

/* Round and round the kinds that are planned. */
static const blyt_case *nth_planned(size_t n) {
    size_t planned = 0;
    FOR_EACH_CASE(c)
    planned += blyt_plans(c) && has_rate(c) && !c->counter_bits;
    n %= planned ? planned : 1;
    FOR_EACH_CASE(c)
    if (blyt_plans(c) && has_rate(c) && !c->counter_bits && n-- == 0)
        return c;
    return NULL;
}

/* Every hash on every key set: the rate must not depend on what keys look like. */
static void rates_of_every_hash(void **state) {
    static const uint8_t key[16] = "sixteen bytes ok";
    (void)state;
    for (int id = 1; id <= BLY_HASH_SIPHASH; id++) {
        if (!bly_hash_available((bly_hash_id)id))
            continue;
        for (int set = 0; set < KEYS_SETS; set++) {
            const blyt_case *c = nth_planned((size_t)(id + set));
            if (!c)
                skip(); /* BLYT_ONLY names none of them */
            bly_spec spec = blyt_spec(c, 20000, 0.01);
            bly_geometry g;
            if (id == BLY_HASH_SIPHASH)
                assert_ok(bly_hasher_keyed(&spec.hasher, key));
            else
                assert_ok(bly_hasher_init(&spec.hasher, (bly_hash_id)id, 0));
            assert_ok(bly_plan(c->kind, 20000, 0.01, c->options, spec.hasher.bits, &g));
            outcome o = run(&spec, (blyt_keys)set, 20000, 1, lookups_for(0.01));
            judge(bly_hash_name((bly_hash_id)id), &o, &g, 20000, 0.01);
        }
    }
}

/* test_rates_large.c has a lower rate, and more levels. */
static void rates_of_growing_filters(void **state) {
    static const double rates[] = {0.05, 0.01, 0.001};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        for (unsigned doublings = 0; doublings <= 5; doublings += 5) {
            grow_and_judge(1000, doublings, rates[i], 0);
            grow_and_judge(1000, doublings, rates[i], 0.8);
            grow_and_judge(20, doublings, rates[i], 0);
        }
}

/* 32 bits are too few for a million keys at 1e-4: refused, and, when allowed, told truthfully. */
static void weak_hashes_are_counted(void **state) {
    bly_spec spec = bly_spec_for(BLY_SBBF, 1000000, 0.0001);
    bly_filter *f = NULL;
    blyt_list l = {NULL, NULL, 0};
    bly_stats s;
    (void)state;
    assert_ok(bly_hasher_init(&spec.hasher, BLY_HASH_FNV1A_32, 0));
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EWEAKHASH);
    assert_null(f);
    spec.allow_weak_hash = true;
    f = full_filter(&spec, KEYS_RANDOM, 1000000, 0, &l);
    blyt_list_free(&l);
    bly_filter_stats(f, &s);
    assert_true(s.predicted_fpr > 3.2e-4 && s.predicted_fpr < 3.4e-4);
    double queries = 4000000 / BLYT_SLOW;
    double hits = count_hits(f, KEYS_RANDOM, 1u << 24, (uint64_t)queries);
    assert_true(fabs(hits - queries * s.current_fpr) <= 5 * sqrt(queries * s.current_fpr) + 4);
    bly_filter_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_of_every_k),        cmocka_unit_test(rates_between),
        cmocka_unit_test(rates_of_every_hash),     cmocka_unit_test(rates_of_growing_filters),
        cmocka_unit_test(weak_hashes_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
