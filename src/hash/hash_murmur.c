/* MurmurHash3 x64-128, MurmurHash64A and MurmurHash2, by Austin Appleby.
 *
 * MurmurHash3 mixes 16 bytes a step into two words that feed each other, and finishes both with
 * fmix64. Its published seed, the start value of both words, has 32 bits. Here it has 64, and the
 * results are the published ones for every seed below 2^32. Guava, Cassandra and bits-and-blooms
 * use it. MurmurHash64A, the older 64-bit function, mixes 8 bytes a step; RedisBloom uses it.
 * Earlier versions of RedisBloom used MurmurHash2, a similar function with 32-bit words.
 *
 * The reference code loads words in the host's byte order. Here they are little-endian everywhere,
 * as in the published test values.
 */
#include "hash/hash_murmur.h"

#include "base/little_endian.h"
#include "hash/hash_algo.h"

/* Returns the first n < 8 bytes as a little-endian number. For n >= 4 it is made from two loads
 * that overlap, for n < 4 from three bytes, two or three of which may be the same byte. That is
 * harmless, because or-ing a byte into its position twice changes nothing. */
static uint64_t murmur_load_tail(const uint8_t *p, size_t n) {
    if (n >= 4)
        return blyi_load32le(p) | (uint64_t)blyi_load32le(p + n - 4) << (8 * (n - 4));
    if (n == 0)
        return 0;
    return p[0] | (uint64_t)p[n / 2] << (8 * (n / 2)) | (uint64_t)p[n - 1] << (8 * (n - 1));
}

static const uint64_t MURMUR3_C1 = 0x87c37b91114253d5, MURMUR3_C2 = 0x4cf5ad432745937f;

static uint64_t murmur3_first(uint64_t k) {
    return blyi_rotl64(k * MURMUR3_C1, 31) * MURMUR3_C2;
}

static uint64_t murmur3_second(uint64_t k) {
    return blyi_rotl64(k * MURMUR3_C2, 33) * MURMUR3_C1;
}

/* One step: mixes 16 bytes into h. */
static inline void murmur3_step(bly_hash *h, const uint8_t *p) {
    h->lo ^= murmur3_first(blyi_load64le(p));
    h->lo = (blyi_rotl64(h->lo, 27) + h->hi) * 5 + 0x52dce729;
    h->hi ^= murmur3_second(blyi_load64le(p + 8));
    h->hi = (blyi_rotl64(h->hi, 31) + h->lo) * 5 + 0x38495ab5;
}

/* Mixes in the last `left` < 16 bytes and the length of the key, and finishes both words. */
static inline bly_hash murmur3_end(bly_hash h, const uint8_t *p, size_t left, uint64_t len) {
    uint64_t a = h.lo, b = h.hi;
    if (left >= 8) {
        a ^= murmur3_first(blyi_load64le(p));
        b ^= murmur3_second(murmur_load_tail(p + 8, left - 8));
    } else {
        a ^= murmur3_first(murmur_load_tail(p, left));
    }
    a ^= len;
    b ^= len;
    a += b;
    b += a;
    a = blyi_fmix64(a);
    b = blyi_fmix64(b);
    a += b;
    b += a;
    return (bly_hash){.lo = a, .hi = b};
}

static bly_hash murmur3(const void *key, size_t len, uint64_t seed) {
    const uint8_t *p = key;
    bly_hash h = {.lo = seed, .hi = seed};
    size_t left = len;
    for (; left >= 16; left -= 16, p += 16)
        murmur3_step(&h, p);
    return murmur3_end(h, p, left, len);
}

void blyi_murmur3_numbered(const void *key, size_t len, unsigned n, bly_hash *out) {
    const uint8_t *p = key;
    bly_hash h = {0, 0};
    size_t left = len;
    uint8_t tail[16];
    for (; left >= 16; left -= 16, p += 16)
        murmur3_step(&h, p);
    if (left)
        memcpy(tail, p, left);
    for (unsigned i = 0; i < n; i++) {
        bly_hash mine = h;
        tail[left] = (uint8_t)i;
        if (left == 15)
            murmur3_step(&mine, tail);
        out[i] = murmur3_end(mine, tail, (left + 1) % 16, (uint64_t)len + 1);
    }
}

static void murmur3_many(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out) {
    blyi_many128(self, keys, n, out, murmur3);
}

static size_t murmur3_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    bly_hash h = murmur3(key, len, self->seed);
    blyi_store64le(out, h.lo);
    blyi_store64le(out + 8, h.hi);
    return 16;
}

const blyi_hash_algo blyi_algo_murmur3 = {.many = murmur3_many, .digest = murmur3_digest};

static const uint64_t MURMUR64A_MUL = 0xc6a4a7935bd1e995;

uint64_t blyi_murmur64a(const void *key, size_t len, uint64_t seed) {
    const uint8_t *p = key;
    uint64_t h = seed ^ len * MURMUR64A_MUL;
    size_t left = len;
    for (; left >= 8; left -= 8, p += 8) {
        uint64_t k = blyi_load64le(p) * MURMUR64A_MUL;
        k = (k ^ k >> 47) * MURMUR64A_MUL;
        h = (h ^ k) * MURMUR64A_MUL;
    }
    if (left > 0)
        h = (h ^ murmur_load_tail(p, left)) * MURMUR64A_MUL;
    h = (h ^ h >> 47) * MURMUR64A_MUL;
    return h ^ h >> 47;
}

static void murmur64a_many(const bly_hasher *self, const bly_bytes *keys, size_t n, bly_hash *out) {
    blyi_many64(self, keys, n, out, blyi_murmur64a);
}

static size_t murmur64a_digest(const bly_hasher *self, const void *key, size_t len, uint8_t *out) {
    return blyi_digest_be(out, blyi_murmur64a(key, len, self->seed), 8);
}

const blyi_hash_algo blyi_algo_murmur64a = {.many = murmur64a_many, .digest = murmur64a_digest};

uint32_t blyi_murmur2(const void *key, size_t len, uint32_t seed) {
    const uint32_t mul = 0x5bd1e995;
    const uint8_t *p = key;
    uint32_t h = seed ^ (uint32_t)len;
    size_t left = len;
    for (; left >= 4; left -= 4, p += 4) {
        uint32_t k = blyi_load32le(p) * mul;
        h = h * mul ^ (k ^ k >> 24) * mul;
    }
    if (left > 0)
        h = (h ^ (uint32_t)murmur_load_tail(p, left)) * mul;
    h = (h ^ h >> 13) * mul;
    return h ^ h >> 15;
}
