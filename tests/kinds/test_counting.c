/* Counting filters: sizes and rates are as planned, every counter equals that of a second
 * implementation, and stuck counters lose no key. */
#include "counting_support.h"
#include "zipf_support.h"

#include "kinds/counting/counting_layout.h"
#include "kinds/multilayer/multilayer_layout.h"

static const double rates[] = {0.01, 0.001, 0.0001};

/* ---- plans ----------------------------------------------------------------------------------- */

static void takes_the_bits_promised(void **state) {
    static const double bits[4][3] = {
        {19.2, 28.8, 38.3}, {38.4, 57.5, 76.7}, {76.7, 115, 153}, {153, 230, 307}};
    (void)state;
    for (size_t w = 0; w < 4; w++)
        for (size_t p = 0; p < 3; p++)
            for (uint64_t n = 10000; n <= 1000000000; n *= 100) {
                bly_geometry g;
                assert_ok(blyi_counting_plan(n, rates[p], widths[w], &g));
                double each = (double)bly_plan_bits(&g) / (double)n;
                assert_true(fabs(each / bits[w][p] - 1) < (n < 1000000 ? 0.01 : 0.004));
                assert_int_equal(g.detail, widths[w]);
            }
}

static void plans_are_kept_and_tight(void **state) {
    (void)state;
    for (uint64_t n = 1; n < (uint64_t)1 << 40; n = n * 7 + 3)
        for (double p = 0.9; p > 0x1p-40; p /= 9) {
            bly_geometry g;
            bly_status status = bly_plan(BLY_COUNTING, n, p, 0, 128, &g);
            if (status != BLY_OK) {
                assert_true(status == BLY_ETOOBIG && n > 1000000000000);
                continue;
            }
            assert_true(g.detail == 4 && bly_plan_fpr(&g, n, 128) <= p);
            assert_true(bly_plan_capacity(&g, p, 128) >= n);
            g.size -= 64;
            if (bly_plan_check(&g) == BLY_OK && g.size >= 512)
                assert_true(bly_plan_fpr(&g, n, 128) > p);
        }
    /* The lowest rate that is possible, 2^-40, is kept although a part of it comes from hash
     * collisions. */
    bly_geometry g;
    assert_ok(bly_plan(BLY_COUNTING, 1000000, 0x1p-40, 0, 64, &g));
    assert_true(bly_plan_fpr(&g, 1000000, 64) <= 0x1p-40);
}

static void refuses_other_geometries(void **state) {
    static const struct {
        bly_geometry g;
        bly_status status;
    } table[] = {
        {{BLY_COUNTING, 7, 1000, 0, 0}, BLY_EGEOMETRY},
        {{BLY_COUNTING, 7, 1000, 0, 3}, BLY_EGEOMETRY},
        {{BLY_COUNTING, 7, 1000, 0, 32}, BLY_EGEOMETRY},
        {{BLY_COUNTING, 0, 1000, 0, 4}, BLY_EGEOMETRY},
        {{BLY_COUNTING, 65, 1000, 0, 4}, BLY_EGEOMETRY},
        {{BLY_COUNTING, 7, 63, 0, 4}, BLY_EGEOMETRY},
        {{BLY_COUNTING, 7, 1000, BLY_TEXTBOOK, 4}, BLY_EGEOMETRY},
        {{BLY_COUNTING, 7, ((uint64_t)1 << 46) + 1, 0, 4}, BLY_ETOOBIG},
        {{BLY_COUNTING, 7, UINT64_MAX, 0, 16}, BLY_ETOOBIG},
        {{BLY_COUNTING, 7, (uint64_t)1 << 46, 0, 4}, BLY_OK},
        {{BLY_COUNTING, 64, 64, 0, 2}, BLY_OK},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        assert_int_equal(bly_plan_check(&table[i].g), table[i].status);
}

static bly_status create_with_width(uint64_t keys, double fpr, uint32_t width, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_COUNTING, keys, fpr);
    spec.counting.counter_bits = width;
    return bly_filter_create(&spec, out);
}

