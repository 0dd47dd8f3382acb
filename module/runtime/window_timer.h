/* window_timer.h - advances timed windows, by a timer and before writes.
 *
 * The library reads no clock, so the module on the master advances the clocks of windows: before
 * adds, in steps of 1/256 of a slice (at least a millisecond), and by a timer, so that the work of
 * clearing expired generations is spread over time even without adds. It replicates each step as
 * BLY.TICK. A replica, or a server that is loading, advances its windows only by these commands, so
 * all copies of a window are equal, byte for byte.
 */
#ifndef BLOOMERY_MODULE_WINDOW_TIMER_H
#define BLOOMERY_MODULE_WINDOW_TIMER_H

#include "types/value.h"

/* Adds a key's value to the timer, if it is a timed window and the timer does not have it under
 * this name yet. Must be called by every command that opens a window, so that a window that was
 * copied or renamed is added again. */
void bm_window_timer_add(rm_ctx *ctx, bm_key *key);
/* Adds a value that is being loaded to the timer, if it is a timed window. (Only the engine knows
 * the name of its key.) */
void bm_window_timer_add_loaded(rm_io *io, bm_value *value);
/* Removes a value from the timer. Must be called before the value's filter is destroyed; from any
 * thread. */
void bm_window_timer_remove(bm_value *value);
/* To be called before a write: advances a timed window to the present time, and replicates this.
 * Does nothing for other filters, or if the write is replayed. */
void bm_window_advance(rm_ctx *ctx, bm_key *key);

/* If `f` is a timed window whose span is so short for its size that clearing expired generations
 * would keep the server busy, returns the minimum span for this size. Returns 0 for all other
 * filters. */
uint64_t bm_window_min_span(const bly_filter *f);

/* Starts the timer. */
int bm_window_timer_start(rm_ctx *ctx);

#endif
