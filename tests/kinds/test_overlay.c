/* The overlay: sets over filters that cannot be changed, or not so, whether the base is lent or its
 * own. test_overlay_create.c has bases of its own and what is refused, test_overlay_rates.c the
 * misses it admits to, test_overlay_room.c room and its end, test_overlay_files.c files. */
#include "overlay_support.h"

static const bly_kind markers[] = {BLY_KIND_NONE, BLY_CUCKOO, BLY_CLASSIC};

/* ---- sets ------------------------------------------------------------------------------------ */

/* Over any base, lent: exactly what the base said at first and the program did. The base is not
 * changed. Then over a copy of its own. */
static void program_over(bly_kind kind, bly_kind marker, size_t steps) {
    bly_filter *base = base_of(kind, 600, 0.02), *copy;
    blyt_buffer before = blyt_write(base);
    bly_filter *f = over(base, room_for(1000, marker), marker);
    truth t = truth_of(base, 1000, OUT);
    assert_truth(f, &t);
    assert_int_equal(bly_filter_count(f), bly_filter_count(base));
    run(f, &t, kind, steps);
    assert_truth(f, &t);
    assert_bytes(base, before);
    assert_ptr_equal(bly_overlay_base(f), base);

    assert_ok(bly_filter_clone(f, NULL, &copy));
    assert_true(bly_filter_equal(f, copy));
    bly_filter_destroy(f);
    bly_filter_destroy(base);
    assert_truth(copy, &t);
    t.sure = IN;
    run(copy, &t, kind + 100, steps);
    assert_truth(copy, &t);
    bly_filter_destroy(copy);
    free(before.data);
    free(t.is);
}

static void a_set_over_every_kind(void **state) {
    (void)state;
    FOR_EACH_BASE(kind)
    for (size_t m = 0; m < COUNT_OF(markers); m++)
        program_over(kind, markers[m], 4000 / BLYT_SLOW);
}

/* The same, longer, with growth: tables made for far fewer keys than change. */
static void a_long_program(void **state) {
    (void)state;
    size_t steps = getenv("BLOOMERY_LONG") ? 10000000 : 200000 / BLYT_SLOW;
    bly_filter *base = base_of(BLY_FUSE, 20000, 0.01), *own;
    bly_filter *f = over(base, 500, BLY_KIND_NONE);
    truth t = truth_of(base, 30000, OUT);
    run(f, &t, 11, steps);
    assert_truth(f, &t);
    bly_filter_destroy(f);
    bly_filter_destroy(base);
    free(t.is);

    bly_spec spec = bly_spec_for(BLY_OVERLAY, 30000, 0.01);
    spec.changes = 500;
    assert_ok(bly_filter_create(&spec, &own));
    t = truth_of(own, 30000, GONE);
    run(own, &t, 12, steps);
    assert_truth(own, &t);
    bly_filter_destroy(own);
    free(t.is);
}

/* Copies collapse; what changes nothing changes no byte. */
static void once_is_enough(void **state) {
    (void)state;
    FOR_EACH_BASE(kind) {
        bly_filter *base = base_of(kind, 100, 1e-6), *own, *f[2] = {over(base, 50, 0), NULL};
        bool changed;
        assert_ok(bly_filter_clone(f[0], NULL, &own));
        f[1] = own;
        for (int which = 0; which < 2; which++) {
            blyt_buffer now = blyt_write(f[which]);
            assert_ok(put(f[which], 99, &changed)); /* the last key: there in lossy kinds, too */
            assert_false(changed);
            assert_ok(take(f[which], 1000, &changed));
            assert_false(changed);
            assert_bytes(f[which], now);
            free(now.data);
            for (int i = 0; i < 3; i++)
                assert_ok(put(f[which], 1000, &changed));
            assert_false(changed);
            assert_ok(take(f[which], 1000, &changed));
            assert_true(changed && !has(f[which], 1000));
            now = blyt_write(f[which]);
            assert_ok(take(f[which], 1000, &changed));
            assert_false(changed);
            assert_bytes(f[which], now);
            free(now.data);
        }
        bly_filter_destroy(own);
        bly_filter_destroy(f[0]);
        bly_filter_destroy(base);
    }
}

/* Over a base that cannot be changed, everything that came or went comes back to the same bytes of
 * deleted and added keys as if it had never: one entry per class, put in and taken out. */
static void back_to_nothing(void **state) {
    (void)state;
    bly_filter *base = base_of(BLY_RIBBON, 3000, 0.01);
    bly_filter *f = over(base, 4000, BLY_KIND_NONE), *g = over(base, 4000, BLY_KIND_NONE);
    uint64_t deleted, added;
    bool changed;
    for (uint64_t i = 0; i < 3000; i++)
        assert_ok(take(f, i, NULL));
    for (uint64_t i = 10000; i < 13000; i++)
        assert_ok(put(f, i, NULL));
    assert_ok(bly_overlay_changes(f, &deleted, &added));
    assert_int_equal(deleted, 3000);
    assert_true(added > 2800 && added < 3000); /* the others are false positives of the base */
    for (uint64_t i = 0; i < 3000; i++)
        assert_ok(put(f, i, NULL));
    for (uint64_t i = 10000; i < 13000; i++) {
        assert_ok(take(f, i, &changed));
        assert_true(changed);
    }
    assert_ok(bly_overlay_changes(f, &deleted, &added));
    assert_true(added == 0 && deleted > 0 && deleted < 200); /* those false positives */
    for (uint64_t i = 10000; i < 13000; i++)
        assert_int_equal(has(f, i), false);
    for (uint64_t i = 10000; i < 13000; i++)
        if (has(base, i))
            assert_ok(put(f, i, NULL));
    assert_ok(put(g, 10000, NULL)); /* so that it has the third part too */
    assert_ok(take(g, 10000, NULL));
    assert_ok(put(g, 10000, NULL));
    assert_ok(take(g, 10000, NULL));
    assert_true(bly_filter_equal(f, g));
    assert_int_equal(bly_filter_count(f), 3000);
    bly_filter_destroy(f);
    bly_filter_destroy(g);
    bly_filter_destroy(base);
}

