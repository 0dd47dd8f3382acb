/* Sizing a window.
 *
 * A window of W keys in s generations is s + 1 filters, each for W / s keys (rounded up). A lookup
 * tests them all. At its fullest, just before the oldest generation is dropped, the window's FPR is
 * 1 - (1 - q)^(s+1), with q the FPR of one full generation: they contain different keys, so their
 * answers are independent. So q = 1 - (1 - p)^(1/(s+1)).
 *
 * One generation has L parts of z lines, a few dozen places in each line. A key has a line in every
 * part, and in the line a bit in each lane of places. When i keys share a line, a non-member finds
 * all its bits set there with probability f(i) = product over lanes of (1 - (1 - 1/w)^i), w places
 * to the lane, and i is binomial. Parts are independent of each other. So q = E[f(i)]^L, exactly.
 *
 * Small lines fill unevenly, which costs space. More parts make up for it, but cost time: one more
 * random line for members, and for some non-members. Often the smallest window has one or two parts
 * more than a window that is 1% larger. So the window with the fewest parts is chosen that is at
 * most 2% larger than the smallest.
 *
 * A small window is s + 1 plain Bloom filters of `size` bits, and the formulas for these apply. It
 * takes less space at the same rate, because it is not divided into lines. But it is limited to a
 * few kilobytes, because its probes are more, and anywhere in the table, and because a rotation
 * clears a whole slot at once.
 *
 * The geometry does not say how many keys the window is for. So in this file "after n keys" means
 * in a window for n keys at its fullest.
 */
#include "filter/kind.h"
#include "filter/rate.h"
#include "filter/size_search.h"
#include "kinds/window/window_layout.h"

#include <math.h>

/* The largest size with which a body has at most that number of bits. */
static uint64_t window_size_within(const bly_geometry *g, uint64_t bits) {
    uint64_t heading = 8 * blyi_window_heading_bytes(g);
    uint64_t each = blyi_window_is_small(g) ? blyi_window_slots(g) : 512 * blyi_window_parts(g);
    return bits > heading ? (bits - heading) / each : 0;
}

static bly_status window_check_small(const bly_geometry *g) {
    bool possible = g->hashes >= 1 && g->hashes <= BLYI_WIN_SMALL_MAX_HASHES &&
                    g->size >= BLYI_WIN_SMALL_MIN_SIZE &&
                    g->size <= window_size_within(g, BLYI_WIN_SMALL_MAX_BITS);
    return possible ? BLY_OK : BLY_EGEOMETRY;
}

static bly_status window_check(const bly_geometry *g) {
    unsigned slots = blyi_window_slots(g);
    if (slots < 2 || slots > BLYI_WIN_MAX_SLOTS || g->detail >= 2 * BLYI_WINDOW_SMALL ||
        g->size == 0)
        return BLY_EGEOMETRY;
    if (blyi_window_is_small(g))
        return window_check_small(g);
    if (g->hashes == 0 || g->hashes % blyi_window_lane_count(slots) ||
        blyi_window_parts(g) > BLYI_WIN_MAX_PARTS)
        return BLY_EGEOMETRY;
    return g->size > window_size_within(g, BLYI_MAX_BITS) ? BLY_ETOOBIG : BLY_OK;
}

static uint64_t window_bits(const bly_geometry *g) {
    if (blyi_window_is_small(g))
        return 8 * blyi_window_heading_bytes(g) + blyi_window_slots(g) * g->size;
    return 8 * blyi_window_heading_bytes(g) + 512 * blyi_window_lines(g);
}

static unsigned window_width(const bly_geometry *g) {
    (void)g;
    return 1;
}

/* ---- one generation -------------------------------------------------------------------------- */

/* The geometry of one slot of a small window, which is a classic Bloom filter. */
static bly_geometry window_plain_geometry(const bly_geometry *g) {
    return (bly_geometry){.kind = BLY_CLASSIC, .hashes = g->hashes, .size = g->size};
}

/* f(i) of the comment above, for lines with that number of slots. */
static double window_line_rate(unsigned slots, double i) {
    double rate = 1;
    for (unsigned t = 0; t < blyi_window_lane_count(slots); t++) {
        unsigned places = blyi_window_lane_start(slots, t + 1) - blyi_window_lane_start(slots, t);
        rate *= -expm1(i * log1p(-1.0 / places));
    }
    return rate;
}

double blyi_window_generation_rate(const bly_geometry *g, double n) {
    if (blyi_window_is_small(g)) {
        const bly_geometry plain = window_plain_geometry(g);
        return blyi_rate(&plain, n);
    }
    double line = blyi_binomial_mean(n, (double)g->size, window_line_rate, blyi_window_slots(g));
    return pow(line, blyi_window_parts(g));
}

/* ln(1 - q), where q is the probability that one key sets one given bit of its generation. */
static double window_log_miss(const bly_geometry *g) {
    unsigned slots = blyi_window_slots(g);
    if (blyi_window_is_small(g)) {
        const bly_geometry plain = window_plain_geometry(g);
        return blyi_log_miss(&plain);
    }
    double places = (double)blyi_window_place_count(slots) / blyi_window_lane_count(slots);
    return log1p(-1 / (places * (double)g->size));
}

double blyi_window_generation_fill(const bly_geometry *g, double n) {
    return -expm1(n * window_log_miss(g));
}

double blyi_window_generation_keys(const bly_geometry *g, double fill) {
    return fill < 1 ? log1p(-fill) / window_log_miss(g) : (double)INFINITY;
}

/* ---- all generations ------------------------------------------------------------------------- */

/* What a search for a window's size needs: the geometry without its size, the number n of keys in a
 * generation, and the requested rate of one generation. */
