/* test_bitmap_head.c - the head of a filter's string: how it is encoded, and which heads are
 * accepted. */
#include "redis/bitmap_support.h"

#include <bloomery/redis/bitmap.h>

static bly_hash own_hash(void *user, const void *key, size_t len) {
    (void)user;
    (void)key;
    return (bly_hash){len, len};
}

/* The test vector of docs/format.md, section 22. */
static const uint8_t golden_head[BLY_BITMAP_HEAD] = {
    0x42, 0x4c, 0x59, 0x52, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00,
    0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 0x42, 0x4c, 0x59, 0x31, 0x01, 0x03, 0x07, 0x00,
    0x08, 0x01, 0x00, 0x00, 0x0d, 0x73, 0x0f, 0xd5, 0xe8, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x20, 0x4e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7b, 0x14, 0xae, 0x47, 0xe1, 0x7a, 0x84, 0x3f,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xfa, 0x64, 0xa2, 0x58, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};

static void test_golden_head(void **state) {
    (void)state;
    const bly_bitmap b = blyt_golden_bitmap();
    uint8_t head[BLY_BITMAP_HEAD];
    bly_bitmap_head read;
    blyi_bitmap_head_encode(&b, 1, true, head);
    assert_memory_equal(head, golden_head, sizeof head);
    const bly_redis_value value = blyt_says(golden_head, sizeof golden_head);
    assert_ok(bly_bitmap_head_parse(&value, NULL, &read, NULL));
    assert_true(bly_bitmap_compatible(&read.bitmap, &b));
    assert_int_equal(read.bitmap.stamp, b.stamp);
    assert_int_equal(read.shard, 1);
}

/* Heads of many shapes are parsed to the shapes that were encoded. */
static void test_heads_come_back(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (unsigned i = 0; i < 300; i++) {
        const double rates[] = {0.1, 0.01, 0.001, 1e-6};
        const bly_bitmap_spec spec = {
            .struct_size = sizeof spec,
            .capacity = 1000 + blyt_next(&seed) % 1000000,
            .fpr = rates[i % 4],
            .seed = blyt_next(&seed),
            .shards = 1 + i % 9,
        };
        const bly_bitmap b = blyt_bitmap_plan(&spec);
        const uint32_t shard = i % b.shards;
        uint8_t head[BLY_BITMAP_HEAD];
        bly_bitmap_head read;
        blyi_bitmap_head_encode(&b, shard, i % 2 != 0, head);
        head[BLYI_BITMAP_COUNT_AT] = 200;
        head[BLYI_BITMAP_COUNT_AT + 7] = 1;
        const bly_redis_value value = blyt_says(head, sizeof head);
        assert_ok(bly_bitmap_head_parse(&value, NULL, &read, NULL));
        assert_true(bly_bitmap_compatible(&read.bitmap, &b));
        assert_int_equal(read.bitmap.stamp, b.stamp);
        assert_int_equal(read.shard, shard);
        assert_int_equal(read.count, ((uint64_t)1 << 56) + 200);
        assert_int_equal(read.complete, i % 2 != 0 || shard > 0);
        assert_int_equal(bly_hash_key(&read.bitmap.hasher, "key", 3).lo,
                         bly_hash_key(&b.hasher, "key", 3).lo);
    }
}

/* The flag of a filter that is an intersection is recorded, and is a part of the head's
 * identity. */
static void test_approximate_heads(void **state) {
    (void)state;
    bly_bitmap b = blyt_golden_bitmap();
    uint8_t plain[BLY_BITMAP_HEAD], head[BLY_BITMAP_HEAD];
    bly_bitmap_head read;
    blyi_bitmap_head_encode(&b, 0, true, plain);
    b.approximate = true;
    blyi_bitmap_head_encode(&b, 0, true, head);
    assert_memory_not_equal(plain, head, BLYI_BITMAP_IDENTITY);
    const bly_redis_value value = blyt_says(head, sizeof head),
                          other = blyt_says(plain, sizeof plain);
    assert_ok(bly_bitmap_head_parse(&value, NULL, &read, NULL));
    assert_true(read.bitmap.approximate);
    assert_ok(bly_bitmap_head_parse(&other, NULL, &read, NULL));
    assert_false(read.bitmap.approximate);
}

/* A head with one flipped bit is refused, unless the bit is in the count, or is the state of the
 * first shard. */
