/* Set operations on hybrid filters: union, intersection and difference equal filters that were
 * filled with the resulting counts, and a union that fails changes nothing. */
#include "hybrid_support.h"

/* How many copies of key k are in a, and below in b. All combinations of no, few and many copies
 * occur. */
static uint64_t in_a(uint64_t k) {
    static const uint64_t n[] = {0, 1, 5, 8, 9, 14, 15, 200};
    return n[k % 8];
}

static uint64_t in_b(uint64_t k) {
    static const uint64_t n[] = {0, 1, 6, 8, 13, 14, 15, 16, 300};
    return n[k / 8 % 9];
}

typedef uint64_t number_fn(uint64_t k);

static uint64_t in_both(uint64_t k) {
    return in_a(k) < in_b(k) ? in_a(k) : in_b(k);
}

static uint64_t in_sum(uint64_t k) {
    return in_a(k) + in_b(k);
}

static uint64_t in_difference(uint64_t k) {
    return in_a(k) - in_both(k);
}

enum { PAIRS = 3000 };

static bly_filter *filled(number_fn *number) {
    bly_filter *f = hybrid(PAIRS, 1e-7);
    for (uint64_t k = 0; k < PAIRS; k++)
        add_copies(f, 6, k, number(k));
    return f;
}

/* Asserts that the filter equals one that was filled with these counts, even if slots and places
 * are in another order. */
static void assert_is(bly_filter *f, number_fn *number) {
    bly_filter *want = filled(number);
    for (uint64_t k = 0; k < PAIRS; k++)
        assert_int_equal(copies_of(f, 6, k), number(k));
    assert_true(bly_filter_equal(f, want) && bly_filter_equal(want, f));
    assert_true(bly_filter_count(f) == bly_filter_count(want) && is_sound(f));
    add_copies(want, 6, 1, 1);
    assert_false(bly_filter_equal(f, want));
    remove_copies(want, 6, 1, 1);
    bly_filter_destroy(want);
}

static void combined_as_made_directly(void **state) {
    bly_filter *a = filled(in_a), *b = filled(in_b), *c;
    bly_overlap o;
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    assert_ok(bly_filter_compatible(a, b));
    assert_true(a->geometry.detail != b->geometry.detail);
    assert_ok(bly_filter_overlap(a, b, &o));
    assert_true(o.a == 2625 && fabs(o.b - 8.0 / 9 * PAIRS) < 8 &&
                fabs(o.both - 7.0 / 9 * PAIRS) < 8);
    assert_true(fabs(o.either - (o.a + o.b - o.both)) < 1e-6);
    assert_ok(bly_filter_clone(a, NULL, &c));
    assert_ok(bly_filter_union(c, b));
    assert_is(c, in_sum);
    assert_ok(bly_filter_subtract(c, b));
    assert_is(c, in_a);
    assert_ok(bly_filter_subtract(c, b));
    assert_is(c, in_difference);
    bly_filter_destroy(c);
    assert_ok(bly_filter_clone(a, NULL, &c));
    assert_ok(bly_filter_intersect(c, b));
    assert_is(c, in_both);
    bly_filter_get_info(c, &s);
    assert_true(s.approximate && s.estimated_keys == round(o.both));
    /* The result of combining a filter with an intersection is marked as an intersection, too. */
    for (int way = 0; way < 2; way++) {
        bly_filter *d = filled(in_sum);
        assert_ok(way ? bly_filter_union(d, c) : bly_filter_subtract(d, c));
        bly_filter_get_info(d, &s);
        assert_true(s.approximate);
        bly_filter_destroy(d);
    }
    bly_filter_destroy(c);
    /* Combines a filter with itself. */
    uint64_t count = bly_filter_count(a);
    assert_ok(bly_filter_intersect(a, a));
    assert_int_equal(bly_filter_count(a), count);
    assert_ok(bly_filter_union(a, a));
    assert_true(bly_filter_count(a) == 2 * count && copies_of(a, 6, 7) == 400);
    assert_ok(bly_filter_subtract(a, a));
    assert_true(all_zero(a) && bly_filter_count(a) == 0);
    assert_ok(bly_filter_intersect(b, a));
    assert_true(all_zero(b) && bly_filter_count(b) == 0);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

static void a_union_that_fails_changes_nothing(void **state) {
    bly_filter *a = hybrid(5000, 0.001), *b = hybrid(5000, 0.001);
    (void)state;
    add_hashes(a, 1, 0, 4000);
    add_hashes(b, 2, 0, 4000);
    for (uint64_t i = 0; i < 50; i++)
        add_copies(b, 2, i, 20);
    uint8_t *kept = keep_body(a);
    assert_int_equal(bly_filter_union(a, b), BLY_EFULL);
    assert_body_is(a, kept);
    assert_int_equal(bly_filter_count(a), 4000);
    bly_filter_destroy(a);
    /* Allocations fail: first that of the copy's handle, then that of its body, then those of
     * larger bodies. */
    blyt_heap heap = {0};
    bly_allocator alloc = blyt_heap_allocator(&heap);
    bly_spec spec = bly_spec_for(BLY_HYBRID, 5000, 0.001);
    spec.allocator = &alloc;
    assert_ok(bly_filter_create(&spec, &a));
    add_hashes(a, 2, 0, 1000);
    kept = keep_body(a);
    size_t live = heap.live, at = 1;
    for (;; at++) {
        heap.fail_at = heap.calls + at;
        bly_status status = bly_filter_union(a, b);
        heap.fail_at = 0;
        if (status == BLY_OK)
            break;
        assert_true(status == BLY_ENOMEM && heap.live == live);
        assert_true(bly_filter_count(a) == 1000 && a->geometry.detail == 0);
        assert_memory_equal(a->body, kept, (size_t)a->body_bytes);
    }
    free(kept);
    assert_true(at > 4 && bly_filter_count(a) == 1000 + 4000 + 1000 && copies_of(a, 2, 0) == 22);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    assert_int_equal(heap.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(combined_as_made_directly),
        cmocka_unit_test(a_union_that_fails_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
