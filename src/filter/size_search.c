/* The search for the smallest size whose rate is low enough.
 *
 * Computing a rate takes a microsecond or more, so the search should compute few. It starts from
 * the guess, and goes in steps that double, until it has a size that is too small and one that is
 * not. The length of the first step follows from the excess at the guess. After that it uses false
 * position in ln(size) with Illinois weights, and every fourth time a bisection, in case false
 * position converges slowly. */
#include "filter/size_search.h"

#include <float.h>
#include <math.h>

#define UNKNOWN 1e3 /* excess of a size that was not tried */

typedef struct size_trial {
    uint64_t size;
    double excess;
} size_trial;

double blyi_excess(double rate, double goal) {
    double excess = log(fmax(rate, 1e-300) / goal);
    return rate > goal ? fmax(excess, DBL_MIN) : fmin(excess, 0);
}

static size_trial try_size(const blyi_size_search *s, uint64_t size) {
    return (size_trial){size, s->excess(s->ctx, size)};
}

/* Returns the length of the first step from a trial: to where the goal should be, and a little
 * beyond. */
static uint64_t search_stride(const blyi_size_search *s, size_trial t) {
    double part = fmin(fabs(t.excess) / s->steep, 1);
    return (uint64_t)((double)t.size * (part * 1.125 + 0x1p-10)) + 1;
}

/* Returns a size strictly between `low`, which is too small, and `high`, which is not: the one at
 * which a straight line in ln(size) reaches the goal. */
static uint64_t search_crossing(size_trial low, size_trial high) {
    double a = log((double)low.size + 0.5), b = log((double)high.size + 0.5);
    double at = exp(a + (b - a) * low.excess / (low.excess - high.excess));
    uint64_t guess = at > (double)low.size ? (uint64_t)at : low.size;
    if (guess <= low.size)
        return low.size + 1;
    return guess < high.size ? guess : high.size - 1;
}

static uint64_t search_between(const blyi_size_search *s, size_trial low, size_trial high) {
    for (unsigned round = 1, side = 0; high.size - low.size > 1; round++) {
        uint64_t mid =
            round % 4 ? search_crossing(low, high) : low.size + (high.size - low.size) / 2;
        size_trial t = try_size(s, mid);
        if (t.excess > 0) {
            low = t;
            high.excess *= side == 1 ? 0.5 : 1;
            side = 1;
        } else {
            high = t;
            low.excess *= side == 2 ? 0.5 : 1;
            side = 2;
        }
    }
    return high.size;
}

uint64_t blyi_smallest_size(const blyi_size_search *s) {
    size_trial low = {s->low, UNKNOWN}, high = try_size(s, s->first);
    uint64_t step = search_stride(s, high);
    if (high.excess > 0) {
        for (; high.excess > 0; step *= 2) {
            low = high;
            if (low.size == s->max)
                return 0;
            high = try_size(s, s->max - low.size > step ? low.size + step : s->max);
        }
    } else {
        for (; low.excess == UNKNOWN && high.size - s->low > step; step *= 2) {
            size_trial t = try_size(s, high.size - step);
            if (t.excess > 0)
                low = t;
            else
                high = t;
        }
    }
    return search_between(s, low, high);
}
