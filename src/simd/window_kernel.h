/* window_kernel.h - the bits that a key has in a line of a window filter. kinds/window/window.c
 * explains the filter. Internal.
 *
 * A line of 64 bytes has a number of positions, and each position has one bit for every slot:
 * position p of s slots is the bits s*p .. s*p + s - 1. The positions are divided into two or three
 * lanes, and a key has one position in each. They follow from y, 64 hash bits: the t-th slice of 16
 * bits from the top, times the number of positions of lane t, without the lowest 16 bits, is the
 * position, counted from the first of the lane.
 */
#ifndef BLYI_SIMD_WINDOW_KERNEL_H
#define BLYI_SIMD_WINDOW_KERNEL_H

#include "base/bits.h"
#include "base/bytes.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    BLYI_MAX_LANES = 3,
    BLYI_SLICES = 4 /* of y: 16 bits each, in the order in which they lie in memory */
};

typedef struct blyi_line_layout {
    unsigned slots, lanes;
    unsigned first[BLYI_MAX_LANES], positions[BLYI_MAX_LANES]; /* of each lane */
} blyi_line_layout;

/* Eight bytes as a number. blyi_load64le would not always become one load here. */
static inline uint64_t blyi_word_at(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return blyi_le64(word);
}

static inline unsigned blyi_position_of(const blyi_line_layout *l, uint64_t y, unsigned lane) {
    unsigned slice = (unsigned)(y >> (48 - 16 * lane)) & 0xffff;
    return l->first[lane] + (slice * l->positions[lane] >> 16);
}

/* The index in memory of the slice that selects the position of a lane: the t-th from the top. */
static inline unsigned blyi_slice_of_lane(unsigned lane) {
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? BLYI_SLICES - 1 - lane : lane;
}

/* The slices of two words y, as numbers and as words. */
typedef uint16_t blyi_slices_of_two __attribute__((vector_size(4 * BLYI_SLICES)));
typedef uint64_t blyi_two_words __attribute__((vector_size(4 * BLYI_SLICES)));

/* A number for each lane, at the slices of two words that belong to the lane. 0 for a slice that
 * belongs to none. */
static inline blyi_slices_of_two blyi_slices_with(const unsigned n[BLYI_MAX_LANES]) {
    const uint64_t a = n[0], b = n[1], c = n[2];
    const uint64_t line = a << 48 | b << 32 | c << 16;
    return (blyi_slices_of_two)(blyi_two_words){line, line};
}

/* The position that each slice of y and z selects, in a line each. */
static inline blyi_slices_of_two blyi_positions_plain(const blyi_line_layout *l, uint64_t y,
                                                      uint64_t z) {
#ifdef __ARM_NEON
    blyi_slices_of_two s = (blyi_slices_of_two)(blyi_two_words){y, z};
    blyi_slices_of_two many = blyi_slices_with(l->positions);
    for (unsigned i = 0; i < 2 * BLYI_SLICES; i++)
        s[i] = (uint16_t)((uint32_t)s[i] * many[i] >> 16);
    return s + blyi_slices_with(l->first);
#else
    /* One by one: where there are no vector registers, GCC 12 compiles the above to wrong code. */
    uint16_t positions[2 * BLYI_SLICES] = {0};
    blyi_slices_of_two s;
    for (unsigned lane = 0; lane < BLYI_MAX_LANES; lane++) {
        positions[blyi_slice_of_lane(lane)] = (uint16_t)blyi_position_of(l, y, lane);
        positions[BLYI_SLICES + blyi_slice_of_lane(lane)] = (uint16_t)blyi_position_of(l, z, lane);
    }
    memcpy(&s, positions, sizeof s);
    return s;
#endif
}

/* The same by one instruction of SSE2, which compilers do not always find. */
static inline blyi_slices_of_two blyi_positions_of(const blyi_line_layout *l, uint64_t y,
                                                   uint64_t z) {
#ifdef __SSE2__
    const __m128i many = (__m128i)blyi_slices_with(l->positions);
    __m128i s = _mm_mulhi_epu16((__m128i)(blyi_two_words){y, z}, many);
    return (blyi_slices_of_two)s + blyi_slices_with(l->first);
#else
    return blyi_positions_plain(l, y, z);
#endif
}

/* The slots whose bit at that position of the line is set, in the lowest bits. The bits above them
 * are undefined. They are read as a word that begins at a byte of the line. Nine slots at position
 * p begin at bit 9 p, which is bit p of the word at byte p, and they end in that word: 55 is the
 * last position. */
static inline uint64_t blyi_position_slots(const uint8_t *line, unsigned position, unsigned slots) {
    if (slots == 9)
        return blyi_word_at(line + position) >> position;
    unsigned bit = position * slots;
    size_t byte = bit / 8;
    byte = byte < 56 ? byte : 56;
    return blyi_word_at(line + byte) >> (bit - 8 * (unsigned)byte);
}

/* The slots that have the bits at all of the key's positions in this line. */
static inline uint64_t blyi_line_slots(const uint8_t *line, uint64_t y, const blyi_line_layout *l) {
    uint64_t where = blyi_position_slots(line, blyi_position_of(l, y, 0), l->slots) &
                     blyi_position_slots(line, blyi_position_of(l, y, 1), l->slots);
    if (l->lanes > 2)
        where &= blyi_position_slots(line, blyi_position_of(l, y, 2), l->slots);
    return where & (((uint64_t)1 << l->slots) - 1);
}

#endif
