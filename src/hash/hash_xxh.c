/* XXH3 in 64 and 128 bits, and XXH64: Yann Collet's xxHash, from its own header.
 *
 * Specification: xxHash's doc/xxhash_spec.md. The functions are compiled in rather than linked: for
 * keys as long as URLs, a call would be a considerable part of the cost of hashing. `flatten`
 * inlines them into the loops over many keys; without it the compiler would not, because each
 * function has two callers. XXH3 has a separate loop for seed 0. In it, the compiler folds the seed
 * into XXH3's constants, and no secret is derived from the seed for long keys. XXH64 would gain
 * nothing from such a loop.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "hash/hash_algo.h"
#include "hash/xxh3.h"

#define XXH_INLINE_CALLS __attribute__((flatten))

/* The words of XXH3's secret that are used both alone and in pairs. */
#define XXH3_WORD_1 UINT64_C(0x1cad21f72c81017c)
#define XXH3_WORD_2 UINT64_C(0xdb979083e96dd4de)
#define XXH3_WORD_3 UINT64_C(0x1f67b3b7a4a44072)
#define XXH3_WORD_4 UINT64_C(0x78e5c0cc4ee679cb)
#define XXH3_WORD_5 UINT64_C(0x2172ffcc7dd05a82)
#define XXH3_WORD_6 UINT64_C(0x8e2443f7744608b8)

const blyi_xxh3_secret blyi_xxh3_seed0 = {
    .ends = {XXH3_WORD_3 ^ XXH3_WORD_4, XXH3_WORD_5 ^ XXH3_WORD_6},
    .scramble = UINT64_C(0x165667919E3779F9),
    .gold = BLYI_GOLD,
    .brief = XXH3_WORD_1 ^ XXH3_WORD_2,
    /* The first 128 bytes of the secret, as little-endian words. */
    .words = {UINT64_C(0xbe4ba423396cfeb8), XXH3_WORD_1, XXH3_WORD_2, XXH3_WORD_3, XXH3_WORD_4,
              XXH3_WORD_5, XXH3_WORD_6, UINT64_C(0x4c263a81e69035e0), UINT64_C(0xcb00c391bb52283c),
              UINT64_C(0xa32e531b8b65d088), UINT64_C(0x4ef90da297486471),
              UINT64_C(0xd8acdea946ef1938), UINT64_C(0x3f349ce33f76faa8),
              UINT64_C(0x1d4f0bc7c7bbdcf9), UINT64_C(0x3159b4cd4be0518a),
              UINT64_C(0x647378d9c97e9fc8)},
};

void blyi_xxh3_secret_init(blyi_xxh3_secret *secret, uint64_t seed) {
    *secret = blyi_xxh3_seed0;
    secret->seed = seed;
    secret->ends[0] += seed;
    secret->ends[1] -= seed;
    secret->brief -= seed ^ (uint64_t)__builtin_bswap32((uint32_t)seed) << 32;
    for (size_t i = 0; i < BLYI_XXH3_SECRET_WORDS; i++)
        secret->words[i] += i % 2 ? 0 - seed : seed;
}

XXH_INLINE_CALLS uint64_t blyi_xxh3_any(const blyi_xxh3_secret *secret, const void *key,
                                        size_t len) {
    if (secret->seed == 0)
        return XXH3_64bits(key, len);
    return XXH3_64bits_withSeed(key, len, secret->seed);
}

XXH_INLINE_CALLS static bly_hash xxh3_one(const bly_hasher *self, const void *key, size_t len) {
    if (self->seed == 0)
        return blyi_hash_from_strong64(XXH3_64bits(key, len));
    return blyi_hash_from_strong64(XXH3_64bits_withSeed(key, len, self->seed));
}

XXH_INLINE_CALLS static void xxh3_many(const bly_hasher *self, const bly_bytes *keys, size_t n,
                                       bly_hash *out) {
    const uint64_t seed = self->seed;
    if (seed == 0) {
        for (size_t i = 0; i < n; i++)
            out[i] = blyi_hash_from_strong64(XXH3_64bits(keys[i].data, keys[i].size));
    } else {
        for (size_t i = 0; i < n; i++)
            out[i] =
                blyi_hash_from_strong64(XXH3_64bits_withSeed(keys[i].data, keys[i].size, seed));
    }
}

/* The low word is XXH3's own 64-bit result. */
static size_t xxh3_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    return blyi_digest_be(out, xxh3_one(self, key, len).lo, 8);
}

const blyi_hash_algo blyi_algo_xxh3 = {.many = xxh3_many, .digest = xxh3_digest, .one = xxh3_one};

static inline bly_hash xxh3_128_words(XXH128_hash_t h) {
    return (bly_hash){.lo = h.low64, .hi = h.high64};
}

XXH_INLINE_CALLS static bly_hash xxh3_128_one(const bly_hasher *self, const void *key, size_t len) {
    if (self->seed == 0)
        return xxh3_128_words(XXH3_128bits(key, len));
    return xxh3_128_words(XXH3_128bits_withSeed(key, len, self->seed));
}

XXH_INLINE_CALLS static void xxh3_128_many(const bly_hasher *self, const bly_bytes *keys, size_t n,
                                           bly_hash *out) {
    const uint64_t seed = self->seed;
    if (seed == 0) {
        for (size_t i = 0; i < n; i++)
            out[i] = xxh3_128_words(XXH3_128bits(keys[i].data, keys[i].size));
    } else {
        for (size_t i = 0; i < n; i++)
            out[i] = xxh3_128_words(XXH3_128bits_withSeed(keys[i].data, keys[i].size, seed));
    }
}

/* The digest is one 128-bit number, most significant byte first. */
static size_t xxh3_128_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    bly_hash h = xxh3_128_one(self, key, len);
    return blyi_digest_be(out, h.hi, 8) + blyi_digest_be(out + 8, h.lo, 8);
}

const blyi_hash_algo blyi_algo_xxh3_128 = {
    .many = xxh3_128_many, .digest = xxh3_128_digest, .one = xxh3_128_one};

XXH_INLINE_CALLS static void xxh64_many(const bly_hasher *self, const bly_bytes *keys, size_t n,
                                        bly_hash *out) {
    const uint64_t seed = self->seed;
    const uint64_t s = blyi_fmix64(seed);
    for (size_t i = 0; i < n; i++)
        out[i] = blyi_hash_from64(XXH64(keys[i].data, keys[i].size, seed), s);
}

static size_t xxh64_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    return blyi_digest_be(out, XXH64(key, len, self->seed), 8);
}

const blyi_hash_algo blyi_algo_xxh64 = {.many = xxh64_many, .digest = xxh64_digest};
