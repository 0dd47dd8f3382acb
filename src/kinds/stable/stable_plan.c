/* Sizing a stable filter (Deng and Rafiei 2006).
 *
 * m cells with values 0 .. top. An add lowers a run of P neighbouring cells by one, where they are
 * not 0 already, and then raises the K cells of its key to top. What becomes of one cell is best
 * seen backwards in time. At each add it is raised with probability c = 1 - (1-1/m)^K; if not, it
 * is lowered with probability a = P/m. Call either an event: one happens with probability e = c + a
 * (1-c), and it is a lowering with probability r = a (1-c) / e. A cell is 0 exactly if, going back,
 * `top` lowerings come before the first raising, so for a cell that has been in use for ever zero =
 * r^top,     rate = (1 - zero)^K                   (the paper's formulas) A cell that was 0 when n
 * adds ago the filter was empty is in use if it was raised, and lowered fewer than top times since:
 *     in use after n = sum over j < top of r^j (1-r) P(n adds bring more than j events)
 * and one that was raised by a key n adds ago is 0 if all of its top lowerings are within these:
 *     recall after n = (1 - r^top P(n adds bring at least top events))^K
 *
 * The rate is that of K cells taken at random from those that happen to be in use, and their share
 * is not the same at all times. To second order the rate is the formula's times
 * 1 + K (K-1)/2 V / share^2, V being the variance of the share. Cells close to each other are
 * lowered together; but as every add lowers just P of m and raises at most K, it is the less likely
 * that others were, and the sum of the two is less than for independent cells. Take two cells, and
 * let an add lower both with probability b and just the one, or just the other, with a - b; neither
 * is raised with probability n = (1-2/m)^K. With f(i, j) the chance that, going back, i lowerings
 * of the one and j of the other come before either is raised, f(i, j) = n [b f(i-1, j-1) + (a-b)
 * (f(i-1, j) + f(i, j-1))] / (1 - n (1 - 2a + b)) and f(0, j) = r^j. Their covariance is f(top,
 * top) - zero^2, and V the sum of it over all second cells, over m; b depends on the distance, and
 * is 0 from P on. (Measured: the variance to 2%, the rate to 0.5%, from a kilobyte on.)
 *
 * The capacity is defined as the number of later adds after which RECALL of the keys are still
 * found. For each number of cells K and each width there is a smallest P whose rate is low enough,
 * and a smallest m whose memory is long enough; the plan is the smallest of these.
 */
#include "kinds/stable/stable_plan.h"
#include "filter/planner.h"
#include "filter/rate.h"
#include "filter/size_search.h"

#include <math.h>

#define RECALL 0.9

enum { MAX_HASHES = 8, MAX_WIDTH = 3, MAX_TOP = 7, MIN_CELLS = 64, MAX_RUN = 16383 };

static bly_status check(const bly_geometry *g) {
    unsigned width = blyi_stable_width(g), run = blyi_stable_run(g);
    if (g->hashes < 1 || g->hashes > MAX_HASHES || width < 1 || run < 1)
        return BLY_EGEOMETRY;
    if (g->size < MIN_CELLS || g->size <= run)
        return BLY_EGEOMETRY;
    uint64_t most = (BLYI_MAX_BITS - 8 * BLYI_STABLE_HEADING) / 64;
    return blyi_stable_words(g) > most ? BLY_ETOOBIG : BLY_OK;
}

static uint64_t bits(const bly_geometry *g) {
    return 8 * BLYI_STABLE_HEADING + 64 * blyi_stable_words(g);
}

/* ---- the life of a cell ---------------------------------------------------------------------- */

typedef struct life {
    double event, lowering; /* e and r */
    unsigned top;
} life;

static life life_of(const bly_geometry *g) {
    double m = (double)g->size, raised = -expm1(g->hashes * log1p(-1 / m));
    double lowered = blyi_stable_run(g) / m * (1 - raised);
    return (life){raised + lowered, lowered / (raised + lowered), blyi_stable_top(g)};
}

