/* hash_probe.h - hashes keys and tests or sets their bits in one function. Internal.
 *
 * There are two kinds of these functions: one for a batch of keys, in the pipeline of
 * filter/block_batch.c, and one for a single key. They need the hash and the block function
 * compiled into one loop, so each instruction set has its own: kernel_template.h instantiates the
 * macros below with its block functions.
 *
 * For each of n block probes, the batch function tests the block (or sets its bits), then replaces
 * the probe by that of the next key and prefetches its block. Both steps are in one loop, key by
 * key, because they use different parts of a processor: hashing uses its integer units, testing its
 * vector units. In separate loops they would take the sum of their times, even with groups of only
 * 16 keys, because a processor does not look that far ahead. In one loop they take little more than
 * the hashing alone. (Measured on Zen 3, keys of 16 bytes, a million in sbbf: in separate loops
 * over 16 keys 4.4 ns a key, over 32 keys 4.2, in one loop 3.7. The hash alone takes 2.1.)
 *
 * Keys of 9 to 16 bytes are processed by a separate loop, two at a time, with everything in
 * registers. It ends at the first key of another length. A loop for keys of any length processes
 * the rest of the batch.
 *
 * For longer keys, loading the key itself takes time, too. The processor recognises keys that
 * follow each other in memory and prefetches them, but less well when the random addresses of the
 * blocks come in between. So the kernel prefetches keys some way ahead. That saves 1.2 ns of 8.4 ns
 * for keys of 60 bytes. Short keys gain nothing.
 */
#ifndef BLYI_SIMD_HASH_PROBE_H
#define BLYI_SIMD_HASH_PROBE_H

#include "hash/xxh3.h"
#include "simd/kernels.h"

/* Most of a filter of up to this size is in the processor's caches. Then few lines are being loaded
 * at a time, and a line that is prefetched into the first-level cache is still there when it is
 * tested. */
#define BLYI_CACHED_BYTES (UINT64_C(4) << 20)

/* A local copy of a view, so that the compiler need not reload it after stores in the loop. */
typedef struct blyi_view_copy {
    uint8_t *blocks;
    uint64_t bytes;
    const blyi_xxh3_secret *secret;
    bool is_cached; /* prefetch into the first-level cache? A compile-time constant */
} blyi_view_copy;

/* Returns the block probe of a hash, and prefetches its block. */
BLYI_KERNEL_INLINE blyi_block_probe blyi_next_block_probe(const blyi_view_copy *view, uint64_t h,
                                                          uint64_t block_bytes) {
    /* At first, `at` is the offset of some byte in the block; the last line rounds it down to the
     * first byte. The block is the same as in blyi_block_probe_of, but the prefetch starts one step
     * earlier. */
    uint64_t at = blyi_mulhi(h, view->bytes);
    if (view->is_cached)
        __builtin_prefetch(view->blocks + at);
    else
        blyi_prefetch_to_read(view->blocks + at);
    return (blyi_block_probe){at & -block_bytes, __builtin_bswap64(h * view->secret->gold)};
}

/* Calls `contains` or `add`, whichever is not NULL. */
BLYI_KERNEL_INLINE bool blyi_probe_block(const blyi_view_copy *view, const blyi_block_probe *probe,
                                         unsigned k, blyi_contains_block_fn contains,
                                         blyi_add_block_fn add) {
    uint8_t *block = view->blocks + probe->at;
    return add ? add(block, probe->bits, k) : contains(block, probe->bits, k);
}

/* Prefetches the bytes of a key. `len` is the length of a nearby key, taken as an estimate. Of a
 * key of up to two lines, the processor prefetches the second line without being told to, and in a
 * key of many lines it recognises the pattern. */
BLYI_KERNEL_INLINE void blyi_prefetch_key(const void *key, size_t len) {
    __builtin_prefetch(key);
    if (len - 129 < 112)
        for (uintptr_t line = 64; line < 256; line += 64) /* may lie past the end of the key */
            __builtin_prefetch((const void *)((uintptr_t)key + line));
}

BLYI_KERNEL_INLINE void blyi_hash_probe_keys(const blyi_kernel_view *in, const bly_bytes *keys,
                                             const bly_bytes *ahead, size_t n,
                                             blyi_block_probe *probes, uint8_t *out, unsigned shift,
                                             unsigned k, blyi_contains_block_fn contains,
                                             blyi_add_block_fn add, bool is_cached) {
    const blyi_view_copy view = {in->blocks, in->bytes, &in->secret, is_cached};
    const uint64_t block_bytes = (uint64_t)1 << shift;
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        const bly_bytes a = keys[i], b = keys[i + 1]; /* read before anything is written */
        if (!blyi_xxh3_are_short(a.size, b.size))
            break;
        out[i] = blyi_probe_block(&view, probes + i, k, contains, add);
        probes[i] =
            blyi_next_block_probe(&view, blyi_xxh3_short(view.secret, a.data, a.size), block_bytes);
        out[i + 1] = blyi_probe_block(&view, probes + i + 1, k, contains, add);
        probes[i + 1] =
            blyi_next_block_probe(&view, blyi_xxh3_short(view.secret, b.data, b.size), block_bytes);
    }
    for (; i < n; i++) {
        const bly_bytes key = keys[i];
        blyi_prefetch_key(ahead[i].data, key.size);
        out[i] = blyi_probe_block(&view, probes + i, k, contains, add);
        probes[i] =
            blyi_next_block_probe(&view, blyi_xxh3(view.secret, key.data, key.size), block_bytes);
    }
}