static void refuses_other_wishes(void **state) {
    bly_filter *f;
    (void)state;
    assert_int_equal(create_with_width(1000, 0.01, 3, &f), BLY_EINVAL);
    assert_int_equal(create_with_width(1000, 0.01, 32, &f), BLY_EINVAL);
    assert_int_equal(create_with_width(0, 0.01, 4, &f), BLY_ECOUNT);
    assert_int_equal(create_with_width(10, 1, 4, &f), BLY_ERATE);
    assert_int_equal(create_with_width(UINT64_MAX, 0.01, 4, &f), BLY_ETOOBIG);
    assert_null(f);
    bly_spec spec = {.struct_size = sizeof spec,
                     .geometry = {BLY_COUNTING, 7, 1000, 0, 8},
                     .counting.counter_bits = 4};
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
    spec.counting.counter_bits = 8;
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(bly_filter_capacity(f),
                     98); /* with 98 keys, half of the counters are in use */
    bly_filter_destroy(f);
    spec.geometry.size = spec.geometry.hashes = 0;
    /* The counter width alone does not make an exact geometry: without size and hashes, the spec is
     * invalid. */
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
    spec = bly_spec_for(BLY_CUCKOO, 100, 0.01);
    spec.counting.counter_bits = 4;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
    spec = bly_spec_for(BLY_COUNTING, 100, 0.01);
    spec.sharing = BLY_SHARED;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EUNSUPPORTED);
    f = counters(BLY_COUNTING, 1000, 0.01, 0);
    assert_int_equal(bly_filter_geometry(f).detail, 4);
    bly_filter_destroy(f);
}

/* ---- rates ----------------------------------------------------------------------------------- */

/* Returns the mean of (X/B)^k, X being how many of B counters are in use after t probes, from the
 * probability of every X. */
static double by_occupancy(unsigned B, unsigned k, unsigned t) {
    double chance[257] = {1}, sum = 0;
    for (; t > 0; t--)
        for (unsigned x = B; x > 0; x--) {
            chance[x] = (chance[x] * x + chance[x - 1] * (B - x + 1)) / B;
            if (x == 1)
                chance[0] = 0;
        }
    for (unsigned x = 1; x <= B; x++)
        sum += chance[x] * pow((double)x / B, k);
    return sum;
}

static void the_rate_of_a_line_is_exact(void **state) {
    (void)state;
    for (size_t w = 0; w < 4; w++)
        for (uint32_t k = 1; k <= 16; k++)
            for (unsigned keys = 1; keys < 200; keys += keys / 4 + 1) {
                unsigned cells = 512 / widths[w];
                double want = by_occupancy(cells, k, k * keys);
                assert_true(
                    fabs(blyi_ml_block_rate(blyi_ml_block_type(cells, k), keys) / want - 1) < 1e-5);
            }
}

/* Returns the variance of the rate between filters of this geometry, relative to the square of the
 * rate. */
static double unsteady(const bly_filter *f) {
    double k = f->geometry.hashes, size = (double)f->geometry.size, sum = 0, squares = 0;
    if (f->geometry.kind == BLY_COUNTING)
        return 0.32 * k * k / size;
    unsigned B = 512 / f->geometry.detail;
    for (uint64_t line = 0; line < f->geometry.size; line++) {
        unsigned used = 0;
        for (unsigned i = 0; i < B; i++)
            used += cell(f, line * B + i) != 0;
        double rate = pow((double)used / B, k);
        sum += rate;
        squares += rate * rate;
    }
    return (squares / size - pow(sum / size, 2)) / (sum * sum / size);
}

/* Asserts that the measured rate is within five sigma of the expected ones. With 2500 false
 * positives, five sigma are a tenth of the rate. At a rate of 0.0001 there is only time for 800 in
 * kinds_counting_large, and for 130 otherwise. */
