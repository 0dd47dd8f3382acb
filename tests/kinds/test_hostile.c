/* test_hostile.c - damaged and malicious files: invalid files are refused, and files that are
 * accepted do no harm. */
#include "store_support.h"

#include <bloomery/host/describe.h>

/* ---- using accepted files -------------------------------------------------------------------- */

/* Asserts that a call succeeded, or was refused for a reason that depends on the filters. */
static void ends_well(bly_status status) {
    assert_true(status == BLY_OK || status == BLY_EUNSUPPORTED || status == BLY_EMISMATCH ||
                status == BLY_EFULL || status == BLY_ETOOBIG || status == BLY_ECORRUPT);
}

/* Uses a filter that was accepted: every operation must end, and access only its own memory. If the
 * body was checked (not if the file was mapped), added keys must be found. */
static void use(bly_filter *f, bool checked) {
    bly_filter_info stats = {.struct_size = sizeof stats};
    bly_filter *copy = NULL, *folded;
    bly_overlap o;
    char text[2048];
    bly_filter_get_info(f, &stats);
    (void)bly_filter_info_format(&stats, text, sizeof text);
    assert_ok(bly_filter_clone(f, NULL, &copy));
    assert_true(bly_filter_equal(f, copy));
    (void)contains_keys(f, "any", 0, 100);
    (void)bly_filter_copies(f, "any", 3);
    for (int i = 0; i < 60; i++) {
        char key[32];
        size_t len = (size_t)key_text(key, "any", i);
        bly_status status = bly_filter_add(copy, key, len, NULL);
        assert_int_equal(status == BLY_EUNSUPPORTED,
                         !(bly_kind_capabilities(stats.kind) & BLY_CAN_ADD));
        if (status == BLY_OK && checked)
            assert_true(bly_filter_contains(copy, key, len));
        if (i % 3 == 0)
            ends_well(bly_filter_remove(copy, key, len, NULL));
    }
    ends_well(bly_filter_overlap(f, copy, &o));
    ends_well(bly_filter_union(copy, f));
    ends_well(bly_filter_subtract(copy, f));
    ends_well(bly_filter_intersect(copy, f));
    if (bly_filter_fold(f, 2, NULL, &folded) == BLY_OK)
        bly_filter_destroy(folded);
    bly_filter_clear(copy);
    assert_int_equal(bly_filter_count(copy), 0);
    bly_filter_destroy(copy);
}

/* Asserts that f is written as `im` again, except that kinds that only count keys replace the count
 * in the header by their own estimate. */
static void assert_written_again(const bly_filter *f, blyt_buffer im) {
    blyt_buffer again = blyt_write(f);
    assert_int_equal(again.size, im.size);
    if (bly_kind_capabilities(bly_filter_geometry(f).kind) & BLY_CARDINALITY_ONLY) {
        memcpy(again.data + 32, im.data + 32, 8);
        fix_header_sum(again.data);
    }
    assert_memory_equal(again.data, im.data, im.size);
    free(again.data);
}

/* Asserts that a file with correct checksums is refused before anything is allocated, or gives a
 * filter that works and writes the same bytes. */
static void refused_or_harmless(blyt_buffer im) {
    blyt_heap heap = {0};
    bly_allocator a = blyt_heap_allocator(&heap);
    const bly_open_options o = {.struct_size = sizeof o, .allocator = &a};
    bly_filter *f = NULL;
    bly_status status = bly_filter_parse(im.data, im.size, &o, &f);
    if (status) {
        assert_int_equal(status, BLY_ECORRUPT);
        assert_null(f);
        assert_int_equal(heap.calls, 0);
        return;
    }
    assert_written_again(f, im);
    use(f, true);
    bly_filter_destroy(f);
    assert_int_equal(heap.live, 0);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void test_truncations(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), NULL, 30);
        blyt_buffer im = blyt_write(f);
        const char *path = at("truncated.bly");
        spill(path, im.data, im.size);
        for (size_t size = im.size; size-- > 0;) {
            assert_int_equal(truncate(path, (off_t)size), 0);
            assert_parse_refused((blyt_buffer){im.data, size}, NULL, BLY_ECORRUPT);
            assert_load_refused(path, size, NULL, BLY_ECORRUPT);
            assert_map_refused(path, size, NULL, BLY_ECORRUPT);
        }
        assert_ok(blyt_sink(&im, "", 1)); /* one byte too many */
        assert_refused(im, NULL, BLY_ECORRUPT);
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* `im` has a wrong byte at `where`: writes that byte to the file at `path`, open as fd, and asserts
 * that the file is refused. */
