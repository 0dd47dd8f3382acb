/* The layered filter: its front equals an sbbf filter bit for bit after any adds and removes, and
 * its counters are exact up to their limit. test_layered_bytes.c tests set operations, files and
 * failures; test_layered_front.c tests the front alone. */
#include "layered_support.h"

static const double rates[] = {0.01, 0.001, 0.0001};

/* ---- plan ------------------------------------------------------------------------------------ */

static void plans_as_sbbf_does(void **state) {
    static const double bits[] = {42.1, 67.6, 105.4};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        for (uint64_t n = 1; n <= 1000000000; n = n * 3 + 1) {
            bly_geometry g, s;
            assert_ok(bly_plan(BLY_LAYERED, n, rates[i], 0, 64, &g));
            assert_ok(bly_plan(BLY_SBBF, n, rates[i], 0, 64, &s));
            assert_true(g.size == s.size && g.hashes == 8 && g.detail == 0 && g.options == 0);
            assert_true(bly_plan_fpr(&g, n, 64) == bly_plan_fpr(&s, n, 64));
            assert_true(bly_plan_fill(&g, (double)n) == bly_plan_fill(&s, (double)n));
            assert_int_equal(bly_plan_capacity(&g, rates[i], 64),
                             bly_plan_capacity(&s, rates[i], 64));
            assert_int_equal(bly_plan_bytes(&g), 128 * g.size + 64 * (g.size % 2));
            if (n > 10000)
                assert_true(fabs((double)bly_plan_bits(&g) / (double)n / bits[i] - 1) < 0.005);
        }
    bly_geometry g;
    assert_int_equal(bly_plan(BLY_LAYERED, (uint64_t)1 << 44, 0.01, 0, 128, &g), BLY_ETOOBIG);
    assert_int_equal(bly_plan(BLY_LAYERED, 100, 0.01, BLY_FOLDABLE, 64, &g), BLY_EINVAL);
}

static void checks_geometries(void **state) {
    static const struct {
        bly_geometry g;
        bly_status status;
    } table[] = {
        {{BLY_LAYERED, 7, 100, 0, 0}, BLY_EGEOMETRY},
        {{BLY_LAYERED, 8, 0, 0, 0}, BLY_EGEOMETRY},
        {{BLY_LAYERED, 8, 100, 0, 1}, BLY_EGEOMETRY},
        {{BLY_LAYERED, 8, 100, BLY_FOLDABLE, 0}, BLY_EGEOMETRY},
        {{BLY_LAYERED, 8, UINT64_MAX, 0, 0}, BLY_ETOOBIG},
        {{BLY_LAYERED, 8, ((uint64_t)1 << 38) + 1, 0, 0}, BLY_ETOOBIG},
        {{BLY_LAYERED, 8, (uint64_t)1 << 38, 0, 0}, BLY_OK},
        {{BLY_LAYERED, 8, 1, 0, 0}, BLY_OK},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        assert_int_equal(bly_plan_check(&table[i].g), table[i].status);
    for (uint64_t blocks = 1; blocks < 2000; blocks += 37) {
        bly_filter *f = layered_of(blocks), *s = plain_of(f);
        assert_true(bly_filter_capacity(f) > 0 && f->fpr < 0.1);
        assert_true(fabs((double)bly_filter_capacity(f) - (double)bly_filter_capacity(s)) <= 1);
        bly_filter_destroy(f);
        bly_filter_destroy(s);
    }
}

/* Asserts that the measured rate is within five sigma of the planned and of the current one. Blocks
 * get different numbers of keys, so the rates of filters differ: per block, the relative variance
 * is 1.07, 2.7 or 6.4 at the three rates. */
static void check_rate(uint64_t n, size_t which) {
    static const double spread[] = {1.07, 2.7, 6.4};
    unsigned filters = n <= 1000 ? 50 : n <= 100000 ? 5 : 1;
    bly_filter *f = layered(n, rates[which]);
    double planned = bly_plan_fpr(&f->geometry, n, 64), current = 0, asked = 0, found = 0;
    uint64_t queries = (uint64_t)(2500 / planned / filters) + 1;
    assert_true(planned <= rates[which] && planned > 0.85 * rates[which]);
    /* With 2500 false positives, five sigma are a tenth of the rate. At 0.0001, only
     * kinds_layered_large has time for as many. */
    const uint64_t most = (blyt_large() ? 40000000U : 2800000U) / BLYT_SLOW;
    if (queries > most / filters)
        queries = most / filters;
    for (unsigned seed = 1; seed <= filters; seed++) {
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_clear(f);
        add_hashes(f, seed, 0, n);
        /* Keys that were added and removed must not matter. */
        add_hashes(f, seed + 500, 0, n / 4);
        remove_hashes(f, seed + 500, 0, n / 4);
        bly_filter_get_info(f, &s);
        asked += (double)queries;
        found += (double)count_hashes(f, seed + 100000, 0, queries);
        current += s.current_fpr * (double)queries;
        assert_true(s.count == n && fabs(s.estimated_keys / (double)n - 1) < 0.15);
        assert_true(fabs(s.fill / s.expected_fill - 1) < 0.15 && s.set_bits <= s.bits);
    }
    double expected = planned * asked, z = (double)f->geometry.size * filters;
    double sigma = sqrt(expected + expected * expected * spread[which] / z);
    bool fits = fabs(found - expected) <= 5 * sigma && fabs(found - current) <= 5 * sqrt(current);
    if (!fits || getenv("BLYT_VERBOSE"))
        print_message("%g keys at %g: found %.0f of %.0f, planned %.1f, current %.1f\n", (double)n,
                      rates[which], found, asked, expected, current);
    assert_true(fits);
    bly_filter_destroy(f);
}

static void rates_are_as_planned(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        check_rate(1000, i);
        check_rate(100000, i);
        if (blyt_large() && BLYT_SLOW == 1)
            check_rate(1000000, i);
        if (blyt_long())
            check_rate(10000000, i);
    }
}

