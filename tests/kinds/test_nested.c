/* Files of filters that are made of levels: saving and loading gives the same filter, whatever its
 * levels are, and a file with a wrong level is refused. test_store.c tests what all kinds have in
 * common. */
#include "levels_support.h"

/* ---- assembled files ------------------------------------------------------------------------- */

/* A filter may have levels of different kinds: the format allows combinations that Bloomery does
 * not create. */
static void test_levels_of_any_kind(void **state) {
    (void)state;
    blyt_buffer parts[] = {
        part((bly_geometry){BLY_CLASSIC, 7, 1000, 0}, 60, 0.001, 0, 20),
        part((bly_geometry){BLY_CLASSIC, 5, 1031, BLY_TEXTBOOK}, 60, 0.001, 20, 20),
        part((bly_geometry){BLY_PARTITIONED, 4, 128, BLY_FOLDABLE}, 60, 0.001, 40, 20),
        part((bly_geometry){BLY_SBBF, 8, 3, 0}, 60, 0.001, 60, 20),
        part((bly_geometry){BLY_BB2X512, 6, 2, 0}, 60, 0.001, 80, 20),
        part((bly_geometry){BLY_SPLIT512, 8, 2, 0}, 21, 0.001, 100, 20),
    };
    blyt_buffer im = assemble(BLY_SCALABLE, parts, COUNT_OF(parts), 0.01);
    bly_filter *f, *g;
    bly_map *map;
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &f));
    spill(at("a.bly"), im.data, im.size);
    assert_ok(bly_filter_load(at("a.bly"), NULL, &g));
    assert_same(f, g);
    assert_ok(bly_map_open(at("a.bly"), NULL, &map));
    assert_same(f, bly_map_filter(map));
    assert_true(contains_keys(bly_map_filter(map), "store", 0, 120));
    assert_false(contains_keys(f, "other", 0, 120));
    assert_int_equal(bly_filter_level_count(f), COUNT_OF(parts));
    assert_int_equal(bly_filter_capacity(f), 321);
    blyt_buffer again = blyt_write(bly_map_filter(map));
    assert_int_equal(again.size, im.size);
    assert_memory_equal(again.data, im.data, im.size);
    /* The next level follows from the last one: it has twice its capacity of 21 keys, and 0.15 of
     * the remaining rate of 0.004. */
    add_keys(f, "store", 120, 5);
    assert_int_equal(bly_filter_level_count(f), COUNT_OF(parts) + 1);
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(bly_filter_level(f, COUNT_OF(parts)), &s);
    assert_int_equal(s.capacity, 42);
    assert_true(s.requested_fpr > 0.0005999 && s.requested_fpr < 0.0006001);
    assert_true(contains_keys(f, "store", 0, 125));
    /* A mapped filter is read-only, a clone of it is not. */
    bly_filter_destroy(g);
    assert_ok(bly_filter_clone(bly_map_filter(map), NULL, &g));
    bly_map_close(map);
    add_keys(g, "store", 120, 5);
    assert_true(bly_filter_equal(f, g));
    bly_filter_destroy(f);
    bly_filter_destroy(g);
    free(im.data);
    free(again.data);
}

/* A scalable filter as a level; everything else is valid. */
static void test_no_levels_in_levels(void **state) {
    (void)state;
    blyt_buffer parts[] = {part((bly_geometry){BLY_SPLIT512, 8, 2, 0}, 20, 0.001, 0, 20)};
    bly_filter *f;
    parts[0] = assemble(BLY_SCALABLE, parts, 1, 0.01);
    assert_ok(bly_filter_parse(parts[0].data, parts[0].size, NULL, &f));
    bly_filter_destroy(f);
    blyt_buffer im = assemble(BLY_SCALABLE, parts, 1, 0.01);
    assert_refused(im, NULL, BLY_ECORRUPT);
    free(im.data);
}

/* Levels must be of kinds whose keys only set bits. Others are refused, because they may change in
 * other ways. */
