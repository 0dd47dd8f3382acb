/* plan_chart.c - computes the curves of a chart, and joins those that would be drawn on top of each
 * other. */
#include "plan/plan_chart.h"

#include "filters/kind_words.h"
#include "text/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_curve(chart *c, const bly_advice *a) {
    uint64_t keys[CHART_POINTS];
    chart_curve *curve = &c->curves[c->count++];
    curve->kinds[0] = a;
    curve->kind_count = 1;
    for (size_t i = 0; i < c->points; i++)
        keys[i] = (uint64_t)((double)c->last * (double)i / (double)(c->points - 1));
    bly_advice_expected_fpr(a, keys, c->points, curve->rates);
    const uint64_t max = plan_max_keys(a);
    for (size_t i = 0; i < c->points; i++)
        if (keys[i] > max)
            curve->rates[i] = NAN;
}

/* The axis begins a power of ten below the lowest rate that a kind has with all keys, which may be
 * far below the requested one. It ends at the first power above the requested rate and all curves.
 */
static void find_axis(chart *c) {
    double max = 1.01 * c->requested, min = c->requested;
    for (size_t i = 0; i < c->count; i++) {
        min = fmin(min, fmax(c->curves[i].kinds[0]->fpr, c->requested * 1e-8));
        for (size_t at = 0; at < c->points; at++)
            max = fmax(max, c->curves[i].rates[at]); /* ignores NAN */
    }
    c->low = (int)floor(log10(min) + 0.05) - 1;
    c->high = (int)ceil(log10(max) - 1e-9);
    if (c->low > (int)floor(log10(c->requested) + 0.05) - 2)
        c->low = (int)floor(log10(c->requested) + 0.05) - 2;
    if (c->high <= c->low)
        c->high = c->low + 1;
}

/* The distance between ticks: one, two or five times a power of ten, so that there are at most
 * CHART_TICKS. */
static uint64_t nice_step(uint64_t last) {
    static const unsigned factors[] = {1, 2, 5};
    for (uint64_t ten = 1;; ten *= 10)
        for (size_t i = 0; i < 3; i++)
            if (last / (ten * factors[i]) < CHART_TICKS)
                return ten * factors[i];
}

double chart_height(const chart *c, double rate) {
    if (!(rate > 0))
        return -1;
    return (log10(rate) - c->low) / (c->high - c->low);
}

size_t chart_end(const chart *c, const chart_curve *curve) {
    size_t end = c->points - 1;
    while (end > 0 && isnan(curve->rates[end]))
        end--;
    return end;
}

/* ---- nearly equal curves --------------------------------------------------------------------- */

static double drawn_height(const chart *c, const chart_curve *curve, size_t at) {
    return fmin(1, fmax(0, chart_height(c, curve->rates[at])));
}

/* Whether some point of the other curve is so near that both look like one point. */
static bool is_near(const chart *c, const chart_curve *of, size_t at, const chart_curve *to,
                    chart_medium m) {
    const double y = drawn_height(c, of, at), step = m.width / (double)(c->points - 1);
    const size_t reach = (size_t)(1 / step) + 1, end = chart_end(c, to);
    for (size_t i = at > reach ? at - reach : 0; i <= at + reach && i <= end; i++) {
        const double across = step * ((double)i - (double)at),
                     up = m.height * (drawn_height(c, to, i) - y);
        if (across * across + up * up < 1)
            return true;
    }
    return false;
}

/* The share of a curve's visible points that are near another curve. */
static double near_share(const chart *c, const chart_curve *of, const chart_curve *to,
                         chart_medium m) {
    const size_t end = chart_end(c, of);
    size_t near = 0, all = 0;
    for (size_t at = 0; at <= end; at++) {
        if (chart_height(c, of->rates[at]) < 0)
            continue;
        all++;
        near += is_near(c, of, at, to, m);
    }
    return all ? (double)near / (double)all : 1;
}

/* Joins each curve to an earlier one if nearly all of either is near the other. */
static void join_curves(chart *c, chart_medium m) {
    static const double nearly_all = 0.9;
    size_t distinct = 1;
    for (size_t i = 1; i < c->count; i++) {
        chart_curve *curve = &c->curves[i], *same = NULL;
        for (chart_curve *other = c->curves; other < c->curves + distinct && !same; other++)
            if (near_share(c, curve, other, m) > nearly_all &&
                near_share(c, other, curve, m) > nearly_all)
                same = other;
        if (same)
            same->kinds[same->kind_count++] = curve->kinds[0];
        else if (distinct++ < i)
            c->curves[distinct - 1] = *curve;
    }
    c->count = distinct;
}

void chart_make(chart *c, const plan_answer *p, chart_medium medium) {
    *c = (chart){.capacity = p->choice.needs.keys, .requested = p->choice.needs.fpr};
    c->plan = p;
    c->last = plan_is_counted_window(p, &p->choice) ? c->capacity : CHART_REACH * c->capacity;
    c->points = medium.points;
    c->step = nice_step(c->last);
    for (size_t i = 0; i < p->shown_count; i++)
        add_curve(c, &p->lines[p->shown[i]].advice);
    find_axis(c);
    join_curves(c, medium);
}

/* ---- words ----------------------------------------------------------------------------------- */

char *chart_names(const chart_curve *curve, char out[CHART_NAMES]) {
    size_t used = 0;
    for (size_t i = 0; i < curve->kind_count && used < CHART_NAMES; i++)
        used += (size_t)snprintf(out + used, CHART_NAMES - used, "%s%s", i ? ", " : "",
                                 bly_kind_name(curve->kinds[i]->kind));
    return out;
}

const char *chart_axis(const chart *c) {
    return kinds_can(c->plan->choice.kind, BLY_FORGETS) ? "keys within the window" : "keys added";
}

char *chart_tick(uint64_t keys, char *out) {
    (void)number_short((double)keys, out);
    /* "50.0M" becomes "50M" */
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
