/* hash_xxh.c - XXH3 in 64 and 128 bits, and XXH64: Yann Collet's xxHash, from its own header.
 *
 * Specification: xxHash's doc/xxhash_spec.md. Compiled in rather than linked: for keys of URL size
 * the call is a fair part of the cost, and the loop over many keys is where a dedup run spends its
 * hashing time. `flatten` keeps the hash inside these loops, where its having two callers would
 * otherwise put it out of line. XXH3 with seed 0 is a loop of its own, because the seed then folds
 * into XXH3's constants, and long keys skip deriving a secret from it; XXH64 gains nothing by that.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "hash_algo.h"

#define INLINE_CALLS __attribute__((flatten))

INLINE_CALLS static bly_hash xxh3_one(const bly_hasher *self, const void *key, size_t len) {
    if (self->seed == 0)
        return blyi_hash_from_strong64(XXH3_64bits(key, len));
    return blyi_hash_from_strong64(XXH3_64bits_withSeed(key, len, self->seed));
}

INLINE_CALLS static void xxh3_many(const bly_hasher *self, const bly_bytes *keys, size_t n,
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

/* The low word is the hash itself. */
static size_t xxh3_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    return blyi_digest_be(out, xxh3_one(self, key, len).lo, 8);
}

const blyi_hash_algo blyi_algo_xxh3 = {.many = xxh3_many, .digest = xxh3_digest, .one = xxh3_one};

static inline bly_hash both_words(XXH128_hash_t h) {
    return (bly_hash){.lo = h.low64, .hi = h.high64};
}

INLINE_CALLS static bly_hash xxh3_128_one(const bly_hasher *self, const void *key, size_t len) {
    if (self->seed == 0)
        return both_words(XXH3_128bits(key, len));
    return both_words(XXH3_128bits_withSeed(key, len, self->seed));
}

INLINE_CALLS static void xxh3_128_many(const bly_hasher *self, const bly_bytes *keys, size_t n,
                                       bly_hash *out) {
    const uint64_t seed = self->seed;
    if (seed == 0) {
        for (size_t i = 0; i < n; i++)
            out[i] = both_words(XXH3_128bits(keys[i].data, keys[i].size));
    } else {
        for (size_t i = 0; i < n; i++)
            out[i] = both_words(XXH3_128bits_withSeed(keys[i].data, keys[i].size, seed));
    }
}

/* Printed as one 128-bit number: the high word comes first. */
static size_t xxh3_128_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    bly_hash h = xxh3_128_one(self, key, len);
    return blyi_digest_be(out, h.hi, 8) + blyi_digest_be(out + 8, h.lo, 8);
}

const blyi_hash_algo blyi_algo_xxh3_128 = {
    .many = xxh3_128_many, .digest = xxh3_128_digest, .one = xxh3_128_one};

INLINE_CALLS static void xxh64_many(const bly_hasher *self, const bly_bytes *keys, size_t n,
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
