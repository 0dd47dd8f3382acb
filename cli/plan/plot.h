/* plot.h - draws a chart on a terminal. */
#ifndef BLOOMERY_CLI_PLOT_H
#define BLOOMERY_CLI_PLOT_H

#include "plan/plan_chart.h"

typedef struct plot_style {
    unsigned columns; /* of the terminal */
    bool unicode;     /* draws the first curve in Braille characters of 2 by 4 dots */
} plot_style;

/* The width of the terminal on standard output, at most 100 columns, and whether its locale is
 * UTF-8. */
plot_style plot_style_here(void);

chart_medium plot_medium(plot_style style); /* for chart_make */

/* In colour if standard output may have colour. */
void plot_print(const chart *c, plot_style style, FILE *to);

#endif
