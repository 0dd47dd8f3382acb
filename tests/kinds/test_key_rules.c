/* test_key_rules.c - the key rule, a field of the header that records what keys were made from: in
 * every kind, and through every operation. */
#include "store_support.h"

#include <bloomery/host/chunks.h>
#include <bloomery/host/describe.h>
#include <bloomery/redis/bitmap.h>

static const bly_key_rule rules[] = {
    BLY_KEYS_UNRECORDED, BLY_KEYS_LINE,         BLY_KEYS_IP,    BLY_KEYS_DOMAIN,
    BLY_KEYS_EMAIL,      BLY_KEYS_URL,          BLY_KEYS_PHONE, BLY_KEYS_RECORD,
    BLY_KEYS_RECORD_URL, BLY_KEYS_RECORD_CRAWL, BLY_KEYS_OTHER,
};

static bly_filter *filled_by(size_t shape, bly_key_rule rule) {
    bly_filter *f = filled(shape_at(shape), NULL, 30);
    assert_int_equal(bly_filter_key_rule(f), BLY_KEYS_UNRECORDED);
    assert_ok(bly_filter_set_key_rule(f, rule));
    assert_int_equal(bly_filter_key_rule(f), rule);
    return f;
}

static bly_status read_memory(void *ctx, uint64_t from, void *to, size_t n) {
    memcpy(to, (const uint8_t *)ctx + from, n);
    return BLY_OK;
}

/* The codes are part of the file format, and must not change. */
static void test_codes(void **state) {
    (void)state;
    const unsigned codes[] = {0, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12};
    unsigned known = 0;
    bly_filter *f = filled(shape_at(0), NULL, 3);
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        assert_int_equal(rules[i], codes[i]);
        assert_true(bly_key_rule_known(codes[i]));
    }
    for (unsigned code = 0; code < 1000; code++)
        known += bly_key_rule_known(code);
    assert_int_equal(known, COUNT_OF(rules));
    assert_ok(bly_filter_set_key_rule(f, BLY_KEYS_IP));
    assert_int_equal(bly_filter_set_key_rule(f, (bly_key_rule)1), BLY_EINVAL);
    assert_int_equal(bly_filter_set_key_rule(f, (bly_key_rule)32), BLY_EINVAL);
    assert_int_equal(bly_filter_key_rule(f), BLY_KEYS_IP);
    bly_filter_destroy(f);
}

static void check_file(const bly_filter *f, bly_key_rule rule) {
    blyt_buffer im = blyt_write(f);
    bly_filter *parsed, *loaded, *copy, *read;
    bly_file_info info = {.struct_size = sizeof info};
    bly_map *map;
    const bly_chunk_source source = {im.size, read_memory, read_memory, im.data};
    assert_int_equal(im.data[7] >> 3, rule);
    assert_ok(bly_file_parse_info(im.data, im.size, &info));
    assert_int_equal(info.key_rule, rule);
    assert_ok(bly_filter_save(f, at("a.bly")));
    assert_file_is(at("a.bly"), im);
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &parsed));
    assert_ok(bly_filter_load(at("a.bly"), NULL, &loaded));
    assert_ok(bly_map_open(at("a.bly"), NULL, &map));
    assert_ok(bly_filter_clone(bly_map_filter(map), NULL, &copy));
    assert_ok(bly_filter_read_chunks(&source, NULL, &read));
    const bly_filter *const all[] = {parsed, loaded, bly_map_filter(map), copy, read};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        assert_int_equal(bly_filter_key_rule(all[i]), rule);
        blyt_buffer again = blyt_write(all[i]);
        assert_int_equal(again.size, im.size);
        assert_memory_equal(again.data, im.data, im.size);
        free(again.data);
    }
    bly_filter_destroy(parsed);
    bly_filter_destroy(loaded);
    bly_filter_destroy(copy);
    bly_filter_destroy(read);
    bly_map_close(map);
    free(im.data);
}

static void test_files_of_all_kinds(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        const bly_key_rule rule = rules[i % COUNT_OF(rules)];
        bly_filter *f = filled_by(i, rule);
        check_file(f, rule);
        bly_filter_clear(f);
        assert_int_equal(bly_filter_key_rule(f), rule);
        bly_filter_destroy(f);
    }
}

