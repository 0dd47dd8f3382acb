/* The reference: what the masks of masks.h mean, word by word, in plain C. It runs everywhere,
 * takes words as little-endian on any host, and reads them atomically, so that it is well defined
 * beside writers. */
#include "base/bits.h"
#include "simd/counter_kernel.h"
#include "simd/kernels.h"
#include "simd/masks.h"

#include <stdbool.h>

#define RACY /* every read is atomic */

static bool words_have(const uint64_t *w, const uint64_t *mask, unsigned n) {
    uint64_t missing = 0;
    for (unsigned j = 0; j < n; j++)
        missing |= mask[j] & ~blyi_word_get(w + j);
    return missing == 0;
}

static bool words_set(uint64_t *w, const uint64_t *mask, unsigned n) {
    bool fresh = false;
    for (unsigned j = 0; j < n; j++)
        fresh |= blyi_word_set(w + j, mask[j]);
    return fresh;
}

static bool sbbf_contains_block(const void *block, uint64_t bits, unsigned k) {
    uint64_t mask[4];
    (void)k;
    blyi_sbbf_mask(bits, mask);
    return words_have(block, mask, 4);
}

static bool split_contains_block(const void *block, uint64_t bits, unsigned k) {
    uint64_t mask[8];
    blyi_split_mask(bits, k, mask);
    return words_have(block, mask, 8);
}

static bool sbbf_add_block(void *block, uint64_t bits, unsigned k) {
    uint64_t mask[4];
    (void)k;
    blyi_sbbf_mask(bits, mask);
    return words_set(block, mask, 4);
}

static bool split_add_block(void *block, uint64_t bits, unsigned k) {
    uint64_t mask[8];
    blyi_split_mask(bits, k, mask);
    return words_set(block, mask, 8);
}

static size_t sbbf_contains_blocks(const void *blocks, const blyi_block_probe *s, size_t n,
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

static size_t split_contains_blocks(const void *blocks, const blyi_block_probe *s, size_t n,
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
static bool sbbf_contains_swapped(const void *block, uint64_t word, unsigned k) {
    return sbbf_contains_block(block, __builtin_bswap64(word), k);
}

static bool split_contains_swapped(const void *block, uint64_t word, unsigned k) {
    return split_contains_block(block, __builtin_bswap64(word), k);
}

#define mix_16_bytes blyi_xxh3_mix
#include "simd/hash_probe.h"

bool blyi_counters_add(uint64_t *front, uint64_t *planes, uint64_t bits) {
    uint64_t mask[BLYI_COUNTER_WORDS], free = 0;
    blyi_sbbf_mask(bits, mask);
    for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++) {
        blyi_counters64 old = blyi_counters64_get(front, planes, i),
                        key = blyi_counters64_once(mask[i]);
        free |= blyi_counters64_less(old, key);
        blyi_counters64_set(front, planes, i, blyi_counters64_sum(old, key));
    }
    return free != 0;
}

bool blyi_counters_remove(uint64_t *front, uint64_t *planes, uint64_t bits) {
    uint64_t mask[BLYI_COUNTER_WORDS], free = 0;
    blyi_sbbf_mask(bits, mask);
    for (unsigned i = 0; i < BLYI_COUNTER_WORDS; i++)
        free |= blyi_le64(mask[i]) & ~front[i];
    for (unsigned i = 0; free == 0 && i < BLYI_COUNTER_WORDS; i++) {
        blyi_counters64 old = blyi_counters64_get(front, planes, i),
                        key = blyi_counters64_once(mask[i]);
        blyi_counters64_set(front, planes, i, blyi_counters64_difference(old, key));
    }
    return free == 0;
}

static uint64_t popcount(const uint64_t *words, size_t n) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += blyi_popcount64(blyi_word_get(words + i));
    return total;
}

static uint64_t popcount_or(const uint64_t *a, const uint64_t *b, size_t n) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += blyi_popcount64(blyi_word_get(a + i) | blyi_word_get(b + i));
    return total;
}

/* What column j gives; only its parity counts. */
static inline uint64_t column(const blyi_ribbon_lookup *s, unsigned j) {
    const uint64_t *a = s->first + 2 * j, *b = s->second + 2 * j;
    return (blyi_le64(a[0]) & s->mask[0]) ^ (blyi_le64(a[1]) & s->mask[1]) ^
           (blyi_le64(b[0]) & s->mask[2]) ^ (blyi_le64(b[1]) & s->mask[3]);
}

/* Four columns before each branch: a stranger passes those once in 16, so it is easily foretold. */
static inline bool all_even(const blyi_ribbon_lookup *s) {
    unsigned odd = 0, j = 0;
    for (; j + 4 <= s->columns; j += 4) {
        for (unsigned i = j; i < j + 4; i++)
            odd |= (unsigned)__builtin_parityll(column(s, i));
        if (odd)
            return false;
    }
    for (; j < s->columns; j++)
        odd |= (unsigned)__builtin_parityll(column(s, j));
    return odd == 0;
}

size_t blyi_ribbon_contains_many(const blyi_ribbon_lookup *s, size_t n, uint8_t *out) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = all_even(s + i);
        hits += hit;
        if (out)
            out[i] = hit;
    }
    return hits;
}

const blyi_kernels blyi_kernels_scalar = {
    .name = "scalar",
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
