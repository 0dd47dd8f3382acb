/* The growable cuckoo filter: doubling loses no key and no copy, and keeps the rate. If it fails,
 * nothing changes. */
#include "table_support.h"

#include "kinds/cuckoo/cuckoo_layout.h"
#include <unistd.h>

static bly_filter *growable(uint64_t keys, uint64_t horizon, double p, const bly_allocator *a) {
    bly_spec spec = bly_spec_for(BLY_GROWABLE_CUCKOO, keys, p);
    bly_filter *f = NULL;
    spec.cuckoo.horizon = horizon;
    spec.allocator = a;
    assert_ok(bly_filter_create(&spec, &f));
    return f;
}

static unsigned doublings_left(const bly_filter *f) {
    bly_geometry g = bly_filter_geometry(f);
    return g.hashes - g.detail;
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* Grows from a thousand keys to a million. After each doubling, every key is found, the rate is the
 * computed one, and older keys can be removed and added again. */
static void grows_to_its_horizon(void **state) {
    unsigned last = BLYT_SLOW > 1 ? 6 : 10;
    double p = 0.01;
    bly_filter *f = growable(1000, 1024000, p, NULL);
    uint64_t added = 0, invariant = 0;
    (void)state;
    assert_int_equal(doublings_left(f), 10);
    for (unsigned doublings = 0; doublings <= last; doublings++) {
        uint64_t until = (uint64_t)1000 << doublings;
        add_hashes(f, 1, added, until);
        added = until;
        bly_geometry g = bly_filter_geometry(f);
        assert_int_equal(doublings_left(f), 10 - doublings);
        invariant = doublings ? invariant : g.size << 10;
        assert_int_equal(g.size << doublings_left(f), invariant);
        assert_true(bly_filter_count(f) == added && bly_filter_capacity(f) >= added);
        assert_true(contains_hashes(f, 1, 0, added));
        double rate = bly_plan_fpr(&g, added, 64);
        tally t = {0};
        /* With 2500 false positives, five sigma are a tenth of the rate. After eight or more
         * doublings there is time for as many; before, the rate is lower, and there are fewer. */
        uint64_t queries = (uint64_t)(2500 / rate), most = blyt_large() ? 8000000 : 1100000;
        if (queries > most / BLYT_SLOW)
            queries = most / BLYT_SLOW;
        look_up_non_members(f, 2, queries, rate, &t);
        judge(&t, "grown", (double)added, p);
        assert_true(rate <= p * 1.0001 * (double)added / 1024000 * 1.1);
        remove_hashes(f, 1, 0, 700);
        assert_int_equal(bly_filter_count(f), added - 700);
        add_hashes(f, 1, 0, 700);
    }
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(f, &s);
    assert_true(s.requested_fpr == p && s.expected_fpr <= p);
    if (last == 10)
        assert_true((double)s.bits / (double)added < 10.9);
    /* Removing all keys empties a grown filter, too. */
    remove_hashes(f, 1, 0, added);
    assert_true(all_zero(f));
    bly_filter_destroy(f);
}

/* For every rate, a grown filter equals one that was created with the final size. */
static void growing_is_the_same_as_having_been_large(void **state) {
    static const double rates[] = {0.06, 0.01, 1e-4, 1e-9};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        bly_filter *f = growable(30, 2000, rates[i], NULL);
        unsigned before = doublings_left(f);
        add_hashes(f, 3, 0, 2000);
        assert_true(before >= 5 && doublings_left(f) == 0);
        bly_filter *large = exact_table(bly_filter_geometry(f), NULL);
        add_hashes(large, 3, 0, 2000);
        assert_true(bly_filter_equal(f, large) && bly_filter_equal(large, f));
        bly_filter_destroy(large);
        bly_filter_destroy(f);
    }
}

