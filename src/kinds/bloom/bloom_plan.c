/* Sizing of classic and partitioned filters: their layouts and expected rates (filter/plan.c,
 * filter/rate.c). */
#include "kinds/bloom/bloom_plan.h"
#include "filter/rate.h"

#include <math.h>

/* What double hashing adds. A query whose step equals a stored key's, or its negative, and whose
 * start lies s steps along it, shares all but |s| of that key's bits: a false positive unless one
 * of the |s| is clear. An odd step takes only half the residues of an even m; modulo an odd m, it
 * can be 0, and then a single bit decides. Exact when m is a power of two; else the sum's wrapping
 * at 2^64 breaks up most of these families, and this is an upper bound. */
double blyi_textbook_extra(const bly_geometry *g, double n) {
    double m = (double)g->size;
    unsigned k = g->hashes;
    if (!(g->options & BLY_TEXTBOOK))
        return 0;
    double fill = -expm1(k * n * log1p(-1 / m)), shifts = 1, term = 1;
    bool even = fmod(m, 2) == 0;
    for (unsigned s = 1; s < k; s++)
        shifts += 2 * (term *= fill);
    double same_step = even ? 2 / m : 1 / m;
    return n * 2 * same_step / m * shifts + (even ? 0 : fill / m);
}

static double classic_rate(const bly_geometry *g, double n) {
    return blyi_cells_rate((double)g->size, g->hashes * n, g->hashes) + blyi_textbook_extra(g, n);
}

static double classic_log_miss(const bly_geometry *g) {
    return g->hashes * log1p(-1 / (double)g->size);
}

static double partitioned_rate(const bly_geometry *g, double n) {
    return blyi_power(-expm1(n * log1p(-1 / (double)g->size)), g->hashes);
}

static double partitioned_log_miss(const bly_geometry *g) {
    return log1p(-1 / (double)g->size);
}

static const blyi_bit_layout classic_layout = {
    .unit_bits = 1,
    .step = 64,
    .min_size = 512,
    .min_valid = 64,
    .size_unit = 1,
    .min_k = 1,
    .max_k = 64,
    .k_step = 1,
    .options = BLY_FOLDABLE | BLY_TEXTBOOK,
    .best_k_is_simple = true,
    .log_miss = classic_log_miss,
};

/* Its size counts the bits of one slice of k. */
static const blyi_bit_layout partitioned_layout = {
    .unit_bits = 0,
    .step = 64,
    .min_size = 64,
    .min_valid = 64,
    .size_unit = 64,
    .min_k = 1,
    .max_k = 64,
    .k_step = 1,
    .options = BLY_FOLDABLE,
    .log_miss = partitioned_log_miss,
};

const blyi_planner blyi_classic_planner = {.layout = &classic_layout, .rate = classic_rate};
const blyi_planner blyi_partitioned_planner = {.layout = &partitioned_layout,
                                               .rate = partitioned_rate};