static void test_levels_are_plain(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        if (blyt_has_plain_bits(shape_at(i).kind))
            continue;
        bly_filter *f = filled(shape_at(i), NULL, 20);
        blyt_buffer parts[] = {part((bly_geometry){BLY_SPLIT512, 8, 2, 0, 0}, 20, 0.001, 0, 20),
                               blyt_write(f)};
        blyt_buffer im = assemble(BLY_SCALABLE, parts, 2, 0.5);
        assert_refused_by_header(im, BLY_ECORRUPT);
        free(im.data);
        bly_filter_destroy(f);
    }
}

static void test_how_many_levels(void **state) {
    (void)state;
    blyt_buffer parts[MAX_PARTS];
    for (size_t n = 1; n <= 49; n += n < 47 ? 23 : 1) {
        for (size_t i = 0; i < n; i++)
            parts[i] = part((bly_geometry){BLY_CLASSIC, 2, 64, 0}, 4, 1e-4, 4 * (int)i, 4);
        blyt_buffer im = assemble(BLY_SCALABLE, parts, n, 0.01);
        bly_filter *f;
        if (n > 48) {
            assert_refused(im, NULL, BLY_ECORRUPT);
            free(im.data);
            continue;
        }
        assert_ok(bly_filter_parse(im.data, im.size, NULL, &f));
        assert_int_equal(bly_filter_level_count(f), n);
        assert_true(contains_keys(f, "store", 0, 4 * (int)n));
        /* Levels as small as these have many false positives, so keys are added until one of them
         * is new. */
        bly_status status = BLY_OK;
        char key[32];
        for (int i = 0; status == BLY_OK && bly_filter_level_count(f) == n && i < 5000; i++) {
            size_t len = (size_t)key_text(key, "more", i);
            status = bly_filter_add(f, key, len, NULL);
        }
        assert_int_equal(status, n < 48 ? BLY_OK : BLY_EFULL);
        assert_int_equal(bly_filter_level_count(f), n < 48 ? n + 1 : 48);
        bly_filter_destroy(f);
        free(im.data);
    }
}

/* Levels may state any count. The count of the whole must be their sum, which stops at 2^64 - 1. */
static void test_any_count(void **state) {
    (void)state;
    bly_filter *f, *g;
    blyt_buffer parts[2];
    for (int i = 0; i < 2; i++) {
        parts[i] = part((bly_geometry){BLY_SPLIT512, 8, 2, 0}, 20, 0.001, 20 * i, 20);
        store(parts[i].data + 32, UINT64_MAX, 8);
        fix_header_sum(parts[i].data);
    }
    blyt_buffer im = assemble(BLY_SCALABLE, parts, 2, 0.01);
    assert_refused(im, NULL, BLY_ECORRUPT); /* their sum exceeds 2^64 - 1 */
    store(im.data + 32, UINT64_MAX, 8);
    fix_header_sum(im.data);
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &f));
    assert_int_equal(bly_filter_count(f), UINT64_MAX);
    assert_ok(bly_filter_clone(f, NULL, &g));
    assert_ok(bly_filter_union(f, g));
    assert_true(contains_keys(f, "store", 0, 40));
    bly_filter_destroy(f);
    bly_filter_destroy(g);
    free(im.data);
}

/* ---- wrong levels ---------------------------------------------------------------------------- */

/* A file with three levels, and the offsets of their headers. */
typedef struct three {
    blyt_buffer im;
    size_t header[3], body[3];
} three;

static three three_levels(void) {
    bly_filter *f = filled((bly_geometry){BLY_SCALABLE, 0, 10, 0}, NULL, 40);
    three t = {.im = blyt_write(f)};
    bly_file_info info = {.struct_size = sizeof info};
    assert_int_equal(bly_filter_level_count(f), 3);
    bly_filter_destroy(f);
    size_t where = HEADER;
    for (int i = 0; i < 3; i++) {
        assert_ok(bly_file_parse_info(t.im.data + where, t.im.size - where, &info));
        t.header[i] = where;
        t.body[i] = where + HEADER;
        where = t.body[i] + (size_t)info.body_bytes;
    }
    assert_int_equal(where, t.im.size);
    return t;
}

