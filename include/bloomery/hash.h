/* hash.h - computes the 128-bit hash of a key that every filter works on.
 *
 * A bly_hasher is a small value: which function, with which seed or secret key. It is copied
 * into the filters that use it, so it may live on the stack. Hashing never fails and never
 * allocates.
 *
 * How a function's own output becomes a bly_hash (fmix64 is Murmur3's 64-bit finaliser,
 * s = 0 for seed 0, else fmix64(seed)):
 *   128-bit functions   lo, hi = the first two little-endian words of the output
 *                       (md5 and sha1 have no seed of their own: when seed is not 0,
 *                       lo = fmix64(lo ^ s), hi = fmix64((hi ^ s) + 0x9E3779B97F4A7C15))
 *   xxh3                lo = output,  hi = output * 0x9E3779B97F4A7C15 with its bytes reversed
 *                       (all its bits are well mixed already, and it is the default: two more
 *                       finalisers would cost as much again as hashing a short key)
 *   other 64-, 32-bit   x = output ^ s;  lo = fmix64(x),  hi = fmix64(x + 0x9E3779B97F4A7C15)
 *   custom              both words pass through a mixing that is a bijection of the 128 bits
 *                       (docs/format.md, section 3)
 *   custom-raw          both words as the caller's function returns them
 * Functions that take a seed natively get it natively as well.
 *
 * Entropy: with n keys under an E-bit hash, a non-member has the same hash as a member at rate
 * n / 2^E, whatever the filter. plan.h adds that rate to the expected FPR, and refuses a hash
 * with which the requested FPR cannot be reached.
 *
 * Only siphash is keyed. Use it when an attacker may choose keys. A seed is not a secret, and
 * md5 or sha1 do not help, since an attacker can search for colliding keys offline.
 */
#ifndef BLOOMERY_HASH_H
#define BLOOMERY_HASH_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Stable: these are the ids in files. */
typedef enum bly_hash_id {
    BLY_HASH_NONE = 0,
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

/* The caller's function. It must be pure: equal keys have equal results. */
typedef bly_hash (*bly_hash_fn)(void *user, const void *key, size_t len);

/* Filled in by the functions below; read the fields, do not write them. */
struct bly_hasher {
    bly_hash (*one)(const bly_hasher *self, const void *key, size_t len);
    void (*many)(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out);
    bly_hash_fn custom;
    void *user;
    uint64_t seed; /* the seed; for a keyed hasher the key id; for a custom one its tag */
    uint8_t key[16];
    uint16_t id;   /* a bly_hash_id */
    uint16_t bits; /* E: 32, 64 or 128; for a custom one what its caller says, 32 to 128 */
};

/* BLY_EHASHER: unknown, not in this build, keyed (use bly_hasher_keyed) or custom. */
BLY_CHECKED bly_status bly_hasher_init(bly_hasher *out, bly_hash_id id, uint64_t seed);

/* siphash under a secret 128-bit key. BLY_EHASHER when this build has no libsodium. */
BLY_CHECKED bly_status bly_hasher_keyed(bly_hasher *out, const uint8_t key[16]);

/* The caller's function, mixed: what fn returns passes through a bijection of the 128 bits, after
 * which every bit of both words depends on every bit that fn returned. So fn may return words with
 * weak or constant bits (FNV, a CRC, 32-bit halves, a single word and 0). What counts is how many
 * different results it has. Mixing adds no entropy: `bits` is how many bits of entropy the result
 * of fn has (32 to 128), and plans rely on it. For a 32-bit function say 32.
 *
 * `tag`, chosen by the caller, is stored in files, so that a filter is never opened with another
 * function. `user` must outlive the filters that use it. BLY_EINVAL: fn is NULL, or bits is out of
 * range.
 *
 * A filter may use the other form of the hasher that it was given:
 *   - A filter that is opened, or given its hasher later, uses the form that its file records, raw
 *     or mixed. Version 0.1 did not mix; programs written for it open their files as before.
 *   - A filter created with the option BLY_TEXTBOOK uses the raw form, since its purpose is to have
 *     exactly the textbook's bits.
 * So a caller that hashes keys itself, for bly_filter_add_hash and the like, takes the hasher from
 * bly_filter_hasher. A mixed and a raw filter cannot be combined (BLY_EMISMATCH). */
BLY_CHECKED bly_status bly_hasher_custom(bly_hasher *out, bly_hash_fn fn, void *user, unsigned bits,
                                         uint64_t tag);

/* The same without mixing: the filter uses the words exactly as fn returns them. Every bit of both
 * words must be well mixed, or the FPR is far above the requested one. bly_filter_get_info does not
 * notice that: its rates assume well-mixed hashes. */
BLY_CHECKED bly_status bly_hasher_custom_raw(bly_hasher *out, bly_hash_fn fn, void *user,
                                             unsigned bits, uint64_t tag);

/* The default for that many keys at that FPR: xxh3, or xxh3-128 where 64 bits are too few. */
BLY_CHECKED bly_status bly_hasher_default(bly_hasher *out, uint64_t keys, double fpr,
                                          uint64_t seed);

/* 16 bytes from the system's generator, for bly_hasher_keyed. BLY_EIO when it has none. */
BLY_CHECKED bly_status bly_random_key(uint8_t key[16]);

BLY_API bly_hash bly_hash_key(const bly_hasher *hasher, const void *key, size_t len);
BLY_API void bly_hash_keys(const bly_hasher *hasher, const bly_bytes *keys, size_t n,
                           bly_hash *out);

/* NULL for an id this version does not know. */
BLY_API const char *bly_hash_name(bly_hash_id id);

/* The id for a name as spelled above, except those of custom functions. BLY_EHASHER if there is no
 * such name. */
BLY_CHECKED bly_status bly_hash_by_name(const char *name, bly_hash_id *out);

/* Whether this build can compute it. */
BLY_API bool bly_hash_available(bly_hash_id id);

/* 32, 64 or 128; 0 for an unknown id and for custom functions. */
BLY_API unsigned bly_hash_bits(bly_hash_id id);

/* Whether it is BLY_HASH_CUSTOM or BLY_HASH_CUSTOM_RAW. */
BLY_API bool bly_hash_is_custom(bly_hash_id id);

/* The function's own output, before it is made into a bly_hash, most significant byte first as
 * its publication prints it (md5, sha1, murmur3 and siphash: in their own byte order). Written to
 * `out` (20 bytes are always enough); returns its length, 0 for a custom hasher. */
BLY_API size_t bly_hash_digest(const bly_hasher *hasher, const void *key, size_t len,
                               uint8_t out[20]);

#ifdef __cplusplus
}
#endif
#endif
