/* counts_support.h - shared by the tests of counts: sketches with a given number of lines, and
 * samples. */
#ifndef BLYT_COUNTS_SUPPORT_H
#define BLYT_COUNTS_SUPPORT_H

#include "table_support.h"

#include "kinds/counts/counts_layout.h"

/* Indexed by detail: the highest count, and the divisor in the growth of steps. */
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
