/* multilayer.h - the parts of a multilayer filter. Internal. multilayer.c explains the idea.
 *
 * A block is eight little-endian words in the body: words 0 to 4 are its base, one bit for each of
 * 320 cells; the rest is 184 bits for layers, and in the highest byte the number of those in use,
 * which is the sum of all counts. A spilled block has 255 there, the number of its record in word
 * 5, the sum of its counts in word 6, and zeros in the rest of word 7. Its base stays what it is.
 *
 * A filter that can be changed is sound, as the `sound` hook has it. What may meet a damaged map
 * says so.
 */
#ifndef BLYI_KINDS_MULTILAYER_MULTILAYER_H
#define BLYI_KINDS_MULTILAYER_MULTILAYER_H

#include "base/bits.h"
#include "base/bytes.h"
#include "filter/filter.h"
#include "hash/mix.h"
#include "kinds/multilayer/multilayer_plan.h"

enum {
    BLYI_ML_BASE = 5,      /* words of a base */
    BLYI_ML_SPILLED = 255, /* in the highest byte */
    BLYI_ML_RETURN = 120,  /* the largest sum with which a block comes back from its record */
    BLYI_ML_STUCK = 65535, /* a count that has reached its limit, and stays */
    BLYI_ML_AT_RECORD = 5, /* words of a spilled block */
    BLYI_ML_AT_SUM = 6,
    BLYI_ML_AT_USED = 7, /* the word with the highest byte */
};

/* ---- cells ----------------------------------------------------------------------------------- */

/* Where a key's probes begin, and what the next four are taken from when these are used up. */
static inline uint64_t blyi_ml_next(uint64_t w) {
    w *= BLYI_GOLD;
    return w ^ w >> 29;
}

/* Probe j of those in a word, j < 4: 16 bits x of it, scaled to floor(x * 320 / 2^16). As 320 is
 * 5 * 64, 5 x shows the word of the base above bit 16, and the bit in it from bit 10 on. */
static inline unsigned blyi_ml_probe(uint64_t w, unsigned j) {
    return (unsigned)(w >> 16 * j & 0xffff) * BLYI_ML_BASE;
}

/* The cells of a key, each once. Returns how many. */
static inline unsigned blyi_ml_cells(uint64_t bits, unsigned k, uint16_t cells[]) {
    uint64_t seen[BLYI_ML_BASE] = {0}, w = bits;
    unsigned n = 0;
    for (unsigned j = 0; j < k; j++) {
        if (j > 0 && j % 4 == 0)
            w = blyi_ml_next(w);
        unsigned x = blyi_ml_probe(w, j % 4), cell = x >> 10;
        uint64_t bit = (uint64_t)1 << (cell & 63);
        cells[n] = (uint16_t)cell;
        n += (seen[cell >> 6] & bit) == 0;
        seen[cell >> 6] |= bit;
    }
    return n;
}

/* ---- blocks (multilayer_block.c) ------------------------------------------------------------- */

static inline uint64_t *blyi_ml_block(const bly_filter *f, uint64_t block) {
    return blyi_words(f) + block * BLYI_ML_BLOCK_WORDS;
}

/* The number of layer bits in use, or BLYI_ML_SPILLED. */
static inline unsigned blyi_ml_used(const uint64_t *block) {
    return (unsigned)(blyi_le64(block[BLYI_ML_AT_USED]) >> 56);
}

/* One copy more, or less, in each of n distinct cells of a block that is not spilled. There must be
 * room for n bits more, or no count 0. */
void blyi_ml_raise(uint64_t *block, const uint16_t *cells, unsigned n);
void blyi_ml_lower(uint64_t *block, const uint16_t *cells, unsigned n);

/* The smallest of the counts of n distinct cells, none of which is 0 in the base; and all counts.
 * Of a block that is not spilled, or of one in a damaged map: the answers are then any numbers up
 * to 184, but 0 where the base is, and not 0 elsewhere. */
