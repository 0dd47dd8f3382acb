/* window_timer.h - advances timed windows, by a timer and before writes.
 *
 * The library reads no clock; the master does. It advances a window's clock before adds, in steps
 * of 1/256 of a slice (a millisecond at least), and by a timer, so that clearing expired
 * generations is spread out even without adds. It replicates each step as BLY.TICK. A replica, or a
 * server that loads, advances its windows only by these commands, so all copies are the same, byte
 * for byte.
 */
#ifndef BLOOMERY_MODULE_WINDOW_TIMER_H
#define BLOOMERY_MODULE_WINDOW_TIMER_H

#include "types/value.h"

/* Adds a key's value to the timer, if it is a timed window and not there under this name. To be
 * called by every command that opens one: so a window that was copied or renamed is added again. */
void bm_window_timer_add(rm_ctx *ctx, bm_key *key);
/* The same for a value that is being loaded, whose name only the engine knows. */
void bm_window_timer_add_loaded(rm_io *io, bm_value *value);
/* To be called, from any thread, before the value's filter is destroyed. */
void bm_window_timer_remove(bm_value *value);
/* Before a write: advances the window to the present and replicates that. Does nothing to other
 * filters, or when the write is replayed. */
void bm_window_advance(rm_ctx *ctx, bm_key *key);

/* The minimum span for a timed window of this size, if the span of this one is shorter: clearing
 * expired generations would keep the server busy. 0 for all other filters. */
uint64_t bm_window_min_span(const bly_filter *f);

/* Starts the timer. */
int bm_window_timer_start(rm_ctx *ctx);

#endif
