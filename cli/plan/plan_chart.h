/* plan_chart.h - rates against keys, ready to be drawn: curves and axes, but no pixels.
 *
 * The horizontal axis is linear, from no keys to CHART_REACH times as many as planned for; the
 * vertical one is logarithmic, over whole powers of ten.
 */
#ifndef BLOOMERY_CLI_PLAN_CHART_H
#define BLOOMERY_CLI_PLAN_CHART_H

#include "plan/plan_answer.h"

enum { CHART_REACH = 3, CHART_POINTS = 400, CHART_TICKS = 8 };

/* One of the kinds that `plan` shows, or several whose curves cannot be told apart. */
typedef struct chart_curve {
    const bly_advice *kinds[PLAN_SHOWN];
    size_t kind_count;
    double rates[CHART_POINTS]; /* at equal steps over the whole axis; NAN where it takes no more */
} chart_curve;

typedef struct chart {
    const plan_answer *plan;
    uint64_t capacity, last; /* keys planned for, and at the axis' end */
    double requested;        /* the rate planned for */
    int low, high;           /* the vertical axis: 10^low to 10^high */
    uint64_t step;           /* between ticks of the horizontal axis */
    size_t points, count;
    chart_curve curves[PLAN_SHOWN]; /* the chosen kind's comes first */
} chart;

/* Where it is to be drawn: how many points there are from left to right (2 .. CHART_POINTS), and
 * the size in distances at which two lines can just be told apart. */
typedef struct chart_medium {
    size_t points;
    double width, height;
} chart_medium;

/* The answer must outlive the chart. */
void chart_make(chart *c, const plan_answer *p, chart_medium medium);

/* Where a rate stands on the vertical axis: 0 at its foot, 1 at its top; less than 0 below. */
double chart_height(const chart *c, double rate);

/* Whether a curve never rises to the foot of the axis: then it is drawn on the foot. */
bool chart_is_low(const chart *c, const chart_curve *curve);

/* The last point of a curve, where its filter takes no more keys, or c->points - 1. */
size_t chart_end(const chart *c, const chart_curve *curve);

/* "classic, partitioned" */
enum { CHART_NAMES = 160 };
char *chart_names(const chart_curve *curve, char out[CHART_NAMES]);

/* "0", "50M" */
char *chart_tick(uint64_t keys, char *out);

#endif
