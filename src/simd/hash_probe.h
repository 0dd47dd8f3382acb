/* turn.h - keys hashed and tested in one function, for each instruction set: one turn of a window
 * of them, the loop of filters/stream.c, and a key by itself. Internal.
 *
 * For each of n spots: test it (or set its bits), then put the spot of the next key in its place
 * and request the block. Both are in one loop, key by key, because they use different parts of a
 * processor: hashing its integer units, testing its vector units. One after the other they would
 * take the sum of their times, even in groups as small as 16 keys, which is more than a processor
 * looks ahead; mixed they take little more than the hashing alone. (Measured on Zen 3, keys of 16
 * bytes, a million in sbbf: 16 in turn 4.4 ns a key, 32 in turn 4.2, mixed 3.7; the hash
 * alone 2.1.)
 *
 * So the hash must be compiled into the same function as the test. This file is that function, with
 * the test as a constant argument. It is a template: a table of kernels includes it after its
 * sbbf_contains_block, sbbf_add_block, split_contains_block and split_add_block;
 * sbbf_contains_swapped and split_contains_swapped, which are given the word before its bytes are
 * reversed; mix_16_bytes, which is blyi_xxh3_mix or does the same; and RACY, an attribute of
 * functions that read what others may be writing; and gets the loops for them.
 *
 * Keys of 9 to 16 bytes have a loop of their own, two at a time, in which everything stays in
 * registers. It ends at the first key of another length; the rest of the turn is done by a loop for
 * all of them.
 *
 * Longer keys are fetched from memory as well as their blocks. The processor recognises keys that
 * lie in a row, and fetches them in advance, but less well when the blocks' random lines come in
 * between: so keys are requested some way ahead. That is worth 1.2 ns of 8.4 for keys of 60 bytes;
 * short ones gain nothing.
 */
#ifndef BLYI_SIMD_HASH_PROBE_H
#define BLYI_SIMD_HASH_PROBE_H

#include "hash/xxh3.h"
#include "simd/kernels.h"

#define BLYI_KERNEL_INLINE static inline __attribute__((always_inline))

/* Up to this size, most of it lies in caches: few lines are under way then, and one that is fetched
 * into the first level is there when it is tested. */
#define BLYI_CACHED_BYTES (UINT64_C(4) << 20)

/* A field, held still: what is written in a loop cannot be part of it. */
typedef struct blyi_local_view {
    uint8_t *blocks;
    uint64_t bytes;
    const blyi_xxh3_secret *secret;
    bool near; /* a constant */
} blyi_local_view;

/* The spot of a hash, its block requested. */
BLYI_KERNEL_INLINE blyi_block_probe blyi_next_block_probe(const blyi_local_view *t, uint64_t h,
                                                          uint64_t block_bytes) {
    /* A distance in bytes first, of which the bytes inside the block are dropped: the same block
     * as in blyi_block_probe_of, and one step less before the request. */
    uint64_t at = blyi_mulhi(h, t->bytes);
    if (t->near)
        __builtin_prefetch(t->blocks + at);
    else
        blyi_prefetch_to_read(t->blocks + at);
    return (blyi_block_probe){at & -block_bytes, __builtin_bswap64(h * t->secret->gold)};
}

/* One of `has` and `put` is NULL. */
BLYI_KERNEL_INLINE bool blyi_probe_block(const blyi_local_view *t, const blyi_block_probe *s,
                                         unsigned k, blyi_contains_block_fn has,
                                         blyi_add_block_fn put) {
    uint8_t *block = t->blocks + s->at;
    return put ? put(block, s->bits, k) : has(block, s->bits, k);
}

/* A key's bytes, if it is about as long as this one. Of one of up to two lines the processor adds
 * the second by itself, and it knows what to do with one of many. */
BLYI_KERNEL_INLINE void blyi_prefetch_key(const void *key, size_t len) {
    __builtin_prefetch(key);
    if (len - 129 < 112)
        for (uintptr_t line = 64; line < 256; line += 64) /* which may be none of its own */
            __builtin_prefetch((const void *)((uintptr_t)key + line));
}

