/* hash_city.h - the parts that CityHash64 and its successor FarmHash (farmhashna) share. Internal.
 *
 * Both are by Geoff Pike. They give the same results for keys of up to 32 bytes, share the step
 * that consumes 64 bytes of a long key, and use a seed in the same way. The rest is in hash_city.c
 * and hash_farm.c. All loads are little-endian. The first and the last words that are read from a
 * key may overlap.
 */
#ifndef BLYI_HASH_HASH_CITY_H
#define BLYI_HASH_HASH_CITY_H

#include "base/little_endian.h"
#include "hash/hash_algo.h"

/* Primes between 2^63 and 2^64. BLYI_CITY_PAIR is the multiplier for a pair of words. */
#define BLYI_CITY_K0   UINT64_C(0xc3a5c85c97cb3127)
#define BLYI_CITY_K1   UINT64_C(0xb492b66fbe98f273)
#define BLYI_CITY_K2   UINT64_C(0x9ae16a3b2f90404f)
#define BLYI_CITY_PAIR UINT64_C(0x9ddfea08eb382d69)

static inline uint64_t blyi_city_rotr(uint64_t x, unsigned bits) {
    return blyi_rotl64(x, 64 - bits);
}

static inline uint64_t blyi_city_shift_mix(uint64_t x) {
    return x ^ x >> 47;
}

/* Hashes two words into one. */
static inline uint64_t blyi_city_pair(uint64_t u, uint64_t v, uint64_t mul) {
    uint64_t a = blyi_city_shift_mix((u ^ v) * mul);
    return blyi_city_shift_mix((v ^ a) * mul) * mul;
}

static inline uint64_t blyi_city_seeded(uint64_t hash, uint64_t seed) {
    return blyi_city_pair(hash - BLYI_CITY_K2, seed, BLYI_CITY_PAIR);
}

static inline uint64_t blyi_city_upto16(const uint8_t *p, size_t len) {
    const uint64_t mul = BLYI_CITY_K2 + 2 * (uint64_t)len;
    if (len >= 8) {
        uint64_t a = blyi_load64le(p) + BLYI_CITY_K2;
        uint64_t b = blyi_load64le(p + len - 8);
        return blyi_city_pair(blyi_city_rotr(b, 37) * mul + a, (blyi_city_rotr(a, 25) + b) * mul,
                              mul);
    }
    if (len >= 4) {
        uint64_t first = blyi_load32le(p);
        return blyi_city_pair(len + (first << 3), blyi_load32le(p + len - 4), mul);
    }
    if (len > 0) {
        uint64_t y = p[0] + ((uint64_t)p[len / 2] << 8);
        uint64_t z = len + ((uint64_t)p[len - 1] << 2);
        return blyi_city_shift_mix(y * BLYI_CITY_K2 ^ z * BLYI_CITY_K0) * BLYI_CITY_K2;
    }
    return BLYI_CITY_K2;
}

/* Hashes a key of 17 to 32 bytes. */
static inline uint64_t blyi_city_upto32(const uint8_t *p, size_t len) {
    const uint64_t mul = BLYI_CITY_K2 + 2 * (uint64_t)len;
    uint64_t a = blyi_load64le(p) * BLYI_CITY_K1;
    uint64_t b = blyi_load64le(p + 8);
    uint64_t c = blyi_load64le(p + len - 8) * mul;
    uint64_t d = blyi_load64le(p + len - 16) * BLYI_CITY_K2;
    return blyi_city_pair(blyi_city_rotr(a + b, 43) + blyi_city_rotr(c, 30) + d,
                          a + blyi_city_rotr(b + BLYI_CITY_K2, 18) + c, mul);
}

/* The state while a long key is hashed: 56 bytes. */
typedef struct blyi_city_state {
    uint64_t x, y, z;
    uint64_t v[2], w[2];
} blyi_city_state;

/* Combines 32 bytes and two words into two words. It is cheap and mixes little, so its callers mix
 * the result further. */
static inline void blyi_city_weak32(uint64_t out[2], const uint8_t *p, uint64_t a, uint64_t b) {
    uint64_t last = blyi_load64le(p + 24);
    a += blyi_load64le(p);
    b = blyi_city_rotr(a + b + last, 21);
    uint64_t sum = a + blyi_load64le(p + 8) + blyi_load64le(p + 16);
    out[0] = sum + last;
    out[1] = a + b + blyi_city_rotr(sum, 44);
}

/* Mixes 64 bytes of a key into the state. In every step except FarmHash's last, `mul` is
 * BLYI_CITY_K1 and `scale` is 1. */
static inline void blyi_city_step(blyi_city_state *st, const uint8_t *p, uint64_t mul,
                                  uint64_t scale) {
    uint64_t x = blyi_city_rotr(st->x + st->y + st->v[0] + blyi_load64le(p + 8), 37) * mul;
    uint64_t y = blyi_city_rotr(st->y + st->v[1] + blyi_load64le(p + 48), 42) * mul;
    uint64_t z = blyi_city_rotr(st->z + st->w[0], 33) * mul;
    x ^= st->w[1] * scale;
    y += st->v[0] * scale + blyi_load64le(p + 40);
    blyi_city_weak32(st->v, p, st->v[1] * mul, x + st->w[0]);
    blyi_city_weak32(st->w, p + 32, z + st->w[1], y + blyi_load64le(p + 16));
    st->x = z;
    st->y = y;
    st->z = x;
}

#endif
