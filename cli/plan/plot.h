/* plot.h - a chart for a terminal. */
#ifndef BLOOMERY_CLI_PLOT_H
#define BLOOMERY_CLI_PLOT_H

#include "plan/plan_chart.h"

/* What a curve is drawn with: Braille characters, two dots wide and four high each, or asterisks.
 */
typedef struct plot_style {
    unsigned columns; /* of the terminal */
    bool unicode;
} plot_style;

/* As wide as the terminal behind standard output (100 columns at most), in what its locale can
 * show. */
plot_style plot_style_here(void);

/* How many points of a curve can be told apart. */
size_t plot_points(plot_style style);

/* The last curve, that is the chosen one; `c` was made with plot_points points. Colours are those
 * that standard output may have. */
void plot_print(const chart *c, plot_style style, FILE *to);

#endif
