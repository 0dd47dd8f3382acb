/* test_store.c - files: saving and loading gives the same filter, with every hash function, with
 * and without its hash key. test_hostile.c tests files that must be refused. */
#include "store_support.h"

/* ---- saving and loading ---------------------------------------------------------------------- */

static void test_every_kind_is_listed(void **state) {
    (void)state;
    for (int code = 0; code < 256; code++) {
        bool listed = false;
        for (size_t i = 0; i < shape_count(); i++)
            listed = listed || (int)shape_at(i).kind == code;
        assert_int_equal(listed, bly_kind_name((bly_kind)code) != NULL);
    }
}

/* Asserts that a loaded filter g can be used like the original f: adding the same keys gives equal
 * filters. */
static void live_on(bly_filter *f, bly_filter *g) {
    uint32_t can = bly_kind_capabilities(bly_filter_geometry(f).kind);
    char key[32];
    if (can & BLY_CAN_ADD) {
        add_keys(g, "store", 100, 20);
        add_keys(f, "store", 100, 20);
        assert_same(f, g);
    }
    for (int i = 100; can & BLY_CAN_REMOVE && i < 120; i++) {
        size_t len = (size_t)key_text(key, "store", i);
        assert_ok(bly_filter_remove(f, key, len, NULL));
        assert_ok(bly_filter_remove(g, key, len, NULL));
    }
    assert_same(f, g);
}

static void round_trip(bly_filter *f) {
    bly_filter *g;
    bly_map *map;
    const bly_open_options verify = {.struct_size = sizeof verify, .flags = BLY_OPEN_VERIFY};
    blyt_buffer im = blyt_write(f);
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &g));
    assert_same(f, g);
    assert_ok(bly_filter_save(g, at("a.bly")));
    bly_filter_destroy(g);
    assert_file_is(at("a.bly"), im);
    assert_ok(bly_filter_load(at("a.bly"), NULL, &g));
    assert_same(f, g);
    assert_ok(bly_map_open(at("a.bly"), &verify, &map));
    assert_same(f, bly_map_filter(map));
    bly_map_close(map);
    assert_ok(bly_map_open(at("a.bly"), NULL, &map));
    assert_same(f, bly_map_filter(map));
    assert_ok(bly_filter_save(bly_map_filter(map), at("a.bly")));
    assert_file_is(at("a.bly"), im);
    live_on(f, g);
    bly_filter_destroy(g);
    bly_map_close(map);
    free(im.data);
}

static void test_round_trip(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        for (int keys = 0; keys <= 60; keys += 30) {
            bly_filter *f = filled(shape_at(i), NULL, keys);
            assert_true(contains_all(f, keys));
            round_trip(f);
            bly_filter *g = filled(shape_at(i), NULL, 40);
            /* One filter may have grown further than the other, or be in another generation. */
            bly_status alike = bly_filter_compatible(f, g);
            if (shape_can(shape_at(i), BLY_CAN_UNION))
                assert_int_equal(bly_filter_union(f, g), alike);
            if (shape_can(shape_at(i), BLY_CAN_INTERSECT))
                assert_int_equal(bly_filter_intersect(f, g), bly_filter_compatible(f, g));
            round_trip(f);
            bly_filter_destroy(f);
            bly_filter_destroy(g);
        }
    }
    bly_map_close(NULL);
}

/* A file in memory may start at any address. */
static void test_any_address(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), NULL, 30), *g;
        blyt_buffer im = blyt_write(f);
        uint8_t *moved = malloc(im.size + 1);
        assert_non_null(moved);
        memcpy(moved + 1, im.data, im.size);
        assert_ok(bly_filter_parse(moved + 1, im.size, NULL, &g));
        assert_same(f, g);
        free(moved);
        free(im.data);
        bly_filter_destroy(f);
        bly_filter_destroy(g);
    }
}

static void test_every_hash(void **state) {
    (void)state;
    for (int id = 1; id < 255; id++) {
        bly_hasher hasher;
        if (bly_hasher_init(&hasher, (bly_hash_id)id, 0x1234567890abcdef) != BLY_OK)
            continue;
        bly_filter *f = filled(shape_at(0), &hasher, 40);
        round_trip(f);
        bly_filter_destroy(f);
    }
}

