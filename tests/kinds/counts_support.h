/* counts_support.h - shared by the tests of BLY_COUNTS: creates sketches with a given number of
 * lines, and sums up samples. */
#ifndef BLYT_COUNTS_SUPPORT_H
#define BLYT_COUNTS_SUPPORT_H

#include "table_support.h"

#include "kinds/counts/counts_layout.h"

/* Both indexed by detail: the highest count of a cell, and d in docs/format.md. (From a value v of
 * 16 or more, the step to the next value is 1 + (v - 16) / d.) */
static const uint64_t ends[] = {7132093290, 244011};
static const unsigned divisors[] = {11, 24};

static inline bly_filter *lines(uint64_t n, unsigned detail) {
    return exact_table((bly_geometry){BLY_COUNTS, 4, n, 0, detail}, NULL);
}

typedef struct sample {
    double sum, squares;
    unsigned n;
} sample;

static inline void add_sample(sample *s, double x) {
    s->sum += x;
    s->squares += x * x;
    s->n++;
}

#endif
