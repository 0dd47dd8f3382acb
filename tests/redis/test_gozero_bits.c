/* test_gozero_bits.c - a go-zero filter uses the bit positions that go-zero uses. */
#include "support.h"

#include <bloomery/redis/bitmap.h>
#if BLYT_WITH_MURMURHASH
#include <murmurhash.h>
#endif

/* ---- keys ------------------------------------------------------------------------------------ */

enum { LONGEST = 100 * 1024 };

/* Key lengths in addition to 0 .. 70 (which have every remainder modulo 16, the block size of
 * Murmur3). Keys contain all byte values. The buffer has one more byte, for the number that is
 * appended. */
static const size_t lengths[] = {71,   95,   127,  128,   255,         256,
                                 1000, 4095, 4096, 65535, LONGEST - 1, LONGEST};

static size_t key_length(size_t i) {
    return i <= 70 ? i : lengths[i - 71];
}

enum { KEY_COUNT = 71 + sizeof lengths / sizeof *lengths };

static void fill_key(uint8_t *key, size_t n, uint64_t seed) {
    for (size_t i = 0; i < n; i++)
        key[i] = (uint8_t)blyt_next(&seed);
}

static const uint64_t sizes[] = {
    1, 2, 7, 1000, 20000003, (uint64_t)1 << 31, 4294967295, (uint64_t)1 << 32};

/* ---- oracles --------------------------------------------------------------------------------- */

/* Offset i is Murmur3 of the key with the byte i appended. This computes it with our own Murmur3,
 * which test_hash.c compares with others. */
static void test_offsets_are_of_the_key_with_a_number_after_it(void **state) {
    (void)state;
    uint8_t *key = malloc(LONGEST + 1);
    bly_hasher murmur3;
    assert_non_null(key);
    assert_ok(bly_hasher_init(&murmur3, BLY_HASH_MURMUR3, 0));
    for (size_t k = 0; k < KEY_COUNT; k++) {
        const size_t n = key_length(k);
        fill_key(key, n, k);
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            uint64_t offsets[BLY_BITMAP_HASHES];
            bly_bitmap_gozero_offsets(sizes[s], key, n, offsets);
            for (unsigned i = 0; i < BLY_BITMAP_HASHES; i++) {
                key[n] = (uint8_t)i;
                assert_int_equal(offsets[i], bly_hash_key(&murmur3, key, n + 1).lo % sizes[s]);
            }
        }
    }
    free(key);
}

/* Compares with Debian's libmurmurhash, if it is installed. */
static void test_offsets_against_another_implementation(void **state) {
    (void)state;
#if BLYT_WITH_MURMURHASH
    uint8_t *key = malloc(LONGEST + 1);
    assert_non_null(key);
    for (size_t k = 0; k < KEY_COUNT; k++) {
        const size_t n = key_length(k);
        uint64_t offsets[BLY_BITMAP_HASHES], words[2];
        fill_key(key, n, 1000 + k);
        bly_bitmap_gozero_offsets(20000003, key, n, offsets);
        for (unsigned i = 0; i < BLY_BITMAP_HASHES; i++) {
            key[n] = (uint8_t)i;
            lmmh_x64_128(key, (unsigned)n + 1, 0, words);
            assert_int_equal(offsets[i], words[0] % 20000003);
        }
    }
    free(key);
#else
    skip();
#endif
}

/* The test vector of docs/format.md, section 22, which tests/checks/format_redis.py computes. */
static void test_golden_offsets(void **state) {
    (void)state;
    const uint64_t wanted[BLY_BITMAP_HASHES] = {192948, 929918, 403718, 257917, 414054,
                                                848900, 162324, 54758,  772309, 706141,
                                                13256,  267928, 422397, 542229};
    uint64_t offsets[BLY_BITMAP_HASHES];
    bly_bitmap_gozero_offsets(1000000, "bloomery", 8, offsets);
    assert_memory_equal(offsets, wanted, sizeof wanted);
    /* The empty key is a valid key. */
    uint64_t empty[BLY_BITMAP_HASHES], one[BLY_BITMAP_HASHES];
    bly_bitmap_gozero_offsets(1000000, NULL, 0, empty);
    bly_bitmap_gozero_offsets(1000000, "", 0, one);
    assert_memory_equal(empty, one, sizeof one);
}

