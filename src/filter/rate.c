/* Computes the expected false-positive rate of a geometry, by formulas that several kinds share.
 *
 * Cells. Throw t balls into B cells; X cells are then occupied. k later probes all hit occupied
 * cells with probability E[(X/B)^k]. To second order
 *     (EX/B)^k * (1 + k(k-1)/2 * V/EX^2),   e1 = (1-1/B)^t, EX = B(1-e1),
 *     V = B e1 (1-e1) + B(B-1)(e2 - e1^2),  e2 = (1-2/B)^t
 * The first factor is the textbook formula; the second corrects for the spread of X (Bose et al.
 * 2008) and is what makes blocks of 512 cells come out right: without it the rate is 2% too low
 * at 0.1% and 3.5% at 0.01%. e2 - e1^2 is computed as e1^2 expm1(t log1p(-1/(B-1)^2)), which does
 * not cancel.
 *
 * Blocks. A block receives i of the n keys with binomial probability; the filter's rate is the mean
 * of a block's rate f(i) over i (Putze, Sanders and Singler 2007). The sum runs outward from the
 * mode, and each term is computed from the previous one. So it needs no factorials and works for
 * any number of keys.
 *
 * Memoised values. To find a size, such a mean is computed for many sizes, and most of the time is
 * spent in f. But f(i) is the same for all sizes, so its values are kept for the life of the
 * process. They are in rows: a row belongs to one f and one k, and a value is computed when it is
 * first needed. There are more rows than a process uses (all kinds together have some 150
 * combinations of f and k; a process usually needs a few dozen). A row is one page, and unused
 * pages cost nothing. Without a free row, or beyond its length, f is called every time.
 *
 * Threads. A value is a word that is read and written atomically. Threads that need the same
 * missing value compute the same number. The bits of a value are stored inverted, and 0 means "not
 * known". No value is stored as 0, because a double whose bits are all ones is a NaN.
 */
#include "filter/rate.h"
#include "filter/kind.h"

#include <math.h>
#include <string.h>

double blyi_power(double x, unsigned k) {
    double r = 1;
    for (; k; k >>= 1, x *= x)
        if (k & 1)
            r *= x;
    return r;
}

double blyi_cells_rate(double B, double t, unsigned k) {
    if (t <= 0)
        return 0;
    double e1 = exp(t * log1p(-1 / B));
    double occupied = B * -expm1(t * log1p(-1 / B));
    double spread =
        B * e1 * (1 - e1) + B * (B - 1) * e1 * e1 * expm1(t * log1p(-1 / ((B - 1) * (B - 1))));
    double correction = 1 + k * (k - 1.0) / 2 * fmax(spread, 0) / (occupied * occupied);
    return fmin(1, blyi_power(occupied / B, k) * correction);
}

double blyi_rate(const bly_geometry *g, double n) {
    return n > 0 ? fmin(1, blyi_planner_of(g->kind)->rate(g, n)) : 0;
}

double blyi_log_miss(const bly_geometry *g) {
    return blyi_planner_of(g->kind)->layout->log_miss(g);
}

double blyi_hash_floor(double n, unsigned bits) {
    return fmin(1, ldexp(n, -(int)bits));
}

/* ---- the mean over blocks -------------------------------------------------------------------- */

enum { MEMO_ROWS = 256, MEMO_LENGTH = 512, MAX_FUNCTIONS = 4 };

enum { ROW_FREE, ROW_TAKEN, ROW_READY };

typedef struct memo_owner {
    blyi_block_rate f;
    unsigned k;
    int state;
} memo_owner;

static memo_owner memo_owners[MEMO_ROWS];
static uint64_t memo_values[MEMO_ROWS][MEMO_LENGTH];

/* Returns the row of f and k. Takes a free row if f and k have no row yet. Returns NULL if no row
 * is free, or if another thread is taking one at this moment. */
