/* test_bounds.c - files that state numbers of keys near 2^64 do no harm. */
#include "store_support.h"

#define AT_ITEMS 32

static const uint64_t extremes[] = {UINT64_MAX, UINT64_MAX - 4, (uint64_t)1 << 63};

/* ---- counts ---------------------------------------------------------------------------------- */

/* Returns the offset of the header of part i in a nested file; 0 after the last part. */
static size_t part_at(blyt_buffer im, unsigned i) {
    size_t at = HEADER;
    for (bly_file_info info = {.struct_size = sizeof info}; at < im.size; i--) {
        if (i == 0)
            return at;
        assert_ok(bly_file_parse_info(im.data + at, im.size - at, &info));
        at += HEADER + (size_t)info.body_bytes;
    }
    return 0;
}

static uint64_t plus(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Sets the count of a nested file to the sum of its parts. */
static void add_up(blyt_buffer im) {
    uint64_t items[3] = {0}, sum = 0;
    size_t at;
    for (unsigned i = 0; (at = part_at(im, i)) != 0; i++) {
        sum = plus(sum, load(im.data + at + AT_ITEMS, 8));
        if (i < 3)
            items[i] = load(im.data + at + AT_ITEMS, 8);
    }
    if (im.data[5] == BLY_OVERLAY)
        sum = plus(items[0] > items[1] ? items[0] - items[1] : 0, items[2]);
    store(im.data + AT_ITEMS, sum, 8);
}

static void fix(blyt_buffer im) {
    fix_all_sums(im);
    if (blyt_is_nested((bly_kind)im.data[5])) {
        add_up(im);
        fix_all_sums(im);
    }
}

/* Asserts that the filter can be written and parsed again, and stays the same. */
static void assert_goes_round(const bly_filter *f, bly_sharing sharing) {
    const bly_open_options o = {.struct_size = sizeof o, .sharing = sharing};
    blyt_buffer im = blyt_write(f);
    bly_filter *back = NULL;
    assert_ok(bly_filter_parse(im.data, im.size, &o, &back));
    assert_int_equal(bly_filter_count(back), bly_filter_count(f));
    bly_filter_destroy(back);
    free(im.data);
}

static void assert_done(bly_status status) {
    assert_true(status == BLY_OK || status == BLY_EUNSUPPORTED || status == BLY_EFULL);
}

/* Adds keys in every way. The count must not decrease, except in kinds that forget keys. */
static void add_to(bly_filter *f, bly_sharing sharing) {
    const bool forgets = bly_kind_capabilities(bly_filter_geometry(f).kind) & BLY_FORGETS;
    blyt_list l = list_keys("more", 120);
    uint64_t before = bly_filter_count(f);
    for (size_t i = 0; i < 40; i++) {
        assert_done(bly_filter_add(f, l.keys[i].data, l.keys[i].size, NULL));
        assert_true(forgets || bly_filter_count(f) >= before);
        before = bly_filter_count(f);
    }
    assert_goes_round(f, sharing);
    assert_done(bly_filter_add_many(f, l.keys + 40, 40, NULL, NULL));
    assert_true(forgets || bly_filter_count(f) >= before);
    before = bly_filter_count(f);
    for (size_t i = 80; i < 120; i++) {
        bly_hash h = bly_hash_key(bly_filter_hasher(f), l.keys[i].data, l.keys[i].size);
        assert_done(i % 2 ? bly_filter_add_hash(f, h, NULL)
                          : bly_filter_add_hashes(f, &h, 1, NULL, NULL));
    }
    assert_true(forgets || bly_filter_count(f) >= before);
    assert_goes_round(f, sharing);
    blyt_list_free(&l);
}

static void use(bly_filter *f, bly_sharing sharing) {
    bly_filter *copy = NULL;
    bly_filter_info s = {.struct_size = sizeof s};
    add_to(f, sharing);
    assert_ok(bly_filter_clone(f, NULL, &copy));
    assert_done(bly_filter_union(f, copy));
    assert_true(bly_filter_count(f) >= bly_filter_count(copy));
    assert_goes_round(f, sharing);
    for (int i = 0; i < 20; i++) {
        char key[32];
        size_t len = (size_t)key_text(key, "more", i);
        assert_done(bly_filter_remove(f, key, len, NULL));
    }
    assert_goes_round(f, sharing);
    assert_done(bly_filter_subtract(f, copy));
    assert_goes_round(f, sharing);
    assert_done(bly_filter_intersect(f, copy));
    assert_goes_round(f, sharing);
    bly_filter_get_info(f, &s);
    bly_filter_clear(f);
    assert_int_equal(bly_filter_count(f), 0);
    assert_goes_round(f, sharing);
    bly_filter_destroy(copy);
}

/* Loads the file in every sharing mode and uses the filter. Returns false if the file was
 * refused. */
static bool use_file(blyt_buffer im) {
    bool believed = false;
    for (int sharing = BLY_EXCLUSIVE; sharing <= BLY_SHARED_ONCE; sharing++) {
        const bly_open_options o = {.struct_size = sizeof o, .sharing = (bly_sharing)sharing};
        bly_filter *f = NULL;
        bly_status status = bly_filter_parse(im.data, im.size, &o, &f);
        assert_true(status == BLY_OK || status == BLY_ECORRUPT || status == BLY_EUNSUPPORTED);
        if (status)
            continue;
        believed = true;
        use(f, (bly_sharing)sharing);
        bly_filter_destroy(f);
    }
    return believed;
}

/* Whether a file of this kind may state any number of keys. It may not if the body determines the
 * number. */
static bool takes_any_count(bly_kind kind) {
    return !(bly_kind_capabilities(kind) & (BLY_FORGETS | BLY_HAS_SLOTS));
}

static void test_items(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++)
        for (size_t e = 0; e < COUNT_OF(extremes); e++) {
            bly_filter *f = filled(shape_at(i), NULL, 30);
            blyt_buffer im = blyt_write(f);
            bool nested = blyt_is_nested(shape_at(i).kind);
            store(im.data + (nested ? part_at(im, 0) : 0) + AT_ITEMS, extremes[e], 8);
            fix(im);
            assert_int_equal(use_file(im), takes_any_count(shape_at(i).kind));
            free(im.data);
            bly_filter_destroy(f);
        }
}

