/* test_documents_bits.c - the hash functions of the documents, and which of their programs' bits
 * Bloomery can set. docs/vocabulary.md has one row for each case; docs/documents.md describes the
 * programs. Values that a comment calls Go's were printed by Go 1.19.8.
 *
 * A filter with BLY_TEXTBOOK has its bits at (x + i*y mod 2^64) mod m, where y is odd. Two
 * properties follow, and show that some positions are not of this form for any x and y:
 *
 *   - Two steps in a row differ by 0 or by 2^64 mod m in either direction: each step adds the same
 *     y, and wraps around at 2^64 or does not.
 *   - If m is even, so is 2^64 mod m, and successive positions differ by an odd number.
 */
#include "support.h"

#include <bloomery/redis/bitmap.h>

#include "go_programs.h"

/* ---- filters with given words ---------------------------------------------------------------- */

/* Returns key number i, which is valid until the next call: 16 random bytes. (In 001 and 003, keys
 * that differ only in their last byte have the same second hash.) */
static bly_bytes random_key(uint64_t i) {
    static uint64_t words[2];
    words[0] = blyt_next(&i);
    words[1] = blyt_next(&i);
    return (bly_bytes){words, sizeof words};
}

typedef struct bytes_out {
    uint8_t data[64 + 200000];
    size_t size;
} bytes_out;

static bly_status collect(void *ctx, const void *data, size_t size) {
    bytes_out *out = ctx;
    assert_true(size <= sizeof out->data - out->size);
    memcpy(out->data + out->size, data, size);
    out->size += size;
    return BLY_OK;
}

/* Asserts that f has exactly the same bits as the Go program's filter. */
static void assert_same_bits(const bly_filter *f, const go_filter *theirs) {
    static bytes_out ours;
    const size_t body = (size_t)((theirs->m + 511) / 512 * 64);
    ours.size = 0;
    assert_ok(bly_filter_write(f, collect, &ours));
    assert_int_equal(ours.size, 64 + body);
    assert_memory_equal(ours.data + 64, theirs->bits, body);
}

static bly_filter *create_textbook(bly_hash_fn fn, void *user, uint64_t m, unsigned k) {
    bly_filter *f;
    bly_spec spec = bly_spec_for(BLY_CLASSIC, 0, 0);
    spec.geometry = (bly_geometry){BLY_CLASSIC, k, m, BLY_TEXTBOOK, 0};
    assert_ok(bly_hasher_custom(&spec.hasher, fn, user, 64, 1));
    assert_ok(bly_filter_create(&spec, &f));
    return f;
}

/* Adds those of 2000 keys for which `can` is true (NULL: all) to both filters, and compares all
 * bits. Returns how many keys were added. */
static unsigned compare_bits(bly_hash_fn fn, go_positions positions, uint64_t m, unsigned k,
                             bool (*can)(bly_bytes key, uint64_t m, unsigned k)) {
    unsigned added = 0;
    bly_filter *ours = create_textbook(fn, &m, m, k);
    go_filter theirs = go_filter_create(positions, m, k);
    for (uint64_t i = 0; i < 2000; i++) {
        const bly_bytes key = random_key(i);
        if (can && !can(key, m, k))
            continue;
        assert_ok(bly_filter_add(ours, key.data, key.size, NULL));
        go_filter_add(&theirs, key.data, key.size);
        added++;
    }
    assert_same_bits(ours, &theirs);
    bly_filter_destroy(ours);
    go_filter_destroy(&theirs);
    return added;
}

/* Whether these positions have both properties that the top of this file states, so that they might
 * be those of some x and y. */
static bool may_be_textbook(const uint64_t *at, unsigned k, uint64_t m) {
    const uint64_t wrap = (0 - m) % m; /* 2^64 mod m */
    for (unsigned i = 0; m % 2 == 0 && i + 1 < k; i++)
        if ((at[i] + at[i + 1]) % 2 == 0)
            return false;
    for (unsigned i = 0; i + 2 < k; i++) {
        const uint64_t change = (at[i + 2] + 2 * m - 2 * at[i + 1] + at[i]) % m;
        if (change != 0 && change != wrap && change != m - wrap)
            return false;
    }
    return true;
}

static unsigned count_may_be_textbook(go_positions positions, uint64_t m, unsigned k,
                                      unsigned keys) {
    unsigned may = 0;
    uint64_t at[GO_MAX_K];
    for (unsigned i = 0; i < keys; i++) {
        const bly_bytes key = random_key(i);
        positions(key.data, key.size, m, k, at);
        may += may_be_textbook(at, k, m);
    }
    return may;
}

/* ---- whose bits ------------------------------------------------------------------------------ */

