/* The cuckoo filter: size and rate are as planned, keys can be removed, and a failed call changes
 * nothing. */
#include "table_support.h"

#include "kinds/cuckoo/cuckoo_table.h"
#include <unistd.h>

static const double rates[] = {0.01, 0.001, 0.0001};

static bly_filter *cuckoo(uint64_t keys, double p) {
    bly_filter *f = NULL;
    assert_ok(blyt_new(BLY_CUCKOO, keys, p, &f));
    return f;
}

/* ---- plan ------------------------------------------------------------------------------------ */

static void takes_the_bits_promised(void **state) {
    static const double bits[] = {10.4, 13.5, 17.7};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        for (uint64_t n = 1000; n <= 100000000; n *= 10) {
            bly_geometry g;
            assert_ok(bly_plan(BLY_CUCKOO, n, rates[i], 0, 64, &g));
            assert_true(fabs((double)bly_plan_bits(&g) / (double)n / bits[i] - 1) < 0.02);
            assert_true(bly_plan_fpr(&g, n, 64) <= rates[i]);
            g.hashes--;
            assert_true(bly_plan_fpr(&g, n, 64) > rates[i]);
        }
}

/* A plan has remainders of at least 7 bits. With 6 bits, the core (the part of a remainder that
 * chooses the other bucket) has so few values that many tables would not have room for their
 * keys. */
static void plans_no_shorter_remainders(void **state) {
    (void)state;
    for (uint64_t n = 1; n <= 100000; n *= 10)
        for (double p = 0.9; p > 0.05; p /= 2) {
            bly_geometry g;
            assert_ok(bly_plan(BLY_CUCKOO, n, p, 0, 64, &g));
            assert_true(g.hashes >= 7);
        }
}

static void plans_hold_their_keys(void **state) {
    (void)state;
    uint64_t last = 0;
    for (uint64_t n = 1; n < 40000; n++) {
        bly_geometry g;
        assert_ok(bly_plan(BLY_CUCKOO, n, 0.01, 0, 64, &g));
        assert_true(g.size % 2 == 0 && g.size >= last && g.detail == 0);
        assert_true(bly_plan_capacity(&g, 0.01, 64) >= n);
        last = g.size;
    }
    for (uint64_t n = (uint64_t)1 << 56; n > 1; n /= 3)
        for (double p = 0.9; p > 0x1p-40; p /= 7) {
            bly_geometry g;
            bly_status status = bly_plan(BLY_CUCKOO, n, p, 0, 128, &g);
            assert_true(status == BLY_OK || (status == BLY_ETOOBIG && n > (uint64_t)1 << 41));
            if (status == BLY_OK)
                assert_true(bly_plan_fpr(&g, n, 128) <= p && bly_plan_capacity(&g, p, 128) >= n);
        }
}

