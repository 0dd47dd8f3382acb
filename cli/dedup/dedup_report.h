/* dedup_report.h - what `dedup` says of its work. */
#ifndef BLOOMERY_CLI_DEDUP_REPORT_H
#define BLOOMERY_CLI_DEDUP_REPORT_H

#include "dedup/seen.h"
#include "dedup/seen_redis.h"
#include "io/key.h"
#include <stdio.h>

typedef struct dedup_totals {
    uint64_t records; /* lines, or links taken out of a text */
    uint64_t unique;
    uint64_t texts; /* lines of the text, when links were taken out of it; else 0 */
    double seconds;
    bool links;
    uint64_t window_keys, window_seconds; /* of --window; 0: not so */
    const seen_redis *redis;              /* NULL: remembered here */
} dedup_totals;

/* Lines that were seen before, or taken for such; without those that got no answer. */
uint64_t dedup_totals_repeated(const dedup_totals *t);
/* Where t->redis is set: of those, how many were new, about; NAN: there is no telling. */
double dedup_totals_lost(const dedup_totals *t);

/* An estimate in words: "0", "0.03", "1,450". */
enum { DEDUP_ESTIMATE = 32 };
char *dedup_report_estimate(double value, char out[DEDUP_ESTIMATE]);
/* The same as "about 1,450"; of NAN "most". */
char *dedup_report_about(double value, char out[DEDUP_ESTIMATE]);

/* --count: one line. */
void dedup_report_count(FILE *to, const dedup_totals *t, const seen *s, const key_rule *rule);
/* For these two `s` is not used where t->redis is set.
 * --stats: a few lines. */
void dedup_report_text(FILE *to, const dedup_totals *t, const seen *s, const key_rule *rule);
/* --json: one object. */
void dedup_report_json(FILE *to, const dedup_totals *t, const seen *s, const key_rule *rule);

#endif
