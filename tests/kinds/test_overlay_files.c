/* Files of overlays: saving and loading gives the same filter, for every kind of base.
 * test_overlay_hostile.c tests damaged and untrusted files, test_store.c tests the properties that
 * all kinds share, test_nested.c tests those of levels. */
#include "overlay_support.h"

#include "kinds/overlay/overlay_layout.h"

/* ---- saving and loading ---------------------------------------------------------------------- */

static void comes_back(const bly_filter *f, const truth *t) {
    blyt_buffer im = blyt_write(f);
    bly_filter *loaded, *parsed;
    bly_map *map;
    bly_open_options verify = {.struct_size = sizeof verify, .flags = BLY_OPEN_VERIFY};
    assert_ok(bly_filter_save(f, at("o.bly")));
    assert_file_is(at("o.bly"), im);
    assert_ok(bly_filter_load(at("o.bly"), NULL, &loaded));
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &parsed));
    assert_ok(bly_map_open(at("o.bly"), &verify, &map));
    const bly_filter *all[] = {loaded, parsed, bly_map_filter(map)};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        assert_true(bly_filter_equal(f, all[i]));
        assert_int_equal(bly_filter_count(f), bly_filter_count(all[i]));
        assert_int_equal(bly_filter_capacity(f), bly_filter_capacity(all[i]));
        assert_true(blyt_changes(f).miss_bound == blyt_changes(all[i]).miss_bound);
        assert_bytes(all[i], im);
        assert_truth(all[i], t);
    }
    /* The filter stays usable: the same steps give equal filters after loading and after
     * parsing. */
    truth mine = {malloc(t->n), t->n, IN}, its = {malloc(t->n), t->n, IN};
    memcpy(mine.is, t->is, t->n);
    memcpy(its.is, t->is, t->n);
    run(loaded, &mine, 77, 300);
    run(parsed, &its, 77, 300);
    assert_true(bly_filter_equal(loaded, parsed));
    assert_truth(loaded, &mine);
    free(mine.is);
    free(its.is);
    bly_filter_destroy(loaded);
    bly_filter_destroy(parsed);
    bly_map_close(map);
    free(im.data);
}

static void there_and_back(void **state) {
    (void)state;
    const bly_kind markers[] = {BLY_CUCKOO, BLY_CLASSIC};
    FOR_EACH_BASE(kind)
    for (size_t m = 0; m < COUNT_OF(markers); m++) {
        bly_filter *base = base_of(kind, 200, 0.02);
        bly_filter *f = over(base, room_for(400, markers[m]), markers[m]);
        truth t = truth_of(f, 300, OUT);
        comes_back(f, &t);
        run(f, &t, 3, 20);
        comes_back(f, &t);
        run(f, &t, 4, 500);
        comes_back(f, &t);
        bly_filter_clear(f);
        memset(t.is, GONE, t.n);
        comes_back(f, &t);
        run(f, &t, 5, 50);
        comes_back(f, &t);
        free(t.is);
        bly_filter_destroy(f);
        bly_filter_destroy(base);
    }
}

/* Saves and loads an overlay each time its tables have grown. */
static void grown(void **state) {
    (void)state;
    bly_filter *base = base_of(BLY_FUSE, 1000, 0.001), *f = over(base, 8, BLY_KIND_NONE);
    truth t = truth_of(f, 1200, OUT);
    uint64_t size = 0;
    for (size_t i = 0; i < 400; i++) {
        step(f, &t, i, true);
        step(f, &t, 1199 - i / 2, i % 2);
        if (bly_filter_geometry(f).size != size)
            comes_back(f, &t);
        size = bly_filter_geometry(f).size;
    }
    free(t.is);
    bly_filter_destroy(f);
    bly_filter_destroy(base);
}