static void refuses_other_geometries(void **state) {
    static const struct {
        bly_geometry g;
        bly_status status;
    } table[] = {
        {{BLY_CUCKOO, 5, 100, 0, 0}, BLY_EGEOMETRY},
        {{BLY_CUCKOO, 56, 100, 0, 0}, BLY_EGEOMETRY},
        {{BLY_CUCKOO, 9, 0, 0, 0}, BLY_EGEOMETRY},
        {{BLY_CUCKOO, 9, 100, 0, 9}, BLY_EGEOMETRY},
        {{BLY_CUCKOO, 9, 100, BLY_FOLDABLE, 0}, BLY_EGEOMETRY},
        {{BLY_CUCKOO, 9, UINT64_MAX, 0, 0}, BLY_ETOOBIG},
        {{BLY_CUCKOO, 6, UINT64_MAX / 28 + 1, 0, 0}, BLY_ETOOBIG},
        {{BLY_CUCKOO, 6, ((uint64_t)1 << 48) / 28, 0, 0}, BLY_ETOOBIG},
        {{BLY_CUCKOO, 6, ((uint64_t)1 << 48) / 28 - 3, 0, 0}, BLY_OK},
        {{BLY_CUCKOO, 55, 1, 0, 0}, BLY_OK},
        {{BLY_CUCKOO, 6, 1, 0, 0}, BLY_OK},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        assert_int_equal(bly_plan_check(&table[i].g), table[i].status);
}

/* For every seed, all planned keys have room: no set of keys is unlucky. */
static void every_seed_reaches_the_plan(void **state) {
    static const struct {
        uint64_t n;
        unsigned seeds;
    } table[] = {{500, 400}, {1000, 400}, {5000, 200}, {10000, 200}, {100000, 200}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        bly_filter *f = cuckoo(table[i].n, i % 2 ? 0.001 : 0.01);
        const unsigned seeds = table[i].seeds / (blyt_large() ? 1 : table[i].n < 50000 ? 4 : 20);
        for (unsigned seed = 1; seed <= seeds / BLYT_SLOW; seed++) {
            bly_filter_clear(f);
            add_hashes(f, seed, 0, table[i].n);
        }
        bly_filter_destroy(f);
    }
    for (uint64_t n = 1; n <= 300; n += blyt_large() || BLYT_SLOW > 1 ? BLYT_SLOW : 4) {
        bly_filter *f = cuckoo(n, n % 3 ? 0.01 : 0.06);
        for (unsigned seed = 1; seed <= 40; seed++) {
            bly_filter_clear(f);
            add_hashes(f, seed * 1000 + n, 0, n);
        }
        bly_filter_destroy(f);
    }
    if (blyt_long()) {
        bly_filter *f = cuckoo(50000000, 0.01);
        add_hashes(f, 9, 0, 50000000);
        bly_filter_destroy(f);
    }
}

/* Small tables are planned so full that about one in 4000 has no room for its last key. */
static void few_small_tables_refuse(void **state) {
    static const uint64_t numbers[] = {234, 489, 683, 1000, 1146};
    bly_hash h[1146];
    uint64_t random = 1;
    unsigned refused = 0;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        bly_filter *f = cuckoo(numbers[i], 0.01);
        for (unsigned round = 0; round < (blyt_large() ? 1000U : 300U) / BLYT_SLOW; round++) {
            bly_batch_result sum;
            for (size_t j = 0; j < numbers[i]; j++)
                h[j] = (bly_hash){blyt_next(&random), blyt_next(&random)};
            bly_filter_clear(f);
            bly_status status = bly_filter_add_hashes(f, h, (size_t)numbers[i], NULL, &sum);
            assert_true(status == BLY_OK || status == BLY_EFULL);
            refused += status == BLY_EFULL;
        }
        bly_filter_destroy(f);
    }
    /* Expected are 1.3 in kinds_cuckoo_large, and 0.4 otherwise. The probability of more than these
     * limits is 1 in 20,000. */
    assert_true(refused <= (blyt_large() ? 7 : 4));
}

/* ---- rates ----------------------------------------------------------------------------------- */

/* Asserts that the measured rate is within five sigma of the planned and of the current one. With
 * 2500 false positives, five sigma are a tenth of the rate. At 0.0001, only kinds_cuckoo_large has
 * time for as many; otherwise there are 300, and five sigma are three tenths. */
static void check_rate(uint64_t n, uint64_t capacity, double p) {
    const uint64_t most = (blyt_large() ? 40000000U : 3000000U) / BLYT_SLOW;
    unsigned filters = n <= 10 ? 400 : n <= 1000 ? 50 : n <= 20000 ? 5 : 1;
    bly_filter *f = cuckoo(capacity, p);
    bly_geometry g = bly_filter_geometry(f);
    double planned = bly_plan_fpr(&g, n, 64);
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
        by_plan.asked += one.asked;
        by_plan.found += one.found;
        by_plan.expected += one.expected;
        by_stats = (tally){by_plan.asked, by_plan.found,
                           by_stats.expected + s.current_fpr * (double)queries};
        assert_true(fabs(s.expected_fpr / planned - 1) < 1e-9 && planned <= p);
    }
    judge(&by_plan, "planned", (double)n, p);
    judge(&by_stats, "current", (double)n, p);
    bly_filter_destroy(f);
}

static void rates_are_as_planned(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        check_rate(1000, 1000, rates[i]);
        check_rate(100000, 100000, rates[i]);
        if (!blyt_large() && rates[i] < 0.001)
            continue;
        check_rate(500, 1000, rates[i]);
        check_rate(50000, 100000, rates[i]);
        if (blyt_long()) {
            check_rate(10000000, 10000000, rates[i]);
            check_rate(5000000, 10000000, rates[i]);
        }
    }
    check_rate(1, 1, 0.01);
    check_rate(1, 100, 0.05);
    check_rate(8, 8, 0.01);
    check_rate(20, 20, 0.06);
    check_rate(300, 300, 0.2);
}

