/* FarmHash's 64-bit hash, the variant "na" (Geoff Pike, Google, 2014).
 *
 * FarmHash is a family: the result of its Hash64 depends on the processor. The variant na never
 * changes; FarmHash calls it Fingerprint64. Guava's farmHashFingerprint64 and BigQuery's
 * FARM_FINGERPRINT are the same function. With a seed it is na's Hash64WithSeed.
 */
#include "hash/hash_city.h"

/* Hashes a key of 33 to 64 bytes. */
static uint64_t farm64_upto64(const uint8_t *p, size_t len) {
    const uint64_t mul = BLYI_CITY_K2 + 2 * (uint64_t)len;
    uint64_t first = blyi_load64le(p) * BLYI_CITY_K2;
    uint64_t second = blyi_load64le(p + 8);
    uint64_t third = blyi_load64le(p + 16) * mul;
    uint64_t fourth = blyi_load64le(p + 24);
    uint64_t last2 = blyi_load64le(p + len - 16) * BLYI_CITY_K2;
    uint64_t last = blyi_load64le(p + len - 8) * mul;

    uint64_t y = blyi_city_rotr(first + second, 43) + blyi_city_rotr(last, 30) + last2;
    uint64_t z = blyi_city_pair(y, first + blyi_city_rotr(second + BLYI_CITY_K2, 18) + last, mul);
    uint64_t g = (y + blyi_load64le(p + len - 32)) * mul;
    uint64_t h = (z + blyi_load64le(p + len - 24)) * mul;
    return blyi_city_pair(blyi_city_rotr(third + fourth, 43) + blyi_city_rotr(g, 30) + h,
                          third + blyi_city_rotr(fourth + first, 18) + g, mul);
}

static uint64_t farm64_over64(const uint8_t *p, size_t len) {
    const uint64_t start = 81;
    const uint64_t y = start * BLYI_CITY_K1 + 113;
    blyi_city_state st = {
        .x = start * BLYI_CITY_K2 + blyi_load64le(p),
        .y = y,
        .z = blyi_city_shift_mix(y * BLYI_CITY_K2 + 113) * BLYI_CITY_K2,
    };
    const uint8_t *tail = p + len - 64;
    for (size_t blocks = (len - 1) / 64; blocks > 0; blocks--, p += 64)
        blyi_city_step(&st, p, BLYI_CITY_K1, 1);

    /* The last step takes the last 64 bytes, which may overlap the previous block. Its multiplier
     * depends on the state so far, and (len - 1) % 64 is added to the state. */
    const uint64_t mul = BLYI_CITY_K1 + ((st.z & 255) << 1);
    st.w[0] += (len - 1) & 63;
    st.v[0] += st.w[0];
    st.w[0] += st.v[0];
    blyi_city_step(&st, tail, mul, 9);

    uint64_t lo = blyi_city_pair(st.v[0], st.w[0], mul);
    uint64_t hi = blyi_city_pair(st.v[1], st.w[1], mul);
    return blyi_city_pair(lo + blyi_city_shift_mix(st.y) * BLYI_CITY_K0 + st.z, hi + st.x, mul);
}

static uint64_t farm64(const void *key, size_t len, uint64_t seed) {
    uint64_t h = len <= 16   ? blyi_city_upto16(key, len)
                 : len <= 32 ? blyi_city_upto32(key, len)
                 : len <= 64 ? farm64_upto64(key, len)
                             : farm64_over64(key, len);
    return seed ? blyi_city_seeded(h, seed) : h;
}

static void farm64_many(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out) {
    blyi_many64(self, keys, n, out, farm64);
}

static size_t farm64_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    return blyi_digest_be(out, farm64(key, len, self->seed), 8);
}

const blyi_hash_algo blyi_algo_farm64 = {.many = farm64_many, .digest = farm64_digest};
