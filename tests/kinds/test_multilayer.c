/* The multilayer filter agrees with a second implementation, loses nothing while blocks spill and
 * return, and has the planned size, share of spilled blocks, and rates. test_multilayer_bytes.c
 * tests the arithmetic of one block, set operations, and files. */
#include "multilayer_support.h"
#include "zipf_support.h"

/* ---- against a second implementation --------------------------------------------------------- */

static unsigned bits_of(const uint8_t *from, unsigned at, unsigned n) {
    unsigned value = 0;
    for (unsigned i = 0; i < n; i++)
        value |= (unsigned)(from[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    return value;
}

/* Reads the count of a cell bit by bit, as docs/format.md lays it out. */
static unsigned count_by_hand(const uint8_t *body, uint64_t size, uint64_t room, uint64_t number,
                              unsigned cell) {
    const uint8_t *block = body + 64 * number;
    if (bits_of(block, cell, 1) == 0)
        return 0;
    if (block[63] == 255) {
        uint64_t record = bits_of(block, 320, 32), list = 8 * (room + 1);
        list = (list + 63) / 64 * 64;
        return bits_of(body + 64 * size + list + 640 * record, 16 * cell, 16);
    }
    unsigned rank = 0, length = 0, start = 320, count = 1;
    for (unsigned i = 0; i < 320; i++) {
        rank += i < cell && bits_of(block, i, 1);
        length += bits_of(block, i, 1);
    }
    while (bits_of(block, start + rank, 1)) {
        unsigned next_rank = 0, next_length = 0;
        for (unsigned i = 0; i < length; i++) {
            next_rank += i < rank && bits_of(block, start + i, 1);
            next_length += bits_of(block, start + i, 1);
        }
        start += length;
        rank = next_rank;
        length = next_length;
        count++;
    }
    return count;
}

static unsigned copies_by_hand(const bly_filter *f, bly_hash h) {
    uint64_t number = blyi_mulhi(h.lo, f->geometry.size), w = h.hi;
    unsigned least = 65535;
    for (unsigned j = 0; j < f->geometry.hashes; j++) {
        if (j > 0 && j % 4 == 0) {
            w *= UINT64_C(0x9E3779B97F4A7C15);
            w ^= w >> 29;
        }
        unsigned cell = (unsigned)((w >> j % 4 * 16) % 65536 * 320 / 65536);
        unsigned count = count_by_hand(f->body, f->geometry.size,
                                       blyi_size_of_class(f->geometry.detail), number, cell);
        least = count < least ? count : least;
    }
    return least;
}

/* For every k, with blocks that are nearly empty, full and spilled, all answers agree, in batches
 * and single calls. */
static void agrees_with_a_second_implementation(void **state) {
    static const uint64_t sizes[] = {1, 2, 3, 10, 37};
    bly_hash h[400];
    uint8_t found[400];
    (void)state;
    for (uint32_t k = 1; k <= 32; k++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            bly_filter *f = exact_table((bly_geometry){BLY_MULTILAYER, k, sizes[i], 0, 0}, NULL);
            size_t hits = 0;
            add_hashes(f, k, 0, sizes[i] * 184 / k);
            add_hashes(f, k, 0, sizes[i] * 20 / k);
            for (size_t j = 0; j < COUNT_OF(h); j++)
                h[j] = hash_at(k, j * sizes[i] / 2);
            size_t many = bly_filter_contains_hashes(f, h, COUNT_OF(h), found);
            for (size_t j = 0; j < COUNT_OF(h); j++) {
                unsigned want = copies_by_hand(f, h[j]);
                assert_int_equal(bly_filter_copies_hash(f, h[j]), want);
                assert_int_equal(bly_filter_contains_hash(f, h[j]), want > 0);
                assert_int_equal(found[j], want > 0);
                hits += want > 0;
            }
            assert_int_equal(many, hits);
            assert_true(is_sound(f));
            bly_filter_destroy(f);
        }
}

static void batches_answer_as_single_calls(void **state) {
    static const size_t sizes[] = {1, 15, 64, 65, 4095, 20000};
    static uint8_t found[20000];
    blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, 20000);
    (void)state;
    for (size_t r = 0; r < COUNT_OF(multilayer_rates); r++) {
        bly_filter *f = multilayer(10000, multilayer_rates[r]),
                   *one_by_one = multilayer(10000, multilayer_rates[r]);
        assert_ok(bly_filter_add_many(f, l.keys, 12000, found, NULL));
        for (size_t i = 0; i < 12000; i++) {
            bool added;
            assert_ok(bly_filter_add(one_by_one, l.keys[i].data, l.keys[i].size, &added));
            assert_int_equal(added, found[i]);
        }
        assert_true(bly_filter_equal(f, one_by_one));
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            size_t n = sizes[i], from = l.n - n, hits = 0;
            size_t many = bly_filter_contains_many(f, l.keys + from, n, found);
            assert_int_equal(bly_filter_contains_many(f, l.keys + from, n, NULL), many);
            for (size_t k = 0; k < n; k++) {
                bly_bytes key = l.keys[from + k];
                assert_int_equal(bly_filter_contains(f, key.data, key.size), found[k]);
                assert_true(found[k] || from + k >= 12000);
                hits += found[k];
            }
            assert_int_equal(many, hits);
        }
        bly_filter_destroy(f);
        bly_filter_destroy(one_by_one);
    }
    blyt_list_free(&l);
}