/* If every level states an extreme count, their sum overflows. */
static void test_items_of_levels(void **state) {
    (void)state;
    bly_filter *f = NULL;
    assert_ok(blyt_new(BLY_SCALABLE, 10, 0.01, &f));
    add_keys(f, "store", 0, 60);
    assert_true(bly_filter_level_count(f) > 2);
    blyt_buffer im = blyt_write(f);
    for (size_t e = 0; e < COUNT_OF(extremes); e++) {
        /* From the last level to the first, because finding a header reads those before it. */
        for (size_t i = bly_filter_level_count(f); i-- > 0;)
            store(im.data + part_at(im, (unsigned)i) + AT_ITEMS, extremes[e], 8);
        fix(im);
        assert_true(use_file(im));
    }
    free(im.data);
    bly_filter_destroy(f);
}

/* Uses a window whose active slot states the largest count that a file may have, and whose current
 * generation has the number `ordinal`. `span` is that of a window by time, or 0 for a window by
 * number of keys. */
static void use_window(bool small, uint64_t span, uint64_t ordinal) {
    enum { ORDINAL, ACTIVE, SMALL_SLOTS = 7, SLOTS = 16 };
    bly_geometry g = {BLY_WINDOW, small ? 5 : 9, small ? 130 : 4, 0, small ? 64 + 2 : 8};
    bly_spec spec = {.struct_size = sizeof spec,
                     .geometry = g,
                     .capacity = 100,
                     .fpr = 0.1,
                     .window.span = span};
    const uint64_t most = ((uint64_t)1 << (small ? 55 : 56)) - 1;
    bly_filter *f = NULL;
    assert_ok(bly_filter_create(&spec, &f));
    add_keys(f, "store", 0, 5);
    blyt_buffer im = blyt_write(f);
    uint8_t *body = im.data + HEADER;
    assert_int_equal(load(body + 8 * ORDINAL, 8), 0);
    assert_int_equal(load(body + 8 * ACTIVE, 8), 0);
    store(body + 8 * ORDINAL, ordinal, 8);
    store(body + 8 * (small ? SMALL_SLOTS : SLOTS), most, small ? 7 : 8);
    store(body + 8 * (small ? SMALL_SLOTS : SLOTS + 1) + (small ? 7 : 0), ordinal, small ? 1 : 8);
    store(im.data + AT_ITEMS, most, 8);
    fix(im);
    assert_true(use_file(im));
    free(im.data);
    bly_filter_destroy(f);
}

