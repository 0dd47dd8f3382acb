/* test_bitmap_layout.c - how a filter is divided into shards, the strings of a plain server. */
#include "redis/bitmap_support.h"

#include "redis/bitmap/shard_keys.h"

#include <bloomery/host/chunks.h>
#include <bloomery/redis/bitmap.h>

/* Checks that the shards of a filter have the right sizes, within the limit, and together all
 * blocks. */
static void check_cut(const bly_bitmap *b, uint64_t most_bytes) {
    const uint64_t block = b->geometry.kind == BLY_SBBF ? 32 : 64;
    uint64_t blocks = 0, bytes = 0;
    for (uint32_t s = 0; s < b->shards; s++) {
        const uint64_t mine = bly_bitmap_shard_blocks(b, s);
        assert_true(s + 1 == b->shards || mine == bly_bitmap_shard_blocks(b, 0));
        assert_true(mine <= bly_bitmap_shard_blocks(b, 0));
        assert_int_equal(bly_bitmap_shard_bytes(b, s), 128 + mine * block);
        assert_true(bly_bitmap_shard_bytes(b, s) <= most_bytes);
        blocks += mine;
        bytes += bly_bitmap_shard_bytes(b, s);
    }
    assert_int_equal(blocks, b->geometry.size);
    assert_int_equal(bytes, bly_bitmap_bytes(b));
    assert_int_equal(bly_bitmap_shard_blocks(b, b->shards), 0);
    assert_int_equal(bly_bitmap_shard_bytes(b, b->shards), 0);
}

static void test_ten_billion_keys(void **state) {
    (void)state;
    const bly_bitmap_spec spec = {
        .struct_size = sizeof spec, .capacity = UINT64_C(10000000000), .fpr = 0.01};
    const uint64_t room = ((uint64_t)1 << 29) - 128;
    bly_geometry g;
    const bly_bitmap b = blyt_bitmap_plan(&spec);
    assert_ok(bly_plan(BLY_SBBF, spec.capacity, spec.fpr, 0, 64, &g));
    assert_int_equal(b.geometry.kind, BLY_SBBF);
    assert_int_equal(b.geometry.size, g.size);
    assert_int_equal(b.shards, (bly_plan_bits(&g) / 8 + room - 1) / room);
    assert_int_equal(b.shards, 25);
    check_cut(&b, BLY_BITMAP_MAX_BYTES);
}

static void test_three_shards_of_more_than_a_billion_bits(void **state) {
    (void)state;
    const bly_bitmap_spec spec = {
        .struct_size = sizeof spec, .capacity = 114000000, .fpr = 0.01, .shards = 3};
    const bly_bitmap b = blyt_bitmap_plan(&spec);
    assert_true(bly_plan_bits(&b.geometry) >= 1200000000);
    assert_int_equal(b.shards, 3);
    check_cut(&b, BLY_BITMAP_MAX_BYTES);
}

static void test_cuts(void **state) {
    (void)state;
    uint64_t seed = 1;
    unsigned uneven = 0;
    for (unsigned i = 0; i < 500; i++) {
        bly_bitmap_spec spec = {
            .struct_size = sizeof spec, .capacity = 3000 + blyt_next(&seed) % 100000, .fpr = 0.01};
        spec.kind = i % 2 ? BLY_SBBF : BLY_SPLIT512;
        spec.shard_bytes = 4096 + blyt_next(&seed) % 100000;
        const bly_bitmap few = blyt_bitmap_plan(&spec);
        check_cut(&few, spec.shard_bytes);
        uneven += bly_bitmap_shard_blocks(&few, few.shards - 1) != bly_bitmap_shard_blocks(&few, 0);
        /* One shard less is too few. */
        spec.shards = few.shards - 1;
        bly_bitmap none;
        if (spec.shards)
            assert_int_equal(bly_bitmap_plan(&spec, &none), BLY_ETOOBIG);
        spec.shards = few.shards + 1 + i % 5;
        const bly_bitmap more = blyt_bitmap_plan(&spec);
        assert_int_equal(more.shards, spec.shards);
        check_cut(&more, spec.shard_bytes);
    }
    assert_true(uneven > 100);
}

