/* The errors of an overlay: members that it misses, which must be as many as it reports, and false
 * positives. */
#include "overlay_support.h"

#include "kinds/overlay/overlay_layout.h"

#include <bloomery/host/describe.h>

/* ---- misses ---------------------------------------------------------------------------------- */

/* Asserts that the number of missed members among n keys from `first` on is within five sigma of
 * the reported bound. (For these keys the bound is the expected value.) */
static void misses_as_told(const bly_filter *f, uint64_t first, uint64_t n) {
    double bound = blyt_changes(f).miss_bound, mean = bound * (double)n, missed = 0;
    for (uint64_t i = first; i < first + n; i++)
        missed += !contains_key(f, i);
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(f, &s);
    assert_true(s.miss_bound == bound);
    assert_true(mean > 5);
    assert_true(fabs(missed - mean) <= 5 * sqrt(mean));
}

/* Returns an overlay whose table of deleted keys has remainders of 10 bits instead of 38, so that
 * members are missed. */
static bly_filter *weakly_over(const bly_filter *base, uint64_t changes) {
    bly_filter *f = over(base, changes, BLY_KIND_NONE), *weak;
    blyi_shape shape = blyi_filter_shape(blyi_overlay_deleted(f));
    shape.geometry.hashes = shape.geometry.detail = 10;
    assert_ok(blyi_filter_make(&shape, &f->alloc, NULL, &weak));
    bly_filter_destroy(f->levels->at[BLYI_OVERLAY_DELETED]);
    f->levels->at[BLYI_OVERLAY_DELETED] = weak;
    assert_true(blyt_changes(f).miss_bound == 0);
    return f;
}

/* The reported bound is right also if the deleted keys were false positives of the base. */
static void weak_marks_of_non_members(void **state) {
    (void)state;
    const uint64_t n = 20000;
    const bly_kind kinds[] = {BLY_CUCKOO, BLY_SBBF, BLY_FUSE};
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        bly_filter *base = base_of(kinds[k], n, 0.2), *f = weakly_over(base, 2000);
        size_t removed = 0;
        bool was;
        for (uint64_t i = n; removed < 2000; i++) {
            assert_ok(remove_key(f, i, &was));
            removed += was;
        }
        misses_as_told(f, 0, n);
        bly_filter_destroy(f);
        bly_filter_destroy(base);
    }
}

static void weak_marks(void **state) {
    (void)state;
    const uint64_t n = 200000, gone = 5000;
    bly_filter *base = base_of(BLY_CLASSIC, n, 0.001), *f = weakly_over(base, gone);
    for (uint64_t i = 0; i < gone; i++)
        assert_ok(remove_key(f, i, NULL));
    misses_as_told(f, gone, n - gone);
    /* Adding a missed key again makes it found. This may bring back a deleted key that resembles
     * it. */
    size_t back = 0, revived = 0;
    for (uint64_t i = gone; i < n; i++) {
        if (contains_key(f, i))
            continue;
        assert_ok(add_key(f, i, NULL));
        assert_true(contains_key(f, i));
        back++;
    }
    for (uint64_t i = 0; i < gone; i++)
        revived += contains_key(f, i);
    assert_true(back > 100 && revived > 0 && revived <= back + 10);
    bly_filter_destroy(f);
    bly_filter_destroy(base);
}

/* A Bloom filter of deleted keys accepts deletions until it misses one member in a thousand. */
static void bloom_marks(void **state) {
    (void)state;
    const uint64_t n = 200000, gone = 5000;
    bly_filter *base = base_of(BLY_SBBF, n, 0.001), *f = over(base, gone, BLY_CLASSIC);
    uint64_t i = 0;
    bly_status status = BLY_OK;
    for (; status == BLY_OK; i++)
        status = remove_key(f, i, NULL);
    assert_int_equal(status, BLY_EFULL);
    bly_overlay_info now = blyt_changes(f);
    assert_true(now.deleted == gone && now.added == 0);
    double bound = blyt_changes(f).miss_bound;
    assert_true(bound > 0.0008 && bound < 0.0012);
    assert_true(contains_key(f, i - 1)); /* the key that was not removed */
    misses_as_told(f, i, n - i);
    /* Keys cannot be removed from the Bloom filter, so a deleted key that is added again goes to
     * the added keys. */
    assert_ok(add_key(f, 0, NULL));
    assert_true(contains_key(f, 0));
    now = blyt_changes(f);
    assert_true(now.deleted == gone && now.added == 1);
    assert_ok(remove_key(f, 0, NULL));
    assert_true(!contains_key(f, 0));
    bly_filter_destroy(f);
    bly_filter_destroy(base);
}

