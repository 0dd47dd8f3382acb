/* mix.h - turns the output of a hash function into the words that a filter uses. Internal.
 *
 * fmix64 is MurmurHash3's 64-bit finaliser: a bijection in which each input bit flips each output
 * bit with probability close to 1/2. Filters use bits from all parts of both words, so the output
 * of a function with weak low or high bits (FNV, CRC) must pass through fmix64 first. Otherwise the
 * false-positive rate would depend on what the keys look like.
 */
#ifndef BLYI_HASH_MIX_H
#define BLYI_HASH_MIX_H

#include <bloomery/base.h>

/* 2^64 divided by the golden ratio, an odd number: the distance between the two inputs of fmix64 in
 * blyi_hash_from64. */
#define BLYI_GOLD UINT64_C(0x9E3779B97F4A7C15)

/* The multiplier of the probe sequence x = x * BLYI_LCG + inc. */
#define BLYI_LCG UINT64_C(0xf1357aea2e62a9c5)

/* Rotates x to the left; 1 <= bits <= 63. */
static inline uint64_t blyi_rotl64(uint64_t x, unsigned bits) {
    return x << bits | x >> (64 - bits);
}

/* MurmurHash3's finaliser. It maps 0 to 0, so seed 0 leaves a hash unchanged without a special
 * case. */
static inline uint64_t blyi_fmix64(uint64_t x) {
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* Makes two words from a single one whose bits are all good already (XXH3): the word itself, and a
 * multiple of it with its bytes reversed. The product alone would not be enough: its low bits
 * depend only on the low bits of the word, and a probe sequence modulo an even number would then
 * miss positions. Reversal moves the bits that depend on all others to the low end. Both steps
 * together take two cycles. */
static inline bly_hash blyi_hash_from_strong64(uint64_t h) {
    return (bly_hash){.lo = h, .hi = __builtin_bswap64(h * BLYI_GOLD)};
}

/* Makes two words from h, the result of a hash function. s is fmix64(seed). */
static inline bly_hash blyi_hash_from64(uint64_t h, uint64_t s) {
    uint64_t x = h ^ s;
    return (bly_hash){.lo = blyi_fmix64(x), .hi = blyi_fmix64(x + BLYI_GOLD)};
}

/* Mixes the two words of a custom function, whatever their quality, by three rounds of a Feistel
 * network, which is a bijection of the 128 bits. Two rounds would not be enough: flipping a bit of
 * h.hi would always flip the same single bit of hi. The constants make the rounds differ. Without
 * them, a result of 0 would stay 0, because fmix64 maps 0 to 0. */
static inline bly_hash blyi_hash_mix128(bly_hash h) {
    uint64_t lo = h.lo, hi = h.hi;
    hi ^= blyi_fmix64(lo + BLYI_GOLD);
    lo ^= blyi_fmix64(hi + 2 * BLYI_GOLD);
    hi ^= blyi_fmix64(lo + 3 * BLYI_GOLD);
    return (bly_hash){.lo = lo, .hi = hi};
}

#endif