/* If z blocks are divided into S shards of ceil(z / S) blocks, the last shards may get no block. */
static void test_shards_without_blocks(void **state) {
    (void)state;
    bly_bitmap_spec spec = {.struct_size = sizeof spec, .capacity = 200, .fpr = 0.01};
    const uint64_t blocks = blyt_bitmap_plan(&spec).geometry.size;
    assert_true(blocks > 6 && blocks < 20);
    for (uint32_t shards = 1; shards <= blocks; shards++) {
        spec.shards = shards;
        const bly_bitmap b = blyt_bitmap_plan(&spec);
        uint64_t sum = 0;
        for (uint32_t s = 0; s < shards; s++)
            sum += bly_bitmap_shard_blocks(&b, s);
        assert_int_equal(sum, blocks);
    }
    bly_bitmap b;
    spec.shards = (uint32_t)blocks + 1;
    assert_int_equal(bly_bitmap_plan(&spec, &b), BLY_ETOOBIG);
}

static bly_hash own_hash(void *user, const void *key, size_t len) {
    (void)user;
    (void)key;
    return (bly_hash){len, len};
}

static void test_refused_plans(void **state) {
    (void)state;
    bly_hasher custom, raw, weak, hollow;
    assert_ok(bly_hasher_custom(&custom, own_hash, NULL, 128, 7));
    assert_ok(bly_hasher_custom_raw(&raw, own_hash, NULL, 128, 7));
    assert_ok(bly_hasher_init(&weak, BLY_HASH_FNV1A_32, 0));
    assert_ok(bly_hasher_init(&hollow, BLY_HASH_XXH64, 0));
    hollow.many = NULL;
    const struct {
        bly_bitmap_spec spec;
        bly_status status;
    } bad[] = {
        {{.capacity = 0, .fpr = 0.01}, BLY_ECOUNT},
        {{.capacity = 10, .fpr = 0}, BLY_ERATE},
        {{.capacity = 10, .fpr = 1}, BLY_ERATE},
        {{.capacity = 10, .fpr = (double)NAN}, BLY_ERATE},
        {{.capacity = 10, .fpr = 0.01, .kind = BLY_CLASSIC}, BLY_EKIND},
        {{.capacity = 10, .fpr = 0.01, .kind = BLY_BB2X512}, BLY_EKIND},
        {{.capacity = 10, .fpr = 0.01, .kind = BLY_SCALABLE}, BLY_EKIND},
        {{.capacity = 10, .fpr = 0.01, .kind = (bly_kind)77}, BLY_EKIND},
        {{.capacity = 10, .fpr = 0.01, .hasher = custom}, BLY_EINVAL},
        {{.capacity = 10, .fpr = 0.01, .hasher = raw}, BLY_EINVAL},
        {{.capacity = 10, .fpr = 0.01, .hasher = hollow}, BLY_EINVAL},
        {{.capacity = 1000000000, .fpr = 0.01, .hasher = weak}, BLY_EWEAKHASH},
        {{.capacity = 10, .fpr = 0.01, .shard_bytes = 159}, BLY_EINVAL},
        {{.capacity = 10, .fpr = 0.001, .shard_bytes = 191}, BLY_EINVAL},
        {{.capacity = 10, .fpr = 0.01, .shard_bytes = BLY_BITMAP_MAX_BYTES + 1}, BLY_EINVAL},
        {{.capacity = 1000000000, .fpr = 0.01, .shards = 1}, BLY_ETOOBIG},
        {{.capacity = 1000000000, .fpr = 0.01, .shards = 4097}, BLY_ETOOBIG},
        {{.capacity = 1000000000, .fpr = 0.01, .shard_bytes = 160}, BLY_ETOOBIG},
        {{.capacity = (uint64_t)1 << 46, .fpr = 0.01}, BLY_ETOOBIG},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        bly_bitmap b = {.shards = 99};
        bly_bitmap_spec spec = bad[i].spec;
        spec.struct_size = sizeof spec;
        assert_int_equal(bly_bitmap_plan(&spec, &b), bad[i].status);
        assert_int_equal(b.shards, 99);
    }
    const bly_bitmap_spec least[] = {
        {.capacity = 1, .fpr = 0.01, .shard_bytes = 160},
        {.capacity = 1, .fpr = 0.001, .shard_bytes = 192},
        {.capacity = 1000000000, .fpr = 0.01, .shards = 4096},
    };
    for (size_t i = 0; i < COUNT_OF(least); i++) {
        bly_bitmap_spec spec = least[i];
        spec.struct_size = sizeof spec;
        (void)blyt_bitmap_plan(&spec);
    }
}

