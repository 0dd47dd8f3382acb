/* The hybrid filter: size and rate are as planned, counts move from their slots to the map and back
 * and are never too low, and a failed call changes nothing. */
#include "hybrid_support.h"

/* ---- plan ------------------------------------------------------------------------------------ */

static void takes_the_bits_promised(void **state) {
    static const double bits[] = {14.6, 17.7, 21.9};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(hybrid_rates); i++)
        for (uint64_t n = 10000; n <= 100000000; n *= 10) {
            bly_geometry g, table;
            assert_ok(bly_plan(BLY_HYBRID, n, hybrid_rates[i], 0, 64, &g));
            assert_ok(bly_plan(BLY_CUCKOO, n, hybrid_rates[i], 0, 64, &table));
            assert_true(g.size == table.size && g.hashes == table.hashes && g.detail == 0);
            assert_true(fabs((double)bly_plan_bits(&g) / (double)n / bits[i] - 1) < 0.02);
            assert_true(bly_plan_fpr(&g, n, 64) == bly_plan_fpr(&table, n, 64));
            assert_int_equal(bly_plan_capacity(&g, hybrid_rates[i], 64),
                             bly_plan_capacity(&table, hybrid_rates[i], 64));
        }
}

static void refuses_other_geometries(void **state) {
    static const struct {
        bly_geometry g;
        bly_status status;
    } table[] = {
        {{BLY_HYBRID, 5, 100, 0, 0}, BLY_EGEOMETRY},
        {{BLY_HYBRID, 56, 100, 0, 0}, BLY_EGEOMETRY},
        {{BLY_HYBRID, 9, 0, 0, 0}, BLY_EGEOMETRY},
        {{BLY_HYBRID, 9, 100, BLY_FOLDABLE, 0}, BLY_EGEOMETRY},
        {{BLY_HYBRID, 9, 100, 0, 181}, BLY_EGEOMETRY},
        {{BLY_HYBRID, 9, 100, 0, 65535}, BLY_EGEOMETRY},
        {{BLY_HYBRID, 9, 100, 0, 180}, BLY_ETOOBIG},
        {{BLY_HYBRID, 9, 100, 0, 161}, BLY_ETOOBIG},
        {{BLY_HYBRID, 9, 100, 0, 150}, BLY_OK},
        {{BLY_HYBRID, 9, UINT64_MAX, 0, 0}, BLY_ETOOBIG},
        {{BLY_HYBRID, 6, UINT64_MAX / 28 + 1, 0, 0}, BLY_ETOOBIG},
        {{BLY_HYBRID, 6, ((uint64_t)1 << 48) / 28 - 3, 0, 0}, BLY_ETOOBIG},
        {{BLY_HYBRID, 6, ((uint64_t)1 << 48) / 44, 0, 0}, BLY_ETOOBIG},
        {{BLY_HYBRID, 6, ((uint64_t)1 << 48) / 44 - 40, 0, 0}, BLY_OK},
        {{BLY_HYBRID, 6, ((uint64_t)1 << 48) / 44 - 40, 0, 1}, BLY_OK},
        {{BLY_HYBRID, 6, ((uint64_t)1 << 48) / 44 - 40, 0, 40}, BLY_ETOOBIG},
        {{BLY_HYBRID, 55, 1, 0, 0}, BLY_OK},
        {{BLY_HYBRID, 6, 1, 0, 1}, BLY_OK},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        assert_int_equal(bly_plan_check(&table[i].g), table[i].status);
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (table[i].status == BLY_OK)
            assert_true(bly_plan_bits(&table[i].g) <= (uint64_t)1 << 48);
}

/* Copies take no slot: for every seed, the planned keys have room, with many copies of each. */
static void every_seed_reaches_the_plan(void **state) {
    bly_filter *f = hybrid(10000, 0.01);
    (void)state;
    for (unsigned seed = 1; seed <= (blyt_large() ? 200U : 40U) / BLYT_SLOW; seed++) {
        bly_filter_clear(f);
        for (unsigned turn = 0; turn < 3; turn++)
            add_hashes(f, seed, 0, 10000);
        assert_int_equal(bly_filter_count(f), 30000);
    }
    bly_filter_destroy(f);
    for (uint64_t n = 1; n <= 300; n += blyt_large() ? BLYT_SLOW : 10) {
        f = hybrid(n, n % 3 ? 0.01 : 0.06);
        for (unsigned seed = 1; seed <= 20; seed++) {
            bly_filter_clear(f);
            for (unsigned turn = 0; turn < 16; turn++)
                add_hashes(f, seed * 1000 + n, 0, n);
        }
        bly_filter_destroy(f);
    }
}

/* Asserts that the measured rate is within five sigma of the planned and of the current one. With
 * 2500 false positives, five sigma are a tenth of the rate. At 0.0001, only kinds_hybrid_large has
 * time for as many; otherwise there are 260, and five sigma are three tenths. */
static void check_rate(uint64_t n, double p) {
    const uint64_t most = (blyt_large() ? 20000000U : 2800000U) / BLYT_SLOW;
    unsigned filters = n <= 1000 ? 50 : n <= 100000 ? 2 : 1;
    bly_filter *f = hybrid(n, p);
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
        add_hashes(f, seed, 0, n / 3); /* copies must not matter */
        bly_filter_get_info(f, &s);
        look_up_non_members(f, seed + 100000, queries, planned, &by_plan);
        by_stats = (tally){by_plan.asked, by_plan.found,
                           by_stats.expected + s.current_fpr * (double)queries};
        /* A few keys have the same fingerprint and bucket, and count as one key. */
        assert_true(fabs(s.expected_fpr / planned - 1) < 0.02 && planned <= p);
    }
    judge(&by_plan, "planned", (double)n, p);
    judge(&by_stats, "current", (double)n, p);
    bly_filter_destroy(f);
}

