/* Counting filters: the classic filter of their nonzero counters, set operations, files, and
 * damaged files. */
#include "counting_support.h"

#include <unistd.h>

/* ---- the classic filter within --------------------------------------------------------------- */

static void its_bits_are_a_classic_filter(void **state) {
    static const uint64_t sizes[] = {64, 65, 97, 1000, 4096, 100001};
    (void)state;
    for (size_t w = 0; w < 4; w++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            bly_filter *f = exact(BLY_COUNTING, 7, sizes[i], widths[w]), *bits, *other;
            bly_geometry g = {BLY_CLASSIC, 7, sizes[i], 0, 0};
            bly_filter *classic = exact_table(g, NULL);
            uint64_t n = sizes[i] / 12 + 1;
            add_hashes(f, 1, 0, n);
            add_hashes(f, 1, 0, n / 2);
            add_hashes(classic, 1, 0, n);
            assert_ok(bly_counting_bits(f, NULL, &bits));
            assert_true(bly_filter_equal(bits, classic));
            double count = (double)bly_filter_count(bits);
            assert_true(fabs(count - (double)n) <= 5 * sqrt((double)n));
            bly_filter_destroy(bits);
            /* Keys that were removed are not in the extracted bits. */
            add_hashes(f, 2, 0, 3);
            remove_hashes(f, 2, 0, 3);
            assert_ok(bly_counting_bits(f, NULL, &bits));
            assert_true(widths[w] == 2 || bly_filter_equal(bits, classic));
            assert_ok(bly_filter_clone(bits, NULL, &other));
            bly_filter_destroy(bits);
            bly_filter_destroy(other);
            bly_filter_destroy(classic);
            bly_filter_destroy(f);
        }
    bly_filter *f = NULL, *bits;
    bly_spec layered = bly_spec_for(BLY_LAYERED, 100, 0.01);
    assert_ok(bly_filter_create(&layered, &f));
    assert_int_equal(bly_counting_bits(f, NULL, &bits), BLY_EUNSUPPORTED);
    assert_null(bits);
    bly_filter_destroy(f);
}

/* ---- two filters ----------------------------------------------------------------------------- */

/* Returns what is left of counter x when y is subtracted: x itself if either is stuck, or if y is
 * larger. */
static uint64_t less(uint64_t x, uint64_t y, uint64_t limit) {
    return x == limit || y == limit || x < y ? x : x - y;
}

/* Combines random pairs of counter values, at every position within a word. */
static void combines_counter_by_counter(void **state) {
    (void)state;
    FOR_EACH_SORT(kind, width) {
        uint64_t size = kind == BLY_COUNTING ? 1013 : 9, dice = width;
        for (int what = 0; what < (kind == BLY_COUNTING ? 3 : 2); what++) {
            bly_filter *a = exact(kind, 5, size, width), *b = exact(kind, 5, size, width);
            model m = model_of(a);
            for (uint64_t i = 0; i < m.n; i++) {
                uint64_t x = blyt_next(&dice) & m.limit, y = blyt_next(&dice) & m.limit;
                x = i % 5 == 0 ? m.limit : i % 7 == 0 ? 0 : x;
                y = i % 11 == 0 ? m.limit : i % 13 == 0 ? 0 : i % 17 == 0 ? x : y;
                set_cell(a, i, x);
                set_cell(b, i, y);
                m.cells[i] = what == 0   ? (x + y < m.limit ? x + y : m.limit)
                             : what == 1 ? (x < y ? x : y)
                                         : less(x, y, m.limit);
            }
            uint8_t *kept = keep_body(b);
            assert_ok(what == 0   ? bly_filter_union(a, b)
                      : what == 1 ? bly_filter_intersect(a, b)
                                  : bly_filter_subtract(a, b));
            assert_cells(a, &m);
            assert_body_is(b, kept);
            for (uint64_t i = m.n * width; i < 8 * a->body_bytes; i++)
                assert_int_equal(a->body[i / 8] >> i % 8 & 1, 0);
            free(m.cells);
            bly_filter_destroy(a);
            bly_filter_destroy(b);
        }
    }
}

