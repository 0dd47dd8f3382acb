/* The scalable cuckoo filter: members are found, whatever levels were added and removed before, and
 * the rate is the requested one. */
#include "table_support.h"

#include "filter/levels.h"
#include "kinds/cuckoo/cuckoo_operations.h"

static bly_filter *chain(uint64_t first, double p, double share, uint32_t growth) {
    bly_spec spec = bly_spec_for(BLY_SCALABLE_CUCKOO, first, p);
    bly_filter *f = NULL;
    spec.scalable.first_share = share;
    spec.scalable.growth = growth;
    spec.seed = first;
    assert_ok(bly_filter_create(&spec, &f));
    return f;
}

static uint64_t classes(const bly_geometry *g, const bly_geometry *first) {
    return g->size / first->size << g->hashes;
}

/* Asserts that each level refines the one before (classes of keys are only divided, never merged),
 * that the rates of levels follow from their tables, and that the sum of the rates is within the
 * requested rate. */
static void check_levels(const bly_filter *f, double p) {
    const bly_geometry first = bly_filter_geometry(bly_filter_level(f, 0));
    double rates = 0;
    uint64_t items = 0;
    for (size_t i = 0; i < bly_filter_level_count(f); i++) {
        const bly_filter *level = bly_filter_level(f, i);
        bly_geometry g = bly_filter_geometry(level);
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(level, &s);
        assert_true(g.kind == BLY_CUCKOO && g.size % first.size == 0);
        assert_int_equal(g.size / first.size & (g.size / first.size - 1), 0);
        assert_true(bly_plan_fpr(&g, s.capacity, 64) <= s.requested_fpr * (1 + 1e-9));
        assert_true(s.count <= s.capacity);
        rates += s.requested_fpr;
        items += s.count;
        if (i == 0)
            continue;
        bly_geometry older = bly_filter_geometry(bly_filter_level(f, i - 1));
        assert_true(classes(&g, &first) >= 2 * classes(&older, &first));
        assert_true(blyi_cuckoo_refines(&g, &older) && !blyi_cuckoo_refines(&older, &g));
    }
    assert_true(rates <= p);
    assert_int_equal(items, bly_filter_count(f));
}

/* Size and rate of filters that were planned for their keys, that have grown by a factor of 100 or
 * 1000, and that have grown from 100 keys. */
static void space_and_rate(void **state) {
    static const struct {
        uint64_t first, keys;
        double share, bits_per_key;
    } table[] = {
        {125000, 125000, 0.8, 10.5},   {1000, 1000, 0.8, 11.5},    {1000, 125000, 0.8, 16.8},
        {1000, 125000, 0, 15},         {100, 125000, 0.15, 29.4},  {1000, 125000, 0.75, 16.8},
        {1000000, 1000000, 0.8, 10.5}, {1000, 1000000, 0.8, 17.4}, {1000, 1000000, 0, 15.3},
        {100, 1000000, 0.15, 31},      {1000, 1000000, 0.75, 17.4}};
    const double p = 0.01;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        uint64_t n = table[i].keys;
        if (n > (BLYT_SLOW > 1 ? 1000 : blyt_large() ? 1000000 : 125000))
            continue;
        bly_filter *f = chain(table[i].first, p, table[i].share, 0);
        add_hashes(f, i, 0, n);
        assert_true(contains_hashes(f, i, 0, n));
        check_levels(f, p);
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(f, &s);
        assert_true((double)s.bytes * 8 / (double)n <= table[i].bits_per_key);
        assert_true(s.expected_fpr <= p && s.current_fpr <= p);
        tally t = {0};
        /* With 2700 false positives, five sigma and the tolerance of `judge` are a tenth of the
         * rate. */
        look_up_non_members(f, 100 + i, (uint64_t)(2700 / s.current_fpr), s.current_fpr, &t);
        judge(&t, "grown", (double)n, p);
        assert_true(fabs(s.current_fpr / s.expected_fpr - 1) <=
                    5 / sqrt(s.expected_fpr * (double)n));
        bly_filter_destroy(f);
    }
}

/* ---- the theorem ----------------------------------------------------------------------------- */

/* Draws a hash. Two of three have low bits that are all 0 or all 1, so that some cores are 0. */
static bly_hash awkward(uint64_t *rng, unsigned turn) {
    bly_hash h = {blyt_next(rng), blyt_next(rng)};
    if (turn % 3 == 0)
        h.lo &= ~(uint64_t)0 << blyt_next(rng) % 64;
    if (turn % 3 == 1)
        h.lo = (h.lo | ((uint64_t)1 << blyt_next(rng) % 64)) - 1;
    return h;
}

