/* Computing a rate takes a microsecond and more, so a size is looked for with few of them: from the
 * guess, in steps that begin with what the excess there suggests and double, until there is a size
 * that is too small and one that is not; then false position in ln(size) with Illinois weights, and
 * a bisection now and then in case of bad luck. */
#include "filter/size_search.h"

#include <float.h>
#include <math.h>

#define UNKNOWN 1e3 /* excess of a size that was not tried */

typedef struct trial {
    uint64_t size;
    double excess;
} trial;

double blyi_excess(double rate, double goal) {
    double excess = log(fmax(rate, 1e-300) / goal);
    return rate > goal ? fmax(excess, DBL_MIN) : fmin(excess, 0);
}

static trial try_size(const blyi_size_search *s, uint64_t size) {
    return (trial){size, s->excess(s->ctx, size)};
}

/* How far to go from a trial: where the goal should be, and a little further. */
static uint64_t stride(const blyi_size_search *s, trial t) {
    double part = fmin(fabs(t.excess) / s->steep, 1);
    return (uint64_t)((double)t.size * (part * 1.125 + 0x1p-10)) + 1;
}

/* Between `low`, which is too small, and `high`, which is not: where a straight line in ln(size)
 * crosses the goal, kept strictly inside. */
static uint64_t crossing(trial low, trial high) {
    double a = log((double)low.size + 0.5), b = log((double)high.size + 0.5);
    double at = exp(a + (b - a) * low.excess / (low.excess - high.excess));
    uint64_t guess = at > (double)low.size ? (uint64_t)at : low.size;
    if (guess <= low.size)
        return low.size + 1;
    return guess < high.size ? guess : high.size - 1;
}

static uint64_t between(const blyi_size_search *s, trial low, trial high) {
    for (unsigned turn = 1, side = 0; high.size - low.size > 1; turn++) {
        uint64_t mid = turn % 4 ? crossing(low, high) : low.size + (high.size - low.size) / 2;
        trial t = try_size(s, mid);
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
    trial low = {s->low, UNKNOWN}, high = try_size(s, s->first);
    uint64_t step = stride(s, high);
    if (high.excess > 0) {
        for (; high.excess > 0; step *= 2) {
            low = high;
            if (low.size == s->most)
                return 0;
            high = try_size(s, s->most - low.size > step ? low.size + step : s->most);
        }
    } else {
        for (; low.excess == UNKNOWN && high.size - s->low > step; step *= 2) {
            trial t = try_size(s, high.size - step);
            if (t.excess > 0)
                low = t;
            else
                high = t;
        }
    }
    return between(s, low, high);
}
