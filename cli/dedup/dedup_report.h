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
/* --json: one object. */
void dedup_report_json(const dedup_report *r, FILE *to);

#endif