/* Remainders so long that they use the second word of the hash, too. */
static void growth_of_long_remainders(void **state) {
    bly_filter *f = growable(1000, 8000, 0x1p-39, NULL);
    (void)state;
    assert_true(bly_filter_geometry(f).hashes >= 44);
    add_hashes(f, 4, 0, 8000);
    assert_true(doublings_left(f) == 0 && contains_hashes(f, 4, 0, 8000));
    assert_int_equal(count_hashes(f, 5, 0, 1000000 / BLYT_SLOW), 0);
    remove_hashes(f, 4, 0, 8000);
    assert_true(all_zero(f));
    bly_filter_destroy(f);
}

static void programs_lose_nothing(void **state) {
    uint64_t operations = blyt_long() ? 10000000 : 1000000 / BLYT_SLOW;
    bly_filter *f = growable(100, 60000, 1e-4, NULL);
    (void)state;
    run_program(f, 20000, 15000, operations);
    assert_true(doublings_left(f) < 4);
    bly_filter_destroy(f);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void full_at_the_horizon(void **state) {
    bly_filter *f = growable(1000, 4000, 0.001, NULL);
    uint64_t n = 0;
    (void)state;
    while (bly_filter_add_hash(f, hash_at(6, n), NULL) == BLY_OK)
        n++;
    assert_true(n >= 4000 && n < 4800 && doublings_left(f) == 0);
    uint8_t *kept = keep_body(f);
    assert_int_equal(bly_filter_add_hash(f, hash_at(6, n), NULL), BLY_EFULL);
    assert_body_is(f, kept);
    assert_true(bly_filter_count(f) == n && contains_hashes(f, 6, 0, n));
    bly_filter_destroy(f);
}

/* Neither copies of one key nor many copies of many keys make the filter grow. */
static void copies_do_not_make_it_grow(void **state) {
    bly_filter *f = growable(1000, 0, 0.01, NULL);
    unsigned before = doublings_left(f);
    (void)state;
    add_hashes(f, 7, 0, 500);
    uint64_t copies = 0;
    while (bly_filter_add(f, "k", 1, NULL) == BLY_OK)
        copies++;
    assert_true(copies == 8 && doublings_left(f) == before);
    bly_filter_destroy(f);
    /* If a larger table would not have room for a key either, this table does not grow. */
    for (uint64_t seed = 1; seed <= 200 / BLYT_SLOW; seed++) {
        bly_status status = BLY_OK;
        f = growable(20, 0, 0.01, NULL);
        for (uint64_t i = 0; status == BLY_OK; i++)
            for (int j = 0; j < 5 && status == BLY_OK; j++) {
                bly_filter *kept;
                assert_ok(bly_filter_clone(f, NULL, &kept));
                status = bly_filter_add_hash(f, hash_at(seed, i), NULL);
                assert_true(status == BLY_OK || bly_filter_geometry(f).size == kept->geometry.size);
                if (status != BLY_OK)
                    assert_memory_equal(f->body, kept->body, (size_t)f->body_bytes);
                bly_filter_destroy(kept);
            }
        assert_int_equal(status, BLY_EFULL);
        bly_filter_destroy(f);
    }
}

/* Each allocation fails in turn; then the add is repeated, and succeeds. */
static void no_memory_to_grow(void **state) {
    blyt_heap heap = {0};
    bly_allocator a = blyt_heap_allocator(&heap);
    bly_filter *f = growable(500, 0, 0.01, &a);
    (void)state;
    size_t live = heap.live;
    uint64_t n = 0;
    for (unsigned failures = 0; failures < 5;) {
        heap.fail_at = heap.calls + 1;
        uint8_t *kept = keep_body(f);
        bly_status status = bly_filter_add_hash(f, hash_at(9, n), NULL);
        if (status == BLY_OK) {
            free(kept);
            n++;
            continue;
        }
        assert_int_equal(status, BLY_ENOMEM);
        assert_int_equal(bly_filter_count(f), n);
        assert_body_is(f, kept);
        assert_true(heap.live == live && contains_hashes(f, 9, 0, n));
        failures++;
        heap.fail_at = 0;
        add_hashes(f, 9, n, n + 1);
        n++;
        assert_int_equal(heap.live, live);
    }
    assert_true(doublings_left(f) == 5 && contains_hashes(f, 9, 0, n));
    bly_filter_destroy(f);
    assert_int_equal(heap.live, 0);
    for (size_t i = 1; i <= 2; i++) {
        heap = (blyt_heap){.fail_at = i};
        bly_spec spec = bly_spec_for(BLY_GROWABLE_CUCKOO, 500, 0.01);
        spec.allocator = &a;
        assert_int_equal(bly_filter_create(&spec, &f), BLY_ENOMEM);
        assert_true(f == NULL && heap.live == 0);
    }
}

/* ---- plan ------------------------------------------------------------------------------------ */

static void starts_and_ends_where_asked(void **state) {
    static const uint64_t firsts[] = {1, 9, 1000, 12345, 1000000};
    static const double factors[] = {1, 1.05, 1.5, 3, 100, 1000, 1024, 1e6, 1 << 24};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(firsts); i++)
        for (size_t j = 0; j < COUNT_OF(factors); j++) {
            uint64_t first = firsts[i], horizon = (uint64_t)((double)first * factors[j]);
            bly_geometry g;
            assert_ok(blyi_growable_cuckoo_plan(first, horizon, 0.01, &g));
            assert_ok(bly_plan_check(&g));
            assert_true(bly_plan_capacity(&g, 0.01, 128) >= first);
            assert_true(g.size <= 2 * blyi_buckets_for(first) + 2);
            uint64_t end = g.size << (g.hashes - g.detail), need = blyi_buckets_for(horizon);
            bly_geometry last = {g.kind, g.detail, end, 0, g.detail};
            assert_true(end >= need &&
                        (double)end <= 1.1 * (double)need + 2 * (double)(end / g.size));
            assert_true(bly_plan_capacity(&last, 0.01, 128) >= horizon);
        }
}

