/* The overlay: a set over a borrowed or owned filter that cannot be changed, or does not support
 * every change. Tests how far it grows, and what it refuses. test_overlay_rates.c tests the misses
 * that it reports, test_overlay_files.c tests files. */
#include "overlay_support.h"

#include "kinds/cuckoo/cuckoo_layout.h"
#include "kinds/overlay/overlay_layout.h"

static const bly_kind markers[] = {BLY_KIND_NONE, BLY_CUCKOO, BLY_CLASSIC};

/* ---- sets ------------------------------------------------------------------------------------ */

/* Runs random steps on an overlay over a borrowed base. The overlay has exactly the keys of the
 * base and the changes, and the base does not change. Then does the same with a clone, which owns
 * its base. */
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

/* Runs more steps. The tables are planned for far fewer changes, so they must grow. */
static void a_long_program(void **state) {
    (void)state;
    size_t steps = blyt_long() ? 10000000 : 200000 / BLYT_SLOW;
    bly_filter *base = base_of(BLY_FUSE, 20000, 0.01), *own;
    bly_filter *f = over(base, 500, BLY_KIND_NONE);
    truth t = truth_of(base, 30000, OUT);
    run(f, &t, 11, steps);
    assert_truth(f, &t);
    bly_filter_destroy(f);
    bly_filter_destroy(base);
    free(t.is);

    bly_spec spec = bly_spec_for(BLY_OVERLAY, 30000, 0.01);
    spec.overlay.changes = 500;
    assert_ok(bly_filter_create(&spec, &own));
    t = truth_of(own, 30000, GONE);
    run(own, &t, 12, steps);
    assert_truth(own, &t);
    bly_filter_destroy(own);
    free(t.is);
}

/* Copies are not counted: adding a member again, or removing a non-member, changes no byte. */
static void once_is_enough(void **state) {
    (void)state;
    FOR_EACH_BASE(kind) {
        bly_filter *base = base_of(kind, 100, 1e-6), *own, *f[2] = {over(base, 50, 0), NULL};
        bool changed;
        assert_ok(bly_filter_clone(f[0], NULL, &own));
        f[1] = own;
        for (int which = 0; which < 2; which++) {
            blyt_buffer now = blyt_write(f[which]);
            assert_ok(add_key(f[which], 99, &changed)); /* the last key of the base */
            assert_false(changed);
            assert_ok(remove_key(f[which], 1000, &changed));
            assert_false(changed);
            assert_bytes(f[which], now);
            free(now.data);
            for (int i = 0; i < 3; i++)
                assert_ok(add_key(f[which], 1000, &changed));
            assert_false(changed);
            assert_ok(remove_key(f[which], 1000, &changed));
            assert_true(changed && !contains_key(f[which], 1000));
            now = blyt_write(f[which]);
            assert_ok(remove_key(f[which], 1000, &changed));
            assert_false(changed);
            assert_bytes(f[which], now);
            free(now.data);
        }
        bly_filter_destroy(own);
        bly_filter_destroy(f[0]);
        bly_filter_destroy(base);
    }
}

/* Over a base that cannot be changed, undoing all changes gives the same bytes as if they had never
 * been made, because the tables have one entry per class of keys. */