/* With distinct keys, as many cells get stuck as the documentation and the plan state: 1.3 to 1.5
 * in a million. */
static void few_cells_get_stuck(void **state) {
    uint64_t n = (blyt_large() ? 4000000U : 1500000U) / BLYT_SLOW, keys = 0;
    double mean, tail = 0;
    bly_filter *f = layered(n, 0.01);
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    add_hashes(f, 3, 0, n);
    bly_filter_get_info(f, &s);
    mean = (double)n / 32 / (double)f->geometry.size;
    for (double term = exp(-mean); keys < 60; term *= mean / (double)++keys)
        tail += keys >= 8 ? term : 0;
    assert_true(tail > 1.3e-6 && tail < 1.5e-6);
    double expected = tail * 256 * (double)f->geometry.size;
    assert_true(fabs((double)s.stuck - expected) < 5 * sqrt(expected) + 1);
    remove_hashes(f, 3, 0, n);
    bly_filter_info after = {.struct_size = sizeof after};
    bly_filter_get_info(f, &after);
    assert_true(after.stuck == s.stuck && after.set_bits == 4 * s.stuck && after.count == 0);
    bly_filter_destroy(f);
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* For every instruction set. With few blocks and many copies, cells reach both the limit and 0. */
static void agrees_with_a_second_implementation(void **state) {
    static const uint64_t sizes[] = {1, 2, 3, 40};
    (void)state;
    for (const blyi_kernels *const *t = blyi_kernels_list(); *t; t++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            bly_filter *f = layered_of(sizes[i]);
            oracle o = oracle_of(sizes[i]);
            uint64_t dice = 7, items = 0, operations = 200000 / BLYT_SLOW;
            f->kernels = *t;
            f->ops->select_kernels(f);
            for (uint64_t n = 0; n < operations; n++) {
                uint64_t r = blyt_next(&dice);
                bly_hash h = hash_at(5, (r >> 8) % (15 * sizes[i]));
                bool changed, adds = r % 64 < (n * 6 / operations % 2 ? 20 : 40);
                assert_ok(adds ? bly_filter_add_hash(f, h, &changed)
                               : bly_filter_remove_hash(f, h, &changed));
                assert_int_equal(changed, adds ? oracle_add(&o, h) : oracle_remove(&o, h));
                items += adds;
                items -= !adds && changed && items > 0;
                h = hash_at(5, (r >> 32) % (30 * sizes[i]));
                assert_int_equal(bly_filter_copies_hash(f, h), oracle_copies(&o, h));
                assert_int_equal(bly_filter_contains_hash(f, h), oracle_copies(&o, h) > 0);
                if (n % (operations / 64) == 0)
                    assert_cells_are(f, &o);
            }
            bly_filter_info s = {.struct_size = sizeof s};
            bly_filter_get_info(f, &s);
            assert_cells_are(f, &o);
            assert_true(s.stuck == oracle_stuck(&o) && s.stuck > 0 && s.count == items);
            free(o.count);
            bly_filter_destroy(f);
        }
}

/* The bytes after adds of the hash lo = 0, hi = 1 to a filter of three blocks, computed by hand
 * from docs/format.md. In the eight lanes, its cells are the top five bits of the salts: 8 8 17 20
 * 14 5 19 11. */
static void fixed_vector(void **state) {
    static const char mask[] = "0001000000010000000002000000100000400000200000000000080000080000";
    const bly_hash h = {0, 1};
    (void)state;
    bly_filter *f = layered_of(3);
    assert_int_equal(f->body_bytes, 128 + 3 * 96 + 32);
    for (unsigned copies = 1; copies <= 9; copies++) {
        assert_ok(bly_filter_add_hash(f, h, NULL));
        unsigned more = copies < 8 ? copies - 1 : 7;
        for (size_t i = 0; i < f->body_bytes; i++) {
            unsigned plane = i < 32 ? 3 : i >= 128 && i < 224 ? (unsigned)(i - 128) / 32 : 9;
            bool set = plane == 3 || (plane < 3 && more >> plane & 1);
            unsigned byte = 0;
            assert_int_equal(sscanf(mask + 2 * (i % 32), "%2x", &byte), 1);
            assert_int_equal(f->body[i], set ? byte : 0);
        }
    }
    bly_filter_destroy(f);
}

/* The front equals an sbbf filter with the same keys, and gives the same answers. */
static void front_is_sbbf(void **state) {
    static const size_t sizes[] = {0, 1, 15, 64, 65, 1000, 4096};
    blyt_list l = blyt_list_of(KEYS_URL, 0, 9000);
    uint8_t got[9000], want[9000];
    (void)state;
    for (uint64_t blocks = 600; blocks < 602; blocks++) {
        bly_filter *f = layered_of(blocks), *plain = plain_of(f), *front = front_of(f);
        bly_batch_result a, b;
        size_t at = 0;
        for (size_t i = 0; i < COUNT_OF(sizes); at += sizes[i++]) {
            assert_ok(bly_filter_add_many(f, l.keys + at, sizes[i], got, &a));
            assert_ok(bly_filter_add_many(plain, l.keys + at, sizes[i], want, &b));
            assert_true(a.done == b.done && a.changed == b.changed);
            assert_memory_equal(got, want, sizes[i]);
        }
        assert_true(bly_filter_equal(front, plain) && bly_filter_count(f) == at);
        assert_memory_equal(f->body, plain->body, (size_t)plain->body_bytes);
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            const bly_bytes *keys = l.keys + l.n - sizes[i];
            size_t hits = bly_filter_contains_many(plain, keys, sizes[i], want);
            assert_int_equal(bly_filter_contains_many(f, keys, sizes[i], got), hits);
            assert_memory_equal(got, want, sizes[i]);
            assert_int_equal(bly_filter_contains_many(front, keys, sizes[i], NULL), hits);
        }
        /* After the second half of the keys is removed, the front equals an sbbf filter of the
         * first half. */
        assert_ok(bly_filter_remove_many(f, l.keys + at / 2, at - at / 2, got, &a));
        assert_true(a.done == at - at / 2 && a.changed == a.done && bly_filter_count(f) == at / 2);
        bly_filter_clear(plain);
        assert_ok(bly_filter_add_many(plain, l.keys, at / 2, NULL, NULL));
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(f, &s);
        assert_true(s.stuck == 0 && bly_filter_equal(front, plain));
        bly_filter_destroy(front);
        bly_filter_destroy(plain);
        bly_filter_destroy(f);
    }
    blyt_list_free(&l);
}

