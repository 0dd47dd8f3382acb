/* The scalable filter: it grows by its rule, loses no key and keeps its rate. Without memory to
 * grow, it does not change. test_nested.c tests its files. */
#include "support.h"

#include "filter/level_growth.h"

#include <math.h>

static bly_filter *scalable(uint64_t first, double p, double share, const bly_allocator *a) {
    bly_spec spec = bly_spec_for(BLY_SCALABLE, first, p);
    bly_filter *f = NULL;
    spec.scalable.first_share = share;
    spec.allocator = a;
    assert_ok(bly_filter_create(&spec, &f));
    return f;
}

/* Asserts that the figures of the filter are the sums of those of its levels. */
static void check_sums(const bly_filter *f) {
    uint64_t bytes = 0, body = 0, capacity = 0, count = 0, bits = 0, set = 0;
    double keys = 0, miss = 1;
    bly_filter_info whole = {.struct_size = sizeof whole};
    bly_filter_info s = {.struct_size = sizeof s};
    size_t levels = bly_filter_level_count(f);
    bly_filter_get_info(f, &whole);
    for (size_t i = 0; i < levels; i++) {
        bly_filter_get_info(bly_filter_level(f, i), &s);
        body += 64 + s.bytes;
        bytes += s.bytes;
        capacity += s.capacity;
        count += s.count;
        bits += s.bits;
        set += s.set_bits;
        keys += s.estimated_keys;
        miss *= 1 - s.current_fpr;
    }
    assert_null(bly_filter_level(f, levels));
    bly_geometry g = bly_filter_geometry(f);
    assert_int_equal(bly_plan_check(&g), BLY_OK);
    assert_true(g.kind == BLY_SCALABLE && g.hashes == levels && g.size == body && g.options == 0);
    assert_int_equal(bly_filter_file_size(f), 64 + body);
    assert_true(whole.hashes == levels && whole.size == body && whole.bytes == bytes);
    assert_true(whole.capacity == capacity && whole.capacity == bly_filter_capacity(f));
    assert_true(whole.count == count && whole.count == bly_filter_count(f));
    assert_true(whole.bits == bits && whole.set_bits == set);
    const double fill = (double)set / (double)bits; /* rounded to double, also with x87 registers */
    assert_true(whole.fill == fill);
    assert_true(fabs(whole.estimated_keys - keys) <= 1e-9 * keys);
    assert_true(fabs(whole.current_fpr - (1 - miss)) < 1e-12);
}

/* Asserts the rule of growth: level i has 2^i times the capacity of the first level. The first has
 * `share` of the rate p, and each other level 0.15 of what the levels before it have left. */
static void check_rule(const bly_filter *f, uint64_t first, double p, double share) {
    double left = p;
    for (size_t i = 0; i < bly_filter_level_count(f); i++) {
        const bly_filter *level = bly_filter_level(f, i);
        double rate = left * (i == 0 ? share : 0.15);
        bly_geometry g = bly_filter_geometry(level), fast, small;
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(level, &s);
        assert_int_equal(s.capacity, first << i);
        assert_true(fabs(s.requested_fpr / rate - 1) < 1e-9);
        assert_ok(bly_plan(BLY_SPLIT512, s.capacity, s.requested_fpr, 0, 64, &fast));
        assert_ok(bly_plan(BLY_BB2X512, s.capacity, s.requested_fpr, 0, 64, &small));
        double most = i > 0 && share >= 0.5 ? 1.1 : 1.15;
        bool one_line = (double)bly_plan_bytes(&fast) <= most * (double)bly_plan_bytes(&small);
        const bly_geometry *want = one_line ? &fast : &small;
        assert_true(g.kind == want->kind && g.hashes == want->hashes && g.size == want->size);
        left -= s.requested_fpr;
    }
    assert_true(left > 0);
}

/* Grows a filter by seven doublings from a thousand keys, or by ten in kinds_scalable_large: no key
 * is lost, the rate stays within the requested one, and the size (`bits_per_key`) within twice that
 * of a filter planned for all keys. */
