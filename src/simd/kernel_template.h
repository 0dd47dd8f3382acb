/* kernel_template.h - all kernels of one instruction set, made from its functions for one block.
 * Internal.
 *
 * This is a template: it has no include guard, and each of scalar.c, avx2.c and neon.c includes it
 * once, at its end. It undefines its parameters, so that the three files may be parts of one
 * translation unit. Code that does not depend on the instruction set is in hash_probe.h and in the
 * headers of the kernels. The parameters are:
 *
 *   BLYI_KERNEL(name)    name with the prefix of the instruction set
 *   BLYI_KERNEL_NAME     what BLOOMERY_ISA calls it
 *   BLYI_KERNEL_TABLE    the table to define
 *   BLYI_KERNEL_RACY     attribute of functions that read words which other threads may be changing
 *
 * and these functions, or macros that name others, with the prefix:
 *
 *   sbbf_contains_block  split_contains_block  sbbf_add_block  split_add_block
 *                        as in kernels.h. They may be slow when k is not a constant.
 *   sbbf_contains_swapped
 *                        sbbf_contains_block, given the hash bits with their bytes reversed
 *   mix_16_bytes         a blyi_mix_fn with the results of blyi_xxh3_mix
 *   counters_add  counters_remove
 *                        as in kernels.h
 *   ribbon_contains      bool (const blyi_ribbon_lookup *)
 *   count_bits           uint64_t (const uint64_t *a, const uint64_t *b, size_t n, bool or_b): the
 *                        number of bits set in n words of a or, if or_b is true, of a | b. Always
 *                        inlined, with or_b as a constant
 */

/* ---- block probes -----------------------------------------------------------------------------
 * The loops are always inlined, with k and the function for one block as constants. */

BLYI_KERNEL_INLINE BLYI_KERNEL_RACY size_t
BLYI_KERNEL(contains_loop)(const void *blocks, const blyi_block_probe *probes, size_t n, unsigned k,
                           uint8_t *out, blyi_contains_block_fn contains_block) {
    const uint8_t *base = blocks;
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = contains_block(base + probes[i].at, probes[i].bits, k);
        hits += hit;
        if (out)
            out[i] = hit;
    }
    return hits;
}

BLYI_KERNEL_INLINE size_t BLYI_KERNEL(add_loop)(void *blocks, const blyi_block_probe *probes,
                                                size_t n, unsigned k, uint8_t *out,
                                                blyi_add_block_fn add_block) {
    uint8_t *base = blocks;
    size_t added = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_new = add_block(base + probes[i].at, probes[i].bits, k);
        added += is_new;
        if (out)
            out[i] = is_new;
    }
    return added;
}

BLYI_KERNEL_RACY static size_t BLYI_KERNEL(sbbf_contains_blocks)(const void *blocks,
                                                                 const blyi_block_probe *probes,
                                                                 size_t n, unsigned k,
                                                                 uint8_t *out) {
    return BLYI_KERNEL(contains_loop)(blocks, probes, n, k, out, BLYI_KERNEL(sbbf_contains_block));
}

static size_t BLYI_KERNEL(sbbf_add_blocks)(void *blocks, const blyi_block_probe *probes, size_t n,
                                           unsigned k, uint8_t *out) {
    return BLYI_KERNEL(add_loop)(blocks, probes, n, k, out, BLYI_KERNEL(sbbf_add_block));
}

BLYI_KERNEL_RACY static size_t BLYI_KERNEL(split_contains_blocks)(const void *blocks,
                                                                  const blyi_block_probe *probes,
                                                                  size_t n, unsigned k,
                                                                  uint8_t *out) {
    if (k == 8)
        return BLYI_KERNEL(contains_loop)(blocks, probes, n, 8, out,
                                          BLYI_KERNEL(split_contains_block));
    if (k == 12)
        return BLYI_KERNEL(contains_loop)(blocks, probes, n, 12, out,
                                          BLYI_KERNEL(split_contains_block));
    return BLYI_KERNEL(contains_loop)(blocks, probes, n, 16, out,
                                      BLYI_KERNEL(split_contains_block));
}

static size_t BLYI_KERNEL(split_add_blocks)(void *blocks, const blyi_block_probe *probes, size_t n,
                                            unsigned k, uint8_t *out) {
    if (k == 8)
        return BLYI_KERNEL(add_loop)(blocks, probes, n, 8, out, BLYI_KERNEL(split_add_block));
    if (k == 12)
        return BLYI_KERNEL(add_loop)(blocks, probes, n, 12, out, BLYI_KERNEL(split_add_block));
    return BLYI_KERNEL(add_loop)(blocks, probes, n, 16, out, BLYI_KERNEL(split_add_block));
}

/* ---- keys: hash and probe in one function (hash_probe.h) ------------------------------------- */

BLYI_KERNEL_INLINE BLYI_KERNEL_RACY bool
BLYI_KERNEL(split_contains_swapped)(const void *block, uint64_t word, unsigned k) {
    return BLYI_KERNEL(split_contains_block)(block, __builtin_bswap64(word), k);
}

BLYI_DEFINE_KEYS_KERNEL(BLYI_KERNEL_RACY, sbbf_contains_keys, 5, 8,
                        BLYI_KERNEL(sbbf_contains_block), NULL)
BLYI_DEFINE_KEYS_KERNEL(, sbbf_add_keys, 5, 8, NULL, BLYI_KERNEL(sbbf_add_block))
BLYI_DEFINE_KEYS_KERNEL(BLYI_KERNEL_RACY, split_contains_keys_8, 6, 8,
                        BLYI_KERNEL(split_contains_block), NULL)
