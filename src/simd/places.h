/* places.h - which bits of a line a key owns in a window. filters/window/window.c has the idea.
 * Internal.
 *
 * A line of 64 bytes has a number of places, at each of them one bit for every slot: place p of s
 * slots is the bits s*p .. s*p + s - 1. The places are divided into two or three lanes, and a key
 * has one place in each: with y the hash bits that choose, the t-th 16 bits of y from the top,
 * times the places of lane t, without the lowest 16 bits, counted from the lane's first place.
 */
#ifndef BLYI_SIMD_PLACES_H
#define BLYI_SIMD_PLACES_H

#include "../core/bits.h"
#include "../core/bytes.h"

#include <string.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

enum {
    BLYI_MOST_LANES = 3,
    BLYI_SIDES = 4 /* of y: 16 bits each, the lowest first; lane t chooses by side 3 - t */
};

typedef struct blyi_places {
    unsigned slots, lanes;
    unsigned first[BLYI_MOST_LANES], places[BLYI_MOST_LANES]; /* of each lane */
} blyi_places;

/* Eight bytes as a number. Put together one by one, as elsewhere, they would not become one load.
 */
static inline uint64_t blyi_word_at(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return blyi_le64(word);
}

static inline unsigned blyi_place_of(const blyi_places *p, uint64_t y, unsigned lane) {
    unsigned slice = (unsigned)(y >> (48 - 16 * lane)) & 0xffff;
    return p->first[lane] + (slice * p->places[lane] >> 16);
}

/* The place that each side of y chooses; for a side of no lane, 0. With two, y and z, both at once.
 */
static inline void blyi_places_of_one(const blyi_places *p, uint64_t y, uint16_t *out);
static inline void blyi_places_of_two(const blyi_places *p, uint64_t y, uint64_t z, uint16_t *out);

#ifdef __x86_64__
static inline __m128i blyi_two_sides(const unsigned n[BLYI_MOST_LANES]) {
    const short a = (short)n[0], b = (short)n[1], c = (short)n[2];
    return _mm_set_epi16(a, b, c, 0, a, b, c, 0);
}

static inline __m128i blyi_places_by(const blyi_places *p, __m128i sides) {
    __m128i place = _mm_mulhi_epu16(sides, blyi_two_sides(p->places));
    return _mm_add_epi16(place, blyi_two_sides(p->first));
}

static inline void blyi_places_of_one(const blyi_places *p, uint64_t y, uint16_t *out) {
    __m128i place = blyi_places_by(p, _mm_cvtsi64_si128((long long)y));
    _mm_storel_epi64((__m128i *)(void *)out, place);
}

static inline void blyi_places_of_two(const blyi_places *p, uint64_t y, uint64_t z, uint16_t *out) {
    __m128i place = blyi_places_by(p, _mm_set_epi64x((long long)z, (long long)y));
    _mm_storeu_si128((__m128i *)(void *)out, place);
}
#else
static inline void blyi_places_of_one(const blyi_places *p, uint64_t y, uint16_t *out) {
    out[0] = 0;
    for (unsigned lane = 0; lane < BLYI_MOST_LANES; lane++)
        out[BLYI_SIDES - 1 - lane] = (uint16_t)blyi_place_of(p, y, lane);
}

static inline void blyi_places_of_two(const blyi_places *p, uint64_t y, uint64_t z, uint16_t *out) {
    blyi_places_of_one(p, y, out);
    blyi_places_of_one(p, z, out + BLYI_SIDES);
}
#endif

/* The slots that have a bit at that place of a line, in the lowest bits; those above mean nothing.
 * They are looked for in a word that begins at a byte of the line. Nine slots at place p begin at
 * bit 9 p, which is bit p of the word that begins at byte p, and end in it: 55 is the last place.
 */
static inline uint64_t blyi_place_get(const uint8_t *line, unsigned place, unsigned slots) {
    if (slots == 9)
        return blyi_word_at(line + place) >> place;
    unsigned bit = place * slots;
    size_t byte = bit / 8;
    byte = byte < 56 ? byte : 56;
    return blyi_word_at(line + byte) >> (bit - 8 * (unsigned)byte);
}

/* The slots that have the bits at all of the key's places in this line. */
static inline uint64_t blyi_place_all(const uint8_t *line, uint64_t y, const blyi_places *p) {
    uint64_t where = blyi_place_get(line, blyi_place_of(p, y, 0), p->slots) &
                     blyi_place_get(line, blyi_place_of(p, y, 1), p->slots);
    if (p->lanes > 2)
        where &= blyi_place_get(line, blyi_place_of(p, y, 2), p->slots);
    return where & (((uint64_t)1 << p->slots) - 1);
}

#endif
