/* Sizing a sketch of counts.
 *
 * For the question "was this key ever added?" it is a blocked Bloom filter of 64 cells to a line,
 * in which every key has four different cells of one line, all subsets equally likely. When i keys
 * share a line, four given cells are all in use with probability (inclusion and exclusion)
 *
 *     f(i) = sum over j = 0..4 of (-1)^j C(4,j) q_j^i,    q_j = C(64-j, 4) / C(64, 4)
 *
 * where q_j is the probability that a key does not use any of j given cells. i is binomial, so the
 * FPR is the mean of f over that. It is exact.
 *
 * A sketch is rarely planned for a low FPR: 1% takes 12 bytes per key, but four are enough to count
 * well.
 */
#include "filter/rate.h"
#include "filter/size_search.h"
#include "kinds/counts/counts_layout.h"

#include <math.h>

enum { COUNTS_CELL_BITS = 8, COUNTS_LINE_BITS = BLYI_COUNTS_LINE * COUNTS_CELL_BITS };

static bly_status counts_check(const bly_geometry *g) {
    if (g->hashes != BLYI_COUNTS_HASHES || g->size == 0 || g->detail >= BLYI_COUNTS_GROWTHS)
        return BLY_EGEOMETRY;
    return g->size > BLYI_MAX_BITS / COUNTS_LINE_BITS ? BLY_ETOOBIG : BLY_OK;
}

static uint64_t counts_bits(const bly_geometry *g) {
    return g->size * COUNTS_LINE_BITS;
}

static unsigned counts_width(const bly_geometry *g) {
    (void)g;
    return COUNTS_CELL_BITS;
}

/* f(i) of the comment above, with k cells per key. */
static double counts_line_rate(unsigned k, double i) {
    double rate = 1, term = 1, log_left = 0;
    for (unsigned j = 0; j < k; j++) {
        log_left += log1p(-(double)k / (BLYI_COUNTS_LINE - j));
        term *= -(double)(k - j) / (j + 1);
        rate += term * exp(i * log_left);
    }
    return fmax(rate, 0);
}

static double counts_rate(const bly_geometry *g, double n) {
    return blyi_binomial_mean(n, (double)g->size, counts_line_rate, BLYI_COUNTS_HASHES);
}

static uint64_t counts_max_keys(const bly_geometry *g) {
    (void)g;
    return BLYI_UNLIMITED_KEYS;
}

static double counts_fill(const bly_geometry *g, double n) {
    return -expm1(n * log1p(-(double)BLYI_COUNTS_HASHES / BLYI_COUNTS_LINE / (double)g->size));
}

typedef struct counts_sizing {
    bly_geometry g;
    double n, fpr;
} counts_sizing;

static double counts_excess_at(void *ctx, uint64_t lines) {
    counts_sizing *z = ctx;
    z->g.size = lines;
    return blyi_excess(counts_rate(&z->g, z->n), z->fpr);
}

static bly_status counts_plan(uint64_t keys, double fpr, bly_geometry *out) {
    counts_sizing z = {
        .g = {.kind = BLY_COUNTS, .hashes = BLYI_COUNTS_HASHES}, .n = (double)keys, .fpr = fpr};
    const uint64_t end = BLYI_MAX_BITS / COUNTS_LINE_BITS;
    double ideal =
        z.n * BLYI_COUNTS_HASHES / BLYI_COUNTS_LINE / -log1p(-pow(fpr, 1.0 / BLYI_COUNTS_HASHES));
    uint64_t first = ideal < (double)end ? (uint64_t)ideal + 1 : end;
    blyi_size_search s = {counts_excess_at, &z, 0, first, end, BLYI_COUNTS_HASHES * 0.6};
    z.g.size = blyi_smallest_size(&s);
    if (z.g.size == 0)
        return BLY_ETOOBIG;
    *out = z.g;
    return BLY_OK;
}

static uint64_t counts_counters(const bly_geometry *g) {
    return g->size * 64;
}

const blyi_planner blyi_counts_planner = {
    .check = counts_check,
    .bits = counts_bits,
    .width = counts_width,
    .plan = counts_plan,
    .rate = counts_rate,
    .max_keys = counts_max_keys,
    .fill = counts_fill,
    .lookup_lines = 1,
    .counters = counts_counters,
};