/* ---- adding and removing --------------------------------------------------------------------- */

static void assert_all_there(const bly_filter *f, const unsigned *copies, unsigned keys) {
    for (unsigned k = 0; k < keys; k++)
        assert_true(bly_filter_copies_hash(f, hash_at(77, k)) >= copies[k]);
    assert_true(is_sound(f));
}

/* Compares adds and removes with exact counts, in phases of mostly adds or mostly removes. Copies
 * follow Zipf's law. */
static void run_zipf(bly_filter *f, unsigned keys, uint64_t operations) {
    unsigned *copies = calloc(keys, sizeof *copies);
    zipf z = zipf_of(keys, 1);
    uint64_t live = 0, state = operations ^ keys, spilled = 0;
    assert_non_null(copies);
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t dice = blyt_next(&state);
        bool adds = dice % 8 < (i * 8 / operations % 2 ? 3 : 5), changed = false;
        unsigned key = zipf_draw(&z, &state), other = (unsigned)(dice >> 8) % keys;
        bly_hash h = hash_at(77, key);
        if (adds) {
            assert_ok(bly_filter_add_hash(f, h, &changed));
            assert_true(copies[key] == 0 || !changed);
            copies[key]++;
            live++;
        } else if (copies[key] > 0) {
            assert_ok(bly_filter_remove_hash(f, h, &changed));
            assert_true(changed);
            copies[key]--;
            live--;
        }
        assert_true(bly_filter_copies_hash(f, hash_at(77, other)) >= copies[other]);
        spilled = records_used(f) > spilled ? records_used(f) : spilled;
        if (i % (operations / 4) == 0)
            assert_all_there(f, copies, keys);
    }
    assert_int_equal(bly_filter_count(f), live);
    assert_true(spilled > 10);
    for (unsigned k = 0; k < keys; k++)
        for (; copies[k] > 0; copies[k]--)
            remove_hashes(f, 77, k, k + 1);
    assert_int_equal(bly_filter_count(f), 0);
    assert_true(all_zero(f));
    zipf_free(&z);
    free(copies);
}

static void programs_lose_nothing(void **state) {
    uint64_t operations = blyt_long() ? 10000000 : 1000000 / BLYT_SLOW;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        bly_filter *f = multilayer(20000, i ? 1e-6 : 0.01);
        run_zipf(f, 20000, operations);
        bly_filter_destroy(f);
    }
}