/* Copies of a key fill the table, but do not raise the rate: they match the same non-members. */
static void copies_do_not_raise_the_rate(void **state) {
    bly_filter *f = cuckoo(60000, 0.01);
    bly_filter_info once = {.struct_size = sizeof once};
    bly_filter_info thrice = {.struct_size = sizeof thrice};
    (void)state;
    add_hashes(f, 1, 0, 8000);
    bly_filter_get_info(f, &once);
    add_hashes(f, 1, 0, 8000);
    add_hashes(f, 1, 0, 8000);
    bly_filter_get_info(f, &thrice);
    assert_true(fabs(once.current_fpr - thrice.current_fpr) < 1e-12);
    assert_int_equal(thrice.count, 24000);
    assert_true(thrice.estimated_keys == 24000 && thrice.fill == thrice.expected_fill);
    assert_int_equal(thrice.set_bits, 24000 * 10);
    tally t = {0};
    look_up_non_members(f, 2, 1000000 / BLYT_SLOW, thrice.current_fpr, &t);
    judge(&t, "copies", 8000, 0.01);
    bly_filter_destroy(f);
}

/* ---- against a second implementation --------------------------------------------------------- */

static uint64_t bits_of(const uint8_t *body, uint64_t from, unsigned n) {
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++)
        value |= (uint64_t)(body[(from + i) / 8] >> (from + i) % 8 & 1) << i;
    return value;
}

/* Returns the number of copies, read bit by bit as docs/format.md says. */
static unsigned copies_by_hand(const bly_filter *f, bly_hash h) {
    const uint64_t m = f->geometry.size;
    const unsigned rest_bits = f->geometry.hashes, width = rest_bits + 1;
    const uint64_t core_mask = rest_bits < 9 ? ((uint64_t)1 << rest_bits) - 1 : 511;
    uint64_t bucket, low = blyi_mul(h.lo, m, &bucket);
    if (m >= UINT64_C(1) << (56 - rest_bits)) {
        low += blyi_mulhi(h.hi, m);
        bucket += low < blyi_mulhi(h.hi, m);
    }
    uint64_t rest = low >> (64 - rest_bits);
    if (rest % (core_mask + 1) == 0)
        rest++;
    uint64_t x = (rest & core_mask) * UINT64_C(0x9E3779B97F4A7C15), mixed = 0;
    for (int i = 0; i < 8; i++)
        mixed = mixed << 8 | (x >> 8 * i & 255);
    uint64_t sum = blyi_mulhi(mixed, m);
    if (m % 2 == 0 && sum % 2 == 0)
        sum++;
    uint64_t other = (sum + m - bucket) % m;
    unsigned copies = 0;
    for (unsigned i = 0; i < 4; i++) {
        copies += bits_of(f->body, (4 * bucket + i) * width, width) == rest;
        copies +=
            bits_of(f->body, (4 * other + i) * width, width) == (rest | (uint64_t)1 << rest_bits);
    }
    return copies;
}

/* For every remainder width, and for even and odd numbers of buckets, lookups agree, in batches and
 * one by one. */
static void agrees_with_a_second_implementation(void **state) {
    static const uint64_t sizes[] = {1, 2, 3, 10, 511, 4096};
    bly_hash h[5000];
    uint8_t found[5000];
    (void)state;
    for (uint32_t rest = 6; rest <= 55; rest++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            bly_filter *f = exact_table((bly_geometry){BLY_CUCKOO, rest, sizes[i], 0, 0}, NULL);
            uint64_t stored = 0;
            for (uint64_t k = 0; k < sizes[i] * 4 * 9 / 10; k++)
                stored += bly_filter_add_hash(f, hash_at(rest, k), NULL) == BLY_OK;
            assert_int_equal(bly_filter_count(f), stored);
            size_t n = 1000, hits = 0;
            for (size_t k = 0; k < n; k++)
                h[k] = hash_at(rest, k * sizes[i] / 128);
            size_t many = bly_filter_contains_hashes(f, h, n, found);
            for (size_t k = 0; k < n; k++) {
                unsigned want = copies_by_hand(f, h[k]);
                assert_int_equal(f->ops->count_copies(f, h[k]), want);
                assert_int_equal(bly_filter_contains_hash(f, h[k]), want > 0);
                assert_int_equal(found[k], want > 0);
                hits += want > 0;
            }
            assert_int_equal(many, hits);
            bly_filter_destroy(f);
        }
}