/* When keys that were never added are subtracted, a counter that is smaller than what is to be
 * subtracted stays as it is, and the count stays plausible. */
static void subtraction_of_non_members(void **state) {
    (void)state;
    FOR_EACH_SORT(kind, width) {
        bly_filter *a = counters(kind, 4000, 0.01, width), *b;
        bly_filter_info s = {.struct_size = sizeof s};
        assert_ok(bly_filter_clone(a, NULL, &b));
        add_hashes(a, 1, 0, 1);
        add_hashes(b, 2, 0, 1);
        uint8_t *kept = keep_body(a);
        assert_ok(bly_filter_subtract(a, b));
        assert_body_is(a, kept);
        assert_int_equal(bly_filter_count(a), 1);
        /* Subtracts ten times as many keys as there are, all of them non-members. */
        add_hashes(a, 1, 1, 400);
        add_hashes(b, 2, 1, 4000);
        assert_ok(bly_filter_subtract(a, b));
        bly_filter_get_info(a, &s);
        assert_true(s.set_bits > 0 && s.count > 0 && s.count <= 400);
        /* Subtracting a subset is exact. */
        bly_filter_clear(a);
        bly_filter_clear(b);
        add_hashes(a, 1, 0, 4000);
        add_hashes(b, 1, 1000, 4000);
        assert_ok(bly_filter_subtract(a, b));
        assert_int_equal(bly_filter_count(a), 1000);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
    }
}

/* Statistics with 500 copies of one key. A count near 2^64, which a file may state, stops at the
 * largest number. */
static void counts_and_statistics_of_copies(void **state) {
    (void)state;
    FOR_EACH_SORT(kind, width) {
        bly_filter *f = counters(kind, 1000, 0.01, width);
        bly_filter_info s = {.struct_size = sizeof s};
        for (int i = 0; i < 500; i++)
            add_hashes(f, 1, 0, 1);
        bly_filter_get_info(f, &s);
        assert_true(s.count == 500 && s.fill > 0 && fabs(s.expected_fill / s.fill - 1) < 0.01);
        f->items = UINT64_MAX - 1;
        add_hashes(f, 1, 0, 3);
        assert_true(bly_filter_count(f) == UINT64_MAX);
        bly_filter_destroy(f);
    }
}

static void union_and_difference_are_exact(void **state) {
    (void)state;
    FOR_EACH_SORT(kind, width) {
        bly_filter *a = counters(kind, 4000, 0.01, width), *b, *both, *only;
        assert_ok(bly_filter_clone(a, NULL, &b));
        add_hashes(a, 1, 0, 2000);
        assert_ok(bly_filter_clone(a, NULL, &both));
        assert_ok(bly_filter_clone(a, NULL, &only));
        add_hashes(b, 1, 1500, 3500);
        add_hashes(both, 1, 1500, 3500);
        assert_ok(bly_filter_union(a, b));
        assert_true(bly_filter_equal(a, both));
        assert_int_equal(bly_filter_count(a), 4000);
        assert_ok(bly_filter_subtract(a, b));
        assert_int_equal(bly_filter_count(a), 2000);
        assert_true(contains_hashes(a, 1, 0, 2000));
        assert_true(width == 2 || bly_filter_equal(a, only));
        assert_ok(bly_filter_union(a, a));
        assert_true(bly_filter_count(a) == 4000 && bly_filter_copies_hash(a, hash_at(1, 0)) >= 2);
        assert_ok(bly_filter_subtract(a, a));
        assert_emptied(a);
        /* A stuck counter of src must not be subtracted. Both filters have two copies of the key,
         * but src had more before, so that its counters are stuck. */
        bly_filter_clear(a);
        bly_filter_clear(b);
        for (uint64_t i = 0; i < limit_of(a); i++)
            add_hashes(b, 9, 0, 1);
        for (uint64_t i = 2; i < limit_of(a); i++)
            remove_hashes(b, 9, 0, 1);
        add_hashes(a, 9, 0, 1);
        add_hashes(a, 9, 0, 1);
        assert_ok(bly_filter_subtract(a, b));
        assert_true(bly_filter_contains_hash(a, hash_at(9, 0)) && bly_filter_count(a) == 2);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
        bly_filter_destroy(both);
        bly_filter_destroy(only);
    }
}