static void grows_by_the_rule(void **state) {
    static const struct {
        double p, share, bits_per_key;
    } table[] = {
        {0.01, 0.15, 19}, {0.01, 0.8, 20.5}, {0.01, 0.75, 20}, {0.001, 0.15, 25}, {1e-4, 0.15, 29}};
    unsigned last = BLYT_SLOW > 1 ? 6 : blyt_large() ? 10 : 7;
    (void)state;
    for (size_t t = 0; t < COUNT_OF(table); t++) {
        double p = table[t].p, share = table[t].share;
        bly_filter *f = scalable(1000, p, share == 0.15 ? 0 : share, NULL);
        uint64_t added = 0;
        for (unsigned doubling = 0; doubling <= last; doubling++) {
            uint64_t until = 1000 * ((2u << doubling) - 1);
            blyt_list l = blyt_list_of(KEYS_LITTLE, added, (size_t)(until - added));
            blyt_add_all(f, &l);
            blyt_list_free(&l);
            added = until;
            bly_filter_info s = {.struct_size = sizeof s};
            bly_filter_get_info(f, &s);
            /* Some keys were false positives and did not count, so the last level may not be open
             * yet. */
            assert_true(s.hashes <= doubling + 1);
            assert_true(s.current_fpr < p && s.expected_fpr < p && s.current_fpr > p / 20);
            double lost = p * (double)added; /* the highest number expected */
            assert_true(s.count <= added && (double)(added - s.count) < lost + 5 * sqrt(lost) + 4);
        }
        blyt_list all = blyt_list_of(KEYS_LITTLE, 0, (size_t)added);
        assert_int_equal(bly_filter_contains_many(f, all.keys, all.n, NULL), all.n);
        blyt_list_free(&all);
        check_sums(f);
        check_rule(f, 1000, p, share);
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(f, &s);
        assert_true((double)s.bytes * 8 / (double)added < table[t].bits_per_key);
        bly_filter_destroy(f);
    }
}

/* If the first level has most of the rate, and the number of keys was estimated correctly, the
 * filter takes little more space than a plain one. */
static void a_good_guess_is_cheap(void **state) {
    bly_filter *f = scalable(1000000, 0.01, 0.8, NULL);
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    bly_filter_get_info(f, &s);
    assert_true((double)s.bits / 1e6 < 10.8);
    bly_filter_destroy(f);
    /* The share may be close to 1. */
    assert_ok(blyt_new(BLY_SCALABLE, 1000, 0.999, &f));
    bly_filter_destroy(f);
    f = scalable(1000, 0.999999, 0.999999, NULL);
    bly_filter_get_info(f, &s);
    assert_true(s.bits > 1000);
    bly_filter_destroy(f);
}

/* When the last level is full, adding present keys does not open another. */
static void repeats_do_not_open_a_level(void **state) {
    bly_filter *f = scalable(100, 1e-6, 0, NULL);
    blyt_list l = blyt_list_of(KEYS_URL, 0, 101);
    uint8_t added[101];
    bly_batch_result tally;
    (void)state;
    assert_ok(bly_filter_add_many(f, l.keys, 100, NULL, NULL));
    assert_int_equal(bly_filter_count(f), 100);
    for (int turn = 0; turn < 2; turn++) {
        assert_ok(bly_filter_add_many(f, l.keys, 100, added, &tally));
        assert_true(tally.done == 100 && tally.changed == 0);
        for (int i = 0; i < 100; i++)
            assert_int_equal(added[i], 0);
        assert_ok(bly_filter_add(f, l.keys[7].data, l.keys[7].size, NULL));
        assert_int_equal(bly_filter_level_count(f), 1);
    }
    assert_ok(bly_filter_add_many(f, l.keys, 101, added, &tally));
    assert_true(tally.done == 101 && tally.changed == 1 && added[100] == 1 && added[99] == 0);
    assert_int_equal(bly_filter_level_count(f), 2);
    assert_int_equal(bly_filter_count(bly_filter_level(f, 1)), 1);
    check_sums(f);
    blyt_list_free(&l);
    bly_filter_destroy(f);
}

