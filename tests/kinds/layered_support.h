/* layered_support.h - shared by the tests of layered filters: ways to create one, and a second
 * implementation of its cells. */
#ifndef BLYT_LAYERED_SUPPORT_H
#define BLYT_LAYERED_SUPPORT_H

#include "table_support.h"

static inline bly_filter *layered(uint64_t keys, double p) {
    bly_filter *f = NULL;
    assert_ok(blyt_new(BLY_LAYERED, keys, p, &f));
    return f;
}

static inline bly_filter *layered_of(uint64_t blocks) {
    return exact_table((bly_geometry){BLY_LAYERED, 8, blocks, 0, 0}, NULL);
}

static inline bly_filter *front_of(const bly_filter *f) {
    bly_filter *front = NULL;
    assert_ok(bly_layered_front(f, &front));
    return front;
}

/* Returns an empty sbbf filter with the same number of blocks. */
static inline bly_filter *plain_of(const bly_filter *f) {
    return exact_table((bly_geometry){BLY_SBBF, 8, f->geometry.size, 0, 0}, NULL);
}

/* ---- a second implementation: one number per cell ---------------------------------------------
 * It follows docs/format.md cell by cell, without operations on whole words. */

typedef struct oracle {
    uint64_t blocks;
    uint8_t *count; /* 256 cells per block; a count of 8 is stuck */
} oracle;

static inline oracle oracle_of(uint64_t blocks) {
    oracle o = {blocks, calloc((size_t)blocks, 256)};
    assert_non_null(o.count);
    return o;
}

/* Returns the count of a key's cell in lane j. */
static inline uint8_t *oracle_cell(const oracle *o, bly_hash h, unsigned j) {
    static const uint32_t salt[8] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                     0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};
    uint64_t block = blyi_mulhi(h.lo, o->blocks);
    return o->count + 256 * block + 32 * j + ((uint32_t)h.hi * salt[j] >> 27);
}

static inline uint64_t oracle_copies(const oracle *o, bly_hash h) {
    uint64_t least = 8;
    for (unsigned j = 0; j < 8; j++)
        least = *oracle_cell(o, h, j) < least ? *oracle_cell(o, h, j) : least;
    return least;
}

static inline bool oracle_add(oracle *o, bly_hash h) {
    bool is_new = oracle_copies(o, h) == 0;
    for (unsigned j = 0; j < 8; j++)
        if (*oracle_cell(o, h, j) < 8)
            ++*oracle_cell(o, h, j);
    return is_new;
}

static inline bool oracle_remove(oracle *o, bly_hash h) {
    if (oracle_copies(o, h) == 0)
        return false;
    for (unsigned j = 0; j < 8; j++)
        if (*oracle_cell(o, h, j) < 8)
            --*oracle_cell(o, h, j);
    return true;
}

static inline uint64_t oracle_stuck(const oracle *o) {
    uint64_t stuck = 0;
    for (uint64_t i = 0; i < 256 * o->blocks; i++)
        stuck += o->count[i] == 8;
    return stuck;
}

static inline unsigned bit_at(const uint8_t *body, uint64_t i) {
    return body[i / 8] >> i % 8 & 1;
}

/* Reads the counts of all cells from the body of a filter. */
static inline oracle oracle_from(const bly_filter *f) {
    oracle o = oracle_of(f->geometry.size);
    uint64_t planes = (o.blocks + o.blocks % 2) * 256;
    for (uint64_t i = 0; i < 256 * o.blocks; i++) {
        uint64_t at = planes + i / 256 * 768 + i % 256;
        unsigned more =
            bit_at(f->body, at) + 2 * bit_at(f->body, at + 256) + 4 * bit_at(f->body, at + 512);
        o.count[i] = (uint8_t)(bit_at(f->body, i) + more);
        assert_true(more == 0 || bit_at(f->body, i));
    }
    return o;
}

static inline void assert_cells_are(const bly_filter *f, const oracle *want) {
    oracle got = oracle_from(f);
    assert_memory_equal(got.count, want->count, (size_t)(256 * want->blocks));
    free(got.count);
}

#endif
