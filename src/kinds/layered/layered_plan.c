/* Sizing layered filters. To queries a layered filter is the sbbf filter that it has in front, so
 * its size and its rate are those of that filter; the counters behind it take three times the
 * memory of the front, and decide nothing.
 *
 * Bits per key at 1% / 0.1% / 0.01%: four times those of sbbf, 42.1 / 67.6 / 105.4.
 *
 * Limits. A counter ends at eight. Of n distinct keys, each added once, a cell is owned by a number
 * that is nearly Poisson with mean 8 n / (256 size), so the chance of eight or more is 1.4e-6 when
 * full at 1%, 4.1e-8 at 0.1% and 1.4e-9 at 0.01%.
 */
#include "filter/rate.h"
#include "kinds/layered/layered_body.h"

enum { CELLS = 256, CELL_BITS = 4, LANES = 8 };

static bly_geometry front_of(const bly_geometry *g) {
    return (bly_geometry){.kind = BLY_SBBF, .hashes = LANES, .size = g->size};
}

/* The front with its padding, then the planes. */
static uint64_t bits(const bly_geometry *g) {
    const bly_geometry front = front_of(g);
    return 8 * bly_plan_bytes(&front) + g->size * (CELL_BITS - 1) * CELLS;
}

static bly_status check(const bly_geometry *g) {
    if (g->size == 0 || g->hashes != LANES || g->detail != 0)
        return BLY_EGEOMETRY;
    if (g->size > BLYI_MAX_BITS / (CELL_BITS * CELLS))
        return BLY_ETOOBIG;
    return bits(g) > BLYI_MAX_BITS ? BLY_ETOOBIG : BLY_OK;
}

static unsigned width(const bly_geometry *g) {
    (void)g;
    return CELL_BITS;
}

/* The hash's floor is off already: 128 bits have none to speak of. */
static bly_status plan(uint64_t keys, double fpr, bly_geometry *out) {
    bly_geometry g;
    bly_status status = bly_plan(BLY_SBBF, keys, fpr, 0, 128, &g);
    if (status)
        return status;
    g.kind = BLY_LAYERED;
    status = check(&g);
    if (status == BLY_OK)
        *out = g;
    return status;
}

static double rate(const bly_geometry *g, double n) {
    const bly_geometry front = front_of(g);
    return blyi_rate(&front, n);
}

static uint64_t most(const bly_geometry *g) {
    (void)g;
    return BLYI_UNLIMITED_KEYS;
}

static double fill(const bly_geometry *g, double n) {
    const bly_geometry front = front_of(g);
    return bly_plan_fill(&front, n);
}

static uint64_t layered_counters(const bly_geometry *g) {
    return g->size * CELLS;
}

const blyi_planner blyi_layered_planner = {
    .check = check,
    .bits = bits,
    .width = width,
    .plan = plan,
    .rate = rate,
    .max_keys = most,
    .fill = fill,
    .lookup_lines = 1,
    .counters = layered_counters,
};