/* Batches with repeated keys, across many levels, have the same effect as single calls. */
static void batches_grow_as_single_calls(void **state) {
    uint64_t rng = 5;
    (void)state;
    for (uint64_t first = 1; first < 40; first += 6) {
        bly_filter *a = scalable(first, 0.02, 0, NULL), *b = scalable(first, 0.02, 0, NULL);
        blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, 2000);
        for (int turn = 0; turn < 60; turn++) {
            bly_bytes batch[150];
            bly_hash hashes[150];
            uint8_t added[150];
            bly_batch_result tally;
            size_t n = blyt_next(&rng) % 151, fresh = 0;
            for (size_t i = 0; i < n; i++)
                batch[i] = l.keys[blyt_next(&rng) % (uint64_t)(30 * turn + 10)];
            bly_hash_keys(bly_filter_hasher(b), batch, n, hashes);
            assert_ok(turn % 2 ? bly_filter_add_many(b, batch, n, added, &tally)
                               : bly_filter_add_hashes(b, hashes, n, added, &tally));
            for (size_t i = 0; i < n; i++) {
                bool one, before = bly_filter_contains(a, batch[i].data, batch[i].size);
                assert_ok(bly_filter_add(a, batch[i].data, batch[i].size, &one));
                assert_true(one == !before && one == added[i]);
                fresh += one;
            }
            assert_true(tally.done == n && tally.changed == fresh);
        }
        assert_true(bly_filter_equal(a, b) && bly_filter_count(a) == bly_filter_count(b));
        assert_true(bly_filter_level_count(a) > 5);
        check_sums(a);
        blyt_list_free(&l);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
    }
}

/* Asserts that every way to add key number `done`, which was refused for lack of memory, fails
 * again; that the filter still equals `twin`, which has the keys before it; and that adding present
 * keys needs no memory. */
static void assert_refuses_the_next(bly_filter *f, const bly_filter *twin, const blyt_list *l,
                                    size_t done, blyt_heap *heap) {
    const bly_bytes *next = &l->keys[done];
    bly_bytes mixed[20];
    uint8_t added[20];
    bly_batch_result again;
    bool was = true;
    assert_false(bly_filter_contains(f, next->data, next->size));
    heap->fail_at = heap->calls + 1;
    assert_int_equal(bly_filter_add(f, next->data, next->size, &was), BLY_ENOMEM);
    heap->fail_at = heap->calls + 1;
    bly_hash h = bly_hash_key(bly_filter_hasher(f), next->data, next->size);
    assert_int_equal(bly_filter_add_hash(f, h, &was), BLY_ENOMEM);
    assert_true(was && bly_filter_equal(f, twin)); /* `was` was not written */
    /* Repeats before the key that fails are processed, and counted in `done`. */
    for (size_t i = 0; i < 20; i++)
        mixed[i] = i < 18 ? l->keys[i % 10] : *next;
    memset(added, 9, sizeof added);
    heap->fail_at = heap->calls + 1;
    assert_int_equal(bly_filter_add_many(f, mixed, 20, added, &again), BLY_ENOMEM);
    assert_true(again.done == 18 && again.changed == 0 && added[17] == 0 && added[18] == 9);
    heap->fail_at = heap->calls + 1;
    assert_ok(bly_filter_add_many(f, l->keys, done, NULL, NULL));
    heap->fail_at = 0;
}

/* Each allocation for a new level fails in turn: the keys before the one that needs the level are
 * added, that one is not, and nothing else changes. Later, the same call succeeds. */
