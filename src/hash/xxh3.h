/* xxh3.h - XXH3 in 64 bits for short keys, with a precomputed secret. Internal.
 *
 * This is Yann Collet's XXH3 (xxHash's doc/xxhash_spec.md) for keys of 4 to 128 bytes, with the
 * same results as his own header (tests/unit/test_hash_probe.c compares them). It exists because a
 * batch spends half of its instructions on hashing, and for such keys that header is slower than
 * necessary: each 64-bit word of XXH3's secret is a constant in the code, which a processor has to
 * read again for every key, and compilers assemble 128-bit products in memory. Here the words that
 * are mixed with a key are computed once per filter, and stored in a blyi_xxh3_secret. So hashing
 * with a seed costs the same as without one.
 */
#ifndef BLYI_HASH_XXH3_H
#define BLYI_HASH_XXH3_H

#include "base/bits.h"
#include "base/little_endian.h"
#include "hash/mix.h"

#include <stddef.h>

enum { BLYI_XXH3_SECRET_WORDS = 16 };

typedef struct blyi_xxh3_secret {
    uint64_t ends[2];  /* for the first and the last 8 bytes of a key of 9 to 16 bytes */
    uint64_t scramble; /* the multiplier of the last step */
    uint64_t gold;     /* BLYI_GOLD, the factor from the first word to the second */
    uint64_t brief;    /* for a key of 4 to 8 bytes (a "brief" one) */
    uint64_t seed;
    uint64_t words[BLYI_XXH3_SECRET_WORDS]; /* one for each 8 bytes of a key of 17 to 128 bytes */
} blyi_xxh3_secret;

/* The secret of seed 0, which needs no preparation. */
extern const blyi_xxh3_secret blyi_xxh3_seed0;

/* Computes the secret for a seed. In hash_xxh.c. */
void blyi_xxh3_secret_init(blyi_xxh3_secret *secret, uint64_t seed);
/* Hashes a key of any length by xxHash's own function. In hash_xxh.c. */
uint64_t blyi_xxh3_any(const blyi_xxh3_secret *secret, const void *key, size_t len);

#define BLYI_XXH3_INLINE static inline __attribute__((always_inline))

BLYI_XXH3_INLINE uint64_t blyi_xxh3_last(const blyi_xxh3_secret *secret, uint64_t h) {
    h ^= h >> 37;
    h *= secret->scramble;
    return h ^ h >> 32;
}

BLYI_XXH3_INLINE bool blyi_xxh3_is_short(size_t len) {
    return len - 9 < 8;
}

/* Whether both lengths are short (9 to 16 bytes). */
BLYI_XXH3_INLINE bool blyi_xxh3_are_short(size_t a, size_t b) {
    return ((a - 9) | (b - 9)) < 8;
}

BLYI_XXH3_INLINE bool blyi_xxh3_is_brief(size_t len) {
    return len - 4 < 5;
}

/* Hashes a key of 9 to 16 bytes. */
BLYI_XXH3_INLINE uint64_t blyi_xxh3_short(const blyi_xxh3_secret *secret, const uint8_t *key,
                                          size_t len) {
    uint64_t last = blyi_load64le(key + len - 8) ^ secret->ends[1];
    uint64_t sum = len + last;
    __asm__("" : "+r"(sum)); /* computes `sum` now, so that the register of `len` is free */
    uint64_t first = blyi_load64le(key) ^ secret->ends[0];
    uint64_t fold = blyi_mul_fold_keep(first, last);
    return blyi_xxh3_last(secret, sum + __builtin_bswap64(first) + fold);
}

BLYI_XXH3_INLINE uint64_t blyi_xxh3_mix(const uint8_t *key, const uint64_t words[2]) {
    return blyi_mul_fold(blyi_load64le(key) ^ words[0], blyi_load64le(key + 8) ^ words[1]);
}

typedef uint64_t blyi_mix_fn(const uint8_t *key, const uint64_t words[2]);

/* Hashes a key of 17 to 128 bytes: 16 from either end, then the next 16 from either end, and so on.
 * `mix` must give the results of blyi_xxh3_mix. */
BLYI_XXH3_INLINE uint64_t blyi_xxh3_middle_by(const blyi_xxh3_secret *secret, const uint8_t *key,
                                              size_t len, blyi_mix_fn *mix) {
    const uint64_t *w = secret->words;
    const uint8_t *end = key + len - 16;
    uint64_t sum = len * UINT64_C(0x9E3779B185EBCA87);
    if (len > 32) {
        if (len > 64) {
            if (len > 96)
                sum += mix(key + 48, w + 12) + mix(end - 48, w + 14);
            sum += mix(key + 32, w + 8) + mix(end - 32, w + 10);
        }
        sum += mix(key + 16, w + 4) + mix(end - 16, w + 6);
    }
    sum += mix(key, w) + mix(end, w + 2);
    return blyi_xxh3_last(secret, sum);
}

BLYI_XXH3_INLINE uint64_t blyi_xxh3_middle(const blyi_xxh3_secret *secret, const uint8_t *key,
                                           size_t len) {
    return blyi_xxh3_middle_by(secret, key, len, blyi_xxh3_mix);
}

/* Hashes a key of 4 to 8 bytes. */
BLYI_XXH3_INLINE uint64_t blyi_xxh3_brief(const blyi_xxh3_secret *secret, const uint8_t *key,
                                          size_t len) {
    const uint64_t times = UINT64_C(0x9FB21C651E98DF25);
    uint64_t h = (uint64_t)blyi_load32le(key) << 32;
    h = (h + blyi_load32le(key + len - 4)) ^ secret->brief;
    h ^= blyi_rotl64(h, 49) ^ blyi_rotl64(h, 24);
    h *= times;
    h ^= (h >> 35) + len;
    h *= times;
    return h ^ h >> 28;
}

/* Hashes a key of any length. */
BLYI_XXH3_INLINE uint64_t blyi_xxh3(const blyi_xxh3_secret *secret, const uint8_t *key,
                                    size_t len) {
    if (blyi_xxh3_is_short(len))
        return blyi_xxh3_short(secret, key, len);
    if (len - 17 < 112)
        return blyi_xxh3_middle(secret, key, len);
    if (blyi_xxh3_is_brief(len))
        return blyi_xxh3_brief(secret, key, len);
    return blyi_xxh3_any(secret, key, len);
}

#endif
