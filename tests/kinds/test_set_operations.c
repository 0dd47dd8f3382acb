/* Set operations: union, difference, intersection, overlap and folding, for every kind and probe
 * sequence, and a reason for everything that is refused. */
#include "support.h"

#include "filter/filter.h"

#include <math.h>

/* Asserts that two filters are equal bit for bit if the keys alone determine the bits, otherwise
 * that their answers and counts are equal. Only the union of two sketches of counts may have higher
 * counts than one sketch of all keys. */
static void assert_alike(const blyt_case *c, const bly_filter *a, const bly_filter *b) {
    blyt_list l = blyt_list_of(KEYS_LITTLE, 0, 20000);
    uint8_t in_a[20000], in_b[20000];
    bool roughly = blyt_can(c, BLY_CAN_COUNT) && !blyt_stores_copies(c);
    if (blyt_is_canonical(c))
        assert_true(bly_filter_equal(a, b));
    (void)bly_filter_contains_many(a, l.keys, l.n, in_a);
    (void)bly_filter_contains_many(b, l.keys, l.n, in_b);
    assert_memory_equal(in_a, in_b, l.n);
    for (size_t i = 0; i < l.n; i += 7) {
        uint64_t of_a = bly_filter_copies(a, l.keys[i].data, l.keys[i].size);
        uint64_t of_b = bly_filter_copies(b, l.keys[i].data, l.keys[i].size);
        assert_true(roughly ? of_a >= of_b : of_a == of_b);
    }
    blyt_list_free(&l);
}

static uint64_t stuck_in(const bly_filter *f) {
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(f, &s);
    return s.stuck;
}

static void union_is_the_filter_of_the_union(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_CAN_UNION))
            continue;
        bly_filter *a = blyt_create(c, 4000, 0.01, 1), *b = blyt_create(c, 4000, 0.01, 1);
        bly_filter *both = blyt_create(c, 4000, 0.01, 1);
        blyt_list la = blyt_list_of(KEYS_LITTLE, 0, 2000),
                  lb = blyt_list_of(KEYS_LITTLE, 1500, 2000);
        blyt_add_all(a, &la);
        blyt_add_all(b, &lb);
        blyt_add_all(both, &la);
        blyt_add_all(both, &lb);
        assert_ok(bly_filter_union(a, b));
        blyt_assert_contains(a, &la);
        blyt_assert_contains(a, &lb);
        if (!blyt_can(c, BLY_FORGETS))
            assert_alike(c, a, both);
        /* Kinds that count copies count those of both filters; windows count the larger one of each
         * pair of generations. */
        double want = blyt_can(c, BLY_CAN_COUNT) ? 4000 : blyt_can(c, BLY_FORGETS) ? 2000 : 3500;
        assert_true(fabs((double)bly_filter_count(a) / want - 1) < 0.02);
        blyt_list_free(&la);
        blyt_list_free(&lb);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
        bly_filter_destroy(both);
    }
}

/* Subtracting a filter undoes the union with it: the answers are the same as before. If counters
 * are stuck (often with two bits, rarely with a limit of eight), the result must only contain all
 * members. */
static void difference_undoes_the_union(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_CAN_SUBTRACT))
            continue;
        bly_filter *a = blyt_create(c, 4000, 0.01, 1), *b = blyt_create(c, 4000, 0.01, 1);
        bly_filter *only = blyt_create(c, 4000, 0.01, 1), *empty = blyt_create(c, 4000, 0.01, 1);
        blyt_list la = blyt_list_of(KEYS_LITTLE, 0, 2000),
                  lb = blyt_list_of(KEYS_LITTLE, 1500, 2000);
        blyt_add_all(a, &la);
        blyt_add_all(only, &la);
        blyt_add_all(b, &lb);
        assert_ok(bly_filter_union(a, b));
        bool stuck = stuck_in(a) > 0;
        assert_true(stuck_in(a) <= (blyt_limit(c) == 3 ? 4000 : blyt_limit(c) == 8 ? 3 : 0));
        assert_ok(bly_filter_subtract(a, b));
        assert_int_equal(bly_filter_count(a), 2000);
        blyt_assert_contains(a, &la);
        if (!stuck)
            assert_alike(c, a, only);
        assert_ok(bly_filter_subtract(a, only));
        assert_int_equal(bly_filter_count(a), 0);
        if (!stuck)
            assert_alike(c, a, empty);
        assert_ok(bly_filter_subtract(a, b)); /* non-members are not subtracted */
        assert_int_equal(bly_filter_count(a), 0);
        if (!stuck)
            assert_alike(c, a, empty);
        blyt_list_free(&la);
        blyt_list_free(&lb);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
        bly_filter_destroy(only);
        bly_filter_destroy(empty);
    }
}

