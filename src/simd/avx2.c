/* AVX2. Compiled alone with -mavx2 (and chosen by select.c only where the processor has it).
 *
 * A probe reads 32 or 64 bytes at once while another thread may be setting bits in them. Every
 * 8-byte word of such a load is read whole on x86, bits are only ever set, and a key whose add
 * has been seen to finish has all of its own: so a mixture of older and newer words can only turn
 * one honest "no" into another. The thread sanitizer cannot know this and is told not to look;
 * it checks the same algorithm in scalar.c, where the reads are atomic by name.
 */
#include "kernels.h"

#ifdef __AVX2__
#include "masks.h"
#include <immintrin.h>

#define RACY   __attribute__((no_sanitize("thread")))
#define INLINE static inline __attribute__((always_inline))

INLINE __m256i sbbf_mask(uint64_t bits) {
    static const uint32_t salts[8] = {BLYI_SBBF_SALTS};
    __m256i salt = _mm256_loadu_si256((const __m256i *)(const void *)salts);
    __m256i x = _mm256_mullo_epi32(_mm256_set1_epi32((int)(uint32_t)bits), salt);
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(x, 27));
}

RACY static bool sbbf_has(const void *block, uint64_t bits, unsigned k) {
    (void)k;
    return _mm256_testc_si256(_mm256_load_si256(block), sbbf_mask(bits));
}

RACY static size_t sbbf_probe(const void *blocks, const blyi_spot *s, size_t n, unsigned k,
                              uint8_t *out) {
    const uint8_t *base = blocks;
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = sbbf_has(base + s[i].at, s[i].bits, k);
        hits += hit;
        if (out)
            out[i] = hit;
    }
    return hits;
}

static bool sbbf_put(void *block, uint64_t bits, unsigned k) {
    __m256i mask = sbbf_mask(bits), old = _mm256_load_si256(block);
    (void)k;
    _mm256_store_si256(block, _mm256_or_si256(old, mask));
    return !_mm256_testc_si256(old, mask);
}

static size_t sbbf_set(void *blocks, const blyi_spot *s, size_t n, unsigned k, uint8_t *out) {
    uint8_t *base = blocks;
    size_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_new = sbbf_put(base + s[i].at, s[i].bits, k);
        fresh += is_new;
        if (out)
            out[i] = is_new;
    }
    return fresh;
}

/* One bit in each of four lanes, from the four 6-bit slices of `x` that start at `first`. */
INLINE __m256i four_bits(__m256i x, __m256i first) {
    __m256i at = _mm256_and_si256(_mm256_srlv_epi64(x, first), _mm256_set1_epi64x(63));
    return _mm256_sllv_epi64(_mm256_set1_epi64x(1), at);
}

INLINE void split_mask(uint64_t bits, unsigned k, __m256i *low, __m256i *high) {
    const __m256i first = _mm256_setr_epi64x(0, 6, 12, 18);
    const __m256i second = _mm256_setr_epi64x(24, 30, 36, 42);
    __m256i x = _mm256_set1_epi64x((long long)bits);
    *low = four_bits(x, first);
    *high = four_bits(x, second);
    if (k == 8)
        return;
    __m256i more = _mm256_set1_epi64x((long long)blyi_split_more(bits));
    __m256i extra = four_bits(more, first);
    if (k == 16) {
        *low = _mm256_or_si256(*low, extra);
        *high = _mm256_or_si256(*high, four_bits(more, second));
        return;
    }
    /* k = 12: all ones where the top bit says "lanes 4 to 7". */
    __m256i upper = _mm256_cmpgt_epi64(_mm256_setzero_si256(), x);
    *low = _mm256_or_si256(*low, _mm256_andnot_si256(upper, extra));
    *high = _mm256_or_si256(*high, _mm256_and_si256(upper, extra));
}

INLINE RACY bool split_has_k(const __m256i *at, uint64_t bits, unsigned k) {
    __m256i low, high;
    split_mask(bits, k, &low, &high);
    __m256i missing = _mm256_or_si256(_mm256_andnot_si256(_mm256_load_si256(at), low),
                                      _mm256_andnot_si256(_mm256_load_si256(at + 1), high));
    return _mm256_testz_si256(missing, missing);
}

