/* hash.h - hash functions, which turn a key into the 128 bits that filters use.
 *
 * A bly_hasher is a small value: a function, with a seed or a secret key. Filters copy it, so it
 * may be a local variable. Hashing never fails and never allocates. docs/format.md, section 3, says
 * how the output of each function becomes a bly_hash.
 *
 * Entropy. With n keys and a hash of E bits, a non-member has the same hash as some member with
 * probability n / 2^E, and is then a false positive in any kind of filter. plan.h adds this
 * probability to the expected FPR, and refuses a hash with which the requested FPR cannot be
 * reached.
 *
 * Untrusted keys. Use siphash if an attacker may choose keys: it is the only function with a secret
 * key. A seed is not a secret. md5 and sha1 do not help either, since an attacker can search for
 * colliding keys offline. */
#ifndef BLOOMERY_HASH_H
#define BLOOMERY_HASH_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The hash functions, and their names in quotes. The values are the ids in files; they never
 * change. */
typedef enum bly_hash_id {
    BLY_HASH_NONE = 0,        /* not chosen */
    BLY_HASH_XXH3 = 1,        /* "xxh3": XXH3, 64 bits; the default */
    BLY_HASH_XXH3_128 = 2,    /* "xxh3-128" */
    BLY_HASH_XXH64 = 3,       /* "xxh64" */
    BLY_HASH_MURMUR3 = 4,     /* "murmur3": MurmurHash3 x64-128 */
    BLY_HASH_MURMUR64A = 5,   /* "murmur64a": MurmurHash2, 64-bit version A */
    BLY_HASH_FNV1 = 6,        /* "fnv1", 64 bits */
    BLY_HASH_FNV1A = 7,       /* "fnv1a", 64 bits */
    BLY_HASH_FNV1_32 = 8,     /* "fnv1-32" */
    BLY_HASH_FNV1A_32 = 9,    /* "fnv1a-32" */
    BLY_HASH_CRC64 = 10,      /* "crc64": CRC-64/XZ, Go's crc64.ECMA */
    BLY_HASH_CITY64 = 11,     /* "city64": CityHash64 1.1 */
    BLY_HASH_FARM64 = 12,     /* "farm64": FarmHash's portable Hash64 (farmhashna) */
    BLY_HASH_MD5 = 13,        /* "md5"; needs libcrypto */
    BLY_HASH_SHA1 = 14,       /* "sha1", its first 16 bytes; needs libcrypto */
    BLY_HASH_SIPHASH = 15,    /* "siphash": keyed SipHash-2-4-128; needs libsodium */
    BLY_HASH_CUSTOM = 254,    /* "custom": the caller's function, mixed */
    BLY_HASH_CUSTOM_RAW = 255 /* "custom-raw": the caller's function, not mixed */
} bly_hash_id;

typedef struct bly_hasher bly_hasher;

/* A hash function of the caller. It must be pure: for equal keys it must return equal results. */
typedef bly_hash (*bly_hash_fn)(void *user, const void *key, size_t len);

/* A hash function with its seed or key. The functions below fill it in; do not set its members
 * yourself. */
struct bly_hasher {
    bly_hash (*one)(const bly_hasher *self, const void *key, size_t len);
    void (*many)(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out);
    bly_hash_fn custom;
    void *user;
    uint64_t seed; /* the seed; for a keyed hash the id of the key, for a custom one the tag */
    uint8_t key[16];
    uint16_t id;   /* a bly_hash_id */
    uint16_t bits; /* bits of entropy (E): 32, 64 or 128; for a custom hash the caller's number, 32
                      to 128 */
};

/* Fills in the hasher of a function without a key.
 * Errors: BLY_EHASHER (unknown, not in this build, keyed or custom). */
BLY_CHECKED bly_status bly_hasher_init(bly_hasher *out, bly_hash_id id, uint64_t seed);
/* Fills in siphash with a secret 128-bit key. Errors: BLY_EHASHER (this build has no libsodium). */
BLY_CHECKED bly_status bly_hasher_keyed(bly_hasher *out, const uint8_t key[16]);

