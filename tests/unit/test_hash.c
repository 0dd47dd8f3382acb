/* test_hash.c - the hash functions are the published ones, and the words made from their digests
 * follow the rule in hash.h.
 *
 * What is checked against what:
 *   published values     every function (hash_vectors.h, with the sources)
 *   SMHasher             its verification value, one number over all lengths 0 .. 255 under 256
 *                        seeds: xxh3, xxh3-128, xxh64, murmur3, murmur64a, city64, farm64
 *   packages             where the build found them, every length 0 .. 300 with several contents
 *                        and seeds: libxxhash, libmurmurhash (its seeds have 32 bits), libfarmhash
 *                        (farm_oracle.cc), ISA-L's crc64_ecma_refl
 *   a bit-by-bit CRC     crc64, on every host
 * There is no package of CityHash. It is compared with rows of its own test, at the edges of every
 * length class, and with SMHasher's number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <bloomery/hash.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash_vectors.h"

#if BLYT_WITH_XXHASH
#include <xxhash.h>
#endif
#if BLYT_WITH_MURMURHASH
#include <murmurhash.h>
#endif
#if BLYT_WITH_ISAL
#include <isa-l/crc64.h>
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LAST_ID      BLY_HASH_SIPHASH

static const uint8_t SIP_KEY[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* Seeds whose low and high halves both matter. */
static const uint64_t SEEDS[] = {0, 1, 0x9e3779b1, 0xc3a5c85c97cb3127, UINT64_MAX};

/* Makes a hasher of any function; siphash has SIP_KEY. false: this build lacks the function. */
static bool make(bly_hasher *h, bly_hash_id id, uint64_t seed) {
    if (!bly_hash_available(id))
        return false;
    bly_status s =
        id == BLY_HASH_SIPHASH ? bly_hasher_keyed(h, SIP_KEY) : bly_hasher_init(h, id, seed);
    assert_int_equal(s, BLY_OK);
    return true;
}

/* splitmix64: the tests' only source of randomness, the same on every run. */
static uint64_t next_random(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static void fill_random(uint8_t *p, size_t len, uint64_t state) {
    for (size_t i = 0; i < len; i++)
        p[i] = (uint8_t)next_random(&state);
}

static uint64_t number_be(const uint8_t *p, size_t width) {
    uint64_t x = 0;
    for (size_t i = 0; i < width; i++)
        x = x << 8 | p[i];
    return x;
}

static uint64_t number_le(const uint8_t *p) {
    uint64_t x = 0;
    for (size_t i = 8; i-- > 0;)
        x = x << 8 | p[i];
    return x;
}

static void put_be(uint8_t *out, uint64_t x, size_t width) {
    for (size_t i = width; i-- > 0; x >>= 8)
        out[i] = (uint8_t)x;
}

static void assert_digest(bly_hash_id id, uint64_t seed, const void *key, size_t len,
                          const char *expected) {
    bly_hasher h;
    if (!make(&h, id, seed))
        return;
    uint8_t digest[20];
    char hex[41] = "";
    size_t n = bly_hash_digest(&h, key, len, digest);
    for (size_t i = 0; i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    if (strcmp(hex, expected) != 0)
        print_error("%s, %zu bytes, seed %#llx\n", bly_hash_name(id), len,
                    (unsigned long long)seed);
    assert_string_equal(hex, expected);
}

static void assert_number(bly_hash_id id, uint64_t seed, const void *key, size_t len,
                          uint64_t expected) {
    char hex[17];
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)expected);
    assert_digest(id, seed, key, len, hex);
}

static void published_texts(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(text_vectors); i++)
        assert_digest(text_vectors[i].id, text_vectors[i].seed, text_vectors[i].key,
                      strlen(text_vectors[i].key), text_vectors[i].digest);
}