static const lie level_lies[] = {
    {0, 1, 'X', BLY_ECORRUPT}, /* magic */
    {4, 1, 0, BLY_ECORRUPT},   /* version */
    {4, 1, 2, BLY_EVERSION},
    {5, 1, 0, BLY_EKIND}, /* kind */
    {5, 1, BLY_SCALABLE, BLY_ECORRUPT},
    {5, 1, 200, BLY_EKIND},
    {6, 1, 0, BLY_EHASHER}, /* hash */
    {6, 1, BLY_HASH_XXH64, BLY_ECORRUPT},
    {6, 1, BLY_HASH_CUSTOM, BLY_ECORRUPT},
    {6, 1, BLY_HASH_CUSTOM_RAW, BLY_ECORRUPT},
    {7, 1, 1, BLY_ECORRUPT}, /* flags: keyed, approximate, no such rule, another rule */
    {7, 1, 2, BLY_ECORRUPT},
    {7, 1, 8, BLY_ECORRUPT},
    {7, 1, BLY_KEYS_LINE << 3, BLY_ECORRUPT},
    {8, 1, 0, BLY_ECORRUPT},  /* k */
    {9, 1, 2, BLY_ECORRUPT},  /* width */
    {16, 8, 0, BLY_ECORRUPT}, /* size */
    {16, 8, 100, BLY_ECORRUPT},
    {16, 8, UINT64_C(1) << 39, BLY_ECORRUPT},
    {16, 8, UINT64_C(1) << 58, BLY_ECORRUPT},
    {16, 8, UINT64_MAX, BLY_ECORRUPT},
    {24, 8, 0, BLY_ECORRUPT}, /* capacity */
    {24, 8, 9, BLY_ECORRUPT},
    {24, 8, UINT64_MAX, BLY_ECORRUPT},
    {32, 8, 77, BLY_ECORRUPT},     /* items */
    {40, 8, 0x5eee, BLY_ECORRUPT}, /* seed */
    {48, 8, 0, BLY_ECORRUPT},      /* rate: 0, nan, and 0.0125, that of the whole */
    {48, 8, UINT64_C(0x7ff8000000000001), BLY_ECORRUPT},
    {48, 8, UINT64_C(0x3f8999999999999a), BLY_ECORRUPT},
};

static void test_levels_that_lie(void **state) {
    (void)state;
    three t = three_levels();
    blyt_buffer right = {malloc(t.im.size), t.im.size};
    memcpy(right.data, t.im.data, t.im.size);
    for (int level = 0; level < 3; level++) {
        for (size_t i = 0; i < COUNT_OF(level_lies); i++) {
            uint8_t *header = t.im.data + t.header[level];
            store(header + level_lies[i].offset, level_lies[i].value, level_lies[i].width);
            fix_header_sum(header);
            fix_sums(t.im);
            assert_refused_by_header(t.im, level_lies[i].status);
            memcpy(t.im.data, right.data, right.size);
        }
        t.im.data[t.header[level] + 12] ^= 1; /* the level's header sum */
        fix_sums(t.im);
        assert_refused_by_header(t.im, BLY_ECORRUPT);
        memcpy(t.im.data, right.data, right.size);
        t.im.data[t.header[level] + 56] ^= 1; /* its body sum */
        fix_header_sum(t.im.data + t.header[level]);
        fix_sums(t.im);
        assert_refused(t.im, NULL, BLY_ECORRUPT);
        memcpy(t.im.data, right.data, right.size);
        t.im.data[t.body[level]] ^= 1; /* its body */
        fix_sums(t.im);
        assert_refused(t.im, NULL, BLY_ECORRUPT);
        memcpy(t.im.data, right.data, right.size);
    }
    free(t.im.data);
    free(right.data);
}