static bly_hash words_000(void *m, const void *key, size_t len) {
    (void)m;
    return (bly_hash){fnv1_64(key, len), fnv1a_64(key, len)};
}

static bool has_odd_step_000(bly_bytes key, uint64_t m, unsigned k) {
    (void)m, (void)k;
    return fnv1a_64(key.data, key.size) % 2 == 1;
}

/* 000: m is a number of whole bytes, so it is even. A textbook filter has the same bits for keys
 * with an odd y; for the others it cannot have them. */
static void test_double_hashing(void **state) {
    (void)state;
    const uint64_t m = 958504; /* New(100000, 0.01), where k is 6 */
    uint64_t at[6];
    assert_in_range(compare_bits(words_000, positions_000, m, 6, has_odd_step_000), 900, 1100);
    for (unsigned i = 0; i < 2000; i++) {
        const bly_bytes key = random_key(i);
        positions_000(key.data, key.size, m, 6, at);
        assert_int_equal(may_be_textbook(at, 6, m), has_odd_step_000(key, m, 6));
    }
}

/* An even b becomes b + m, which has the same remainder modulo m, and is odd if m is odd. (a + i*b
 * is far below 2^64, so it never wraps around.) */
static bly_hash words_001(void *m, const void *key, size_t len) {
    const uint64_t h = fnv1_64(key, len), b = h >> 32;
    return (bly_hash){h & UINT32_MAX, b % 2 == 1 ? b : b + *(const uint64_t *)m};
}

static bool has_odd_step_001(bly_bytes key, uint64_t m, unsigned k) {
    (void)m, (void)k;
    return fnv1_64(key.data, key.size) >> 32 & 1;
}

static void test_bits_of_001(void **state) {
    (void)state;
    /* New(100000) has an odd m: the bits are the same for all keys. */
    assert_int_equal(compare_bits(words_001, positions_001, 1437759, 10, NULL), 2000);
    /* At 1%, m is even: the bits are the same for keys with an odd b, and can be for no others. */
    const unsigned odd = compare_bits(words_001, positions_001, 958506, 7, has_odd_step_001);
    assert_in_range(odd, 900, 1100);
    assert_int_equal(count_may_be_textbook(positions_001, 958506, 7, 2000), odd);
}

static bly_hash words_003(void *m, const void *key, size_t len) {
    const uint64_t h = fnv1_64(key, len), h2 = h >> 32;
    return (bly_hash){h & UINT32_MAX, h2 % 2 == 1 ? h2 : h2 + *(const uint64_t *)m};
}

static bool never_wraps_003(bly_bytes key, uint64_t m, unsigned k) {
    (void)m;
    const uint64_t h = fnv1_64(key.data, key.size);
    return (h & UINT32_MAX) + (k - 1) * (h >> 32) <= UINT32_MAX;
}

/* 003: the sum wraps around at 2^32, ours at 2^64. If m is a power of two, that makes no
 * difference. Otherwise, keys have the same bits if their sums stay below 2^32. */
static void test_bits_of_003(void **state) {
    (void)state;
    assert_in_range(compare_bits(words_003, positions_003, 1 << 20, 7, has_odd_step_001), 900,
                    1100);
    assert_in_range(compare_bits(words_003, positions_003, 958507, 7, never_wraps_003), 130, 200);
    /* Keys whose sums wrap around in every step have equal steps, too. Both kinds together are two
     * in twelve keys. */
    assert_in_range(count_may_be_textbook(positions_003, 958507, 7, 2000), 260, 410);
}

/* 004: for about a quarter of the keys, the steps of (h ^ i) * prime are equal. At most those keys
 * might have textbook positions. */
static void test_bits_of_004(void **state) {
    (void)state;
    assert_in_range(count_may_be_textbook(positions_004, 958507, 7, 2000), 0, 600);
}

/* 002: every position has its own hash, so it has no textbook positions. Bloomery has a separate
 * form for it (BLY_BITMAP_GOZERO). */
static void test_get_locations(void **state) {
    (void)state;
    static const uint64_t go[BLY_BITMAP_HASHES] = {
        16782782, 5388892, 17398501, 1170410, 7518194,  11953529, 1243374,
        11005900, 1479300, 11984588, 6380260, 12070065, 14902915, 14523867}; /* Go's */
    uint64_t at[BLY_BITMAP_HASHES], theirs[BLY_BITMAP_HASHES];
    bly_bitmap_gozero_offsets(20000000, "u:17", 4, at);
    assert_memory_equal(at, go, sizeof go);
    for (uint64_t i = 0; i < 1000; i++) {
        const bly_bytes key = random_key(i);
        bly_bitmap_gozero_offsets(2000003, key.data, key.size, at);
        positions_002(key.data, key.size, 2000003, BLY_BITMAP_HASHES, theirs);
        assert_memory_equal(at, theirs, sizeof at);
    }
    assert_int_equal(count_may_be_textbook(positions_002, 2000003, BLY_BITMAP_HASHES, 1000), 0);
}