unsigned blyi_ml_least(const uint64_t *block, const uint16_t *cells, unsigned n);
void blyi_ml_decode(const uint64_t *block, uint16_t counts[BLYI_ML_CELLS]);

/* The base of these counts; and the whole block, if their sum is at most BLYI_ML_LAYERS. */
void blyi_ml_encode_base(const uint16_t counts[BLYI_ML_CELLS], uint64_t *base);
void blyi_ml_encode(const uint16_t counts[BLYI_ML_CELLS], uint64_t *block);

/* Whether that is what blyi_ml_encode could have written. Any contents. */
bool blyi_ml_block_sound(const uint64_t *block);

/* ---- records (multilayer_spill.c) ------------------------------------------------------------ */

/* The table of spilled blocks. */
typedef struct blyi_ml_table {
    uint64_t room;
    uint8_t *list;    /* the number in use, then the block of each, as 64-bit numbers */
    uint8_t *records; /* of BLYI_ML_RECORD bytes */
} blyi_ml_table;

/* The body may lie at any address, as one does that is being loaded. */
blyi_ml_table blyi_ml_table_over(const bly_geometry *g, const uint8_t *body);

static inline uint64_t blyi_ml_records_used(const blyi_ml_table *t) {
    return t->room ? blyi_load64le(t->list) : 0;
}

static inline uint64_t blyi_ml_owner(const blyi_ml_table *t, uint64_t record) {
    return blyi_load64le(t->list + 8 * (1 + record));
}

static inline uint8_t *blyi_ml_record(const blyi_ml_table *t, uint64_t record) {
    return t->records + record * BLYI_ML_RECORD;
}

static inline unsigned blyi_ml_count_at(const uint8_t *record, unsigned cell) {
    return record[2 * cell] | (unsigned)record[2 * cell + 1] << 8;
}

/* The record of a spilled block; NULL when it has none, in a damaged map. */
const uint8_t *blyi_ml_record_of(const blyi_ml_table *t, const uint64_t *block, uint64_t number);

/* All counts of a block, spilled or not, in any map: 0 where the base is, and not 0 elsewhere. */
void blyi_ml_counts(const bly_filter *f, uint64_t number, uint16_t counts[BLYI_ML_CELLS]);

/* Writes a block with these counts, of that sum, into a body of geometry g whose block is zeros:
 * into the block itself if they fit, else into the next free record, of which there must be one. */
void blyi_ml_store(const bly_geometry *g, uint8_t *body, uint64_t number,
                   const uint16_t counts[BLYI_ML_CELLS], uint32_t sum);

/* Moves a block into a record. BLY_ENOMEM, BLY_ETOOBIG: nothing has changed. */
bly_status blyi_ml_spill_block(bly_filter *f, uint64_t number);

/* As blyi_ml_raise and _lower, for a spilled block. One that is lowered to BLYI_ML_RETURN comes
 * back from its record. */
void blyi_ml_raise_record(bly_filter *f, uint64_t number, const uint16_t *cells, unsigned n);
void blyi_ml_lower_record(bly_filter *f, uint64_t number, const uint16_t *cells, unsigned n);

/* ---- hooks of blyi_ops by these names -------------------------------------------------------- */

void blyi_ml_choose(bly_filter *f); /* multilayer_ask.c */
void blyi_ml_prefetch(const bly_filter *f, const bly_hash *h, size_t n);
bool blyi_ml_sound(const blyi_shape *shape, const uint8_t *body); /* multilayer_look.c */
void blyi_ml_stats(const bly_filter *f, bly_stats *out);
bly_status blyi_ml_unite(bly_filter *dst, const bly_filter *src); /* multilayer_algebra.c */
bly_status blyi_ml_intersect(bly_filter *dst, const bly_filter *src);
bly_status blyi_ml_subtract(bly_filter *dst, const bly_filter *src);
bly_status blyi_ml_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out);
bool blyi_ml_equal(const bly_filter *a, const bly_filter *b);

/* Whether a key with these hash bits is in its block: blyi_contains_block_fn. */
bool blyi_ml_has(const void *block, uint64_t bits, unsigned k);

#endif