static const lie outer_lies[] = {
    {7, 1, 2, BLY_ECORRUPT}, /* approximate */
    {7, 1, 4, BLY_ECORRUPT}, /* foldable */
    {8, 1, 0, BLY_ECORRUPT}, /* levels */
    {8, 1, 1, BLY_ECORRUPT},
    {8, 1, 2, BLY_ECORRUPT},
    {8, 1, 4, BLY_ECORRUPT},
    {8, 1, 48, BLY_ECORRUPT},
    {8, 1, 49, BLY_ECORRUPT},
    {10, 2, 2, BLY_ECORRUPT}, /* sub: 2 is written as 0, and 32768 is the most */
    {10, 2, 32769, BLY_ECORRUPT},
    {24, 8, 10, BLY_ECORRUPT}, /* capacity: that of the first level */
    {24, 8, UINT64_MAX, BLY_ECORRUPT},
    {32, 8, 39, BLY_ECORRUPT},                           /* items */
    {40, 8, 7, BLY_ECORRUPT},                            /* seed */
    {48, 8, UINT64_C(0x3f70000000000000), BLY_ECORRUPT}, /* rate: 2^-8, below that of the levels */
};

static void test_a_whole_that_lies(void **state) {
    (void)state;
    three t = three_levels();
    uint8_t right[HEADER];
    memcpy(right, t.im.data, HEADER);
    for (size_t i = 0; i < COUNT_OF(outer_lies); i++) {
        store(t.im.data + outer_lies[i].offset, outer_lies[i].value, outer_lies[i].width);
        fix_header_sum(t.im.data);
        assert_refused_by_header(t.im, outer_lies[i].status);
        memcpy(t.im.data, right, HEADER);
    }
    /* The last level is missing or truncated, and the size is corrected to fit. */
    for (size_t size = HEADER; size < t.im.size; size += 64) {
        blyt_buffer cut = {t.im.data, size};
        store(cut.data + 16, size - HEADER, 8);
        fix_sums(cut);
        assert_refused_by_header(cut, BLY_ECORRUPT);
    }
    free(t.im.data);
}

/* A level that states a capacity above its number of bits is refused, because it could make the
 * next level arbitrarily large. */
static void test_a_capacity_past_belief(void **state) {
    (void)state;
    bly_filter *f;
    for (uint64_t capacity = 1024; capacity <= 1025; capacity++) {
        blyt_buffer parts[] = {part((bly_geometry){BLY_SPLIT512, 8, 2, 0}, 20, 0.001, 0, 20)};
        store(parts[0].data + 24, capacity, 8);
        fix_header_sum(parts[0].data);
        blyt_buffer im = assemble(BLY_SCALABLE, parts, 1, 0.01);
        if (capacity > 1024) {
            assert_refused_by_header(im, BLY_ECORRUPT);
        } else {
            assert_ok(bly_filter_parse(im.data, im.size, NULL, &f));
            bly_filter_destroy(f);
        }
        free(im.data);
    }
}

static void test_padding_of_a_level(void **state) {
    (void)state;
    blyt_buffer parts[] = {part((bly_geometry){BLY_CLASSIC, 7, 1000, 0}, 60, 0.001, 0, 20),
                           part((bly_geometry){BLY_CLASSIC, 7, 1000, 0}, 60, 0.001, 20, 20)};
    parts[1].data[HEADER + 125] |= 1;
    store(parts[1].data + 56, XXH64(parts[1].data + HEADER, parts[1].size - HEADER, 0), 8);
    fix_header_sum(parts[1].data);
    blyt_buffer im = assemble(BLY_SCALABLE, parts, 2, 0.01);
    assert_refused(im, NULL, BLY_ECORRUPT);
    free(im.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_levels_of_any_kind), IN_SCRATCH(test_no_levels_in_levels),
        IN_SCRATCH(test_how_many_levels),    IN_SCRATCH(test_levels_are_plain),
        IN_SCRATCH(test_any_count),          IN_SCRATCH(test_levels_that_lie),
        IN_SCRATCH(test_a_whole_that_lies),  IN_SCRATCH(test_a_capacity_past_belief),
        IN_SCRATCH(test_padding_of_a_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