/* ---- what cannot be done --------------------------------------------------------------------- */

static const uint32_t needs[] = {
    [BLY_OP_UNION] = BLY_CAN_UNION,
    [BLY_OP_INTERSECT] = BLY_CAN_INTERSECT,
    [BLY_OP_SUBTRACT] = BLY_CAN_SUBTRACT,
    [BLY_OP_OVERLAP] = BLY_CAN_OVERLAP,
};

static bly_status perform(bly_operation op, bly_filter *a, const bly_filter *b) {
    bly_overlap o;
    switch (op) {
    case BLY_OP_UNION:
        return bly_filter_union(a, b);
    case BLY_OP_INTERSECT:
        return bly_filter_intersect(a, b);
    case BLY_OP_SUBTRACT:
        return bly_filter_subtract(a, b);
    default:
        return bly_filter_overlap(a, b, &o);
    }
}

/* Asserts that every operation on the two filters is either accepted, without a reason against it,
 * or refused with a reason and without changes. */
static void accepted_or_explained(const blyt_case *c, const bly_filter *a, const bly_filter *b) {
    for (int op = BLY_OP_UNION; op <= BLY_OP_OVERLAP; op++) {
        bly_filter *copy = NULL;
        assert_ok(bly_filter_clone(a, NULL, &copy));
        const char *reason = bly_filter_why_not((bly_operation)op, a, b);
        bly_status status = perform((bly_operation)op, copy, b), want = BLY_OK;
        if (!blyt_can(c, needs[op]))
            want = BLY_EUNSUPPORTED;
        else if (bly_filter_compatible(a, b) != BLY_OK)
            want = BLY_EMISMATCH;
        /* Whether there is room shows only when the operation is tried. */
        if (status == BLY_EFULL && blyt_can(c, BLY_CAN_REMOVE))
            want = BLY_EFULL;
        assert_int_equal(status, want);
        assert_int_equal(reason == NULL, status == BLY_OK || status == BLY_EFULL);
        if (status != BLY_OK) {
            assert_true(!reason || strlen(reason) > 15);
            assert_true(bly_filter_equal(copy, a));
            assert_int_equal(bly_filter_count(copy), bly_filter_count(a));
        }
        bly_filter_destroy(copy);
    }
}

/* For every pair of kinds, with equal and different sizes and seeds. */
static void what_cannot_be_done_is_explained(void **state) {
    blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, 100);
    (void)state;
    FOR_EACH_CASE(c) {
        bly_filter *a = blyt_full(c, 0.01, 1, &l);
        FOR_EACH_CASE(d)
        for (int other = 0; other < 8; other++) {
            bly_spec spec = blyt_spec(d, other & 1 ? 100 : 1000, other & 2 ? 0.01 : 0.001);
            spec.seed = other & 4 ? 1 : 2;
            bly_filter *b = blyt_filled(&spec, &l);
            accepted_or_explained(c, a, b);
            bly_filter_destroy(b);
        }
        accepted_or_explained(c, a, a);
        bly_filter_destroy(a);
    }
    blyt_list_free(&l);
    FOR_EACH_CASE(c) {
        bly_filter *a = blyt_create(c, 100, 0.01, 1);
        assert_non_null(bly_filter_why_not((bly_operation)77, a, a));
        bly_filter_destroy(a);
    }
}

/* Operations that a kind does not support are refused, and change nothing. */
static void what_cannot_be_done_is_refused(void **state) {
    blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, 100);
    (void)state;
    FOR_EACH_CASE(c) {
        bly_filter *a = blyt_full(c, 0.01, 1, &l), *copy = NULL, *out = a;
        bly_overlap o = {.a = 7};
        assert_ok(bly_filter_clone(a, NULL, &copy));
        if (!blyt_can(c, BLY_CAN_OVERLAP))
            assert_int_equal(bly_filter_overlap(a, copy, &o), BLY_EUNSUPPORTED);
        if (!blyt_can(c, BLY_CAN_FOLD)) {
            assert_int_equal(bly_filter_fold(a, 1, NULL, &out), BLY_EUNSUPPORTED);
            assert_null(out);
            assert_int_equal(bly_filter_best_fold(a, 0.5), 1);
        }
        assert_true(blyt_can(c, BLY_CAN_OVERLAP) || o.a == 7);
        assert_true(bly_filter_equal(a, copy));
        assert_int_equal(bly_filter_count(a), bly_filter_count(copy));
        bly_filter_destroy(a);
        bly_filter_destroy(copy);
    }
    blyt_list_free(&l);
}

/* ---- intersection and overlap ---------------------------------------------------------------- */

