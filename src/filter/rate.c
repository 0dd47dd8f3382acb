/* The expected false-positive rate of a geometry, and the formulas that several kinds share.
 *
 * Cells. Throw t balls into B cells; X cells are then occupied. k later probes all hit occupied
 * cells with probability E[(X/B)^k]. To second order
 *     (EX/B)^k * (1 + k(k-1)/2 * V/EX^2),   e1 = (1-1/B)^t, EX = B(1-e1),
 *     V = B e1 (1-e1) + B(B-1)(e2 - e1^2),  e2 = (1-2/B)^t
 * The first factor is the textbook formula; the second corrects for the spread of X (Bose et al.
 * 2008) and is what makes blocks of 512 cells come out right: without it the rate is 2% too low
 * at 0.1% and 3.5% at 0.01%. e2 - e1^2 is computed as e1^2 expm1(t log1p(-1/(B-1)^2)), which does
 * not cancel.
 *
 * Blocks. A block receives i of the n keys with binomial probability; the filter's rate is the
 * mean of a block's rate over i (Putze, Sanders and Singler 2007): binomial_mean.c.
 */
#include "filter/rate.h"
#include "filter/kind.h"

#include <math.h>

double blyi_power(double x, unsigned k) {
    double r = 1;
    for (; k; k >>= 1, x *= x)
        if (k & 1)
            r *= x;
    return r;
}

double blyi_cells_rate(double B, double t, unsigned k) {
    if (t <= 0)
        return 0;
    double e1 = exp(t * log1p(-1 / B));
    double occupied = B * -expm1(t * log1p(-1 / B));
    double spread =
        B * e1 * (1 - e1) + B * (B - 1) * e1 * e1 * expm1(t * log1p(-1 / ((B - 1) * (B - 1))));
    double correction = 1 + k * (k - 1.0) / 2 * fmax(spread, 0) / (occupied * occupied);
    return fmin(1, blyi_power(occupied / B, k) * correction);
}

double blyi_rate(const bly_geometry *g, double n) {
    return n > 0 ? fmin(1, blyi_planner_of(g->kind)->rate(g, n)) : 0;
}

double blyi_log_miss(const bly_geometry *g) {
    return blyi_planner_of(g->kind)->layout->log_miss(g);
}

double blyi_hash_floor(double n, unsigned bits) {
    return fmin(1, ldexp(n, -(int)bits));
}
