/* MD5 (RFC 1321) and SHA-1 (RFC 3174), from libcrypto.
 *
 * They are here because existing filters and blocklists use them, not for security: see hash.h.
 * They use OpenSSL's deprecated low-level calls on purpose: the EVP calls allocate memory and can
 * fail, and a hasher must do neither. OPENSSL_API_COMPAT requests an API version in which the
 * low-level calls are not yet deprecated.
 */
#include "base/little_endian.h"
#include "hash/hash_algo.h"

#if BLYI_WITH_LIBCRYPTO

#define OPENSSL_API_COMPAT 0x10100000L
#include <openssl/md5.h>
#include <openssl/sha.h>

typedef size_t crypto_digest_fn(const bly_hasher *self, const void *key, size_t len, uint8_t *out);

static size_t md5_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    (void)self;
    MD5_CTX ctx;
    MD5_Init(&ctx);
    MD5_Update(&ctx, key, len);
    MD5_Final(out, &ctx);
    return MD5_DIGEST_LENGTH;
}

static size_t sha1_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    (void)self;
    SHA_CTX ctx;
    SHA1_Init(&ctx);
    SHA1_Update(&ctx, key, len);
    SHA1_Final(out, &ctx);
    return SHA_DIGEST_LENGTH;
}

/* Neither function has a seed. With seed 0 the words of the digest are used unchanged; any other
 * seed is mixed into each word. */
static void crypto_digest_many(const bly_hasher *self, const bly_bytes *keys, size_t n,
                               bly_hash *out, crypto_digest_fn *digest) {
    const uint64_t s = blyi_fmix64(self->seed);
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[20];
        digest(self, keys[i].data, keys[i].size, bytes);
        bly_hash h = {.lo = blyi_load64le(bytes), .hi = blyi_load64le(bytes + 8)};
        if (s != 0) {
            h.lo = blyi_fmix64(h.lo ^ s);
            h.hi = blyi_fmix64((h.hi ^ s) + BLYI_GOLD);
        }
        out[i] = h;
    }
}

static void md5_many(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out) {
    crypto_digest_many(self, keys, n, out, md5_digest);
}

static void sha1_many(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out) {
    crypto_digest_many(self, keys, n, out, sha1_digest);
}

const blyi_hash_algo blyi_algo_md5 = {.many = md5_many, .digest = md5_digest};
const blyi_hash_algo blyi_algo_sha1 = {.many = sha1_many, .digest = sha1_digest};

#else

const blyi_hash_algo blyi_algo_md5 = {.many = NULL, .digest = NULL};
const blyi_hash_algo blyi_algo_sha1 = {.many = NULL, .digest = NULL};

#endif
