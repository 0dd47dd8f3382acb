/* slots.h - slots of any width, packed, and four of them compared at once. Internal.
 *
 * Slot s of a table of `width`-bit slots is the bits from s * width on, lowest first, of a
 * little-endian array. Any slot of at most 57 bits lies within the eight bytes that begin with its
 * first bit's byte; so do two slots of at most 29 bits, and all four of a bucket when they have at
 * most 16 (a bucket begins at a multiple of 4 bits, a half of one at a multiple of 2). So a bucket
 * is compared in one, two or four words, all slots of a word at once.
 */
#ifndef BLYI_KINDS_CUCKOO_CUCKOO_SLOTS_H
#define BLYI_KINDS_CUCKOO_CUCKOO_SLOTS_H

#include "base/bytes.h"

/* The word that begins with bit `at`; the bits past the 57th may be those of no slot. */
static inline uint64_t blyi_bits_at(const uint8_t *body, uint64_t at) {
    return blyi_load64le(body + (at >> 3)) >> (at & 7);
}

static inline uint64_t blyi_slot_get(const uint8_t *body, unsigned width, uint64_t slot) {
    return blyi_bits_at(body, slot * width) & (((uint64_t)1 << width) - 1);
}

static inline void blyi_slot_set(uint8_t *body, unsigned width, uint64_t slot, uint64_t value) {
    uint64_t at = slot * width, mask = (((uint64_t)1 << width) - 1) << (at & 7);
    uint8_t *word = body + (at >> 3);
    blyi_store64le(word, (blyi_load64le(word) & ~mask) | value << (at & 7));
}

/* How many slots of that width are compared in a word: 4, 2 or 1. */
static inline unsigned blyi_slots_per_word(unsigned width) {
    return width <= 16 ? 4 : width <= 29 ? 2 : 1;
}

/* The lowest bit of each of `per` slots. */
static inline uint64_t blyi_slot_ones(unsigned width, unsigned per) {
    uint64_t one = 1, two = one | one << width;
    return per == 1 ? one : per == 2 ? two : two | two << 2 * width;
}

/* Not 0 in the top bits of slots iff one of them is 0 in x. (The lowest that is 0 borrows from none
 * below it, so it is found; those above it may be found by mistake, when one is anyway.) */
static inline uint64_t blyi_slot_zeros(uint64_t x, uint64_t ones) {
    return (x - ones) & ~x;
}

#endif