static void published_farm_long(void **state) {
    (void)state;
    char key[257] = "";
    for (int i = 0; i < 64; i++)
        strcat(key, "test");
    assert_number(BLY_HASH_FARM64, 0, key, 256, 3500507768004279527);
}

static void published_xxh(void **state) {
    (void)state;
    uint8_t buffer[XXH_BUFFER];
    uint64_t x = XXH_PRIME32;
    for (size_t i = 0; i < sizeof buffer; i++, x *= XXH_PRIME64)
        buffer[i] = (uint8_t)(x >> 56);
    for (size_t i = 0; i < COUNT(xxh_vectors); i++)
        assert_digest(xxh_vectors[i].id, xxh_vectors[i].seed, buffer, xxh_vectors[i].len,
                      xxh_vectors[i].digest);
}

static void published_city(void **state) {
    (void)state;
    uint8_t *data = malloc(CITY_DATA);
    assert_non_null(data);
    const uint64_t k0 = 0xc3a5c85c97cb3127;
    uint64_t a = 9, b = 777;
    for (size_t i = 0; i < CITY_DATA; i++) {
        a += b;
        b += a;
        a = (a ^ a >> 41) * k0;
        b = (b ^ b >> 41) * k0 + i;
        data[i] = (uint8_t)(b >> 37);
    }
    for (size_t i = 0; i < COUNT(city_vectors); i++) {
        size_t len = city_vectors[i].len;
        assert_number(BLY_HASH_CITY64, 0, data + len * len, len, city_vectors[i].plain);
        assert_number(BLY_HASH_CITY64, CITY_SEED, data + len * len, len, city_vectors[i].seeded);
    }
    assert_number(BLY_HASH_CITY64, 0, data, CITY_DATA, CITY_ALL);
    assert_number(BLY_HASH_CITY64, CITY_SEED, data, CITY_DATA, CITY_ALL_SEEDED);
    free(data);
}

static void published_siphash(void **state) {
    (void)state;
    uint8_t input[64];
    for (size_t i = 0; i < sizeof input; i++)
        input[i] = (uint8_t)i;
    for (size_t i = 0; i < COUNT(sip_vectors); i++)
        assert_digest(BLY_HASH_SIPHASH, 0, input, sip_vectors[i].len, sip_vectors[i].digest);
}

/* Returns the hash that City's and Farm's WithSeed(.., 0) give, from their hash without a seed.
 * SMHasher's last call has the seed 0; in our interface, that means the function without a seed. */
static uint64_t city_seed_zero(uint64_t hash) {
    const uint64_t mul = 0x9ddfea08eb382d69;
    uint64_t a = (hash - 0x9ae16a3b2f90404f) * mul;
    a ^= a >> 47;
    a *= mul;
    a ^= a >> 47;
    return a * mul;
}

static uint32_t smhasher_value(bly_hash_id id, bool reversed) {
    uint8_t key[256], results[256 * 16], digest[20] = {0};
    size_t width = 0;
    for (size_t i = 0; i <= 256; i++) {
        bly_hasher h;
        assert_true(make(&h, id, 256 - i));
        bool last = i == 256;
        width = last ? bly_hash_digest(&h, results, 256 * width, digest)
                     : bly_hash_digest(&h, key, i, digest);
        if (last && (id == BLY_HASH_CITY64 || id == BLY_HASH_FARM64))
            put_be(digest, city_seed_zero(number_be(digest, 8)), 8);
        for (size_t j = 0; reversed && j < width / 2; j++) {
            uint8_t swap = digest[j];
            digest[j] = digest[width - 1 - j];
            digest[width - 1 - j] = swap;
        }
        if (!last) {
            memcpy(results + i * width, digest, width);
            key[i] = (uint8_t)i;
        }
    }
    return (uint32_t)number_le(digest);
}

static void published_smhasher(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(smhasher_vectors); i++)
        assert_int_equal(smhasher_value(smhasher_vectors[i].id, smhasher_vectors[i].reversed),
                         smhasher_vectors[i].value);
}

