/* clock.h - windows by time: who turns them, and when.
 *
 * The library reads no clock; the master does. It moves a window's clock before adds, in steps of
 * 1/256 of a slice (a millisecond at least), and by a timer, so that emptying what is too old is
 * spread out even where nobody adds; and it replicates each step as BLY.TICK. A replica, or a
 * server that loads, turns its windows by what it is told alone: so all copies are the same, byte
 * for byte.
 */
#ifndef BLOOMERY_MODULE_CLOCK_H
#define BLOOMERY_MODULE_CLOCK_H

#include "value.h"

/* Enters a key's value, if it is a timed window and not entered under this name. For every command
 * that finds one: a window that was copied or renamed is known again from then on. */
void bm_clock_enter(rm_ctx *ctx, bm_key *key);
/* The same for a value that is being loaded: its name is known to the engine alone. */
void bm_clock_loaded(rm_io *io, bm_value *value);
/* A value is going; from any thread. To be called before its filter is destroyed. */
void bm_clock_leave(bm_value *value);
/* Before a write: brings the window to the present and replicates that. Does nothing to other
 * filters, or to what is replayed. */
void bm_clock_advance(rm_ctx *ctx, bm_key *key);

/* 0, or, of a timed window whose slices are too short for their work, the shortest span with which
 * they would not be: such a one would keep the server busy with turning it. */
uint64_t bm_clock_least_span(const bly_filter *f);

/* Starts the timer. */
int bm_clock_start(rm_ctx *ctx);

#endif
