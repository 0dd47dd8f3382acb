/* The encoding of one block: 320 counts in 512 bits, of which lookups read only the first 320.
 *
 * The base has a bit for every cell: whether its count is more than 0. Layer 1 has a bit for every
 * bit set in the base, in the same order: whether the count is more than 1. Layer 2 has one for
 * every bit set in layer 1, and so on, until a layer has no bit set. The layers lie one after the
 * other, without gaps. So a count of c is a bit of the base and c more bits, c - 1 ones and a zero,
 * one in each of c layers. All layers together have as many bits as the sum of all counts.
 *
 *     cell        0 1 2 3 4 5 6 7
 *     count       0 1 0 3 1 0 0 2
 *     base        0 1 0 1 1 0 0 1
 *     layer 1       0   1 0     1
 *     layer 2           1       0
 *     layer 3           0            together 0101 10 0, seven bits
 *
 * The position of a cell's bit in the next layer is the number of bits set before it in this one.
 * So a cell is followed from layer to layer by ranks. For this, three numbers are needed of each
 * layer: where it begins, how many bits it has, and how many bits of all layers are set before it.
 *
 * To raise a count, the zero with which it ends is set to one, and a zero is inserted into the next
 * layer at its rank. All bits after the inserted zero move up by one. To lower a count, the zero
 * with which it ends is deleted, and the cell's bit in the layer before is cleared.
 */
#include "kinds/multilayer/multilayer_layout.h"

#include <string.h>

/* ---- layers ---------------------------------------------------------------------------------- */

/* The three words of the layers, as numbers and without the highest byte. Three variables stay in
 * registers, where a loop over an array would wait for memory. Masks of these words have the same
 * type. */
typedef struct ml_layers {
    uint64_t a, b, c;
} ml_layers;

/* Mask of the bits before bit `at`, which is below 192. Uses conditional moves, because a branch on
 * the word would often be mispredicted. */
BLYI_ML_INLINE ml_layers ml_layers_before(unsigned at) {
    const uint64_t all = UINT64_MAX, part = ((uint64_t)1 << (at & 63)) - 1;
    ml_layers m = {part, 0, 0};
    m.a = at >= 64 ? all : m.a;
    m.b = at >= 64 ? part : m.b;
    m.b = at >= 128 ? all : m.b;
    m.c = at >= 128 ? part : m.c;
    return m;
}

BLYI_ML_INLINE bool ml_layer_bit(ml_layers l, unsigned at) {
    uint64_t w = at >= 64 ? l.b : l.a;
    w = at >= 128 ? l.c : w;
    return w >> (at & 63) & 1;
}

/* The layers with the bit at `at` flipped. */
BLYI_ML_INLINE ml_layers ml_layers_flip(ml_layers l, unsigned at) {
    uint64_t bit = (uint64_t)1 << (at & 63);
    return (ml_layers){l.a ^ (at < 64 ? bit : 0), l.b ^ (at >= 64 && at < 128 ? bit : 0),
                       l.c ^ (at >= 128 ? bit : 0)};
}

/* The number of bits set in each group of four. */
BLYI_ML_INLINE uint64_t ml_popcount_by_fours(uint64_t x) {
    x -= x >> 1 & 0x5555555555555555U;
    return (x & 0x3333333333333333U) + (x >> 2 & 0x3333333333333333U);
}

/* The number of bits set before bit `at`: the popcounts of three words, whose last steps are done
 * together. */
BLYI_ML_INLINE unsigned ml_layer_rank(ml_layers l, unsigned at) {
    ml_layers m = ml_layers_before(at);
    uint64_t fours = ml_popcount_by_fours(l.a & m.a) + ml_popcount_by_fours(l.b & m.b) +
                     ml_popcount_by_fours(l.c & m.c);
    fours = (fours & 0x0f0f0f0f0f0f0f0fU) + (fours >> 4 & 0x0f0f0f0f0f0f0f0fU);
    return (unsigned)(fours * 0x0101010101010101U >> 56);
}

/* The layers with a zero inserted at `at`. */
BLYI_ML_INLINE ml_layers ml_layers_insert_zero(ml_layers l, unsigned at) {
    ml_layers m = ml_layers_before(at);
    ml_layers stays = {l.a & m.a, l.b & m.b, l.c & m.c};
    ml_layers moves = {l.a ^ stays.a, l.b ^ stays.b, l.c ^ stays.c};
    return (ml_layers){stays.a | moves.a << 1, stays.b | moves.b << 1 | moves.a >> 63,
                       stays.c | moves.c << 1 | moves.b >> 63};
}