static void specs_are_checked(void **state) {
    bly_filter *f;
    bly_spec spec = bly_spec_for(BLY_GROWABLE_CUCKOO, 1000, 0.01);
    (void)state;
    spec.cuckoo.horizon = 999;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
    spec.cuckoo.horizon = (uint64_t)1001 << 24;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
    spec.cuckoo.horizon = 0;
    spec.fpr = 0x1p-41;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_ERATE);
    spec.fpr = 0x1p-40;
    assert_ok(bly_filter_create(&spec, &f));
    bly_filter_destroy(f);
    spec.fpr = 0.01;
    spec.capacity = 0;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_ECOUNT);
    spec.capacity = UINT64_MAX;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_ETOOBIG);
    spec.capacity = 1000;
    spec.sharing = BLY_SHARED;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EUNSUPPORTED);
    spec.sharing = BLY_EXCLUSIVE;
    assert_ok(bly_hasher_init(&spec.hasher, BLY_HASH_FNV1A_32, 0));
    spec.cuckoo.horizon = 100000000;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EWEAKHASH);
    spec.allow_weak_hash = true;
    assert_ok(bly_filter_create(&spec, &f));
    bly_filter_destroy(f);
    spec = bly_spec_for(BLY_CUCKOO, 1000, 0.01);
    spec.cuckoo.horizon = 2000;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
    spec = bly_spec_for(BLY_GROWABLE_CUCKOO, 1000, 0.01);
    spec.cuckoo.horizon = 5000;
    assert_ok(bly_filter_create(&spec, &f));
    assert_true(bly_filter_capacity(f) >= 1000 && bly_filter_capacity(f) < 2000);
    bly_filter_destroy(f);
}