/* ---- go-zero's calls ------------------------------------------------------------------------- */

/* New takes a size in bits, at most that of the longest string of a server. `maps` is 14. */
static void test_go_zero_new(void **state) {
    (void)state;
    bly_bitmap b;
    assert_ok(bly_bitmap_gozero(20000000, &b));
    assert_int_equal(b.form, BLY_BITMAP_GOZERO);
    assert_int_equal(b.geometry.size, 20000000);
    assert_int_equal(b.geometry.hashes, BLY_BITMAP_HASHES);
    assert_int_equal(b.hasher.id, BLY_HASH_MURMUR3);
    assert_int_equal(bly_bitmap_gozero(0, &b), BLY_EGEOMETRY);
    assert_ok(bly_bitmap_gozero((uint64_t)1 << 32, &b));
    assert_int_equal(bly_bitmap_gozero(((uint64_t)1 << 32) + 1, &b), BLY_ETOOBIG);
}

static void test_go_zero_bits_and_maps(void **state) {
    (void)state;
    bly_bitmap b;
    assert_ok(bly_bitmap_gozero(20000000, &b));
    assert_int_equal(b.geometry.size, 20000000);
    assert_int_equal(BLY_BITMAP_HASHES, 14);
}

static const char text_of_keys[] = "u:17u:18u:17";
static const bly_bytes three_keys[3] = {
    {text_of_keys, 4}, {text_of_keys + 4, 4}, {text_of_keys + 8, 4}};

static bly_bitmap_batch *batch_of_three(bly_bitmap_op op) {
    bly_bitmap b;
    bly_bitmap_batch *batch;
    assert_ok(bly_bitmap_gozero(20000000, &b));
    assert_ok(bly_bitmap_batch_open(&b, blyt_text("users:exist"), op, three_keys, 3, 0, &batch));
    assert_int_equal(bly_bitmap_batch_count(batch), 1);
    return batch;
}

/* Add is one command for many keys. Its reply tells which of them were new. */
static void test_go_zero_add(void **state) {
    (void)state;
    bly_bitmap_batch *batch = batch_of_three(BLY_BITMAP_ADD);
    const bly_redis_value reply = {.type = BLY_REDIS_TEXT, .text = blyt_text("110")};
    uint8_t answers[3];
    size_t changed;
    assert_true(bly_bitmap_batch_command(batch, 0)->writes);
    assert_ok(bly_bitmap_batch_parse(batch, 0, &reply, false, answers, &changed, NULL));
    assert_int_equal(changed, 2);
    assert_true(answers[0] == BLY_YES && answers[1] == BLY_YES && answers[2] == BLY_NO);
    bly_bitmap_batch_close(batch);
}

/* Exists fails if the filter is gone; it does not answer "absent". */
static void test_go_zero_exists(void **state) {
    (void)state;
    bly_bitmap_batch *batch = batch_of_three(BLY_BITMAP_CONTAINS);
    const bly_redis_value reply = {.type = BLY_REDIS_TEXT, .text = blyt_text("101")};
    const bly_redis_value gone = {.type = BLY_REDIS_ERROR,
                                  .text = blyt_text("BLYMISSING there is no such filter")};
    uint8_t answers[3] = {BLY_UNKNOWN, BLY_UNKNOWN, BLY_UNKNOWN};
    assert_false(bly_bitmap_batch_command(batch, 0)->writes);
    assert_int_equal(bly_bitmap_batch_parse(batch, 0, &gone, false, answers, NULL, NULL),
                     BLY_EMISSING);
    assert_int_equal(answers[0], BLY_UNKNOWN);
    assert_ok(bly_bitmap_batch_parse(batch, 0, &reply, false, answers, NULL, NULL));
    assert_true(answers[0] == BLY_YES && answers[1] == BLY_NO && answers[2] == BLY_YES);
    bly_bitmap_batch_close(batch);
}

static bool script_contains(const bly_bitmap_command *c, const char *word) {
    const char *text = c->script.data;
    for (size_t i = 0; i + strlen(word) <= c->script.size; i++)
        if (memcmp(text + i, word, strlen(word)) == 0)
            return true;
    return false;
}