static void test_damaged_heads(void **state) {
    (void)state;
    const bly_bitmap b = blyt_golden_bitmap();
    for (uint32_t shard = 0; shard < 2; shard++) {
        uint8_t head[BLY_BITMAP_HEAD];
        blyi_bitmap_head_encode(&b, shard, true, head);
        for (unsigned bit = 0; bit < 8 * sizeof head; bit++) {
            bly_bitmap_head read = {.shard = 77};
            bly_redis_reason why = {""};
            head[bit / 8] ^= (uint8_t)(1 << bit % 8);
            const bly_redis_value value = blyt_says(head, sizeof head);
            const bly_status status = bly_bitmap_head_parse(&value, NULL, &read, &why);
            head[bit / 8] ^= (uint8_t)(1 << bit % 8);
            const bool counts = bit / 8 >= BLYI_BITMAP_COUNT_AT && bit / 8 < BLYI_BITMAP_STATE_AT;
            if (counts || (shard == 0 && bit == 8 * BLYI_BITMAP_STATE_AT)) {
                assert_ok(status);
                continue;
            }
            assert_int_equal(status, bit / 8 == 4 && bit != 32 ? BLY_EVERSION : BLY_ECORRUPT);
            assert_int_equal(read.shard, 77);
            assert_true(strlen(why.text) > 20);
        }
    }
}

static void test_heads_of_another_length(void **state) {
    (void)state;
    uint8_t longer[2 * BLY_BITMAP_HEAD] = {0};
    memcpy(longer, golden_head, sizeof golden_head);
    for (size_t size = 0; size <= sizeof longer; size++) {
        bly_bitmap_head read;
        uint8_t *exact = malloc(size ? size : 1);
        assert_non_null(exact);
        memcpy(exact, longer, size);
        const bly_redis_value value = blyt_says(exact, size);
        assert_int_equal(bly_bitmap_head_parse(&value, NULL, &read, NULL), size == 0 ? BLY_EMISSING
                                                                           : size == BLY_BITMAP_HEAD
                                                                               ? BLY_OK
                                                                               : BLY_ECORRUPT);
        free(exact);
    }
}

/* Heads of impossible shapes are refused, although their checksums are correct. */
static void test_heads_that_lie(void **state) {
    (void)state;
    bly_bitmap lies[13];
    uint32_t shard[COUNT_OF(lies)] = {0};
    for (size_t i = 0; i < COUNT_OF(lies); i++)
        lies[i] = blyt_golden_bitmap();
    lies[0].shards = 0;
    lies[1].shards = 4097;
    lies[2].shards = 1001; /* more shards than blocks */
    shard[3] = 3;          /* there are only shards 0 to 2 */
    shard[4] = UINT32_MAX;
    /* Each shard has one block more than fits into 512 MiB together with the head. */
    lies[5].geometry.size = (uint64_t)3 << 24;
    lies[6].geometry = (bly_geometry){.kind = BLY_CLASSIC, .hashes = 7, .size = 100000};
    lies[7].geometry = (bly_geometry){.kind = BLY_BB2X512, .hashes = 6, .size = 1000};
    lies[8].geometry.size = 0;
    lies[9].fpr = 0;
    lies[10].capacity = 0;
    lies[11].geometry.kind = (bly_kind)99;
    lies[12].key_rule = (bly_key_rule)16;
    for (size_t i = 0; i < COUNT_OF(lies); i++) {
        uint8_t head[BLY_BITMAP_HEAD];
        bly_bitmap_head read;
        blyi_bitmap_head_encode(&lies[i], shard[i], true, head);
        const bly_redis_value value = blyt_says(head, sizeof head);
        assert_int_equal(bly_bitmap_head_parse(&value, NULL, &read, NULL), BLY_ECORRUPT);
    }
}

static void test_answers_that_are_no_head(void **state) {
    (void)state;
    const struct {
        bly_redis_value value;
        bly_status read, created;
    } rows[] = {
        {{.type = BLY_REDIS_NIL}, BLY_EMISSING, BLY_EMISSING},
        {{.type = BLY_REDIS_INTEGER, .integer = 1}, BLY_ECORRUPT, BLY_ECORRUPT},
        {{.type = BLY_REDIS_ARRAY}, BLY_ECORRUPT, BLY_ECORRUPT},
        {blyt_error("WRONGTYPE Operation against a key"), BLY_EREFUSED, BLY_EREFUSED},
        {blyt_error("BLYMISSING"), BLY_EMISSING, BLY_EMISSING},
        {blyt_says("", 0), BLY_EMISSING, BLY_ECORRUPT},
        {blyt_says("0", 1), BLY_ECORRUPT, BLY_ECORRUPT},
        {blyt_says("1", 1), BLY_ECORRUPT, BLY_ECORRUPT},
        {blyt_says("hello, world", 12), BLY_ECORRUPT, BLY_ECORRUPT},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bly_bitmap_head head;
        bly_redis_reason why = {""};
        bool made = true;
        assert_int_equal(bly_bitmap_head_parse(&rows[i].value, NULL, &head, &why), rows[i].read);
        assert_true(strlen(why.text) > 10);
        why.text[0] = 0;
        assert_int_equal(bly_bitmap_create_parse(&rows[i].value, NULL, &made, &head, &why),
                         rows[i].created);
        assert_true(strlen(why.text) > 10);
        assert_true(made);
    }
}