BLYI_KERNEL_INLINE void blyi_hash_probe_keys(const blyi_kernel_view *in, const bly_bytes *keys,
                                             const bly_bytes *ahead, size_t n, blyi_block_probe *s,
                                             uint8_t *out, unsigned shift, unsigned k,
                                             blyi_contains_block_fn has, blyi_add_block_fn put,
                                             bool near) {
    const blyi_local_view here = {in->blocks, in->bytes, &in->secret, near};
    const uint64_t block_bytes = (uint64_t)1 << shift;
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        const bly_bytes a = keys[i], b = keys[i + 1]; /* read before anything is written */
        if (!blyi_xxh3_are_short(a.size, b.size))
            break;
        out[i] = blyi_probe_block(&here, s + i, k, has, put);
        s[i] =
            blyi_next_block_probe(&here, blyi_xxh3_short(here.secret, a.data, a.size), block_bytes);
        out[i + 1] = blyi_probe_block(&here, s + i + 1, k, has, put);
        s[i + 1] =
            blyi_next_block_probe(&here, blyi_xxh3_short(here.secret, b.data, b.size), block_bytes);
    }
    for (; i < n; i++) {
        const bly_bytes key = keys[i];
        blyi_prefetch_key(ahead[i].data, key.size);
        out[i] = blyi_probe_block(&here, s + i, k, has, put);
        s[i] =
            blyi_next_block_probe(&here, blyi_xxh3(here.secret, key.data, key.size), block_bytes);
    }
}

#define BLYI_DEFINE_KEYS_KERNEL(attributes, name, shift, k, has, put)                              \
    attributes static void name(const blyi_kernel_view *in, const bly_bytes *keys,                 \
                                const bly_bytes *ahead, size_t n, blyi_block_probe *s,             \
                                uint8_t *out) {                                                    \
        if (in->bytes <= BLYI_CACHED_BYTES)                                                        \
            blyi_hash_probe_keys(in, keys, ahead, n, s, out, shift, k, has, put, true);            \
        else                                                                                       \
            blyi_hash_probe_keys(in, keys, ahead, n, s, out, shift, k, has, put, false);           \
    }

BLYI_DEFINE_KEYS_KERNEL(RACY, sbbf_contains_keys, 5, 8, sbbf_contains_block, NULL)
BLYI_DEFINE_KEYS_KERNEL(, sbbf_add_keys, 5, 8, NULL, sbbf_add_block)
BLYI_DEFINE_KEYS_KERNEL(RACY, split_contains_keys_8, 6, 8, split_contains_block, NULL)
BLYI_DEFINE_KEYS_KERNEL(RACY, split_contains_keys_12, 6, 12, split_contains_block, NULL)
BLYI_DEFINE_KEYS_KERNEL(RACY, split_contains_keys_16, 6, 16, split_contains_block, NULL)
BLYI_DEFINE_KEYS_KERNEL(, split_add_keys_8, 6, 8, NULL, split_add_block)
BLYI_DEFINE_KEYS_KERNEL(, split_add_keys_12, 6, 12, NULL, split_add_block)
BLYI_DEFINE_KEYS_KERNEL(, split_add_keys_16, 6, 16, NULL, split_add_block)

/* ---- one key ----------------------------------------------------------------------------------
 * Calls for single keys overlap only as far as a processor looks ahead of the oldest read it waits
 * for: until its list of instructions is full, or until no register is free for another result. So
 * each instruction counts, and one that writes a general register twice. (Zen 4, twenty million
 * keys of 16 bytes in sbbf, 47 instructions a key: six more are 6 to 10% more time, six that write
 * a register 16%.) Hence one function for short keys, in which nothing is copied; and for those of
 * up to 128 bytes one that hashes by a table's mix_16_bytes and jumps to the test: a function with
 * wide vectors that uses the stack as well would have to align it first. */

