/* places.h - which bits of a line a key owns in a window. filters/window/window.c has the idea.
 * Internal.
 *
 * A line of 64 bytes has a number of places, at each of them one bit for every slot: place p of s
 * slots is the bits s*p .. s*p + s - 1. The places are divided into two or three lanes, and a key
 * has one place in each: with y the hash bits that choose, the t-th 16 bits of y from the top,
 * times the places of lane t, without the lowest 16 bits, counted from the lane's first place.
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
    BLYI_SLICES = 4 /* of y: 16 bits each, as they lie in memory */
};

typedef struct blyi_line_layout {
    unsigned slots, lanes;
    unsigned first[BLYI_MAX_LANES], places[BLYI_MAX_LANES]; /* of each lane */
} blyi_line_layout;

/* Eight bytes as a number. Put together one by one, as elsewhere, they would not become one load.
 */
static inline uint64_t blyi_word_at(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return blyi_le64(word);
}

static inline unsigned blyi_position_of(const blyi_line_layout *p, uint64_t y, unsigned lane) {
    unsigned slice = (unsigned)(y >> (48 - 16 * lane)) & 0xffff;
    return p->first[lane] + (slice * p->places[lane] >> 16);
}

/* Which side of y a lane chooses by: the t-th from the top. */
static inline unsigned blyi_slice_of_lane(unsigned lane) {
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? BLYI_SLICES - 1 - lane : lane;
}

typedef uint16_t blyi_slices_of_two __attribute__((vector_size(4 * BLYI_SLICES)));
typedef uint64_t blyi_two_words __attribute__((vector_size(4 * BLYI_SLICES)));

/* A number of each lane, as the sides of two lines that it applies to; 0 for a side of no lane. */
static inline blyi_slices_of_two blyi_sides_with(const unsigned n[BLYI_MAX_LANES]) {
    const uint64_t a = n[0], b = n[1], c = n[2];
    const uint64_t line = a << 48 | b << 32 | c << 16;
    return (blyi_slices_of_two)(blyi_two_words){line, line};
}

/* For y and z, which choose in two lines: the place that each side chooses. */
static inline blyi_slices_of_two blyi_positions_plain(const blyi_line_layout *p, uint64_t y,
                                                      uint64_t z) {
#ifdef __ARM_NEON
    blyi_slices_of_two s = (blyi_slices_of_two)(blyi_two_words){y, z},
                       many = blyi_sides_with(p->places);
    for (unsigned i = 0; i < 2 * BLYI_SLICES; i++)
        s[i] = (uint16_t)((uint32_t)s[i] * many[i] >> 16);
    return s + blyi_sides_with(p->first);
#else
    /* One by one: where there are no vector registers, GCC 12 makes wrong code of the above. */
    uint16_t places[2 * BLYI_SLICES] = {0};
    blyi_slices_of_two s;
    for (unsigned lane = 0; lane < BLYI_MAX_LANES; lane++) {
        places[blyi_slice_of_lane(lane)] = (uint16_t)blyi_position_of(p, y, lane);
        places[BLYI_SLICES + blyi_slice_of_lane(lane)] = (uint16_t)blyi_position_of(p, z, lane);
    }
    memcpy(&s, places, sizeof s);
    return s;
#endif
}

/* The same at once: SSE2 has an instruction for it, which compilers do not always find. */
static inline blyi_slices_of_two blyi_positions_of(const blyi_line_layout *p, uint64_t y,
                                                   uint64_t z) {
#ifdef __SSE2__
    const __m128i many = (__m128i)blyi_sides_with(p->places);
    __m128i s = _mm_mulhi_epu16((__m128i)(blyi_two_words){y, z}, many);
    return (blyi_slices_of_two)s + blyi_sides_with(p->first);
#else
    return blyi_positions_plain(p, y, z);
#endif
}

/* The slots that have a bit at that place of a line, in the lowest bits; those above mean nothing.
 * They are looked for in a word that begins at a byte of the line. Nine slots at place p begin at
 * bit 9 p, which is bit p of the word that begins at byte p, and end in it: 55 is the last place.
 */
static inline uint64_t blyi_position_slots(const uint8_t *line, unsigned place, unsigned slots) {
    if (slots == 9)
        return blyi_word_at(line + place) >> place;
    unsigned bit = place * slots;
    size_t byte = bit / 8;
    byte = byte < 56 ? byte : 56;
    return blyi_word_at(line + byte) >> (bit - 8 * (unsigned)byte);
}

/* The slots that have the bits at all of the key's places in this line. */
static inline uint64_t blyi_line_slots(const uint8_t *line, uint64_t y, const blyi_line_layout *p) {
    uint64_t where = blyi_position_slots(line, blyi_position_of(p, y, 0), p->slots) &
                     blyi_position_slots(line, blyi_position_of(p, y, 1), p->slots);
    if (p->lanes > 2)
        where &= blyi_position_slots(line, blyi_position_of(p, y, 2), p->slots);
    return where & (((uint64_t)1 << p->slots) - 1);
}

#endif