/* An independent implementation, with the contract of bly_hash_digest. */
typedef size_t oracle_fn(const void *key, size_t len, uint64_t seed, uint8_t *out);

static size_t crc64_bit_by_bit(const void *key, size_t len, uint64_t seed, uint8_t *out) {
    (void)seed;
    const uint8_t *p = key;
    uint64_t crc = UINT64_MAX;
    for (size_t i = 0; i < len; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xc96c5795d7870f42 : 0);
    }
    put_be(out, ~crc, 8);
    return 8;
}

#if BLYT_WITH_XXHASH
static size_t xxh3_library(const void *key, size_t len, uint64_t seed, uint8_t *out) {
    put_be(out, XXH3_64bits_withSeed(key, len, seed), 8);
    return 8;
}

static size_t xxh3_128_library(const void *key, size_t len, uint64_t seed, uint8_t *out) {
    XXH128_hash_t h = XXH3_128bits_withSeed(key, len, seed);
    put_be(out, h.high64, 8);
    put_be(out + 8, h.low64, 8);
    return 16;
}

static size_t xxh64_library(const void *key, size_t len, uint64_t seed, uint8_t *out) {
    put_be(out, XXH64(key, len, seed), 8);
    return 8;
}
#endif

#if BLYT_WITH_MURMURHASH
static size_t murmur3_library(const void *key, size_t len, uint64_t seed, uint8_t *out) {
    uint64_t words[2];
    lmmh_x64_128(key, (unsigned)len, (uint32_t)seed, words);
    for (size_t i = 0; i < 16; i++)
        out[i] = (uint8_t)(words[i / 8] >> 8 * (i % 8));
    return 16;
}
#endif

#if BLYT_WITH_FARMHASH
uint64_t blyt_farm64(const void *key, size_t len, uint64_t seed);

static size_t farm64_library(const void *key, size_t len, uint64_t seed, uint8_t *out) {
    put_be(out, blyt_farm64(key, len, seed), 8);
    return 8;
}
#endif

#if BLYT_WITH_ISAL
static size_t crc64_library(const void *key, size_t len, uint64_t seed, uint8_t *out) {
    (void)seed;
    put_be(out, crc64_ecma_refl(0, key, len), 8);
    return 8;
}
#endif

static const struct {
    bly_hash_id id;
    oracle_fn *digest;
    uint64_t seed_mask;
} oracles[] = {
    {BLY_HASH_CRC64, crc64_bit_by_bit, UINT64_MAX},
#if BLYT_WITH_XXHASH
    {BLY_HASH_XXH3, xxh3_library, UINT64_MAX},
    {BLY_HASH_XXH3_128, xxh3_128_library, UINT64_MAX},
    {BLY_HASH_XXH64, xxh64_library, UINT64_MAX},
#endif
#if BLYT_WITH_MURMURHASH
    {BLY_HASH_MURMUR3, murmur3_library, UINT32_MAX},
#endif
#if BLYT_WITH_FARMHASH
    {BLY_HASH_FARM64, farm64_library, UINT64_MAX},
#endif
#if BLYT_WITH_ISAL
    {BLY_HASH_CRC64, crc64_library, UINT64_MAX},
#endif
};

static void agrees_with_oracles(void **state) {
    (void)state;
    for (size_t o = 0; o < COUNT(oracles); o++) {
        for (size_t round = 0; round < 4 * COUNT(SEEDS); round++) {
            bly_hasher h;
            assert_true(
                make(&h, oracles[o].id, SEEDS[round % COUNT(SEEDS)] & oracles[o].seed_mask));
            uint8_t key[300];
            fill_random(key, sizeof key, round);
            for (size_t len = 0; len <= sizeof key; len++) {
                uint8_t ours[20], theirs[20];
                size_t width = oracles[o].digest(key, len, h.seed, theirs);
                assert_int_equal(bly_hash_digest(&h, key, len, ours), width);
                if (memcmp(ours, theirs, width) != 0)
                    fail_msg("oracle %zu: %s, %zu bytes, seed %#llx", o,
                             bly_hash_name(oracles[o].id), len, (unsigned long long)h.seed);
            }
        }
    }
}

