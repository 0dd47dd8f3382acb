/* Creating filters from a spec: exact geometries, hashers, and specs that are refused. */
#include "support.h"

#include "filter/filter.h"

#include <math.h>

static void create_by_exact_geometry(void **state) {
    bly_filter *f = NULL;
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    /* The textbook size for a thousand keys at 1%. */
    assert_ok(blyt_new_exact(BLY_CLASSIC, 9586, 7, &f));
    bly_filter_get_info(f, &s);
    assert_int_equal(s.bits, 9586);
    assert_true(s.capacity > 900 && s.capacity < 1000);
    assert_true(s.requested_fpr > 0.007 && s.requested_fpr < 0.011);
    bly_filter_destroy(f);
    assert_ok(blyt_new_exact(BLY_PARTITIONED, 1024, 10, &f));
    assert_int_equal(bly_plan_bits(&(bly_geometry){BLY_PARTITIONED, 10, 1024, 0}), 10240);
    bly_filter_destroy(f);
    assert_ok(blyt_new_exact(BLY_SPLIT512, 33, 12, &f));
    assert_int_equal(bly_filter_geometry(f).size, 33);
    bly_filter_destroy(f);
    assert_int_equal(blyt_new_exact(BLY_CLASSIC, 0, 7, &f), BLY_EINVAL);
    assert_null(f);
    assert_int_equal(blyt_new_exact(BLY_CLASSIC, 1000, 0, &f), BLY_EGEOMETRY);
    assert_int_equal(blyt_new_exact(BLY_PARTITIONED, 1000, 7, &f), BLY_EGEOMETRY);
    assert_int_equal(blyt_new_exact(BLY_SBBF, 33, 9, &f), BLY_EGEOMETRY);
    assert_int_equal(blyt_new(BLY_CLASSIC, 0, 0.01, &f), BLY_ECOUNT);
    assert_int_equal(blyt_new(BLY_CLASSIC, 10, 1, &f), BLY_ERATE);
    assert_int_equal(bly_filter_new(10, NAN, &f), BLY_ERATE);
    assert_int_equal(bly_filter_new(UINT64_MAX, 0.01, &f), BLY_ETOOBIG);
    bly_spec spec = bly_spec_for(BLY_SBBF, 1000, 0);
    spec.geometry.size = 1; /* a thousand keys in 32 bytes: impossible */
    spec.geometry.hashes = 8;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EIMPOSSIBLE);
    spec.capacity = 0;
    spec.fpr = 2;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_ERATE);
    spec = bly_spec_for((bly_kind)77, 10, 0.1);
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EKIND);
    spec = bly_spec_for(BLY_SBBF, 10, 0.1);
    spec.sharing = (bly_sharing)9;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
    assert_null(f);
}

/* The capacity of an exact geometry does not count hash collisions if the hash is the default one,
 * or a weak one that is allowed. */
static void exact_geometries_and_their_hash(void **state) {
    bly_spec spec = bly_spec_for(BLY_CLASSIC, 0, 0x1p-40);
    bly_filter *f = NULL;
    (void)state;
    spec.geometry.size = (uint64_t)1 << 26;
    spec.geometry.hashes = 40;
    assert_ok(bly_filter_create(&spec, &f));
    assert_true(bly_filter_capacity(f) > 1000000); /* 1,162,907 */
    bly_filter_destroy(f);
    spec = bly_spec_for(BLY_CLASSIC, 0, 0.001);
    spec.geometry.size = (uint64_t)1 << 28;
    spec.geometry.hashes = 10;
    assert_ok(bly_hasher_init(&spec.hasher, BLY_HASH_FNV1A_32, 0));
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EWEAKHASH);
    spec.allow_weak_hash = true;
    assert_ok(bly_filter_create(&spec, &f));
    assert_true(bly_filter_capacity(f) > 18000000);
    bly_filter_destroy(f);
}