static void check_rate(bly_kind kind, uint32_t width, uint64_t n, double p) {
    const uint64_t most = (blyt_large() ? 8000000U : p < 0.001 ? 1300000U : 2600000U) / BLYT_SLOW;
    unsigned filters = n <= 1000 ? 50 : 1;
    bly_filter *f = counters(kind, n, p, width);
    bly_geometry g = bly_filter_geometry(f);
    double planned = bly_plan_fpr(&g, n, 64), variance = 0;
    uint64_t queries = (uint64_t)(2500 / planned / filters) + 1;
    tally now = {0};
    if (queries > most / filters)
        queries = most / filters;
    for (unsigned seed = 1; seed <= filters; seed++) {
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_clear(f);
        add_hashes(f, seed, 0, n);
        bly_filter_get_info(f, &s);
        look_up_non_members(f, seed + 100000, queries, s.current_fpr, &now);
        variance += pow((double)queries * planned, 2) * unsteady(f);
        assert_true(fabs(s.estimated_keys / (double)n - 1) < 5 / sqrt((double)n));
        assert_true(fabs(s.fill / s.expected_fill - 1) < 5 / sqrt((double)n));
        assert_int_equal(s.set_bits, (uint64_t)llround(s.fill * (double)cells_of(f)) * width);
    }
    judge(&now, "current", (double)n, p);
    double expected = planned * now.asked, sigma = sqrt(expected + variance);
    if (getenv("BLYT_VERBOSE"))
        print_message("%s %u bits, %g keys: asked %g, planned %g, found %g, sigma %.2g\n",
                      bly_kind_name(kind), width, (double)n, p, planned, now.found / now.asked,
                      sigma / now.asked);
    assert_true(fabs(now.found - expected) <= 5 * sigma + 4);
    bly_filter_destroy(f);
}

static void rates_are_as_planned(void **state) {
    (void)state;
    for (size_t p = 0; p < COUNT_OF(rates); p++) {
        check_rate(BLY_COUNTING, 4, 1000, rates[p]);
        if (blyt_large() || rates[p] > 0.001)
            check_rate(BLY_COUNTING, 4, 100000 / BLYT_SLOW, rates[p]);
        if (blyt_large())
            check_rate(BLY_COUNTING, 4, 1000000 / BLYT_SLOW, rates[p]);
        if (blyt_long())
            check_rate(BLY_COUNTING, 4, 10000000, rates[p]);
    }
    check_rate(BLY_COUNTING, 16, 100000 / BLYT_SLOW, 0.001);
}

/* ---- counters -------------------------------------------------------------------------------- */

/* There are so few counters that a key may have the same one twice, and that counters get stuck. */
static void agrees_with_a_second_implementation(void **state) {
    static const struct {
        uint32_t k;
        uint64_t size;
    } shapes[] = {{1, 64}, {7, 64}, {64, 64}, {13, 97}, {3, 1000}};
    (void)state;
    FOR_EACH_SORT(kind, width)
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        bly_filter *f = exact(kind, shapes[i].k, shapes[i].size, width);
        model m = model_of(f);
        uint64_t dice = i + width, live = 0;
        for (unsigned step = 0; step < 4000; step++) {
            bly_hash h = hash_at(5, blyt_next(&dice) % 40);
            bool did = false, adds = blyt_next(&dice) % 16 < (step / 500 % 2 ? 6 : 10);
            assert_int_equal(bly_filter_copies_hash(f, h), model_copies(&m, f, h));
            assert_int_equal(bly_filter_contains_hash(f, h), model_copies(&m, f, h) > 0);
            if (adds) {
                assert_ok(bly_filter_add_hash(f, h, &did));
                assert_int_equal(did, !model_change(&m, f, h, 1));
            } else {
                assert_ok(bly_filter_remove_hash(f, h, &did));
                assert_int_equal(did, model_change(&m, f, h, -1));
            }
            live += adds ? 1 : did && live > 0 ? UINT64_MAX : 0;
            assert_int_equal(bly_filter_count(f), live);
            if (step % 100 == 0)
                assert_cells(f, &m);
        }
        assert_cells(f, &m);
        bly_filter_destroy(f);
        free(m.cells);
    }
}

/* A key's number of copies is too high only if other keys have raised all its counters, which is as
 * frequent as a false positive. */