/* Fills in a hasher that uses the caller's function and mixes its results: it applies a bijection
 * of the 128 bits, after which every bit depends on every bit of the result. So fn may return words
 * with weak or constant bits (FNV, a CRC, or one word and 0). Mixing adds no entropy: `bits` must
 * be the number of bits of entropy in the results of fn, 32 to 128; plans rely on it.
 *
 * `tag` is a number of your choice that identifies fn. Files store it, so that a filter cannot be
 * opened with another function. `user` is passed to fn, and must outlive the filters that use the
 * hasher.
 *
 * A filter does not mix the results (bly_hasher_custom_raw) if its file says so, as files of
 * version 0.1 do, or if it has BLY_TEXTBOOK. So always use bly_filter_hasher to hash keys for
 * bly_filter_add_hash and similar functions. A filter with mixed hashes and one with raw hashes
 * cannot be combined (BLY_EMISMATCH).
 * Errors: BLY_EINVAL (fn is NULL, or bits is out of range). */
BLY_CHECKED bly_status bly_hasher_custom(bly_hasher *out, bly_hash_fn fn, void *user, unsigned bits,
                                         uint64_t tag);

/* Fills in the hasher of the caller's function without mixing: filters use the words as fn returns
 * them. Every bit of both words must be well mixed, or the FPR is far above the requested one.
 * bly_filter_get_info does not show this, because its rates assume well-mixed hashes.
 * Errors: those of bly_hasher_custom. */
BLY_CHECKED bly_status bly_hasher_custom_raw(bly_hasher *out, bly_hash_fn fn, void *user,
                                             unsigned bits, uint64_t tag);

/* Fills in the default hasher for `keys` keys at the rate `fpr`: xxh3, or xxh3-128 if 64 bits are
 * too few.
 * Errors: BLY_ECOUNT, BLY_ERATE. */
BLY_CHECKED bly_status bly_hasher_default(bly_hasher *out, uint64_t keys, double fpr,
                                          uint64_t seed);

/* Creates a key for bly_hasher_keyed with the system's random generator.
 * Errors: BLY_EIO (the generator failed; see errno). */
BLY_CHECKED bly_status bly_random_key(uint8_t key[16]);
/* Returns the hash of a key. */
BLY_API bly_hash bly_hash_key(const bly_hasher *hasher, const void *key, size_t len);
/* Computes the hashes of n keys, faster than one by one. */
BLY_API void bly_hash_keys(const bly_hasher *hasher, const bly_bytes *keys, size_t n,
                           bly_hash *out);
/* Returns the name of a hash function, as in bly_hash_id; NULL for an unknown id. */
BLY_API const char *bly_hash_name(bly_hash_id id);

/* Finds a hash function by its name. (The names of custom functions are not accepted.)
 * Errors: BLY_EHASHER (no such name). */
BLY_CHECKED bly_status bly_hash_by_name(const char *name, bly_hash_id *out);
/* Returns true if this build of the library contains the function. */
BLY_API bool bly_hash_available(bly_hash_id id);

/* Returns the number of bits of a function's output: 32, 64 or 128; 0 for custom and unknown
 * ids. */
BLY_API unsigned bly_hash_bits(bly_hash_id id);
/* Returns true for BLY_HASH_CUSTOM and BLY_HASH_CUSTOM_RAW. */
BLY_API bool bly_hash_is_custom(bly_hash_id id);

/* Computes the digest of a key: the output of the function itself, before it is made into a
 * bly_hash. The most significant byte comes first, as in the function's publication; md5, sha1,
 * murmur3 and siphash have their own byte order. No digest is longer than 20 bytes. Returns the
 * length of the digest; 0 for a custom hasher. */
BLY_API size_t bly_hash_digest(const bly_hasher *hasher, const void *key, size_t len,
                               uint8_t out[20]);

#ifdef __cplusplus
}
#endif
#endif
