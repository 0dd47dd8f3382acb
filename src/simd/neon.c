/* Kernels for NEON, which every 64-bit ARM processor has.
 *
 * The note on racing reads in avx2.c applies here too: each 8-byte word of a vector load is read
 * whole. */
#include "simd/kernels.h"

#if defined(__aarch64__) && !defined(__AARCH64EB__)
#include "simd/counter_kernel.h"
#include "simd/hash_probe.h"
#include "simd/masks.h"
#include "simd/ribbon_kernel.h"
#include <arm_neon.h>

#define BLYI_KERNEL_RACY __attribute__((no_sanitize("thread")))

/* Four vectors of two 64-bit words make a split512 block, two make an sbbf block. */
typedef struct neon_mask {
    uint64x2_t v[4];
} neon_mask;

BLYI_KERNEL_INLINE neon_mask neon_sbbf_mask(uint64_t bits) {
    static const uint32_t salt[8] = {BLYI_SBBF_SALTS};
    neon_mask m;
    uint32x4_t x = vdupq_n_u32((uint32_t)bits), one = vdupq_n_u32(1);
    for (int j = 0; j < 2; j++) {
        uint32x4_t at = vshrq_n_u32(vmulq_u32(x, vld1q_u32(salt + 4 * j)), 27);
        m.v[j] = vreinterpretq_u64_u32(vshlq_u32(one, vreinterpretq_s32_u32(at)));
    }
    return m;
}

/* Sets one bit in each of two lanes. The bit in lane i is selected by the 6-bit slice of x that
 * begins at bit -first[i]. */
BLYI_KERNEL_INLINE uint64x2_t neon_two_bits(uint64x2_t x, const int64_t *first) {
    uint64x2_t at = vandq_u64(vshlq_u64(x, vld1q_s64(first)), vdupq_n_u64(63));
    return vshlq_u64(vdupq_n_u64(1), vreinterpretq_s64_u64(at));
}

BLYI_KERNEL_INLINE neon_mask neon_split_mask(uint64_t bits, unsigned k) {
    static const int64_t first[8] = {0, -6, -12, -18, -24, -30, -36, -42};
    uint64x2_t x = vdupq_n_u64(bits);
    neon_mask m;
    for (int j = 0; j < 4; j++)
        m.v[j] = neon_two_bits(x, first + 2 * j);
    if (k == 8)
        return m;
    uint64x2_t more = vdupq_n_u64(blyi_split_more(bits));
    int from = k == 12 && bits >> 63 ? 2 : 0;
    for (int j = 0; j < (k == 12 ? 2 : 4); j++)
        m.v[from + j] = vorrq_u64(m.v[from + j], neon_two_bits(more, first + 2 * j));
    return m;
}

BLYI_KERNEL_INLINE BLYI_KERNEL_RACY bool neon_contains_mask(const uint64_t *block,
                                                            const neon_mask *m, int vectors) {
    uint64x2_t missing = vdupq_n_u64(0);
    for (int j = 0; j < vectors; j++)
        missing = vorrq_u64(missing, vbicq_u64(m->v[j], vld1q_u64(block + 2 * j)));
    return vmaxvq_u32(vreinterpretq_u32_u64(missing)) == 0;
}

BLYI_KERNEL_INLINE bool neon_add_mask(uint64_t *block, const neon_mask *m, int vectors) {
    bool is_new = !neon_contains_mask(block, m, vectors);
    for (int j = 0; j < vectors; j++)
        vst1q_u64(block + 2 * j, vorrq_u64(vld1q_u64(block + 2 * j), m->v[j]));
    return is_new;
}

BLYI_KERNEL_RACY static bool neon_sbbf_contains_block(const void *block, uint64_t bits,
                                                      unsigned k) {
    neon_mask m = neon_sbbf_mask(bits);
    (void)k;
    return neon_contains_mask(block, &m, 2);
}

BLYI_KERNEL_RACY static bool neon_split_contains_block(const void *block, uint64_t bits,
                                                       unsigned k) {
    neon_mask m = neon_split_mask(bits, k);
    return neon_contains_mask(block, &m, 4);
}

static bool neon_sbbf_add_block(void *block, uint64_t bits, unsigned k) {
    neon_mask m = neon_sbbf_mask(bits);
    (void)k;
    return neon_add_mask(block, &m, 2);
}

static bool neon_split_add_block(void *block, uint64_t bits, unsigned k) {
    neon_mask m = neon_split_mask(bits, k);
    return neon_add_mask(block, &m, 4);
}

BLYI_KERNEL_RACY static bool neon_sbbf_contains_swapped(const void *block, uint64_t word,
                                                        unsigned k) {
    return neon_sbbf_contains_block(block, __builtin_bswap64(word), k);
}

BLYI_KERNEL_INLINE BLYI_KERNEL_RACY uint64_t neon_count_bits(const uint64_t *a, const uint64_t *b,
                                                             size_t n, bool or_b) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i += 2) {
        uint64x2_t v = vld1q_u64(a + i);
        if (or_b)
            v = vorrq_u64(v, vld1q_u64(b + i));
        total += vaddlvq_u8(vcntq_u8(vreinterpretq_u8_u64(v)));
    }
    return total;
}

/* In plain C: there are no NEON versions of these. */
#define neon_mix_16_bytes    blyi_xxh3_mix
#define neon_counters_add    blyi_counters_add
#define neon_counters_remove blyi_counters_remove
#define neon_ribbon_contains blyi_ribbon_contains

#define BLYI_KERNEL(name) neon_##name
#define BLYI_KERNEL_NAME  "neon"
#define BLYI_KERNEL_TABLE blyi_kernels_neon
#include "simd/kernel_template.h"
#endif