static void test_codes_that_do_not_exist(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled_by(i, BLY_KEYS_UNRECORDED);
        blyt_buffer im = blyt_write(f);
        const uint8_t flags = im.data[7];
        for (unsigned code = 0; code < 32; code++) {
            bly_file_info info = {.struct_size = sizeof info};
            im.data[7] = (uint8_t)(flags | code << 3);
            fix_header_sum(im.data);
            if (!bly_key_rule_known(code))
                assert_refused(im, NULL, BLY_ECORRUPT);
            else
                assert_ok(bly_file_parse_info(im.data, im.size, &info));
        }
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* If a part of a nested file has another rule than the whole, the file is refused. */
static void test_parts_have_the_rule_of_the_whole(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        if (!blyt_is_nested(shape_at(i).kind))
            continue;
        bly_filter *f = filled_by(i, BLY_KEYS_DOMAIN);
        blyt_buffer im = blyt_write(f);
        uint8_t *part = im.data + HEADER;
        assert_int_equal(part[7] >> 3, BLY_KEYS_DOMAIN);
        part[7] = (uint8_t)((part[7] & 7) | BLY_KEYS_IP << 3);
        fix_header_sum(part);
        store(im.data + 56, XXH64(part, im.size - HEADER, 0), 8);
        fix_header_sum(im.data);
        assert_refused(im, NULL, BLY_ECORRUPT);
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* Levels that are added later have the rule, too. */
static void test_growing(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        if (!shape_can(shape_at(i), BLY_CAN_ADD) ||
            bly_kind_capabilities(shape_at(i).kind) & BLY_FORGETS)
            continue;
        bly_filter *f = filled_by(i, BLY_KEYS_EMAIL);
        bly_status status = BLY_OK;
        for (int j = 0; j < 300 && status == BLY_OK; j++)
            status = bly_filter_add(f, &j, sizeof j, NULL);
        check_file(f, BLY_KEYS_EMAIL);
        bly_filter_destroy(f);
    }
}

static void test_overlays_take_it_over(void **state) {
    (void)state;
    bly_filter *base = filled_by(14, BLY_KEYS_IP), *f;
    assert_ok(bly_overlay_over(base, NULL, NULL, &f));
    assert_ok(bly_filter_add(f, "new", 3, NULL));
    check_file(f, BLY_KEYS_IP);
    /* The borrowed base does not change, but all parts of the saved file have the rule. */
    assert_ok(bly_filter_set_key_rule(f, BLY_KEYS_URL));
    assert_int_equal(bly_filter_key_rule(base), BLY_KEYS_IP);
    check_file(f, BLY_KEYS_URL);
    bly_filter_destroy(f);
    bly_filter_destroy(base);
}

static void test_folds(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled_by(i, BLY_KEYS_PHONE), *small;
        if (bly_filter_fold(f, 2, NULL, &small) == BLY_OK) {
            assert_int_equal(bly_filter_key_rule(small), BLY_KEYS_PHONE);
            bly_filter_destroy(small);
        }
        bly_filter_destroy(f);
    }
}

typedef struct combination {
    bly_key_rule a, b, result;
} combination;

static void test_unions_and_intersections(void **state) {
    (void)state;
    const combination all[] = {
        {BLY_KEYS_IP, BLY_KEYS_IP, BLY_KEYS_IP},
        {BLY_KEYS_IP, BLY_KEYS_DOMAIN, BLY_KEYS_UNRECORDED},
        {BLY_KEYS_IP, BLY_KEYS_UNRECORDED, BLY_KEYS_UNRECORDED},
        {BLY_KEYS_UNRECORDED, BLY_KEYS_IP, BLY_KEYS_UNRECORDED},
    };
    for (size_t i = 0; i < shape_count(); i++)
        for (size_t j = 0; j < COUNT_OF(all); j++) {
            bly_filter *a = filled_by(i, all[j].a), *b = filled_by(i, all[j].b), *c;
            assert_ok(bly_filter_clone(a, NULL, &c));
            if (bly_filter_union(a, b) == BLY_OK)
                check_file(a, all[j].result);
            if (bly_filter_intersect(c, b) == BLY_OK)
                check_file(c, all[j].result);
            bly_filter_destroy(a);
            bly_filter_destroy(b);
            bly_filter_destroy(c);
        }
}

/* In a union of an empty filter and another one, the result has the rule of the other one. */
static void test_unions_with_empty_filters(void **state) {
    (void)state;
    bly_filter *empty = filled(shape_at(0), NULL, 0), *f = filled_by(0, BLY_KEYS_URL);
    assert_ok(bly_filter_union(f, empty));
    assert_int_equal(bly_filter_key_rule(f), BLY_KEYS_URL);
    assert_ok(bly_filter_union(empty, f));
    assert_int_equal(bly_filter_key_rule(empty), BLY_KEYS_URL);
    bly_filter_destroy(f);
    bly_filter_destroy(empty);
}

static void test_strings_of_a_server(void **state) {
    (void)state;
    bly_filter *f = filled((bly_geometry){BLY_SBBF, 8, 4, 0, 0}, NULL, 5);
    const bly_bitmap_spec spec = {
        .struct_size = sizeof spec, .capacity = 100, .fpr = 0.01, .key_rule = BLY_KEYS_RECORD_URL};
    bly_bitmap_spec wrong = spec;
    bly_bitmap b, other;
    assert_ok(bly_filter_set_key_rule(f, BLY_KEYS_DOMAIN));
    assert_ok(bly_bitmap_from_filter(f, NULL, &b));
    assert_int_equal(b.key_rule, BLY_KEYS_DOMAIN);
    assert_ok(bly_bitmap_plan(&spec, &b));
    assert_int_equal(b.key_rule, BLY_KEYS_RECORD_URL);
    other = b;
    other.key_rule = BLY_KEYS_RECORD;
    assert_true(bly_bitmap_compatible(&b, &other));
    wrong.key_rule = (bly_key_rule)1;
    assert_int_equal(bly_bitmap_plan(&wrong, &b), BLY_EINVAL);
    bly_filter_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_files_of_all_kinds),
        cmocka_unit_test(test_codes_that_do_not_exist),
        cmocka_unit_test(test_parts_have_the_rule_of_the_whole),
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_overlays_take_it_over),
        cmocka_unit_test(test_folds),
        cmocka_unit_test(test_unions_and_intersections),
        cmocka_unit_test(test_unions_with_empty_filters),
        cmocka_unit_test(test_strings_of_a_server),
    };
    return cmocka_run_group_tests(tests, fresh_scratch, drop_scratch);
}