/* --- the rule that turns a digest into words --- */

static uint64_t fmix64(uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
    return x ^ x >> 33;
}

/* A second implementation of the rule in hash.h. */
static bly_hash words_of(const bly_hasher *h, const void *key, size_t len) {
    const uint64_t gold = 0x9e3779b97f4a7c15, s = h->seed == 0 ? 0 : fmix64(h->seed);
    uint8_t digest[20];
    size_t width = bly_hash_digest(h, key, len, digest);
    assert_true(width * 8 >= h->bits);
    if (h->id == BLY_HASH_XXH3) {
        uint64_t output = number_be(digest, 8), product = output * gold;
        uint8_t bytes[8];
        for (int i = 0; i < 8; i++)
            bytes[i] = (uint8_t)(product >> 8 * i);
        return (bly_hash){output, number_be(bytes, 8)};
    }
    if (h->bits < 128) {
        uint64_t x = number_be(digest, width) ^ s;
        return (bly_hash){fmix64(x), fmix64(x + gold)};
    }
    if (h->id == BLY_HASH_XXH3_128)
        return (bly_hash){number_be(digest + 8, 8), number_be(digest, 8)};
    bly_hash words = {number_le(digest), number_le(digest + 8)};
    if (h->seed != 0 && (h->id == BLY_HASH_MD5 || h->id == BLY_HASH_SHA1))
        words = (bly_hash){fmix64(words.lo ^ s), fmix64((words.hi ^ s) + gold)};
    return words;
}

static void assert_same(bly_hash a, bly_hash b) {
    assert_true(a.lo == b.lo && a.hi == b.hi);
}

static void words_follow_the_rule(void **state) {
    (void)state;
    uint8_t key[300];
    fill_random(key, sizeof key, 7);
    for (int id = 1; id <= LAST_ID; id++) {
        for (size_t s = 0; s < COUNT(SEEDS); s++) {
            bly_hasher h;
            if (!make(&h, (bly_hash_id)id, SEEDS[s]))
                continue;
            for (size_t len = 0; len <= sizeof key; len++)
                assert_same(bly_hash_key(&h, key, len), words_of(&h, key, len));
        }
    }
}

static void seeds_change_every_word(void **state) {
    (void)state;
    uint8_t key[100];
    fill_random(key, sizeof key, 11);
    for (int id = 1; id < BLY_HASH_SIPHASH; id++) {
        if (!bly_hash_available((bly_hash_id)id))
            continue;
        for (size_t len = 0; len <= sizeof key; len++) {
            bly_hash seen[COUNT(SEEDS)];
            for (size_t s = 0; s < COUNT(SEEDS); s++) {
                bly_hasher h;
                assert_int_equal(bly_hasher_init(&h, (bly_hash_id)id, SEEDS[s]), BLY_OK);
                seen[s] = bly_hash_key(&h, key, len);
                for (size_t t = 0; t < s; t++)
                    assert_true(seen[s].lo != seen[t].lo && seen[s].hi != seen[t].hi);
            }
        }
    }
}

/* The copy ends where its allocation ends, so that a sanitizer reports a read past the key. */
static void place_does_not_matter(void **state) {
    (void)state;
    uint8_t key[300];
    fill_random(key, sizeof key, 13);
    for (int id = 1; id <= LAST_ID; id++) {
        bly_hasher h;
        if (!make(&h, (bly_hash_id)id, 99))
            continue;
        for (size_t len = 0; len <= sizeof key; len++) {
            bly_hash expected = bly_hash_key(&h, key, len);
            for (size_t offset = len % 3; offset < 16; offset += 3) {
                uint8_t *block = malloc(offset + len + (offset + len == 0));
                assert_non_null(block);
                memcpy(block + offset, key, len);
                assert_same(bly_hash_key(&h, block + offset, len), expected);
                free(block);
            }
        }
        assert_same(bly_hash_key(&h, NULL, 0), bly_hash_key(&h, key, 0));
    }
}

