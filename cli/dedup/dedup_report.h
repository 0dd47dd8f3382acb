/* dedup_report.h - what `dedup` says of its work. */
#ifndef BLOOMERY_CLI_DEDUP_REPORT_H
#define BLOOMERY_CLI_DEDUP_REPORT_H

#include "key.h"
#include "seen.h"
#include <stdio.h>

typedef struct dedup_totals {
    uint64_t records; /* lines, or links taken out of a text */
    uint64_t unique;
    uint64_t texts; /* lines of the text, when links were taken out of it; else 0 */
    double seconds;
    bool links;
    uint64_t window_keys, window_seconds; /* of --window; 0: not so */
} dedup_totals;

/* An estimate in words: "0", "0.03", "1,450". */
enum { DEDUP_ESTIMATE = 32 };
char *dedup_report_estimate(double value, char out[DEDUP_ESTIMATE]);

/* --count: one line. */
void dedup_report_count(FILE *to, const dedup_totals *t, const seen *s, const key_rule *rule);
/* --stats: a few lines. */
void dedup_report_text(FILE *to, const dedup_totals *t, const seen *s, const key_rule *rule);
/* --json: one object. */
void dedup_report_json(FILE *to, const dedup_totals *t, const seen *s, const key_rule *rule);

#endif
