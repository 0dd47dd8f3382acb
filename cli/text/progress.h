/* progress.h - one line on a terminal's standard error that tells how far a long job is: rate,
 * percent, time left. Nothing at all when standard error is no terminal, or under --quiet. */
#ifndef BLOOMERY_CLI_PROGRESS_H
#define BLOOMERY_CLI_PROGRESS_H

#include <bloomery/base.h>

typedef struct progress {
    bool shown, drawn;
    unsigned columns;
    double start, last;
} progress;

/* prints: the command writes data to standard output meanwhile; then nothing is shown when that is
 * a terminal too. */
void progress_begin(progress *p, bool prints);
/* Cheap; redraws a few times a second. total 0: unknown. */
void progress_show(progress *p, uint64_t records, uint64_t bytes, uint64_t total);
/* The same for a job of bytes alone. */
void progress_show_bytes(progress *p, uint64_t bytes, uint64_t total);
void progress_end(progress *p); /* wipes the line */
double progress_seconds(const progress *p);

double progress_clock(void); /* seconds since some moment, never going back */

#endif
