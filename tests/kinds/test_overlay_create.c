/* Overlays with a base of their own: what such a base takes itself, and what it leaves to the keys
 * beside it. And what no overlay can be made of, or be asked for. */
#include "overlay_support.h"

static void created(void **state) {
    (void)state;
    const double rates[] = {0.01, 0.002, 0.0001};
    for (size_t r = 0; r < COUNT_OF(rates); r++) {
        bly_spec spec = bly_spec_for(BLY_OVERLAY, 5000, rates[r]);
        bly_filter *f, *plain;
        uint64_t deleted, added;
        assert_ok(bly_filter_create(&spec, &f));
        assert_int_equal(bly_filter_geometry(bly_overlay_base(f)).kind, bly_plan_layout(rates[r]));
        assert_int_equal(bly_filter_capacity(f), 5000);
        blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, 5000);
        blyt_add_all(f, &l);
        blyt_holds(f, &l);
        /* As long as nothing leaves, it is that filter. */
        spec.geometry.kind = bly_plan_layout(rates[r]);
        plain = blyt_filled(&spec, &l);
        assert_true(bly_filter_equal(bly_overlay_base(f), plain));
        assert_int_equal(bly_filter_count(f), bly_filter_count(plain));
        for (uint64_t i = 0; i < 5000; i += 10)
            assert_ok(take(f, i, NULL));
        assert_ok(bly_overlay_changes(f, &deleted, &added));
        assert_true(deleted == 500 && added == 0);
        assert_true(bly_filter_equal(bly_overlay_base(f), plain));
        for (uint64_t i = 0; i < 5000; i++)
            assert_int_equal(has(f, i), i % 10 != 0);
        for (uint64_t i = 0; i < 5000; i += 10)
            assert_ok(put(f, i, NULL));
        assert_ok(bly_overlay_changes(f, &deleted, &added));
        assert_true(deleted == 0 && added == 0);
        bly_filter_destroy(f);
        bly_filter_destroy(plain);
        blyt_list_free(&l);
    }
}

/* A base that is full sends what comes to the keys beside it. */
static void a_full_base(void **state) {
    (void)state;
    bly_spec spec = bly_spec_for(BLY_CUCKOO, 50, 0.001);
    bly_filter *base, *lent, *f;
    uint64_t deleted, added;
    bool fresh;
    assert_ok(bly_filter_create(&spec, &base));
    lent = over(base, 100, BLY_KIND_NONE);
    assert_ok(bly_filter_clone(lent, NULL, &f));
    for (uint64_t i = 0; i < 500; i++)
        assert_ok(put(f, i, &fresh));
    for (uint64_t i = 0; i < 500; i++)
        assert_true(has(f, i));
    assert_ok(bly_overlay_changes(f, &deleted, &added));
    assert_true(deleted == 0 && added > 350 && added < 450);
    assert_true(bly_filter_count(f) > 480 && bly_filter_count(f) <= 500);
    bly_filter_destroy(f);
    bly_filter_destroy(lent);
    bly_filter_destroy(base);
}

/* A window must not forget old keys for new ones that only an overlay knows. */
static void what_forgets_stands_still(void **state) {
    (void)state;
    bly_filter *base = base_of(BLY_WINDOW, 400, 0.001), *lent = over(base, 50, 0), *f;
    assert_ok(bly_filter_clone(lent, NULL, &f));
    for (uint64_t i = 1000; i < 3000; i++)
        assert_ok(put(f, i, NULL));
    for (uint64_t i = 0; i < 400; i++)
        assert_true(has(f, i));
    for (uint64_t i = 1000; i < 3000; i++)
        assert_true(has(f, i));
    assert_true(bly_filter_equal(bly_overlay_base(f), base));
    bly_filter_destroy(f);
    bly_filter_destroy(lent);
    bly_filter_destroy(base);
}

static void refusals(void **state) {
    (void)state;
    bly_filter *base = base_of(BLY_SBBF, 100, 0.01), *f = over(base, 0, 0), *g = over(base, 0, 0);
    bly_filter *out;
    bly_overlap o;
    const char *why = "an overlay's parts cannot be combined; rebuild from the keys";
    for (int op = BLY_OP_UNION; op <= BLY_OP_OVERLAP; op++)
        assert_string_equal(bly_filter_why_not((bly_operation)op, f, g), why);
    assert_int_equal(bly_filter_union(f, g), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_intersect(f, g), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_subtract(f, g), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_overlap(f, g, &o), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_fold(f, 2, NULL, &out), BLY_EUNSUPPORTED);
    assert_int_equal(bly_overlay_over(f, NULL, &out), BLY_EKIND);
    assert_null(out);
    assert_int_equal(bly_filter_levels(f), 1);
    assert_ptr_equal(bly_filter_level(f, 0), f);
    uint64_t deleted = 5, added = 6;
    assert_int_equal(bly_overlay_changes(base, &deleted, &added), BLY_EKIND);
    assert_true(deleted == 5 && added == 6);
    assert_null(bly_overlay_base(base));
    assert_true(bly_overlay_miss_bound(base) == 0);

    bly_spec spec = {.marker = BLY_SBBF};
    assert_int_equal(bly_overlay_over(base, &spec, &out), BLY_EINVAL);
    spec = (bly_spec){.changes = UINT64_MAX};
    assert_int_equal(bly_overlay_over(base, &spec, &out), BLY_ETOOBIG);
    spec = (bly_spec){.changes = UINT64_C(1) << 40};
    assert_int_equal(bly_overlay_over(base, &spec, &out), BLY_ETOOBIG);
    spec = bly_spec_for(BLY_OVERLAY, 100, 0.01);
    spec.sharing = BLY_SHARED;
    assert_int_equal(bly_filter_create(&spec, &out), BLY_EUNSUPPORTED);
    spec = bly_spec_for(BLY_OVERLAY, 100, 0.01);
    spec.geometry.options = BLY_FOLDABLE;
    assert_int_equal(bly_filter_create(&spec, &out), BLY_EINVAL);
    spec = bly_spec_for(BLY_OVERLAY, 100, 0.01);
    spec.geometry.size = 1024;
    spec.geometry.hashes = 2;
    assert_int_equal(bly_filter_create(&spec, &out), BLY_EGEOMETRY);
    spec = bly_spec_for(BLY_OVERLAY, 0, 0.01);
    assert_int_equal(bly_filter_create(&spec, &out), BLY_ECOUNT);
    spec = bly_spec_for(BLY_OVERLAY, 10, 0);
    assert_int_equal(bly_filter_create(&spec, &out), BLY_ERATE);
    bly_geometry plan;
    assert_int_equal(bly_plan(BLY_OVERLAY, 100, 0.01, 0, 64, &plan), BLY_EKIND);
    plan = bly_filter_geometry(f);
    assert_ok(bly_plan_check(&plan));
    assert_true(bly_plan_fpr(&plan, 10, 64) == 1 && bly_plan_capacity(&plan, 0.5, 64) == 0);
    assert_true(bly_plan_fill(&plan, 10) == 0 && isinf(bly_plan_keys(&plan, 10)));
    bly_filter_destroy(f);
    bly_filter_destroy(g);
    bly_filter_destroy(base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(created),
        cmocka_unit_test(a_full_base),
        cmocka_unit_test(what_forgets_stands_still),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
