/* progress.h - a line on standard error that shows the progress of a long run: rate, percentage,
 * time left. Nothing is shown if standard error is not a terminal, or with --quiet. */
#ifndef BLOOMERY_CLI_PROGRESS_H
#define BLOOMERY_CLI_PROGRESS_H

#include <bloomery/base.h>

typedef struct progress {
    bool shown, drawn;
    unsigned columns;
    double start, last;
} progress;

/* prints: the command also writes data to standard output; then nothing is shown if that is a
 * terminal too. */
void progress_begin(progress *p, bool prints);
/* Cheap; redraws a few times a second. total 0: unknown. */
void progress_show(progress *p, uint64_t records, uint64_t bytes, uint64_t total);
/* The same if only bytes are counted. */
void progress_show_bytes(progress *p, uint64_t bytes, uint64_t total);
void progress_end(progress *p); /* wipes the line */
double progress_seconds(const progress *p);

double progress_clock(void); /* seconds of a monotonic clock */

#endif