/* The scripts call SETBIT and GETBIT at the same offsets as go-zero, for many keys at once. */
static void test_go_zero_scripts(void **state) {
    (void)state;
    for (bly_bitmap_op op = BLY_BITMAP_ADD; op <= BLY_BITMAP_CONTAINS; op++) {
        bly_bitmap_batch *batch = batch_of_three(op);
        const bly_bitmap_command *c = bly_bitmap_batch_command(batch, 0);
        const uint8_t *packed = c->args[4].data;
        uint64_t at[BLY_BITMAP_HASHES];
        assert_true(script_contains(c, op == BLY_BITMAP_ADD ? "SETBIT" : "GETBIT"));
        assert_int_equal(c->args[4].size, sizeof three_keys / sizeof *three_keys * 14 * 4);
        bly_bitmap_gozero_offsets(20000000, "u:17", 4, at);
        for (unsigned i = 0; i < BLY_BITMAP_HASHES; i++, packed += 4)
            assert_int_equal(at[i], (uint32_t)packed[0] | (uint32_t)packed[1] << 8 |
                                        (uint32_t)packed[2] << 16 | (uint32_t)packed[3] << 24);
        bly_bitmap_batch_close(batch);
    }
}

/* hash.Hash is the first word of Murmur3. Go prints its highest byte first. */
static void test_go_zero_hash(void **state) {
    (void)state;
    bly_hasher murmur3;
    assert_ok(bly_hasher_init(&murmur3, BLY_HASH_MURMUR3, 0));
    assert_int_equal(bly_hash_key(&murmur3, "bloomery", 8).lo, 0x0215a655eba8b1ca); /* Go's */
}

/* ---- hash functions -------------------------------------------------------------------------- */

static void assert_digest(const char *name, const char *key, const char *digest) {
    bly_hash_id id;
    bly_hasher hasher;
    uint8_t out[20];
    char text[41] = "";
    assert_ok(bly_hash_by_name(name, &id));
    if (!bly_hash_available(id))
        skip();
    assert_ok(bly_hasher_init(&hasher, id, 0));
    const size_t size = bly_hash_digest(&hasher, key, strlen(key), out);
    for (size_t i = 0; i < size; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", out[i]);
    assert_string_equal(text, digest);
}

/* All digests but those of xxHash and FarmHash were printed by Go. */
static void test_hash_fnv(void **state) {
    (void)state;
    assert_digest("fnv1", "bloomery", "e356a1ec799089e8");
    assert_digest("fnv1a", "bloomery", "06f30118df692b16");
    assert_digest("fnv1a-32", "bloomery", "0e3c00d6");
}

static void test_hash_crc64(void **state) {
    (void)state;
    assert_digest("crc64", "bloomery", "8b490246fc61ae42"); /* crc64.ECMA */
}

/* The digest is the whole hash of 128 bits, as two little-endian words of 64 bits. Go's
 * murmur3.New64 returns the first of them. */
static void test_hash_murmur3(void **state) {
    (void)state;
    assert_digest("murmur3", "bloomery", "cab1a8eb55a61502843dac1c825fdc02");
}

static void test_hash_cityhash(void **state) {
    (void)state;
    assert_digest("city64", "bloomery", "4fc987e6abac4faf");
}

static void test_hash_md5(void **state) {
    (void)state;
    assert_digest("md5", "bloomery", "f4112557868e3bdf4cebf61a539cf843");
}

static void test_hash_sha1(void **state) {
    (void)state;
    assert_digest("sha1", "bloomery", "87ffcbdc7b6ae74abd5181e81eb817ab7089aec0");
}

static void test_hash_xxhash(void **state) {
    (void)state;
    assert_digest("xxh64", "", "ef46db3751d8e999");
    assert_digest("xxh3", "", "2d06800538d394c2");
}

static void test_hash_farmhash(void **state) {
    (void)state;
    assert_digest("farm64", "test", "7717383daa85b5b2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_hashing),
        cmocka_unit_test(test_bits_of_001),
        cmocka_unit_test(test_bits_of_003),
        cmocka_unit_test(test_bits_of_004),
        cmocka_unit_test(test_get_locations),
        cmocka_unit_test(test_go_zero_new),
        cmocka_unit_test(test_go_zero_bits_and_maps),
        cmocka_unit_test(test_go_zero_add),
        cmocka_unit_test(test_go_zero_exists),
        cmocka_unit_test(test_go_zero_scripts),
        cmocka_unit_test(test_go_zero_hash),
        cmocka_unit_test(test_hash_fnv),
        cmocka_unit_test(test_hash_crc64),
        cmocka_unit_test(test_hash_murmur3),
        cmocka_unit_test(test_hash_cityhash),
        cmocka_unit_test(test_hash_md5),
        cmocka_unit_test(test_hash_sha1),
        cmocka_unit_test(test_hash_xxhash),
        cmocka_unit_test(test_hash_farmhash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