/* more[j] = P(n adds bring more than j events), for j < top. */
static void more_than(const life *l, double n, double more[MAX_TOP]) {
    double term = exp(n * log1p(-l->event)), most = 1;
    for (unsigned j = 0; j < l->top; j++) {
        most -= term;
        more[j] = fmax(0, most);
        term *= fmax(0, n - j) / (j + 1) * l->event / (1 - l->event);
    }
}

static double in_use(const bly_geometry *g, double n) {
    life l = life_of(g);
    double more[MAX_TOP], sum = 0, still = 1;
    more_than(&l, n, more);
    for (unsigned j = 0; j < l.top; j++, still *= l.lowering)
        sum += still * (1 - l.lowering) * more[j];
    return sum;
}

double blyi_stable_recall(const bly_geometry *g, double later) {
    life l = life_of(g);
    double more[MAX_TOP];
    more_than(&l, later, more);
    return pow(1 - pow(l.lowering, l.top) * more[l.top - 1], g->hashes);
}

/* ---- the rate -------------------------------------------------------------------------------- */

/* f(top, top) - zero^2 for two cells that an add lowers together with probability b. */
static double covariance(const bly_geometry *g, const life *l, double b) {
    double f[MAX_TOP + 1][MAX_TOP + 1], m = (double)g->size, a = blyi_stable_run(g) / m;
    double n = exp(g->hashes * log1p(-2 / m));
    double each = n * (a - b) / (1 - n * (1 - 2 * a + b)), both = n * b / (1 - n * (1 - 2 * a + b));
    f[0][0] = 1;
    for (unsigned i = 1; i <= l->top; i++)
        f[0][i] = f[i][0] = f[0][i - 1] * l->lowering;
    for (unsigned i = 1; i <= l->top; i++)
        for (unsigned j = 1; j <= l->top; j++)
            f[i][j] = both * f[i - 1][j - 1] + each * (f[i - 1][j] + f[i][j - 1]);
    return f[l->top][l->top] - f[0][l->top] * f[0][l->top];
}

/* What the unsteadiness of the share of cells in use, in the long run, does to the rate. */
static double unsteady(const bly_geometry *g) {
    life l = life_of(g);
    double k = g->hashes, m = (double)g->size, zero = pow(l.lowering, l.top), share = 1 - zero;
    double run = blyi_stable_run(g), sum = zero * share, near = fmin(run, m / 2);
    /* The variance is never more than that of independent cells: where even that would not show,
     * it is not computed. */
    if (k * k * zero / share < 1e-4 * m)
        return 1;
    /* The cells lie in a ring; where runs are longer than half of it, they may meet on both sides.
     */
    for (double d = 1; d < near; d++)
        sum += 2 * covariance(g, &l, (run - d + fmax(0, run - (m - d))) / m);
    sum += (m - 2 * near + 1) * covariance(g, &l, fmax(0, 2 * run - m) / m);
    return 1 + k * (k - 1) / 2 * fmax(0, sum) / m / (share * share);
}

static double rate(const bly_geometry *g, double n) {
    return fmin(1, pow(in_use(g, n), g->hashes) * unsteady(g));
}

double blyi_stable_rate(const bly_geometry *g) {
    life l = life_of(g);
    return fmin(1, pow(1 - pow(l.lowering, l.top), g->hashes) * unsteady(g));
}

/* ---- sizing ---------------------------------------------------------------------------------- */

