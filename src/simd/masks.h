/* masks.h - the bits that a key has in a block. Every kernel must match these definitions.
 * Internal.
 *
 * sbbf      Eight lanes of 32 bits. Lane j has bit ((uint32_t)bits * SALT[j]) >> 27.
 * split512  Eight lanes of 64 bits. Lane j has bit (bits >> 6j) & 63. For k = 12 and 16 a second
 *           word supplies more bits: g = bits * LCG; g ^= g >> 32.
 *           k = 16: lane j also has bit (g >> 6j) & 63.
 *           k = 12: the bits (g >> 6j) & 63 for j = 0..3 go to lanes 0 to 3 if bits >> 63 is 0, and
 *           to lanes 4 to 7 if it is 1.
 * pair512   (half of bb2x512) k of 512 bits, each selected by a slice of 9 bits. A word w yields
 *           seven slices, from the top; the next word is w * LCG, then w ^= w >> 32.
 *
 * Masks are 64-bit words in host order, to be compared with blyi_le64 of the words in memory.
 */
#ifndef BLYI_SIMD_MASKS_H
#define BLYI_SIMD_MASKS_H

#include "hash/mix.h"
#include <stdint.h>

#define BLYI_SBBF_SALTS                                                                            \
    0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU, 0x705495c7U, 0x2df1424bU, 0x9efc4947U,     \
        0x5c6bfb31U

static inline void blyi_sbbf_mask(uint64_t bits, uint64_t mask[4]) {
    static const uint32_t salt[8] = {BLYI_SBBF_SALTS};
    for (unsigned j = 0; j < 4; j++) {
        uint32_t even = ((uint32_t)bits * salt[2 * j]) >> 27;
        uint32_t odd = ((uint32_t)bits * salt[2 * j + 1]) >> 27;
        mask[j] = (uint64_t)1 << even | (uint64_t)1 << (32 + odd);
    }
}

/* The word that supplies a split512 key's second bits. */
static inline uint64_t blyi_split_more(uint64_t bits) {
    uint64_t g = bits * BLYI_LCG;
    return g ^ g >> 32;
}

static inline void blyi_split_mask(uint64_t bits, unsigned k, uint64_t mask[8]) {
    for (unsigned j = 0; j < 8; j++)
        mask[j] = (uint64_t)1 << (bits >> 6 * j & 63);
    if (k == 8)
        return;
    uint64_t more = blyi_split_more(bits);
    unsigned first = k == 12 && bits >> 63 ? 4 : 0;
    for (unsigned j = 0; j < (k == 12 ? 4U : 8U); j++)
        mask[first + j] |= (uint64_t)1 << (more >> 6 * j & 63);
}

/* Returns the position of the next of a key's k bits in pair512. Before the first call, the caller
 * sets *w to the hash bits and *left to 7, and does not change them after that. */
static inline unsigned blyi_pair_next(uint64_t *w, unsigned *left) {
    if (*left == 0) {
        *w = *w * BLYI_LCG;
        *w ^= *w >> 32;
        *left = 7;
    }
    *left -= 1;
    return (unsigned)(*w >> (1 + 9 * *left)) & 511;
}

#endif