/* Removing strangers that look present takes nothing from those that are: here one key in five
 * looks present, in a cuckoo filter, which does not get worse than that, one in 35. (In a cuckoo
 * filter itself this loses keys.) */
static void strangers_do_no_harm(void **state) {
    (void)state;
    const bly_kind kinds[] = {BLY_CUCKOO, BLY_SBBF, BLY_FUSE};
    const size_t n = 20000, strangers = 200000 / BLYT_SLOW;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        bly_filter *base = base_of(kinds[k], n, 0.2), *f = over(base, 1000, BLY_KIND_NONE);
        size_t removed = 0;
        bool was;
        for (uint64_t i = n; i < n + strangers; i++) {
            assert_ok(take(f, i, &was));
            removed += was;
            assert_false(has(f, i));
        }
        assert_true(removed > strangers / (kinds[k] == BLY_CUCKOO ? 50 : 20));
        for (uint64_t i = 0; i < n; i++)
            assert_true(has(f, i));
        bly_stats s;
        bly_filter_stats(f, &s);
        uint64_t counted = bly_filter_count(base);
        assert_int_equal(s.count, removed < counted ? counted - removed : 0);
        bly_filter_destroy(f);
        bly_filter_destroy(base);
    }
}

/* Batches are single calls in order, before and after the first change. */
static void batches(void **state) {
    (void)state;
    FOR_EACH_BASE(kind)
    for (size_t m = 0; m < COUNT_OF(markers); m++) {
        bly_filter *base = base_of(kind, 300, 0.01), *lent = over(base, 600, markers[m]), *a, *b;
        assert_ok(bly_filter_clone(lent, NULL, &a)); /* one of its own, where it can be added to */
        assert_ok(bly_filter_clone(lent, NULL, &b));
        bly_filter *pairs[][2] = {{lent, over(base, 600, markers[m])}, {a, b}};
        uint8_t told[400];
        for (size_t p = 0; p < 2; p++) {
            bly_filter *x = pairs[p][0], *y = pairs[p][1];
            for (int turn = 0; turn < 6; turn++) {
                blyt_list l = blyt_list_of(KEYS_DECIMAL, (uint64_t)(turn * 97), 350);
                bly_tally tally;
                bool one;
                size_t fresh = 0;
                for (size_t i = 5; i < l.n; i += 5)
                    l.keys[i] = l.keys[i / 2];
                assert_ok(turn % 2 ? bly_filter_remove_many(x, l.keys, l.n, told, &tally)
                                   : bly_filter_add_many(x, l.keys, l.n, told, &tally));
                for (size_t i = 0; i < l.n; i++) {
                    assert_ok(turn % 2 ? bly_filter_remove(y, l.keys[i].data, l.keys[i].size, &one)
                                       : bly_filter_add(y, l.keys[i].data, l.keys[i].size, &one));
                    assert_int_equal(told[i], one);
                    fresh += one;
                }
                assert_true(tally.done == l.n && tally.fresh == fresh);
                assert_true(bly_filter_equal(x, y));
                assert_int_equal(bly_filter_count(x), bly_filter_count(y));
                blyt_list_free(&l);
            }
            bly_filter_destroy(x);
            bly_filter_destroy(y);
        }
        bly_filter_destroy(base);
    }
}

/* ---- clear ----------------------------------------------------------------------------------- */

static void cleared(void **state) {
    (void)state;
    FOR_EACH_BASE(kind) {
        bly_filter *base = base_of(kind, 300, 0.01), *lent = over(base, 100, 0), *own;
        blyt_buffer before = blyt_write(base);
        for (uint64_t i = 0; i < 400; i += 3)
            assert_ok(i < 300 ? take(lent, i, NULL) : put(lent, i, NULL));
        assert_ok(bly_filter_clone(lent, NULL, &own));
        bly_filter *both[] = {lent, own};
        for (int which = 0; which < 2; which++) {
            bly_filter *f = both[which], *copy;
            bly_filter_clear(f);
            assert_int_equal(bly_filter_count(f), 0);
            bly_stats s;
            bly_filter_stats(f, &s);
            assert_true(s.current_fpr < 1e-9 || kind == BLY_STABLE);
            truth t = truth_of(f, 600, f == lent ? OUT : IN);
            for (size_t i = 0; i < t.n; i++)
                assert_int_equal(t.is[i], OUT);
            run(f, &t, 5, 500);
            assert_truth(f, &t);
            assert_ok(bly_filter_clone(f, NULL, &copy));
            assert_true(bly_filter_equal(f, copy));
            assert_truth(copy, &t);
            bly_filter_clear(copy); /* its own base by now */
            assert_int_equal(bly_filter_geometry(copy).detail, 0);
            assert_int_equal(bly_filter_count(copy), 0);
            bly_filter_destroy(copy);
            free(t.is);
        }
        assert_bytes(base, before);
        free(before.data);
        bly_filter_destroy(lent);
        bly_filter_destroy(own);
        bly_filter_destroy(base);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_over_every_kind),
        cmocka_unit_test(a_long_program),
        cmocka_unit_test(once_is_enough),
        cmocka_unit_test(back_to_nothing),
        cmocka_unit_test(strangers_do_no_harm),
        cmocka_unit_test(batches),
        cmocka_unit_test(cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