/* ---- the shape ------------------------------------------------------------------------------- */

static void test_shape(void **state) {
    (void)state;
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        bly_bitmap b;
        assert_ok(bly_bitmap_gozero(sizes[s], &b));
        assert_int_equal(b.form, BLY_BITMAP_GOZERO);
        assert_int_equal(b.geometry.kind, BLY_CLASSIC);
        assert_int_equal(b.geometry.hashes, BLY_BITMAP_HASHES);
        assert_int_equal(b.geometry.size, sizes[s]);
        assert_int_equal(b.shards, 1);
        assert_int_equal(b.stamp, 0);
        assert_int_equal(b.capacity, 0);
        assert_int_equal(b.hasher.id, BLY_HASH_MURMUR3);
        assert_int_equal(bly_bitmap_bytes(&b), (sizes[s] + 7) / 8);
        assert_int_equal(bly_bitmap_shard_bytes(&b, 0), (sizes[s] + 7) / 8);
        assert_int_equal(bly_bitmap_shard_blocks(&b, 0), 0);
        assert_true(bly_bitmap_bytes(&b) <= BLY_BITMAP_MAX_BYTES);
        assert_true(bly_bitmap_compatible(&b, &b));
    }
}

static void test_sizes_that_no_string_has(void **state) {
    (void)state;
    const struct {
        uint64_t bits;
        bly_status status;
    } rows[] = {
        {0, BLY_EGEOMETRY},
        {((uint64_t)1 << 32) + 1, BLY_ETOOBIG},
        {UINT64_MAX, BLY_ETOOBIG},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bly_bitmap b = {.shards = 77};
        assert_int_equal(bly_bitmap_gozero(rows[i].bits, &b), rows[i].status);
        assert_int_equal(b.shards, 77);
    }
}

/* A command contains, for each key, the 14 offsets of bly_bitmap_gozero_offsets. */
static void test_commands(void **state) {
    (void)state;
    enum { KEYS = 60 };
    static uint8_t bytes[KEYS][KEYS];
    bly_bytes keys[KEYS];
    bly_bitmap b;
    bly_bitmap_batch *batch;
    assert_ok(bly_bitmap_gozero((uint64_t)1 << 32, &b));
    for (size_t i = 0; i < KEYS; i++) {
        fill_key(bytes[i], i, i);
        keys[i] = (bly_bytes){bytes[i], i};
    }
    for (bly_bitmap_op what = BLY_BITMAP_ADD; what <= BLY_BITMAP_CONTAINS; what++) {
        assert_ok(bly_bitmap_batch_open(&b, (bly_bytes){"z", 1}, what, keys, KEYS, 7, &batch));
        assert_int_equal(bly_bitmap_batch_count(batch), (KEYS + 6) / 7);
        for (size_t i = 0; i < KEYS; i++) {
            const bly_bitmap_command *c = bly_bitmap_batch_command(batch, i / 7);
            const uint8_t *p = (const uint8_t *)c->args[4].data + 56 * (i % 7);
            uint64_t offsets[BLY_BITMAP_HASHES];
            bly_bitmap_gozero_offsets(b.geometry.size, bytes[i], i, offsets);
            for (unsigned j = 0; j < BLY_BITMAP_HASHES; j++, p += 4)
                assert_int_equal(p[0] + 256 * (p[1] + 256 * (p[2] + UINT64_C(256) * p[3])),
                                 offsets[j]);
            assert_int_equal(c->writes, what == BLY_BITMAP_ADD);
            assert_int_equal(c->key.size, 1);
        }
        bly_bitmap_batch_close(batch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offsets_are_of_the_key_with_a_number_after_it),
        cmocka_unit_test(test_offsets_against_another_implementation),
        cmocka_unit_test(test_golden_offsets),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_sizes_that_no_string_has),
        cmocka_unit_test(test_commands),
    };
    return cmocka_run_group_tests_name("gozero", tests, NULL, NULL);
}