static bly_hash hash_32(void *user, const void *key, size_t len) {
    (void)user;
    uint64_t h = XXH64(key, len, 0) >> 32;
    return (bly_hash){XXH64(&h, 8, 1), XXH64(&h, 8, 2)};
}

/* Keys with equal hashes are one key: if one is deleted, the other is missed, too. */
static void narrow_hash(void **state) {
    (void)state;
    /* live * n / 2^32 keys are missed: 28 or, in kinds_overlay_rates_large, 70; 7 with
     * sanitizers. */
    const bool quick = !blyt_large() && BLYT_SLOW == 1;
    const uint64_t n = quick ? 300000 : 100000, live = quick ? 400000 : 3000000 / BLYT_SLOW;
    bly_spec spec = bly_spec_for(BLY_CLASSIC, 2 * live, 0.01);
    bly_filter *base;
    assert_ok(bly_hasher_custom(&spec.hasher, hash_32, NULL, 32, 1));
    spec.allow_weak_hash = true;
    assert_ok(bly_filter_create(&spec, &base));
    for (uint64_t i = 0; i < n + live; i++)
        assert_ok(add_key(base, i, NULL));
    bly_filter *f = over(base, n, 0);
    for (uint64_t i = 0; i < n; i++)
        assert_ok(remove_key(f, i, NULL));
    assert_true(blyt_changes(f).miss_bound > 2.3e-10 * (double)n);
    misses_as_told(f, n, live);
    bly_filter_destroy(f);
    bly_filter_destroy(base);
}

/* ---- non-members -------------------------------------------------------------------------------
 */

/* After any adds and removes, the overlay has the rate of its base, and reports it. */
static void rate_of_the_whole(void **state) {
    (void)state;
    const uint64_t n = 50000;
    const bly_kind kinds[] = {BLY_SBBF, BLY_FUSE, BLY_SCALABLE};
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        bly_filter *base = base_of(kinds[k], n, 0.01), *f = over(base, 0, 0);
        for (uint64_t i = 0; i < n; i += 10)
            assert_ok(remove_key(f, i, NULL));
        for (uint64_t i = n; i < n + 1000; i++)
            assert_ok(add_key(f, i, NULL));
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(f, &s);
        /* With 2500 false positives, five sigma are a tenth of the rate. */
        const uint64_t asked = (uint64_t)fmin(1e6, 2500 / s.current_fpr) / BLYT_SLOW;
        double found = 0, mean = s.current_fpr * (double)asked;
        for (uint64_t i = 2 * n; i < 2 * n + asked; i++)
            found += contains_key(f, i);
        assert_true(fabs(found - mean) <= 5 * sqrt(mean));
        assert_true(fabs(s.estimated_keys - (double)s.count) < 0.03 * (double)n);
        assert_true(s.bytes + 3 * 64 + (kinds[k] == BLY_SCALABLE ? 64 * 48 : 0) >= s.size);
        assert_true(s.requested_fpr == 0.01 && s.set_bits <= s.bits && s.stuck == 0);
        char text[1024];
        assert_true(bly_filter_info_format(&s, text, sizeof text) > 0);
        assert_non_null(strstr(text, "parts = 3"));
        bly_filter_destroy(f);
        bly_filter_destroy(base);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weak_marks),        cmocka_unit_test(weak_marks_of_non_members),
        cmocka_unit_test(bloom_marks),       cmocka_unit_test(narrow_hash),
        cmocka_unit_test(rate_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
