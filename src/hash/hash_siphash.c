/* SipHash-2-4 with a 128-bit key and a 128-bit result, from libsodium.
 *
 * Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012). It is the only hash function
 * here whose collisions an attacker cannot find, as long as the key is secret. libsodium's function
 * needs no sodium_init, because it has no state and no other implementation.
 */
#include "base/little_endian.h"
#include "hash/hash_algo.h"

#if BLYI_WITH_LIBSODIUM

#include <sodium/crypto_shorthash_siphash24.h>

static size_t siphash_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    crypto_shorthash_siphashx24(out, key, len, self->key);
    return crypto_shorthash_siphashx24_BYTES;
}

static void siphash_many(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out) {
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[crypto_shorthash_siphashx24_BYTES];
        siphash_digest(self, keys[i].data, keys[i].size, bytes);
        out[i] = (bly_hash){.lo = blyi_load64le(bytes), .hi = blyi_load64le(bytes + 8)};
    }
}

const blyi_hash_algo blyi_algo_siphash = {.many = siphash_many, .digest = siphash_digest};

#else

const blyi_hash_algo blyi_algo_siphash = {.many = NULL, .digest = NULL};

#endif
