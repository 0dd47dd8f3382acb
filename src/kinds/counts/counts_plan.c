/* Sizing a sketch of counts.
 *
 * To the question "was this key ever counted?" it is a blocked Bloom filter of 64 cells to a line,
 * in which every key has four different cells of one line, any four alike. When i keys share a
 * line, four given cells are all in use with probability (inclusion and exclusion)
 *
 *     f(i) = sum over j = 0..4 of (-1)^j C(4,j) q_j^i,    q_j = C(64-j, 4) / C(64, 4)
 *
 * where q_j is the chance that a key leaves j given cells alone; i is binomial, so the rate is the
 * mean of f over that. It is exact.
 *
 * It is not what a sketch is chosen for: at 1% it takes 12 bytes a key, and it counts well with
 * four.
 */
#include "filter/rate.h"
#include "filter/size_search.h"
#include "kinds/counts/counts.h"

#include <math.h>

enum {
    HASHES = 4,
    LINE_CELLS = 64,
    CELL_BITS = 8,
    LINE_BITS = LINE_CELLS * CELL_BITS,
    GROWTHS = 2
};

static bly_status check(const bly_geometry *g) {
    if (g->hashes != HASHES || g->size == 0 || g->detail >= GROWTHS)
        return BLY_EGEOMETRY;
    return g->size > BLYI_MAX_BITS / LINE_BITS ? BLY_ETOOBIG : BLY_OK;
}

static uint64_t bits(const bly_geometry *g) {
    return g->size * LINE_BITS;
}

static unsigned width(const bly_geometry *g) {
    (void)g;
    return CELL_BITS;
}

/* f(i) */
static double line_rate(unsigned k, double i) {
    double rate = 1, term = 1, log_left = 0;
    for (unsigned j = 0; j < k; j++) {
        log_left += log1p(-(double)k / (LINE_CELLS - j));
        term *= -(double)(k - j) / (j + 1);
        rate += term * exp(i * log_left);
    }
    return fmax(rate, 0);
}

static double rate(const bly_geometry *g, double n) {
    return blyi_binomial_mean(n, (double)g->size, line_rate, HASHES);
}

static uint64_t most(const bly_geometry *g) {
    (void)g;
    return BLYI_UNLIMITED_KEYS;
}

static double fill(const bly_geometry *g, double n) {
    return -expm1(n * log1p(-(double)HASHES / LINE_CELLS / (double)g->size));
}

typedef struct sizing {
    bly_geometry g;
    double n, fpr;
} sizing;

static double excess_at(void *ctx, uint64_t lines) {
    sizing *z = ctx;
    z->g.size = lines;
    return blyi_excess(rate(&z->g, z->n), z->fpr);
}

static bly_status plan(uint64_t keys, double fpr, bly_geometry *out) {
    sizing z = {.g = {.kind = BLY_COUNTS, .hashes = HASHES}, .n = (double)keys, .fpr = fpr};
    const uint64_t end = BLYI_MAX_BITS / LINE_BITS;
    double ideal = z.n * HASHES / LINE_CELLS / -log1p(-pow(fpr, 1.0 / HASHES));
    uint64_t first = ideal < (double)end ? (uint64_t)ideal + 1 : end;
    blyi_size_search s = {excess_at, &z, 0, first, end, HASHES * 0.6};
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
    .check = check,
    .bits = bits,
    .width = width,
    .plan = plan,
    .rate = rate,
    .max_keys = most,
    .fill = fill,
    .lookup_lines = 1,
    .counters = counts_counters,
};