typedef struct window_sizing {
    bly_geometry g;
    double n, rate;
} window_sizing;

static double window_excess_at(void *ctx, uint64_t size) {
    window_sizing *z = ctx;
    z->g.size = size;
    return blyi_excess(blyi_window_generation_rate(&z->g, z->n), z->rate);
}

/* The size that would be enough if keys were spread evenly: over lines and lanes of equally many
 * places, or over columns. */
static double window_ideal_size(const window_sizing *z) {
    unsigned slots = blyi_window_slots(&z->g), k = z->g.hashes;
    double places = blyi_window_is_small(&z->g)
                        ? 1.0 / k
                        : (double)blyi_window_place_count(slots) / blyi_window_lane_count(slots);
    return z->n / places / -log1p(-pow(z->rate, 1.0 / k));
}

/* The smallest size that keeps the rate; 0 if that takes more than `bits` bits in all. */
static uint64_t window_smallest_size(window_sizing *z, uint64_t bits) {
    uint64_t max_size = window_size_within(&z->g, bits);
    uint64_t low = blyi_window_is_small(&z->g) ? BLYI_WIN_SMALL_MIN_SIZE - 1 : 0;
    if (max_size <= low || window_excess_at(z, max_size) > 0)
        return 0;
    double ideal = window_ideal_size(z);
    uint64_t first = ideal < (double)max_size ? (uint64_t)ideal + 1 : max_size;
    blyi_size_search s = {window_excess_at, z, low, first > low ? first : low + 1, max_size,
                          0.6 * z->g.hashes};
    return blyi_smallest_size(&s);
}

/* The size up to which a window with fewer parts or probes is chosen, as a multiple of the
 * smallest. */
#define WINDOW_MAX_SPACE 1.02

/* Plans a window of at most `max_bits` bits, small or large as z->g.detail says. Tries i * step
 * hashes for i = 1 .. n. Of the results that are at most WINDOW_MAX_SPACE times as large as the
 * smallest, *out becomes the one with the fewest hashes. Returns its size in bits; UINT64_MAX if
 * none fits. */
static uint64_t window_plan_form(window_sizing *z, unsigned step, unsigned n, uint64_t max_bits,
                                 bly_geometry *out) {
    bly_geometry tried[BLYI_WIN_SMALL_MAX_HASHES]; /* enough for both forms */
    uint64_t min_bits = UINT64_MAX;
    for (unsigned i = 0; i < n; i++) {
        z->g.hashes = step * (i + 1);
        z->g.size = window_smallest_size(z, max_bits);
        tried[i] = z->g;
        if (tried[i].size == 0)
            continue;
        min_bits = window_bits(&tried[i]) < min_bits ? window_bits(&tried[i]) : min_bits;
        /* A window larger than this will not be chosen, so the next searches may end there. */
        if ((double)min_bits * WINDOW_MAX_SPACE < (double)max_bits)
            max_bits = (uint64_t)((double)min_bits * WINDOW_MAX_SPACE);
    }
    for (unsigned i = 0; i < n; i++) {
        if (tried[i].size == 0 ||
            (double)window_bits(&tried[i]) > WINDOW_MAX_SPACE * (double)min_bits)
            continue;
        *out = tried[i];
        return window_bits(out);
    }
    return UINT64_MAX;
}

bly_status blyi_window_plan(uint64_t keys, double fpr, uint32_t generations, bly_geometry *out) {
    if (generations < 1 || generations >= BLYI_WIN_MAX_SLOTS)
        return BLY_EGEOMETRY;
    window_sizing z = {.g = {.kind = BLY_WINDOW, .detail = generations},
                       .n = (double)blyi_window_quota(keys, generations),
                       .rate = -expm1(log1p(-fpr) / (generations + 1.0))};
    bly_geometry small;
    unsigned lanes = blyi_window_lane_count(generations + 1);
    uint64_t large_bits = window_plan_form(&z, lanes, BLYI_WIN_MAX_PARTS, BLYI_MAX_BITS, out);
    z.g.detail |= BLYI_WINDOW_SMALL;
    if (window_plan_form(&z, 1, BLYI_WIN_SMALL_MAX_HASHES, BLYI_WIN_SMALL_MAX_BITS, &small) <
        large_bits)
        *out = small;
    return large_bits == UINT64_MAX ? BLY_ETOOBIG : BLY_OK;
}

static bly_status window_plan_default(uint64_t keys, double fpr, bly_geometry *out) {
    return blyi_window_plan(keys, fpr, BLYI_WIN_DEFAULT_GENERATIONS, out);
}

static double window_keys_per_generation(const bly_geometry *g, double n) {
    return ceil(n / blyi_window_generations(g));
}

static double window_rate(const bly_geometry *g, double n) {
    double one = blyi_window_generation_rate(g, window_keys_per_generation(g, n));
    return -expm1(blyi_window_slots(g) * log1p(-one));
}

static uint64_t window_max_keys(const bly_geometry *g) {
    (void)g;
    return UINT64_MAX;
}

static double window_fill(const bly_geometry *g, double n) {
    double all_slots = (double)(blyi_window_slot_bits(g) * blyi_window_slots(g));
    return blyi_window_generation_fill(g, window_keys_per_generation(g, n)) * all_slots /
           (double)window_bits(g);
}

static unsigned window_lookup_lines(const bly_geometry *g) {
    return blyi_window_is_small(g) ? g->hashes : blyi_window_parts(g);
}

const blyi_planner blyi_window_planner = {
    .check = window_check,
    .bits = window_bits,
    .width = window_width,
    .plan = window_plan_default,
    .rate = window_rate,
    .max_keys = window_max_keys,
    .fill = window_fill,
    .count_lookup_lines = window_lookup_lines,
};