static void copies_are_seldom_too_many(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        bly_filter *f = counters(kinds[i], 100000, 0.01, 4);
        tally t = {100000, 0, 100000 * bly_plan_fpr(&f->geometry, 99999, 64)};
        add_hashes(f, 1, 0, 100000);
        for (uint64_t k = 0; k < 100000; k++)
            t.found += bly_filter_copies_hash(f, hash_at(1, k)) > 1;
        judge(&t, "copies", 100000, 0.01);
        bly_filter_destroy(f);
    }
}

static void batches_do_as_single_calls(void **state) {
    (void)state;
    blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, 3000);
    uint8_t a[3000], b[3000];
    FOR_EACH_SORT(kind, width) {
        bly_filter *one = counters(kind, 1000, 0.01, width), *many;
        bly_batch_result t;
        assert_ok(bly_filter_clone(one, NULL, &many));
        for (size_t i = 0; i < 2500; i++) {
            bool added;
            assert_ok(bly_filter_add(one, l.keys[i % 2000].data, l.keys[i % 2000].size, &added));
            a[i] = added;
        }
        assert_ok(bly_filter_add_many(many, l.keys, 2000, b, &t));
        assert_int_equal(t.done, 2000);
        assert_ok(bly_filter_add_many(many, l.keys, 500, b + 2000, NULL));
        assert_memory_equal(a, b, 2500);
        assert_true(bly_filter_equal(one, many) && bly_filter_count(many) == 2500);
        size_t hits = bly_filter_contains_many(many, l.keys, 3000, b), alone = 0;
        for (size_t i = 0; i < 3000; i++) {
            alone += b[i];
            assert_int_equal(bly_filter_contains(one, l.keys[i].data, l.keys[i].size), b[i]);
        }
        assert_true(hits == alone && hits >= 2000 && hits < 2900);
        assert_ok(bly_filter_remove_many(many, l.keys, 500, b, &t));
        assert_true(t.done == 500 && t.changed == 500);
        bly_filter_destroy(one);
        bly_filter_destroy(many);
    }
    blyt_list_free(&l);
}

/* ---- adding and removing --------------------------------------------------------------------- */

/* Compares adds and removes with an exact multiset, in long phases of mostly adds or mostly
 * removes. At the end, all keys are removed. */
static void run_zipf(bly_kind kind, uint32_t width, uint64_t operations) {
    enum { KEYS = 20000 };
    bly_filter *f = counters(kind, KEYS, 0.001, width);
    zipf z = zipf_of(KEYS, 0.9);
    uint32_t *copies = calloc(KEYS, sizeof *copies);
    uint64_t dice = operations + width, live = 0, limit = limit_of(f);
    assert_non_null(copies);
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t key = zipf_draw(&z, &dice), other = blyt_next(&dice) % KEYS;
        bool adds = blyt_next(&dice) % 8 < (i * 8 / operations % 2 ? 3 : 5), did = false;
        if (adds) {
            assert_ok(bly_filter_add_hash(f, hash_at(77, key), &did));
            assert_true(copies[key]++ == 0 || !did);
            live++;
        } else if (copies[key] > 0) {
            assert_ok(bly_filter_remove_hash(f, hash_at(77, key), &did));
            assert_true(did);
            copies[key]--;
            live--;
        }
        uint64_t told = bly_filter_copies_hash(f, hash_at(77, other));
        assert_true(told >= copies[other] || told == limit);
        assert_true(copies[other] == 0 || bly_filter_contains_hash(f, hash_at(77, other)));
    }
    assert_int_equal(bly_filter_count(f), live);
    for (uint64_t k = 0; k < KEYS; k++)
        for (; copies[k] > 0; copies[k]--)
            remove_hashes(f, 77, k, k + 1);
    assert_emptied(f);
    free(copies);
    zipf_free(&z);
    bly_filter_destroy(f);
}

static void programs_lose_nothing(void **state) {
    uint64_t operations = blyt_long() ? 10000000 : 400000 / BLYT_SLOW;
    (void)state;
    run_zipf(BLY_COUNTING, 4, operations);
    run_zipf(BLY_COUNTING, 2, operations / 4);
    run_zipf(BLY_COUNTING, 8, operations / 4);
    run_zipf(BLY_COUNTING, 16, operations / 4);
}

