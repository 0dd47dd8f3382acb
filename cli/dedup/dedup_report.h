/* dedup_report.h - what `dedup` reports at its end. */
#ifndef BLOOMERY_CLI_DEDUP_REPORT_H
#define BLOOMERY_CLI_DEDUP_REPORT_H

#include "dedup/dedup_options.h"
#include "io/pipeline.h"

/* Prints the totals as --count, --stats and --json request. Without them, tells a person at a
 * terminal how many new lines were probably dropped, and how to drop none. Then warns if a filter
 * has more keys than its capacity. Returns false if most new lines were dropped. */
bool dedup_report(const dedup_options *o, const pipeline *lines, dedup_state *state);

#endif