static void intersection_loses_nothing(void **state) {
    (void)state;
    FOR_EACH_SORT(kind, width) {
        bly_filter *a = counters(kind, 40000, 0.01, width), *b;
        bly_overlap o;
        bly_filter_info s = {.struct_size = sizeof s};
        assert_ok(bly_filter_clone(a, NULL, &b));
        for (int copy = 0; copy < 2; copy++) {
            add_hashes(a, 1, 0, 20000);
            add_hashes(b, 1, 15000, 30000);
        }
        assert_ok(bly_filter_overlap(a, b, &o));
        assert_true(fabs(o.a / 20000 - 1) < 0.01 && fabs(o.b / 15000 - 1) < 0.01);
        assert_true(fabs(o.both / 5000 - 1) < 0.05 && fabs(o.either / 30000 - 1) < 0.01);
        assert_true(fabs(o.jaccard * 6 - 1) < 0.05);
        assert_ok(bly_filter_intersect(a, b));
        bly_filter_get_info(a, &s);
        assert_true(s.approximate && contains_hashes(a, 1, 15000, 20000));
        for (uint64_t i = 15000; i < 20000; i++)
            assert_true(bly_filter_copies_hash(a, hash_at(1, i)) >= 2);
        assert_true(fabs((double)s.count / 10000 - 1) < 0.1);
        assert_true(count_hashes(a, 2, 0, 20000) < 300);
        bly_filter *other = exact(kind, a->geometry.hashes, a->geometry.size + 1, width);
        assert_int_equal(bly_filter_union(a, other), BLY_EMISMATCH);
        bly_filter_destroy(other);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
    }
}

/* ---- files and damage ------------------------------------------------------------------------ */

static void files_come_back(void **state) {
    char path[] = "test_counting_XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    (void)close(fd);
    FOR_EACH_SORT(kind, width) {
        bly_filter *f = counters(kind, 3000, 0.01, width), *g;
        bly_map *map;
        add_hashes(f, 1, 0, 3000);
        add_hashes(f, 1, 0, 1000);
        assert_ok(bly_filter_save(f, path));
        assert_ok(bly_filter_load(path, NULL, &g));
        assert_true(bly_filter_equal(f, g) && bly_filter_count(g) == 4000);
        bly_filter_destroy(g);
        bly_open_options verify = {.struct_size = sizeof verify, .flags = BLY_OPEN_VERIFY};
        assert_ok(bly_map_open(path, &verify, &map));
        assert_true(bly_filter_equal(f, bly_map_filter(map)));
        assert_true(contains_hashes(bly_map_filter(map), 1, 0, 3000));
        assert_ok(bly_filter_clone(bly_map_filter(map), NULL, &g));
        bly_filter *bits;
        assert_ok(bly_counting_bits(bly_map_filter(map), NULL, &bits));
        assert_true(contains_hashes(bits, 1, 0, 3000));
        bly_filter_destroy(bits);
        bly_map_close(map);
        remove_hashes(g, 1, 0, 3000);
        remove_hashes(g, 1, 0, 1000);
        assert_emptied(g);
        bly_filter_destroy(g);
        /* A width that no counting filter has is refused, also with correct checksums. */
        f->geometry.detail = 3;
        blyt_buffer im = blyt_write(f);
        assert_int_equal(bly_filter_parse(im.data, im.size, NULL, &g), BLY_ECORRUPT);
        free(im.data);
        f->geometry.detail = width;
        bly_filter_destroy(f);
    }
    (void)unlink(path);
}

