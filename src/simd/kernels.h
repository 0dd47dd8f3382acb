/* kernels.h - the inner loops that gain from vector instructions, as one table per instruction
 * set. Internal.
 *
 * scalar.c defines the answers; every other table must give the same ones bit for bit
 * (tests/test_kernels.c). Kernels see raw arrays, never filters. Arrays are 64-byte aligned and
 * hold little-endian words; word counts are multiples of 8.
 *
 * Adding a table: one file that exports one const blyi_kernels, one line in select.c.
 */
#ifndef BLYI_SIMD_KERNELS_H
#define BLYI_SIMD_KERNELS_H

#include "hash/xxh3.h"
#include "simd/block_probe.h"
#include "simd/ribbon_kernel.h"

/* For each of n spots: are all its bits set / set them. `k` is the layout's number of bits.
 * out[i] (when out is not NULL) = 1 if all were set already / if at least one was not. Returns the
 * sum of these. */
typedef size_t (*blyi_contains_blocks_fn)(const void *blocks, const blyi_block_probe *s, size_t n,
                                          unsigned k, uint8_t *out);
typedef size_t (*blyi_add_blocks_fn)(void *blocks, const blyi_block_probe *s, size_t n, unsigned k,
                                     uint8_t *out);

/* The same for one key and its block, with everything in registers: is every bit set / set them,
 * and was one of them clear? */
typedef bool (*blyi_contains_block_fn)(const void *block, uint64_t bits, unsigned k);
typedef bool (*blyi_add_block_fn)(void *block, uint64_t bits, unsigned k);

/* Where keys are looked for, hashed by xxh3: what a filter begins with. */
typedef struct blyi_kernel_view {
    uint8_t *blocks;
    uint64_t bytes; /* of all blocks */
    blyi_xxh3_secret secret;
} blyi_kernel_view;

/* For each of n spots: the same, and then the spot of keys[i] in its place, its block requested.
 * out[i] is written for each. The bytes of ahead[i] will be needed soon. */
typedef void (*blyi_hash_probe_fn)(const blyi_kernel_view *in, const bly_bytes *keys,
                                   const bly_bytes *ahead, size_t n, blyi_block_probe *s,
                                   uint8_t *out);

/* Is every bit of one key set / set them, and was one of them clear? */
typedef bool blyi_contains_key_fn(const blyi_kernel_view *in, const void *key, size_t len);
typedef bool blyi_add_key_fn(const blyi_kernel_view *in, const void *key, size_t len);

/* For each of n sights: are all its columns even. Results as above. */
typedef size_t (*blyi_ribbon_fn)(const blyi_ribbon_lookup *s, size_t n, uint8_t *out);

/* One copy of a key more, or less, in a block of counters (cells.h). Was a cell free / were all in
 * use; if not, nothing is taken. */
typedef bool (*blyi_cells_fn)(uint64_t *front, uint64_t *planes, uint64_t bits);

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
    blyi_cells_fn counters_add;
    blyi_cells_fn counters_remove;
    blyi_ribbon_fn ribbon_probe;
    uint64_t (*popcount)(const uint64_t *words, size_t n);
    uint64_t (*popcount_or)(const uint64_t *a, const uint64_t *b, size_t n); /* of a | b */
} blyi_kernels;

extern const blyi_kernels blyi_kernels_scalar;
extern const blyi_kernels blyi_kernels_avx2;
extern const blyi_kernels blyi_kernels_neon;

/* The scalar ones, for tables that have none of their own. */
size_t blyi_ribbon_contains_many(const blyi_ribbon_lookup *s, size_t n, uint8_t *out);
bool blyi_counters_add(uint64_t *front, uint64_t *planes, uint64_t bits);
bool blyi_counters_remove(uint64_t *front, uint64_t *planes, uint64_t bits);

/* The fastest table this machine can run. BLOOMERY_ISA=scalar (or avx2, neon) forces one that it
 * can. */
const blyi_kernels *blyi_kernels_best(void);

/* All tables this machine can run, scalar first, ended by NULL. */
const blyi_kernels *const *blyi_kernels_list(void);

#endif
