/* Blocks receive keys at random, and a filter's rate is the mean of a block's rate f(i) over the
 * number i of its keys, which is binomial. The sum runs outward from the mode by the ratio of
 * neighbouring terms, so it needs no factorials and holds for any number of keys.
 *
 * Remembering. To find a size, such a mean is taken at many sizes, and most of the time goes into
 * f; but f(i) is the same at all of them. So its values are kept, for the life of the process, in
 * rows: a row belongs to one f and one k, a value is computed when it is first needed. There are as
 * many rows as a process may come to use and more (the kinds have some 150 between them; a few
 * dozen is usual), of a page each, and pages that are not used cost nothing. Where rows or their
 * length do not suffice, f is asked every time.
 *
 * Threads. A value is a word that is read and written in one go. Threads that miss the same one
 * compute the same number. It is kept inverted: 0 stands for "not known", and no value is the
 * number whose bits are all ones, which is not a number.
 */
#include "filter/binomial_mean.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ROWS = 256, LENGTH = 512, MAX_FUNCTIONS = 4 };

enum { FREE, TAKEN, READY };

typedef struct owner {
    blyi_block_rate f;
    unsigned k;
    int state;
} owner;

static owner owners[ROWS];
static uint64_t values[ROWS][LENGTH];

/* The row of f and k; NULL when there is none to be had. */
static uint64_t *row_of(blyi_block_rate f, unsigned k) {
    size_t start = ((size_t)(uintptr_t)f / 16 + (size_t)k * 37) % ROWS;
    for (size_t i = 0; i < ROWS; i++) {
        size_t at = (start + i) % ROWS;
        owner *o = &owners[at];
        int state = __atomic_load_n(&o->state, __ATOMIC_ACQUIRE);
        if (state == FREE && __atomic_compare_exchange_n(&o->state, &state, TAKEN, 0,
                                                         __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
            o->f = f;
            o->k = k;
            __atomic_store_n(&o->state, READY, __ATOMIC_RELEASE);
            return values[at];
        }
        /* Another thread is about to say whose it is: perhaps the same. */
        if (state == TAKEN)
            return NULL;
        if (o->f == f && o->k == k)
            return values[at];
    }
    return NULL;
}

static double computed(blyi_block_rate f, unsigned k, double i, uint64_t *where) {
    double value = f(k, i);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (where)
        __atomic_store_n(where, ~bits, __ATOMIC_RELAXED);
    return value;
}

/* Only for whole numbers of keys: an estimate may be of two and a half. */
static inline double value_of(blyi_block_rate f, unsigned k, double i, uint64_t *row) {
    bool kept = row && i >= 0 && i < LENGTH && (double)(size_t)i == i;
    uint64_t *where = kept ? row + (size_t)i : NULL;
    uint64_t bits = where ? ~__atomic_load_n(where, __ATOMIC_RELAXED) : UINT64_MAX;
    double value;
    if (bits == UINT64_MAX)
        return computed(f, k, i, where);
    memcpy(&value, &bits, sizeof value);
    return value;
}

double blyi_memoised(blyi_block_rate f, unsigned k, double i) {
    return value_of(f, k, i, row_of(f, k));
}

static inline void mix(double n, double z, const blyi_block_rate *f, uint64_t *const *rows,
                       unsigned m, unsigned k, double *sum) {
    double mode = floor((n + 1) / z), total = 1, weight = 1;
    for (unsigned j = 0; j < m; j++)
        sum[j] = value_of(f[j], k, mode, rows[j]);
    for (double i = mode; i < n && weight > 1e-19; i++) {
        weight *= (n - i) / ((i + 1) * (z - 1));
        total += weight;
        for (unsigned j = 0; j < m; j++)
            sum[j] += weight * value_of(f[j], k, i + 1, rows[j]);
    }
    weight = 1;
    for (double i = mode; i > 0 && weight > 1e-19; i--) {
        weight *= i * (z - 1) / (n - i + 1);
        total += weight;
        for (unsigned j = 0; j < m; j++)
            sum[j] += weight * value_of(f[j], k, i - 1, rows[j]);
    }
    for (unsigned j = 0; j < m; j++)
        sum[j] /= total;
}

/* Past this every block is as good as full and its load no longer matters. */
static bool is_even(double n, double z) {
    return z <= 1 || n / z > 1024;
}

void blyi_binomial_means(double n, double z, const blyi_block_rate *f, unsigned m, unsigned k,
                         double *out) {
    uint64_t *rows[MAX_FUNCTIONS];
    for (unsigned j = 0; j < m; j++)
        rows[j] = is_even(n, z) ? NULL : row_of(f[j], k);
    if (!is_even(n, z))
        mix(n, z, f, rows, m, k, out);
    else
        for (unsigned j = 0; j < m; j++)
            out[j] = f[j](k, n / z);
}

double blyi_binomial_mean(double n, double z, blyi_block_rate f, unsigned k) {
    if (is_even(n, z))
        return f(k, n / z);
    uint64_t *row = row_of(f, k);
    double mean;
    mix(n, z, &f, &row, 1, k, &mean);
    return mean;
}

double blyi_binomial_mean_uncached(double n, double z, blyi_block_rate f, unsigned k) {
    uint64_t *none = NULL;
    double mean;
    if (is_even(n, z))
        return f(k, n / z);
    mix(n, z, &f, &none, 1, k, &mean);
    return mean;
}
