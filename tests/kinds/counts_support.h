/* counts_support.h - what the tests of counts share: sketches of given lines, and samples. */
#ifndef BLYT_COUNTS_SUPPORT_H
#define BLYT_COUNTS_SUPPORT_H

#include "table_support.h"

#include "kinds/counts/counts_layout.h"

/* By detail: the highest count, and what the growth of steps is divided by. */
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