static void many_equals_one_by_one(void **state) {
    (void)state;
    enum { KEYS = 301 };
    uint8_t text[2 * KEYS];
    fill_random(text, sizeof text, 17);
    bly_bytes keys[KEYS] = {{NULL, 0}};
    for (size_t i = 1; i < KEYS; i++)
        keys[i] = (bly_bytes){text + i, (i * 37) % KEYS};
    for (int id = 1; id <= LAST_ID; id++) {
        for (uint64_t seed = 0; seed < 2; seed++) {
            bly_hasher h;
            if (!make(&h, (bly_hash_id)id, seed))
                continue;
            bly_hash out[KEYS + 1] = {{0, 0}};
            bly_hash_keys(&h, keys, 0, out);
            assert_same(out[0], (bly_hash){0, 0});
            bly_hash_keys(&h, keys, KEYS, out);
            for (size_t i = 0; i < KEYS; i++)
                assert_same(out[i], bly_hash_key(&h, keys[i].data, keys[i].size));
            assert_same(out[KEYS], (bly_hash){0, 0});
        }
    }
}

/* --- ids, names and the ways to make a hasher --- */

static const char *const NAMES[] = {
    NULL,      "xxh3",     "xxh3-128", "xxh64",  "murmur3", "murmur64a", "fnv1", "fnv1a",
    "fnv1-32", "fnv1a-32", "crc64",    "city64", "farm64",  "md5",       "sha1", "siphash"};

static void names_and_ids(void **state) {
    (void)state;
    assert_int_equal(COUNT(NAMES), LAST_ID + 1);
    for (int id = 1; id <= LAST_ID; id++) {
        bly_hash_id found = BLY_HASH_NONE;
        assert_string_equal(bly_hash_name((bly_hash_id)id), NAMES[id]);
        assert_int_equal(bly_hash_by_name(NAMES[id], &found), BLY_OK);
        assert_int_equal(found, id);
        unsigned bits = bly_hash_bits((bly_hash_id)id);
        assert_true(bits == 32 || bits == 64 || bits == 128);
    }
    const int unknown[] = {BLY_HASH_NONE, LAST_ID + 1, 253, 256, 65537};
    for (size_t i = 0; i < COUNT(unknown); i++) {
        assert_null(bly_hash_name((bly_hash_id)unknown[i]));
        assert_int_equal(bly_hash_bits((bly_hash_id)unknown[i]), 0);
        assert_false(bly_hash_available((bly_hash_id)unknown[i]));
    }
    const char *const wrong[] = {"", "xxh", "xxh3 ", "XXH3", "xxh3-1281", "none"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        bly_hash_id found = BLY_HASH_MD5;
        assert_int_equal(bly_hash_by_name(wrong[i], &found), BLY_EHASHER);
        assert_int_equal(found, BLY_HASH_MD5);
    }
}

static void init_refuses_what_it_cannot_make(void **state) {
    (void)state;
    bly_hasher before, h;
    memset(&before, 0x5a, sizeof before);
    for (int id = 0; id <= 300; id++) {
        memcpy(&h, &before, sizeof h);
        bly_status status = bly_hasher_init(&h, (bly_hash_id)id, 42);
        if (bly_hash_available((bly_hash_id)id) && id != BLY_HASH_SIPHASH) {
            assert_int_equal(status, BLY_OK);
            assert_int_equal(h.id, id);
            assert_int_equal(h.bits, bly_hash_bits((bly_hash_id)id));
            assert_true(h.seed == 42);
        } else {
            assert_int_equal(status, BLY_EHASHER);
            assert_memory_equal(&h, &before, sizeof h);
        }
    }
}