/* ---- adding and removing --------------------------------------------------------------------- */

/* Adds keys with Zipf's frequencies, and removes them in any order. */
static void programs_lose_nothing(void **state) {
    const unsigned keys = 30000;
    uint64_t operations = blyt_long() ? 10000000 : 1000000 / BLYT_SLOW, dice = 11, live = 0;
    bly_filter *f = layered(keys, 0.01);
    uint32_t *truth = calloc(keys, sizeof *truth);
    (void)state;
    assert_non_null(truth);
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t r = blyt_next(&dice);
        unsigned key = (unsigned)exp((double)(r >> 11) * 0x1p-53 * log(keys));
        bool adds = r % 8 < (i * 10 / operations % 2 ? 3 : 6), changed;
        if (adds) {
            assert_ok(bly_filter_add_hash(f, hash_at(9, key), &changed));
            assert_true(truth[key]++ == 0 || !changed);
            live++;
        } else if (truth[key] > 0) {
            assert_ok(bly_filter_remove_hash(f, hash_at(9, key), &changed));
            assert_true(changed);
            truth[key]--;
            live--;
        }
        key = (unsigned)(r >> 32) % keys;
        uint64_t copies = bly_filter_copies_hash(f, hash_at(9, key));
        assert_true(copies >= (truth[key] < 8 ? truth[key] : 8) && copies <= 8);
        if (i % (operations / 8) == 0)
            for (unsigned k = 0; k < keys; k++)
                assert_true(truth[k] == 0 || bly_filter_contains_hash(f, hash_at(9, k)));
    }
    assert_int_equal(bly_filter_count(f), live);
    for (unsigned k = 0; k < keys; k++)
        for (; truth[k] > 0; truth[k]--)
            remove_hashes(f, 9, k, k + 1);
    /* Only stuck counters are not 0. */
    bly_filter_info s = {.struct_size = sizeof s};
    oracle o = oracle_from(f);
    bly_filter_get_info(f, &s);
    for (uint64_t i = 0; i < 256 * o.blocks; i++)
        assert_true(o.count[i] == 0 || o.count[i] == 8);
    assert_true(s.count == 0 && s.stuck == oracle_stuck(&o) && s.set_bits == 4 * s.stuck);
    assert_true(s.stuck > 0 && s.fill < 0.5);
    free(o.count);
    free(truth);
    bly_filter_destroy(f);
}