static void test_windows(void **state) {
    (void)state;
    for (int small = 0; small < 2; small++) {
        use_window(small, 0, 0);
        use_window(small, 0, UINT64_MAX);
        use_window(small, 1000, 0);
    }
}

/* After the generation with the largest number, numbers start again from small ones, and no key is
 * lost too early. */
static void test_last_generation(void **state) {
    (void)state;
    for (int small = 0; small < 2; small++) {
        bly_geometry g = {BLY_WINDOW, small ? 5 : 9, small ? 130 : 4, 0, small ? 64 + 2 : 2};
        bly_spec spec = {.struct_size = sizeof spec, .geometry = g, .capacity = 20, .fpr = 0.1};
        bly_filter *f = NULL, *back = NULL;
        assert_ok(bly_filter_create(&spec, &f));
        add_keys(f, "store", 0, 10);
        blyt_buffer im = blyt_write(f);
        store(im.data + HEADER, UINT64_MAX, 8);
        store(im.data + HEADER + 8 * (small ? 7 : 17) + (small ? 7 : 0), UINT64_MAX, small ? 1 : 8);
        fix(im);
        assert_ok(bly_filter_parse(im.data, im.size, NULL, &back));
        for (int i = 10; i < 100; i++) {
            add_keys(back, "store", i, 1);
            assert_true(contains_keys(back, "store", i < 20 ? 0 : i - 19, i < 20 ? i + 1 : 20));
            assert_goes_round(back, BLY_EXCLUSIVE);
        }
        free(im.data);
        bly_filter_destroy(f);
        bly_filter_destroy(back);
    }
}

/* When the number of adds reaches its limit, a batch still gives a sketch the same bytes as single
 * calls. */
static void test_counts_end(void **state) {
    (void)state;
    bly_filter *f = filled((bly_geometry){BLY_COUNTS, 4, 2, 0, 0}, NULL, 30);
    blyt_buffer im = blyt_write(f), x, y;
    blyt_list l = list_keys("more", 100);
    bly_filter *one = NULL, *many = NULL;
    store(im.data + AT_ITEMS, UINT64_MAX - 40, 8);
    fix(im);
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &one));
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &many));
    for (size_t i = 0; i < l.n; i++)
        assert_ok(bly_filter_add(one, l.keys[i].data, l.keys[i].size, NULL));
    assert_ok(bly_filter_add_many(many, l.keys, l.n, NULL, NULL));
    assert_int_equal(bly_filter_count(one), UINT64_MAX);
    x = blyt_write(one);
    y = blyt_write(many);
    assert_memory_equal(x.data, y.data, x.size);
    free(x.data);
    free(y.data);
    free(im.data);
    blyt_list_free(&l);
    bly_filter_destroy(one);
    bly_filter_destroy(many);
    bly_filter_destroy(f);
}

/* An untrusted file: a scalable filter that states 2^64 - 4 keys. */
static void test_items_wrap(void **state) {
    (void)state;
    blyt_buffer im = slurp(BLYT_GOLDEN_DIR "/../regressions/items-wrap.bly");
    bly_filter *f = NULL;
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &f));
    assert_int_equal(bly_filter_count(f), UINT64_MAX - 3);
    add_keys(f, "store", 0, 10);
    assert_int_equal(bly_filter_count(f), UINT64_MAX);
    assert_true(contains_keys(f, "store", 0, 10));
    assert_goes_round(f, BLY_EXCLUSIVE);
    bly_filter_destroy(f);
    assert_true(use_file(im));
    free(im.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items),      cmocka_unit_test(test_items_of_levels),
        cmocka_unit_test(test_windows),    cmocka_unit_test(test_last_generation),
        cmocka_unit_test(test_counts_end), cmocka_unit_test(test_items_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
