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
 * sbbf_has, sbbf_put, split_has and split_put; sbbf_sees and split_sees, which are given the word
 * before its bytes are reversed; lean_mix, which is blyi_xxh3_mix or does the same; and RACY, an
 * attribute of functions that read what others may be writing; and gets the loops for them.
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
#ifndef BLYI_SIMD_TURN_H
#define BLYI_SIMD_TURN_H

#include "../core/xxh3.h"
#include "kernels.h"

#define BLYI_TURN_INLINE static inline __attribute__((always_inline))

/* Up to this size, most of it lies in caches: few lines are under way then, and one that is fetched
 * into the first level is there when it is tested. */
#define BLYI_TURN_NEAR (UINT64_C(4) << 20)

/* A field, held still: what is written in a loop cannot be part of it. */
typedef struct blyi_here {
    uint8_t *blocks;
    uint64_t bytes;
    const blyi_pad *pad;
    bool near; /* a constant */
} blyi_here;

/* The spot of a hash, its block requested. */
BLYI_TURN_INLINE blyi_spot blyi_turn_spot(const blyi_here *t, uint64_t h, uint64_t block_bytes) {
    /* A distance in bytes first, of which the bytes inside the block are dropped: the same block
     * as in blyi_spot_of, and one step less before the request. */
    uint64_t at = blyi_mulhi(h, t->bytes);
    if (t->near)
        __builtin_prefetch(t->blocks + at);
    else
        blyi_prefetch_to_read(t->blocks + at);
    return (blyi_spot){at & -block_bytes, __builtin_bswap64(h * t->pad->gold)};
}

/* One of `has` and `put` is NULL. */
BLYI_TURN_INLINE bool blyi_turn_try(const blyi_here *t, const blyi_spot *s, unsigned k,
                                    blyi_has_fn has, blyi_put_fn put) {
    uint8_t *block = t->blocks + s->at;
    return put ? put(block, s->bits, k) : has(block, s->bits, k);
}

/* A key's bytes, if it is about as long as this one. Of one of up to two lines the processor adds
 * the second by itself, and it knows what to do with one of many. */
BLYI_TURN_INLINE void blyi_turn_request(const void *key, size_t len) {
    __builtin_prefetch(key);
    if (len - 129 < 112)
        for (uintptr_t line = 64; line < 256; line += 64) /* which may be none of its own */
            __builtin_prefetch((const void *)((uintptr_t)key + line));
}

BLYI_TURN_INLINE void blyi_turn_keys(const blyi_field *in, const bly_bytes *keys,
                                     const bly_bytes *ahead, size_t n, blyi_spot *s, uint8_t *out,
                                     unsigned shift, unsigned k, blyi_has_fn has, blyi_put_fn put,
                                     bool near) {
    const blyi_here here = {in->blocks, in->bytes, &in->pad, near};
    const uint64_t block_bytes = (uint64_t)1 << shift;
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        const bly_bytes a = keys[i], b = keys[i + 1]; /* read before anything is written */
        if (!blyi_xxh3_are_short(a.size, b.size))
            break;
        out[i] = blyi_turn_try(&here, s + i, k, has, put);
        s[i] = blyi_turn_spot(&here, blyi_xxh3_short(here.pad, a.data, a.size), block_bytes);
        out[i + 1] = blyi_turn_try(&here, s + i + 1, k, has, put);
        s[i + 1] = blyi_turn_spot(&here, blyi_xxh3_short(here.pad, b.data, b.size), block_bytes);
    }
    for (; i < n; i++) {
        const bly_bytes key = keys[i];
        blyi_turn_request(ahead[i].data, key.size);
        out[i] = blyi_turn_try(&here, s + i, k, has, put);
        s[i] = blyi_turn_spot(&here, blyi_xxh3(here.pad, key.data, key.size), block_bytes);
    }
}

#define BLYI_TURN(attributes, name, shift, k, has, put)                                            \
    attributes static void name(const blyi_field *in, const bly_bytes *keys,                       \
                                const bly_bytes *ahead, size_t n, blyi_spot *s, uint8_t *out) {    \
        if (in->bytes <= BLYI_TURN_NEAR)                                                           \
            blyi_turn_keys(in, keys, ahead, n, s, out, shift, k, has, put, true);                  \
        else                                                                                       \
            blyi_turn_keys(in, keys, ahead, n, s, out, shift, k, has, put, false);                 \
    }