/* The class of a key in an older table can be computed from its class in a newer table that refines
 * it: for few buckets and many, narrow tables and wide ones. */
static void newer_levels_refine_older_ones(void **state) {
    uint64_t rng = 1, pairs = 0, wide = 0, merged = 0;
    (void)state;
    while (pairs < (blyt_large() ? 20000 : 8000) / BLYT_SLOW) {
        bly_geometry older = {.kind = BLY_CUCKOO,
                              .hashes = 6 + (uint32_t)(blyt_next(&rng) % 50),
                              .size = 1 + blyt_next(&rng) % ((uint64_t)1 << blyt_next(&rng) % 40)};
        bly_geometry newer = {.kind = BLY_CUCKOO,
                              .hashes = 6 + (uint32_t)(blyt_next(&rng) % 50),
                              .size = older.size << blyt_next(&rng) % 6};
        if (bly_plan_check(&older) || bly_plan_check(&newer) ||
            !blyi_cuckoo_refines(&newer, &older))
            continue;
        const blyi_cuckoo_table a = blyi_table_over(&older, NULL),
                                b = blyi_table_over(&newer, NULL);
        for (unsigned i = 0; i < 300; i++) {
            bly_hash h = awkward(&rng, i);
            blyi_cuckoo_class direct = blyi_cuckoo_class_of(&a, h),
                              fine = blyi_cuckoo_class_of(&b, h);
            blyi_cuckoo_class derived = blyi_cuckoo_class_in_coarser(&a, &b, fine);
            assert_true(derived.bucket == direct.bucket && derived.remainder == direct.remainder);
            merged += (fine.remainder & b.core) == 1;
        }
        wide += a.wide;
        pairs++;
    }
    assert_true(wide > 100 && wide < pairs && merged > 1000);
}

/* Keys that share a class in a narrow table need not share one in a wide table, so neither of these
 * tables refines the other. Nor does a table whose number of buckets is unrelated, or whose classes
 * are not finer. */
static void what_does_not_refine(void **state) {
    const bly_geometry narrow = {.kind = BLY_CUCKOO, .hashes = 39, .size = 1 << 10};
    bly_geometry g = narrow;
    (void)state;
    g.size <<= 7;
    assert_true(blyi_table_is_wide(&g) && !blyi_cuckoo_refines(&g, &narrow));
    g.size >>= 1;
    assert_true(blyi_cuckoo_refines(&g, &narrow));
    g.hashes -= 5;
    assert_true(blyi_cuckoo_refines(&g, &narrow));
    g.hashes--;
    assert_false(blyi_cuckoo_refines(&g, &narrow));
    g = narrow;
    assert_false(blyi_cuckoo_refines(&g, &narrow));
    g.hashes++;
    assert_true(blyi_cuckoo_refines(&g, &narrow));
    g.size = 3 << 9;
    assert_false(blyi_cuckoo_refines(&g, &narrow));
    g.size = 1 << 9;
    assert_false(blyi_cuckoo_refines(&g, &narrow));
    /* A filter is full, and does not change, if its levels are narrow and the next would be
     * wide. */
    bly_filter *f = chain(8, 0x1p-35, 0, 32768), *kept = NULL;
    add_hashes(f, 1, 0, 8);
    assert_ok(bly_filter_clone(f, NULL, &kept));
    assert_int_equal(try_hashes(f, 1, 8, 9), BLY_EFULL);
    assert_true(bly_filter_level_count(f) == 1 && bly_filter_equal(f, kept));
    bly_filter_destroy(f);
    bly_filter_destroy(kept);
}

/* How many copies each key has in the filter. */
typedef struct life {
    bly_filter *f;
    uint8_t *copies;
    uint64_t universe, total, rng;
} life;

static life life_of(bly_filter *f, uint64_t universe, uint64_t seed) {
    life l = {f, calloc((size_t)universe, 1), universe, 0, seed};
    assert_non_null(l.copies);
    return l;
}

