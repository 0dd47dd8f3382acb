/* line_window.h - the plan of a window of lines: what `dedup --window` creates, and `plan`
 * foretells.
 *
 * By number of lines, a window has room for a few more keys than lines: a state in a file adds a
 * key that is no line (dedup/state_window.c).
 *
 * By time, the library plans for keys that come evenly: each generation gets its share. Lines come
 * in bursts, or all at once out of a file, and then they are all in one generation. So one
 * generation is made large enough for all keys expected within the window, at the requested rate;
 * spread over several generations they are wrong less often. That costs as many times the memory as
 * there are generations, so there are 4 here, not 8. In the library's terms it is a window for 4
 * times as many keys, at the rate 1 - (1 - p)^5.
 */
#ifndef BLOOMERY_CLI_LINE_WINDOW_H
#define BLOOMERY_CLI_LINE_WINDOW_H

#include "text/numbers.h"

#include <bloomery/bloomery.h>

enum {
    LINE_WINDOW_SPARE = 4,      /* keys that are no lines, in a window by number */
    LINE_WINDOW_GENERATIONS = 4 /* of a window by time */
};

typedef struct line_window {
    uint64_t lines; /* the last so many lines; 0: by time */
    uint64_t span;  /* in milliseconds; 0: by number */
    uint64_t keys;  /* by time: how many are expected within the span; 0: a million */
    double rate;    /* requested false-positive rate */
} line_window;

/* The capacity of the filter. */
uint64_t line_window_capacity(const line_window *w);
bly_spec line_window_spec(const line_window *w);

/* About how many bytes it takes; 0: it cannot be created. */
uint64_t line_window_bytes(const line_window *w);

/* The window that a filter was created as. false: it is none, or not created by such a spec. */
bool line_window_of(const bly_filter *f, line_window *out);
/* As --window has it: "10,000", "15m". */
char *line_window_text(const line_window *w, char out[NUMBER_TEXT]);

/* The rate of one generation in a window that has so many besides the one being filled. */
double line_window_part(double rate, uint32_t generations);

#endif