/* Small and large batches are looked up by different code, and give the answers of single calls. */
static void batches_answer_as_single_calls(void **state) {
    static const uint32_t rests[] = {9, 12, 16, 30, 55};
    static const size_t sizes[] = {1, 15, 64, 65, 4095, 4096, 20000};
    static uint8_t found[20000];
    blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, 20000);
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rests); r++) {
        bly_filter *f = exact_table((bly_geometry){BLY_CUCKOO, rests[r], 2800, 0, 0}, NULL);
        assert_ok(bly_filter_add_many(f, l.keys, 10000, found, NULL));
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            size_t n = sizes[i], from = l.n - n, hits = 0;
            size_t many = bly_filter_contains_many(f, l.keys + from, n, found);
            assert_int_equal(bly_filter_contains_many(f, l.keys + from, n, NULL), many);
            for (size_t k = 0; k < n; k++) {
                bly_bytes key = l.keys[from + k];
                assert_int_equal(bly_filter_contains(f, key.data, key.size), found[k]);
                assert_true(found[k] || from + k >= 10000);
                hits += found[k];
            }
            assert_int_equal(many, hits);
        }
        bly_filter_destroy(f);
    }
    blyt_list_free(&l);
}

/* ---- adding and removing --------------------------------------------------------------------- */

static void programs_lose_nothing(void **state) {
    uint64_t operations = blyt_long() ? 10000000 : 1000000 / BLYT_SLOW;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        bly_filter *f = cuckoo(20000, i ? 1e-6 : 1e-4);
        run_program(f, 15000, 12000, operations);
        bly_filter_destroy(f);
    }
}

static void eight_copies_and_no_more(void **state) {
    bly_filter *f = cuckoo(1000, 0.001);
    bool flag;
    (void)state;
    for (uint64_t i = 0; i < 8; i++) {
        assert_ok(bly_filter_add(f, "twin", 4, &flag));
        assert_int_equal(flag, i == 0);
        assert_int_equal(bly_filter_copies(f, "twin", 4), i + 1);
        assert_int_equal(bly_filter_count(f), i + 1);
    }
    uint8_t *kept = keep_body(f);
    assert_int_equal(bly_filter_add(f, "twin", 4, &flag), BLY_EFULL);
    assert_body_is(f, kept);
    assert_int_equal(bly_filter_count(f), 8);
    for (int i = 0; i < 8; i++) {
        assert_ok(bly_filter_remove(f, "twin", 4, &flag));
        assert_true(flag);
        assert_int_equal(bly_filter_contains(f, "twin", 4), i < 7);
    }
    assert_true(all_zero(f));
    assert_ok(bly_filter_remove(f, "twin", 4, &flag));
    assert_false(flag);
    assert_true(all_zero(f) && bly_filter_count(f) == 0);
    bly_filter_destroy(f);
}

static void absent_keys_leave_no_trace(void **state) {
    bly_filter *f = cuckoo(20000, 1e-6);
    (void)state;
    add_hashes(f, 1, 0, 20000);
    uint8_t *kept = keep_body(f);
    uint64_t present = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        bly_hash h = hash_at(2, i);
        bool removed = true;
        if (bly_filter_contains_hash(f, h)) {
            present++;
            continue;
        }
        assert_ok(bly_filter_remove_hash(f, h, &removed));
        assert_false(removed);
    }
    assert_true(present < 5);
    assert_int_equal(bly_filter_count(f), 20000);
    assert_body_is(f, kept);
    bly_filter_destroy(f);
}

