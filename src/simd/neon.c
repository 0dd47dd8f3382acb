/* NEON: every 64-bit ARM has it. The note on racing reads in avx2.c holds here too: 8-byte words
 * of a vector load are read whole. */
#include "simd/kernels.h"

#if defined(__aarch64__) && !defined(__AARCH64EB__)
#include "simd/masks.h"
#include <arm_neon.h>

#define RACY   __attribute__((no_sanitize("thread")))
#define INLINE static inline __attribute__((always_inline))

/* Four vectors of two 64-bit words hold a split512 block; two hold an sbbf block. */
typedef struct mask128 {
    uint64x2_t v[4];
} mask128;

INLINE mask128 sbbf_mask(uint64_t bits) {
    static const uint32_t salt[8] = {BLYI_SBBF_SALTS};
    mask128 m;
    uint32x4_t x = vdupq_n_u32((uint32_t)bits), one = vdupq_n_u32(1);
    for (int j = 0; j < 2; j++) {
        uint32x4_t at = vshrq_n_u32(vmulq_u32(x, vld1q_u32(salt + 4 * j)), 27);
        m.v[j] = vreinterpretq_u64_u32(vshlq_u32(one, vreinterpretq_s32_u32(at)));
    }
    return m;
}

/* One bit in each of two lanes, from the 6-bit slices of x at -first[0] and -first[1]. */
INLINE uint64x2_t two_bits(uint64x2_t x, const int64_t *first) {
    uint64x2_t at = vandq_u64(vshlq_u64(x, vld1q_s64(first)), vdupq_n_u64(63));
    return vshlq_u64(vdupq_n_u64(1), vreinterpretq_s64_u64(at));
}

INLINE mask128 split_mask(uint64_t bits, unsigned k) {
    static const int64_t first[8] = {0, -6, -12, -18, -24, -30, -36, -42};
    uint64x2_t x = vdupq_n_u64(bits);
    mask128 m;
    for (int j = 0; j < 4; j++)
        m.v[j] = two_bits(x, first + 2 * j);
    if (k == 8)
        return m;
    uint64x2_t more = vdupq_n_u64(blyi_split_more(bits));
    int from = k == 12 && bits >> 63 ? 2 : 0;
    for (int j = 0; j < (k == 12 ? 2 : 4); j++)
        m.v[from + j] = vorrq_u64(m.v[from + j], two_bits(more, first + 2 * j));
    return m;
}

/* Whether any bit of the mask is clear in the block. */
INLINE RACY int lacks(const uint64_t *at, const mask128 *m, int vectors) {
    uint64x2_t missing = vdupq_n_u64(0);
    for (int j = 0; j < vectors; j++)
        missing = vorrq_u64(missing, vbicq_u64(m->v[j], vld1q_u64(at + 2 * j)));
    return vmaxvq_u32(vreinterpretq_u32_u64(missing)) != 0;
}

INLINE void put_mask(uint64_t *at, const mask128 *m, int vectors) {
    for (int j = 0; j < vectors; j++)
        vst1q_u64(at + 2 * j, vorrq_u64(vld1q_u64(at + 2 * j), m->v[j]));
}

RACY static bool sbbf_contains_block(const void *block, uint64_t bits, unsigned k) {
    mask128 m = sbbf_mask(bits);
    (void)k;
    return !lacks(block, &m, 2);
}

RACY static bool split_contains_block(const void *block, uint64_t bits, unsigned k) {
    mask128 m = split_mask(bits, k);
    return !lacks(block, &m, 4);
}

static bool sbbf_add_block(void *block, uint64_t bits, unsigned k) {
    mask128 m = sbbf_mask(bits);
    bool is_new = lacks(block, &m, 2);
    (void)k;
    put_mask(block, &m, 2);
    return is_new;
}

static bool split_add_block(void *block, uint64_t bits, unsigned k) {
    mask128 m = split_mask(bits, k);
    bool is_new = lacks(block, &m, 4);
    put_mask(block, &m, 4);
    return is_new;
}

RACY static size_t sbbf_contains_blocks(const void *blocks, const blyi_block_probe *s, size_t n,
                                        unsigned k, uint8_t *out) {
    const uint64_t *words = blocks;
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = sbbf_contains_block(words + s[i].at / 8, s[i].bits, k);
        hits += hit;
        if (out)
            out[i] = hit;
    }
    return hits;
}

static size_t sbbf_add_blocks(void *blocks, const blyi_block_probe *s, size_t n, unsigned k,
                              uint8_t *out) {
    uint64_t *words = blocks;
    size_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_new = sbbf_add_block(words + s[i].at / 8, s[i].bits, k);
        fresh += is_new;
        if (out)
            out[i] = is_new;
    }
    return fresh;
}

RACY static size_t split_contains_blocks(const void *blocks, const blyi_block_probe *s, size_t n,
                                         unsigned k, uint8_t *out) {
    const uint64_t *words = blocks;
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = split_contains_block(words + s[i].at / 8, s[i].bits, k);
        hits += hit;
        if (out)
            out[i] = hit;
    }
    return hits;
}

static size_t split_add_blocks(void *blocks, const blyi_block_probe *s, size_t n, unsigned k,
                               uint8_t *out) {
    uint64_t *words = blocks;
    size_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_new = split_add_block(words + s[i].at / 8, s[i].bits, k);
        fresh += is_new;
        if (out)
            out[i] = is_new;
    }
    return fresh;
}

/* For single keys (turn.h). */
RACY static bool sbbf_contains_swapped(const void *block, uint64_t word, unsigned k) {
    return sbbf_contains_block(block, __builtin_bswap64(word), k);
}

RACY static bool split_contains_swapped(const void *block, uint64_t word, unsigned k) {
    return split_contains_block(block, __builtin_bswap64(word), k);
}

#define mix_16_bytes blyi_xxh3_mix
#include "simd/hash_probe.h"

INLINE uint64_t count_bits(uint64x2_t v) {
    return vaddlvq_u8(vcntq_u8(vreinterpretq_u8_u64(v)));
}

RACY static uint64_t popcount(const uint64_t *words, size_t n) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i += 2)
        total += count_bits(vld1q_u64(words + i));
    return total;
}

RACY static uint64_t popcount_or(const uint64_t *a, const uint64_t *b, size_t n) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i += 2)
        total += count_bits(vorrq_u64(vld1q_u64(a + i), vld1q_u64(b + i)));
    return total;
}

const blyi_kernels blyi_kernels_neon = {
    .name = "neon",
    .sbbf_contains_block = sbbf_contains_block,
    .sbbf_add_block = sbbf_add_block,
    .split_contains_block = split_contains_block,
    .split_add_block = split_add_block,
    .sbbf_contains_blocks = sbbf_contains_blocks,
    .sbbf_add_blocks = sbbf_add_blocks,
    .split_contains_blocks = split_contains_blocks,
    .split_add_blocks = split_add_blocks,
    BLYI_HASH_PROBE_FIELDS,
    .counters_add = blyi_counters_add,
    .counters_remove = blyi_counters_remove,
    .ribbon_contains_many = blyi_ribbon_contains_many,
    .popcount = popcount,
    .popcount_or = popcount_or,
};
#endif