static void assert_flip_refused(blyt_buffer im, size_t where, const char *path, int fd) {
    bly_filter *f;
    bly_map *map;
    const bly_open_options verify = {.struct_size = sizeof verify, .flags = BLY_OPEN_VERIFY};
    assert_int_equal(pwrite(fd, &im.data[where], 1, (off_t)where), 1);
    assert_int_not_equal(bly_filter_load(path, NULL, &f), BLY_OK);
    assert_int_not_equal(bly_map_open(path, &verify, &map), BLY_OK);
    if (where >= HEADER)
        return;
    bly_file_info info = {.struct_size = sizeof info};
    assert_int_not_equal(bly_map_open(path, NULL, &map), BLY_OK);
    assert_int_not_equal(bly_file_parse_info(im.data, im.size, &info), BLY_OK);
}

/* In memory, flips every single bit. In the file, flips every bit of the header and one bit per
 * byte of the body, or every bit in kinds_hostile_large. */
static void test_every_byte_counts(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), NULL, 30);
        blyt_buffer im = blyt_write(f);
        const char *path = at("flip.bly");
        int fd = open_over(path, im);
        for (size_t where = 0; where < im.size; where++) {
            uint8_t right = im.data[where];
            /* In the header of the first shape, tries every wrong value of a byte instead of
             * flipped bits. */
            bool every = i == 0 && where < HEADER;
            for (int turn = 1; turn < 256; turn = every ? turn + 1 : turn * 2) {
                bly_filter *read = NULL;
                im.data[where] = (uint8_t)(right ^ turn);
                assert_int_not_equal(bly_filter_parse(im.data, im.size, NULL, &read), BLY_OK);
                if (where < HEADER || turn == 1 << where % 8 || blyt_large())
                    assert_flip_refused(im, where, path, fd);
            }
            im.data[where] = right;
            assert_int_equal(pwrite(fd, &right, 1, (off_t)where), 1);
        }
        assert_int_equal(close(fd), 0);
        assert_file_is(path, im);
        free(im.data);
        bly_filter_destroy(f);
    }
}

static void test_padding_is_zero(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), NULL, 30);
        blyt_buffer im = blyt_write(f);
        bly_geometry g = bly_filter_geometry(f);
        uint64_t used = bly_plan_bits(&g);
        const char *path = at("padding.bly");
        int fd = open_over(path, im);
        for (uint64_t bit = used; bit < 8 * (im.size - HEADER); bit++) {
            im.data[HEADER + bit / 8] ^= (uint8_t)(1 << bit % 8);
            fix_sums(im);
            assert_refused_over(path, fd, im, BLY_ECORRUPT);
            im.data[HEADER + bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_int_equal(close(fd), 0);
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* Overwrites the body, or the bodies of all levels or parts, with the byte `fill` or, if it is 256
 * or more, with random bytes. */
static void fill_bodies(blyt_buffer im, int fill) {
    bly_file_info info = {.struct_size = sizeof info};
    uint64_t rng = (uint64_t)fill;
    size_t start = HEADER;
    assert_ok(bly_file_parse_info(im.data, im.size, &info));
    bool nested = blyt_is_nested(info.geometry.kind);
    for (size_t at = start; at < im.size && !nested; at++)
        im.data[at] = (uint8_t)(fill < 256 ? (uint64_t)fill : blyt_next(&rng));
    for (; nested && start < im.size; start += HEADER + (size_t)info.body_bytes) {
        assert_ok(bly_file_parse_info(im.data + start, im.size - start, &info));
        for (size_t at = 0; at < info.body_bytes; at++)
            im.data[start + HEADER + at] = (uint8_t)(fill < 256 ? (uint64_t)fill : blyt_next(&rng));
    }
}

/* Asserts that the file of a filter can be loaded, even if the filter was made from an untrusted
 * one. */
static void assert_loads(const bly_filter *f) {
    bly_filter *again;
    blyt_buffer im = blyt_write(f);
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &again));
    bly_filter_destroy(again);
    free(im.data);
}

static void map_and_use(blyt_buffer im, bly_filter *f) {
    bly_map *map;
    bly_filter_info stats = {.struct_size = sizeof stats};
    bly_filter *copy = NULL;
    spill(at("body.bly"), im.data, im.size);
    assert_ok(bly_map_open(at("body.bly"), NULL, &map));
    const bly_filter *g = bly_map_filter(map);
    (void)contains_keys(g, "any", 0, 100);
    (void)bly_filter_copies(g, "any", 3);
    bly_filter_get_info(g, &stats);
    assert_true(stats.set_bits <= stats.bits && stats.fill <= 1 && stats.current_fpr <= 1);
    ends_well(bly_filter_union(f, g));
    ends_well(bly_filter_subtract(f, g));
    /* Only a filter that could have been loaded may be cloned and changed. */
    bly_status status = bly_filter_clone(g, NULL, &copy);
    bly_map_close(map);
    assert_true(status == BLY_OK || status == BLY_ECORRUPT);
    assert_int_equal(copy != NULL, status == BLY_OK);
    if (copy) {
        assert_loads(copy);
        use(copy, false);
    }
    bly_filter_destroy(copy);
}

