/* Kernels in plain C, for every processor: the reference that the other tables must match.
 *
 * They apply the masks of masks.h word by word. Words are little-endian on any host, and are read
 * atomically, so that a read is well defined while other threads write. */
#include "base/bits.h"
#include "simd/counter_kernel.h"
#include "simd/hash_probe.h"
#include "simd/masks.h"
#include "simd/ribbon_kernel.h"

static bool scalar_contains_mask(const uint64_t *words, const uint64_t *mask, unsigned n) {
    uint64_t missing = 0;
    for (unsigned j = 0; j < n; j++)
        missing |= mask[j] & ~blyi_word_get(words + j);
    return missing == 0;
}

static bool scalar_add_mask(uint64_t *words, const uint64_t *mask, unsigned n) {
    bool is_new = false;
    for (unsigned j = 0; j < n; j++)
        is_new |= blyi_word_set(words + j, mask[j]);
    return is_new;
}

static bool scalar_sbbf_contains_block(const void *block, uint64_t bits, unsigned k) {
    uint64_t mask[4];
    (void)k;
    blyi_sbbf_mask(bits, mask);
    return scalar_contains_mask(block, mask, 4);
}

/* Always inlined: otherwise GCC calls it as a function in the kernels that hash keys, for k = 12,
 * and they are 15% slower. */
BLYI_KERNEL_INLINE bool scalar_split_contains_block(const void *block, uint64_t bits, unsigned k) {
    uint64_t mask[8];
    blyi_split_mask(bits, k, mask);
    return scalar_contains_mask(block, mask, 8);
}

static bool scalar_sbbf_add_block(void *block, uint64_t bits, unsigned k) {
    uint64_t mask[4];
    (void)k;
    blyi_sbbf_mask(bits, mask);
    return scalar_add_mask(block, mask, 4);
}

static bool scalar_split_add_block(void *block, uint64_t bits, unsigned k) {
    uint64_t mask[8];
    blyi_split_mask(bits, k, mask);
    return scalar_add_mask(block, mask, 8);
}

static bool scalar_sbbf_contains_swapped(const void *block, uint64_t word, unsigned k) {
    return scalar_sbbf_contains_block(block, __builtin_bswap64(word), k);
}

BLYI_KERNEL_INLINE uint64_t scalar_count_bits(const uint64_t *a, const uint64_t *b, size_t n,
                                              bool or_b) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += blyi_popcount64(or_b ? blyi_word_get(a + i) | blyi_word_get(b + i)
                                      : blyi_word_get(a + i));
    return total;
}

#define scalar_mix_16_bytes    blyi_xxh3_mix
#define scalar_counters_add    blyi_counters_add
#define scalar_counters_remove blyi_counters_remove
#define scalar_ribbon_contains blyi_ribbon_contains

#define BLYI_KERNEL(name) scalar_##name
#define BLYI_KERNEL_NAME  "scalar"
#define BLYI_KERNEL_TABLE blyi_kernels_scalar
#define BLYI_KERNEL_RACY  /* every read is atomic */
#include "simd/kernel_template.h"
