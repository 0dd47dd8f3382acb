/* Sizing a window.
 *
 * A window of W keys in s generations is s + 1 filters, each for W / s keys (rounded up). A query
 * asks them all, so at its fullest, just before the oldest is dropped, the window is wrong with
 * probability 1 - (1 - q)^(s+1), q being the rate of one full generation: they hold different keys,
 * so their answers are independent. Hence q = 1 - (1 - p)^(1/(s+1)).
 *
 * One generation has L parts of z lines, a few dozen places in each line. A key has a line in every
 * part, and in the line a bit in each lane of places. When i keys share a line, a stranger finds
 * all its bits there with probability f(i) = product over lanes of (1 - (1 - 1/w)^i), w places to
 * the lane, and i is binomial; parts are independent of each other. So q = E[f(i)]^L, exactly.
 *
 * Small lines fill unevenly, which costs space; more parts make up for it, and cost time: one more
 * random line for the keys that are there, and for some of those that are not. The smallest window
 * has a part or two more than one that is 1% larger. That one is taken.
 *
 * A small window is s + 1 plain Bloom filters of `size` bits, and the calculator for these is
 * asked. It takes less space at the same rate, as nothing in it is divided into lines, but is kept
 * to a few pages: more probes, each anywhere, and a turn that empties a slot all at once.
 *
 * The geometry does not say how many keys the window is for. So "after n keys" means here: of a
 * window for n keys, and at its fullest.
 */
#include "kinds/window/window_plan.h"
#include "filter/kind.h"
#include "filter/rate.h"
#include "filter/size_search.h"

#include <math.h>

/* The largest size with which a body has so many bits at most. */
static uint64_t size_within(const bly_geometry *g, uint64_t bits) {
    uint64_t heading = 8 * blyi_window_heading(g);
    uint64_t each = blyi_window_is_small(g) ? blyi_window_slots(g) : 512 * blyi_window_parts(g);
    return bits > heading ? (bits - heading) / each : 0;
}

static bly_status check_small(const bly_geometry *g) {
    bool possible = g->hashes >= 1 && g->hashes <= BLYI_WIN_SMALL_HASHES &&
                    g->size >= BLYI_WIN_SMALL_MIN && g->size <= size_within(g, BLYI_WIN_SMALL_BITS);
    return possible ? BLY_OK : BLY_EGEOMETRY;
}

static bly_status check(const bly_geometry *g) {
    unsigned slots = blyi_window_slots(g);
    if (slots < 2 || slots > BLYI_WIN_MAX_SLOTS || g->detail >= 2 * BLY_WINDOW_SMALL ||
        g->size == 0)
        return BLY_EGEOMETRY;
    if (blyi_window_is_small(g))
        return check_small(g);
    if (g->hashes == 0 || g->hashes % blyi_window_lanes(slots) ||
        blyi_window_parts(g) > BLYI_WIN_MAX_PARTS)
        return BLY_EGEOMETRY;
    return g->size > size_within(g, BLYI_MAX_BITS) ? BLY_ETOOBIG : BLY_OK;
}

static uint64_t bits(const bly_geometry *g) {
    if (blyi_window_is_small(g))
        return 8 * blyi_window_heading(g) + blyi_window_slots(g) * g->size;
    return 8 * blyi_window_heading(g) + 512 * blyi_window_lines(g);
}

static unsigned width(const bly_geometry *g) {
    (void)g;
    return 1;
}

/* ---- one generation -------------------------------------------------------------------------- */

/* A slot of a small window, as the Bloom filter that it is. */
static bly_geometry plain_of(const bly_geometry *g) {
    return (bly_geometry){.kind = BLY_CLASSIC, .hashes = g->hashes, .size = g->size};
}

/* f(i), in a line for so many slots. */
static double line_rate(unsigned slots, double i) {
    double rate = 1;
    for (unsigned t = 0; t < blyi_window_lanes(slots); t++) {
        unsigned places = blyi_window_lane(slots, t + 1) - blyi_window_lane(slots, t);
        rate *= -expm1(i * log1p(-1.0 / places));
    }
    return rate;
}

double blyi_window_rate(const bly_geometry *g, double n) {
    if (blyi_window_is_small(g)) {
        const bly_geometry plain = plain_of(g);
        return blyi_rate(&plain, n);
    }
    double line = blyi_binomial_mean(n, (double)g->size, line_rate, blyi_window_slots(g));
    return pow(line, blyi_window_parts(g));
}

/* ln(1 - q), q being the chance that one key sets one given bit of its generation. */
static double log_miss(const bly_geometry *g) {
    unsigned slots = blyi_window_slots(g);
    if (blyi_window_is_small(g)) {
        const bly_geometry plain = plain_of(g);
        return blyi_log_miss(&plain);
    }
    double places = (double)blyi_window_places(slots) / blyi_window_lanes(slots);
    return log1p(-1 / (places * (double)g->size));
}

double blyi_window_fill(const bly_geometry *g, double n) {
    return -expm1(n * log_miss(g));
}