static void test_sharing_is_chosen_when_opened(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), NULL, 30), *g;
        blyt_buffer im = blyt_write(f);
        for (int s = BLY_EXCLUSIVE; s <= BLY_SHARED_ONCE; s++) {
            const bly_open_options o = {.struct_size = sizeof o, .sharing = (bly_sharing)s};
            if (s != BLY_EXCLUSIVE && !shape_can(shape_at(i), BLY_CAN_SHARE)) {
                assert_refused_unmapped(im, &o, BLY_EUNSUPPORTED);
                continue;
            }
            assert_ok(bly_filter_parse(im.data, im.size, &o, &g));
            assert_int_equal(bly_filter_sharing(g), s);
            assert_same(f, g);
            blyt_buffer again = blyt_write(g);
            assert_memory_equal(again.data, im.data, im.size);
            free(again.data);
            bly_filter_destroy(g);
        }
        free(im.data);
        bly_filter_destroy(f);
    }
}

static void test_info(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), NULL, 30);
        blyt_buffer im = blyt_write(f);
        bly_file_info info = {.struct_size = sizeof info};
        bool planned = shape_at(i).hashes == 0;
        bly_geometry g = planned ? bly_filter_geometry(f) : shape_at(i);
        assert_int_equal(bly_file_parse_info(im.data, HEADER - 1, &info), BLY_ECORRUPT);
        assert_ok(bly_file_parse_info(im.data, HEADER, &info));
        assert_int_equal(info.geometry.kind, g.kind);
        assert_int_equal(info.geometry.hashes, g.hashes);
        assert_int_equal(info.geometry.size, g.size);
        assert_int_equal(info.geometry.options, g.options);
        assert_int_equal(info.geometry.detail, g.detail);
        assert_int_equal(info.capacity, planned ? bly_filter_capacity(f) : 123);
        assert_int_equal(info.count, bly_filter_count(f));
        const double asked = 0.0125; /* rounded to double, also with x87 registers */
        assert_true(info.fpr == asked || (shape_can(g, BLY_CARDINALITY_ONLY) && info.fpr > asked));
        assert_int_equal(info.hash, BLY_HASH_XXH3);
        assert_int_equal(info.seed, 0x5eed);
        assert_false(info.keyed || info.approximate);
        assert_int_equal(info.body_bytes, im.size - HEADER);
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* ---- the examples in docs/format.md
 * ----------------------------------------------------------- */

static const uint8_t example[] = {
    0x42, 0x4c, 0x59, 0x31, 0x01, 0x01, 0x07, 0x00, 0x07, 0x01, 0x00, 0x00, 0x9e, 0x23, 0x23, 0x8b,
    0xe8, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x64, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x7b, 0x14, 0xae, 0x47, 0xe1, 0x7a, 0x84, 0x3f, 0x37, 0x56, 0x95, 0xb8, 0xaf, 0x57, 0x63, 0xf6,
};

static const struct {
    bly_geometry geometry;
    int bits[17]; /* ends with -1; a bit may be listed twice */
} vectors[] = {
    {{BLY_CLASSIC, 7, 1000, 0}, {837, 276, 1, 399, 298, 624, 936, -1}},
    {{BLY_CLASSIC, 7, 1000, BLY_TEXTBOOK}, {643, 796, 949, 102, 255, 408, 177, -1}},
    {{BLY_PARTITIONED, 7, 192, 0}, {160, 245, 384, 652, 825, 1079, 1331, -1}},
    {{BLY_SBBF, 8, 5, 0}, {1042, 1056, 1116, 1135, 1174, 1212, 1235, 1277, -1}},
    {{BLY_SPLIT512, 8, 5, 0}, {2105, 2143, 2222, 2241, 2326, 2390, 2454, 2520, -1}},
    {{BLY_SPLIT512, 12, 5, 0},
     {2105, 2143, 2222, 2241, 2326, 2390, 2454, 2520, 2361, 2370, 2472, 2536, -1}},
    {{BLY_SPLIT512, 16, 5, 0},
     {2105, 2143, 2222, 2241, 2326, 2390, 2454, 2520, 2105, 2114, 2216, 2280, 2339, 2384, 2482,
      2520, -1}},
    {{BLY_BB2X512, 8, 5, 0}, {2480, 2265, 2315, 2137, 935, 573, 648, 575, -1}},
    {{BLY_BB2X512, 16, 5, 0},
     {2480, 2265, 2315, 2137, 2240, 2489, 2556, 2396, 935, 573, 648, 575, 842, 810, 544, 680, -1}},
};