/* One of `sees` and `put` is NULL. */
BLYI_KERNEL_INLINE bool blyi_probe_hash(const blyi_kernel_view *in, uint64_t h, unsigned shift,
                                        unsigned k, blyi_contains_block_fn sees,
                                        blyi_add_block_fn put) {
    const uint64_t block_bytes = (uint64_t)1 << shift;
    uint8_t *block = in->blocks + (blyi_mulhi_keep(h, in->bytes) & -block_bytes);
    uint64_t word = h * in->secret.gold;
    return put ? put(block, __builtin_bswap64(word), k) : sees(block, word, k);
}

#define BLYI_OUT_OF_LINE static __attribute__((noinline))

#define BLYI_DEFINE_KEY_KERNEL(attributes, name, shift, k, sees, put)                              \
    attributes BLYI_OUT_OF_LINE bool name##_hash(const blyi_kernel_view *in, uint64_t h) {         \
        return blyi_probe_hash(in, h, shift, k, sees, put);                                        \
    }                                                                                              \
    BLYI_OUT_OF_LINE bool name##_middle(const blyi_kernel_view *in, const void *key, size_t len) { \
        return name##_hash(in, blyi_xxh3_middle_by(&in->secret, key, len, mix_16_bytes));          \
    }                                                                                              \
    BLYI_OUT_OF_LINE bool name##_long(const blyi_kernel_view *in, const void *key, size_t len) {   \
        return name##_hash(in, blyi_xxh3_any(&in->secret, key, len));                              \
    }                                                                                              \
    attributes static bool name(const blyi_kernel_view *in, const void *key, size_t len) {         \
        if (__builtin_expect(len <= 16, true)) {                                                   \
            if (__builtin_expect(len > 8, true))                                                   \
                return blyi_probe_hash(in, blyi_xxh3_short(&in->secret, key, len), shift, k, sees, \
                                       put);                                                       \
            if (len >= 4)                                                                          \
                return blyi_probe_hash(in, blyi_xxh3_brief(&in->secret, key, len), shift, k, sees, \
                                       put);                                                       \
        } else if (len <= 128) {                                                                   \
            return name##_middle(in, key, len);                                                    \
        }                                                                                          \
        return name##_long(in, key, len);                                                          \
    }

BLYI_DEFINE_KEY_KERNEL(RACY, sbbf_contains_key, 5, 8, sbbf_contains_swapped, NULL)
BLYI_DEFINE_KEY_KERNEL(, sbbf_add_key, 5, 8, NULL, sbbf_add_block)
BLYI_DEFINE_KEY_KERNEL(RACY, split_contains_key_8, 6, 8, split_contains_swapped, NULL)
BLYI_DEFINE_KEY_KERNEL(RACY, split_contains_key_12, 6, 12, split_contains_swapped, NULL)
BLYI_DEFINE_KEY_KERNEL(RACY, split_contains_key_16, 6, 16, split_contains_swapped, NULL)
BLYI_DEFINE_KEY_KERNEL(, split_add_key_8, 6, 8, NULL, split_add_block)
BLYI_DEFINE_KEY_KERNEL(, split_add_key_12, 6, 12, NULL, split_add_block)
BLYI_DEFINE_KEY_KERNEL(, split_add_key_16, 6, 16, NULL, split_add_block)

/* The table's fields for all of them. */
#define BLYI_HASH_PROBE_FIELDS                                                                     \
    .sbbf_contains_key = sbbf_contains_key,                                                        \
    .split_contains_key = {split_contains_key_8, split_contains_key_12, split_contains_key_16},    \
    .sbbf_add_key = sbbf_add_key,                                                                  \
    .split_add_key = {split_add_key_8, split_add_key_12, split_add_key_16},                        \
    .sbbf_contains_keys = sbbf_contains_keys, .sbbf_add_keys = sbbf_add_keys,                      \
    .split_contains_keys = {split_contains_keys_8, split_contains_keys_12,                         \
                            split_contains_keys_16},                                               \
    .split_add_keys = {split_add_keys_8, split_add_keys_12, split_add_keys_16}

#endif
