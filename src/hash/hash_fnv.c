/* The Fowler/Noll/Vo hashes, FNV-1 and FNV-1a, in 64 and 32 bits
 * (draft-eastlake-fnv).
 *
 * One multiplication and one xor per byte; FNV-1 multiplies first, FNV-1a last. They are here
 * because filters of other programs use them (DCSO's bloom uses FNV-1). They have no seed: the
 * hasher's seed acts only on the result.
 */
#include "hash/hash_algo.h"

static const uint64_t FNV_PRIME_64 = 0x100000001b3, FNV_BASIS_64 = 0xcbf29ce484222325;
static const uint32_t FNV_PRIME_32 = 0x01000193, FNV_BASIS_32 = 0x811c9dc5;

static uint64_t fnv1(const void *key, size_t len, uint64_t seed) {
    (void)seed;
    const uint8_t *p = key;
    uint64_t h = FNV_BASIS_64;
    for (size_t i = 0; i < len; i++)
        h = h * FNV_PRIME_64 ^ p[i];
    return h;
}

static uint64_t fnv1a(const void *key, size_t len, uint64_t seed) {
    (void)seed;
    const uint8_t *p = key;
    uint64_t h = FNV_BASIS_64;
    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * FNV_PRIME_64;
    return h;
}

static uint64_t fnv1_32(const void *key, size_t len, uint64_t seed) {
    (void)seed;
    const uint8_t *p = key;
    uint32_t h = FNV_BASIS_32;
    for (size_t i = 0; i < len; i++)
        h = h * FNV_PRIME_32 ^ p[i];
    return h;
}

static uint64_t fnv1a_32(const void *key, size_t len, uint64_t seed) {
    (void)seed;
    const uint8_t *p = key;
    uint32_t h = FNV_BASIS_32;
    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * FNV_PRIME_32;
    return h;
}

static void fnv1_many(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out) {
    blyi_many64(self, keys, n, out, fnv1);
}

static void fnv1a_many(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out) {
    blyi_many64(self, keys, n, out, fnv1a);
}

static void fnv1_32_many(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out) {
    blyi_many64(self, keys, n, out, fnv1_32);
}

static void fnv1a_32_many(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out) {
    blyi_many64(self, keys, n, out, fnv1a_32);
}

static size_t fnv1_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    return blyi_digest_be(out, fnv1(key, len, self->seed), 8);
}

static size_t fnv1a_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    return blyi_digest_be(out, fnv1a(key, len, self->seed), 8);
}

static size_t fnv1_32_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    return blyi_digest_be(out, fnv1_32(key, len, self->seed), 4);
}

static size_t fnv1a_32_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    return blyi_digest_be(out, fnv1a_32(key, len, self->seed), 4);
}

const blyi_hash_algo blyi_algo_fnv1 = {.many = fnv1_many, .digest = fnv1_digest};
const blyi_hash_algo blyi_algo_fnv1a = {.many = fnv1a_many, .digest = fnv1a_digest};
const blyi_hash_algo blyi_algo_fnv1_32 = {.many = fnv1_32_many, .digest = fnv1_32_digest};
const blyi_hash_algo blyi_algo_fnv1a_32 = {.many = fnv1a_32_many, .digest = fnv1a_32_digest};
