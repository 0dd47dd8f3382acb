/* hash_algo.h - the interface of one hash function to the registry in hash.c. Internal.
 *
 * A function has `many` and perhaps `one`, the fast paths, which produce bly_hash words, and
 * `digest`, which writes the function's original output. All are NULL when the build lacks the
 * package that computes it. The name and the id stay known, so that a file made elsewhere can still
 * be described.
 *
 * The loops below take the function as a constant argument, and are small enough for the compiler
 * to inline them into each `many`, so no key needs a call through a pointer.
 *
 * To add a function: an id in hash.h, a file hash_<name>.c, a declaration here, a row in hash.c,
 * vectors in tests/unit/test_hash.c. Keys may be NULL when their length is 0, and may be unaligned.
 */
#ifndef BLYI_HASH_HASH_ALGO_H
#define BLYI_HASH_HASH_ALGO_H

#include <bloomery/hash.h>

#include "hash/mix.h"

typedef struct blyi_hash_algo {
    void (*many)(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out);
    /* Returns the length written, at most 20. */
    size_t (*digest)(const bly_hasher *self, const void *key, size_t len, uint8_t *out);
    /* Hashes one key. NULL if this would not be faster than `many`, which is then used. */
    bly_hash (*one)(const bly_hasher *self, const void *key, size_t len);
} blyi_hash_algo;

extern const blyi_hash_algo blyi_algo_xxh3, blyi_algo_xxh3_128, blyi_algo_xxh64;
extern const blyi_hash_algo blyi_algo_murmur3, blyi_algo_murmur64a;
extern const blyi_hash_algo blyi_algo_fnv1, blyi_algo_fnv1a, blyi_algo_fnv1_32, blyi_algo_fnv1a_32;
extern const blyi_hash_algo blyi_algo_crc64;
extern const blyi_hash_algo blyi_algo_city64;
extern const blyi_hash_algo blyi_algo_farm64;
extern const blyi_hash_algo blyi_algo_md5, blyi_algo_sha1;
extern const blyi_hash_algo blyi_algo_siphash;

/* A hash function with a result of at most 64 bits. It ignores `seed` if it is defined without
 * one. */
typedef uint64_t blyi_hash64_fn(const void *key, size_t len, uint64_t seed);

/* A hash function that computes both words of a bly_hash from the key and the seed. */
typedef bly_hash blyi_hash128_fn(const void *key, size_t len, uint64_t seed);

static inline void blyi_many64(const bly_hasher *self, const bly_bytes *keys, size_t n,
                               bly_hash *out, blyi_hash64_fn *hash) {
    const uint64_t seed = self->seed;
    const uint64_t s = blyi_fmix64(seed);
    for (size_t i = 0; i < n; i++)
        out[i] = blyi_hash_from64(hash(keys[i].data, keys[i].size, seed), s);
}

static inline void blyi_many128(const bly_hasher *self, const bly_bytes *keys, size_t n,
                                bly_hash *out, blyi_hash128_fn *hash) {
    const uint64_t seed = self->seed;
    for (size_t i = 0; i < n; i++)
        out[i] = hash(keys[i].data, keys[i].size, seed);
}

/* Writes the low `width` bytes of `value`, most significant byte first. Returns `width`. */
static inline size_t blyi_digest_be(uint8_t *out, uint64_t value, size_t width) {
    for (size_t i = width; i-- > 0; value >>= 8)
        out[i] = (uint8_t)value;
    return width;
}

#endif
