/* test_prefetch_hints.c - host/prefetch.h: hints compute the hashes of their filter, know whether
 * they are still valid, and may outlive the filter. */
#include "filter/filter.h"
#include "store_support.h"

#include <bloomery/host/prefetch.h>

static bool is_equal(bly_hash a, bly_hash b) {
    return a.lo == b.lo && a.hi == b.hi;
}

/* A prefetch has no visible effect, so this only calls it for every kind: sanitizers report reads
 * of freed memory. */
static void test_every_kind(void **state) {
    (void)state;
    unsigned known = 0;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), NULL, 100);
        bly_prefetch_hint ahead;
        bly_prefetch_hint_init(f, &ahead);
        assert_true(ahead.count <= BLY_PREFETCH_TARGETS);
        assert_int_equal(bly_prefetch_hint_valid(&ahead, f), ahead.count > 0);
        bly_hash right = bly_hash_key(bly_filter_hasher(f), "store-key-3", 11);
        if (ahead.count) {
            known++;
            assert_true(is_equal(bly_prefetch_hint_start(&ahead, "store-key-3", 11), right));
            assert_true(bly_filter_contains_hash(f, right));
        }
        bly_filter_destroy(f);
        if (ahead.count)
            assert_true(is_equal(bly_prefetch_hint_start(&ahead, "store-key-3", 11), right));
    }
    assert_true(known >= 13);
}

static void test_scalable_is_known(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_HAS_LEVELS))
            continue;
        bly_spec spec = bly_spec_for(c->kind, 20, 0.01);
        bly_filter *f;
        bly_prefetch_hint ahead;
        assert_ok(bly_filter_create(&spec, &f));
        bly_prefetch_hint_init(f, &ahead);
        assert_int_equal(ahead.count, 1);
        for (int i = 0; bly_filter_level_count(f) < BLY_PREFETCH_TARGETS + 2; i++) {
            size_t before = bly_filter_level_count(f);
            assert_ok(bly_filter_add(f, &i, sizeof i, NULL));
            bool grown = bly_filter_level_count(f) != before;
            assert_int_equal(bly_prefetch_hint_valid(&ahead, f), !grown);
            if (grown)
                bly_prefetch_hint_init(f, &ahead);
        }
        assert_int_equal(ahead.count, BLY_PREFETCH_TARGETS);
        bly_filter_clear(f);
        assert_false(bly_prefetch_hint_valid(&ahead, f));
        bly_filter_destroy(f);
    }
}

/* A hint is not valid for a filter with another body, seed or hash function, even if its size is
 * the same. */
static void test_other_hashes(void **state) {
    (void)state;
    bly_spec spec = bly_spec_for(BLY_SPLIT512, 1000, 0.01);
    bly_filter *f, *other;
    bly_prefetch_hint ahead;
    assert_ok(bly_filter_create(&spec, &f));
    bly_prefetch_hint_init(f, &ahead);
    spec.seed = 1;
    assert_ok(bly_filter_create(&spec, &other));
    assert_false(bly_prefetch_hint_valid(&ahead, other));
    ahead.targets[0].body = NULL;
    assert_false(bly_prefetch_hint_valid(&ahead, f));
    bly_prefetch_hint_init(f, &ahead);
    assert_true(bly_prefetch_hint_valid(&ahead, f));
    ahead.hasher.seed = 1;
    assert_false(bly_prefetch_hint_valid(&ahead, f));
    bly_prefetch_hint_init(f, &ahead);
    ahead.hasher.id = BLY_HASH_MURMUR3;
    assert_false(bly_prefetch_hint_valid(&ahead, f));
    bly_filter_destroy(other);
    bly_filter_destroy(f);
}

/* Two filters at one address have hash functions that differ, but have the same signature. */
static void test_other_functions(void **state) {
    (void)state;
    const bly_hash_id ids[] = {BLY_HASH_FNV1A, BLY_HASH_CITY64};
    bly_filter *f[2];
    bly_prefetch_hint ahead;
    for (size_t i = 0; i < 2; i++) {
        bly_spec spec = bly_spec_for(BLY_SPLIT512, 1000, 0.01);
        assert_ok(bly_hasher_init(&spec.hasher, ids[i], 0));
        assert_ok(bly_filter_create(&spec, &f[i]));
    }
    bly_prefetch_hint_init(f[0], &ahead);
    assert_true(bly_prefetch_hint_valid(&ahead, f[0]));
    ahead.targets[0].body = f[1]->body;
    assert_false(bly_prefetch_hint_valid(&ahead, f[1]));
    bly_filter_destroy(f[0]);
    bly_filter_destroy(f[1]);
}

static bly_hash own_hash(void *user, const void *key, size_t len) {
    (void)user;
    (void)key;
    return (bly_hash){len * 0x9E3779B97F4A7C15u, len};
}

static void test_secrets_stay(void **state) {
    (void)state;
    const uint8_t secret[16] = "0123456789abcde";
    bly_spec spec = bly_spec_for(BLY_SPLIT512, 1000, 0.01);
    bly_prefetch_hint ahead;
    memset(&ahead, 0x5A, sizeof ahead);
    bly_filter *f;
    for (int raw = 0; raw < 2; raw++) {
        assert_ok((raw ? bly_hasher_custom_raw : bly_hasher_custom)(&spec.hasher, own_hash, NULL,
                                                                    128, 7));
        assert_ok(bly_filter_create(&spec, &f));
        bly_prefetch_hint_init(f, &ahead);
        assert_int_equal(ahead.count, 0);
        bly_filter_destroy(f);
    }
    if (bly_hasher_keyed(&spec.hasher, secret) != BLY_OK)
        return;
    assert_ok(bly_filter_create(&spec, &f));
    bly_prefetch_hint_init(f, &ahead);
    assert_int_equal(ahead.count, 0);
    assert_false(bly_prefetch_hint_valid(&ahead, f));
    assert_memory_not_equal(ahead.hasher.key, secret, sizeof secret);
    bly_filter_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),   cmocka_unit_test(test_scalable_is_known),
        cmocka_unit_test(test_other_hashes), cmocka_unit_test(test_other_functions),
        cmocka_unit_test(test_secrets_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