/* An intersection contains the common keys, no key that is missing in either operand, and is marked
 * as an intersection. */
static void intersection_keeps_the_common_keys(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_CAN_INTERSECT))
            continue;
        bly_filter *a = blyt_create(c, 4000, 0.01, 1), *b = blyt_create(c, 4000, 0.01, 1);
        bly_filter *before = NULL;
        blyt_list la = blyt_list_of(KEYS_LITTLE, 0, 3000),
                  lb = blyt_list_of(KEYS_LITTLE, 2000, 2000);
        bly_filter_info s = {.struct_size = sizeof s};
        blyt_add_all(a, &la);
        blyt_add_all(b, &lb);
        assert_ok(bly_filter_clone(a, NULL, &before));
        assert_ok(bly_filter_intersect(a, b));
        for (uint64_t i = 0; i < 20000; i++) {
            char key[BLYT_KEY_MAX];
            size_t len = blyt_key(KEYS_LITTLE, i, key);
            bool now = bly_filter_contains(a, key, len);
            if (i >= 2000 && i < 3000)
                assert_true(now);
            if (now)
                assert_true(bly_filter_contains(before, key, len) &&
                            bly_filter_contains(b, key, len));
        }
        bly_filter_get_info(a, &s);
        assert_true(s.approximate);
        assert_true(fabs((double)s.count - 1000) < 150);
        bly_filter_clear(a);
        bly_filter_get_info(a, &s);
        assert_false(s.approximate);
        blyt_list_free(&la);
        blyt_list_free(&lb);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
        bly_filter_destroy(before);
    }
}

static void overlap_estimates(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_CAN_OVERLAP))
            continue;
        bly_filter *a = blyt_create(c, 100000, 0.01, 1), *b = blyt_create(c, 100000, 0.01, 1);
        bly_overlap o;
        assert_ok(bly_filter_overlap(a, b, &o));
        assert_true(o.a == 0 && o.b == 0 && o.both == 0 && o.either == 0 && o.jaccard == 1);
        blyt_list la = blyt_list_of(KEYS_RANDOM, 0, 60000),
                  lb = blyt_list_of(KEYS_RANDOM, 40000, 50000);
        blyt_add_all(a, &la);
        blyt_add_all(b, &lb);
        /* Kinds that only count are planned for an error of 1%. Five of these are tolerated, and
         * more for the common keys, which are estimated by a difference. */
        double more = blyt_can(c, BLY_CARDINALITY_ONLY) ? 5 : 1, room = 0.01 * more;
        assert_ok(bly_filter_overlap(a, b, &o));
        assert_true(fabs(o.a / 60000 - 1) < room && fabs(o.b / 50000 - 1) < room);
        assert_true(fabs(o.either / 90000 - 1) < room && fabs(o.both / 20000 - 1) < 5 * room);
        assert_true(fabs(o.jaccard - 20.0 / 90) < room);
        assert_ok(bly_filter_overlap(a, a, &o));
        assert_true(o.jaccard > 0.9999);
        blyt_list_free(&la);
        blyt_list_free(&lb);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
    }
}

/* Filter a has one half of all bits, b the other half. Their union is full, but they have nothing
 * in common: the overlap must not be that of two equal sets. */
static void overlap_of_a_full_union(void **state) {
    bly_filter *a = NULL, *b = NULL;
    bly_overlap o;
    (void)state;
    assert_ok(blyt_new_exact(BLY_CLASSIC, 1024, 4, &a));
    assert_ok(blyt_new_exact(BLY_CLASSIC, 1024, 4, &b));
    memset(a->body, 0x0f, a->body_bytes);
    memset(b->body, 0xf0, b->body_bytes);
    assert_ok(bly_filter_overlap(a, b, &o));
    assert_true(isinf(o.either) && o.both == 0 && o.jaccard == 0 && o.a == o.b && o.a > 100);
    assert_ok(bly_filter_intersect(a, b));
    assert_int_equal(bly_filter_count(a), 0);
    memset(a->body, 0xff, a->body_bytes);
    assert_int_equal(bly_filter_best_fold(b, NAN), 1);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

/* For every divisor d, folding by d gives the filter that is built with a d-th of the size. */
static void fold_equals_building_small(void **state) {
    static const uint64_t divisors[] = {1, 2, 3, 4, 6, 8, 12};
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_CAN_FOLD))
            continue;
        bly_spec spec = blyt_spec(c, 0, 0);
        uint32_t k = c->kind == BLY_BB2X512 ? 6 : 8;
        spec.geometry = (bly_geometry){c->kind, k, 24 * 64, c->options};
        blyt_list l = blyt_list_of(KEYS_URL, 0, 500);
        for (size_t i = 0; i < COUNT_OF(divisors); i++) {
            bly_filter *large = NULL, *small = NULL, *folded = NULL;
            spec.geometry.size = 24 * 64;
            assert_ok(bly_filter_create(&spec, &large));
            spec.geometry.size /= divisors[i];
            assert_ok(bly_filter_create(&spec, &small));
            blyt_add_all(large, &l);
            blyt_add_all(small, &l);
            assert_ok(bly_filter_fold(large, divisors[i], NULL, &folded));
            assert_true(bly_filter_equal(folded, small));
            assert_int_equal(bly_filter_contains_many(folded, l.keys, l.n, NULL), l.n);
            bly_filter_destroy(large);
            bly_filter_destroy(small);
            bly_filter_destroy(folded);
        }
        blyt_list_free(&l);
    }
}