static void test_vectors(void **state) {
    (void)state;
    bly_hasher fnv1a;
    assert_ok(bly_hasher_init(&fnv1a, BLY_HASH_FNV1A, 0));
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        bly_spec spec = bly_spec_for(vectors[i].geometry.kind, 100, 0.01);
        bly_filter *f;
        spec.geometry = vectors[i].geometry;
        spec.hasher = fnv1a;
        assert_ok(bly_filter_create(&spec, &f));
        assert_ok(bly_filter_add(f, "bloomery", 8, NULL));
        blyt_buffer im = blyt_write(f);
        if (i == 0)
            assert_memory_equal(im.data, example, sizeof example);
        uint8_t body[512] = {0};
        for (const int *bit = vectors[i].bits; *bit >= 0; bit++)
            body[*bit >> 3] |= (uint8_t)(1 << (*bit & 7));
        assert_memory_equal(im.data + HEADER, body, im.size - HEADER);
        free(im.data);
        bly_filter_destroy(f);
    }
}

/* ---- hashers and keys ------------------------------------------------------------------------ */

static const uint8_t secret[16] = {0xde, 0xad, 0xbe, 0xef, 7, 6, 5, 4, 3, 2, 1, 0, 9, 9, 9, 8};

/* A filter that was opened without its hasher can be described, combined and written, and answers
 * "maybe". */
static void check_keyless(blyt_buffer im, const bly_filter *original) {
    const bly_open_options without = {.struct_size = sizeof without, .flags = BLY_OPEN_WITHOUT_KEY};
    bly_filter *f, *g;
    bly_map *map;
    spill(at("keyless.bly"), im.data, im.size);
    assert_ok(bly_map_open(at("keyless.bly"), &without, &map));
    assert_true(bly_filter_contains(bly_map_filter(map), "absent 1", 8));
    bly_map_close(map);
    assert_ok(bly_filter_load(at("keyless.bly"), &without, &g));
    bly_filter_destroy(g);
    assert_ok(bly_filter_parse(im.data, im.size, &without, &g));
    assert_true(bly_filter_equal(g, original));
    assert_true(bly_filter_contains(g, "absent 1", 8));
    assert_int_equal(bly_filter_add(g, "absent 1", 8, NULL), BLY_EKEY);
    assert_int_equal(bly_filter_remove(g, "absent 1", 8, NULL), BLY_EKEY);
    assert_int_equal(bly_filter_copies(g, "absent 1", 8), 1);
    assert_null(bly_filter_hasher(g));
    bly_file_info info = {.struct_size = sizeof info};
    assert_ok(bly_file_get_info(at("keyless.bly"), &info));
    assert_int_equal(info.hash, bly_filter_hasher(original)->id);
    assert_true(info.seed == bly_filter_hasher(original)->seed);
    blyt_buffer again = blyt_write(g);
    assert_int_equal(again.size, im.size);
    assert_memory_equal(again.data, im.data, im.size);
    free(again.data);
    /* A hasher with a name but without functions must not be accepted. */
    bly_hasher name = *bly_filter_hasher(original);
    const bly_open_options hollow = {.struct_size = sizeof hollow, .hasher = &name};
    name.one = NULL;
    assert_int_not_equal(bly_filter_parse(im.data, im.size, &hollow, &f), BLY_OK);
    assert_int_equal(bly_filter_set_hasher(g, &name), BLY_EKEY);
    name = *bly_filter_hasher(original);
    name.many = NULL;
    assert_int_not_equal(bly_filter_parse(im.data, im.size, &hollow, &f), BLY_OK);
    /* When it gets the real hasher, it works as before. */
    name = *bly_filter_hasher(original);
    name.seed++;
    assert_int_equal(bly_filter_set_hasher(g, &name), BLY_EKEY);
    assert_null(bly_filter_hasher(g));
    assert_ok(bly_filter_set_hasher(g, bly_filter_hasher(original)));
    assert_ok(bly_filter_set_hasher(g, &name));
    assert_same(original, g);
    bly_filter_destroy(g);
}