static void no_memory_to_grow(void **state) {
    enum { FIRST = 10, KEYS = 300 };
    blyt_list l = blyt_list_of(KEYS_URL, 0, KEYS);
    bly_filter *want = scalable(FIRST, 1e-5, 0, NULL);
    size_t failures = 0;
    (void)state;
    blyt_add_all(want, &l);
    for (size_t later = 1; later < 12; later++) {
        blyt_heap heap = {0};
        bly_allocator a = blyt_heap_allocator(&heap);
        bly_filter *f = scalable(FIRST, 1e-5, 0, &a), *twin = scalable(FIRST, 1e-5, 0, NULL);
        uint8_t added[KEYS];
        bly_batch_result tally;
        heap.fail_at = heap.calls + later;
        bly_status status = bly_filter_add_many(f, l.keys, KEYS, added, &tally);
        if (status != BLY_OK) {
            failures++;
            assert_int_equal(status, BLY_ENOMEM);
            assert_true(tally.done < KEYS && tally.changed == bly_filter_count(f));
            /* The filter is exactly full: the next new key is the one that failed. */
            assert_int_equal(bly_filter_count(f), bly_filter_capacity(f));
            assert_ok(bly_filter_add_many(twin, l.keys, tally.done, NULL, NULL));
            assert_true(bly_filter_equal(f, twin));
            check_sums(f);
            assert_refuses_the_next(f, twin, &l, tally.done, &heap);
            assert_ok(bly_filter_add_many(f, &l.keys[tally.done], KEYS - tally.done, NULL, NULL));
        }
        assert_true(bly_filter_equal(f, want) && bly_filter_count(f) == bly_filter_count(want));
        bly_filter_destroy(f);
        bly_filter_destroy(twin);
        assert_int_equal(heap.live, 0);
    }
    assert_true(failures >= 8); /* four new levels, with two allocations each */
    blyt_list_free(&l);
    bly_filter_destroy(want);
}

static void clear_keeps_the_first_level(void **state) {
    blyt_heap heap = {0};
    bly_allocator a = blyt_heap_allocator(&heap);
    bly_filter *f = scalable(50, 0.01, 0.5, &a), *fresh = scalable(50, 0.01, 0.5, NULL);
    size_t live = heap.live;
    blyt_list l = blyt_list_of(KEYS_URL, 0, 1000);
    (void)state;
    blyt_add_all(f, &l);
    assert_true(bly_filter_level_count(f) >= 4 && heap.live > live);
    bly_filter_clear(f);
    assert_int_equal(heap.live, live);
    assert_true(bly_filter_equal(f, fresh) && bly_filter_count(f) == 0);
    check_sums(f);
    blyt_add_all(f, &l);
    blyt_add_all(fresh, &l);
    assert_true(bly_filter_equal(f, fresh));
    blyt_list_free(&l);
    bly_filter_destroy(f);
    bly_filter_destroy(fresh);
    assert_int_equal(heap.live, 0);
}

/* ---- union ----------------------------------------------------------------------------------- */

/* Unites two filters with different keys and numbers of levels. */
static void unite(size_t in_a, size_t in_b) {
    blyt_heap heap = {0};
    bly_allocator alloc = blyt_heap_allocator(&heap);
    blyt_list la = blyt_list_of(KEYS_URL, 0, in_a), lb = blyt_list_of(KEYS_URL, in_a / 2, in_b);
    bly_filter *b = scalable(20, 0.01, 0, NULL), *before = NULL;
    blyt_add_all(b, &lb);
    for (size_t fail_at = 1, failed = 1; failed; fail_at++) {
        bly_filter *a = scalable(20, 0.01, 0, &alloc);
        blyt_add_all(a, &la);
        assert_ok(bly_filter_clone(a, NULL, &before));
        heap.fail_at = heap.calls + fail_at;
        bly_status status = bly_filter_union(a, b);
        failed = status != BLY_OK;
        if (failed) {
            assert_int_equal(status, BLY_ENOMEM);
            assert_true(bly_filter_equal(a, before));
            assert_int_equal(bly_filter_count(a), bly_filter_count(before));
        } else {
            size_t more = bly_filter_level_count(a);
            assert_true(more == bly_filter_level_count(before) ||
                        more == bly_filter_level_count(b));
            assert_true(more >= bly_filter_level_count(before) &&
                        more >= bly_filter_level_count(b));
            assert_int_equal(bly_filter_contains_many(a, la.keys, la.n, NULL), la.n);
            assert_int_equal(bly_filter_contains_many(a, lb.keys, lb.n, NULL), lb.n);
            assert_true(bly_filter_count(a) >= bly_filter_count(b));
            assert_true(bly_filter_count(a) <= bly_filter_count(b) + bly_filter_count(before));
        }
        check_sums(a);
        heap.fail_at = 0;
        bly_filter_destroy(a);
        bly_filter_destroy(before);
        assert_int_equal(heap.live, 0);
    }
    blyt_list_free(&la);
    blyt_list_free(&lb);
    bly_filter_destroy(b);
}

