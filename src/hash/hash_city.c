/* CityHash64, version 1.1 (Geoff Pike and Jyrki Alakuijala, Google, 2012).
 *
 * Version 1.0 gives other values for most lengths. 1.1 is the last version, and the one in general
 * use. The parts that it shares with FarmHash are in hash_city.h. With a seed the function is
 * CityHash64WithSeed.
 */
#include "hash/hash_city.h"

/* Compilers turn this into one byte-swap instruction. */
static uint64_t city64_swap_bytes(uint64_t x) {
    uint8_t b[8];
    blyi_store64le(b, x);
    return (uint64_t)b[0] << 56 | (uint64_t)b[1] << 48 | (uint64_t)b[2] << 40 |
           (uint64_t)b[3] << 32 | (uint64_t)b[4] << 24 | (uint64_t)b[5] << 16 |
           (uint64_t)b[6] << 8 | b[7];
}

/* Hashes a key of 33 to 64 bytes. */
static uint64_t city64_upto64(const uint8_t *p, size_t len) {
    const uint64_t mul = BLYI_CITY_K2 + 2 * (uint64_t)len;
    uint64_t first = blyi_load64le(p) * BLYI_CITY_K2;
    uint64_t second = blyi_load64le(p + 8);
    uint64_t third = blyi_load64le(p + 16) * BLYI_CITY_K2;
    uint64_t fourth = blyi_load64le(p + 24) * 9;
    uint64_t last4 = blyi_load64le(p + len - 32);
    uint64_t last3 = blyi_load64le(p + len - 24);
    uint64_t last2 = blyi_load64le(p + len - 16) * mul;
    uint64_t last = blyi_load64le(p + len - 8);

    uint64_t u = blyi_city_rotr(first + last, 43) + (blyi_city_rotr(second, 30) + last3) * 9;
    uint64_t v = ((first + last) ^ last4) + fourth + 1;
    uint64_t w = city64_swap_bytes((u + v) * mul) + last2;
    uint64_t x = blyi_city_rotr(third + fourth, 42) + last3;
    uint64_t y = (city64_swap_bytes((v + w) * mul) + last) * mul;
    uint64_t z = third + fourth + last3;
    uint64_t a = city64_swap_bytes((x + z) * mul + y) + second;
    return blyi_city_shift_mix((z + a) * mul + last4 + last2) * mul + x;
}

static uint64_t city64_over64(const uint8_t *p, size_t len) {
    /* The state starts from the last 64 bytes of the key. So the steps take only whole blocks, and
     * stop when at most 64 bytes are left. */
    const uint8_t *tail = p + len - 64;
    uint64_t x = blyi_load64le(tail + 24);
    uint64_t y = blyi_load64le(tail + 48) + blyi_load64le(tail + 8);
    uint64_t z =
        blyi_city_pair(blyi_load64le(tail + 16) + len, blyi_load64le(tail + 40), BLYI_CITY_PAIR);
    blyi_city_state st = {.x = x * BLYI_CITY_K1 + blyi_load64le(p), .y = y, .z = z};
    blyi_city_weak32(st.v, tail, len, z);
    blyi_city_weak32(st.w, tail + 32, y + BLYI_CITY_K1, x);

    for (size_t blocks = (len - 1) / 64; blocks > 0; blocks--, p += 64)
        blyi_city_step(&st, p, BLYI_CITY_K1, 1);

    uint64_t lo = blyi_city_pair(st.v[0], st.w[0], BLYI_CITY_PAIR);
    uint64_t hi = blyi_city_pair(st.v[1], st.w[1], BLYI_CITY_PAIR);
    return blyi_city_pair(lo + blyi_city_shift_mix(st.y) * BLYI_CITY_K1 + st.z, hi + st.x,
                          BLYI_CITY_PAIR);
}

static uint64_t city64(const void *key, size_t len, uint64_t seed) {
    uint64_t h = len <= 16   ? blyi_city_upto16(key, len)
                 : len <= 32 ? blyi_city_upto32(key, len)
                 : len <= 64 ? city64_upto64(key, len)
                             : city64_over64(key, len);
    return seed ? blyi_city_seeded(h, seed) : h;
}

static void city64_many(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out) {
    blyi_many64(self, keys, n, out, city64);
}

static size_t city64_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    return blyi_digest_be(out, city64(key, len, self->seed), 8);
}

const blyi_hash_algo blyi_algo_city64 = {.many = city64_many, .digest = city64_digest};