RACY static bool split_has(const void *block, uint64_t bits, unsigned k) {
    if (k == 8)
        return split_has_k(block, bits, 8);
    return k == 12 ? split_has_k(block, bits, 12) : split_has_k(block, bits, 16);
}

INLINE RACY size_t split_probe_k(const void *blocks, const blyi_spot *s, size_t n, unsigned k,
                                 uint8_t *out) {
    const uint8_t *base = blocks;
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = split_has_k((const void *)(base + s[i].at), s[i].bits, k);
        hits += hit;
        if (out)
            out[i] = hit;
    }
    return hits;
}

INLINE bool split_put_k(__m256i *at, uint64_t bits, unsigned k) {
    __m256i low, high;
    split_mask(bits, k, &low, &high);
    __m256i old_low = _mm256_load_si256(at), old_high = _mm256_load_si256(at + 1);
    __m256i missing =
        _mm256_or_si256(_mm256_andnot_si256(old_low, low), _mm256_andnot_si256(old_high, high));
    _mm256_store_si256(at, _mm256_or_si256(old_low, low));
    _mm256_store_si256(at + 1, _mm256_or_si256(old_high, high));
    return !_mm256_testz_si256(missing, missing);
}

static bool split_put(void *block, uint64_t bits, unsigned k) {
    if (k == 8)
        return split_put_k(block, bits, 8);
    return k == 12 ? split_put_k(block, bits, 12) : split_put_k(block, bits, 16);
}

INLINE size_t split_set_k(void *blocks, const blyi_spot *s, size_t n, unsigned k, uint8_t *out) {
    uint8_t *base = blocks;
    size_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_new = split_put_k((void *)(base + s[i].at), s[i].bits, k);
        fresh += is_new;
        if (out)
            out[i] = is_new;
    }
    return fresh;
}

RACY static size_t split_probe(const void *blocks, const blyi_spot *s, size_t n, unsigned k,
                               uint8_t *out) {
    if (k == 8)
        return split_probe_k(blocks, s, n, 8, out);
    return k == 12 ? split_probe_k(blocks, s, n, 12, out) : split_probe_k(blocks, s, n, 16, out);
}

static size_t split_set(void *blocks, const blyi_spot *s, size_t n, unsigned k, uint8_t *out) {
    if (k == 8)
        return split_set_k(blocks, s, n, 8, out);
    return k == 12 ? split_set_k(blocks, s, n, 12, out) : split_set_k(blocks, s, n, 16, out);
}

/* Bits in each byte by looking up its two halves (Mula), summed into four 64-bit lanes. */
INLINE __m256i count_bytes(__m256i v) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i nibble = _mm256_set1_epi8(15);
    __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(v, nibble));
    __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble));
    return _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
}

INLINE uint64_t sum_lanes(__m256i v) {
    return (uint64_t)_mm256_extract_epi64(v, 0) + (uint64_t)_mm256_extract_epi64(v, 1) +
           (uint64_t)_mm256_extract_epi64(v, 2) + (uint64_t)_mm256_extract_epi64(v, 3);
}

RACY static uint64_t popcount(const uint64_t *words, size_t n) {
    const __m256i *v = (const __m256i *)(const void *)words;
    __m256i total = _mm256_setzero_si256();
    for (size_t i = 0; i < n / 4; i++)
        total = _mm256_add_epi64(total, count_bytes(_mm256_load_si256(v + i)));
    return sum_lanes(total);
}

RACY static uint64_t popcount_or(const uint64_t *a, const uint64_t *b, size_t n) {
    const __m256i *va = (const __m256i *)(const void *)a, *vb = (const __m256i *)(const void *)b;
    __m256i total = _mm256_setzero_si256();
    for (size_t i = 0; i < n / 4; i++) {
        __m256i both = _mm256_or_si256(_mm256_load_si256(va + i), _mm256_load_si256(vb + i));
        total = _mm256_add_epi64(total, count_bytes(both));
    }
    return sum_lanes(total);
}

const blyi_kernels blyi_kernels_avx2 = {
    .name = "avx2",
    .sbbf_has = sbbf_has,
    .sbbf_put = sbbf_put,
    .split_has = split_has,
    .split_put = split_put,
    .sbbf_probe = sbbf_probe,
    .sbbf_set = sbbf_set,
    .split_probe = split_probe,
    .split_set = split_set,
    .popcount = popcount,
    .popcount_or = popcount_or,
};
#endif