static void test_keyed(void **state) {
    (void)state;
    bly_hasher right, wrong, plain;
    uint8_t other[16] = {0};
    if (bly_hasher_keyed(&right, secret) != BLY_OK)
        skip();
    assert_ok(bly_hasher_keyed(&wrong, other));
    assert_ok(bly_hasher_init(&plain, BLY_HASH_XXH3, right.seed));
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), &right, 40), *g;
        bly_file_info info = {.struct_size = sizeof info};
        blyt_buffer im = blyt_write(f);
        for (size_t from = 0; from + 8 <= im.size; from++) {
            assert_memory_not_equal(im.data + from, secret, 8);
            assert_memory_not_equal(im.data + from, secret + 8, 8);
        }
        assert_ok(bly_file_parse_info(im.data, im.size, &info));
        assert_true(info.keyed);
        assert_int_equal(info.seed, right.seed);
        assert_refused(im, NULL, BLY_EKEY);
        assert_refused(
            im, &(bly_open_options){.struct_size = sizeof(bly_open_options), .hasher = &wrong},
            BLY_EKEY);
        assert_refused(
            im, &(bly_open_options){.struct_size = sizeof(bly_open_options), .hasher = &plain},
            BLY_EKEY);
        const bly_open_options o = {.struct_size = sizeof o, .hasher = &right};
        assert_ok(bly_filter_parse(im.data, im.size, &o, &g));
        assert_same(f, g);
        bly_filter_destroy(g);
        check_keyless(im, f);
        /* With BLY_OPEN_WITHOUT_KEY, a wrong key is ignored. */
        const bly_open_options both = {
            .struct_size = sizeof both, .flags = BLY_OPEN_WITHOUT_KEY, .hasher = &wrong};
        assert_ok(bly_filter_parse(im.data, im.size, &both, &g));
        assert_true(bly_filter_contains(g, "absent 1", 8));
        bly_filter_destroy(g);
        free(im.data);
        bly_filter_destroy(f);
    }
}

static void test_custom(void **state) {
    (void)state;
    bly_hasher right = custom_hasher(5), wrong = custom_hasher(6), plain;
    assert_ok(bly_hasher_init(&plain, BLY_HASH_FNV1A, 5));
    for (size_t i = 0; i < shape_count(); i++) {
        bly_filter *f = filled(shape_at(i), &right, 40), *g;
        blyt_buffer im = blyt_write(f);
        assert_refused(im, NULL, BLY_EHASHER);
        assert_refused(
            im, &(bly_open_options){.struct_size = sizeof(bly_open_options), .hasher = &wrong},
            BLY_EKEY);
        assert_refused(
            im, &(bly_open_options){.struct_size = sizeof(bly_open_options), .hasher = &plain},
            BLY_EHASHER);
        const bly_open_options o = {.struct_size = sizeof o, .hasher = &right};
        assert_ok(bly_filter_parse(im.data, im.size, &o, &g));
        assert_same(f, g);
        bly_filter_destroy(g);
        check_keyless(im, f);
        free(im.data);
        bly_filter_destroy(f);
    }
}

static void test_expected_hasher(void **state) {
    (void)state;
    bly_hasher right, seed, id, custom = custom_hasher(0x5eed);
    assert_ok(bly_hasher_init(&right, BLY_HASH_XXH3, 0x5eed));
    assert_ok(bly_hasher_init(&seed, BLY_HASH_XXH3, 0));
    assert_ok(bly_hasher_init(&id, BLY_HASH_XXH64, 0x5eed));
    bly_filter *f = filled(shape_at(0), NULL, 40), *g;
    blyt_buffer im = blyt_write(f);
    assert_refused(im,
                   &(bly_open_options){.struct_size = sizeof(bly_open_options), .hasher = &seed},
                   BLY_EHASHER);
    assert_refused(im, &(bly_open_options){.struct_size = sizeof(bly_open_options), .hasher = &id},
                   BLY_EHASHER);
    assert_refused(im,
                   &(bly_open_options){.struct_size = sizeof(bly_open_options), .hasher = &custom},
                   BLY_EHASHER);
    assert_refused(im,
                   &(bly_open_options){.struct_size = sizeof(bly_open_options), .flags = 1u << 7},
                   BLY_EINVAL);
    const bly_open_options o = {
        .struct_size = sizeof o, .flags = BLY_OPEN_WITHOUT_KEY, .hasher = &right};
    assert_ok(bly_filter_parse(im.data, im.size, &o, &g));
    assert_same(f, g);
    bly_filter_destroy(g);
    bly_filter_destroy(f);
    free(im.data);
}

