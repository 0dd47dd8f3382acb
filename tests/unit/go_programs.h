/* go_programs.h - the filters of the Go programs that docs/documents.md describes, written again in
 * C: which bits a key has, and a filter of such bits.
 *
 * Each function below sets out[0 .. k-1] to the positions of the bits of a key in a filter of m
 * bits. test_go_programs.c shows that these filters have exactly the false positives of the Go
 * programs.
 */
#ifndef BLYT_GO_PROGRAMS_H
#define BLYT_GO_PROGRAMS_H

#include <bloomery/hash.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GO_MAX_K = 32, GO_MAX_KEY = 64 };

typedef void (*go_positions)(const uint8_t *key, size_t len, uint64_t m, unsigned k, uint64_t *out);

#define FNV64_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV64_PRIME UINT64_C(0x100000001b3)
#define FNV32_BASIS UINT32_C(0x811c9dc5)
#define FNV32_PRIME UINT32_C(0x01000193)

/* FNV-1a, continued from `h`, the hash of the bytes before `key`. */
static inline uint32_t fnv1a_32(uint32_t h, const uint8_t *key, size_t len) {
    for (size_t i = 0; i < len; i++)
        h = (h ^ key[i]) * FNV32_PRIME;
    return h;
}

static inline uint64_t fnv1_64(const uint8_t *key, size_t len) {
    uint64_t h = FNV64_BASIS;
    for (size_t i = 0; i < len; i++)
        h = h * FNV64_PRIME ^ key[i];
    return h;
}

static inline uint64_t fnv1a_64(const uint8_t *key, size_t len) {
    uint64_t h = FNV64_BASIS;
    for (size_t i = 0; i < len; i++)
        h = (h ^ key[i]) * FNV64_PRIME;
    return h;
}

/* 000: x and y are the FNV-1 and FNV-1a of the key, in 64-bit arithmetic. */
static inline void positions_000(const uint8_t *key, size_t len, uint64_t m, unsigned k,
                                 uint64_t *out) {
    const uint64_t x = fnv1_64(key, len), y = fnv1a_64(key, len);
    for (unsigned i = 0; i < k; i++)
        out[i] = (x + i * y) % m;
}

/* 001: b and a are the first two 32-bit words (big-endian) of any hash, here of FNV-1. The sum is
 * computed in 64 bits (Go's uint on a 64-bit machine), so it never wraps around. */
static inline void positions_001(const uint8_t *key, size_t len, uint64_t m, unsigned k,
                                 uint64_t *out) {
    const uint64_t h = fnv1_64(key, len), a = h & UINT32_MAX, b = h >> 32;
    for (unsigned i = 0; i < k; i++)
        out[i] = (a + i * b) % m;
}

/* 002: each position has its own Murmur3, of the key with the byte i appended. */
static inline void positions_002(const uint8_t *key, size_t len, uint64_t m, unsigned k,
                                 uint64_t *out) {
    uint8_t copy[GO_MAX_KEY + 1];
    bly_hasher murmur3;
    if (len > GO_MAX_KEY || bly_hasher_init(&murmur3, BLY_HASH_MURMUR3, 0) != BLY_OK)
        abort();
    memcpy(copy, key, len);
    for (unsigned i = 0; i < k; i++) {
        copy[len] = (uint8_t)i;
        out[i] = bly_hash_key(&murmur3, copy, len + 1).lo % m;
    }
}

/* 003: h1 and h2 are the halves of FNV-1. The sum is computed in 32 bits, and wraps around. */
static inline void positions_003(const uint8_t *key, size_t len, uint64_t m, unsigned k,
                                 uint64_t *out) {
    const uint64_t h = fnv1_64(key, len);
    const uint32_t h1 = (uint32_t)h, h2 = (uint32_t)(h >> 32);
    for (unsigned i = 0; i < k; i++)
        out[i] = (uint32_t)(h1 + i * h2) % (uint32_t)m;
}

/* 004: each position has its own FNV-1a of 32 bits, of the key with the byte i appended. */
static inline void positions_004(const uint8_t *key, size_t len, uint64_t m, unsigned k,
                                 uint64_t *out) {
    for (unsigned i = 0; i < k; i++) {
        const uint8_t seed = (uint8_t)i;
        out[i] = fnv1a_32(fnv1a_32(FNV32_BASIS, key, len), &seed, 1) % m;
    }
}

/* ---- a filter -------------------------------------------------------------------------------- */

typedef struct go_filter {
    go_positions positions;
    uint64_t m;
    unsigned k;
    uint8_t *bits;
} go_filter;

static inline go_filter go_filter_create(go_positions positions, uint64_t m, unsigned k) {
    go_filter f = {positions, m, k, calloc(1, (size_t)(m / 512 + 1) * 64)};
    if (!f.bits || k > GO_MAX_K)
        abort();
    return f;
}

static inline void go_filter_add(go_filter *f, const void *key, size_t len) {
    uint64_t at[GO_MAX_K];
    f->positions(key, len, f->m, f->k, at);
    for (unsigned i = 0; i < f->k; i++)
        f->bits[at[i] / 8] |= (uint8_t)(1U << at[i] % 8);
}

static inline bool go_filter_contains(const go_filter *f, const void *key, size_t len) {
    uint64_t at[GO_MAX_K];
    bool all = true;
    f->positions(key, len, f->m, f->k, at);
    for (unsigned i = 0; i < f->k; i++)
        all &= f->bits[at[i] / 8] >> at[i] % 8 & 1;
    return all;
}

static inline void go_filter_destroy(go_filter *f) {
    free(f->bits);
}

/* Returns key number i, which is valid until the next call. */
static inline bly_bytes go_url(uint64_t i) {
    static char text[GO_MAX_KEY];
    const int size =
        snprintf(text, sizeof text, "https://example.com/page/%llu", (unsigned long long)i);
    return (bly_bytes){text, (size_t)size};
}

#endif