/* Adds or removes a random key. */
static void live(life *l, unsigned adds_of_100) {
    uint64_t i = blyt_next(&l->rng) % l->universe;
    bool adds = blyt_next(&l->rng) % 100 < adds_of_100, done = false;
    bly_hash h = hash_at(0, i);
    if (adds && l->copies[i] < 3) {
        bly_status status = bly_filter_add_hash(l->f, h, &done);
        assert_true(status == BLY_OK || status == BLY_EFULL);
        assert_true(status == BLY_OK || bly_filter_count(l->f) == l->total);
        assert_true(!done || l->copies[i] == 0);
        if (status == BLY_OK) {
            l->copies[i]++;
            l->total++;
        }
    } else if (!adds && l->copies[i]) {
        assert_ok(bly_filter_remove_hash(l->f, h, &done));
        assert_true(done);
        l->copies[i]--;
        l->total--;
    }
    if (l->copies[i])
        assert_true(bly_filter_contains_hash(l->f, h));
}

static void check_all(life *l) {
    assert_int_equal(bly_filter_count(l->f), l->total);
    for (uint64_t i = 0; i < l->universe; i++)
        assert_true(bly_filter_copies_hash(l->f, hash_at(0, i)) >= l->copies[i]);
}

/* Tables are so small, and rates so high, that most keys collide with others. Removes often remove
 * the entries of other keys, but no key is lost. */
static void alike_keys_stay_apart(void **state) {
    static const double rates[] = {0.9, 0.5, 0.2, 0.05, 0.01};
    uint64_t grown = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= (blyt_large() ? 60 : 24) / BLYT_SLOW; seed++)
        for (size_t r = 0; r < COUNT_OF(rates); r++) {
            uint32_t growth = 1U << seed % 4;
            bly_filter *f = chain(1 + seed % 9, rates[r], seed % 2 ? 0.8 : 0, growth);
            life l = life_of(f, 300, seed);
            for (unsigned i = 0; i < 6000; i++) {
                uint64_t cursor = 0;
                live(&l, i / 1000 % 2 ? 25 : 80);
                if (i % 977 == 0)
                    assert_ok(bly_scalable_cuckoo_compact(f, 0, &cursor, NULL));
                if (i % 500 == 0)
                    check_all(&l);
                grown = bly_filter_level_count(f) > grown ? bly_filter_level_count(f) : grown;
            }
            check_levels(f, rates[r]);
            for (uint64_t i = 0; i < l.universe; i++)
                for (; l.copies[i]; l.copies[i]--, l.total--)
                    remove_hashes(f, 0, i, i + 1);
            assert_true(bly_filter_count(f) == 0 && bly_filter_level_count(f) == 1);
            free(l.copies);
            bly_filter_destroy(f);
        }
    assert_true(grown >= 5);
}

/* Removes an entry from the oldest level that has one. The filter itself removes from the newest,
 * on which the proof that no key is lost relies. */
static void take_oldest(bly_filter *f, bly_hash h) {
    bool removed = false;
    for (unsigned i = 0; i < f->levels->n && !removed; i++)
        assert_ok(blyi_cuckoo_remove_one(f->levels->at[i], h, &removed));
}

/* The order of levels in removals matters: with the opposite order, the same filters lose keys. */
static void the_order_matters(void **state) {
    uint64_t lost = 0, missed = 0, moved = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        bly_filter *right = chain(20, 0.5, 0.9, 0), *wrong = NULL;
        add_hashes(right, seed, 0, 200);
        assert_true(bly_filter_level_count(right) >= 4);
        assert_ok(bly_filter_clone(right, NULL, &wrong));
        for (uint64_t i = 0; i < 200; i += 2) {
            take_oldest(wrong, hash_at(seed, i));
            remove_hashes(right, seed, i, i + 1);
        }
        for (uint64_t i = 1; i < 200; i += 2) {
            missed += !bly_filter_contains_hash(right, hash_at(seed, i));
            lost += !bly_filter_contains_hash(wrong, hash_at(seed, i));
        }
        for (unsigned i = 0; i < right->levels->n && i < wrong->levels->n; i++)
            moved += right->levels->at[i]->items != wrong->levels->at[i]->items;
        bly_filter_destroy(right);
        bly_filter_destroy(wrong);
    }
    assert_int_equal(missed, 0);
    assert_true(lost > 50 && moved > 100);
}

/* Grows to many levels and shrinks again, twice. With BLOOMERY_LONG in the environment, this takes
 * ten million steps. */