/* Defines a blyi_hash_probe_fn. One of `contains` and `add` is NULL. */
#define BLYI_DEFINE_KEYS_KERNEL(attributes, name, shift, k, contains, add)                         \
    attributes static void BLYI_KERNEL(name)(const blyi_kernel_view *in, const bly_bytes *keys,    \
                                             const bly_bytes *ahead, size_t n,                     \
                                             blyi_block_probe *probes, uint8_t *out) {             \
        if (in->bytes <= BLYI_CACHED_BYTES)                                                        \
            blyi_hash_probe_keys(in, keys, ahead, n, probes, out, shift, k, contains, add, true);  \
        else                                                                                       \
            blyi_hash_probe_keys(in, keys, ahead, n, probes, out, shift, k, contains, add, false); \
    }

/* ---- one key ----------------------------------------------------------------------------------
 * Calls for single keys overlap only as far as a processor looks ahead of the oldest load it waits
 * for: until its reorder buffer is full, or until no register is free for another result. So each
 * instruction counts, and one that writes a general register counts twice. (Zen 4, twenty million
 * keys of 16 bytes in sbbf, 47 instructions per key: six more take 6 to 10% more time, six that
 * write a register 16%.)
 *
 * So there is one function for short keys, in which nothing is copied, and another for keys of up
 * to 128 bytes, which hashes by the instruction set's mix_16_bytes and jumps to the test. A single
 * function, which uses both wide vectors and the stack, would have to align the stack first. */

/* Calls `contains` or `add`, whichever is not NULL, for the key whose hash is h. `contains` gets
 * the hash bits with their bytes reversed, `add` gets them as they are. */
BLYI_KERNEL_INLINE bool blyi_probe_hash(const blyi_kernel_view *in, uint64_t h, unsigned shift,
                                        unsigned k, blyi_contains_block_fn contains,
                                        blyi_add_block_fn add) {
    const uint64_t block_bytes = (uint64_t)1 << shift;
    uint8_t *block = in->blocks + (blyi_mulhi_keep(h, in->bytes) & -block_bytes);
    uint64_t word = h * in->secret.gold;
    return add ? add(block, __builtin_bswap64(word), k) : contains(block, word, k);
}

#define BLYI_OUT_OF_LINE static __attribute__((noinline))

/* Defines a blyi_contains_key_fn or a blyi_add_key_fn. */
#define BLYI_DEFINE_KEY_KERNEL(attributes, name, shift, k, contains, add)                          \
    attributes BLYI_OUT_OF_LINE bool BLYI_KERNEL(name##_hash)(const blyi_kernel_view *in,          \
                                                              uint64_t h) {                        \
        return blyi_probe_hash(in, h, shift, k, contains, add);                                    \
    }                                                                                              \
    BLYI_OUT_OF_LINE bool BLYI_KERNEL(name##_middle)(const blyi_kernel_view *in, const void *key,  \
                                                     size_t len) {                                 \
        return BLYI_KERNEL(name##_hash)(                                                           \
            in, blyi_xxh3_middle_by(&in->secret, key, len, BLYI_KERNEL(mix_16_bytes)));            \
    }                                                                                              \
    BLYI_OUT_OF_LINE bool BLYI_KERNEL(name##_long)(const blyi_kernel_view *in, const void *key,    \
                                                   size_t len) {                                   \
        return BLYI_KERNEL(name##_hash)(in, blyi_xxh3_any(&in->secret, key, len));                 \
    }                                                                                              \
    attributes static bool BLYI_KERNEL(name)(const blyi_kernel_view *in, const void *key,          \
                                             size_t len) {                                         \
        if (__builtin_expect(len <= 16, true)) {                                                   \
            if (__builtin_expect(len > 8, true))                                                   \
                return blyi_probe_hash(in, blyi_xxh3_short(&in->secret, key, len), shift, k,       \
                                       contains, add);                                             \
            if (len >= 4)                                                                          \
                return blyi_probe_hash(in, blyi_xxh3_brief(&in->secret, key, len), shift, k,       \
                                       contains, add);                                             \
        } else if (len <= 128) {                                                                   \
            return BLYI_KERNEL(name##_middle)(in, key, len);                                       \
        }                                                                                          \
        return BLYI_KERNEL(name##_long)(in, key, len);                                             \
    }

#endif