static void rates_are_as_planned(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(hybrid_rates); i++) {
        check_rate(1000, hybrid_rates[i]);
        check_rate(100000, hybrid_rates[i]);
        if (blyt_large())
            check_rate(1000000 / BLYT_SLOW, hybrid_rates[i]);
        if (blyt_long())
            check_rate(10000000, hybrid_rates[i]);
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* The count of a key moves from its slot to the map at 15 copies, and back at 8. */
static void counts_move_out_and_back(void **state) {
    bly_filter *f = hybrid(1000, 0.001);
    (void)state;
    for (uint64_t i = 1; i <= 40; i++) {
        bool added;
        assert_ok(bly_filter_add(f, "twin", 4, &added));
        assert_int_equal(added, i == 1);
        assert_int_equal(bly_filter_copies(f, "twin", 4), i);
        assert_int_equal(blyt_info(f).spilled, i >= 15);
        assert_true(bly_filter_count(f) == i && is_sound(f));
    }
    uint32_t step = f->geometry.detail;
    assert_true(step >= 1);
    for (uint64_t i = 40; i-- > 0;) {
        bool removed;
        assert_ok(bly_filter_remove(f, "twin", 4, &removed));
        assert_true(removed && bly_filter_copies(f, "twin", 4) == i);
        assert_int_equal(blyt_info(f).spilled, i > 8);
        assert_int_equal(bly_filter_contains(f, "twin", 4), i > 0);
        assert_true(is_sound(f));
    }
    assert_true(all_zero(f) && f->geometry.detail == step && bly_filter_count(f) == 0);
    bool removed = true;
    assert_ok(bly_filter_remove(f, "twin", 4, &removed));
    assert_true(!removed && all_zero(f));
    /* Between the two limits a count stays where it is: in the map until it falls to 8, in its slot
     * until it reaches 15. */
    add_copies(f, 1, 0, 14);
    assert_int_equal(blyt_info(f).spilled, 0);
    for (int i = 0; i < 10; i++) {
        add_copies(f, 1, 0, 1);
        assert_int_equal(blyt_info(f).spilled, 1);
        remove_copies(f, 1, 0, 1);
        assert_int_equal(blyt_info(f).spilled, 1);
    }
    remove_copies(f, 1, 0, 6);
    assert_int_equal(blyt_info(f).spilled, 0);
    add_copies(f, 1, 0, 6);
    assert_int_equal(blyt_info(f).spilled, 0);
    bly_filter_destroy(f);
}

static void a_million_copies_leave_nothing(void **state) {
    bly_filter *f = hybrid(100, 0.01);
    uint64_t n = 1000000 / BLYT_SLOW;
    (void)state;
    add_copies(f, 1, 0, n);
    assert_true(copies_of(f, 1, 0) == n && bly_filter_count(f) == n);
    remove_copies(f, 1, 0, n);
    assert_true(all_zero(f) && bly_filter_count(f) == 0);
    bly_filter_destroy(f);
}

/* A key can have at most 2^48 - 1 copies. */
static void the_last_copy(void **state) {
    bly_filter *f = hybrid(100, 0.01), *g;
    (void)state;
    add_copies(f, 1, 0, 15);
    blyi_spilled_counts s = blyi_spilled_over(&f->geometry, f->body);
    uint64_t at = 0, most = BLYI_MAX_COUNTED;
    blyi_cuckoo_class c;
    assert_true(blyi_spilled_next(&s, &at, &c));
    blyi_spilled_set_count(&s, at - 1, most - 1);
    f->items = most - 1;
    assert_true(is_sound(f));
    add_copies(f, 1, 0, 1);
    assert_true(copies_of(f, 1, 0) == most);
    uint8_t *kept = keep_body(f);
    assert_int_equal(bly_filter_add_hash(f, hash_at(1, 0), NULL), BLY_EFULL);
    assert_ok(bly_filter_clone(f, NULL, &g));
    assert_int_equal(bly_filter_union(f, g), BLY_EFULL);
    assert_true(f->items == most && bly_filter_equal(f, g));
    assert_body_is(f, kept);
    add_copies(f, 1, 1, 1);
    remove_copies(f, 1, 0, 1);
    add_copies(f, 1, 0, 1);
    /* A filter can have at most 2^64 - 1 copies in all. */
    kept = keep_body(f);
    f->items = UINT64_MAX;
    assert_int_equal(bly_filter_add_hash(f, hash_at(1, 7), NULL), BLY_EFULL);
    assert_int_equal(bly_filter_add_hash(f, hash_at(1, 1), NULL), BLY_EFULL);
    assert_body_is(f, kept);
    bly_filter_destroy(g);
    bly_filter_destroy(f);
}

/* The part of the body with the table equals that of a cuckoo filter with the same distinct keys,
 * byte for byte, whatever the copies. */
static void the_table_is_a_cuckoo_filters(void **state) {
    (void)state;
    for (uint32_t rest = 24; rest <= 55; rest += 3)
        for (uint64_t size = 100; size <= 103; size++) {
            bly_filter *f = exact_table((bly_geometry){BLY_HYBRID, rest, size, 0, 0}, NULL);
            bly_filter *table = exact_table((bly_geometry){BLY_CUCKOO, rest, size, 0, 0}, NULL);
            for (uint64_t i = 0; i < 385; i++) {
                assert_ok(bly_filter_add_hash(table, hash_at(rest, i), NULL));
                add_copies(f, rest, i, i % 20 + 1);
            }
            assert_memory_equal(f->body, table->body, (size_t)table->body_bytes);
            for (uint64_t i = 0; i < 385; i++)
                assert_int_equal(copies_of(f, rest, i), i % 20 + 1);
            bly_filter_destroy(table);
            bly_filter_destroy(f);
        }
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Draws a number r from 0 to n - 1 with a probability of about (r + 1)^-s. */
static uint64_t zipf(uint64_t *state, uint64_t n, double s) {
    double u = (double)(blyt_next(state) >> 11) * 0x1p-53, last = (double)n + 1;
    double x = s == 1 ? pow(last, u) : pow(1 + u * (pow(last, 1 - s) - 1), 1 / (1 - s));
    uint64_t rank = (uint64_t)x - 1;
    return rank < n ? rank : n - 1;
}

typedef struct program {
    bly_filter *f;
    uint32_t *copies; /* exact number for each key */
    uint64_t keys, live, most;
} program;

/* Asserts that no key is missed, no count is too low, and nearly all counts are exact. */
static void check_all(const program *p) {
    uint64_t exact = 0, there = 0;
    for (uint64_t k = 0; k < p->keys; k++) {
        uint64_t copies = copies_of(p->f, 77, k);
        assert_true(copies >= p->copies[k]);
        assert_true(p->copies[k] == 0 || bly_filter_contains_hash(p->f, hash_at(77, k)));
        there += p->copies[k] != 0;
        exact += p->copies[k] != 0 && copies == p->copies[k];
    }
    assert_int_equal(bly_filter_count(p->f), p->live);
    assert_true((double)exact >= 0.985 * (double)there);
    assert_true(is_sound(p->f));
}

static void one_operation(program *p, uint64_t key, bool adds) {
    bly_hash h = hash_at(77, key);
    bool changed = false;
    if (adds) {
        assert_ok(bly_filter_add_hash(p->f, h, &changed));
        assert_true(p->copies[key] == 0 || !changed);
        p->copies[key]++;
        p->live++;
        p->most = p->copies[key] > p->most ? p->copies[key] : p->most;
    } else if (p->copies[key] > 0) {
        assert_ok(bly_filter_remove_hash(p->f, h, &changed));
        assert_true(changed);
        p->copies[key]--;
        p->live--;
    }
}

static void run_zipf(double exponent, uint64_t keys, uint64_t operations) {
    program p = {hybrid(keys, 0.01), calloc(keys, sizeof *p.copies), keys, 0, 0};
    uint64_t state = (uint64_t)(exponent * 100);
    assert_non_null(p.copies);
    for (uint64_t k = 0; k < keys; k++)
        one_operation(&p, k, true);
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t dice = blyt_next(&state), half = i * 2 / operations;
        /* First a phase of mostly adds, then one of mostly removes. Most of these are of frequent
         * keys. */
        bool adds = dice % 16 < (half ? 3 : 14);
        one_operation(&p, zipf(&state, keys, exponent), adds);
        uint64_t other = (dice >> 16) % keys;
        assert_true(copies_of(p.f, 77, other) >= p.copies[other]);
        if ((i + 1) % (operations / 4) == 0)
            check_all(&p);
    }
    if (getenv("BLYT_VERBOSE"))
        print_message(
            "zipf %g: to %llu copies of a key; %.2f bits per key, %.2f of them the map\n", exponent,
            (unsigned long long)p.most, 8 * (double)p.f->body_bytes / (double)keys,
            8 * (double)(p.f->body_bytes - blyi_hybrid_spill_at(&p.f->geometry)) / (double)keys);
    for (uint64_t k = 0; k < keys; k++)
        for (; p.copies[k] > 0; p.live--, p.copies[k]--)
            remove_hashes(p.f, 77, k, k + 1);
    assert_true(all_zero(p.f) && bly_filter_count(p.f) == 0 && p.live == 0);
    free(p.copies);
    bly_filter_destroy(p.f);
}

static void programs_lose_nothing(void **state) {
    static const double exponents[] = {0.8, 1.0, 1.2};
    const uint64_t most = blyt_large() ? 100000 : 20000;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(exponents); i++)
        run_zipf(exponents[i], blyt_long() ? 300000 : most / BLYT_SLOW,
                 blyt_long() ? 10000000 : 20 * most / BLYT_SLOW);
}