static void unions(void **state) {
    (void)state;
    unite(0, 0);
    unite(10, 10);
    unite(20, 500);
    unite(500, 20);
    unite(300, 300);
}

/* After a union, a level may have more keys than its capacity. The filter reports it, has every
 * key, and can still grow. */
static void union_past_capacity(void **state) {
    bly_filter *a = scalable(100, 0.01, 0, NULL), *b = scalable(100, 0.01, 0, NULL);
    blyt_list l = blyt_list_of(KEYS_URL, 0, 1000);
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    assert_ok(bly_filter_add_many(a, l.keys, 100, NULL, NULL));
    assert_ok(bly_filter_add_many(b, l.keys + 100, 100, NULL, NULL));
    assert_ok(bly_filter_union(a, b));
    bly_filter_get_info(a, &s);
    assert_true(s.count > s.capacity && s.current_fpr > 0.0015);
    assert_int_equal(bly_filter_level_count(a), 1);
    blyt_add_all(a, &l);
    assert_int_equal(bly_filter_contains_many(a, l.keys, l.n, NULL), l.n);
    check_sums(a);
    assert_ok(bly_filter_union(a, a));
    assert_int_equal(bly_filter_contains_many(a, l.keys, l.n, NULL), l.n);
    blyt_list_free(&l);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

static void unlike_filters_are_not_united(void **state) {
    bly_filter *f = scalable(20, 0.01, 0, NULL), *copy = NULL;
    /* The last filter has the same first level, but another rate in total. */
    bly_filter *other[] = {scalable(21, 0.01, 0, NULL), scalable(20, 0.011, 0, NULL),
                           scalable(20, 0.01, 0.2, NULL), scalable(20, 0.02, 0.075, NULL)};
    (void)state;
    assert_ok(bly_filter_clone(f, NULL, &copy));
    for (size_t i = 0; i < COUNT_OF(other); i++) {
        assert_ok(bly_filter_add(other[i], "x", 1, NULL));
        assert_int_equal(bly_filter_compatible(f, other[i]), BLY_EMISMATCH);
        assert_int_equal(bly_filter_union(f, other[i]), BLY_EMISMATCH);
        assert_false(bly_filter_equal(f, other[i]));
        assert_true(bly_filter_equal(f, copy));
        bly_filter_destroy(other[i]);
    }
    /* A filter does not match its own first level. */
    assert_int_equal(bly_filter_union(f, bly_filter_level(f, 0)), BLY_EMISMATCH);
    bly_filter_destroy(f);
    bly_filter_destroy(copy);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* When the rate of the next level would be below 2^-40, the filter is full. */
static void full_at_last(void **state) {
    bly_filter *f = scalable(1, 0x1p-36, 0, NULL), *copy = NULL;
    blyt_list l = blyt_list_of(KEYS_URL, 0, 1000);
    uint8_t added[1000];
    bly_batch_result tally;
    (void)state;
    assert_int_equal(bly_filter_add_many(f, l.keys, l.n, added, &tally), BLY_EFULL);
    assert_int_equal(tally.done, 63); /* 1 + 2 + ... + 32 */
    assert_true(tally.changed == 63 && bly_filter_level_count(f) == 6 && added[62] == 1);
    assert_ok(bly_filter_clone(f, NULL, &copy));
    assert_ok(bly_filter_add_many(f, l.keys, 63, NULL, &tally));
    assert_true(tally.done == 63 && tally.changed == 0);
    assert_int_equal(bly_filter_add(f, l.keys[63].data, l.keys[63].size, NULL), BLY_EFULL);
    assert_true(bly_filter_equal(f, copy));
    blyt_list_free(&l);
    bly_filter_destroy(f);
    bly_filter_destroy(copy);
}

static void refusals(void **state) {
    bly_spec right = bly_spec_for(BLY_SCALABLE, 100, 0.01), spec;
    bly_filter *f = (bly_filter *)&spec;
    static const double shares[] = {-0.1, 1, 1.5, NAN, INFINITY};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shares); i++) {
        spec = right;
        spec.scalable.first_share = shares[i];
        assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
        assert_null(f);
    }
    spec = right;
    spec.geometry.options = BLY_FOLDABLE;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
    spec = right;
    spec.geometry.hashes = 8;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
    spec.geometry.size = 1024;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EGEOMETRY);
    spec = right;
    spec.sharing = BLY_SHARED;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EUNSUPPORTED);
    assert_int_equal(blyt_new(BLY_SCALABLE, 0, 0.01, &f), BLY_ECOUNT);
    assert_int_equal(blyt_new(BLY_SCALABLE, 10, 0, &f), BLY_ERATE);
    assert_int_equal(blyt_new(BLY_SCALABLE, 10, 1, &f), BLY_ERATE);
    assert_int_equal(blyt_new(BLY_SCALABLE, 10, NAN, &f), BLY_ERATE);
    assert_int_equal(blyt_new(BLY_SCALABLE, 10, 0x1p-40, &f), BLY_ERATE); /* too low for level 0 */
    assert_int_equal(blyt_new(BLY_SCALABLE, UINT64_MAX, 0.01, &f), BLY_ETOOBIG);
    assert_int_equal(blyt_new(BLY_SCALABLE, (uint64_t)1 << 48, 0.01, &f), BLY_ETOOBIG);
    assert_null(f);
}