static uint64_t *memo_row(blyi_block_rate f, unsigned k) {
    size_t start = ((size_t)(uintptr_t)f / 16 + (size_t)k * 37) % MEMO_ROWS;
    for (size_t i = 0; i < MEMO_ROWS; i++) {
        size_t at = (start + i) % MEMO_ROWS;
        memo_owner *o = &memo_owners[at];
        int state = __atomic_load_n(&o->state, __ATOMIC_ACQUIRE);
        if (state == ROW_FREE && __atomic_compare_exchange_n(&o->state, &state, ROW_TAKEN, 0,
                                                             __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
            o->f = f;
            o->k = k;
            __atomic_store_n(&o->state, ROW_READY, __ATOMIC_RELEASE);
            return memo_values[at];
        }
        /* Another thread is taking it, perhaps for the same f and k. */
        if (state == ROW_TAKEN)
            return NULL;
        if (o->f == f && o->k == k)
            return memo_values[at];
    }
    return NULL;
}

static double compute_value(blyi_block_rate f, unsigned k, double i, uint64_t *where) {
    double value = f(k, i);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (where)
        __atomic_store_n(where, ~bits, __ATOMIC_RELAXED);
    return value;
}

/* Returns f(k, i), from the row if possible: i must be a whole number below the row's length. (An
 * estimated number of keys may be a fraction.) */
static inline double memo_value(blyi_block_rate f, unsigned k, double i, uint64_t *row) {
    bool kept = row && i >= 0 && i < MEMO_LENGTH && (double)(size_t)i == i;
    uint64_t *where = kept ? row + (size_t)i : NULL;
    uint64_t bits = where ? ~__atomic_load_n(where, __ATOMIC_RELAXED) : UINT64_MAX;
    double value;
    if (bits == UINT64_MAX)
        return compute_value(f, k, i, where);
    memcpy(&value, &bits, sizeof value);
    return value;
}

double blyi_memoised(blyi_block_rate f, unsigned k, double i) {
    return memo_value(f, k, i, memo_row(f, k));
}

static inline void sum_binomial(double n, double z, const blyi_block_rate *f, uint64_t *const *rows,
                                unsigned m, unsigned k, double *sum) {
    double mode = floor((n + 1) / z), total = 1, weight = 1;
    for (unsigned j = 0; j < m; j++)
        sum[j] = memo_value(f[j], k, mode, rows[j]);
    for (double i = mode; i < n && weight > 1e-19; i++) {
        weight *= (n - i) / ((i + 1) * (z - 1));
        total += weight;
        for (unsigned j = 0; j < m; j++)
            sum[j] += weight * memo_value(f[j], k, i + 1, rows[j]);
    }
    weight = 1;
    for (double i = mode; i > 0 && weight > 1e-19; i--) {
        weight *= i * (z - 1) / (n - i + 1);
        total += weight;
        for (unsigned j = 0; j < m; j++)
            sum[j] += weight * memo_value(f[j], k, i - 1, rows[j]);
    }
    for (unsigned j = 0; j < m; j++)
        sum[j] /= total;
}

/* Whether all blocks are so full that the number of keys in each no longer matters. */
static bool is_saturated(double n, double z) {
    return z <= 1 || n / z > 1024;
}

void blyi_binomial_means(double n, double z, const blyi_block_rate *f, unsigned m, unsigned k,
                         double *out) {
    uint64_t *rows[MAX_FUNCTIONS];
    for (unsigned j = 0; j < m; j++)
        rows[j] = is_saturated(n, z) ? NULL : memo_row(f[j], k);
    if (!is_saturated(n, z))
        sum_binomial(n, z, f, rows, m, k, out);
    else
        for (unsigned j = 0; j < m; j++)
            out[j] = f[j](k, n / z);
}

double blyi_binomial_mean(double n, double z, blyi_block_rate f, unsigned k) {
    if (is_saturated(n, z))
        return f(k, n / z);
    uint64_t *row = memo_row(f, k);
    double mean;
    sum_binomial(n, z, &f, &row, 1, k, &mean);
    return mean;
}

double blyi_binomial_mean_uncached(double n, double z, blyi_block_rate f, unsigned k) {
    uint64_t *none = NULL;
    double mean;
    if (is_saturated(n, z))
        return f(k, n / z);
    sum_binomial(n, z, &f, &none, 1, k, &mean);
    return mean;
}