/* Uses a map whose body has only random bytes, padding included, in every way that maps allow. */
static void damage(bly_geometry g) {
    uint64_t bytes = bly_plan_bytes(&g), dice = g.size ^ g.hashes;
    uint8_t *body = aligned_alloc(64, (size_t)bytes);
    assert_non_null(body);
    for (uint64_t i = 0; i < bytes; i++)
        body[i] = g.hashes % 3 ? (uint8_t)blyt_next(&dice) : 255;
    blyi_shape shape = {.geometry = g, .capacity = 1, .fpr = 0.5, .items = 5};
    bly_filter *f, *other, *bits;
    bly_filter_info s = {.struct_size = sizeof s};
    bly_overlap o;
    assert_ok(bly_hasher_init(&shape.hasher, BLY_HASH_XXH3, 0));
    assert_ok(blyi_filter_make(&shape, NULL, body, &f));
    assert_ok(blyi_filter_make(&shape, NULL, NULL, &other));
    blyt_list l = blyt_list_of(KEYS_RANDOM, 0, 1000);
    (void)bly_filter_contains_many(f, l.keys, l.n, NULL);
    for (uint64_t i = 0; i < 500; i++) {
        bly_hash h = hash_at(5, i);
        h.lo = i % 7 == 0 ? UINT64_MAX : h.lo;
        h.hi = i % 5 == 0 ? UINT64_MAX : h.hi;
        assert_int_equal(bly_filter_copies_hash(f, h) > 0, bly_filter_contains_hash(f, h));
        assert_true(bly_filter_copies_hash(f, h) <= limit_of(f));
    }
    bly_filter_get_info(f, &s);
    assert_true(s.fill >= 0 && s.fill <= 1 && s.current_fpr >= 0 && s.current_fpr <= 1);
    assert_true(s.set_bits <= s.bits && s.stuck <= cells_of(f));
    assert_ok(bly_filter_overlap(f, other, &o));
    assert_true(o.both >= 0 && o.jaccard >= 0 && o.jaccard <= 1);
    assert_ok(bly_filter_union(other, f));
    blyt_buffer im = blyt_write(other); /* must not contain the padding of f */
    bly_filter_destroy(other);
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &other));
    free(im.data);
    assert_ok(bly_filter_intersect(other, f));
    assert_ok(bly_filter_subtract(other, f));
    if (g.kind == BLY_COUNTING) {
        assert_ok(bly_counting_bits(f, NULL, &bits));
        im = blyt_write(bits);
        bly_filter_destroy(bits);
        assert_ok(bly_filter_parse(im.data, im.size, NULL, &bits));
        free(im.data);
        bly_filter_destroy(bits);
    }
    blyt_list_free(&l);
    bly_filter_destroy(other);
    bly_filter_destroy(f);
    free(body);
}

static void survives_any_body(void **state) {
    static const uint64_t sizes[] = {64, 65, 127, 1000, 4097};
    (void)state;
    FOR_EACH_SORT(kind, width)
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (uint32_t k = 1; k <= 16; k += 5)
            damage((bly_geometry){kind, k, kind == BLY_COUNTING ? sizes[i] : i + 1, 0, width});
}

static void does_without_memory(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        for (size_t fail_at = 1; fail_at < 6; fail_at++) {
            blyt_heap heap = {.fail_at = fail_at};
            bly_allocator a = blyt_heap_allocator(&heap);
            bly_spec spec = bly_spec_for(kinds[i], 1000, 0.01);
            bly_filter *f, *bits = NULL;
            spec.allocator = &a;
            bly_status status = bly_filter_create(&spec, &f);
            assert_int_equal(status, fail_at <= 2 ? BLY_ENOMEM : BLY_OK);
            if (status == BLY_OK && i == 0) {
                add_hashes(f, 1, 0, 1000);
                uint8_t *kept = keep_body(f);
                assert_int_equal(bly_counting_bits(f, &a, &bits),
                                 fail_at <= 4 ? BLY_ENOMEM : BLY_OK);
                assert_body_is(f, kept);
            }
            bly_filter_destroy(bits);
            bly_filter_destroy(f);
            assert_int_equal(heap.live, 0);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_bits_are_a_classic_filter),
        cmocka_unit_test(combines_counter_by_counter),
        cmocka_unit_test(subtraction_of_non_members),
        cmocka_unit_test(counts_and_statistics_of_copies),
        cmocka_unit_test(union_and_difference_are_exact),
        cmocka_unit_test(intersection_loses_nothing),
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(survives_any_body),
        cmocka_unit_test(does_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