static void test_created(void **state) {
    (void)state;
    uint8_t answer[1 + BLY_BITMAP_HEAD + 1];
    memcpy(answer + 1, golden_head, sizeof golden_head);
    for (int c = 0; c < 256; c++)
        for (size_t size = BLY_BITMAP_HEAD; size <= sizeof answer; size++) {
            bly_bitmap_head head;
            bool made = c != '1';
            answer[0] = (uint8_t)c;
            const bly_redis_value value = blyt_says(answer, size);
            const bly_status status = bly_bitmap_create_parse(&value, NULL, &made, &head, NULL);
            if (size != 1 + BLY_BITMAP_HEAD || (c != '0' && c != '1')) {
                assert_int_equal(status, BLY_ECORRUPT);
                continue;
            }
            assert_ok(status);
            assert_int_equal(made, c == '1');
            assert_int_equal(head.shard, 1);
        }
}

/* With the key, the head of a keyed filter is accepted for use; without it, only for inspection. */
static void test_keyed_heads(void **state) {
    (void)state;
    if (!bly_hash_available(BLY_HASH_SIPHASH))
        skip();
    const uint8_t key[16] = {1, 2, 3}, other_key[16] = {9};
    bly_bitmap_spec spec = {.struct_size = sizeof spec, .capacity = 1000, .fpr = 0.01};
    bly_hasher other, plain;
    bly_bitmap_head read;
    bly_redis_reason why = {""};
    uint8_t head[BLY_BITMAP_HEAD];
    assert_ok(bly_hasher_keyed(&spec.hasher, key));
    assert_ok(bly_hasher_keyed(&other, other_key));
    assert_ok(bly_hasher_init(&plain, BLY_HASH_XXH3, 0));
    const bly_bitmap b = blyt_bitmap_plan(&spec);
    blyi_bitmap_head_encode(&b, 0, true, head);
    const bly_redis_value value = blyt_says(head, sizeof head);
    assert_int_equal(bly_bitmap_head_parse(&value, NULL, &read, &why), BLY_EKEY);
    assert_non_null(strstr(why.text, "key"));
    assert_int_equal(bly_bitmap_head_parse(&value, &other, &read, NULL), BLY_EKEY);
    assert_int_equal(bly_bitmap_head_parse(&value, &plain, &read, NULL), BLY_EKEY);
    assert_ok(bly_bitmap_head_parse(&value, &spec.hasher, &read, NULL));
    assert_int_equal(bly_hash_key(&read.bitmap.hasher, "k", 1).lo,
                     bly_hash_key(&spec.hasher, "k", 1).lo);

    assert_ok(blyi_bitmap_head_read_keyless(&value, NULL, &read, NULL));
    assert_true(bly_bitmap_compatible(&read.bitmap, &b));
    bly_bitmap_batch *batch;
    const bly_bytes one = {"k", 1};
    assert_int_equal(
        bly_bitmap_batch_open(&read.bitmap, blyt_text("n"), BLY_BITMAP_ADD, &one, 1, 0, &batch),
        BLY_EKEY);
    assert_null(batch);
    /* A filter that is not keyed ignores the hasher. */
    const bly_redis_value open = blyt_says(golden_head, sizeof golden_head);
    assert_ok(bly_bitmap_head_parse(&open, &other, &read, NULL));
    assert_int_equal(read.bitmap.hasher.id, BLY_HASH_FNV1A);
}

static void test_heads_with_a_hash_that_nobody_else_has(void **state) {
    (void)state;
    bly_bitmap b = blyt_golden_bitmap();
    bly_bitmap_head read;
    uint8_t head[BLY_BITMAP_HEAD];
    const bly_hash_id ids[] = {BLY_HASH_CUSTOM, BLY_HASH_CUSTOM_RAW, (bly_hash_id)200,
                               BLY_HASH_NONE};
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        bly_hasher custom;
        assert_ok(bly_hasher_custom(&custom, own_hash, NULL, 128, 0));
        b.hasher.id = (uint16_t)ids[i];
        blyi_bitmap_head_encode(&b, 0, true, head);
        const bly_redis_value value = blyt_says(head, sizeof head);
        assert_int_equal(bly_bitmap_head_parse(&value, &custom, &read, NULL), BLY_EHASHER);
        assert_int_equal(blyi_bitmap_head_read_keyless(&value, NULL, &read, NULL), BLY_EHASHER);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_head),
        cmocka_unit_test(test_heads_come_back),
        cmocka_unit_test(test_approximate_heads),
        cmocka_unit_test(test_damaged_heads),
        cmocka_unit_test(test_heads_of_another_length),
        cmocka_unit_test(test_heads_that_lie),
        cmocka_unit_test(test_answers_that_are_no_head),
        cmocka_unit_test(test_created),
        cmocka_unit_test(test_keyed_heads),
        cmocka_unit_test(test_heads_with_a_hash_that_nobody_else_has),
    };
    return cmocka_run_group_tests_name("bitmap heads", tests, NULL, NULL);
}