static void a_long_life(void **state) {
    const uint64_t steps = blyt_long() ? 10000000 : (blyt_large() ? 400000U : 200000U) / BLYT_SLOW;
    bly_filter *f = chain(100, 0.01, 0, 0);
    life l = life_of(f, steps / 10, 77);
    size_t most = 0;
    (void)state;
    for (uint64_t i = 0; i < steps; i++) {
        live(&l, i / (steps / 4) % 2 ? 30 : 80);
        most = bly_filter_level_count(f) > most ? bly_filter_level_count(f) : most;
        if (i % (steps / 40) == 0)
            check_all(&l);
    }
    check_all(&l);
    check_levels(f, 0.01);
    assert_true(most >= 5);
    free(l.copies);
    bly_filter_destroy(f);
}

/* ---- free room ------------------------------------------------------------------------------- */

/* Free room in older levels is used before a level is added. An empty level is removed only when
 * the levels before it have enough room. */
static void room_is_used_again(void **state) {
    bly_filter *f = chain(1000, 0.01, 0, 0);
    (void)state;
    add_hashes(f, 1, 0, 3000);
    assert_int_equal(bly_filter_level_count(f), 2);
    add_hashes(f, 1, 3000, 3001);
    assert_int_equal(bly_filter_level_count(f), 3);
    remove_hashes(f, 1, 3000, 3001);
    assert_int_equal(bly_filter_level_count(f), 3); /* otherwise the next add would open it again */
    add_hashes(f, 1, 3000, 3001);
    assert_int_equal(bly_filter_level_count(f), 3);
    remove_hashes(f, 1, 3000, 3001);
    remove_hashes(f, 1, 2700, 3000); /* more than a tenth of the second level (2000 keys) */
    assert_int_equal(bly_filter_level_count(f), 2);
    add_hashes(f, 2, 0, 300);
    assert_int_equal(bly_filter_level_count(f), 2);
    remove_hashes(f, 1, 0, 900); /* nearly all keys of the first level */
    add_hashes(f, 2, 300, 1000);
    assert_int_equal(bly_filter_level_count(f), 2);
    assert_true(contains_hashes(f, 1, 900, 2700) && contains_hashes(f, 2, 0, 1000));
    bly_filter_clear(f);
    assert_true(bly_filter_level_count(f) == 1 && bly_filter_count(f) == 0);
    bly_filter_destroy(f);
}

/* Eight copies of a key fill its two buckets. More copies go to other levels. But no level is added
 * for them while the newest is nearly empty. */
static void copies_of_one_key(void **state) {
    bly_filter *f = chain(1000, 0.01, 0, 0);
    uint64_t copies = 0;
    (void)state;
    while (bly_filter_add(f, "k", 1, NULL) == BLY_OK)
        copies++;
    assert_true(copies == 8 && bly_filter_level_count(f) == 1);
    add_hashes(f, 1, 0, 500);
    while (bly_filter_add(f, "k", 1, NULL) == BLY_OK)
        copies++;
    assert_true(copies == 16 && bly_filter_level_count(f) == 2);
    assert_int_equal(bly_filter_copies(f, "k", 1), 16);
    assert_int_equal(bly_filter_count(f), 516);
    for (; copies > 0; copies--) {
        bool removed = false;
        assert_int_equal(bly_filter_copies(f, "k", 1), copies);
        assert_ok(bly_filter_remove(f, "k", 1, &removed));
        assert_true(removed);
    }
    assert_true(bly_filter_level_count(f) == 1 && contains_hashes(f, 1, 0, 500));
    bly_filter_destroy(f);
}

/* Each allocation fails in turn; then the add is repeated, and succeeds. */
static void no_memory_to_grow(void **state) {
    blyt_heap heap = {0};
    bly_allocator a = blyt_heap_allocator(&heap);
    bly_spec spec = bly_spec_for(BLY_SCALABLE_CUCKOO, 100, 0.01);
    bly_filter *f = NULL;
    uint64_t n = 0;
    (void)state;
    for (size_t i = 1; i <= 4; i++) {
        heap = (blyt_heap){.fail_at = i};
        spec.allocator = &a;
        assert_int_equal(bly_filter_create(&spec, &f), BLY_ENOMEM);
        assert_true(f == NULL && heap.live == 0);
    }
    heap = (blyt_heap){0};
    assert_ok(bly_filter_create(&spec, &f));
    for (unsigned failures = 0; failures < 8;) {
        size_t live = heap.live;
        heap.fail_at = heap.calls + 1 + failures % 2;
        bly_filter *kept;
        assert_ok(bly_filter_clone(f, NULL, &kept));
        bly_status status = try_hashes(f, 3, n, n + 1);
        heap.fail_at = 0;
        if (status == BLY_ENOMEM) {
            assert_true(heap.live == live && bly_filter_equal(f, kept));
            assert_int_equal(bly_filter_count(f), n);
            failures++;
            add_hashes(f, 3, n, n + 1);
        } else {
            assert_ok(status);
        }
        bly_filter_destroy(kept);
        n++;
    }
    assert_true(bly_filter_level_count(f) >= 5 && contains_hashes(f, 3, 0, n));
    bly_filter_destroy(f);
    assert_int_equal(heap.live, 0);
}