static void absent_keys_leave_no_trace(void **state) {
    (void)state;
    FOR_EACH_SORT(kind, width) {
        bly_filter *f = counters(kind, 5000, 0.01, width);
        add_hashes(f, 1, 0, 5000);
        uint8_t *kept = keep_body(f);
        uint64_t absent = 0;
        for (uint64_t i = 0; i < 20000; i++) {
            bool removed = true;
            if (bly_filter_contains_hash(f, hash_at(2, i)))
                continue;
            assert_ok(bly_filter_remove_hash(f, hash_at(2, i), &removed));
            assert_false(removed);
            absent++;
        }
        assert_true(absent > 19000 && bly_filter_count(f) == 5000);
        assert_body_is(f, kept);
        remove_hashes(f, 1, 0, 5000);
        if (width > 2)
            assert_true(all_zero(f));
        assert_emptied(f);
        bly_filter_destroy(f);
    }
}

/* ---- stuck counters -------------------------------------------------------------------------- */

static void a_key_past_the_limit_stays(void **state) {
    (void)state;
    FOR_EACH_SORT(kind, width) {
        bly_filter *f = counters(kind, 1000, 0.01, width);
        uint64_t limit = limit_of(f), times = limit + 5, at[64];
        bly_filter_info s = {.struct_size = sizeof s};
        bool did;
        for (uint64_t i = 1; i <= times; i++) {
            assert_ok(bly_filter_add(f, "twin", 4, &did));
            assert_int_equal(did, i == 1);
            assert_int_equal(bly_filter_copies(f, "twin", 4), i < limit ? i : limit);
        }
        uint8_t *kept = keep_body(f);
        for (uint64_t i = times; i-- > 0;) {
            assert_ok(bly_filter_remove(f, "twin", 4, &did));
            assert_true(did && bly_filter_contains(f, "twin", 4));
            assert_int_equal(bly_filter_count(f), i);
        }
        assert_ok(bly_filter_remove(f, "twin", 4, &did)); /* one more copy than was added */
        assert_true(did && bly_filter_count(f) == 0);
        assert_body_is(f, kept);
        bly_filter_get_info(f, &s);
        const bly_hasher *hasher = bly_filter_hasher(f);
        assert_int_equal(s.stuck, places(f, hasher->one(hasher, "twin", 4), at));
        bly_filter_clear(f);
        for (uint64_t i = 1; i < limit; i++)
            assert_ok(bly_filter_add(f, "twin", 4, NULL));
        for (uint64_t i = 1; i < limit; i++)
            assert_ok(bly_filter_remove(f, "twin", 4, NULL));
        assert_true(all_zero(f));
        bly_filter_destroy(f);
    }
}

static void twenty_copies_leave_k_stuck(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        bly_filter *f = counters(kinds[i], 100000, 0.001, 4);
        bly_filter_info s = {.struct_size = sizeof s};
        for (int j = 0; j < 20; j++)
            assert_ok(bly_filter_add(f, "key", 3, NULL));
        for (int j = 0; j < 20; j++)
            assert_ok(bly_filter_remove(f, "key", 3, NULL));
        bly_filter_get_info(f, &s);
        assert_true(bly_filter_contains(f, "key", 3) && s.count == 0);
        assert_int_equal(s.stuck, s.hashes);
        bly_filter_destroy(f);
    }
}

/* Adds five times as many keys as the capacity, by Zipf's law, and removes them all. The percentage
 * of stuck counters is that in `shares`, to within a tenth of it. (counting.c has the figures for a
 * million keys.) */
