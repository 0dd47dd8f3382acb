/* seen_window.h - what `dedup --window` needs besides any other filter: a clock, a rate that rises
 * and falls, and a mark that does not grow old.
 *
 * The mark is the key by which a state knows its rule (seen.c). In a window it would be forgotten
 * like any other, so it is added again when it has reached the window's older half.
 *
 * In a window by number of lines a mark is an arrival like any line, and there is room for some
 * marks among the lines: the window is made for N + 4 arrivals, so that its 8 generations have
 * q = ceil((N + 4) / 8) arrivals each, and the last 8 q are known. A mark in the newest generation
 * is not added again: its age is at most q, which is not above N/2 (not above 1, where N is 1). So
 * at least one line comes between two marks, however many runs have none. N/2 + 1 - q lines or more
 * come between two marks, so that at most four are among the last N lines; where N is 5 there may
 * be five, and the last 16 arrivals are known.
 */
#ifndef BLOOMERY_CLI_SEEN_WINDOW_H
#define BLOOMERY_CLI_SEEN_WINDOW_H

#include "dedup/seen.h"

bool seen_wish_windowed(const seen_wish *wish);

/* The window wished for. */
bly_spec seen_window_spec(const seen_wish *wish);

/* Whether the state is the window wished for, which may be none. false: reported. */
bool seen_window_fits(seen *s, const seen_wish *wish);

/* After it was made or loaded: sets the clock. false: reported. */
bool seen_window_begin(seen *s, const seen_wish *wish);

/* Sees to it that the mark is there and will be for a while. *known: it was there. */
bool seen_window_mark(seen *s, bly_hash mark, bool *known);

/* The rate asked, whatever is stored; and that which held when the last `ago` keys had not come. */
double seen_window_promise(const seen *s);
double seen_window_rate(seen *s, uint64_t ago);

#endif