static void back_to_nothing(void **state) {
    (void)state;
    bly_filter *base = base_of(BLY_RIBBON, 3000, 0.01);
    bly_filter *f = over(base, 4000, BLY_KIND_NONE), *g = over(base, 4000, BLY_KIND_NONE);
    bool changed;
    for (uint64_t i = 0; i < 3000; i++)
        assert_ok(remove_key(f, i, NULL));
    for (uint64_t i = 10000; i < 13000; i++)
        assert_ok(add_key(f, i, NULL));
    bly_overlay_info now = blyt_changes(f);
    assert_int_equal(now.deleted, 3000);
    assert_true(now.added > 2800 &&
                now.added < 3000); /* the rest are false positives of the base */
    for (uint64_t i = 0; i < 3000; i++)
        assert_ok(add_key(f, i, NULL));
    for (uint64_t i = 10000; i < 13000; i++) {
        assert_ok(remove_key(f, i, &changed));
        assert_true(changed);
    }
    now = blyt_changes(f);
    /* These are false positives of the base that were removed. */
    assert_true(now.added == 0 && now.deleted > 0 && now.deleted < 200);
    for (uint64_t i = 10000; i < 13000; i++)
        assert_int_equal(contains_key(f, i), false);
    for (uint64_t i = 10000; i < 13000; i++)
        if (contains_key(base, i))
            assert_ok(add_key(f, i, NULL));
    assert_ok(add_key(g, 10000, NULL)); /* so that it has all three parts, like f */
    assert_ok(remove_key(g, 10000, NULL));
    assert_ok(add_key(g, 10000, NULL));
    assert_ok(remove_key(g, 10000, NULL));
    assert_true(bly_filter_equal(f, g));
    assert_int_equal(bly_filter_count(f), 3000);
    bly_filter_destroy(f);
    bly_filter_destroy(g);
    bly_filter_destroy(base);
}

/* Removing false positives does not remove members. Here the FPR is 1 in 5 or, for cuckoo filters,
 * which cannot have a higher rate, 1 in 35. (In a cuckoo filter without an overlay, removing false
 * positives loses members.) */
static void non_members_do_no_harm(void **state) {
    (void)state;
    const bly_kind kinds[] = {BLY_CUCKOO, BLY_SBBF, BLY_FUSE};
    const size_t n = 20000, absent = 200000 / BLYT_SLOW;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        bly_filter *base = base_of(kinds[k], n, 0.2), *f = over(base, 1000, BLY_KIND_NONE);
        size_t removed = 0;
        bool was;
        for (uint64_t i = n; i < n + absent; i++) {
            assert_ok(remove_key(f, i, &was));
            removed += was;
            assert_false(contains_key(f, i));
        }
        assert_true(removed > absent / (kinds[k] == BLY_CUCKOO ? 50 : 20));
        for (uint64_t i = 0; i < n; i++)
            assert_true(contains_key(f, i));
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(f, &s);
        uint64_t counted = bly_filter_count(base);
        assert_int_equal(s.count, removed < counted ? counted - removed : 0);
        bly_filter_destroy(f);
        bly_filter_destroy(base);
    }
}