/* A hasher without functions is refused, not called. */
static void hollow_hashers_are_refused(void **state) {
    bly_spec spec = bly_spec_for(BLY_SBBF, 1000, 0.01);
    bly_filter *f = NULL;
    uint8_t digest[20];
    (void)state;
    spec.hasher.id = BLY_HASH_FNV1A;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EHASHER);
    spec.allow_weak_hash = true;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EHASHER);
    spec.hasher.bits = 64;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EHASHER);
    assert_null(f);
    assert_int_equal(bly_hash_digest(&spec.hasher, "x", 1, digest), 0);
    spec = bly_spec_for(BLY_SBBF, 1000, 0.01);
    spec.geometry.hashes = 8; /* no size is given */
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
}

/* A field of a spec that only one or two kinds have is refused for all others. */
static void wishes_of_other_kinds(void **state) {
    enum { WISHES = 8 };
    static const bly_kind whose[WISHES][2] = {
        {BLY_SCALABLE, BLY_SCALABLE_CUCKOO},
        {BLY_GROWABLE_CUCKOO, BLY_GROWABLE_CUCKOO},
        {BLY_WINDOW, BLY_WINDOW},
        {BLY_WINDOW, BLY_WINDOW},
        {BLY_OVERLAY, BLY_OVERLAY},
        {BLY_OVERLAY, BLY_OVERLAY},
        {BLY_COUNTING, BLY_COUNTING},
        {BLY_SCALABLE, BLY_SCALABLE_CUCKOO},
    };
    (void)state;
    FOR_EACH_CASE(c) {
        bly_spec specs[WISHES];
        for (int i = 0; i < WISHES; i++)
            specs[i] = blyt_spec(c, 100, 0.01);
        specs[0].scalable.first_share = 0.5;
        specs[1].cuckoo.horizon = 1000;
        specs[2].window.generations = 4;
        specs[3].window.span = 1000;
        specs[4].overlay.changes = 20;
        specs[5].overlay.marker = BLY_CLASSIC;
        specs[6].counting.counter_bits = 8;
        specs[7].scalable.growth = 4;
        for (int i = 0; i < WISHES; i++) {
            bly_filter *f = NULL;
            bool own = c->kind == whose[i][0] || c->kind == whose[i][1];
            assert_int_equal(blyt_make(&specs[i], &f), own ? BLY_OK : BLY_EINVAL);
            assert_int_equal(f != NULL, own);
            bly_filter_destroy(f);
        }
    }
}

/* Counter widths and markers that do not exist are refused. */
static void wishes_that_cannot_be(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        bly_filter *f = NULL;
        for (uint32_t bits = 1; bits <= 64 && c->counter_bits; bits++) {
            bly_spec spec = blyt_spec(c, 100, 0.01);
            bool fits = bits == 2 || bits == 4 || bits == 8 || bits == 16;
            spec.counting.counter_bits = bits;
            assert_int_equal(bly_filter_create(&spec, &f), fits ? BLY_OK : BLY_EINVAL);
            assert_true(!fits || bly_filter_geometry(f).detail == bits);
            bly_filter_destroy(f);
        }
        for (int marker = 1; marker < 256 && c->kind == BLY_OVERLAY; marker++) {
            bly_spec spec = blyt_spec(c, 100, 0.01);
            bool fits = marker == BLY_CUCKOO || marker == BLY_CLASSIC;
            spec.overlay.marker = (bly_kind)marker;
            assert_int_equal(bly_filter_create(&spec, &f), fits ? BLY_OK : BLY_EINVAL);
            bly_filter_destroy(f);
        }
    }
}

/* Functions of one kind are refused for other kinds, and change nothing. */
static void questions_about_time(const blyt_case *c, bly_filter *f) {
    bly_window_info info = {.struct_size = sizeof info};
    uint64_t age;
    bly_status window = c->kind == BLY_WINDOW ? BLY_OK : BLY_EKIND;
    bly_status clock = c->kind == BLY_WINDOW ? BLY_EUNSUPPORTED : BLY_EKIND;
    assert_int_equal(bly_window_get_info(f, &info), window);
    assert_int_equal(bly_window_age(f, "x", 1, &age), window);
    assert_int_equal(bly_window_advance(f, 7), clock); /* this window counts keys, not time */
}

