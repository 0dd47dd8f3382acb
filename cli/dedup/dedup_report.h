/* dedup_report.h - what `dedup` reports at its end. */
#ifndef BLOOMERY_CLI_DEDUP_REPORT_H
#define BLOOMERY_CLI_DEDUP_REPORT_H

#include "dedup/state.h"
#include "io/pipeline.h"

typedef struct dedup_report {
    const pipeline *lines;
    const dedup_state *state;
    const state_facts *facts;
} dedup_report;

/* --count: one line. */
void dedup_report_count(const dedup_report *r, FILE *to);
/* --stats: a few lines. */
void dedup_report_text(const dedup_report *r, FILE *to);
/* For a person at a terminal: the expected number of new lines that were dropped, and how to drop
 * none. Prints nothing if standard error is no terminal, with --exact or --confirm, or if
 * state_judge warns. */
void dedup_report_dropped(const dedup_report *r);
/* --json: one object. */
void dedup_report_json(const dedup_report *r, FILE *to);

#endif