/* A hash that is too weak for the first level is refused. If it gets too weak as the filter grows,
 * the expected rate shows it. */
static void weak_hashes(void **state) {
    bly_spec spec = bly_spec_for(BLY_SCALABLE, 2000000, 0.01);
    bly_filter *f = NULL;
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    assert_ok(bly_hasher_init(&spec.hasher, BLY_HASH_FNV1A_32, 0));
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EWEAKHASH);
    spec.allow_weak_hash = true;
    assert_ok(bly_filter_create(&spec, &f));
    bly_filter_destroy(f);
    spec.allow_weak_hash = false;
    spec.capacity = 1000;
    spec.fpr = 1e-4;
    assert_ok(bly_filter_create(&spec, &f));
    blyt_list l = blyt_list_of(KEYS_RANDOM, 0, 300000);
    blyt_add_all(f, &l);
    bly_filter_get_info(f, &s);
    assert_true(s.expected_fpr > 300000 / 0x1p32);
    blyt_list_free(&l);
    bly_filter_destroy(f);
    /* The default hash is chosen so that the filter can grow. */
    assert_ok(blyt_new(BLY_SCALABLE, 1000, 0.01, &f));
    assert_int_equal(bly_filter_hasher(f)->id, BLY_HASH_XXH3);
    bly_filter_destroy(f);
    assert_ok(blyt_new(BLY_SCALABLE, 1000000, 1e-9, &f));
    assert_int_equal(bly_filter_hasher(f)->id, BLY_HASH_XXH3_128);
    bly_filter_destroy(f);
}

/* ---- growth ---------------------------------------------------------------------------------- */

static bly_filter *growing_by(uint32_t growth, uint64_t first) {
    bly_spec spec = bly_spec_for(BLY_SCALABLE, first, 0.01);
    bly_filter *f = NULL;
    spec.scalable.growth = growth;
    assert_ok(bly_filter_create(&spec, &f));
    return f;
}

static void add_until(bly_filter *f, size_t levels) {
    for (uint64_t i = 0; bly_filter_level_count(f) < levels; i++)
        assert_ok(bly_filter_add(f, &i, sizeof i, NULL));
}

