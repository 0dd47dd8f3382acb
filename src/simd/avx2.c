/* AVX2, and BMI2 beside it. Compiled alone with -mavx2 and -mbmi2 (and chosen by select.c only
 * where the processor has both).
 *
 * A probe reads 32 or 64 bytes at once while another thread may be setting bits in them. Every
 * 8-byte word of such a load is read whole on x86, bits are only ever set, and a key whose add
 * has been seen to finish has all of its own: so a mixture of older and newer words can only turn
 * one honest "no" into another. The thread sanitizer cannot know this and is told not to look;
 * it checks the same algorithm in scalar.c, where the reads are atomic by name.
 */
#include "simd/kernels.h"

#ifdef __AVX2__
#include "simd/masks.h"
#include <immintrin.h>

#define RACY   __attribute__((no_sanitize("thread")))
#define INLINE static inline __attribute__((always_inline))

/* Of the bits in each 32-bit lane; `one` is 1 in each. */
INLINE __m256i sbbf_mask_of(__m256i bits, __m256i one) {
    static const uint32_t salts[8] = {BLYI_SBBF_SALTS};
    __m256i salt = _mm256_loadu_si256((const __m256i *)(const void *)salts);
    __m256i x = _mm256_mullo_epi32(bits, salt);
    return _mm256_sllv_epi32(one, _mm256_srli_epi32(x, 27));
}

INLINE __m256i sbbf_mask(uint64_t bits) {
    return sbbf_mask_of(_mm256_set1_epi32((int)(uint32_t)bits), _mm256_set1_epi32(1));
}

INLINE RACY bool sbbf_contains_block(const void *block, uint64_t bits, unsigned k) {
    (void)k;
    return _mm256_testc_si256(_mm256_load_si256(block), sbbf_mask(bits));
}

RACY static size_t sbbf_contains_blocks(const void *blocks, const blyi_block_probe *s, size_t n,
                                        unsigned k, uint8_t *out) {
    const uint8_t *base = blocks;
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = sbbf_contains_block(base + s[i].at, s[i].bits, k);
        hits += hit;
        if (out)
            out[i] = hit;
    }
    return hits;
}

INLINE bool sbbf_add_block(void *block, uint64_t bits, unsigned k) {
    __m256i mask = sbbf_mask(bits), old = _mm256_load_si256(block);
    (void)k;
    _mm256_store_si256(block, _mm256_or_si256(old, mask));
    return !_mm256_testc_si256(old, mask);
}

static size_t sbbf_add_blocks(void *blocks, const blyi_block_probe *s, size_t n, unsigned k,
                              uint8_t *out) {
    uint8_t *base = blocks;
    size_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_new = sbbf_add_block(base + s[i].at, s[i].bits, k);
        fresh += is_new;
        if (out)
            out[i] = is_new;
    }
    return fresh;
}

/* A front's words change one by one, as other threads may be reading them; planes have no other
 * readers. */
INLINE void store_front(uint64_t *front, __m256i v) {
    __m128i low = _mm256_castsi256_si128(v), high = _mm256_extracti128_si256(v, 1);
    __atomic_store_n(front, (uint64_t)_mm_cvtsi128_si64(low), __ATOMIC_RELAXED);
    __atomic_store_n(front + 1, (uint64_t)_mm_extract_epi64(low, 1), __ATOMIC_RELAXED);
    __atomic_store_n(front + 2, (uint64_t)_mm_cvtsi128_si64(high), __ATOMIC_RELAXED);
    __atomic_store_n(front + 3, (uint64_t)_mm_extract_epi64(high, 1), __ATOMIC_RELAXED);
}

/* cells.h says what this is, for any two counts; here one of them is 1 in the key's cells and 0 in
 * the others, and the planes of cells that are not used are 0. */
static bool cells_add(uint64_t *front, uint64_t *planes, uint64_t bits) {
    __m256i *p = (__m256i *)(void *)planes, *f = (__m256i *)(void *)front;
    __m256i mask = sbbf_mask(bits), used = _mm256_load_si256(f);
    __m256i p0 = _mm256_load_si256(p), p1 = _mm256_load_si256(p + 1), p2 = _mm256_load_si256(p + 2);
    __m256i stuck = _mm256_and_si256(_mm256_and_si256(p0, p1), p2);
    __m256i carry = _mm256_andnot_si256(stuck, _mm256_and_si256(mask, used));
    _mm256_store_si256(p, _mm256_xor_si256(p0, carry));
    carry = _mm256_and_si256(p0, carry);
    _mm256_store_si256(p + 1, _mm256_xor_si256(p1, carry));
    carry = _mm256_and_si256(p1, carry);
    _mm256_store_si256(p + 2, _mm256_xor_si256(p2, carry));
    store_front(front, _mm256_or_si256(used, mask));
    return !_mm256_testc_si256(used, mask);
}

