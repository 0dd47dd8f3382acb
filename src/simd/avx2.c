/* Kernels for AVX2 and BMI2.
 *
 * Only this file is compiled with -mavx2 and -mbmi2. select.c selects its kernels only if the
 * processor has both.
 *
 * A probe reads 32 or 64 bytes at once while another thread may be setting bits in them. This is
 * harmless. On x86 every 8-byte word of such a load is read in one step; bits are only set, never
 * cleared; and all bits of a key are set once its add has finished. So a mixture of older and newer
 * words gives "no" only for a key whose add has not finished, and there "no" is correct. The thread
 * sanitizer cannot know this, so it is told not to instrument these functions. It checks the same
 * algorithm in scalar.c, where the reads are atomic.
 */
#include "simd/kernels.h"

#ifdef __AVX2__
#include "simd/hash_probe.h"
#include "simd/masks.h"
#include <immintrin.h>

#define BLYI_KERNEL_RACY __attribute__((no_sanitize("thread")))

/* Returns the mask of a key. Each 32-bit lane of `bits` holds the low 32 hash bits of the key, and
 * each lane of `one` is 1. */
BLYI_KERNEL_INLINE __m256i avx2_sbbf_mask_from(__m256i bits, __m256i one) {
    static const uint32_t salts[8] = {BLYI_SBBF_SALTS};
    __m256i salt = _mm256_loadu_si256((const __m256i *)(const void *)salts);
    __m256i x = _mm256_mullo_epi32(bits, salt);
    return _mm256_sllv_epi32(one, _mm256_srli_epi32(x, 27));
}

BLYI_KERNEL_INLINE __m256i avx2_sbbf_mask(uint64_t bits) {
    return avx2_sbbf_mask_from(_mm256_set1_epi32((int)(uint32_t)bits), _mm256_set1_epi32(1));
}

BLYI_KERNEL_INLINE BLYI_KERNEL_RACY bool avx2_sbbf_contains_block(const void *block, uint64_t bits,
                                                                  unsigned k) {
    (void)k;
    return _mm256_testc_si256(_mm256_load_si256(block), avx2_sbbf_mask(bits));
}

BLYI_KERNEL_INLINE bool avx2_sbbf_add_block(void *block, uint64_t bits, unsigned k) {
    __m256i mask = avx2_sbbf_mask(bits), old = _mm256_load_si256(block);
    (void)k;
    _mm256_store_si256(block, _mm256_or_si256(old, mask));
    return !_mm256_testc_si256(old, mask);
}

/* Stores the four words of a front (counter_kernel.h) one by one, because other threads may be
 * reading them. No other thread reads the planes. */
BLYI_KERNEL_INLINE void avx2_store_front(uint64_t *front, __m256i v) {
    __m128i low = _mm256_castsi256_si128(v), high = _mm256_extracti128_si256(v, 1);
    __atomic_store_n(front, (uint64_t)_mm_cvtsi128_si64(low), __ATOMIC_RELAXED);
    __atomic_store_n(front + 1, (uint64_t)_mm_extract_epi64(low, 1), __ATOMIC_RELAXED);
    __atomic_store_n(front + 2, (uint64_t)_mm_cvtsi128_si64(high), __ATOMIC_RELAXED);
    __atomic_store_n(front + 3, (uint64_t)_mm_extract_epi64(high, 1), __ATOMIC_RELAXED);
}

/* counter_kernel.h adds and subtracts any two counts. This function and the next are shorter,
 * because one of the two counts is 1 in the key's counters and 0 in the others, and because the
 * planes of unused counters are 0. */
static bool avx2_counters_add(uint64_t *front, uint64_t *planes, uint64_t bits) {
    __m256i *p = (__m256i *)(void *)planes, *f = (__m256i *)(void *)front;
    __m256i mask = avx2_sbbf_mask(bits), used = _mm256_load_si256(f);
    __m256i p0 = _mm256_load_si256(p), p1 = _mm256_load_si256(p + 1), p2 = _mm256_load_si256(p + 2);
    __m256i stuck = _mm256_and_si256(_mm256_and_si256(p0, p1), p2);
    __m256i carry = _mm256_andnot_si256(stuck, _mm256_and_si256(mask, used));
    _mm256_store_si256(p, _mm256_xor_si256(p0, carry));
    carry = _mm256_and_si256(p0, carry);
    _mm256_store_si256(p + 1, _mm256_xor_si256(p1, carry));
    carry = _mm256_and_si256(p1, carry);
    _mm256_store_si256(p + 2, _mm256_xor_si256(p2, carry));
    avx2_store_front(front, _mm256_or_si256(used, mask));
    return !_mm256_testc_si256(used, mask);
}

