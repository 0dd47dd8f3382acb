/* The room of an overlay: what it costs, how far it grows, and what happens when there is no more
 * of it, or of memory. */
#include "overlay_support.h"

#include "kinds/cuckoo/cuckoo_plan.h"
#include "kinds/overlay/overlay_parts.h"

/* The part with the deleted or the added keys grows 64-fold, and then says so. */
static void grows_to_the_horizon(void **state) {
    (void)state;
    for (int added = 0; added < 2; added++) {
        const uint64_t changes = 200;
        bly_filter *base = base_of(BLY_FUSE, added ? 10 : 20000, 1e-6);
        bly_filter *f = over(base, changes, 0), *before = NULL;
        uint64_t done = 0, counts[2];
        bly_status status = BLY_OK;
        while (status == BLY_OK) {
            if (done >= 64 * changes) {
                bly_filter_destroy(before);
                assert_ok(bly_filter_clone(f, NULL, &before));
            }
            assert_int_equal(bly_filter_file_size(f) - HEADER, bly_filter_geometry(f).size);
            assert_true(bly_overlay_miss_bound(f) < 1e-9);
            status = added ? put(f, 1000000 + done, NULL) : take(f, done, NULL);
            done += status == BLY_OK;
        }
        assert_int_equal(status, BLY_EFULL);
        assert_true(done >= 64 * changes && done < 80 * changes);
        assert_true(bly_filter_equal(f, before));
        assert_ok(bly_overlay_changes(f, &counts[0], &counts[1]));
        assert_true(counts[added] == done && counts[!added] == 0);
        assert_true(bly_overlay_miss_bound(f) > (added ? 8e-10 : 7e-10));
        for (uint64_t i = 0; i < done; i++)
            assert_int_equal(has(f, added ? 1000000 + i : i), added);
        bly_filter_destroy(f);
        bly_filter_destroy(before);
        bly_filter_destroy(base);
    }
}

/* As many changes as were asked for fit without growth, at the cost that the header names. */
static void costs_as_told(void **state) {
    (void)state;
    const uint64_t sizes[] = {100, 1000, 100000};
    const double bits[] = {51, 42, 41};
    bly_filter *base = base_of(BLY_FUSE, 100000, 0.01);
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        bly_filter *f = over(base, sizes[s], 0);
        const bly_filter *deleted = blyi_overlay_deleted(f);
        uint64_t body = deleted->body_bytes;
        for (uint64_t i = 0; i < sizes[s]; i++)
            assert_ok(take(f, i, NULL));
        assert_int_equal(deleted->body_bytes, body);
        assert_true(8 * (double)body / (double)sizes[s] <= bits[s] + 0.5);
        assert_true(bly_overlay_miss_bound(f) < 2e-11);
        bly_filter_destroy(f);
    }
    bly_filter *f = over(base, 0, 0), *small = base_of(BLY_FUSE, 10, 0.01), *g = over(small, 0, 0);
    assert_int_equal(blyi_overlay_deleted(f)->geometry.size, blyi_buckets_for(100000 / 20));
    assert_int_equal(blyi_overlay_deleted(g)->geometry.size, blyi_buckets_for(64));
    bly_filter_destroy(f);
    bly_filter_destroy(g);
    bly_filter_destroy(small);
    bly_filter_destroy(base);
}

/* Every allocation of every call fails once; nothing has changed then, and it works the next time.
 */
static void out_of_memory(void **state) {
    (void)state;
    bly_filter *base = base_of(BLY_FUSE, 300, 0.01);
    size_t failures = 0;
    for (size_t fail = 1, calls = fail; calls >= fail; fail++) {
        blyt_heap heap = {.fail_at = fail};
        bly_allocator a = blyt_heap_allocator(&heap);
        bly_spec spec = {.changes = 8, .allocator = &a};
        bly_filter *f = NULL, *copy;
        bly_status status = bly_overlay_over(base, &spec, &f);
        if (status) {
            assert_int_equal(status, BLY_ENOMEM);
            assert_true(f == NULL && heap.live == 0);
            assert_ok(bly_overlay_over(base, &spec, &f));
            failures++;
        }
        for (uint64_t i = 0; i < 400; i++) {
            blyt_buffer before = i % 20 < 2 || i > 250 ? blyt_write(f) : (blyt_buffer){NULL, 0};
            bool changed = i % 2;
            status = i < 300 ? take(f, i, &changed) : put(f, i + 1000, &changed);
            if (status) {
                assert_int_equal(status, BLY_ENOMEM);
                failures++;
                if (before.data)
                    assert_bytes(f, before);
                assert_int_equal(changed, i % 2);
                assert_ok(i < 300 ? take(f, i, NULL) : put(f, i + 1000, NULL));
            }
            free(before.data);
        }
        status = bly_filter_clone(f, &a, &copy);
        if (status) {
            assert_int_equal(status, BLY_ENOMEM);
            assert_null(copy);
            failures++;
            assert_ok(bly_filter_clone(f, &a, &copy));
        }
        for (uint64_t i = 0; i < 400; i++)
            assert_int_equal(has(copy, i < 300 ? i : i + 1000), i >= 300);
        bly_filter_destroy(copy);
        bly_filter_destroy(f);
        assert_int_equal(heap.live, 0);
        calls = heap.calls;
    }
    assert_true(failures > 15);
    bly_filter_destroy(base);
    for (size_t fail = 1; fail < 20; fail++) {
        blyt_heap heap = {.fail_at = fail};
        bly_allocator a = blyt_heap_allocator(&heap);
        bly_spec spec = bly_spec_for(BLY_OVERLAY, 100, 0.01);
        bly_filter *f;
        spec.allocator = &a;
        bly_status status = bly_filter_create(&spec, &f);
        assert_int_equal(status, heap.calls >= fail ? BLY_ENOMEM : BLY_OK);
        bly_filter_destroy(f);
        assert_int_equal(heap.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_to_the_horizon),
        cmocka_unit_test(costs_as_told),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