static bool cells_take(uint64_t *front, uint64_t *planes, uint64_t bits) {
    __m256i *p = (__m256i *)(void *)planes, *f = (__m256i *)(void *)front;
    __m256i mask = sbbf_mask(bits), used = _mm256_load_si256(f);
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
    /* The key's cells that counted 1 are free now. */
    store_front(front, _mm256_andnot_si256(_mm256_andnot_si256(several, mask), used));
    return true;
}

/* The eight 6-bit slices of the word that fills x, one in each lane: up to the top, then down. */
INLINE void split_slices(__m256i x, __m256i *low, __m256i *high) {
    *low = _mm256_srli_epi64(_mm256_sllv_epi64(x, _mm256_setr_epi64x(58, 52, 46, 40)), 58);
    *high = _mm256_srli_epi64(_mm256_sllv_epi64(x, _mm256_setr_epi64x(34, 28, 22, 16)), 58);
}

/* One bit in each lane, at its slice. */
INLINE void split_bits(__m256i x, __m256i *low, __m256i *high) {
    const __m256i one = _mm256_set1_epi64x(1);
    split_slices(x, low, high);
    *low = _mm256_sllv_epi64(one, *low);
    *high = _mm256_sllv_epi64(one, *high);
}

INLINE void split_mask(uint64_t bits, unsigned k, __m256i *low, __m256i *high) {
    __m256i x = _mm256_set1_epi64x((long long)bits), more_low, more_high;
    split_bits(x, low, high);
    if (k == 8)
        return;
    split_bits(_mm256_set1_epi64x((long long)blyi_split_more(bits)), &more_low, &more_high);
    if (k == 12) {
        /* All ones where the top bit says "lanes 4 to 7". */
        __m256i upper = _mm256_cmpgt_epi64(_mm256_setzero_si256(), x);
        more_high = _mm256_and_si256(upper, more_low);
        more_low = _mm256_andnot_si256(upper, more_low);
    }
    *low = _mm256_or_si256(*low, more_low);
    *high = _mm256_or_si256(*high, more_high);
}

/* `b` where the top bits of x are set, else `a`. */
INLINE __m256i half_of(__m256i a, __m256i b, __m256i x) {
    return _mm256_castpd_si256(
        _mm256_blendv_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), _mm256_castsi256_pd(x)));
}

/* The bits of the block are brought down to the lowest of each lane instead of making a mask: some
 * steps less. */
INLINE RACY bool split_has_k(const __m256i *at, uint64_t bits, unsigned k) {
    const __m256i one = _mm256_set1_epi64x(1), x = _mm256_set1_epi64x((long long)bits);
    __m256i first = _mm256_load_si256(at), second = _mm256_load_si256(at + 1), low, high;
    split_slices(x, &low, &high);
    __m256i all = _mm256_and_si256(_mm256_srlv_epi64(first, low), _mm256_srlv_epi64(second, high));
    if (k > 8)
        split_slices(_mm256_set1_epi64x((long long)blyi_split_more(bits)), &low, &high);
    if (k == 12) /* all in one half, which the top bit names */
        first = half_of(first, second, x);
    if (k > 8)
        all = _mm256_and_si256(all, _mm256_srlv_epi64(first, low));
    if (k == 16)
        all = _mm256_and_si256(all, _mm256_srlv_epi64(second, high));
    return _mm256_testc_si256(all, one);
}

INLINE RACY bool split_contains_block(const void *block, uint64_t bits, unsigned k) {
    if (k == 8)
        return split_has_k(block, bits, 8);
    return k == 12 ? split_has_k(block, bits, 12) : split_has_k(block, bits, 16);
}

