#include "plan/plan_chart.h"

#include "text/numbers.h"

#include <math.h>
#include <string.h>

static void add_curve(chart *c, const bly_advice *a, bool chosen) {
    uint64_t keys[CHART_POINTS];
    chart_curve *curve = &c->curves[c->count++];
    curve->advice = a;
    curve->chosen = chosen;
    for (size_t i = 0; i < c->points; i++)
        keys[i] = (uint64_t)((double)c->last * (double)i / (double)(c->points - 1));
    bly_advice_expected_fpr(a, keys, c->points, curve->rates);
    const uint64_t most = plan_max_keys(a);
    for (size_t i = 0; i < c->points; i++)
        if (keys[i] > most)
            curve->rates[i] = NAN;
}

/* From two powers of ten below the promise, or below the rate that the chosen kind really has by
 * then (one for a few keys is much better than it must be), to the first power above the
 * promise that no curve passes. */
static void find_axis(chart *c) {
    double most = 1.01 * c->promise;
    for (size_t i = 0; i < c->count; i++)
        for (size_t at = 0; at < c->points; at++)
            most = fmax(most, c->curves[i].rates[at]); /* passes over what is not a number */
    double least = fmin(c->promise, fmax(c->curves[c->count - 1].advice->fpr, c->promise * 1e-10));
    c->low = (int)floor(log10(least) + 0.05) - 2;
    c->high = (int)ceil(log10(most) - 1e-9);
    if (c->high <= c->low)
        c->high = c->low + 1;
}

/* One, two or five times a power of ten, so that there are at most CHART_TICKS. */
static uint64_t nice_step(uint64_t last) {
    static const unsigned factors[] = {1, 2, 5};
    for (uint64_t ten = 1;; ten *= 10)
        for (size_t i = 0; i < 3; i++)
            if (last / (ten * factors[i]) < CHART_TICKS)
                return ten * factors[i];
}

void chart_make(chart *c, const plan_answer *p, bool all, size_t points) {
    *c = (chart){.capacity = p->choice.needs.keys, .promise = p->choice.needs.fpr};
    c->asked = &p->needs;
    c->last = CHART_REACH * c->capacity;
    c->points = points;
    c->step = nice_step(c->last);
    for (size_t i = 0; all && i < p->count; i++)
        if (p->lines[i].status == BLY_OK && p->lines[i].kind != p->choice.kind)
            add_curve(c, &p->lines[i].advice, false);
    add_curve(c, &p->choice, true);
    find_axis(c);
}

double chart_height(const chart *c, double rate) {
    if (!(rate > 0))
        return -1;
    return (log10(rate) - c->low) / (c->high - c->low);
}

char *chart_tick(uint64_t keys, char *out) {
    (void)number_short((double)keys, out);
    /* "50.0M" is "50M" */
    char *unit = out + strcspn(out, "kMGT"), *from = unit;
    if (memchr(out, '.', (size_t)(unit - out))) {
        while (from[-1] == '0')
            from--;
        if (from[-1] == '.')
            from--;
    }
    memmove(from, unit, strlen(unit) + 1);
    return out;
}
