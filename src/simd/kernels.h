/* kernels.h - the inner loops that gain from vector instructions, as one table per instruction
 * set. Internal.
 *
 * scalar.c defines the results, and every other table must give exactly the same
 * (tests/unit/test_kernels.c). Kernels work on raw arrays, never on filters. Arrays are aligned to
 * 64 bytes and consist of little-endian words. Their lengths in words are multiples of 8.
 *
 * To add an instruction set: one file that supplies the functions named in kernel_template.h and
 * includes it, and one line in select.c.
 */
#ifndef BLYI_SIMD_KERNELS_H
#define BLYI_SIMD_KERNELS_H

#include "hash/xxh3.h"
#include "simd/block_probe.h"

#define BLYI_KERNEL_INLINE static inline __attribute__((always_inline))

/* Looks up n keys by their block probes. `k` is the number of bits that the layout gives a key. If
 * `out` is not NULL, out[i] becomes 1 if all bits of key i are set, else 0. Returns the number of
 * keys whose bits are all set. */
typedef size_t (*blyi_contains_blocks_fn)(const void *blocks, const blyi_block_probe *probes,
                                          size_t n, unsigned k, uint8_t *out);
/* Adds n keys by their block probes. If `out` is not NULL, out[i] becomes 1 if at least one bit of
 * key i was clear, else 0. Returns the number of keys that had a clear bit. */
typedef size_t (*blyi_add_blocks_fn)(void *blocks, const blyi_block_probe *probes, size_t n,
                                     unsigned k, uint8_t *out);

/* Looks up one key in its block, with everything in registers. Returns true if all bits are set. */
typedef bool (*blyi_contains_block_fn)(const void *block, uint64_t bits, unsigned k);
/* Adds one key to its block, with everything in registers. Returns true if a bit was clear. */
typedef bool (*blyi_add_block_fn)(void *block, uint64_t bits, unsigned k);

/* The part of a filter that the kernels which hash by xxh3 read. struct bly_filter begins with
 * these members. */
typedef struct blyi_kernel_view {
    uint8_t *blocks;
    uint64_t bytes; /* of all blocks */
    blyi_xxh3_secret secret;
} blyi_kernel_view;

/* For each of n block probes: looks up or adds its key, and sets out[i], as above; then replaces
 * the probe by that of keys[i], and prefetches the block of keys[i]. `out` must not be NULL. Also
 * prefetches the bytes of the keys in `ahead`, which will be needed soon. */
typedef void (*blyi_hash_probe_fn)(const blyi_kernel_view *in, const bly_bytes *keys,
                                   const bly_bytes *ahead, size_t n, blyi_block_probe *probes,
                                   uint8_t *out);

/* Hashes one key and looks it up. Returns true if all bits are set. */
typedef bool blyi_contains_key_fn(const blyi_kernel_view *in, const void *key, size_t len);
/* Hashes one key and adds it. Returns true if at least one bit was clear. */
typedef bool blyi_add_key_fn(const blyi_kernel_view *in, const void *key, size_t len);

/* A lookup in a ribbon filter. Column j of a block is its words 2j and 2j + 1. mask[0] and mask[1]
 * select bits of the column in the first block, mask[2] and mask[3] bits of the same column in the
 * second block. A column is even if an even number of the selected bits is set. The key may be a
 * member if all columns are even. */
typedef struct blyi_ribbon_lookup {
    const uint64_t *first, *second; /* aligned to 16 bytes; may be equal */
    uint64_t mask[4];
    unsigned columns; /* at least 1 */
} blyi_ribbon_lookup;

/* Does n lookups. If `out` is not NULL, out[i] becomes 1 if all columns of lookup i are even, else
 * 0. Returns the number of lookups for which it is 1. */
typedef size_t (*blyi_ribbon_fn)(const blyi_ribbon_lookup *lookups, size_t n, uint8_t *out);

/* Adds or removes one copy of a key in a block of counters (counter_kernel.h). An add returns true
 * if at least one of the key's counters was 0. A remove returns true if none of them was 0;
 * otherwise it changes nothing and returns false. */
typedef bool (*blyi_counters_fn)(uint64_t *front, uint64_t *planes, uint64_t bits);

typedef struct blyi_kernels {
    const char *name;
    blyi_contains_block_fn sbbf_contains_block;
    blyi_add_block_fn sbbf_add_block;
    blyi_contains_block_fn split_contains_block;
    blyi_add_block_fn split_add_block;
    blyi_contains_blocks_fn sbbf_contains_blocks; /* k = 8 */
    blyi_add_blocks_fn sbbf_add_blocks;
    blyi_contains_blocks_fn split_contains_blocks; /* k = 8, 12, 16 */
    blyi_add_blocks_fn split_add_blocks;
    blyi_contains_key_fn *sbbf_contains_key;
    blyi_contains_key_fn *split_contains_key[3]; /* k = 8, 12, 16 */
    blyi_add_key_fn *sbbf_add_key;
    blyi_add_key_fn *split_add_key[3];
    blyi_hash_probe_fn sbbf_contains_keys;
    blyi_hash_probe_fn sbbf_add_keys;
    blyi_hash_probe_fn split_contains_keys[3];
    blyi_hash_probe_fn split_add_keys[3];
    blyi_counters_fn counters_add;
    blyi_counters_fn counters_remove;
    blyi_ribbon_fn ribbon_contains_many;
    uint64_t (*popcount)(const uint64_t *words, size_t n);
    uint64_t (*popcount_or)(const uint64_t *a, const uint64_t *b, size_t n); /* of a | b */
} blyi_kernels;

extern const blyi_kernels blyi_kernels_scalar;
extern const blyi_kernels blyi_kernels_avx2;
extern const blyi_kernels blyi_kernels_neon;

/* Returns the fastest table that this machine can run. The environment variable BLOOMERY_ISA=scalar
 * (or avx2, neon) selects another one, if the machine can run it. */
const blyi_kernels *blyi_kernels_best(void);

/* Returns all tables that this machine can run, scalar first, with NULL after the last. */
const blyi_kernels *const *blyi_kernels_list(void);

#endif