/* ---- memory and sinks ------------------------------------------------------------------------ */

static void out_of_memory(bly_geometry shape, bly_sharing sharing) {
    bly_filter *f = filled(shape, NULL, 40), *g;
    bly_map *map;
    blyt_buffer im = blyt_write(f);
    spill(at("a.bly"), im.data, im.size);
    blyt_heap m = {0};
    bly_allocator a = blyt_heap_allocator(&m);
    const bly_open_options o = {.struct_size = sizeof o, .allocator = &a, .sharing = sharing};
    for (unsigned fail = 1, failed = 1; failed; fail++) {
        failed = 0;
        for (int way = 0; way < 3; way++) {
            m = (blyt_heap){.fail_at = fail};
            g = NULL;
            map = NULL;
            bly_status status = way == 0   ? bly_filter_parse(im.data, im.size, &o, &g)
                                : way == 1 ? bly_filter_load(at("a.bly"), &o, &g)
                                           : bly_map_open(at("a.bly"), &o, &map);
            assert_int_equal(status, m.calls >= fail ? BLY_ENOMEM : BLY_OK);
            failed += status != BLY_OK;
            assert_int_equal(g || map, status == BLY_OK);
            bly_filter_destroy(g);
            bly_map_close(map);
            assert_int_equal(m.live, 0);
        }
        assert_true(fail < 20);
    }
    bly_filter_destroy(f);
    free(im.data);
}

static void test_out_of_memory(void **state) {
    (void)state;
    out_of_memory(shape_at(0), BLY_SHARED);
    for (size_t i = 0; i < shape_count(); i++)
        out_of_memory(shape_at(i), BLY_EXCLUSIVE);
}

typedef struct fussy_sink {
    size_t calls, stop_at, largest, total;
} fussy_sink;

static bly_status fussy(void *ctx, const void *data, size_t size) {
    fussy_sink *s = ctx;
    (void)data;
    if (++s->calls == s->stop_at)
        return BLY_EFULL;
    s->largest = size > s->largest ? size : s->largest;
    s->total += size;
    return BLY_OK;
}

static void sink_everywhere(bly_geometry shape) {
    bly_filter *f = filled(shape, NULL, 10);
    fussy_sink all = {0};
    assert_ok(bly_filter_write(f, fussy, &all));
    assert_int_equal(all.total, bly_filter_file_size(f));
    assert_true(all.largest <= 1 << 20);
    for (size_t stop = 1; stop <= all.calls; stop++) {
        fussy_sink s = {.stop_at = stop};
        assert_int_equal(bly_filter_write(f, fussy, &s), BLY_EFULL);
        assert_int_equal(s.calls, stop);
    }
    round_trip(f);
    bly_filter_destroy(f);
}

static void test_sinks(void **state) {
    (void)state;
    sink_everywhere((bly_geometry){BLY_SPLIT512, 8, 40001, 0});
    sink_everywhere((bly_geometry){BLY_SCALABLE, 0, 1000000, 0});
    sink_everywhere((bly_geometry){BLY_SCALABLE, 0, 2, 0});
    for (size_t i = 0; i < shape_count(); i++)
        sink_everywhere(shape_at(i));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_every_kind_is_listed),
        IN_SCRATCH(test_round_trip),
        IN_SCRATCH(test_any_address),
        IN_SCRATCH(test_every_hash),
        IN_SCRATCH(test_sharing_is_chosen_when_opened),
        IN_SCRATCH(test_info),
        IN_SCRATCH(test_vectors),
        IN_SCRATCH(test_keyed),
        IN_SCRATCH(test_custom),
        IN_SCRATCH(test_expected_hasher),
        IN_SCRATCH(test_out_of_memory),
        IN_SCRATCH(test_sinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
