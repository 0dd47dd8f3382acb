/* Sizing a HyperLogLog sketch.
 *
 * Its rate is the standard error of its estimate, sqrt(3 ln 2 - 1) / sqrt(m) = 1.039 / sqrt(m) for
 * m registers (Flajolet, Fusy, Gandouet and Meunier 2007), whatever the number of keys. With fewer
 * keys than registers it is less. So the plan does not depend on the number of keys: it is the
 * smallest power of two whose error is small enough. Errors are usually quoted to two digits, and a
 * plan accepts such a quotation: 0.0081 gives 2^14 registers, whose error is 0.008117.
 */
#include "kinds/hll/hll_layout.h"

#include <math.h>

enum { HLL_MIN_PRECISION = 4, HLL_MAX_PRECISION = 18 };

/* sqrt(3 ln 2 - 1) */
#define HLL_SPREAD 1.0389617614136892

/* The tolerance for a requested error: quoted to two digits, it may be a twentieth too low. */
#define HLL_TOLERANCE (1 + 1.0 / 20)

static bly_status hll_check(const bly_geometry *g) {
    if (g->hashes < HLL_MIN_PRECISION || g->hashes > HLL_MAX_PRECISION || g->detail != 0)
        return BLY_EGEOMETRY;
    return g->size == (uint64_t)1 << g->hashes ? BLY_OK : BLY_EGEOMETRY;
}

static uint64_t hll_bits(const bly_geometry *g) {
    return g->size * BLYI_HLL_BITS;
}

static unsigned hll_width(const bly_geometry *g) {
    (void)g;
    return BLYI_HLL_BITS;
}

static double hll_rate(const bly_geometry *g, double n) {
    (void)n;
    return HLL_SPREAD / sqrt((double)g->size);
}

/* With more keys, hashes of 64 bits would collide too often for the smallest possible error. */
static uint64_t hll_max_keys(const bly_geometry *g) {
    (void)g;
    return (uint64_t)1 << 50;
}

static bly_status hll_plan(uint64_t keys, double fpr, bly_geometry *out) {
    bly_geometry g = {.kind = BLY_HLL};
    if (keys > hll_max_keys(&g))
        return BLY_ETOOBIG;
    for (g.hashes = HLL_MIN_PRECISION; g.hashes <= HLL_MAX_PRECISION; g.hashes++) {
        g.size = (uint64_t)1 << g.hashes;
        if (hll_rate(&g, 1) > fpr * HLL_TOLERANCE)
            continue;
        *out = g;
        return BLY_OK;
    }
    return BLY_ERATE;
}

/* The share of the registers that are not 0. */
static double hll_fill(const bly_geometry *g, double n) {
    return -expm1(n * log1p(-1 / (double)g->size));
}

const blyi_planner blyi_hll_planner = {
    .check = hll_check,
    .bits = hll_bits,
    .width = hll_width,
    .plan = hll_plan,
    .rate = hll_rate,
    .max_keys = hll_max_keys,
    .fill = hll_fill,
};
