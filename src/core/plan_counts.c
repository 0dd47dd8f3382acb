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
#include "planner.h"
#include "rate.h"

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
    return blyi_mixture(n, (double)g->size, line_rate, HASHES);
}

static uint64_t most(const bly_geometry *g) {
    (void)g;
    return BLYI_ENDLESS;
}

static double fill(const bly_geometry *g, double n) {
    return -expm1(n * log1p(-(double)HASHES / LINE_CELLS / (double)g->size));
}

static bly_status plan(uint64_t keys, double fpr, bly_geometry *out) {
    bly_geometry g = {.kind = BLY_COUNTS, .hashes = HASHES};
    const uint64_t end = BLYI_MAX_BITS / LINE_BITS;
    double n = (double)keys;
    uint64_t low = 0, high = 1; /* too small; large enough */
    for (g.size = 1; rate(&g, n) > fpr; g.size = high) {
        if (high == end)
            return BLY_ETOOBIG;
        low = high;
        high = high > end / 2 ? end : 2 * high;
    }
    while (high - low > 1) {
        g.size = low + (high - low) / 2;
        if (rate(&g, n) <= fpr)
            high = g.size;
        else
            low = g.size;
    }
    g.size = high;
    *out = g;
    return BLY_OK;
}

const blyi_planner blyi_plan_counts = {
    .kind = BLY_COUNTS,
    .name = "counts",
    .check = check,
    .bits = bits,
    .width = width,
    .plan = plan,
    .rate = rate,
    .most = most,
    .fill = fill,
};