/* Mapping checks only the headers of the file and its parts, so any body must be safe. */
static void test_any_body_is_safe(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        blyt_buffer im;
        for (int fill = 0; fill < 256 + 40 / BLYT_SLOW; fill += fill < 255 ? 51 : 1) {
            bly_filter *f = filled(shape_at(i), NULL, 30);
            im = blyt_write(f);
            fill_bodies(im, fill);
            map_and_use(im, f);
            assert_loads(f);
            bly_filter_destroy(f);
            free(im.data);
        }
    }
}

/* If adding a key only sets bits, a filter with all bits set contains every key. */
static void test_all_bits_set(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        if (!blyt_has_plain_bits(shape_at(i).kind))
            continue;
        bly_filter *f = filled(shape_at(i), NULL, 30);
        blyt_buffer im = blyt_write(f);
        for (int fill = 0; fill < 256; fill += 51) {
            bly_map *map;
            fill_bodies(im, fill);
            spill(at("body.bly"), im.data, im.size);
            assert_ok(bly_map_open(at("body.bly"), NULL, &map));
            assert_int_equal(contains_keys(bly_map_filter(map), "any", 0, 100), fill == 255);
            bly_map_close(map);
        }
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* Bodies with correct checksums and wrong contents: changes single words, all of those at the start
 * of the body and some of the others. */
static void test_hostile_bodies(void **state) {
    static const uint64_t words[] = {
        0, 1, 2, 63, 64, 0xff, UINT64_C(1) << 32, UINT64_MAX >> 1, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        if (shape_at(i).kind == BLY_SCALABLE)
            continue; /* test_nested.c tests its levels */
        bly_filter *f = filled(shape_at(i), NULL, 30);
        blyt_buffer im = blyt_write(f);
        for (size_t word = HEADER; word < im.size; word += word < HEADER + 320 ? 8 : 120)
            for (size_t j = 0; j < COUNT_OF(words); j++) {
                uint64_t right = load(im.data + word, 8);
                store(im.data + word, words[j], 8);
                fix_all_sums(im);
                refused_or_harmless(im);
                store(im.data + word, right, 8);
            }
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* ---- hostile headers, with correct sums ------------------------------------------------------ */

static const lie lies[] = {
    {4, 1, 0, BLY_ECORRUPT}, /* version */
    {4, 1, 2, BLY_EVERSION},
    {5, 1, 0, BLY_EKIND},        /* kind */
    {5, 1, 8, BLY_EUNSUPPORTED}, /* codes of removed kinds */
    {5, 1, 20, BLY_EUNSUPPORTED},
    {5, 1, 200, BLY_EKIND},
    {5, 1, 255, BLY_EKIND},
    {6, 1, 0, BLY_EHASHER}, /* hash */
    {6, 1, 16, BLY_EHASHER},
    {6, 1, 253, BLY_EHASHER},
    {6, 1, BLY_HASH_CUSTOM, BLY_EHASHER},
    {6, 1, BLY_HASH_CUSTOM_RAW, BLY_EHASHER},
    {6, 1, BLY_HASH_SIPHASH, BLY_ECORRUPT},
    {7, 1, 1, BLY_ECORRUPT}, /* flags */
    {7, 1, 8, BLY_ECORRUPT},
    {7, 1, 0xf8, BLY_ECORRUPT},
    {8, 1, 0, BLY_ECORRUPT}, /* k */
    {8, 1, 255, BLY_ECORRUPT},
    {9, 1, 0, BLY_ECORRUPT}, /* width */
    {9, 1, 200, BLY_ECORRUPT},
    {16, 8, 0, BLY_ECORRUPT}, /* size */
    {16, 8, UINT64_C(1) << 40, BLY_ECORRUPT},
    {16, 8, UINT64_C(1) << 48, BLY_ECORRUPT},
    {16, 8, UINT64_C(1) << 55, BLY_ECORRUPT}, /* times 512 bits: 2^64 */
    {16, 8, UINT64_C(1) << 63, BLY_ECORRUPT},
    {16, 8, UINT64_MAX, BLY_ECORRUPT},
    {16, 8, UINT64_MAX - 63, BLY_ECORRUPT},
    {24, 8, 0, BLY_ECORRUPT}, /* capacity */
    {48, 8, 0, BLY_ECORRUPT}, /* rate: 0, -0, 1, inf, -inf, nan, -1% */
    {48, 8, UINT64_C(0x8000000000000000), BLY_ECORRUPT},
    {48, 8, UINT64_C(0x3ff0000000000000), BLY_ECORRUPT},
    {48, 8, UINT64_C(0x7ff0000000000000), BLY_ECORRUPT},
    {48, 8, UINT64_C(0xfff0000000000000), BLY_ECORRUPT},
    {48, 8, UINT64_C(0x7ff8000000000001), BLY_ECORRUPT},
    {48, 8, UINT64_C(0xbf847ae147ae147b), BLY_ECORRUPT},
};

static void test_hostile_headers(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), NULL, 30);
        blyt_buffer im = blyt_write(f);
        uint8_t right[HEADER];
        memcpy(right, im.data, HEADER);
        const char *path = at("header.bly");
        int fd = open_over(path, im);
        for (size_t j = 0; j < sizeof lies / sizeof *lies; j++) {
            store(im.data + lies[j].offset, lies[j].value, lies[j].width);
            fix_header_sum(im.data);
            assert_refused_over(path, fd, im, lies[j].status);
            memcpy(im.data, right, HEADER);
        }
        assert_int_equal(close(fd), 0);
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* Puts every value into each byte of the fields kind, k, width and sub, for every shape. */
static void test_hostile_geometries(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), NULL, 30);
        blyt_buffer im = blyt_write(f);
        uint8_t right[HEADER];
        memcpy(right, im.data, HEADER);
        const char *path = at("geometry.bly");
        int fd = open_over(path, im);
        for (int field = 5; field <= 11; field += field == 5 ? 3 : 1)
            for (int value = 0; value < 256; value++) {
                if (value == right[field])
                    continue;
                im.data[field] = (uint8_t)value;
                fix_header_sum(im.data);
                bool known = field != 5 || bly_kind_name((bly_kind)value);
                bool removed = value == 8 || value == 20; /* codes of removed kinds */
                if (known)
                    refused_or_harmless(im);
                else
                    assert_refused_over(path, fd, im, removed ? BLY_EUNSUPPORTED : BLY_EKIND);
                memcpy(im.data, right, HEADER);
            }
        assert_int_equal(close(fd), 0);
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* A size that needs more or less body than the file has is refused. */
static void test_body_must_fit(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), NULL, 30);
        bly_geometry g = bly_filter_geometry(f), other = g;
        blyt_buffer im = blyt_write(f);
        const char *path = at("size.bly");
        int fd = open_over(path, im);
        for (uint64_t size = 1; size <= 2 * g.size + 64; size++) {
            other.size = size;
            if (bly_plan_check(&other) || bly_plan_bytes(&other) == im.size - HEADER)
                continue;
            store(im.data + 16, size, 8);
            fix_header_sum(im.data);
            assert_refused_over(path, fd, im, BLY_ECORRUPT);
        }
        assert_int_equal(close(fd), 0);
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* With any capacity and count in the header, the filter works, or the file is refused because the
 * body shows that the count is wrong. */