static void absent_keys_leave_no_trace(void **state) {
    bly_filter *f = multilayer(20000, 0.0001);
    uint64_t present = 0;
    (void)state;
    add_hashes(f, 1, 0, 20000);
    for (unsigned i = 0; i < 40; i++) /* so that some blocks spill */
        add_hashes(f, 1, 0, 100);
    assert_true(records_used(f) > 50);
    uint8_t *kept = keep_body(f);
    for (uint64_t i = 0; i < 100000; i++) {
        bly_hash h = hash_at(2, i);
        bool removed = true;
        if (bly_filter_contains_hash(f, h)) {
            present++;
            continue;
        }
        assert_ok(bly_filter_remove_hash(f, h, &removed));
        assert_false(removed);
        assert_int_equal(bly_filter_copies_hash(f, h), 0);
    }
    assert_true(present < 100);
    assert_int_equal(bly_filter_count(f), 24000);
    assert_body_is(f, kept);
    bly_filter_destroy(f);
}

/* Adds copies of one key to a filter of one block: the block spills to a record and returns when it
 * must, and always counts correctly. */
static void a_block_spills_and_comes_back(void **state) {
    bly_filter *f = exact_table((bly_geometry){BLY_MULTILAYER, 4, 1, 0, 0}, NULL);
    bly_hash h = hash_at(3, 1);
    uint16_t cells[32];
    unsigned n = blyi_ml_cells(h.hi, 4, cells), most = 184 / n, back = 120 / n;
    (void)state;
    assert_int_equal(n, 4);
    for (unsigned i = 1; i <= 200; i++) {
        assert_ok(bly_filter_add_hash(f, h, NULL));
        assert_int_equal(bly_filter_copies_hash(f, h), i);
        assert_int_equal(records_used(f), i > most);
        assert_true(is_sound(f));
    }
    assert_int_equal(f->geometry.detail, 1);
    for (unsigned i = 200; i-- > 0;) {
        remove_hashes(f, 3, 1, 2);
        assert_int_equal(bly_filter_copies_hash(f, h), i);
        assert_int_equal(records_used(f), i > back);
        assert_true(is_sound(f));
    }
    assert_true(all_zero(f));
    assert_int_equal(f->geometry.detail, 1);
    bly_filter_destroy(f);
}

/* The records of spilled blocks are freed and reused, in any order of spills and returns. */
static void records_are_used_again(void **state) {
    bly_filter *f = exact_table((bly_geometry){BLY_MULTILAYER, 4, 100, 0, 0}, NULL);
    unsigned held[64] = {0};
    uint64_t rng = 9;
    (void)state;
    for (unsigned step = 0; step < 4000; step++) {
        unsigned key = (unsigned)(blyt_next(&rng) % 64), wanted = held[key] ? 0 : 60;
        for (; held[key] < wanted; held[key]++)
            add_hashes(f, 4, key, key + 1);
        for (; held[key] > wanted; held[key]--)
            remove_hashes(f, 4, key, key + 1);
        if (step % 50 == 0)
            assert_true(is_sound(f));
        assert_true(bly_filter_copies_hash(f, hash_at(4, key)) >= held[key]);
        assert_true(records_used(f) <= blyi_ml_max_records(&f->geometry));
    }
    assert_true(f->geometry.detail <= blyi_size_class_for(64));
    for (unsigned key = 0; key < 64; key++)
        for (; held[key] > 0; held[key]--)
            remove_hashes(f, 4, key, key + 1);
    assert_true(all_zero(f));
    bly_filter_destroy(f);
}

