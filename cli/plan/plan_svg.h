/* svg.h - a chart as a picture: one SVG file that needs nothing else. */
#ifndef BLOOMERY_CLI_SVG_H
#define BLOOMERY_CLI_SVG_H

#include "plan/plan_chart.h"

/* Appears at `path` ("-": standard output) only when it is whole; an existing file is refused
 * unless `force`. false: reported. */
bool svg_write(const chart *c, const char *path, bool force);

#endif
