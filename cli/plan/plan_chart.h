/* plan_chart.h - computes the chart of rates by number of keys: curves and axes, without drawing.
 *
 * The horizontal axis is linear, from 0 to CHART_REACH times the planned number of keys, or for a
 * window by number to that number. The vertical axis is logarithmic, over whole powers of ten.
 */
#ifndef BLOOMERY_CLI_PLAN_CHART_H
#define BLOOMERY_CLI_PLAN_CHART_H

#include "plan/plan_answer.h"

enum { CHART_REACH = 3, CHART_POINTS = 400, CHART_TICKS = 8 };

/* The curve of one kind that `plan` shows, or of several kinds with nearly the same curve. */
typedef struct chart_curve {
    const bly_advice *kinds[PLAN_SHOWN];
    size_t kind_count;
    double rates[CHART_POINTS]; /* at equal steps over the axis; NAN where no more keys fit */
} chart_curve;

typedef struct chart {
    const plan_answer *plan;
    uint64_t capacity, last; /* planned keys, and keys at the end of the axis */
    double requested;        /* the planned rate */
    int low, high;           /* the vertical axis: 10^low to 10^high */
    uint64_t step;           /* between ticks of the horizontal axis */
    size_t points, count;
    chart_curve curves[PLAN_SHOWN]; /* the chosen kind's comes first */
} chart;

/* The properties of the output: the number of points from left to right (2 to CHART_POINTS), and
 * the size, in units of the distance at which two lines can just be distinguished. */
typedef struct chart_medium {
    size_t points;
    double width, height;
} chart_medium;

/* The answer must outlive the chart. */
void chart_make(chart *c, const plan_answer *p, chart_medium medium);

/* The position of a rate on the vertical axis: 0 at the bottom, 1 at the top, negative below. */
double chart_height(const chart *c, double rate);

/* The last point of a curve: the one where no more keys fit into the filter, or c->points - 1. */
size_t chart_end(const chart *c, const chart_curve *curve);

/* The names of the kinds of a curve: "classic, partitioned". */
enum { CHART_NAMES = 160 };
char *chart_names(const chart_curve *curve, char out[CHART_NAMES]);

/* What the horizontal axis counts: "keys added". */
const char *chart_axis(const chart *c);

/* The label of a tick: "0", "50M". */
char *chart_tick(uint64_t keys, char *out);

#endif