static void questions_about_counts(const blyt_case *c, bly_filter *f) {
    bly_filter *bits = f, *front = f;
    bly_overlay_info changes = {.struct_size = sizeof changes, .deleted = 7, .added = 7};
    bool overlay = c->kind == BLY_OVERLAY, hll = c->kind == BLY_HLL;
    bly_status status = bly_counting_bits(f, NULL, &bits);
    assert_int_equal(status, c->kind == BLY_COUNTING ? BLY_OK : BLY_EUNSUPPORTED);
    assert_int_equal(bits != NULL, status == BLY_OK);
    status = bly_layered_front(f, &front);
    assert_int_equal(status, c->kind == BLY_LAYERED ? BLY_OK : BLY_EUNSUPPORTED);
    assert_int_equal(front != NULL, status == BLY_OK);
    assert_int_equal(bly_counts_age(f), c->kind == BLY_COUNTS ? BLY_OK : BLY_EUNSUPPORTED);
    assert_int_equal(isnan(bly_hll_estimate(f)), !hll);
    assert_int_equal(isnan(bly_hll_error(f)), !hll);
    assert_int_equal(bly_overlay_get_info(f, &changes), overlay ? BLY_OK : BLY_EKIND);
    assert_true(changes.deleted == (overlay ? 0 : 7) && changes.added == (overlay ? 0 : 7));
    assert_true(blyt_info(f).miss_bound == 0);
    assert_int_equal(bly_overlay_base(f) != NULL, overlay);
    bly_filter_destroy(bits);
    bly_filter_destroy(front);
}

static void questions_to_other_kinds(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        bly_filter *f = blyt_create(c, 100, 0.01, 0), *copy = NULL;
        assert_ok(bly_filter_clone(f, NULL, &copy));
        questions_about_time(c, f);
        questions_about_counts(c, f);
        assert_true(bly_filter_equal(f, copy));
        bly_filter_destroy(f);
        bly_filter_destroy(copy);
    }
}

static bly_hash twice_fnv(void *user, const void *key, size_t len) {
    const bly_hasher *h = user;
    return bly_hash_key(h, key, len);
}

/* A custom function is used, and filters with different tags do not match. */
static void custom_hashers(void **state) {
    bly_hasher fnv;
    (void)state;
    assert_ok(bly_hasher_init(&fnv, BLY_HASH_FNV1A, 0));
    FOR_EACH_CASE(c) {
        bly_spec spec = blyt_spec(c, 1000, 0.01);
        blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, 1000);
        spec.hasher = fnv;
        bly_filter *ours = blyt_filled(&spec, &l);
        assert_ok(bly_hasher_custom_raw(&spec.hasher, twice_fnv, &fnv, 64, 1));
        bly_filter *theirs = blyt_filled(&spec, &l);
        assert_ok(bly_hasher_custom_raw(&spec.hasher, twice_fnv, &fnv, 64, 2));
        bly_filter *tagged = blyt_filled(&spec, &l);
        bly_status want = blyt_can(c, BLY_CAN_UNION) ? BLY_EMISMATCH : BLY_EUNSUPPORTED;
        blyt_assert_contains(theirs, &l);
        const bly_filter *a = bly_filter_level(ours, 0), *b = bly_filter_level(theirs, 0);
        if (a->body) /* an overlay has no body of its own */
            assert_memory_equal(a->body, b->body, a->body_bytes);
        assert_int_equal(bly_filter_compatible(ours, theirs), BLY_EMISMATCH);
        assert_int_equal(bly_filter_union(ours, theirs), want);
        assert_int_equal(bly_filter_union(theirs, tagged), want);
        blyt_list_free(&l);
        bly_filter_destroy(ours);
        bly_filter_destroy(theirs);
        bly_filter_destroy(tagged);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_by_exact_geometry),
        cmocka_unit_test(exact_geometries_and_their_hash),
        cmocka_unit_test(hollow_hashers_are_refused),
        cmocka_unit_test(wishes_of_other_kinds),
        cmocka_unit_test(wishes_that_cannot_be),
        cmocka_unit_test(questions_to_other_kinds),
        cmocka_unit_test(custom_hashers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