/* The filter is small even after five adds per key on average, most of them of a few keys. */
static void skewed_streams_stay_small(void **state) {
    static const double exponents[] = {0.8, 1.0, 1.2};
    uint64_t keys = blyt_long() ? 10000000 : (blyt_large() ? 200000U : 50000U) / BLYT_SLOW;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(exponents); i++) {
        bly_filter *f = hybrid(keys, 0.01);
        uint64_t dice = i;
        add_hashes(f, 77, 0, keys);
        for (uint64_t k = 0; k < 4 * keys; k++)
            add_copies(f, 77, zipf(&dice, keys, exponents[i]), 1);
        assert_true(bly_filter_count(f) == 5 * keys && blyt_info(f).spilled > keys / 200);
        double bits = 8 * (double)f->body_bytes / (double)keys;
        assert_true(bits > 14.5 && bits < 19);
        bly_filter_destroy(f);
    }
}

static void absent_keys_leave_no_trace(void **state) {
    bly_filter *f = hybrid(20000, 1e-6);
    (void)state;
    add_hashes(f, 1, 0, 20000);
    for (uint64_t i = 0; i < 100; i++)
        add_copies(f, 1, i, i);
    uint8_t *kept = keep_body(f);
    uint64_t present = 0, count = bly_filter_count(f);
    for (uint64_t i = 0; i < 100000; i++) {
        bool removed = true;
        if (bly_filter_contains_hash(f, hash_at(2, i))) {
            present++;
            continue;
        }
        assert_ok(bly_filter_remove_hash(f, hash_at(2, i), &removed));
        assert_false(removed);
        assert_int_equal(copies_of(f, 2, i), 0);
    }
    assert_true(present < 5 && bly_filter_count(f) == count);
    assert_body_is(f, kept);
    bly_filter_destroy(f);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* A full table refuses new keys, but accepts more copies of its members. */
static void full_is_clean(void **state) {
    bly_filter *f = hybrid(2000, 1e-6);
    uint64_t n = 0, failed = 0;
    (void)state;
    while (bly_filter_add_hash(f, hash_at(3, n), NULL) == BLY_OK)
        n++;
    assert_true(n >= 2000 && n < 2200);
    for (uint64_t i = n; i < n + 300; i++) {
        uint8_t *kept = keep_body(f);
        uint64_t before = bly_filter_count(f);
        bly_status status = bly_filter_add_hash(f, hash_at(3, i), NULL);
        if (status == BLY_OK) {
            free(kept);
            continue;
        }
        failed++;
        assert_int_equal(status, BLY_EFULL);
        assert_int_equal(bly_filter_count(f), before);
        assert_body_is(f, kept);
    }
    assert_true(failed > 10);
    for (uint64_t i = 0; i < n; i++)
        add_copies(f, 3, i, 19);
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(copies_of(f, 3, i), 20);
    assert_true(blyt_info(f).spilled == n && is_sound(f));
    bly_filter_destroy(f);
}

/* A batch stops at the first key that fails. */
static void batches_stop_where_they_fail(void **state) {
    blyt_list l = blyt_list_of(KEYS_URL, 0, 4000);
    uint8_t added[4000];
    bly_filter *f = hybrid(3000, 0.001);
    bly_batch_result t;
    (void)state;
    memset(added, 7, sizeof added);
    assert_int_equal(bly_filter_add_many(f, l.keys, l.n, added, &t), BLY_EFULL);
    assert_true(t.done >= 3000 && t.done < 3300 && bly_filter_count(f) == t.done);
    assert_true(added[t.done - 1] <= 1 && added[t.done] == 7);
    assert_int_equal(bly_filter_contains_many(f, l.keys, t.done, NULL), t.done);
    size_t n = t.done;
    assert_ok(bly_filter_add_many(f, l.keys, n, added, &t));
    assert_true(t.done == n && t.changed == 0);
    assert_ok(bly_filter_remove_many(f, l.keys, n, NULL, &t));
    assert_true(t.done == n && t.changed == n);
    assert_ok(bly_filter_remove_many(f, l.keys, n, NULL, &t));
    assert_true(t.changed == n && all_zero(f));
    blyt_list_free(&l);
    bly_filter_destroy(f);
}

/* Each time the map must grow, the allocation fails once, and the add is repeated. Removes need no
 * memory. */
static void no_memory_to_grow(void **state) {
    blyt_heap heap = {0};
    bly_allocator a = blyt_heap_allocator(&heap);
    bly_spec spec = bly_spec_for(BLY_HYBRID, 1000, 1e-6);
    bly_filter *f;
    unsigned failures = 0;
    (void)state;
    spec.allocator = &a;
    assert_ok(bly_filter_create(&spec, &f));
    size_t live = heap.live;
    for (uint64_t k = 0; k < 500; k++)
        for (uint64_t i = 0; i < 15 + k % 3; i++) {
            heap.fail_at = heap.calls + 1;
            uint8_t *kept = keep_body(f);
            uint64_t count = bly_filter_count(f);
            bly_geometry g = f->geometry;
            bly_status status = bly_filter_add_hash(f, hash_at(9, k), NULL);
            heap.fail_at = 0;
            if (status == BLY_OK) {
                free(kept);
                continue;
            }
            assert_true(status == BLY_ENOMEM && bly_filter_count(f) == count);
            assert_memory_equal(&g, &f->geometry, sizeof g);
            assert_body_is(f, kept);
            assert_true(heap.live == live && copies_of(f, 9, k) == i && is_sound(f));
            add_copies(f, 9, k, 1);
            assert_int_equal(heap.live, live);
            failures++;
        }
    assert_true(failures >= 20 && f->geometry.detail >= 20);
    heap.fail_at = heap.calls + 1;
    for (uint64_t k = 0; k < 500; k++)
        remove_copies(f, 9, k, 15 + k % 3);
    assert_true(all_zero(f));
    heap.fail_at = 0;
    bly_filter_destroy(f);
    assert_int_equal(heap.live, 0);
}

static void clear_keeps_the_room(void **state) {
    bly_filter *f = hybrid(1000, 0.01), *g;
    (void)state;
    for (uint64_t k = 0; k < 100; k++)
        add_copies(f, 5, k, 20);
    bly_geometry before = bly_filter_geometry(f);
    bly_filter_clear(f);
    bly_geometry after = bly_filter_geometry(f);
    assert_memory_equal(&before, &after, sizeof before);
    assert_true(all_zero(f) && bly_filter_count(f) == 0 && before.detail > 0);
    /* The filter equals one that never had copies. */
    g = hybrid(1000, 0.01);
    assert_true(bly_filter_equal(f, g) && bly_filter_equal(g, f));
    assert_int_equal(bly_filter_geometry(g).detail, 0);
    bly_filter_destroy(f);
    bly_filter_destroy(g);
}

/* ---- statistics ------------------------------------------------------------------------------ */

static void statistics_speak_of_keys(void **state) {
    bly_filter *f = hybrid(10000, 1e-6);
    bly_filter_info once = {.struct_size = sizeof once};
    bly_filter_info often = {.struct_size = sizeof often};
    (void)state;
    add_hashes(f, 1, 0, 8000);
    bly_filter_get_info(f, &once);
    for (uint64_t i = 0; i < 100; i++)
        add_copies(f, 1, i, 50);
    bly_filter_get_info(f, &often);
    assert_true(once.estimated_keys == 8000 && often.estimated_keys == 8000);
    assert_true(once.count == 8000 && often.count == 13000);
    assert_true(once.current_fpr == often.current_fpr && once.expected_fpr == often.expected_fpr);
    assert_true(once.fill == often.fill && often.fill == often.expected_fill);
    assert_true(once.set_bits < often.set_bits && often.set_bits <= often.bits);
    assert_true(blyt_info(f).spilled == 100 && often.stuck == 0);
    assert_true(often.bytes == f->body_bytes && often.bytes > once.bytes);
    bly_filter_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_bits_promised),
        cmocka_unit_test(refuses_other_geometries),
        cmocka_unit_test(every_seed_reaches_the_plan),
        cmocka_unit_test(rates_are_as_planned),
        cmocka_unit_test(counts_move_out_and_back),
        cmocka_unit_test(a_million_copies_leave_nothing),
        cmocka_unit_test(the_last_copy),
        cmocka_unit_test(the_table_is_a_cuckoo_filters),
        cmocka_unit_test(programs_lose_nothing),
        cmocka_unit_test(skewed_streams_stay_small),
        cmocka_unit_test(absent_keys_leave_no_trace),
        cmocka_unit_test(full_is_clean),
        cmocka_unit_test(batches_stop_where_they_fail),
        cmocka_unit_test(no_memory_to_grow),
        cmocka_unit_test(clear_keeps_the_room),
        cmocka_unit_test(statistics_speak_of_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