/* The layers without the bit at `at`. */
BLYI_ML_INLINE ml_layers ml_layers_delete(ml_layers l, unsigned at) {
    ml_layers m = ml_layers_before(at);
    ml_layers moved = {l.a >> 1 | l.b << 63, l.b >> 1 | l.c << 63, l.c >> 1};
    return (ml_layers){(l.a & m.a) | (moved.a & ~m.a), (l.b & m.b) | (moved.b & ~m.b),
                       (l.c & m.c) | (moved.c & ~m.c)};
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* A block with its layers in registers. `prefixes` has the number of bits of the base that are set
 * before each of its words: five numbers of 12 bits. */
enum { ML_PREFIX_BITS = 12 };
static const uint64_t ml_prefix_ones = UINT64_C(0x001001001001001);

typedef struct ml_block {
    uint64_t *base; /* in the body */
    ml_layers l;
    unsigned used; /* layer bits in use */
    uint64_t prefixes;
    unsigned cells; /* bits of the base that are set */
} ml_block;

BLYI_ML_INLINE ml_block ml_block_open(const uint64_t *block) {
    ml_block b = {.base = (uint64_t *)(uintptr_t)block};
    for (unsigned j = 0; j < BLYI_ML_BASE_WORDS; j++) {
        b.prefixes |= (uint64_t)b.cells << ML_PREFIX_BITS * j;
        b.cells += blyi_popcount64(block[j]);
    }
    uint64_t last = blyi_le64(block[7]);
    b.l = (ml_layers){blyi_le64(block[5]), blyi_le64(block[6]), last & UINT64_MAX >> 8};
    b.used = (unsigned)(last >> 56);
    return b;
}

/* Writes the layers back. The base was changed in place. */
BLYI_ML_INLINE void ml_block_close(const ml_block *b) {
    b->base[5] = blyi_le64(b->l.a);
    b->base[6] = blyi_le64(b->l.b);
    b->base[7] = blyi_le64(b->l.c | (uint64_t)b->used << 56);
}

/* The word of the base that has a cell's bit. */
BLYI_ML_INLINE uint64_t ml_base_word(const ml_block *b, unsigned cell) {
    return blyi_le64(b->base[cell >> 6]);
}

BLYI_ML_INLINE bool ml_base_bit(const ml_block *b, unsigned cell) {
    return ml_base_word(b, cell) >> (cell & 63) & 1;
}

/* The number of bits of the base that are set before a cell. */
BLYI_ML_INLINE unsigned ml_base_rank(const ml_block *b, unsigned cell) {
    uint64_t here = ml_base_word(b, cell) & (((uint64_t)1 << (cell & 63)) - 1);
    return (unsigned)(b->prefixes >> ML_PREFIX_BITS * (cell >> 6) & 0xfff) + blyi_popcount64(here);
}

/* Flips a cell's bit in the base. `set` says whether it becomes 1. */
BLYI_ML_INLINE void ml_base_flip(ml_block *b, unsigned cell, bool set) {
    /* A carry past the fifth number does no harm: it is never read. */
    uint64_t later = ml_prefix_ones << ML_PREFIX_BITS * ((cell >> 6) + 1);
    b->base[cell >> 6] ^= blyi_le64((uint64_t)1 << (cell & 63));
    b->prefixes = set ? b->prefixes + later : b->prefixes - later;
    b->cells = set ? b->cells + 1 : b->cells - 1;
}

/* ---- following a cell through the layers ----------------------------------------------------- */

/* A cell's bit in one of the layers. */
typedef struct ml_position {
    unsigned start, size; /* of the layer */
    unsigned set_before;  /* bits of all layers that are set before its start */
    unsigned at;          /* of the bit */
} ml_position;

BLYI_ML_INLINE ml_position ml_first_layer(const ml_block *b, unsigned cell) {
    return (ml_position){0, b->cells, 0, ml_base_rank(b, cell)};
}

/* The cell's bit in the next layer, provided that its bit in this one is set. In a damaged mapped
 * file the result may be past the last bit. */
BLYI_ML_INLINE ml_position ml_next_layer(const ml_block *b, ml_position p) {
    unsigned end = p.start + p.size < BLYI_ML_LAYER_BITS ? p.start + p.size : BLYI_ML_LAYER_BITS;
    unsigned rank = ml_layer_rank(b->l, p.at) - p.set_before, set = ml_layer_rank(b->l, end);
    return (ml_position){end, set - p.set_before, set, end + rank};
}

BLYI_ML_INLINE void ml_raise_one(ml_block *b, unsigned cell) {
    ml_position p = ml_first_layer(b, cell);
    b->used++;
    if (!ml_base_bit(b, cell)) {
        ml_base_flip(b, cell, true);
        b->l = ml_layers_insert_zero(b->l, p.at);
        return;
    }
    while (ml_layer_bit(b->l, p.at))
        p = ml_next_layer(b, p);
    b->l = ml_layers_insert_zero(ml_layers_flip(b->l, p.at), ml_next_layer(b, p).at);
}

BLYI_ML_INLINE void ml_lower_one(ml_block *b, unsigned cell) {
    ml_position p = ml_first_layer(b, cell);
    b->used--;
    if (!ml_layer_bit(b->l, p.at)) {
        ml_base_flip(b, cell, false);
        b->l = ml_layers_delete(b->l, p.at);
        return;
    }
    unsigned before = p.at; /* the bit in the layer before */
    for (p = ml_next_layer(b, p); ml_layer_bit(b->l, p.at); p = ml_next_layer(b, p))
        before = p.at;
    b->l = ml_layers_delete(ml_layers_flip(b->l, before), p.at);
}

void blyi_ml_raise(uint64_t *block, const uint16_t *cells, unsigned n) {
    ml_block b = ml_block_open(block);
    for (unsigned i = 0; i < n; i++)
        ml_raise_one(&b, cells[i]);
    ml_block_close(&b);
}

void blyi_ml_lower(uint64_t *block, const uint16_t *cells, unsigned n) {
    ml_block b = ml_block_open(block);
    for (unsigned i = 0; i < n; i++)
        ml_lower_one(&b, cells[i]);
    ml_block_close(&b);
}

unsigned blyi_ml_min_count(const uint64_t *block, const uint16_t *cells, unsigned n) {
    const ml_block b = ml_block_open(block);
    unsigned min = BLYI_ML_LAYER_BITS;
    for (unsigned i = 0; i < n; i++) {
        unsigned count = 1;
        ml_position p = ml_first_layer(&b, cells[i]);
        /* Every iteration begins a later layer, so the loop ends for any contents. */
        for (; p.at < BLYI_ML_LAYER_BITS && count < min && ml_layer_bit(b.l, p.at); count++)
            p = ml_next_layer(&b, p);
        min = count < min ? count : min;
    }
    return min;
}

/* ---- all cells ------------------------------------------------------------------------------- */

/* Sets `cells` to the cells whose bits are set in a base. Returns how many there are. */
BLYI_ML_INLINE unsigned ml_set_cells(const uint64_t *base, uint16_t cells[BLYI_ML_CELLS]) {
    unsigned n = 0;
    for (unsigned j = 0; j < BLYI_ML_BASE_WORDS; j++)
        for (uint64_t rest = blyi_le64(base[j]); rest; rest &= rest - 1)
            cells[n++] = (uint16_t)(64 * j + (unsigned)__builtin_ctzll(rest));
    return n;
}

void blyi_ml_decode(const uint64_t *block, uint16_t counts[BLYI_ML_CELLS]) {
    uint16_t cells[BLYI_ML_CELLS];
    unsigned size = ml_set_cells(block, cells), at = 0;
    memset(counts, 0, BLYI_ML_CELLS * sizeof *counts);
    for (unsigned i = 0; i < size; i++)
        counts[cells[i]] = 1;
    while (size > 0 && at < BLYI_ML_LAYER_BITS) {
        unsigned next = 0;
        for (unsigned i = 0; i < size && at < BLYI_ML_LAYER_BITS; i++, at++) {
            unsigned set = blyi_le64(block[BLYI_ML_BASE_WORDS + (at >> 6)]) >> (at & 63) & 1;
            counts[cells[i]] = (uint16_t)(counts[cells[i]] + set);
            cells[next] = cells[i];
            next += set;
        }
        size = next;
    }
}

void blyi_ml_encode_base(const uint16_t counts[BLYI_ML_CELLS], uint64_t *base) {
    for (unsigned j = 0; j < BLYI_ML_BASE_WORDS; j++) {
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
    unsigned size = ml_set_cells(w, cells), used = 0;
    for (unsigned layer = 1; size > 0; layer++) {
        unsigned next = 0;
        for (unsigned i = 0; i < size; i++, used++) {
            bool set = counts[cells[i]] > layer;
            w[BLYI_ML_BASE_WORDS + (used >> 6)] |= (uint64_t)set << (used & 63);
            cells[next] = cells[i];
            next += set;
        }
        size = next;
    }
    w[BLYI_ML_USED_WORD] |= (uint64_t)used << 56;
    memcpy(block, w, BLYI_ML_BASE_WORDS * sizeof *w);
    for (unsigned j = BLYI_ML_BASE_WORDS; j < BLYI_ML_BLOCK_WORDS; j++)
        block[j] = blyi_le64(w[j]);
}

bool blyi_ml_block_is_valid(const uint64_t *block) {
    const ml_block b = ml_block_open(block);
    unsigned size = b.cells, end = 0, set = 0;
    if (b.used > BLYI_ML_LAYER_BITS)
        return false;
    while (size > 0) {
        if (size > b.used - end)
            return false;
        end += size;
        size = ml_layer_rank(b.l, end) - set;
        set += size;
    }
    return end == b.used && ml_layer_rank(b.l, BLYI_ML_LAYER_BITS) == set;
}
