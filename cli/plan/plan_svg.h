/* plan_svg.h - draws a chart as a self-contained SVG file. */
#ifndef BLOOMERY_CLI_PLAN_SVG_H
#define BLOOMERY_CLI_PLAN_SVG_H

#include "plan/plan_answer.h"

/* The file at `path` ("-": standard output) appears only when it is complete; an existing file is
 * refused unless `force`. On failure, reports the error and returns false. */
bool svg_write(const plan_answer *p, const char *path, bool force);

#endif