BLYI_DEFINE_KEYS_KERNEL(BLYI_KERNEL_RACY, split_contains_keys_12, 6, 12,
                        BLYI_KERNEL(split_contains_block), NULL)
BLYI_DEFINE_KEYS_KERNEL(BLYI_KERNEL_RACY, split_contains_keys_16, 6, 16,
                        BLYI_KERNEL(split_contains_block), NULL)
BLYI_DEFINE_KEYS_KERNEL(, split_add_keys_8, 6, 8, NULL, BLYI_KERNEL(split_add_block))
BLYI_DEFINE_KEYS_KERNEL(, split_add_keys_12, 6, 12, NULL, BLYI_KERNEL(split_add_block))
BLYI_DEFINE_KEYS_KERNEL(, split_add_keys_16, 6, 16, NULL, BLYI_KERNEL(split_add_block))

BLYI_DEFINE_KEY_KERNEL(BLYI_KERNEL_RACY, sbbf_contains_key, 5, 8,
                       BLYI_KERNEL(sbbf_contains_swapped), NULL)
BLYI_DEFINE_KEY_KERNEL(, sbbf_add_key, 5, 8, NULL, BLYI_KERNEL(sbbf_add_block))
BLYI_DEFINE_KEY_KERNEL(BLYI_KERNEL_RACY, split_contains_key_8, 6, 8,
                       BLYI_KERNEL(split_contains_swapped), NULL)
BLYI_DEFINE_KEY_KERNEL(BLYI_KERNEL_RACY, split_contains_key_12, 6, 12,
                       BLYI_KERNEL(split_contains_swapped), NULL)
BLYI_DEFINE_KEY_KERNEL(BLYI_KERNEL_RACY, split_contains_key_16, 6, 16,
                       BLYI_KERNEL(split_contains_swapped), NULL)
BLYI_DEFINE_KEY_KERNEL(, split_add_key_8, 6, 8, NULL, BLYI_KERNEL(split_add_block))
BLYI_DEFINE_KEY_KERNEL(, split_add_key_12, 6, 12, NULL, BLYI_KERNEL(split_add_block))
BLYI_DEFINE_KEY_KERNEL(, split_add_key_16, 6, 16, NULL, BLYI_KERNEL(split_add_block))

/* ---- ribbon lookups and bit counts ----------------------------------------------------------- */

static size_t BLYI_KERNEL(ribbon_contains_many)(const blyi_ribbon_lookup *lookups, size_t n,
                                                uint8_t *out) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = BLYI_KERNEL(ribbon_contains)(lookups + i);
        hits += hit;
        if (out)
            out[i] = hit;
    }
    return hits;
}

BLYI_KERNEL_RACY static uint64_t BLYI_KERNEL(popcount)(const uint64_t *words, size_t n) {
    return BLYI_KERNEL(count_bits)(words, NULL, n, false);
}

BLYI_KERNEL_RACY static uint64_t BLYI_KERNEL(popcount_or)(const uint64_t *a, const uint64_t *b,
                                                          size_t n) {
    return BLYI_KERNEL(count_bits)(a, b, n, true);
}

/* ---- the table ------------------------------------------------------------------------------- */

const blyi_kernels BLYI_KERNEL_TABLE = {
    .name = BLYI_KERNEL_NAME,
    .sbbf_contains_block = BLYI_KERNEL(sbbf_contains_block),
    .sbbf_add_block = BLYI_KERNEL(sbbf_add_block),
    .split_contains_block = BLYI_KERNEL(split_contains_block),
    .split_add_block = BLYI_KERNEL(split_add_block),
    .sbbf_contains_blocks = BLYI_KERNEL(sbbf_contains_blocks),
    .sbbf_add_blocks = BLYI_KERNEL(sbbf_add_blocks),
    .split_contains_blocks = BLYI_KERNEL(split_contains_blocks),
    .split_add_blocks = BLYI_KERNEL(split_add_blocks),
    .sbbf_contains_key = BLYI_KERNEL(sbbf_contains_key),
    .split_contains_key = {BLYI_KERNEL(split_contains_key_8), BLYI_KERNEL(split_contains_key_12),
                           BLYI_KERNEL(split_contains_key_16)},
    .sbbf_add_key = BLYI_KERNEL(sbbf_add_key),
    .split_add_key = {BLYI_KERNEL(split_add_key_8), BLYI_KERNEL(split_add_key_12),
                      BLYI_KERNEL(split_add_key_16)},
    .sbbf_contains_keys = BLYI_KERNEL(sbbf_contains_keys),
    .sbbf_add_keys = BLYI_KERNEL(sbbf_add_keys),
    .split_contains_keys = {BLYI_KERNEL(split_contains_keys_8), BLYI_KERNEL(split_contains_keys_12),
                            BLYI_KERNEL(split_contains_keys_16)},
    .split_add_keys = {BLYI_KERNEL(split_add_keys_8), BLYI_KERNEL(split_add_keys_12),
                       BLYI_KERNEL(split_add_keys_16)},
    .counters_add = BLYI_KERNEL(counters_add),
    .counters_remove = BLYI_KERNEL(counters_remove),
    .ribbon_contains_many = BLYI_KERNEL(ribbon_contains_many),
    .popcount = BLYI_KERNEL(popcount),
    .popcount_or = BLYI_KERNEL(popcount_or),
};

#undef BLYI_KERNEL
#undef BLYI_KERNEL_NAME
#undef BLYI_KERNEL_TABLE
#undef BLYI_KERNEL_RACY