/* First maps only the base, under an overlay; then maps the saved file of base and overlay. */
static void over_a_map(void **state) {
    (void)state;
    FOR_EACH_BASE(kind) {
        bly_filter *base = base_of(kind, 500, 0.01), *f, *copy;
        bly_map *map, *whole;
        assert_ok(bly_filter_save(base, at("base.bly")));
        blyt_buffer before = slurp(at("base.bly"));
        bly_filter_destroy(base);
        if (bly_map_open(at("base.bly"), NULL, &map) == BLY_EUNSUPPORTED) {
            free(before.data);
            continue;
        }
        f = over(bly_map_filter(map), 0, BLY_KIND_NONE);
        truth t = truth_of(f, 800, OUT);
        run(f, &t, kind, 1000);
        assert_truth(f, &t);
        assert_ok(bly_filter_save(f, at("o.bly")));
        assert_ok(bly_map_open(at("o.bly"), NULL, &whole));
        assert_truth(bly_map_filter(whole), &t);
        assert_true(bly_filter_equal(f, bly_map_filter(whole)));
        bly_filter_destroy(f);
        assert_ok(bly_filter_clone(bly_map_filter(whole), NULL, &copy));
        bly_map_close(whole);
        bly_map_close(map);
        t.sure = IN;
        run(copy, &t, kind, 1000);
        assert_truth(copy, &t);
        assert_file_is(at("base.bly"), before);
        bly_filter_destroy(copy);
        free(t.is);
        free(before.data);
    }
}

/* A scalable base that was loaded with its overlay can grow. */
static void levels_in_a_part(void **state) {
    (void)state;
    bly_filter *base = base_of(BLY_SCALABLE, 300, 0.01), *f = over(base, 50, 0), *own;
    size_t levels = bly_filter_level_count(base);
    assert_ok(bly_filter_clone(f, NULL, &own));
    truth t = truth_of(own, 5000, GONE);
    for (size_t i = 0; i < 5000; i++)
        step(own, &t, i, i % 10 == 0);
    assert_true(bly_filter_level_count(bly_overlay_base(own)) > levels);
    assert_int_equal(bly_filter_file_size(own) - HEADER, bly_filter_geometry(own).size);
    comes_back(own, &t);
    free(t.is);
    bly_filter_destroy(own);
    bly_filter_destroy(f);
    bly_filter_destroy(base);
}

static void assert_members(const bly_filter *f, bool member, bool other) {
    const bly_bytes keys[] = {{"k-key-5", 7}, {"none", 4}};
    uint8_t found[2];
    assert_int_equal(bly_filter_contains(f, "k-key-5", 7), member);
    assert_int_equal(bly_filter_contains(f, "none", 4), other);
    assert_int_equal(bly_filter_contains_many(f, keys, 2, found), member + other);
    assert_int_equal(found[0], member);
    assert_int_equal(found[1], other);
}

/* An overlay that gets a hash key does not give it to a borrowed base that was opened without one.
 * A clone owns its base, and has the key in all parts. */
static void check_keyless_base(bly_kind kind, const bly_hasher *hasher) {
    const bly_open_options blind = {.struct_size = sizeof blind, .flags = BLY_OPEN_WITHOUT_KEY};
    const bly_bytes other = {"none", 4};
    bly_spec spec = bly_spec_for(kind, 100, 1e-9);
    bly_filter *own, *base, *f, *clone;
    spec.hasher = *hasher;
    assert_ok(bly_filter_create(&spec, &own));
    add_keys(own, "k", 0, 100);
    blyt_buffer im = blyt_write(own);
    assert_ok(bly_filter_parse(im.data, im.size, &blind, &base));
    f = over(base, 20, 0);
    assert_ok(bly_filter_set_hasher(f, hasher));
    assert_members(f, true, false);
    assert_ok(bly_filter_clone(f, NULL, &clone));
    assert_members(clone, true, false);
    assert_ok(bly_filter_add_many(clone, &other, 1, NULL, NULL));
    assert_ok(bly_filter_remove(clone, "k-key-5", 7, NULL));
    assert_members(clone, false, true);
    assert_ok(bly_filter_remove(f, "k-key-5", 7, NULL));
    assert_members(f, false, false);
    bly_filter_destroy(clone);
    bly_filter_destroy(f);
    bly_filter_destroy(base);
    bly_filter_destroy(own);
    free(im.data);
}