static bool avx2_counters_remove(uint64_t *front, uint64_t *planes, uint64_t bits) {
    __m256i *p = (__m256i *)(void *)planes, *f = (__m256i *)(void *)front;
    __m256i mask = avx2_sbbf_mask(bits), used = _mm256_load_si256(f);
    if (!_mm256_testc_si256(used, mask))
        return false;
    __m256i p0 = _mm256_load_si256(p), p1 = _mm256_load_si256(p + 1), p2 = _mm256_load_si256(p + 2);
    __m256i stuck = _mm256_and_si256(_mm256_and_si256(p0, p1), p2);
    __m256i several = _mm256_and_si256(mask, _mm256_or_si256(_mm256_or_si256(p0, p1), p2));
    __m256i borrow = _mm256_andnot_si256(stuck, several);
    _mm256_store_si256(p, _mm256_xor_si256(p0, borrow));
    borrow = _mm256_andnot_si256(p0, borrow);
    _mm256_store_si256(p + 1, _mm256_xor_si256(p1, borrow));
    borrow = _mm256_andnot_si256(p1, borrow);
    _mm256_store_si256(p + 2, _mm256_xor_si256(p2, borrow));
    /* The key's counters that were 1 are 0 now. */
    avx2_store_front(front, _mm256_andnot_si256(_mm256_andnot_si256(several, mask), used));
    return true;
}

/* Every lane of x holds the same word. Puts its eight 6-bit slices into eight lanes, one slice in
 * each. A shift to the left removes the bits above a slice, a shift to the right those below it. */
BLYI_KERNEL_INLINE void avx2_split_slices(__m256i x, __m256i *low, __m256i *high) {
    *low = _mm256_srli_epi64(_mm256_sllv_epi64(x, _mm256_setr_epi64x(58, 52, 46, 40)), 58);
    *high = _mm256_srli_epi64(_mm256_sllv_epi64(x, _mm256_setr_epi64x(34, 28, 22, 16)), 58);
}

/* Sets one bit in each lane: the one that the lane's slice of x selects. */
BLYI_KERNEL_INLINE void avx2_split_bits(__m256i x, __m256i *low, __m256i *high) {
    const __m256i one = _mm256_set1_epi64x(1);
    avx2_split_slices(x, low, high);
    *low = _mm256_sllv_epi64(one, *low);
    *high = _mm256_sllv_epi64(one, *high);
}

BLYI_KERNEL_INLINE void avx2_split_mask(uint64_t bits, unsigned k, __m256i *low, __m256i *high) {
    __m256i x = _mm256_set1_epi64x((long long)bits), more_low, more_high;
    avx2_split_bits(x, low, high);
    if (k == 8)
        return;
    avx2_split_bits(_mm256_set1_epi64x((long long)blyi_split_more(bits)), &more_low, &more_high);
    if (k == 12) {
        /* All ones where the top bit selects lanes 4 to 7. */
        __m256i upper = _mm256_cmpgt_epi64(_mm256_setzero_si256(), x);
        more_high = _mm256_and_si256(upper, more_low);
        more_low = _mm256_andnot_si256(upper, more_low);
    }
    *low = _mm256_or_si256(*low, more_low);
    *high = _mm256_or_si256(*high, more_high);
}

/* Takes each lane from b if the top bit of that lane of x is set, else from a. */
BLYI_KERNEL_INLINE __m256i avx2_select_half(__m256i a, __m256i b, __m256i x) {
    return _mm256_castpd_si256(
        _mm256_blendv_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), _mm256_castsi256_pd(x)));
}

/* Shifts the tested bit of each lane down to the lowest position. This takes fewer steps than
 * making a mask. */