BLYI_TURN(RACY, sbbf_turn_has, 5, 8, sbbf_has, NULL)
BLYI_TURN(, sbbf_turn_put, 5, 8, NULL, sbbf_put)
BLYI_TURN(RACY, split_turn_has_8, 6, 8, split_has, NULL)
BLYI_TURN(RACY, split_turn_has_12, 6, 12, split_has, NULL)
BLYI_TURN(RACY, split_turn_has_16, 6, 16, split_has, NULL)
BLYI_TURN(, split_turn_put_8, 6, 8, NULL, split_put)
BLYI_TURN(, split_turn_put_12, 6, 12, NULL, split_put)
BLYI_TURN(, split_turn_put_16, 6, 16, NULL, split_put)

/* ---- one key ----------------------------------------------------------------------------------
 * Calls for single keys overlap only as far as a processor looks ahead of the oldest read it waits
 * for: until its list of instructions is full, or until no register is free for another result. So
 * each instruction counts, and one that writes a general register twice. (Zen 4, twenty million
 * keys of 16 bytes in sbbf, 47 instructions a key: six more are 6 to 10% more time, six that write
 * a register 16%.) Hence one function for short keys, in which nothing is copied; and for those of
 * up to 128 bytes one that hashes by a table's lean_mix and jumps to the test: a function with wide
 * vectors that uses the stack as well would have to align it first. */

/* One of `sees` and `put` is NULL. */
BLYI_TURN_INLINE bool blyi_lone_hash(const blyi_field *in, uint64_t h, unsigned shift, unsigned k,
                                     blyi_has_fn sees, blyi_put_fn put) {
    const uint64_t block_bytes = (uint64_t)1 << shift;
    uint8_t *block = in->blocks + (blyi_mulhi_keep(h, in->bytes) & -block_bytes);
    uint64_t word = h * in->pad.gold;
    return put ? put(block, __builtin_bswap64(word), k) : sees(block, word, k);
}

#define BLYI_LONE_APART static __attribute__((noinline))

#define BLYI_LONE(attributes, name, shift, k, sees, put)                                           \
    attributes BLYI_LONE_APART bool name##_hash(const blyi_field *in, uint64_t h) {                \
        return blyi_lone_hash(in, h, shift, k, sees, put);                                         \
    }                                                                                              \
    BLYI_LONE_APART bool name##_middle(const blyi_field *in, const void *key, size_t len) {        \
        return name##_hash(in, blyi_xxh3_middle_by(&in->pad, key, len, lean_mix));                 \
    }                                                                                              \
    BLYI_LONE_APART bool name##_long(const blyi_field *in, const void *key, size_t len) {          \
        return name##_hash(in, blyi_xxh3_any(&in->pad, key, len));                                 \
    }                                                                                              \
    attributes static bool name(const blyi_field *in, const void *key, size_t len) {               \
        if (__builtin_expect(len <= 16, true)) {                                                   \
            if (__builtin_expect(len > 8, true))                                                   \
                return blyi_lone_hash(in, blyi_xxh3_short(&in->pad, key, len), shift, k, sees,     \
                                      put);                                                        \
            if (len >= 4)                                                                          \
                return blyi_lone_hash(in, blyi_xxh3_brief(&in->pad, key, len), shift, k, sees,     \
                                      put);                                                        \
        } else if (len <= 128) {                                                                   \
            return name##_middle(in, key, len);                                                    \
        }                                                                                          \
        return name##_long(in, key, len);                                                          \
    }

BLYI_LONE(RACY, sbbf_ask, 5, 8, sbbf_sees, NULL)
BLYI_LONE(, sbbf_tell, 5, 8, NULL, sbbf_put)
BLYI_LONE(RACY, split_ask_8, 6, 8, split_sees, NULL)
BLYI_LONE(RACY, split_ask_12, 6, 12, split_sees, NULL)
BLYI_LONE(RACY, split_ask_16, 6, 16, split_sees, NULL)
BLYI_LONE(, split_tell_8, 6, 8, NULL, split_put)
BLYI_LONE(, split_tell_12, 6, 12, NULL, split_put)
BLYI_LONE(, split_tell_16, 6, 16, NULL, split_put)

/* The table's fields for all of them. */
#define BLYI_TURN_FIELDS                                                                           \
    .sbbf_ask = sbbf_ask, .split_ask = {split_ask_8, split_ask_12, split_ask_16},                  \
    .sbbf_tell = sbbf_tell, .split_tell = {split_tell_8, split_tell_12, split_tell_16},            \
    .sbbf_turn_has = sbbf_turn_has, .sbbf_turn_put = sbbf_turn_put,                                \
    .split_turn_has = {split_turn_has_8, split_turn_has_12, split_turn_has_16},                    \
    .split_turn_put = {split_turn_put_8, split_turn_put_12, split_turn_put_16}

#endif
