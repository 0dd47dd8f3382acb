/* multilayer_layout.h - the layout of a multilayer filter, and what its files share. Internal. In
 * names `ml` stands for multilayer. multilayer.c explains the kind, multilayer_plan.c the numbers.
 *
 * Body: `size` blocks of 64 bytes. Then, if there are any records, the list: a word with the number
 * of records in use, and a word for each record with the number of its block; then zeros up to a
 * multiple of 64 bytes. Then the records, 640 bytes each.
 *
 * Block: eight little-endian words. Words 0 to 4 are its base, one bit for each of 320 cells. The
 * other three have 184 bits for layers, and in the highest byte the number of those in use, which
 * is the sum of all counts. A spilled block has 255 in that byte, the number of its record in word
 * 5, the sum of its counts in word 6, and zeros in the rest of word 7. Its base stays valid.
 *
 * Functions require a valid body (blyi_ml_body_is_valid), which every filter that can be changed
 * has. Those that also accept a damaged mapped file say so.
 */
#ifndef BLYI_KINDS_MULTILAYER_LAYOUT_H
#define BLYI_KINDS_MULTILAYER_LAYOUT_H

#include "base/bits.h"
#include "base/little_endian.h"
#include "base/size_class.h"
#include "filter/filter.h"
#include "filter/kind.h"
#include "hash/mix.h"

#include <bloomery/plan.h>

#define BLYI_ML_INLINE static inline __attribute__((always_inline))

enum {
    BLYI_ML_CELLS = 320, /* in a block */
    BLYI_ML_BLOCK_WORDS = 8,
    BLYI_ML_BASE_WORDS = 5,
    BLYI_ML_LAYER_BITS = 184,
    BLYI_ML_MAX_HASHES = 32,    /* the most cells of a key */
    BLYI_ML_RECORD_BYTES = 640, /* a count of two bytes for every cell */
    BLYI_ML_RECORD_WORD = 5,    /* of a spilled block: the number of its record */
    BLYI_ML_SUM_WORD = 6,
    BLYI_ML_USED_WORD = 7,        /* its highest byte: layer bits in use */
    BLYI_ML_SPILLED = 255,        /* the value of that byte in a spilled block */
    BLYI_ML_MAX_RETURN_SUM = 120, /* a block whose sum falls to this leaves its record */
    BLYI_ML_STUCK = 65535, /* a count that has reached its limit, and does not change again */
};

/* The number of records of a geometry. */
static inline uint64_t blyi_ml_max_records(const bly_geometry *g) {
    return blyi_size_of_class(g->detail);
}

/* The size of the list in bytes. */
static inline uint64_t blyi_ml_list_bytes(uint64_t max_records) {
    return max_records ? 64 * ((max_records + 8) / 8) : 0;
}

/* ---- the cells of a key ---------------------------------------------------------------------- */

/* The word from which the next four probes are taken, computed from the word of the last four. The
 * first word is the hash's `hi`. */
static inline uint64_t blyi_ml_next_word(uint64_t w) {
    w *= BLYI_GOLD;
    return w ^ w >> 29;
}

/* Probe j < 4 of a word: its 16-bit piece x, times 5. The cell is floor(x * 320 / 2^16). As 320 is
 * 5 * 64, the cell is in word 5 x >> 16 of the base, and its bit in that word is 5 x >> 10 mod
 * 64. */
static inline unsigned blyi_ml_probe(uint64_t w, unsigned j) {
    return (unsigned)(w >> 16 * j & 0xffff) * BLYI_ML_BASE_WORDS;
}

/* Sets `cells` to the distinct cells of a key. Returns how many there are. */
static inline unsigned blyi_ml_cells(uint64_t bits, unsigned k, uint16_t cells[]) {
    uint64_t seen[BLYI_ML_BASE_WORDS] = {0}, w = bits;
    unsigned n = 0;
    for (unsigned j = 0; j < k; j++) {
        if (j > 0 && j % 4 == 0)
            w = blyi_ml_next_word(w);
        unsigned x = blyi_ml_probe(w, j % 4), cell = x >> 10;
        uint64_t bit = (uint64_t)1 << (cell & 63);
        cells[n] = (uint16_t)cell;
        n += (seen[cell >> 6] & bit) == 0;
        seen[cell >> 6] |= bit;
    }
    return n;
}

/* ---- blocks (multilayer_block.c) ------------------------------------------------------------- */

static inline uint64_t *blyi_ml_block(const bly_filter *f, uint64_t number) {
    return blyi_words(f) + number * BLYI_ML_BLOCK_WORDS;
}

/* The number of layer bits in use, or BLYI_ML_SPILLED. */
static inline unsigned blyi_ml_used(const uint64_t *block) {
    return (unsigned)(blyi_le64(block[BLYI_ML_USED_WORD]) >> 56);
}

/* Raises the counts of n distinct cells by one, in a block that is not spilled. At least n layer
 * bits must be free. */
void blyi_ml_raise(uint64_t *block, const uint16_t *cells, unsigned n);

/* Lowers the counts of n distinct cells by one, in a block that is not spilled. None may be 0. */
void blyi_ml_lower(uint64_t *block, const uint16_t *cells, unsigned n);