static void keyed_hashers(void **state) {
    (void)state;
    bly_hasher h, other;
    memset(&h, 0x5a, sizeof h);
    memcpy(&other, &h, sizeof h);
    if (!bly_hash_available(BLY_HASH_SIPHASH)) {
        assert_int_equal(bly_hasher_keyed(&h, SIP_KEY), BLY_EHASHER);
        assert_memory_equal(&h, &other, sizeof h);
        return;
    }
    assert_int_equal(bly_hasher_keyed(&h, SIP_KEY), BLY_OK);
    assert_true(h.id == BLY_HASH_SIPHASH && h.bits == 128);
    assert_memory_equal(h.key, SIP_KEY, 16);
    uint8_t digest[20];
    assert_int_equal(bly_hash_digest(&h, "id", 2, digest), 16);
    assert_true(h.seed == number_le(digest));

    uint8_t key[16];
    memcpy(key, SIP_KEY, 16);
    key[15] ^= 0x80;
    assert_int_equal(bly_hasher_keyed(&other, key), BLY_OK);
    assert_true(other.seed != h.seed);
    bly_hash a = bly_hash_key(&h, "k", 1), b = bly_hash_key(&other, "k", 1);
    assert_true(a.lo != b.lo && a.hi != b.hi);
}

static void default_hasher(void **state) {
    (void)state;
    bly_hasher before, h;
    memset(&before, 0x5a, sizeof before);
    memcpy(&h, &before, sizeof h);
    assert_int_equal(bly_hasher_default(&h, 0, 0.01, 1), BLY_ECOUNT);
    const double bad[] = {0, 1, -0.5, 1.5, 0x1p-41, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(bly_hasher_default(&h, 1, bad[i], 1), BLY_ERATE);
    assert_memory_equal(&h, &before, sizeof h);

    assert_int_equal(bly_hasher_default(&h, 1, 0x1p-40, 5), BLY_OK);
    assert_int_equal(h.id, BLY_HASH_XXH3);
    assert_true(h.seed == 5);
    /* With 2^24 keys, the probability of a collision is 2^-40 per lookup, which is exactly a tenth
     * of this FPR. One more key is too many. */
    assert_int_equal(bly_hasher_default(&h, 1 << 24, 10 * 0x1p-40, 5), BLY_OK);
    assert_int_equal(h.id, BLY_HASH_XXH3);
    assert_int_equal(bly_hasher_default(&h, (1 << 24) + 1, 10 * 0x1p-40, 5), BLY_OK);
    assert_int_equal(h.id, BLY_HASH_XXH3_128);
    assert_int_equal(bly_hasher_default(&h, UINT64_MAX, 0.5, 5), BLY_OK);
    assert_int_equal(h.id, BLY_HASH_XXH3_128);
}

static void random_keys(void **state) {
    (void)state;
    uint8_t a[16] = {0}, b[16] = {0};
    assert_int_equal(bly_random_key(a), BLY_OK);
    assert_memory_not_equal(a, b, 16);
    assert_int_equal(bly_random_key(b), BLY_OK);
    assert_memory_not_equal(a, b, 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_texts),
        cmocka_unit_test(published_farm_long),
        cmocka_unit_test(published_xxh),
        cmocka_unit_test(published_city),
        cmocka_unit_test(published_siphash),
        cmocka_unit_test(published_smhasher),
        cmocka_unit_test(agrees_with_oracles),
        cmocka_unit_test(words_follow_the_rule),
        cmocka_unit_test(seeds_change_every_word),
        cmocka_unit_test(place_does_not_matter),
        cmocka_unit_test(many_equals_one_by_one),
        cmocka_unit_test(names_and_ids),
        cmocka_unit_test(init_refuses_what_it_cannot_make),
        cmocka_unit_test(keyed_hashers),
        cmocka_unit_test(default_hasher),
        cmocka_unit_test(random_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
