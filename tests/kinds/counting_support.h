/* counting_support.h - shared by the tests of counting filters: filters of every counter width,
 * access to single counters, and a second implementation. */
#ifndef BLYT_COUNTING_SUPPORT_H
#define BLYT_COUNTING_SUPPORT_H

#include "table_support.h"

static const bly_kind kinds[] = {BLY_COUNTING};
static const uint32_t widths[] = {2, 4, 8, 16};

#define FOR_EACH_SORT(kind, width)                                                                 \
    for (size_t i_ = 0; i_ < 4; i_++)                                                              \
        for (bly_kind kind = kinds[i_ / 4], once_ = 1; once_; once_ = 0)                           \
            for (uint32_t width = widths[i_ % 4], last_ = 1; last_; last_ = 0)

static inline bly_filter *counters(bly_kind kind, uint64_t keys, double p, uint32_t width) {
    bly_filter *f = NULL;
    assert_int_equal(kind, BLY_COUNTING);
    bly_spec spec = bly_spec_for(BLY_COUNTING, keys, p);
    spec.counting.counter_bits = width;
    assert_ok(bly_filter_create(&spec, &f));
    return f;
}

static inline bly_filter *exact(bly_kind kind, uint32_t k, uint64_t size, uint32_t width) {
    return exact_table((bly_geometry){kind, k, size, 0, width}, NULL);
}

static inline uint64_t limit_of(const bly_filter *f) {
    return ((uint64_t)1 << f->geometry.detail) - 1;
}

static inline uint64_t cells_of(const bly_filter *f) {
    return f->geometry.size;
}

/* Reads counter i bit by bit, as docs/format.md lays it out. */
static inline uint64_t cell(const bly_filter *f, uint64_t i) {
    uint64_t value = 0, from = i * f->geometry.detail;
    for (unsigned j = 0; j < f->geometry.detail; j++)
        value |= (uint64_t)(f->body[(from + j) / 8] >> (from + j) % 8 & 1) << j;
    return value;
}

static inline void set_cell(bly_filter *f, uint64_t i, uint64_t value) {
    uint64_t from = i * f->geometry.detail;
    for (unsigned j = 0; j < f->geometry.detail; j++) {
        uint8_t *byte = f->body + (from + j) / 8, mask = (uint8_t)(1 << (from + j) % 8);
        *byte = (uint8_t)(value >> j & 1 ? *byte | mask : *byte & ~mask);
    }
}

/* ---- a second implementation ----------------------------------------------------------------- */

typedef struct model {
    uint64_t *cells, n, limit;
} model;

static inline model model_of(const bly_filter *f) {
    model m = {calloc(cells_of(f), sizeof *m.cells), cells_of(f), limit_of(f)};
    assert_non_null(m.cells);
    return m;
}

/* Writes the indices of a key's distinct counters to `at`. Returns how many there are. */
static inline unsigned places(const bly_filter *f, bly_hash h, uint64_t at[64]) {
    const uint64_t lcg = UINT64_C(0xf1357aea2e62a9c5), size = f->geometry.size;
    unsigned n = 0;
    uint64_t x = h.lo;
    for (unsigned j = 0; j < f->geometry.hashes; j++) {
        at[n] = blyi_mulhi(x, size);
        x = x * lcg + (h.hi | 1);
        bool again = false;
        for (unsigned i = 0; i < n; i++)
            again |= at[i] == at[n];
        n += !again;
    }
    return n;
}

/* Adds one copy of a key (by = 1) or removes one (by = -1). Returns whether the key was present
 * before. */
static inline bool model_change(model *m, const bly_filter *f, bly_hash h, int by) {
    uint64_t at[64];
    unsigned n = places(f, h, at);
    bool there = true;
    for (unsigned j = 0; j < n; j++)
        there &= m->cells[at[j]] != 0;
    for (unsigned j = 0; (by > 0 || there) && j < n; j++)
        if (m->cells[at[j]] < m->limit)
            m->cells[at[j]] += (uint64_t)by;
    return there;
}

static inline uint64_t model_copies(const model *m, const bly_filter *f, bly_hash h) {
    uint64_t at[64], least = m->limit;
    unsigned n = places(f, h, at);
    for (unsigned j = 0; j < n; j++)
        least = m->cells[at[j]] < least ? m->cells[at[j]] : least;
    return least;
}

static inline void assert_cells(const bly_filter *f, const model *m) {
    for (uint64_t i = 0; i < m->n; i++)
        assert_int_equal(cell(f, i), m->cells[i]);
}

/* Asserts that every counter is 0 or stuck at the limit, and that the statistics agree. */
static inline void assert_emptied(const bly_filter *f) {
    uint64_t stuck = 0;
    bly_filter_info s = {.struct_size = sizeof s};
    for (uint64_t i = 0; i < cells_of(f); i++) {
        assert_true(cell(f, i) == 0 || cell(f, i) == limit_of(f));
        stuck += cell(f, i) != 0;
    }
    bly_filter_get_info(f, &s);
    assert_int_equal(s.stuck, stuck);
    assert_int_equal(s.set_bits, stuck * f->geometry.detail);
    assert_int_equal(s.count, 0);
    assert_true(stuck != 0 || all_zero(f));
}

#endif