static void test_any_count(void **state) {
    static const uint64_t counts[] = {1, 2, 1000, UINT64_C(1) << 32, UINT64_MAX - 1, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), NULL, 30);
        blyt_buffer im = blyt_write(f);
        for (size_t j = 0; j < COUNT_OF(counts) * COUNT_OF(counts); j++) {
            store(im.data + 24, counts[j % COUNT_OF(counts)], 8);
            store(im.data + 32, counts[j / COUNT_OF(counts)], 8);
            fix_header_sum(im.data);
            refused_or_harmless(im);
        }
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* The body of this kind does not show the number of keys, so any count is accepted. */
static void test_any_count_is_believed(void **state) {
    (void)state;
    bly_filter *f = filled(shape_at(0), NULL, 30), *g;
    blyt_buffer im = blyt_write(f);
    store(im.data + 32, UINT64_MAX, 8);
    store(im.data + 24, UINT64_MAX, 8);
    fix_header_sum(im.data);
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &g));
    assert_int_equal(bly_filter_count(g), UINT64_MAX);
    assert_int_equal(bly_filter_capacity(g), UINT64_MAX);
    assert_ok(bly_filter_union(g, f));
    assert_ok(bly_filter_intersect(g, f));
    assert_true(contains_keys(g, "store", 0, 30));
    bly_filter_destroy(f);
    bly_filter_destroy(g);
    free(im.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_truncations),           IN_SCRATCH(test_every_byte_counts),
        IN_SCRATCH(test_padding_is_zero),       IN_SCRATCH(test_any_body_is_safe),
        IN_SCRATCH(test_all_bits_set),          IN_SCRATCH(test_hostile_bodies),
        IN_SCRATCH(test_hostile_headers),       IN_SCRATCH(test_hostile_geometries),
        IN_SCRATCH(test_body_must_fit),         IN_SCRATCH(test_any_count),
        IN_SCRATCH(test_any_count_is_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