/* A count at its limit stays there, is reported as stuck, and loses no key. */
static void counts_have_a_limit(void **state) {
    bly_filter *f = multilayer(1000, 0.01), *small = multilayer(1000, 0.01);
    bly_hash h = hash_at(3, 1);
    uint16_t cells[32];
    unsigned n = blyi_ml_cells(h.hi, f->geometry.hashes, cells);
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    for (unsigned i = 1; i <= 65534; i++)
        assert_ok(bly_filter_add_hash(f, h, NULL));
    assert_ok(bly_filter_union(small, f));
    assert_int_equal(bly_filter_copies_hash(f, h), 65534);
    for (unsigned i = 0; i < 65534; i++)
        remove_hashes(small, 3, 1, 2);
    assert_true(all_zero(small));
    for (unsigned i = 0; i < 1000; i++)
        assert_ok(bly_filter_add_hash(f, h, NULL));
    bly_filter_get_info(f, &s);
    assert_int_equal(s.stuck, n);
    assert_int_equal(bly_filter_copies_hash(f, h), 65535);
    add_hashes(f, 5, 0, 1000);
    for (unsigned i = 0; i < 66534; i++)
        remove_hashes(f, 3, 1, 2);
    remove_hashes(f, 5, 0, 1000);
    assert_true(bly_filter_count(f) == 0 && is_sound(f));
    assert_true(bly_filter_contains_hash(f, h) && records_used(f) == 1);
    bly_filter_get_info(f, &s);
    assert_true(s.stuck == n && s.set_bits == n);
    assert_ok(bly_filter_subtract(f, f)); /* the exact count is unknown, so nothing is subtracted */
    assert_true(bly_filter_contains_hash(f, h));
    assert_ok(bly_filter_union(small, f));
    assert_ok(bly_filter_add_hash(small, h, NULL));
    assert_ok(bly_filter_intersect(small, f));
    assert_int_equal(bly_filter_copies_hash(small, h), 65535);
    bly_filter_clear(f);
    assert_true(all_zero(f) && !bly_filter_contains_hash(f, h));
    bly_filter_destroy(f);
    bly_filter_destroy(small);
}

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
            assert_true(blyi_ml_spilled_share(&g, (double)n) <= 1e-3);
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

/* Returns the rate of a block after t probes, from the probability of every number of set bits. */
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
        /* Size class 21 (128 records) is too large: 112 records are enough for 100 blocks. */
        {{BLY_MULTILAYER, 4, 100, 0, 21}, BLY_EGEOMETRY},
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

/* A filter filled to its capacity with distinct keys has as many spilled blocks as planned, and
 * rarely needs a larger table than at the start. */
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
            expected += blyi_ml_spilled_share(&g, (double)table[i].n) * (double)g.size;
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

/* Returns the variance of the blocks' rates, relative to the square of their mean. The rate of a
 * filter with z blocks has this variance divided by z. */
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

/* Asserts that the measured rate is within five sigma of the planned and of the current one. With
 * 2500 false positives, five sigma are a tenth of the rate. Below 0.001, only
 * kinds_multilayer_large has time for as many. */
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
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_clear(f);
        add_hashes(f, seed, 0, n);
        bly_filter_get_info(f, &s);
        tally one = {0};
        look_up_non_members(f, seed + 100000, queries, planned, &one);
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
        if (blyt_long())
            check_rate(10000000, 10000000, multilayer_rates[i]);
    }
    check_rate(10, 10, 0.01);
    check_rate(300, 300, 0.2);
    check_rate(3000, 3000, 0.00001);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_second_implementation),
        cmocka_unit_test(batches_answer_as_single_calls),
        cmocka_unit_test(programs_lose_nothing),
        cmocka_unit_test(absent_keys_leave_no_trace),
        cmocka_unit_test(a_block_spills_and_comes_back),
        cmocka_unit_test(records_are_used_again),
        cmocka_unit_test(counts_have_a_limit),
        cmocka_unit_test(takes_the_bits_promised),
        cmocka_unit_test(plans_hold_their_keys),
        cmocka_unit_test(low_rates_are_exact),
        cmocka_unit_test(refuses_other_geometries),
        cmocka_unit_test(spills_are_as_planned),
        cmocka_unit_test(rates_are_as_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
