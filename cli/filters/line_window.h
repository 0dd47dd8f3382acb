/* line_window.h - plans a window of lines, which `dedup --window` creates and `plan` mentions.
 *
 * A window by number of lines has a slightly larger capacity than its number of lines: a state in a
 * file adds a key that is not a line (dedup/state_window.c).
 *
 * For a window by time, the library assumes that keys come evenly, so that each generation gets an
 * equal share. But lines come in bursts, or all at once from a file, and are then all in one
 * generation. So each generation has space for all keys expected within the window, at the
 * requested rate p. If the keys are spread over several generations, the rate is lower. This
 * multiplies the memory by the number of generations, so there are 4, not 8. The library is told to
 * plan a window for 4 times as many keys, at the rate 1 - (1 - p)^5.
 */
#ifndef BLOOMERY_CLI_LINE_WINDOW_H
#define BLOOMERY_CLI_LINE_WINDOW_H

#include "text/numbers.h"

#include <bloomery/bloomery.h>

enum {
    LINE_WINDOW_SPARE = 4,      /* space for keys that are not lines, in a window by number */
    LINE_WINDOW_GENERATIONS = 4 /* generations of a window by time */
};

typedef struct line_window {
    uint64_t lines; /* lines in a window by number; 0: the window is by time */
    uint64_t span;  /* milliseconds of a window by time; 0: it is by number */
    uint64_t keys;  /* expected within the span; 0: a million */
    double rate;    /* requested false-positive rate */
} line_window;

bly_spec line_window_spec(const line_window *w);

/* The approximate size in bytes; 0: it cannot be created. */
uint64_t line_window_bytes(const line_window *w);

/* Gets the plan of an existing filter. Returns false if it was not created from such a plan. */
bool line_window_of(const bly_filter *f, line_window *out);
/* Writes the window as a value of --window: "10,000", "15m". */
char *line_window_text(const line_window *w, char out[NUMBER_TEXT]);

/* The rate of one generation of a window whose rate is `rate`. The window has `generations` full
 * generations and the current one. */
double line_window_part(double rate, uint32_t generations);

#endif