static void geometries_are_checked(void **state) {
    static const struct {
        bly_geometry g;
        bly_status status;
    } table[] = {
        {{BLY_GROWABLE_CUCKOO, 12, 100, 0, 12}, BLY_OK},
        {{BLY_GROWABLE_CUCKOO, 30, 100, 0, 6}, BLY_OK},
        {{BLY_GROWABLE_CUCKOO, 31, 100, 0, 6}, BLY_EGEOMETRY},
        {{BLY_GROWABLE_CUCKOO, 12, 100, 0, 0}, BLY_EGEOMETRY},
        {{BLY_GROWABLE_CUCKOO, 12, 100, 0, 5}, BLY_EGEOMETRY},
        {{BLY_GROWABLE_CUCKOO, 12, 100, 0, 13}, BLY_EGEOMETRY},
        {{BLY_GROWABLE_CUCKOO, 56, 100, 0, 56}, BLY_EGEOMETRY},
        {{BLY_GROWABLE_CUCKOO, 12, 0, 0, 12}, BLY_EGEOMETRY},
        {{BLY_GROWABLE_CUCKOO, 30, (uint64_t)1 << 24, 0, 6}, BLY_ETOOBIG},
        {{BLY_GROWABLE_CUCKOO, 30, UINT64_MAX, 0, 6}, BLY_ETOOBIG},
        {{BLY_GROWABLE_CUCKOO, 30, (uint64_t)1 << 19, 0, 6}, BLY_OK},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        assert_int_equal(bly_plan_check(&table[i].g), table[i].status);
    bly_geometry fixed, grown;
    assert_ok(bly_plan(BLY_CUCKOO, 12345, 0.001, 0, 64, &fixed));
    assert_ok(bly_plan(BLY_GROWABLE_CUCKOO, 12345, 0.001, 0, 64, &grown));
    assert_true(grown.size == fixed.size && grown.hashes == fixed.hashes);
    assert_int_equal(grown.detail, grown.hashes);
    bly_filter *f = exact_table((bly_geometry){BLY_GROWABLE_CUCKOO, 12, 100, 0, 9}, NULL);
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(f, &s);
    assert_true(s.requested_fpr > 0.007 && s.requested_fpr < 0.0076 && s.capacity == 373);
    bly_filter_destroy(f);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void clear_keeps_the_size(void **state) {
    bly_filter *f = growable(1000, 0, 0.01, NULL);
    (void)state;
    add_hashes(f, 10, 0, 20000);
    bly_geometry before = bly_filter_geometry(f);
    bly_filter_clear(f);
    bly_geometry after = bly_filter_geometry(f);
    assert_memory_equal(&before, &after, sizeof before);
    assert_true(all_zero(f) && bly_filter_count(f) == 0);
    add_hashes(f, 10, 0, 20000);
    assert_int_equal(bly_filter_geometry(f).size, before.size);
    bly_filter_destroy(f);
}

/* A filter that was loaded can grow. */
static void files_grow_on(void **state) {
    char path[] = "/tmp/bloomery-growable-XXXXXX";
    bly_filter *f = growable(500, 0, 0.01, NULL), *g;
    bly_map *map;
    (void)state;
    assert_int_not_equal(close(mkstemp(path)), -1);
    add_hashes(f, 11, 0, 3000);
    assert_ok(bly_filter_save(f, path));
    assert_ok(bly_map_open(path, NULL, &map));
    assert_true(bly_filter_equal(f, bly_map_filter(map)));
    assert_int_equal(bly_filter_capacity(f), bly_filter_capacity(bly_map_filter(map)));
    bly_map_close(map);
    assert_ok(bly_filter_load(path, NULL, &g));
    add_hashes(f, 11, 3000, 30000);
    add_hashes(g, 11, 3000, 30000);
    assert_true(bly_filter_equal(f, g) && doublings_left(f) < 6);
    assert_memory_equal(f->body, g->body, (size_t)f->body_bytes);
    bly_filter_destroy(g);
    assert_ok(bly_filter_clone(f, NULL, &g));
    assert_true(bly_filter_equal(f, g));
    remove_hashes(g, 11, 0, 30000);
    assert_true(all_zero(g) && contains_hashes(f, 11, 0, 30000));
    bly_filter_destroy(g);
    bly_filter_destroy(f);
    (void)unlink(path);
}

static void unions_grow(void **state) {
    bly_filter *a = growable(1000, 0, 1e-4, NULL), *b = growable(1000, 0, 1e-4, NULL);
    (void)state;
    add_hashes(a, 12, 0, 900);
    add_hashes(b, 12, 600, 1500);
    assert_int_equal(doublings_left(a), 10);
    assert_ok(bly_filter_union(a, b));
    assert_true(doublings_left(a) == 9 && bly_filter_count(a) == 1800);
    assert_true(contains_hashes(a, 12, 0, 1500) && bly_filter_capacity(a) >= 1800);
    remove_hashes(a, 12, 0, 1500);
    remove_hashes(a, 12, 600, 900);
    assert_true(all_zero(a));
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    /* Unites two filters into one that is full and may not grow. */
    a = growable(1000, 1000, 1e-4, NULL);
    b = growable(1000, 1000, 1e-4, NULL);
    add_hashes(a, 13, 0, 900);
    add_hashes(b, 14, 0, 900);
    uint8_t *kept = keep_body(a);
    assert_int_equal(bly_filter_union(a, b), BLY_EFULL);
    assert_body_is(a, kept);
    assert_int_equal(bly_filter_count(a), 900);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

/* Tables of the same original size can be combined, however often each has grown. */
static void sizes_may_differ(void **state) {
    (void)state;
    for (int way = 0; way < 2; way++) {
        bly_filter *a = growable(1000, 0, 1e-6, NULL), *b = growable(1000, 0, 1e-6, NULL), *c;
        bly_overlap o;
        add_hashes(a, 15, 0, way ? 800 : 7000);
        add_hashes(b, 15, 500, way ? 8000 : 1300);
        assert_true(bly_filter_geometry(a).size != bly_filter_geometry(b).size);
        double in_a = way ? 800 : 7000, in_b = way ? 7500 : 800, both = way ? 300 : 800;
        assert_ok(bly_filter_overlap(a, b, &o));
        assert_true(o.a == in_a && o.b == in_b && fabs(o.both - both) < 0.1);
        assert_false(bly_filter_equal(a, b));
        assert_ok(bly_filter_clone(a, NULL, &c));
        assert_ok(bly_filter_union(c, b));
        assert_int_equal(bly_filter_count(c), (uint64_t)(in_a + in_b));
        assert_true(contains_hashes(c, 15, 0, way ? 8000 : 7000));
        assert_ok(bly_filter_subtract(c, b));
        assert_ok(bly_filter_subtract(c, a));
        assert_true(all_zero(c) && bly_filter_count(c) == 0);
        assert_ok(bly_filter_intersect(a, b));
        assert_int_equal(bly_filter_count(a), (uint64_t)both);
        assert_true(contains_hashes(a, 15, 500, way ? 800 : 1300));
        bly_filter_destroy(c);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
    }
    /* Tables of different original sizes cannot. */
    bly_filter *a = growable(1000, 0, 1e-6, NULL), *b = growable(2000, 2048000, 1e-6, NULL);
    bly_filter *c = growable(1000, 0, 1e-4, NULL);
    assert_int_equal(bly_filter_union(a, b), BLY_EMISMATCH);
    assert_int_equal(bly_filter_union(a, c), BLY_EMISMATCH);
    assert_non_null(bly_filter_why_not(BLY_OP_UNION, a, b));
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    bly_filter_destroy(c);
}

static void survives_any_body(void **state) {
    static const uint64_t sizes[] = {1, 2, 3, 14, 101};
    (void)state;
    for (uint32_t rest = 6; rest <= 55; rest++)
        for (size_t i = 0; i < COUNT_OF(sizes); i += rest % 2 + 1)
            abuse((bly_geometry){BLY_GROWABLE_CUCKOO, rest, sizes[i], 0, rest < 20 ? 6 : rest - 9});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_to_its_horizon),
        cmocka_unit_test(growing_is_the_same_as_having_been_large),
        cmocka_unit_test(growth_of_long_remainders),
        cmocka_unit_test(programs_lose_nothing),
        cmocka_unit_test(full_at_the_horizon),
        cmocka_unit_test(copies_do_not_make_it_grow),
        cmocka_unit_test(no_memory_to_grow),
        cmocka_unit_test(starts_and_ends_where_asked),
        cmocka_unit_test(specs_are_checked),
        cmocka_unit_test(geometries_are_checked),
        cmocka_unit_test(clear_keeps_the_size),
        cmocka_unit_test(files_grow_on),
        cmocka_unit_test(unions_grow),
        cmocka_unit_test(sizes_may_differ),
        cmocka_unit_test(survives_any_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