BLYI_KERNEL_INLINE BLYI_KERNEL_RACY bool avx2_split_contains_k(const __m256i *at, uint64_t bits,
                                                               unsigned k) {
    const __m256i one = _mm256_set1_epi64x(1), x = _mm256_set1_epi64x((long long)bits);
    __m256i first = _mm256_load_si256(at), second = _mm256_load_si256(at + 1), low, high;
    avx2_split_slices(x, &low, &high);
    __m256i all = _mm256_and_si256(_mm256_srlv_epi64(first, low), _mm256_srlv_epi64(second, high));
    if (k > 8)
        avx2_split_slices(_mm256_set1_epi64x((long long)blyi_split_more(bits)), &low, &high);
    if (k == 12) /* all second bits are in one half, which the top bit selects */
        first = avx2_select_half(first, second, x);
    if (k > 8)
        all = _mm256_and_si256(all, _mm256_srlv_epi64(first, low));
    if (k == 16)
        all = _mm256_and_si256(all, _mm256_srlv_epi64(second, high));
    return _mm256_testc_si256(all, one);
}

BLYI_KERNEL_INLINE BLYI_KERNEL_RACY bool avx2_split_contains_block(const void *block, uint64_t bits,
                                                                   unsigned k) {
    if (k == 8)
        return avx2_split_contains_k(block, bits, 8);
    return k == 12 ? avx2_split_contains_k(block, bits, 12)
                   : avx2_split_contains_k(block, bits, 16);
}

BLYI_KERNEL_INLINE bool avx2_split_add_k(__m256i *at, uint64_t bits, unsigned k) {
    __m256i low, high;
    avx2_split_mask(bits, k, &low, &high);
    __m256i old_low = _mm256_load_si256(at), old_high = _mm256_load_si256(at + 1);
    __m256i missing =
        _mm256_or_si256(_mm256_andnot_si256(old_low, low), _mm256_andnot_si256(old_high, high));
    _mm256_store_si256(at, _mm256_or_si256(old_low, low));
    _mm256_store_si256(at + 1, _mm256_or_si256(old_high, high));
    return !_mm256_testz_si256(missing, missing);
}

BLYI_KERNEL_INLINE bool avx2_split_add_block(void *block, uint64_t bits, unsigned k) {
    if (k == 8)
        return avx2_split_add_k(block, bits, 8);
    return k == 12 ? avx2_split_add_k(block, bits, 12) : avx2_split_add_k(block, bits, 16);
}

/* ---- for single keys: fewer writes to general registers (hash_probe.h) ----------------------- */

/* Loads a number from memory into each lane. Compilers would go through a general register. */
BLYI_KERNEL_INLINE __m256i avx2_broadcast32(const uint32_t *number) {
    __m256i v;
    __asm__("vpbroadcastd %1, %0" : "=x"(v) : "m"(*number));
    return v;
}

BLYI_KERNEL_INLINE BLYI_KERNEL_RACY bool avx2_sbbf_contains_swapped(const void *block,
                                                                    uint64_t word, unsigned k) {
    static const uint32_t one = 1;
    const __m256i upper_reversed = _mm256_set1_epi32(0x04050607);
    __m256i words = _mm256_broadcastq_epi64(_mm_cvtsi64_si128((long long)word));
    __m256i bits = _mm256_shuffle_epi8(words, upper_reversed);
    (void)k;
    return _mm256_testc_si256(_mm256_load_si256(block),
                              avx2_sbbf_mask_from(bits, avx2_broadcast32(&one)));
}

/* As blyi_xxh3_mix, but xors both words of the key at once and stores the result, so that the
 * multiplication reads its second factor from memory. */
BLYI_KERNEL_INLINE uint64_t avx2_mix_16_bytes(const uint8_t *key, const uint64_t words[2]) {
    _Alignas(16) uint64_t pair[2];
    __m128i both =
        _mm_xor_si128(_mm_loadu_si128((const void *)key), _mm_loadu_si128((const void *)words));
    _mm_store_si128((void *)pair, both);
    return blyi_mul_fold_at(pair[0], &pair[1]);
}

/* Counts the set bits of each byte by a table lookup for each of its two halves (Mula's method),
 * and sums the counts into four 64-bit lanes. */
BLYI_KERNEL_INLINE __m256i avx2_count_bytes(__m256i v) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i nibble = _mm256_set1_epi8(15);
    __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(v, nibble));
    __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble));
    return _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
}

