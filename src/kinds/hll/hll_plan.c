/* Sizing a HyperLogLog sketch.
 *
 * Its rate is not how often it is wrong but by how much: the standard error of its estimate,
 * sqrt(3 ln 2 - 1) / sqrt(m) = 1.039 / sqrt(m) for m registers (Flajolet, Fusy, Gandouet and
 * Meunier 2007), whatever the number of keys; where there are fewer keys than registers it is less.
 * So the plan is the least power of two whose error is small enough, and the number of keys has no
 * part in it. Errors are quoted to two digits, and mean what they are quoted for: 0.0081 is 2^14
 * registers, whose error is 0.008117.
 */
#include "kinds/hll/hll.h"

#include <math.h>

enum { MIN_PRECISION = 4, MAX_PRECISION = 18, REGISTER_BITS = 6 };

/* sqrt(3 ln 2 - 1) */
#define SPREAD 1.0389617614136892

/* What an error may be above the one asked: quoted to two digits, it may have lost a twentieth. */
#define QUOTED (1 + 1.0 / 20)

static bly_status check(const bly_geometry *g) {
    if (g->hashes < MIN_PRECISION || g->hashes > MAX_PRECISION || g->detail != 0)
        return BLY_EGEOMETRY;
    return g->size == (uint64_t)1 << g->hashes ? BLY_OK : BLY_EGEOMETRY;
}

static uint64_t bits(const bly_geometry *g) {
    return g->size * REGISTER_BITS;
}

static unsigned width(const bly_geometry *g) {
    (void)g;
    return REGISTER_BITS;
}

static double rate(const bly_geometry *g, double n) {
    (void)n;
    return SPREAD / sqrt((double)g->size);
}

/* Where a hash of 64 bits begins to collide too often for the smallest error there is. */
static uint64_t most(const bly_geometry *g) {
    (void)g;
    return (uint64_t)1 << 50;
}

static bly_status plan(uint64_t keys, double fpr, bly_geometry *out) {
    bly_geometry g = {.kind = BLY_HLL};
    if (keys > most(&g))
        return BLY_ETOOBIG;
    for (g.hashes = MIN_PRECISION; g.hashes <= MAX_PRECISION; g.hashes++) {
        g.size = (uint64_t)1 << g.hashes;
        if (rate(&g, 1) > fpr * QUOTED)
            continue;
        *out = g;
        return BLY_OK;
    }
    return BLY_ERATE;
}

/* Registers that are not 0. */
static double fill(const bly_geometry *g, double n) {
    return -expm1(n * log1p(-1 / (double)g->size));
}

const blyi_planner blyi_hll_planner = {
    .check = check,
    .bits = bits,
    .width = width,
    .plan = plan,
    .rate = rate,
    .max_keys = most,
    .fill = fill,
};