/* If a number of shards is impossible, the reason tells why, and which numbers are possible. */
static void test_reasons_of_cuts(void **state) {
    (void)state;
    const struct {
        bly_bitmap_spec spec;
        const char *words;
    } rows[] = {
        {{.capacity = 1, .fpr = 0.01, .shards = 4096}, "4096 shards are too many"},
        {{.capacity = 1000000, .fpr = 0.01, .shards = 4097}, "at most 4096"},
        {{.capacity = 1000000000, .fpr = 0.01, .shards = 1}, "needs at least 3"},
        {{.capacity = 1000000000, .fpr = 0.01, .shard_bytes = 160}, "of at most 160 bytes"},
        {{.capacity = 10, .fpr = 0.01, .shard_bytes = 159}, "from 160 to 536870912 bytes"},
        {{.capacity = (uint64_t)1 << 46, .fpr = 0.01}, "2^48 bits"},
        {{.capacity = 10, .fpr = 2}, "rate"},
        {{.capacity = 10, .fpr = 0.01, .kind = BLY_CLASSIC}, "sbbf and split512"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bly_redis_reason why = {""};
        bly_bitmap b;
        bly_bitmap_spec spec = rows[i].spec;
        spec.struct_size = sizeof spec;
        const bly_status status = blyi_bitmap_plan(&spec, &b, &why);
        assert_int_not_equal(status, BLY_OK);
        assert_int_equal(status, bly_bitmap_plan(&spec, &b));
        if (!strstr(why.text, rows[i].words))
            fail_msg("no '%s' in '%s'", rows[i].words, why.text);
    }
    const bly_bitmap_spec many = {.struct_size = sizeof many, .shards = 4096};
    bly_spec spec = bly_spec_for(BLY_SBBF, 100, 0.01);
    bly_redis_reason why = {""};
    bly_filter *f;
    bly_bitmap b;
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(blyi_bitmap_of(f, &many, &b, &why), BLY_ETOOBIG);
    assert_non_null(strstr(why.text, "too many"));
    bly_filter_destroy(f);
}

static void test_layout_and_hash_follow_from_the_rate(void **state) {
    (void)state;
    const struct {
        uint64_t keys;
        double rate;
        bly_kind kind;
        bly_hash_id hash;
    } rows[] = {
        {1000, 0.2, BLY_SBBF, BLY_HASH_XXH3},
        {1000, 0.004, BLY_SBBF, BLY_HASH_XXH3},
        {1000, 0.0039, BLY_SPLIT512, BLY_HASH_XXH3},
        {1000, 1e-5, BLY_SPLIT512, BLY_HASH_XXH3},
        {UINT64_C(10000000000), 1e-9, BLY_SPLIT512, BLY_HASH_XXH3_128},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const bly_bitmap_spec spec = {
            .struct_size = sizeof spec, .capacity = rows[i].keys, .fpr = rows[i].rate, .seed = 7};
        const bly_bitmap b = blyt_bitmap_plan(&spec);
        assert_int_equal(b.geometry.kind, rows[i].kind);
        assert_int_equal(b.hasher.id, rows[i].hash);
        assert_int_equal(b.hasher.seed, 7);
        assert_int_equal(b.capacity, spec.capacity);
        assert_true(b.fpr == spec.fpr);
        assert_true(bly_plan_fpr(&b.geometry, b.capacity, b.hasher.bits) <= b.fpr);
    }
}

static void test_alike(void **state) {
    (void)state;
    const bly_bitmap_spec spec = {
        .struct_size = sizeof spec, .capacity = 1000, .fpr = 0.01, .shards = 2};
    const bly_bitmap a = blyt_bitmap_plan(&spec), b = blyt_bitmap_plan(&spec);
    assert_true(a.stamp != b.stamp);
    assert_true(bly_bitmap_compatible(&a, &b));
    bly_bitmap other[9];
    for (size_t i = 0; i < COUNT_OF(other); i++)
        other[i] = b;
    other[0].form = BLY_BITMAP_GOZERO;
    other[1].geometry.kind = BLY_SPLIT512;
    other[2].geometry.size++;
    other[3].geometry.hashes++;
    other[4].capacity++;
    other[5].fpr = 0.011;
    other[6].hasher.seed++;
    other[7].hasher.id = BLY_HASH_XXH64;
    other[8].shards++;
    for (size_t i = 0; i < COUNT_OF(other); i++)
        assert_false(bly_bitmap_compatible(&a, &other[i]));
    other[0] = b;
    other[0].approximate = true;
    assert_true(bly_bitmap_compatible(&a, &other[0]));
}

static void test_shape_of_a_filter(void **state) {
    (void)state;
    const bly_kind kinds[] = {BLY_SBBF, BLY_SPLIT512};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const bly_bitmap_spec cut = {.struct_size = sizeof cut, .shards = 3};
        bly_spec spec = bly_spec_for(kinds[i], 5000, 0.002);
        bly_filter *f;
        bly_bitmap b, again;
        spec.seed = 11;
        assert_ok(bly_filter_create(&spec, &f));
        assert_ok(bly_bitmap_from_filter(f, &cut, &b));
        assert_ok(bly_bitmap_from_filter(f, NULL, &again));
        const bly_geometry g = bly_filter_geometry(f);
        assert_memory_equal(&b.geometry, &g, sizeof g);
        assert_int_equal(b.capacity, 5000);
        assert_true(b.fpr == 0.002);
        assert_int_equal(b.hasher.seed, 11);
        assert_int_equal(b.shards, 3);
        assert_int_equal(again.shards, 1);
        assert_true(b.stamp != again.stamp);
        check_cut(&b, BLY_BITMAP_MAX_BYTES);
        bly_filter_destroy(f);
    }
}