static void fold_refusals_and_best_fold(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_CAN_FOLD))
            continue;
        bly_spec spec = blyt_foldable(c, 100000, 0.01);
        bly_filter *f = NULL, *out = (bly_filter *)&spec;
        assert_ok(bly_filter_create(&spec, &f));
        uint64_t size = bly_filter_geometry(f).size;
        assert_int_equal(bly_filter_fold(f, 0, NULL, &out), BLY_EGEOMETRY);
        assert_null(out);
        assert_int_equal(bly_filter_fold(f, size * 2, NULL, &out), BLY_EGEOMETRY);
        blyt_list l = blyt_list_of(KEYS_RANDOM, 0, 10000);
        blyt_add_all(f, &l);
        uint64_t divisor = bly_filter_best_fold(f, 0.01);
        assert_int_equal(divisor, 8);
        assert_ok(bly_filter_fold(f, divisor, NULL, &out));
        assert_true(bly_filter_capacity(out) >= 100000 / 8);
        assert_true(bly_filter_capacity(out) < 100000 / 7);
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(out, &s);
        assert_true(s.current_fpr < 0.01 && s.current_fpr > 0.001);
        assert_int_equal(bly_filter_contains_many(out, l.keys, l.n, NULL), l.n);
        blyt_list_free(&l);
        bly_filter_destroy(f);
        bly_filter_destroy(out);
    }
}

/* Filters that differ in any way are not combined, and stay unchanged. */
static void mismatches_are_refused(void **state) {
    blyt_list none = {0}, l = blyt_list_of(KEYS_DECIMAL, 0, 500);
    (void)state;
    FOR_EACH_CASE(c) {
        const size_t number = (size_t)(c - blyt_case_at(0));
        const blyt_case *next = blyt_case_at(number + 1) ? c + 1 : c - 1;
        bly_filter *f = blyt_create(c, 1000, 0.01, 0), *other[5] = {0}, *copy = NULL;
        bly_spec spec = blyt_spec(c, 1000, 0.01);
        assert_ok(bly_filter_clone(f, NULL, &copy));
        other[0] = blyt_create(c, 1000, 0.01, 1);
        l.n = 500;
        other[1] = blyt_full(c, 0.001, 0, &l);
        other[2] = blyt_create(blyt_case_at(number == 0), 1000, 0.01, 0);
        other[4] = blyt_create(next, 1000, 0.01, 0);
        assert_ok(bly_hasher_init(&spec.hasher, BLY_HASH_XXH64, 0));
        other[3] = blyt_filled(&spec, &none);
        for (size_t i = 0; i < COUNT_OF(other); i++) {
            if (bly_kind_capabilities(bly_filter_geometry(other[i]).kind) & BLY_CAN_ADD)
                assert_ok(bly_filter_add(other[i], "x", 1, NULL));
            assert_int_equal(bly_filter_compatible(f, other[i]), BLY_EMISMATCH);
            assert_false(bly_filter_equal(f, other[i]));
            accepted_or_explained(c, f, other[i]);
            bly_filter_destroy(other[i]);
        }
        assert_true(bly_filter_equal(f, copy));
        bly_filter_destroy(f);
        bly_filter_destroy(copy);
    }
    blyt_list_free(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(union_is_the_filter_of_the_union),
        cmocka_unit_test(difference_undoes_the_union),
        cmocka_unit_test(what_cannot_be_done_is_explained),
        cmocka_unit_test(what_cannot_be_done_is_refused),
        cmocka_unit_test(intersection_keeps_the_common_keys),
        cmocka_unit_test(overlap_estimates),
        cmocka_unit_test(overlap_of_a_full_union),
        cmocka_unit_test(fold_equals_building_small),
        cmocka_unit_test(fold_refusals_and_best_fold),
        cmocka_unit_test(mismatches_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
