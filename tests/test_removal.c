/* Keys that leave: for every kind, removed exactly, or refused with nothing changed. */
#include "support.h"

/* A kind that cannot remove refuses, and nothing changes. */
static void refuses_to_remove(const blyt_case *c) {
    blyt_list l = blyt_list_of(KEYS_URL, 0, 100);
    bly_filter *f = blyt_full(c, 0.01, 0, &l), *copy = NULL;
    bly_bytes last = l.keys[l.n - 1];
    bly_hash h = bly_hash_key(bly_filter_hasher(f), last.data, last.size);
    bool removed = true;
    uint8_t answer = 9;
    bly_tally tally = {7, 7};
    assert_ok(bly_filter_clone(f, NULL, &copy));
    assert_int_equal(bly_filter_remove(f, last.data, last.size, &removed), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_remove(f, last.data, last.size, NULL), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_remove_hash(f, h, &removed), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_remove_many(f, &last, 1, &answer, &tally), BLY_EUNSUPPORTED);
    assert_true(removed && answer == 9 && tally.done == 0 && tally.fresh == 0);
    assert_true(bly_filter_equal(f, copy) && bly_filter_contains(f, last.data, last.size));
    assert_int_equal(bly_filter_count(f), bly_filter_count(copy));
    assert_int_equal(bly_filter_copies(f, last.data, last.size), 1);
    blyt_list_free(&l);
    bly_filter_destroy(f);
    bly_filter_destroy(copy);
}

/* Every key has i % 3 + 1 copies. One by one they go, and an empty filter is left. */
static void removes_copy_by_copy(const blyt_case *c) {
    bly_filter *f = blyt_create(c, 1200, 1e-9, 4), *empty = blyt_create(c, 1200, 1e-9, 4);
    uint64_t stored = 0;
    for (uint64_t i = 0; i < 300; i++)
        for (uint64_t copy = 0; copy <= i % 3; copy++, stored++)
            assert_ok(bly_filter_add(f, &i, 8, NULL));
    assert_int_equal(bly_filter_count(f), stored);
    for (uint64_t round = 0; round < 4; round++)
        for (uint64_t i = 0; i < 300; i++) {
            bool removed, there = round <= i % 3;
            bly_hash h = bly_hash_key(bly_filter_hasher(f), &i, 8);
            assert_int_equal(bly_filter_contains(f, &i, 8), there);
            assert_int_equal(bly_filter_copies(f, &i, 8), there ? i % 3 + 1 - round : 0);
            assert_ok(i % 2 ? bly_filter_remove(f, &i, 8, &removed)
                            : bly_filter_remove_hash(f, h, &removed));
            assert_int_equal(removed, there);
            stored -= removed;
            assert_int_equal(bly_filter_count(f), stored);
        }
    assert_int_equal(bly_filter_count(f), 0);
    assert_true(bly_filter_equal(f, empty));
    bly_filter_destroy(f);
    bly_filter_destroy(empty);
}

/* A batch, some of whose keys are not there or no longer, equals single calls. */
static void removes_in_batches(const blyt_case *c) {
    for (size_t n = 0; n < 150; n = n < 70 ? n + 1 : n + 37) {
        blyt_list l = blyt_list_of(KEYS_URL, 0, n), held = blyt_list_of(KEYS_URL, 0, 100);
        bly_filter *a = blyt_full(c, 1e-6, 3, &held), *b = NULL;
        uint8_t removed[256];
        bly_tally tally;
        size_t gone = 0;
        for (size_t i = 3; i < n; i += 3)
            l.keys[i] = l.keys[i / 2];
        assert_ok(bly_filter_clone(a, NULL, &b));
        memset(removed, 9, sizeof removed);
        assert_ok(bly_filter_remove_many(a, l.keys, n, removed, &tally));
        for (size_t i = 0; i < n; i++) {
            bool one;
            assert_ok(bly_filter_remove(b, l.keys[i].data, l.keys[i].size, &one));
            assert_int_equal(removed[i], one);
            gone += one;
        }
        assert_int_equal(removed[n], 9);
        assert_true(tally.done == n && tally.fresh == gone);
        assert_true(bly_filter_equal(a, b));
        assert_int_equal(bly_filter_count(a), 100 - gone);
        assert_int_equal(bly_filter_count(b), 100 - gone);
        assert_ok(bly_filter_remove_many(a, held.keys, held.n, NULL, NULL));
        assert_int_equal(bly_filter_count(a), 0);
        blyt_list_free(&l);
        blyt_list_free(&held);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
    }
}

/* Full, it says so and changes nothing; after a remove there is room again. */
static void full_is_no_loss(const blyt_case *c) {
    bly_filter *f = blyt_create(c, 20, 1e-6, 1), *before = NULL;
    bly_status status = BLY_OK;
    uint64_t n = 0, first = 0;
    while (status == BLY_OK && n < 100) { /* copies of one key have only so many places */
        bly_filter_destroy(before);
        assert_ok(bly_filter_clone(f, NULL, &before));
        status = bly_filter_add(f, &first, 8, NULL);
        n += status == BLY_OK;
    }
    assert_true(status == BLY_EFULL ? bly_filter_equal(f, before) : n == 100);
    assert_int_equal(bly_filter_count(f), n);
    assert_int_equal(bly_filter_copies(f, &first, 8), n);
    assert_int_equal(bly_filter_copies_hash(f, bly_hash_key(bly_filter_hasher(f), &first, 8)), n);
    bool removed;
    assert_ok(bly_filter_remove(f, &first, 8, &removed));
    assert_ok(bly_filter_add(f, &first, 8, NULL));
    for (; n; n--)
        assert_ok(bly_filter_remove(f, &first, 8, &removed));
    assert_true(removed && !bly_filter_contains(f, &first, 8));
    bly_filter_destroy(f);
    bly_filter_destroy(before);
}

static void removed_or_refused(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_CAN_REMOVE)) {
            refuses_to_remove(c);
            continue;
        }
        removes_copy_by_copy(c);
        removes_in_batches(c);
        full_is_no_loss(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(removed_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
