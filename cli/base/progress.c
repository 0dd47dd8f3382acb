#include "progress.h"

#include "message.h"
#include "numbers.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double first_after = 0.5, redraw_after = 0.2;

double progress_clock(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress_begin(progress *p, bool prints) {
    bool clash = prints && isatty(STDOUT_FILENO);
    *p = (progress){.shown = isatty(STDERR_FILENO) && !clash && !message_quiet(),
                    .columns = message_columns(STDERR_FILENO),
                    .start = progress_clock()};
    p->last = p->start + first_after - redraw_after;
}

double progress_seconds(const progress *p) {
    return progress_clock() - p->start;
}

void progress_show(progress *p, uint64_t records, uint64_t bytes, uint64_t total) {
    char lines[NUMBER_TEXT], rate[NUMBER_TEXT], left[NUMBER_TEXT];
    if (!p->shown)
        return;
    double time = progress_clock(), spent = time - p->start;
    if (time - p->last < redraw_after)
        return;
    p->last = time;
    p->drawn = true;
    (void)number_short((double)records, lines);
    (void)number_short((double)records / spent, rate);
    char line[160];
    if (total > 0 && bytes > 0) {
        double share = (double)bytes / (double)total;
        (void)number_time(share < 1 ? spent / share - spent : 0, left);
        (void)snprintf(line, sizeof line, "%3.0f%%  %s lines  %s/s  %s left", 100 * share, lines,
                       rate, left);
    } else
        (void)snprintf(line, sizeof line, "%s lines  %s/s  %s", lines, rate,
                       number_time(spent, left));
    (void)fprintf(stderr, "\r\033[K%.*s", (int)p->columns - 1, line);
}

void progress_end(progress *p) {
    if (p->drawn)
        (void)fputs("\r\033[K", stderr);
    p->drawn = false;
}