double blyi_window_keys(const bly_geometry *g, double fill) {
    return fill < 1 ? log1p(-fill) / log_miss(g) : (double)INFINITY;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* A window whose size is looked for: n keys in a generation, at that rate. */
typedef struct sizing {
    bly_geometry g;
    double n, rate;
} sizing;

static double excess_at(void *ctx, uint64_t size) {
    sizing *z = ctx;
    z->g.size = size;
    return blyi_excess(blyi_window_rate(&z->g, z->n), z->rate);
}

/* The size that would do if keys were spread evenly: over lines, and over lanes of equally many
 * places; or over columns. */
static double ideal_size(const sizing *z) {
    unsigned slots = blyi_window_slots(&z->g), k = z->g.hashes;
    double places = blyi_window_is_small(&z->g)
                        ? 1.0 / k
                        : (double)blyi_window_places(slots) / blyi_window_lanes(slots);
    return z->n / places / -log1p(-pow(z->rate, 1.0 / k));
}

/* The smallest size, of at most `bits` bits in all; 0 when there is none. */
static uint64_t smallest_size(sizing *z, uint64_t bits) {
    uint64_t most = size_within(&z->g, bits);
    uint64_t low = blyi_window_is_small(&z->g) ? BLYI_WIN_SMALL_MIN - 1 : 0;
    if (most <= low || excess_at(z, most) > 0)
        return 0;
    double ideal = ideal_size(z);
    uint64_t first = ideal < (double)most ? (uint64_t)ideal + 1 : most;
    blyi_size_search s = {excess_at,        z, low, first > low ? first : low + 1, most,
                          0.6 * z->g.hashes};
    return blyi_smallest_size(&s);
}

#define MAX_SPACE                                                                                  \
    1.02 /* of a window with fewer parts or probes, as a multiple of the smallest                  \
          */

/* Of the form that z->g has, with `step`, 2 `step` .. `n` `step` hashes, in so many bits at most.
 * Returns its bits; UINT64_MAX when there is none. */
static uint64_t plan_form(sizing *z, unsigned step, unsigned n, uint64_t most, bly_geometry *out) {
    bly_geometry tried[BLYI_WIN_SMALL_HASHES]; /* more than there can be parts */
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < n; i++) {
        z->g.hashes = step * (i + 1);
        z->g.size = smallest_size(z, most);
        tried[i] = z->g;
        if (tried[i].size == 0)
            continue;
        least = bits(&tried[i]) < least ? bits(&tried[i]) : least;
        /* What is larger than this will not be taken. */
        if ((double)least * MAX_SPACE < (double)most)
            most = (uint64_t)((double)least * MAX_SPACE);
    }
    for (unsigned i = 0; i < n; i++) {
        if (tried[i].size == 0 || (double)bits(&tried[i]) > MAX_SPACE * (double)least)
            continue;
        *out = tried[i];
        return bits(out);
    }
    return UINT64_MAX;
}

bly_status blyi_window_plan(uint64_t keys, double fpr, uint32_t generations, bly_geometry *out) {
    if (generations < 1 || generations >= BLYI_WIN_MAX_SLOTS)
        return BLY_EGEOMETRY;
    sizing z = {.g = {.kind = BLY_WINDOW, .detail = generations},
                .n = (double)blyi_window_quota(keys, generations),
                .rate = -expm1(log1p(-fpr) / (generations + 1.0))};
    bly_geometry small;
    unsigned lanes = blyi_window_lanes(generations + 1);
    uint64_t large_bits = plan_form(&z, lanes, BLYI_WIN_MAX_PARTS, BLYI_MAX_BITS, out);
    z.g.detail |= BLY_WINDOW_SMALL;
    if (plan_form(&z, 1, BLYI_WIN_SMALL_HASHES, BLYI_WIN_SMALL_BITS, &small) < large_bits)
        *out = small;
    return large_bits == UINT64_MAX ? BLY_ETOOBIG : BLY_OK;
}

static bly_status plan(uint64_t keys, double fpr, bly_geometry *out) {
    return blyi_window_plan(keys, fpr, BLYI_GENERATIONS, out);
}

static double per_generation(const bly_geometry *g, double n) {
    return ceil(n / blyi_window_generations(g));
}

static double rate(const bly_geometry *g, double n) {
    double one = blyi_window_rate(g, per_generation(g, n));
    return -expm1(blyi_window_slots(g) * log1p(-one));
}

static uint64_t most(const bly_geometry *g) {
    (void)g;
    return UINT64_MAX;
}

static double fill(const bly_geometry *g, double n) {
    double own = (double)(blyi_window_own(g) * blyi_window_slots(g));
    return blyi_window_fill(g, per_generation(g, n)) * own / (double)bits(g);
}

static unsigned window_lookup_lines(const bly_geometry *g) {
    return blyi_window_is_small(g) ? g->hashes : blyi_window_parts(g);
}

const blyi_planner blyi_window_planner = {
    .check = check,
    .bits = bits,
    .width = width,
    .plan = plan,
    .rate = rate,
    .max_keys = most,
    .fill = fill,
    .count_lookup_lines = window_lookup_lines,
};