static bly_hash own_function(void *user, const void *key, size_t len) {
    (void)user;
    return (bly_hash){XXH64(key, len, 0), XXH64(key, len, 1)};
}

static void key_over_a_keyless_base(void **state) {
    const uint8_t secret[16] = {1, 2, 3};
    const bly_kind kinds[] = {BLY_SBBF, BLY_CUCKOO, BLY_SCALABLE, BLY_SCALABLE_CUCKOO};
    bly_hasher keyed, custom;
    (void)state;
    assert_ok(bly_hasher_custom(&custom, own_function, NULL, 128, 1));
    const bool can_key = bly_hasher_keyed(&keyed, secret) == BLY_OK;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        check_keyless_base(kinds[i], &custom);
        if (can_key)
            check_keyless_base(kinds[i], &keyed);
    }
}

/* Without its hash key, an overlay can be inspected, and answers "maybe". With it, all parts get
 * the key. */
static void keyed(void **state) {
    (void)state;
    const uint8_t secret[16] = {1, 2, 3};
    bly_hasher hasher;
    if (!bly_hash_available(BLY_HASH_SIPHASH))
        skip();
    assert_ok(bly_hasher_keyed(&hasher, secret));
    const bly_kind kinds[] = {BLY_SBBF, BLY_SCALABLE};
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        bly_spec spec = bly_spec_for(kinds[k], 20, 0.01);
        bly_filter *base, *f, *without, *with;
        spec.hasher = hasher;
        assert_ok(bly_filter_create(&spec, &base));
        add_keys(base, "k", 0, 100);
        f = over(base, 20, 0);
        assert_ok(bly_filter_remove(f, "k-key-5", 7, NULL));
        assert_ok(bly_filter_add(f, "another", 7, NULL));
        blyt_buffer im = blyt_write(f);
        bly_open_options blind = {.struct_size = sizeof blind, .flags = BLY_OPEN_WITHOUT_KEY},
                         open = {.struct_size = sizeof open, .hasher = &hasher};
        assert_int_equal(bly_filter_parse(im.data, im.size, NULL, &without), BLY_EKEY);
        assert_ok(bly_filter_parse(im.data, im.size, &blind, &without));
        assert_true(bly_filter_contains(without, "k-key-5", 7));
        assert_int_equal(bly_filter_remove(without, "k-key-5", 7, NULL), BLY_EKEY);
        assert_int_equal(bly_filter_add(without, "k-key-5", 7, NULL), BLY_EKEY);
        assert_bytes(without, im);
        assert_ok(bly_filter_parse(im.data, im.size, &open, &with));
        assert_true(!bly_filter_contains(with, "k-key-5", 7) && contains_keys(with, "k", 6, 94));
        assert_true(bly_filter_contains(with, "another", 7));
        assert_true(bly_filter_equal(with, without));
        bly_filter_destroy(with);
        bly_filter_destroy(without);
        bly_filter_destroy(f);
        bly_filter_destroy(base);
        free(im.data);
    }
}

/* The test vector of docs/format.md. */
static void vector(void **state) {
    (void)state;
    bly_hasher hasher;
    assert_ok(bly_hasher_init(&hasher, BLY_HASH_XXH3, 0));
    bly_hash h = blyi_overlay_mix(bly_hash_key(&hasher, "bloomery", 8));
    assert_int_equal(h.lo, UINT64_C(0x954dfdafe261d2b9));
    assert_int_equal(h.hi, UINT64_C(0xace8276a2e936bfa));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(there_and_back),   IN_SCRATCH(grown), IN_SCRATCH(over_a_map),
        IN_SCRATCH(levels_in_a_part), IN_SCRATCH(keyed), cmocka_unit_test(key_over_a_keyless_base),
        cmocka_unit_test(vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
