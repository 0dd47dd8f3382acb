/* plan_chart.h - rates against keys, ready to be drawn: curves and axes, but no pixels.
 *
 * The horizontal axis is linear, from no keys to CHART_REACH times as many as planned for; the
 * vertical one is logarithmic, over whole powers of ten.
 */
#ifndef BLOOMERY_CLI_PLAN_CHART_H
#define BLOOMERY_CLI_PLAN_CHART_H

#include "plan/plan_answer.h"

enum { CHART_REACH = 3, CHART_POINTS = 400, CHART_TICKS = 8 };

typedef struct chart_curve {
    const bly_advice *advice;
    bool chosen;
    double rates[CHART_POINTS]; /* at equal steps over the whole axis; NAN where it takes no more */
} chart_curve;

typedef struct chart {
    const bly_needs *asked;  /* what was to be found is 0 */
    uint64_t capacity, last; /* keys planned for, and at the axis' end */
    double promise;          /* the rate planned for */
    int low, high;           /* the vertical axis: 10^low to 10^high */
    uint64_t step;           /* between ticks of the horizontal axis */
    size_t points, count;
    chart_curve curves[PLAN_KINDS];
} chart;

/* The chosen kind alone, or every kind that fits; the chosen one comes last, to be drawn on top.
 * 2 <= points <= CHART_POINTS. The answer must outlive the chart. */
void chart_make(chart *c, const plan_answer *p, bool all, size_t points);

/* Where a rate stands on the vertical axis: 0 at its foot, 1 at its top; less than 0 below. */
double chart_height(const chart *c, double rate);

/* "0", "50M" */
char *chart_tick(uint64_t keys, char *out);

#endif