/* The smallest count of n distinct cells, whose bits in the base must be set. The block must not be
 * spilled. In a damaged mapped file the result may be any number from 1 to 184. */
unsigned blyi_ml_min_count(const uint64_t *block, const uint16_t *cells, unsigned n);

/* Gets all counts of a block that is not spilled. In a damaged mapped file they may be any numbers
 * up to 185, but are 0 exactly where the base is 0. */
void blyi_ml_decode(const uint64_t *block, uint16_t counts[BLYI_ML_CELLS]);

/* Writes the base for these counts: five words. */
void blyi_ml_encode_base(const uint16_t counts[BLYI_ML_CELLS], uint64_t *base);

/* Writes the whole block for these counts, whose sum must be at most BLYI_ML_LAYER_BITS. */
void blyi_ml_encode(const uint16_t counts[BLYI_ML_CELLS], uint64_t *block);

/* Whether blyi_ml_encode could have written this block. Safe for any contents. */
bool blyi_ml_block_is_valid(const uint64_t *block);

/* ---- records of spilled blocks (multilayer_spilled.c) ---------------------------------------- */

typedef struct blyi_ml_table {
    uint64_t max_records;
    uint8_t *list;    /* the number in use, then the block of each, as 64-bit numbers */
    uint8_t *records; /* of BLYI_ML_RECORD_BYTES bytes */
} blyi_ml_table;

/* The table of a body. The body need not be aligned, because it is not while a file is being
 * loaded. */
blyi_ml_table blyi_ml_table_over(const bly_geometry *g, const uint8_t *body);

static inline uint64_t blyi_ml_records_used(const blyi_ml_table *t) {
    return t->max_records ? blyi_load64le(t->list) : 0;
}

/* The number of the block that a record belongs to. */
static inline uint64_t blyi_ml_owner(const blyi_ml_table *t, uint64_t record) {
    return blyi_load64le(t->list + 8 * (1 + record));
}

static inline uint8_t *blyi_ml_record(const blyi_ml_table *t, uint64_t record) {
    return t->records + record * BLYI_ML_RECORD_BYTES;
}

static inline unsigned blyi_ml_count_at(const uint8_t *record, unsigned cell) {
    return record[2 * cell] | (unsigned)record[2 * cell + 1] << 8;
}

/* The record of a spilled block; NULL if it has none, which happens only in a damaged mapped
 * file. */
const uint8_t *blyi_ml_record_of(const blyi_ml_table *t, const uint64_t *block, uint64_t number);

/* Gets all counts of a block, spilled or not. Even in a damaged mapped file they are 0 exactly
 * where the base is 0. */
void blyi_ml_counts(const bly_filter *f, uint64_t number, uint16_t counts[BLYI_ML_CELLS]);

/* Writes these counts, whose sum is `sum`, into a body of geometry g whose block is zeros: into the
 * block itself if they fit, else into the next free record. There must be one. */
void blyi_ml_write_block(const bly_geometry *g, uint8_t *body, uint64_t number,
                         const uint16_t counts[BLYI_ML_CELLS], uint32_t sum);

/* Moves a block's counts into a record. Returns BLY_OK, or BLY_ENOMEM, BLY_ETOOBIG or BLY_EGROWTH,
 * and then changes nothing. */
bly_status blyi_ml_spill_block(bly_filter *f, uint64_t number);

/* As blyi_ml_raise, for a spilled block. */
void blyi_ml_raise_spilled(bly_filter *f, uint64_t number, const uint16_t *cells, unsigned n);

/* As blyi_ml_lower, for a spilled block. If the sum of its counts falls to BLYI_ML_MAX_RETURN_SUM,
 * the counts are moved back from the record into the block. */
void blyi_ml_lower_spilled(bly_filter *f, uint64_t number, const uint16_t *cells, unsigned n);

/* blyi_ops.body_is_valid. */
bool blyi_ml_body_is_valid(const blyi_shape *shape, const uint8_t *body);

/* ---- planning (multilayer_plan.c) ------------------------------------------------------------ */

extern const blyi_planner blyi_multilayer_planner;

/* The probability that a key sets a given one of the bits of all bases. */
double blyi_ml_bit_probability(const bly_geometry *g);

/* The most likely number of distinct keys if a share `fill` of the bits of all bases is set;
 * INFINITY if all are. */
double blyi_ml_keys(const bly_geometry *g, double fill);

/* The expected share of blocks that spill after n distinct keys. */
double blyi_ml_spilled_share(const bly_geometry *g, double n);

/* The FPR of a block of B cells with i keys, where i may be a mean number. Each key has k cells, at
 * most BLYI_ML_MAX_HASHES, drawn independently. `block` is blyi_ml_block_type(B, k). */
double blyi_ml_block_rate(unsigned block, double i);

static inline unsigned blyi_ml_block_type(unsigned B, unsigned k) {
    return B << 8 | k;
}

/* ---- functions of blyi_ops (multilayer_set_operations.c) ------------------------------------- */

bly_status blyi_ml_union(bly_filter *dst, const bly_filter *src);
bly_status blyi_ml_intersect(bly_filter *dst, const bly_filter *src);
bly_status blyi_ml_subtract(bly_filter *dst, const bly_filter *src);
bly_status blyi_ml_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out);
bool blyi_ml_equal(const bly_filter *a, const bly_filter *b);

#endif