/* Capacities grow by the requested factor, also after the filter was saved and loaded. */
static void grows_by_a_factor(void **state) {
    static const uint32_t factors[] = {0, 1, 2, 3, 4, 10, 32768};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(factors); i++) {
        uint32_t factor = factors[i] ? factors[i] : 2;
        size_t levels = factor > 1000 ? 2 : 4;
        bly_filter *f = growing_by(factors[i], 10), *again = NULL;
        assert_int_equal(bly_filter_geometry(f).detail, factor == 2 ? 0 : factor);
        add_until(f, levels - 1);
        blyt_buffer b = blyt_write(f);
        assert_ok(bly_filter_parse(b.data, b.size, NULL, &again));
        add_until(f, levels);
        add_until(again, levels);
        assert_true(bly_filter_equal(f, again));
        uint64_t want = 10;
        for (size_t j = 0; j < levels; j++, want *= factor)
            assert_int_equal(bly_filter_capacity(bly_filter_level(again, j)), want);
        free(b.data);
        bly_filter_destroy(f);
        bly_filter_destroy(again);
    }
}

/* With a factor of 1, the first sixteen levels have the same capacity. After these, capacities
 * double, because the number of levels is limited. */
static void levels_alike_come_to_an_end(void **state) {
    bly_filter *f = growing_by(1, 20);
    (void)state;
    add_until(f, 20);
    for (size_t i = 0; i < 20; i++) {
        uint64_t want = i < 16 ? 20 : (uint64_t)20 << (i - 15);
        assert_int_equal(bly_filter_capacity(bly_filter_level(f, i)), want);
    }
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(f, &s);
    assert_true(s.current_fpr < 0.01);
    bly_filter_destroy(f);
}

/* The factor is a part of the geometry: filters with other factors do not match, and factors above
 * the maximum are refused. */
static void factors_that_differ(void **state) {
    bly_filter *a = growing_by(2, 50), *b = growing_by(0, 50), *c = growing_by(4, 50), *none;
    bly_spec spec = bly_spec_for(BLY_SCALABLE, 50, 0.01);
    (void)state;
    assert_ok(bly_filter_compatible(a, b));
    assert_int_equal(bly_filter_union(a, c), BLY_EMISMATCH);
    assert_non_null(strstr(bly_filter_why_not(BLY_OP_UNION, a, c), "growth"));
    spec.scalable.growth = 32769;
    assert_int_equal(bly_filter_create(&spec, &none), BLY_EINVAL);
    spec.scalable.growth = UINT32_MAX;
    assert_int_equal(bly_filter_create(&spec, &none), BLY_EINVAL);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    bly_filter_destroy(c);
}

/* A level that would be too large is refused, even if the computation of its size overflows. */
static void no_level_past_all_bounds(void **state) {
    blyi_level_request w = {.hash_bits = 128};
    bly_geometry g;
    double fpr = 0.001;
    (void)state;
    assert_int_equal(blyi_next_keys(32768, 1, (uint64_t)1 << 48), (uint64_t)1 << 63);
    assert_true(blyi_next_keys(32768, 1, (uint64_t)1 << 49) == UINT64_MAX);
    assert_true(blyi_next_keys(0, 1, UINT64_MAX) == UINT64_MAX);
    for (unsigned shift = 49; shift <= 64; shift++) {
        w.keys = shift < 64 ? (uint64_t)1 << shift : UINT64_MAX;
        w.kind = BLY_SCALABLE;
        assert_int_equal(blyi_level_plan(&w, &fpr, &g), BLY_ETOOBIG);
        w.kind = BLY_SCALABLE_CUCKOO;
        assert_int_equal(blyi_level_plan(&w, &fpr, &g), BLY_ETOOBIG);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_by_the_rule),
        cmocka_unit_test(a_good_guess_is_cheap),
        cmocka_unit_test(repeats_do_not_open_a_level),
        cmocka_unit_test(batches_grow_as_single_calls),
        cmocka_unit_test(no_memory_to_grow),
        cmocka_unit_test(clear_keeps_the_first_level),
        cmocka_unit_test(unions),
        cmocka_unit_test(union_past_capacity),
        cmocka_unit_test(unlike_filters_are_not_united),
        cmocka_unit_test(full_at_last),
        cmocka_unit_test(refusals),
        cmocka_unit_test(weak_hashes),
        cmocka_unit_test(grows_by_a_factor),
        cmocka_unit_test(levels_alike_come_to_an_end),
        cmocka_unit_test(factors_that_differ),
        cmocka_unit_test(no_level_past_all_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
