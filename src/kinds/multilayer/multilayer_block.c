/* The arithmetic of a block: 320 counts in 512 bits, of which queries read the first 320 alone.
 *
 * The base has a bit for every cell: whether its count is more than 0. Layer 1 has a bit for every
 * bit set in the base, in the same order: whether the count is more than 1. Layer 2 has one for
 * every bit set in layer 1, and so on, until a layer has no bit set; the layers lie one after the
 * other, without gaps. A count of c is so written as a bit of the base and c bits, c - 1 ones and a
 * zero, one in each of c layers. All layers together have as many bits as all counts have sum.
 *
 *     cell        0 1 2 3 4 5 6 7
 *     count       0 1 0 3 1 0 0 2
 *     base        0 1 0 1 1 0 0 1
 *     layer 1       0   1 0     1
 *     layer 2           1       0
 *     layer 3           0            together 0101 10 0, seven bits
 *
 * Where a cell's bit is in the next layer follows from its place in this one: as many bits as are
 * set before it. So a cell is followed down by ranks, and three numbers suffice: where a layer
 * begins, how many bits it has, and how many bits of all layers are set before it.
 *
 * One copy more sets the zero in which a cell ends, and inserts a zero into the layer below, at its
 * rank; all bits behind it move up by one. One copy less takes the zero out, and clears the one
 * above.
 */
#include "kinds/multilayer/multilayer.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* ---- layers ---------------------------------------------------------------------------------- */

/* The three words of the layers, as numbers and without the highest byte: in registers, where a
 * loop over an array would wait for memory. Masks of them have the same shape. */
typedef struct layers {
    uint64_t a, b, c;
} layers;

/* The bits before bit `at`, which is below 192. Not a branch, but conditional moves: which word it
 * is would be anyone's guess. */
INLINE layers before(unsigned at) {
    const uint64_t all = UINT64_MAX, part = ((uint64_t)1 << (at & 63)) - 1;
    layers m = {part, 0, 0};
    m.a = at >= 64 ? all : m.a;
    m.b = at >= 64 ? part : m.b;
    m.b = at >= 128 ? all : m.b;
    m.c = at >= 128 ? part : m.c;
    return m;
}

INLINE bool layer_bit(layers l, unsigned at) {
    uint64_t w = at >= 64 ? l.b : l.a;
    w = at >= 128 ? l.c : w;
    return w >> (at & 63) & 1;
}

INLINE layers turned(layers l, unsigned at) {
    uint64_t bit = (uint64_t)1 << (at & 63);
    return (layers){l.a ^ (at < 64 ? bit : 0), l.b ^ (at >= 64 && at < 128 ? bit : 0),
                    l.c ^ (at >= 128 ? bit : 0)};
}

/* Bits of each four. */
INLINE uint64_t by_fours(uint64_t x) {
    x -= x >> 1 & 0x5555555555555555U;
    return (x & 0x3333333333333333U) + (x >> 2 & 0x3333333333333333U);
}

/* Bits that are set before bit `at`: three popcounts that share their last steps. */
INLINE unsigned layer_rank(layers l, unsigned at) {
    layers m = before(at);
    uint64_t fours = by_fours(l.a & m.a) + by_fours(l.b & m.b) + by_fours(l.c & m.c);
    fours = (fours & 0x0f0f0f0f0f0f0f0fU) + (fours >> 4 & 0x0f0f0f0f0f0f0f0fU);
    return (unsigned)(fours * 0x0101010101010101U >> 56);
}

/* With a zero put in at `at`. */
INLINE layers widened(layers l, unsigned at) {
    layers m = before(at);
    layers stays = {l.a & m.a, l.b & m.b, l.c & m.c};
    layers moves = {l.a ^ stays.a, l.b ^ stays.b, l.c ^ stays.c};
    return (layers){stays.a | moves.a << 1, stays.b | moves.b << 1 | moves.a >> 63,
                    stays.c | moves.c << 1 | moves.b >> 63};
}

