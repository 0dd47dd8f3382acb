/* plot.h - draws a chart on a terminal. */
#ifndef BLOOMERY_CLI_PLOT_H
#define BLOOMERY_CLI_PLOT_H

#include "plan/plan_answer.h"

/* As wide as the terminal on standard output, at most 100 columns. Unicode and colours are used if
 * standard output may have them. With `all`, says that the chart does not show every kind of the
 * table. */
void plot_print(const plan_answer *p, bool all);

#endif