/* Batches have the effect of single calls in order, both before and after the first change. */
static void batches(void **state) {
    (void)state;
    FOR_EACH_BASE(kind)
    for (size_t m = 0; m < COUNT_OF(markers); m++) {
        bly_filter *base = base_of(kind, 300, 0.01), *borrowed = over(base, 600, markers[m]), *a,
                   *b;
        assert_ok(bly_filter_clone(borrowed, NULL,
                                   &a)); /* the clone owns its base, which may accept adds */
        assert_ok(bly_filter_clone(borrowed, NULL, &b));
        bly_filter *pairs[][2] = {{borrowed, over(base, 600, markers[m])}, {a, b}};
        uint8_t told[400];
        for (size_t p = 0; p < 2; p++) {
            bly_filter *x = pairs[p][0], *y = pairs[p][1];
            for (int turn = 0; turn < 6; turn++) {
                blyt_list l = blyt_list_of(KEYS_DECIMAL, (uint64_t)(turn * 97), 350);
                bly_batch_result tally;
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
                assert_true(tally.done == l.n && tally.changed == fresh);
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
        bly_filter *base = base_of(kind, 300, 0.01), *borrowed = over(base, 100, 0), *own;
        blyt_buffer before = blyt_write(base);
        for (uint64_t i = 0; i < 400; i += 3)
            assert_ok(i < 300 ? remove_key(borrowed, i, NULL) : add_key(borrowed, i, NULL));
        assert_ok(bly_filter_clone(borrowed, NULL, &own));
        bly_filter *both[] = {borrowed, own};
        for (int which = 0; which < 2; which++) {
            bly_filter *f = both[which], *copy;
            bly_filter_clear(f);
            assert_int_equal(bly_filter_count(f), 0);
            bly_filter_info s = {.struct_size = sizeof s};
            bly_filter_get_info(f, &s);
            assert_true(s.current_fpr < 1e-9);
            truth t = truth_of(f, 600, f == borrowed ? OUT : IN);
            for (size_t i = 0; i < t.n; i++)
                assert_int_equal(t.is[i], OUT);
            run(f, &t, 5, 500);
            assert_truth(f, &t);
            assert_ok(bly_filter_clone(f, NULL, &copy));
            assert_true(bly_filter_equal(f, copy));
            assert_truth(copy, &t);
            bly_filter_clear(copy); /* a clone owns its base */
            assert_int_equal(bly_filter_geometry(copy).detail, 0);
            assert_int_equal(bly_filter_count(copy), 0);
            bly_filter_destroy(copy);
            free(t.is);
        }
        assert_bytes(base, before);
        free(before.data);
        bly_filter_destroy(borrowed);
        bly_filter_destroy(own);
        bly_filter_destroy(base);
    }
}

/* ---- owned bases, and refusals --------------------------------------------------------------- */

static void created(void **state) {
    (void)state;
    const double rates[] = {0.01, 0.002, 0.0001};
    for (size_t r = 0; r < COUNT_OF(rates); r++) {
        bly_spec spec = bly_spec_for(BLY_OVERLAY, 5000, rates[r]);
        bly_filter *f, *plain;
        assert_ok(bly_filter_create(&spec, &f));
        assert_int_equal(bly_filter_geometry(bly_overlay_base(f)).kind, bly_plan_kind(rates[r]));
        assert_int_equal(bly_filter_capacity(f), 5000);
        blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, 5000);
        blyt_add_all(f, &l);
        blyt_assert_contains(f, &l);
        /* As no key was removed, the base equals a plain filter. */
        spec.geometry.kind = bly_plan_kind(rates[r]);
        plain = blyt_filled(&spec, &l);
        assert_true(bly_filter_equal(bly_overlay_base(f), plain));
        assert_int_equal(bly_filter_count(f), bly_filter_count(plain));
        for (uint64_t i = 0; i < 5000; i += 10)
            assert_ok(remove_key(f, i, NULL));
        bly_overlay_info now = blyt_changes(f);
        assert_true(now.deleted == 500 && now.added == 0);
        assert_true(bly_filter_equal(bly_overlay_base(f), plain));
        for (uint64_t i = 0; i < 5000; i++)
            assert_int_equal(contains_key(f, i), i % 10 != 0);
        for (uint64_t i = 0; i < 5000; i += 10)
            assert_ok(add_key(f, i, NULL));
        now = blyt_changes(f);
        assert_true(now.deleted == 0 && now.added == 0);
        bly_filter_destroy(f);
        bly_filter_destroy(plain);
        blyt_list_free(&l);
    }
}

/* If the base is full, keys go to the table of added keys. */
static void a_full_base(void **state) {
    (void)state;
    bly_spec spec = bly_spec_for(BLY_CUCKOO, 50, 0.001);
    bly_filter *base, *borrowed, *f;
    bool fresh;
    assert_ok(bly_filter_create(&spec, &base));
    borrowed = over(base, 100, BLY_KIND_NONE);
    assert_ok(bly_filter_clone(borrowed, NULL, &f));
    for (uint64_t i = 0; i < 500; i++)
        assert_ok(add_key(f, i, &fresh));
    for (uint64_t i = 0; i < 500; i++)
        assert_true(contains_key(f, i));
    const bly_overlay_info now = blyt_changes(f);
    assert_true(now.deleted == 0 && now.added > 350 && now.added < 450);
    assert_true(bly_filter_count(f) > 480 && bly_filter_count(f) <= 500);
    bly_filter_destroy(f);
    bly_filter_destroy(borrowed);
    bly_filter_destroy(base);
}

/* A base that forgets keys, a window, must not forget any when keys are added to the overlay. */
static void what_forgets_stands_still(void **state) {
    (void)state;
    bly_filter *base = base_of(BLY_WINDOW, 400, 0.001), *borrowed = over(base, 50, 0), *f;
    assert_ok(bly_filter_clone(borrowed, NULL, &f));
    for (uint64_t i = 1000; i < 3000; i++)
        assert_ok(add_key(f, i, NULL));
    for (uint64_t i = 0; i < 400; i++)
        assert_true(contains_key(f, i));
    for (uint64_t i = 1000; i < 3000; i++)
        assert_true(contains_key(f, i));
    assert_true(bly_filter_equal(bly_overlay_base(f), base));
    bly_filter_destroy(f);
    bly_filter_destroy(borrowed);
    bly_filter_destroy(base);
}

static void refuses_operations(const bly_filter *base, bly_filter *f, const bly_filter *g) {
    bly_filter *out;
    bly_overlap o;
    const char *why = "overlays cannot be combined; build a new filter from the keys";
    for (int op = BLY_OP_UNION; op <= BLY_OP_OVERLAP; op++)
        assert_string_equal(bly_filter_why_not((bly_operation)op, f, g), why);
    assert_int_equal(bly_filter_union(f, g), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_intersect(f, g), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_subtract(f, g), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_overlap(f, g, &o), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_fold(f, 2, NULL, &out), BLY_EUNSUPPORTED);
    assert_int_equal(bly_overlay_over(f, NULL, NULL, &out), BLY_EKIND);
    assert_null(out);
    assert_int_equal(bly_filter_level_count(f), 1);
    assert_ptr_equal(bly_filter_level(f, 0), f);
    bly_overlay_info info = {.struct_size = sizeof info, .deleted = 5, .added = 6};
    assert_int_equal(bly_overlay_get_info(base, &info), BLY_EKIND);
    assert_true(info.deleted == 5 && info.added == 6);
    info.struct_size = 0;
    assert_int_equal(bly_overlay_get_info(f, &info), BLY_EINVAL);
    assert_null(bly_overlay_base(base));
    assert_true(blyt_info(base).miss_bound == 0);
}

static void refuses_specs(const bly_filter *base) {
    bly_filter *out;
    bly_overlay_options options = {.marker = BLY_SBBF};
    assert_int_equal(bly_overlay_over(base, &options, NULL, &out), BLY_EINVAL);
    options = (bly_overlay_options){.changes = UINT64_MAX};
    assert_int_equal(bly_overlay_over(base, &options, NULL, &out), BLY_ETOOBIG);
    options = (bly_overlay_options){.changes = UINT64_C(1) << 40};
    assert_int_equal(bly_overlay_over(base, &options, NULL, &out), BLY_ETOOBIG);
    bly_spec spec = bly_spec_for(BLY_OVERLAY, 100, 0.01);
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
}

static void refusals(void **state) {
    (void)state;
    bly_filter *base = base_of(BLY_SBBF, 100, 0.01), *f = over(base, 0, 0), *g = over(base, 0, 0);
    refuses_operations(base, f, g);
    refuses_specs(base);
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

/* ---- capacity, and failed allocations -------------------------------------------------------- */

/* The table of deleted or of added keys grows to 64 times the planned number of changes, and is
 * then full. */
static void grows_to_the_horizon(void **state) {
    (void)state;
    for (int added = 0; added < 2; added++) {
        const uint64_t changes = 200;
        bly_filter *base = base_of(BLY_FUSE, added ? 10 : 20000, 1e-6);
        bly_filter *f = over(base, changes, 0), *before = NULL;
        uint64_t done = 0;
        bly_status status = BLY_OK;
        while (status == BLY_OK) {
            if (done >= 64 * changes) {
                bly_filter_destroy(before);
                assert_ok(bly_filter_clone(f, NULL, &before));
            }
            assert_int_equal(bly_filter_file_size(f) - HEADER, bly_filter_geometry(f).size);
            assert_true(blyt_changes(f).miss_bound < 1e-9);
            status = added ? add_key(f, 1000000 + done, NULL) : remove_key(f, done, NULL);
            done += status == BLY_OK;
        }
        assert_int_equal(status, BLY_EFULL);
        assert_true(done >= 64 * changes && done < 80 * changes);
        assert_true(bly_filter_equal(f, before));
        const bly_overlay_info now = blyt_changes(f);
        assert_true(now.added == (added ? done : 0) && now.deleted == (added ? 0 : done));
        assert_true(blyt_changes(f).miss_bound > (added ? 8e-10 : 7e-10));
        for (uint64_t i = 0; i < done; i++)
            assert_int_equal(contains_key(f, added ? 1000000 + i : i), added);
        bly_filter_destroy(f);
        bly_filter_destroy(before);
        bly_filter_destroy(base);
    }
}

/* The requested number of changes fits without growth, and takes the documented number of bits per
 * change. */
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
            assert_ok(remove_key(f, i, NULL));
        assert_int_equal(deleted->body_bytes, body);
        assert_true(8 * (double)body / (double)sizes[s] <= bits[s] + 0.5);
        assert_true(blyt_changes(f).miss_bound < 2e-11);
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

static void no_memory_to_create(void) {
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

/* Every allocation of every call fails once: the call changes nothing, and its next attempt
 * succeeds. */
static void out_of_memory(void **state) {
    (void)state;
    bly_filter *base = base_of(BLY_FUSE, 300, 0.01);
    size_t failures = 0;
    for (size_t fail = 1, calls = fail; calls >= fail; fail++) {
        blyt_heap heap = {.fail_at = fail};
        bly_allocator a = blyt_heap_allocator(&heap);
        const bly_overlay_options options = {.changes = 8};
        bly_filter *f = NULL, *copy;
        bly_status status = bly_overlay_over(base, &options, &a, &f);
        if (status) {
            assert_int_equal(status, BLY_ENOMEM);
            assert_true(f == NULL && heap.live == 0);
            assert_ok(bly_overlay_over(base, &options, &a, &f));
            failures++;
        }
        for (uint64_t i = 0; i < 400; i++) {
            blyt_buffer before = i % 20 < 2 || i > 250 ? blyt_write(f) : (blyt_buffer){NULL, 0};
            bool changed = i % 2;
            status = i < 300 ? remove_key(f, i, &changed) : add_key(f, i + 1000, &changed);
            if (status) {
                assert_int_equal(status, BLY_ENOMEM);
                failures++;
                if (before.data)
                    assert_bytes(f, before);
                assert_int_equal(changed, i % 2);
                assert_ok(i < 300 ? remove_key(f, i, NULL) : add_key(f, i + 1000, NULL));
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
            assert_int_equal(contains_key(copy, i < 300 ? i : i + 1000), i >= 300);
        bly_filter_destroy(copy);
        bly_filter_destroy(f);
        assert_int_equal(heap.live, 0);
        calls = heap.calls;
    }
    assert_true(failures > 15);
    bly_filter_destroy(base);
    no_memory_to_create();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_over_every_kind),
        cmocka_unit_test(a_long_program),
        cmocka_unit_test(once_is_enough),
        cmocka_unit_test(back_to_nothing),
        cmocka_unit_test(non_members_do_no_harm),
        cmocka_unit_test(batches),
        cmocka_unit_test(cleared),
        cmocka_unit_test(created),
        cmocka_unit_test(a_full_base),
        cmocka_unit_test(what_forgets_stands_still),
        cmocka_unit_test(refusals),
        cmocka_unit_test(grows_to_the_horizon),
        cmocka_unit_test(costs_as_told),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