BLYI_KERNEL_INLINE uint64_t avx2_sum_lanes(__m256i v) {
    return (uint64_t)_mm256_extract_epi64(v, 0) + (uint64_t)_mm256_extract_epi64(v, 1) +
           (uint64_t)_mm256_extract_epi64(v, 2) + (uint64_t)_mm256_extract_epi64(v, 3);
}

BLYI_KERNEL_INLINE BLYI_KERNEL_RACY uint64_t avx2_count_bits(const uint64_t *a, const uint64_t *b,
                                                             size_t n, bool or_b) {
    const __m256i *va = (const __m256i *)(const void *)a, *vb = (const __m256i *)(const void *)b;
    __m256i total = _mm256_setzero_si256();
    for (size_t i = 0; i < n / 4; i++) {
        __m256i v = _mm256_load_si256(va + i);
        if (or_b)
            v = _mm256_or_si256(v, _mm256_load_si256(vb + i));
        total = _mm256_add_epi64(total, avx2_count_bytes(v));
    }
    return avx2_sum_lanes(total);
}

BLYI_KERNEL_INLINE __m128i avx2_ribbon_column(const blyi_ribbon_lookup *l, unsigned j, __m128i a,
                                              __m128i b) {
    const __m128i *first = (const void *)(l->first + 2 * j);
    const __m128i *second = (const void *)(l->second + 2 * j);
    return _mm_xor_si128(_mm_and_si128(_mm_load_si128(first), a),
                         _mm_and_si128(_mm_load_si128(second), b));
}

BLYI_KERNEL_INLINE __m256i avx2_ribbon_two_columns(const blyi_ribbon_lookup *l, unsigned j,
                                                   __m256i a, __m256i b) {
    const __m256i *first = (const void *)(l->first + 2 * j);
    const __m256i *second = (const void *)(l->second + 2 * j);
    return _mm256_xor_si256(_mm256_and_si256(_mm256_loadu_si256(first), a),
                            _mm256_and_si256(_mm256_loadu_si256(second), b));
}

/* Whether any of the four 128-bit columns in x and y is odd. Each column is folded to one lane of
 * 64 bits, and each byte of the lane is replaced by its parity, by a table for the xor of its two
 * nibbles. The lowest bit of the sum of eight such bytes is the parity of the column. */
BLYI_KERNEL_INLINE bool avx2_any_odd(__m256i x, __m256i y) {
    const __m256i parity = _mm256_setr_epi8(0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1,
                                            0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0);
    __m256i t = _mm256_xor_si256(_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y));
    t = _mm256_xor_si256(t, _mm256_srli_epi64(t, 4));
    t = _mm256_shuffle_epi8(parity, _mm256_and_si256(t, _mm256_set1_epi8(15)));
    t = _mm256_sad_epu8(t, _mm256_setzero_si256());
    return !_mm256_testz_si256(t, _mm256_set1_epi64x(1));
}

BLYI_KERNEL_INLINE bool avx2_ribbon_contains(const blyi_ribbon_lookup *l) {
    /* The masks come from registers: a wide load of words that were just stored would have to
     * wait. */
    __m128i a = _mm_set_epi64x((long long)l->mask[1], (long long)l->mask[0]);
    __m128i b = _mm_set_epi64x((long long)l->mask[3], (long long)l->mask[2]);
    __m256i aa = _mm256_broadcastsi128_si256(a), bb = _mm256_broadcastsi128_si256(b);
    unsigned j = 0, columns = l->columns;
    for (; j + 4 <= columns; j += 4)
        if (avx2_any_odd(avx2_ribbon_two_columns(l, j, aa, bb),
                         avx2_ribbon_two_columns(l, j + 2, aa, bb)))
            return false;
    if (j == columns)
        return true;
    __m256i x = _mm256_setzero_si256(), y = x;
    if (columns - j >= 2) {
        x = avx2_ribbon_two_columns(l, j, aa, bb);
        j += 2;
    }
    if (j < columns)
        y = _mm256_inserti128_si256(y, avx2_ribbon_column(l, j, a, b), 0);
    return !avx2_any_odd(x, y);
}

#define BLYI_KERNEL(name) avx2_##name
#define BLYI_KERNEL_NAME  "avx2"
#define BLYI_KERNEL_TABLE blyi_kernels_avx2
#include "simd/kernel_template.h"
#endif