/* Returns a copy of the filter that was opened without its hasher. */
static bly_filter *without_key(const bly_filter *f) {
    const bly_open_options options = {.struct_size = sizeof options, .flags = BLY_OPEN_WITHOUT_KEY};
    const size_t size = (size_t)bly_filter_file_size(f);
    uint8_t *bytes = malloc(size);
    bly_chunks *image;
    bly_filter *out;
    assert_non_null(bytes);
    assert_ok(bly_chunks_open(f, NULL, &image));
    assert_int_equal(bly_chunks_read(image, 0, bytes, size), size);
    assert_ok(bly_filter_parse(bytes, size, &options, &out));
    bly_chunks_close(image);
    free(bytes);
    return out;
}

static void test_filters_that_cannot(void **state) {
    (void)state;
    bly_filter *f, *keyless;
    bly_bitmap b;
    assert_ok(blyt_new(BLY_SCALABLE, 100, 0.01, &f));
    assert_int_equal(bly_bitmap_from_filter(f, NULL, &b), BLY_EKIND);
    bly_filter_destroy(f);
    bly_spec spec = bly_spec_for(BLY_SBBF, 100, 0.01);
    assert_ok(bly_hasher_custom(&spec.hasher, own_hash, NULL, 128, 7));
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(bly_bitmap_from_filter(f, NULL, &b), BLY_EINVAL);
    keyless = without_key(f);
    assert_int_equal(bly_bitmap_from_filter(keyless, NULL, &b), BLY_EKEY);
    bly_filter_destroy(keyless);
    bly_filter_destroy(f);
}

/* bly_bitmap_keys estimates the number of keys from the count of adds that were reported as new.
 * Compares it with a simulation that adds one key after the other, each reported as new with the
 * probability 1 - FPR. */
static void test_keys_behind_a_count(void **state) {
    (void)state;
    const bly_bitmap_spec spec = {.struct_size = sizeof spec, .capacity = 1000, .fpr = 0.01};
    bly_bitmap b;
    assert_ok(bly_bitmap_plan(&spec, &b));
    double fresh = 0;
    assert_true(bly_bitmap_keys(&b, 0) == 0);
    for (unsigned keys = 0; keys < 5000; keys++) {
        if (keys % 500 == 499) {
            const double found = bly_bitmap_keys(&b, (uint64_t)fresh);
            assert_true(found > 0.98 * keys && found < 1.02 * keys);
        }
        fresh += 1 - bly_plan_fpr(&b.geometry, keys, b.hasher.bits);
    }
    assert_true(bly_bitmap_keys(&b, UINT64_MAX) >= 1000 * 1000.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ten_billion_keys),
        cmocka_unit_test(test_three_shards_of_more_than_a_billion_bits),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_shards_without_blocks),
        cmocka_unit_test(test_refused_plans),
        cmocka_unit_test(test_reasons_of_cuts),
        cmocka_unit_test(test_layout_and_hash_follow_from_the_rate),
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_shape_of_a_filter),
        cmocka_unit_test(test_filters_that_cannot),
        cmocka_unit_test(test_keys_behind_a_count),
    };
    return cmocka_run_group_tests_name("bitmap", tests, NULL, NULL);
}