/* ---- compact --------------------------------------------------------------------------------- */

/* Compaction in steps of any size, with adds and removes between steps, loses no key and removes
 * levels. */
static void compact_in_steps(void **state) {
    static const uint64_t steps[] = {1, 7, 1000, 0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        bly_filter *f = chain(100, 0.01, 0, 0);
        uint64_t cursor = 0, moved = 0, sum = 0, calls = 0, extra = 0;
        add_hashes(f, i, 0, 3000);
        remove_hashes(f, i, 0, 2200); /* 800 are left */
        size_t levels = bly_filter_level_count(f);
        do {
            uint64_t had = bly_filter_count(f);
            assert_ok(bly_scalable_cuckoo_compact(f, steps[i], &cursor, &moved));
            assert_int_equal(bly_filter_count(f), had);
            sum += moved;
            assert_true(steps[i] == 0 || moved <= steps[i]);
            if (++calls % 50 == 0 && extra < 200) {
                add_hashes(f, 50 + i, extra, extra + 2);
                remove_hashes(f, 50 + i, extra, extra + 1);
                extra += 2;
            }
        } while (cursor != 0);
        assert_true(sum > 0 && (steps[i] == 0) == (calls == 1));
        assert_true(contains_hashes(f, i, 2200, 3000));
        for (uint64_t k = 1; k < extra; k += 2)
            assert_true(contains_hashes(f, 50 + i, k, k + 1));
        /* Keys that were added behind the cursor were not moved, so this compacts once more. */
        assert_ok(bly_scalable_cuckoo_compact(f, 0, &cursor, &moved));
        assert_true(cursor == 0 && bly_filter_level_count(f) < levels);
        assert_true(contains_hashes(f, i, 2200, 3000));
        check_levels(f, 0.01);
        remove_hashes(f, i, 2200, 3000);
        for (uint64_t k = 1; k < extra; k += 2)
            remove_hashes(f, 50 + i, k, k + 1);
        assert_true(bly_filter_count(f) == 0 && bly_filter_level_count(f) == 1);
        bly_filter_destroy(f);
    }
}

/* Compaction moves nothing if no level would get empty; invalid cursors do no harm; other kinds are
 * refused. */
static void compact_only_where_it_helps(void **state) {
    bly_filter *f = chain(100, 0.01, 0, 0), *other;
    uint64_t cursor = 0, moved = 7;
    (void)state;
    add_hashes(f, 1, 0, 690); /* the capacity is 700 */
    assert_ok(bly_scalable_cuckoo_compact(f, 0, &cursor, &moved));
    assert_true(cursor == 0 && moved == 0 && bly_filter_level_count(f) == 3);
    remove_hashes(f, 1, 0, 450);
    for (uint64_t wild = UINT64_MAX; wild > 0; wild >>= 3) {
        cursor = wild;
        assert_ok(bly_scalable_cuckoo_compact(f, 5, &cursor, &moved));
        assert_true(contains_hashes(f, 1, 450, 690));
    }
    while (cursor != 0)
        assert_ok(bly_scalable_cuckoo_compact(f, 100, &cursor, NULL));
    assert_true(bly_filter_level_count(f) == 2 && contains_hashes(f, 1, 450, 690));
    assert_ok(blyt_new(BLY_CUCKOO, 100, 0.01, &other));
    assert_int_equal(bly_scalable_cuckoo_compact(other, 0, &cursor, &moved), BLY_EUNSUPPORTED);
    bly_filter_destroy(other);
    bly_filter_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(space_and_rate),
        cmocka_unit_test(newer_levels_refine_older_ones),
        cmocka_unit_test(what_does_not_refine),
        cmocka_unit_test(alike_keys_stay_apart),
        cmocka_unit_test(the_order_matters),
        cmocka_unit_test(a_long_life),
        cmocka_unit_test(room_is_used_again),
        cmocka_unit_test(copies_of_one_key),
        cmocka_unit_test(no_memory_to_grow),
        cmocka_unit_test(compact_in_steps),
        cmocka_unit_test(compact_only_where_it_helps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