static void eight_is_so_many_or_more(void **state) {
    bool flag;
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    for (uint64_t many = 7; many <= 20; many += 13) {
        bly_filter *f = layered(1000, 0.01);
        for (uint64_t i = 0; i < many; i++) {
            assert_ok(bly_filter_add(f, "twin", 4, &flag));
            assert_int_equal(flag, i == 0);
            assert_int_equal(bly_filter_copies(f, "twin", 4), i < 8 ? i + 1 : 8);
        }
        assert_int_equal(bly_filter_count(f), many);
        for (uint64_t i = 0; i < many; i++) {
            assert_ok(bly_filter_remove(f, "twin", 4, &flag));
            assert_true(flag);
        }
        bly_filter_get_info(f, &s);
        assert_int_equal(bly_filter_count(f), 0);
        assert_int_equal(s.stuck, many == 20 ? 8 : 0);
        assert_int_equal(bly_filter_copies(f, "twin", 4), many == 20 ? 8 : 0);
        assert_int_equal(all_zero(f), many != 20);
        bly_filter_clear(f);
        assert_true(all_zero(f));
        bly_filter_destroy(f);
    }
}

static void absent_keys_leave_no_trace(void **state) {
    bly_filter *f = layered(20000, 0.001);
    uint64_t present = 0, tried = 100000;
    (void)state;
    add_hashes(f, 1, 0, 20000);
    uint8_t *kept = keep_body(f);
    for (uint64_t i = 0; i < tried; i++) {
        bool removed = true;
        if (bly_filter_contains_hash(f, hash_at(2, i))) {
            present++;
            continue;
        }
        assert_ok(bly_filter_remove_hash(f, hash_at(2, i), &removed));
        assert_false(removed);
    }
    assert_true(present > 0 && present < tried / 500);
    assert_int_equal(bly_filter_count(f), 20000);
    assert_body_is(f, kept);
    bly_filter_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_as_sbbf_does),
        cmocka_unit_test(checks_geometries),
        cmocka_unit_test(rates_are_as_planned),
        cmocka_unit_test(few_cells_get_stuck),
        cmocka_unit_test(agrees_with_a_second_implementation),
        cmocka_unit_test(fixed_vector),
        cmocka_unit_test(front_is_sbbf),
        cmocka_unit_test(programs_lose_nothing),
        cmocka_unit_test(eight_is_so_many_or_more),
        cmocka_unit_test(absent_keys_leave_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
