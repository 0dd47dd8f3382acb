/* Set operations on cuckoo filters: union, intersection and overlap count every copy correctly, and
 * a union that fails changes nothing. */
#include "table_support.h"

static bly_filter *cuckoo(uint64_t keys, double p) {
    bly_filter *f = NULL;
    assert_ok(blyt_new(BLY_CUCKOO, keys, p, &f));
    return f;
}

/* Keys of a: 0..5999; 0..1999 and 3500..3999 have two copies. Keys of b: 3000..8999; 3000..3999
 * have three copies. */
static void make_two(bly_filter **a, bly_filter **b) {
    *a = cuckoo(80000, 1e-6);
    *b = cuckoo(80000, 1e-6);
    add_hashes(*a, 1, 0, 6000);
    add_hashes(*a, 1, 0, 2000);
    add_hashes(*b, 1, 3000, 9000);
    add_hashes(*b, 1, 3000, 4000);
    add_hashes(*b, 1, 3000, 4000);
    add_hashes(*a, 1, 3500, 4000);
}

static void assert_copies(const bly_filter *f, uint64_t from, uint64_t until, uint64_t copies) {
    for (uint64_t i = from; i < until; i++)
        assert_int_equal(f->ops->count_copies(f, hash_at(1, i)), copies);
}

static void union_adds_copies(void **state) {
    bly_filter *a, *b;
    (void)state;
    make_two(&a, &b);
    assert_ok(bly_filter_union(a, b));
    assert_int_equal(bly_filter_count(a), 8500 + 8000);
    assert_copies(a, 0, 2000, 2);
    assert_copies(a, 2000, 3000, 1);
    assert_copies(a, 3000, 3500, 4);
    assert_copies(a, 3500, 4000, 5);
    assert_copies(a, 4000, 6000, 2);
    assert_copies(a, 6000, 9000, 1);
    assert_ok(bly_filter_subtract(a, b));
    assert_int_equal(bly_filter_count(a), 8500);
    bly_filter_destroy(b);
    bly_filter *again;
    make_two(&again, &b);
    assert_true(bly_filter_equal(a, again) && bly_filter_equal(again, a));
    assert_ok(bly_filter_union(again, again));
    assert_false(bly_filter_equal(a, again));
    assert_copies(again, 0, 2000, 4);
    assert_ok(bly_filter_subtract(again, again));
    assert_true(all_zero(again) && bly_filter_count(again) == 0);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    bly_filter_destroy(again);
}

static void intersection_keeps_the_fewer(void **state) {
    bly_filter *a, *b;
    bly_overlap o;
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    make_two(&a, &b);
    assert_ok(bly_filter_overlap(a, b, &o));
    assert_true(o.a == 8500 && o.b == 8000 && fabs(o.both - 3500) < 0.1);
    assert_true(fabs(o.either - 13000) < 0.1 && fabs(o.jaccard - 3500.0 / 13000) < 1e-5);
    assert_ok(bly_filter_intersect(a, b));
    assert_int_equal(bly_filter_count(a), 3500);
    assert_copies(a, 0, 3000, 0);
    assert_copies(a, 3000, 3500, 1);
    assert_copies(a, 3500, 4000, 2);
    assert_copies(a, 4000, 6000, 1);
    assert_copies(a, 6000, 9000, 0);
    bly_filter_get_info(a, &s);
    assert_true(s.approximate && s.estimated_keys == 3500);
    assert_ok(bly_filter_intersect(b, b));
    assert_int_equal(bly_filter_count(b), 8000);
    bly_filter_clear(b);
    assert_ok(bly_filter_intersect(a, b));
    assert_true(all_zero(a));
    assert_ok(bly_filter_overlap(a, b, &o));
    assert_true(o.both == 0 && o.either == 0 && o.jaccard == 1);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

/* The estimate of the overlap is corrected for keys of one set that match the other by chance. */
static void overlap_is_not_biased(void **state) {
    (void)state;
    double sum = 0, seen = 0;
    for (unsigned seed = 1; seed <= 10; seed++) {
        bly_filter *a = cuckoo(20000, 0.01), *b = cuckoo(20000, 0.01);
        bly_overlap o;
        add_hashes(a, seed, 0, 20000);
        add_hashes(b, seed, 18000, 38000);
        assert_ok(bly_filter_overlap(a, b, &o));
        sum += o.both;
        assert_ok(bly_filter_intersect(a, b));
        seen += (double)bly_filter_count(a);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
    }
    double expected = 10 * 18000 * 0.0074; /* keys of one set that match the other by chance */
    assert_true(fabs(sum - 20000) < 5 * sqrt(expected));
    assert_true(seen > 20000 + expected / 2);
}

static void a_union_that_fails_changes_nothing(void **state) {
    (void)state;
    bly_filter *a = cuckoo(5000, 0.001), *b = cuckoo(5000, 0.001);
    add_hashes(a, 1, 0, 4000);
    add_hashes(b, 2, 0, 4000);
    uint8_t *kept = keep_body(a);
    assert_int_equal(bly_filter_union(a, b), BLY_EFULL);
    assert_body_is(a, kept);
    assert_int_equal(bly_filter_count(a), 4000);
    bly_filter_destroy(a);
    blyt_heap heap = {0};
    bly_allocator alloc = blyt_heap_allocator(&heap);
    assert_ok(bly_filter_clone(b, &alloc, &a));
    kept = keep_body(a);
    size_t made = heap.calls;
    for (size_t i = 1; i <= 2; i++) {
        heap.fail_at = heap.calls + i;
        assert_int_equal(bly_filter_union(a, b), BLY_ENOMEM);
        assert_int_equal(heap.live, made);
    }
    assert_body_is(a, kept);
    assert_null(bly_filter_why_not(BLY_OP_SUBTRACT, a, b));
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    assert_int_equal(heap.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(union_adds_copies),
        cmocka_unit_test(intersection_keeps_the_fewer),
        cmocka_unit_test(overlap_is_not_biased),
        cmocka_unit_test(a_union_that_fails_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