/* With the bit at `at` taken out. */
INLINE layers narrowed(layers l, unsigned at) {
    layers m = before(at);
    layers moved = {l.a >> 1 | l.b << 63, l.b >> 1 | l.c << 63, l.c >> 1};
    return (layers){(l.a & m.a) | (moved.a & ~m.a), (l.b & m.b) | (moved.b & ~m.b),
                    (l.c & m.c) | (moved.c & ~m.c)};
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* For the base, how many bits are set before each of its words: five numbers of 12 bits. */
enum { FIELD = 12 };
static const uint64_t ones = UINT64_C(0x001001001001001);

typedef struct open_block {
    uint64_t *base; /* in the body */
    layers l;
    unsigned used;     /* of their bits */
    uint64_t prefixes; /* see above */
    unsigned cells;    /* bits of the base that are set */
} open_block;

INLINE open_block open_up(const uint64_t *block) {
    open_block b = {.base = (uint64_t *)(uintptr_t)block};
    for (unsigned j = 0; j < BLYI_ML_BASE; j++) {
        b.prefixes |= (uint64_t)b.cells << FIELD * j;
        b.cells += blyi_popcount64(block[j]);
    }
    uint64_t last = blyi_le64(block[7]);
    b.l = (layers){blyi_le64(block[5]), blyi_le64(block[6]), last & UINT64_MAX >> 8};
    b.used = (unsigned)(last >> 56);
    return b;
}

/* Writes the layers back; the base has been changed where it is. */
INLINE void close_up(const open_block *b) {
    b->base[5] = blyi_le64(b->l.a);
    b->base[6] = blyi_le64(b->l.b);
    b->base[7] = blyi_le64(b->l.c | (uint64_t)b->used << 56);
}

/* A cell's word of the base. */
INLINE uint64_t base_word(const open_block *b, unsigned cell) {
    return blyi_le64(b->base[cell >> 6]);
}

INLINE bool base_bit(const open_block *b, unsigned cell) {
    return base_word(b, cell) >> (cell & 63) & 1;
}

/* Bits of the base that are set before a cell. */
INLINE unsigned base_rank(const open_block *b, unsigned cell) {
    uint64_t here = base_word(b, cell) & (((uint64_t)1 << (cell & 63)) - 1);
    return (unsigned)(b->prefixes >> FIELD * (cell >> 6) & 0xfff) + blyi_popcount64(here);
}

/* Sets a cell's bit, or clears it. */
INLINE void base_turn(open_block *b, unsigned cell, bool set) {
    uint64_t later = ones << FIELD * ((cell >> 6) + 1); /* past the fifth it does not matter */
    b->base[cell >> 6] ^= blyi_le64((uint64_t)1 << (cell & 63));
    b->prefixes = set ? b->prefixes + later : b->prefixes - later;
    b->cells = set ? b->cells + 1 : b->cells - 1;
}

/* ---- following a cell down ------------------------------------------------------------------- */

/* A cell's bit in one of the layers. */
typedef struct place {
    unsigned start, size; /* of the layer */
    unsigned set_before;  /* bits of all layers that are set before its start */
    unsigned at;          /* of the bit */
} place;

INLINE place first_layer(const open_block *b, unsigned cell) {
    return (place){0, b->cells, 0, base_rank(b, cell)};
}

/* Of a bit that is set. In a damaged map the next place may be past the last bit. */
INLINE place next_layer(const open_block *b, place p) {
    unsigned end = p.start + p.size < BLYI_ML_LAYERS ? p.start + p.size : BLYI_ML_LAYERS;
    unsigned rank = layer_rank(b->l, p.at) - p.set_before, set = layer_rank(b->l, end);
    return (place){end, set - p.set_before, set, end + rank};
}

INLINE void raise_one(open_block *b, unsigned cell) {
    place p = first_layer(b, cell);
    b->used++;
    if (!base_bit(b, cell)) {
        base_turn(b, cell, true);
        b->l = widened(b->l, p.at);
        return;
    }
    while (layer_bit(b->l, p.at))
        p = next_layer(b, p);
    b->l = widened(turned(b->l, p.at), next_layer(b, p).at);
}

INLINE void lower_one(open_block *b, unsigned cell) {
    place p = first_layer(b, cell);
    b->used--;
    if (!layer_bit(b->l, p.at)) {
        base_turn(b, cell, false);
        b->l = narrowed(b->l, p.at);
        return;
    }
    unsigned above = p.at;
    for (p = next_layer(b, p); layer_bit(b->l, p.at); p = next_layer(b, p))
        above = p.at;
    b->l = narrowed(turned(b->l, above), p.at);
}

void blyi_ml_raise(uint64_t *block, const uint16_t *cells, unsigned n) {
    open_block b = open_up(block);
    for (unsigned i = 0; i < n; i++)
        raise_one(&b, cells[i]);
    close_up(&b);
}

void blyi_ml_lower(uint64_t *block, const uint16_t *cells, unsigned n) {
    open_block b = open_up(block);
    for (unsigned i = 0; i < n; i++)
        lower_one(&b, cells[i]);
    close_up(&b);
}

unsigned blyi_ml_least(const uint64_t *block, const uint16_t *cells, unsigned n) {
    const open_block b = open_up(block);
    unsigned least = BLYI_ML_LAYERS;
    for (unsigned i = 0; i < n; i++) {
        unsigned count = 1;
        place p = first_layer(&b, cells[i]);
        /* Every turn begins a layer further on, so that there is an end to it in any block. */
        for (; p.at < BLYI_ML_LAYERS && count < least && layer_bit(b.l, p.at); count++)
            p = next_layer(&b, p);
        least = count < least ? count : least;
    }
    return least;
}

/* ---- all cells ------------------------------------------------------------------------------- */

/* The cells whose bits are set in a base; returns how many. */
INLINE unsigned set_cells(const uint64_t *base, uint16_t cells[BLYI_ML_CELLS]) {
    unsigned n = 0;
    for (unsigned j = 0; j < BLYI_ML_BASE; j++)
        for (uint64_t rest = blyi_le64(base[j]); rest; rest &= rest - 1)
            cells[n++] = (uint16_t)(64 * j + (unsigned)__builtin_ctzll(rest));
    return n;
}

void blyi_ml_decode(const uint64_t *block, uint16_t counts[BLYI_ML_CELLS]) {
    uint16_t cells[BLYI_ML_CELLS];
    unsigned size = set_cells(block, cells), at = 0;
    memset(counts, 0, BLYI_ML_CELLS * sizeof *counts);
    for (unsigned i = 0; i < size; i++)
        counts[cells[i]] = 1;
    while (size > 0 && at < BLYI_ML_LAYERS) {
        unsigned next = 0;
        for (unsigned i = 0; i < size && at < BLYI_ML_LAYERS; i++, at++) {
            unsigned set = blyi_le64(block[BLYI_ML_BASE + (at >> 6)]) >> (at & 63) & 1;
            counts[cells[i]] = (uint16_t)(counts[cells[i]] + set);
            cells[next] = cells[i];
            next += set;
        }
        size = next;
    }
}

void blyi_ml_encode_base(const uint16_t counts[BLYI_ML_CELLS], uint64_t *base) {
    for (unsigned j = 0; j < BLYI_ML_BASE; j++) {
        uint64_t word = 0;
        for (unsigned i = 0; i < 64; i++)
            word |= (uint64_t)(counts[64 * j + i] > 0) << i;
        base[j] = blyi_le64(word);
    }
}

void blyi_ml_encode(const uint16_t counts[BLYI_ML_CELLS], uint64_t *block) {
    uint64_t w[BLYI_ML_BLOCK_WORDS] = {0};
    uint16_t cells[BLYI_ML_CELLS];
    blyi_ml_encode_base(counts, w);
    unsigned size = set_cells(w, cells), used = 0;
    for (unsigned layer = 1; size > 0; layer++) {
        unsigned next = 0;
        for (unsigned i = 0; i < size; i++, used++) {
            bool set = counts[cells[i]] > layer;
            w[BLYI_ML_BASE + (used >> 6)] |= (uint64_t)set << (used & 63);
            cells[next] = cells[i];
            next += set;
        }
        size = next;
    }
    w[BLYI_ML_AT_USED] |= (uint64_t)used << 56;
    memcpy(block, w, BLYI_ML_BASE * sizeof *w);
    for (unsigned j = BLYI_ML_BASE; j < BLYI_ML_BLOCK_WORDS; j++)
        block[j] = blyi_le64(w[j]);
}

bool blyi_ml_block_sound(const uint64_t *block) {
    const open_block b = open_up(block);
    unsigned size = b.cells, end = 0, set = 0;
    if (b.used > BLYI_ML_LAYERS)
        return false;
    while (size > 0) {
        if (size > b.used - end)
            return false;
        end += size;
        size = layer_rank(b.l, end) - set;
        set += size;
    }
    return end == b.used && layer_rank(b.l, BLYI_ML_LAYERS) == set;
}