static void copies_get_counters_stuck(void **state) {
    static const double exponents[] = {0.8, 1.0, 1.2};
    static const double shares[2][3] = {{3.90, 2.70, 1.64}, {2.77, 1.96, 1.21}};
    enum { KEYS = 20000 };
    static uint32_t drawn[5 * KEYS];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        for (size_t e = 0; e < COUNT_OF(exponents); e++) {
            bly_filter *f = counters(kinds[i], KEYS, 0.01, 4);
            zipf z = zipf_of(KEYS, exponents[e]);
            uint64_t dice = e;
            bly_filter_info s = {.struct_size = sizeof s};
            for (size_t j = 0; j < COUNT_OF(drawn); j++) {
                drawn[j] = zipf_draw(&z, &dice);
                assert_ok(bly_filter_add_hash(f, hash_at(3, drawn[j]), NULL));
            }
            for (size_t j = 0; j < COUNT_OF(drawn); j++)
                remove_hashes(f, 3, drawn[j], drawn[j] + 1);
            assert_emptied(f);
            bly_filter_get_info(f, &s);
            double share = 100 * (double)s.stuck / (double)cells_of(f);
            assert_true(fabs(share / shares[i][e] - 1) < 0.1);
            zipf_free(&z);
            bly_filter_destroy(f);
        }
}

static void overflow_is_the_exact_tail(void **state) {
    /* With k = 1, the number of times that a counter is raised is binomial, with n trials of
     * probability 1/m: nearly a Poisson distribution for large m. */
    bly_geometry g = {BLY_COUNTING, 1, 1000000000, 0, 4};
    (void)state;
    assert_true(fabs(bly_plan_counter_overflow(&g, 1e9 * log(2)) / 1.63689e-15 - 1) < 1e-4);
    assert_true(fabs(blyi_counting_tail(&g, 1e9 * log(2), 16) / 7.07280e-17 - 1) < 1e-4);
    assert_true(fabs(blyi_counting_tail(&g, 1e9 * log(2), 17) / 2.87714e-18 - 1) < 1e-4);
    assert_true(bly_plan_counter_overflow(&g, 14) == 0 && bly_plan_counter_overflow(&g, 0) == 0);
    assert_true(fabs(bly_plan_counter_overflow(&g, 15) / 1e-135 - 1) < 1e-6);
    assert_true(bly_plan_counter_overflow(&g, 1e11) == 1);
    /* Compares with the sum of binomial terms, around the mean and far from it. */
    for (uint32_t n = 0; n < 400; n += 7) {
        bly_geometry small = {BLY_COUNTING, 1, 128, 0, 4};
        double below = 0, term = pow(127.0 / 128, n);
        for (unsigned j = 0; j < 15; j++) {
            below += term;
            term *= (n - (double)j) / (j + 1) / 127;
        }
        assert_true(fabs(bly_plan_counter_overflow(&small, n) - (1 - below)) < 1e-12);
    }
    /* Compares with the stuck counters of full filters with counters of 2 bits. */
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        bly_filter *f = counters(kinds[i], 200000, 0.01, 2);
        bly_filter_info s = {.struct_size = sizeof s};
        add_hashes(f, 1, 0, 200000);
        bly_filter_get_info(f, &s);
        double want = bly_plan_counter_overflow(&f->geometry, 200000) * (double)cells_of(f);
        assert_true(want > 30000 && fabs((double)s.stuck - want) < 5 * sqrt(want));
        bly_filter_destroy(f);
    }
    g.kind = BLY_CLASSIC;
    assert_true(isnan(bly_plan_counter_overflow(&g, 100)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_bits_promised),
        cmocka_unit_test(plans_are_kept_and_tight),
        cmocka_unit_test(refuses_other_geometries),
        cmocka_unit_test(refuses_other_wishes),
        cmocka_unit_test(the_rate_of_a_line_is_exact),
        cmocka_unit_test(rates_are_as_planned),
        cmocka_unit_test(agrees_with_a_second_implementation),
        cmocka_unit_test(copies_are_seldom_too_many),
        cmocka_unit_test(batches_do_as_single_calls),
        cmocka_unit_test(programs_lose_nothing),
        cmocka_unit_test(absent_keys_leave_no_trace),
        cmocka_unit_test(a_key_past_the_limit_stays),
        cmocka_unit_test(twenty_copies_leave_k_stuck),
        cmocka_unit_test(copies_get_counters_stuck),
        cmocka_unit_test(overflow_is_the_exact_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
