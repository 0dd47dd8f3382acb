/* progress.c - draws the progress line on standard error, if that is a terminal: after half a
 * second, then five times a second. */
#include "text/progress.h"

#include "text/message.h"
#include "text/numbers.h"

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

/* Whether it is time to draw again. If so, sets *spent to the seconds since the start. */
static bool due(progress *p, double *spent) {
    const double time = progress_clock();
    if (!p->shown || time - p->last < redraw_after)
        return false;
    p->last = time;
    p->drawn = true;
    *spent = time - p->start;
    return true;
}

static void draw(const progress *p, const char *line) {
    (void)fprintf(stderr, "\r\033[K%.*s", (int)p->columns - 1, line);
}

/* The time left, at the average speed so far. */
static char *time_left(double spent, double share, char out[NUMBER_TEXT]) {
    return number_time(share < 1 ? spent / share - spent : 0, out);
}

void progress_show(progress *p, uint64_t records, uint64_t bytes, uint64_t total) {
    char line[160], lines[NUMBER_TEXT], rate[NUMBER_TEXT], left[NUMBER_TEXT];
    double spent;
    if (!due(p, &spent))
        return;
    (void)number_short((double)records, lines);
    (void)number_short((double)records / spent, rate);
    if (total > 0 && bytes > 0) {
        double share = (double)bytes / (double)total;
        (void)snprintf(line, sizeof line, "%3.0f%%  %s lines  %s/s  %s left", 100 * share, lines,
                       rate, time_left(spent, share, left));
    } else
        (void)snprintf(line, sizeof line, "%s lines  %s/s  %s", lines, rate,
                       number_time(spent, left));
    draw(p, line);
}

void progress_show_bytes(progress *p, uint64_t bytes, uint64_t total) {
    char line[160], done[NUMBER_TEXT], all[NUMBER_TEXT], rate[NUMBER_TEXT], left[NUMBER_TEXT];
    double spent;
    if (total == 0 || bytes == 0 || !due(p, &spent))
        return;
    const double share = (double)bytes / (double)total;
    (void)snprintf(line, sizeof line, "%3.0f%%  %s of %s  %s/s  %s left", 100 * share,
                   number_bytes(bytes, done), number_bytes(total, all),
                   number_bytes((uint64_t)((double)bytes / spent), rate),
                   time_left(spent, share, left));
    draw(p, line);
}

void progress_end(progress *p) {
    if (p->drawn)
        (void)fputs("\r\033[K", stderr);
    p->drawn = false;
}
