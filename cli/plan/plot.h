/* plot.h - a chart for a terminal. */
#ifndef BLOOMERY_CLI_PLOT_H
#define BLOOMERY_CLI_PLOT_H

#include "plan/plan_chart.h"

typedef struct plot_style {
    unsigned columns; /* of the terminal */
    bool unicode;     /* the first curve in Braille characters, two dots wide and four high */
} plot_style;

/* The terminal behind standard output (100 columns at most), and what its locale can show. */
plot_style plot_style_here(void);

chart_medium plot_medium(plot_style style); /* what the chart is to be made for */

/* Colours are those that standard output may have. */
void plot_print(const chart *c, plot_style style, FILE *to);

#endif