/* The most later adds with a recall of RECALL. */
static uint64_t most(const bly_geometry *g) {
    uint64_t low = 0, high = (uint64_t)1 << 56;
    while (high - low > 1) {
        uint64_t mid = low + (high - low) / 2;
        if (blyi_stable_recall(g, (double)mid) >= RECALL)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static bool set_run(bly_geometry *g, uint64_t run) {
    g->detail = (uint32_t)(4 * run + blyi_stable_width(g));
    return run <= MAX_RUN && run < g->size;
}

/* The shortest run that the formula for many cells allows. */
static uint64_t ideal_run(const bly_geometry *g, double fpr) {
    double r = pow(1 - pow(fpr, 1.0 / g->hashes), 1.0 / blyi_stable_top(g));
    double run = ceil(g->hashes * r / (1 - r));
    return run < 1 ? 1 : run < MAX_RUN ? (uint64_t)run : MAX_RUN + 1;
}

typedef struct memory {
    bly_geometry g;
    double keys;
} memory;

/* How far what is forgotten is from what may be. */
static double excess_at(void *ctx, uint64_t cells) {
    memory *m = ctx;
    m->g.size = cells;
    return blyi_excess(1 - blyi_stable_recall(&m->g, m->keys), 1 - RECALL);
}

/* The smallest number of cells with a memory of `keys`; 0 when there is none. */
static uint64_t enough_cells(bly_geometry g, uint64_t keys) {
    uint64_t low = blyi_stable_run(&g);
    if (low < MIN_CELLS)
        low = MIN_CELLS - 1;
    /* A cell is lost with a chance of about x^top / top!, x being the events that it has seen. */
    double top = blyi_stable_top(&g), share = (1 - RECALL) / g.hashes;
    double events = pow(share * tgamma(top + 1), 1 / top);
    double guess = (double)keys * (blyi_stable_run(&g) + g.hashes) / events;
    uint64_t first = guess < (double)BLYI_MAX_BITS ? (uint64_t)guess : BLYI_MAX_BITS;
    memory m = {g, (double)keys};
    blyi_size_search s = {excess_at, &m, low, first > low ? first : low + 1, BLYI_MAX_BITS, top};
    return blyi_smallest_size(&s);
}

/* A longer run, where few cells need one. */
static uint64_t longer(uint64_t run) {
    return run + 1 + run / 256;
}

/* The smallest with g->hashes and that width, if it does not take more than `limit` bits. */
static bool plan_cells(bly_geometry *g, uint64_t keys, double fpr, uint64_t limit) {
    for (uint64_t run = ideal_run(g, fpr); set_run(g, run); run = longer(run)) {
        g->size = enough_cells(*g, keys);
        if (g->size == 0 || bits(g) > limit)
            return false;
        if (check(g) == BLY_OK && blyi_stable_rate(g) <= fpr)
            return true;
        g->size = BLYI_MAX_BITS;
    }
    return false;
}

/* More and wider cells are mostly better, so these come first; of what is as small, the fewest and
 * narrowest are taken. */
static bly_status plan(uint64_t keys, double fpr, bly_geometry *out) {
    bly_geometry best = {0};
    for (unsigned k = MAX_HASHES; k > 0; k--) {
        for (unsigned width = MAX_WIDTH; width > 0; width--) {
            bly_geometry g = {
                .kind = BLY_STABLE, .hashes = k, .size = BLYI_MAX_BITS, .detail = width};
            if (plan_cells(&g, keys, fpr, best.size ? bits(&best) : UINT64_MAX))
                best = g;
        }
    }
    if (best.size == 0)
        return BLY_ETOOBIG;
    *out = best;
    return BLY_OK;
}

bly_status blyi_stable_fit(uint64_t bytes, double fpr, bly_geometry *out) {
    uint64_t longest = 0;
    if (bytes > BLYI_MAX_BITS / 8)
        return BLY_ETOOBIG;
    /* A body is a multiple of 64 bytes. */
    uint64_t words = bytes / 64 * 8;
    words -= words < BLYI_STABLE_HEADING / 8 ? words : BLYI_STABLE_HEADING / 8;
    for (unsigned k = 1; k <= MAX_HASHES; k++) {
        for (unsigned width = 1; width <= MAX_WIDTH; width++) {
            bly_geometry g = {.kind = BLY_STABLE, .hashes = k, .detail = width};
            g.size = words * blyi_stable_per_word(width);
            uint64_t run = ideal_run(&g, fpr);
            while (set_run(&g, run) && check(&g) == BLY_OK && blyi_stable_rate(&g) > fpr)
                run = longer(run);
            if (!set_run(&g, run) || check(&g) != BLY_OK || most(&g) <= longest)
                continue;
            longest = most(&g);
            *out = g;
        }
    }
    return longest ? BLY_OK : BLY_EIMPOSSIBLE;
}

const blyi_planner blyi_plan_stable = {
    .kind = BLY_STABLE,
    .name = "stable",
    .check = check,
    .bits = bits,
    .width = blyi_stable_width,
    .plan = plan,
    .rate = rate,
    .max_keys = most,
    .fill = in_use,
};