static void full_is_clean(void **state) {
    blyt_list l = blyt_list_of(KEYS_URL, 0, 12000);
    uint8_t added[12000];
    bly_filter *f = cuckoo(10000, 0.001);
    bly_batch_result t;
    (void)state;
    memset(added, 7, sizeof added);
    assert_int_equal(bly_filter_add_many(f, l.keys, l.n, added, &t), BLY_EFULL);
    assert_true(t.done > 10000 && t.done < 10400 && bly_filter_count(f) == t.done);
    assert_true(added[t.done - 1] <= 1 && added[t.done] == 7);
    assert_int_equal(bly_filter_contains_many(f, l.keys, t.done, NULL), t.done);
    /* Most adds fail now, a few find one of the last empty slots. An add that fails changes
     * nothing. */
    unsigned failed = 0;
    for (size_t i = t.done; i < t.done + 300; i++) {
        uint8_t *kept = keep_body(f);
        uint64_t before = bly_filter_count(f);
        bly_status status = bly_filter_add(f, l.keys[i].data, l.keys[i].size, NULL);
        if (status == BLY_OK) {
            assert_int_equal(bly_filter_count(f), before + 1);
            free(kept);
            continue;
        }
        failed++;
        assert_int_equal(status, BLY_EFULL);
        assert_int_equal(bly_filter_count(f), before);
        assert_body_is(f, kept);
    }
    assert_true(failed > 10);
    assert_int_equal(bly_filter_contains_many(f, l.keys, t.done, NULL), t.done);
    /* There is room again when some keys are removed. */
    assert_ok(bly_filter_remove_many(f, l.keys, 500, NULL, &t));
    assert_true(t.done == 500 && t.changed == 500);
    assert_ok(bly_filter_add_many(f, l.keys, 400, NULL, NULL));
    blyt_list_free(&l);
    bly_filter_destroy(f);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void files_come_back(void **state) {
    char path[] = "/tmp/bloomery-cuckoo-XXXXXX";
    (void)state;
    assert_int_not_equal(close(mkstemp(path)), -1);
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        bly_filter *f = cuckoo(3000, rates[i]), *g;
        bly_map *map;
        add_hashes(f, 1, 0, 3000);
        blyt_buffer im = blyt_write(f);
        assert_ok(bly_filter_parse(im.data, im.size, NULL, &g));
        assert_memory_equal(f->body, g->body, (size_t)f->body_bytes);
        assert_true(bly_filter_count(g) == 3000 && contains_hashes(g, 1, 0, 3000));
        remove_hashes(g, 1, 0, 3000);
        assert_true(all_zero(g));
        bly_filter_destroy(g);
        assert_ok(bly_filter_save(f, path));
        assert_ok(bly_filter_load(path, NULL, &g));
        assert_true(bly_filter_equal(f, g));
        bly_filter_destroy(g);
        assert_ok(bly_map_open(path, NULL, &map));
        assert_true(bly_filter_equal(f, bly_map_filter(map)));
        assert_true(contains_hashes(bly_map_filter(map), 1, 0, 3000));
        assert_ok(bly_filter_clone(bly_map_filter(map), NULL, &g));
        bly_map_close(map);
        remove_hashes(g, 1, 0, 3000);
        bly_filter_destroy(g);
        free(im.data);
        bly_filter_destroy(f);
    }
    (void)unlink(path);
}

/* Invalid bodies are refused although the checksums are correct. */
static void refuses_unsound_bodies(void **state) {
    (void)state;
    /* With remainders of 13 bits (k is 12), a remainder can be nonzero while its core is 0. With an
     * odd number of buckets, the last bucket ends within a byte. */
    bly_filter *f = exact_table((bly_geometry){BLY_CUCKOO, 12, 101, 0, 0}, NULL), *g;
    const uint64_t slots = 404, width = 13, used = slots * width + 64;
    for (int damage = 0; damage < 6; damage++) {
        bly_filter_clear(f);
        add_hashes(f, 1, 0, 100);
        uint64_t free_slot = 0;
        while (bits_of(f->body, free_slot * width, 13) != 0)
            free_slot++;
        if (damage == 1)
            f->items++;
        else if (damage == 2)
            blyi_slot_set(f->body, 13, free_slot, 1);
        else if (damage == 3) {
            blyi_slot_set(f->body, 13, free_slot, 512);
            f->items++;
        } else if (damage == 4)
            f->body[(used - 1) / 8] |= (uint8_t)(1 << (used - 1) % 8);
        else if (damage == 5)
            f->body[slots * width / 8] |= (uint8_t)(1 << slots * width % 8);
        blyt_buffer im = blyt_write(f);
        assert_int_equal(bly_filter_parse(im.data, im.size, NULL, &g),
                         damage ? BLY_ECORRUPT : BLY_OK);
        free(im.data);
        bly_filter_destroy(g);
        f->items = 100;
    }
    bly_filter_destroy(f);
}

static void survives_any_body(void **state) {
    static const uint64_t sizes[] = {1, 2, 3, 14, 101, 512};
    (void)state;
    for (uint32_t rest = 6; rest <= 55; rest++)
        for (size_t i = 0; i < COUNT_OF(sizes); i += rest % 2 + 1)
            abuse((bly_geometry){BLY_CUCKOO, rest, sizes[i], 0, 0});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_bits_promised),
        cmocka_unit_test(plans_no_shorter_remainders),
        cmocka_unit_test(plans_hold_their_keys),
        cmocka_unit_test(few_small_tables_refuse),
        cmocka_unit_test(refuses_other_geometries),
        cmocka_unit_test(every_seed_reaches_the_plan),
        cmocka_unit_test(rates_are_as_planned),
        cmocka_unit_test(copies_do_not_raise_the_rate),
        cmocka_unit_test(agrees_with_a_second_implementation),
        cmocka_unit_test(batches_answer_as_single_calls),
        cmocka_unit_test(programs_lose_nothing),
        cmocka_unit_test(eight_copies_and_no_more),
        cmocka_unit_test(absent_keys_leave_no_trace),
        cmocka_unit_test(full_is_clean),
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(refuses_unsound_bodies),
        cmocka_unit_test(survives_any_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