INLINE RACY size_t split_probe_k(const void *blocks, const blyi_block_probe *s, size_t n,
                                 unsigned k, uint8_t *out) {
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

INLINE bool split_add_block(void *block, uint64_t bits, unsigned k) {
    if (k == 8)
        return split_put_k(block, bits, 8);
    return k == 12 ? split_put_k(block, bits, 12) : split_put_k(block, bits, 16);
}

INLINE size_t split_set_k(void *blocks, const blyi_block_probe *s, size_t n, unsigned k,
                          uint8_t *out) {
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

RACY static size_t split_contains_blocks(const void *blocks, const blyi_block_probe *s, size_t n,
                                         unsigned k, uint8_t *out) {
    if (k == 8)
        return split_probe_k(blocks, s, n, 8, out);
    return k == 12 ? split_probe_k(blocks, s, n, 12, out) : split_probe_k(blocks, s, n, 16, out);
}

static size_t split_add_blocks(void *blocks, const blyi_block_probe *s, size_t n, unsigned k,
                               uint8_t *out) {
    if (k == 8)
        return split_set_k(blocks, s, n, 8, out);
    return k == 12 ? split_set_k(blocks, s, n, 12, out) : split_set_k(blocks, s, n, 16, out);
}

/* ---- for single keys: what writes fewer general registers (turn.h) */

/* One number in each lane, from memory: compilers would make it of a register. */
INLINE __m256i all32(const uint32_t *number) {
    __m256i v;
    __asm__("vpbroadcastd %1, %0" : "=x"(v) : "m"(*number));
    return v;
}

INLINE RACY bool sbbf_contains_swapped(const void *block, uint64_t word, unsigned k) {
    static const uint32_t one = 1;
    const __m256i upper_reversed = _mm256_set1_epi32(0x04050607);
    __m256i words = _mm256_broadcastq_epi64(_mm_cvtsi64_si128((long long)word));
    __m256i bits = _mm256_shuffle_epi8(words, upper_reversed);
    (void)k;
    return _mm256_testc_si256(_mm256_load_si256(block), sbbf_mask_of(bits, all32(&one)));
}

INLINE RACY bool split_contains_swapped(const void *block, uint64_t word, unsigned k) {
    return split_contains_block(block, __builtin_bswap64(word), k);
}

/* blyi_xxh3_mix, with both words of the key at once, and by way of memory: from there one goes
 * straight into the product. */
INLINE uint64_t mix_16_bytes(const uint8_t *key, const uint64_t words[2]) {
    _Alignas(16) uint64_t pair[2];
    __m128i both =
        _mm_xor_si128(_mm_loadu_si128((const void *)key), _mm_loadu_si128((const void *)words));
    _mm_store_si128((void *)pair, both);
    return blyi_mul_fold_at(pair[0], &pair[1]);
}

#include "simd/hash_probe.h"

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

INLINE __m128i column(const blyi_ribbon_lookup *s, unsigned j, __m128i a, __m128i b) {
    const __m128i *first = (const void *)(s->first + 2 * j);
    const __m128i *second = (const void *)(s->second + 2 * j);
    return _mm_xor_si128(_mm_and_si128(_mm_load_si128(first), a),
                         _mm_and_si128(_mm_load_si128(second), b));
}

INLINE __m256i two_columns(const blyi_ribbon_lookup *s, unsigned j, __m256i a, __m256i b) {
    const __m256i *first = (const void *)(s->first + 2 * j);
    const __m256i *second = (const void *)(s->second + 2 * j);
    return _mm256_xor_si256(_mm256_and_si256(_mm256_loadu_si256(first), a),
                            _mm256_and_si256(_mm256_loadu_si256(second), b));
}

/* Whether any of the four columns in x and y is odd. Each becomes one lane of 64 bits, whose bytes
 * become their own parity, two nibbles at once by a table; the sum of eight of those has the parity
 * of the column as its lowest bit. */
INLINE bool any_odd(__m256i x, __m256i y) {
    const __m256i parity = _mm256_setr_epi8(0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1,
                                            0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0);
    __m256i t = _mm256_xor_si256(_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y));
    t = _mm256_xor_si256(t, _mm256_srli_epi64(t, 4));
    t = _mm256_shuffle_epi8(parity, _mm256_and_si256(t, _mm256_set1_epi8(15)));
    t = _mm256_sad_epu8(t, _mm256_setzero_si256());
    return !_mm256_testz_si256(t, _mm256_set1_epi64x(1));
}

INLINE bool all_even(const blyi_ribbon_lookup *s) {
    /* From registers: a wide load of words just stored would wait for them. */
    __m128i a = _mm_set_epi64x((long long)s->mask[1], (long long)s->mask[0]);
    __m128i b = _mm_set_epi64x((long long)s->mask[3], (long long)s->mask[2]);
    __m256i aa = _mm256_broadcastsi128_si256(a), bb = _mm256_broadcastsi128_si256(b);
    unsigned j = 0, columns = s->columns;
    for (; j + 4 <= columns; j += 4)
        if (any_odd(two_columns(s, j, aa, bb), two_columns(s, j + 2, aa, bb)))
            return false;
    if (j == columns)
        return true;
    __m256i x = _mm256_setzero_si256(), y = x;
    if (columns - j >= 2) {
        x = two_columns(s, j, aa, bb);
        j += 2;
    }
    if (j < columns)
        y = _mm256_inserti128_si256(y, column(s, j, a, b), 0);
    return !any_odd(x, y);
}

static size_t ribbon_contains_many(const blyi_ribbon_lookup *s, size_t n, uint8_t *out) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = all_even(s + i);
        hits += hit;
        if (out)
            out[i] = hit;
    }
    return hits;
}

const blyi_kernels blyi_kernels_avx2 = {
    .name = "avx2",
    .sbbf_contains_block = sbbf_contains_block,
    .sbbf_add_block = sbbf_add_block,
    .split_contains_block = split_contains_block,
    .split_add_block = split_add_block,
    .sbbf_contains_blocks = sbbf_contains_blocks,
    .sbbf_add_blocks = sbbf_add_blocks,
    .split_contains_blocks = split_contains_blocks,
    .split_add_blocks = split_add_blocks,
    BLYI_HASH_PROBE_FIELDS,
    .counters_add = cells_add,
    .counters_remove = cells_take,
    .ribbon_contains_many = ribbon_contains_many,
    .popcount = popcount,
    .popcount_or = popcount_or,
};
#endif
