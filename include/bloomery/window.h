/* window.h - a filter of the latest keys: those of the last W adds, or of the last T ticks.
 *
 * For streams without end: "was this seen lately?". A window forgets the oldest keys in bulk, a
 * generation at a time. With s generations (8 unless bly_spec.generations says 1 .. 32):
 *
 * By number (bly_window_create). A generation is ceil(W / s) arrivals. Each key that is added is an
 * arrival, whether it was in the window or not; a lookup is none. The keys of the last W arrivals
 * are always found. A key that has not been added again is forgotten after at most
 * (s + 1) ceil(W / s) other arrivals, that is, W (1 + 1/s). From then on it is found only as any
 * non-member is, at the false-positive rate. So adding one key over and over makes a window forget
 * the others.
 *
 * By time (bly_window_create_timed). A generation is a slice of ceil(T / s) ticks. A tick is what
 * the caller says it is, a second or a millisecond; the library reads no clock, and
 * bly_window_advance says how late it is. The keys added in the last T ticks are always found, and
 * a key is forgotten at most T (1 + 1/s) ticks (rounded up to slices) after it was last added. The
 * number of keys given is what is expected within T. More make the filter wrong more often
 * (statistics tell the rate as it is), but none of them is lost.
 *
 * A key added again while it is there is refreshed: it counts as added now. bly_filter_add's
 * *added tells whether it was not there before. An add of a key that is there changes the window
 * too (by time, unless the key came in the same slice), so a copy elsewhere must be given every
 * add.
 *
 * The rate asked is what the window reaches at its fullest, just before it drops a generation;
 * right after, it is s/(s+1) of it. Memory, per key of W, at 1% / 0.1% / 0.01%: 17.2 / 23.1 / 29.0
 * bits at s = 8. A small window, of up to 1,900 keys or so at 1%, has a body of its own without
 * lines: 17.2 / 22.6 / 28.3 bits at 1,000 keys. More generations make the edge sharper (forgotten
 * after W + 6% at s = 16), and cost a little space or time. A window never needs more memory than
 * at first, and no add pauses to empty a generation: the work is spread over the adds. (In a small
 * one it is done at once, and is less than a microsecond.)
 *
 * bly_filter_count is the number of keys in all generations, less than that of arrivals where keys
 * were repeated within a generation; a key that was refreshed counts in each that it is in. Windows
 * can be saved, loaded, mapped (and then asked), and united if they have the same shape and stand
 * at the same turn (by number) or in the same slice of the same span (by time); by number, the keys
 * of both are then those of one stream, of which the last W are kept; a generation then counts as
 * many keys, and as many arrivals, as the fuller of the two had, and may hold, and be wrong for,
 * more than it was made for. Clearing one leaves its clock as it is. Exclusive (BLY_EXCLUSIVE).
 *
 *     bly_filter *seen;
 *     bly_window_create_timed(3600, 1000000, 0.001, &seen);    an hour, in seconds
 *     ...
 *     bly_window_advance(seen, (uint64_t)time(NULL));
 *     bly_filter_add(seen, id, strlen(id), &fresh);
 *     if (fresh) ...                                           not seen for an hour
 *
 * bly_filter_create takes BLY_WINDOW with span and generations as it pleases. All functions here
 * answer BLY_EKIND to a filter of another kind.
 */
#ifndef BLOOMERY_WINDOW_H
#define BLOOMERY_WINDOW_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The keys of the last `keys` arrivals, with every default. */
BLY_CHECKED bly_status bly_window_create(uint64_t keys, double fpr, bly_filter **out);

/* The keys of the last `span` ticks (not 0: BLY_EINVAL), `keys` of which are expected. */
BLY_CHECKED bly_status bly_window_create_timed(uint64_t span, uint64_t keys, double fpr,
                                               bly_filter **out);

/* It is `now`: what is too old by then is forgotten. Slices begin at the multiples of their length,
 * so windows of the same span turn together, whenever they were made. The first call sets the
 * clock, and what was added before it counts as added then.
 *
 * Time never runs backwards: a `now` before the clock is BLY_EINVAL, and changes nothing. (A caller
 * whose clock may be set back must decide what that means: ignoring the status keeps keys until the
 * clock has caught up.) BLY_EUNSUPPORTED for a window by number.
 *
 * Cost: when calls come often, each empties a small part of the next generation's space, in
 * proportion to the time that has passed. A call that comes after a slice has ended empties what
 * the adds and the calls in that slice have left over: one pass over the filter at most, however
 * many slices have passed, and none if nothing was added in it. */
BLY_CHECKED bly_status bly_window_advance(bly_filter *f, uint64_t now);

/* How long ago a key was last added, at most: as a number of arrivals (it is among the last *age of
 * them) or, by time, of ticks. BLY_WINDOW_ABSENT when it is not there. A false positive
 * in a newer generation makes a key look younger than it is: for a share of keys that is within
 * the window's rate. BLY_EKEY for a filter opened without its key. */
#define BLY_WINDOW_ABSENT UINT64_MAX
BLY_CHECKED bly_status bly_window_age(const bly_filter *f, const void *key, size_t len,
                                      uint64_t *age);
BLY_CHECKED bly_status bly_window_age_hash(const bly_filter *f, bly_hash h, uint64_t *age);

typedef struct bly_window_info {
    uint32_t generations;     /* s: kept beside the one being filled */
    uint64_t generation_keys; /* keys that one is made for: ceil(W / s); by number, its arrivals */
    uint64_t active_keys;     /* keys in the one being filled */
    uint64_t ordinal;         /* the number of that generation; by time, of its slice */
    uint64_t span;            /* ticks; 0 for a window by number, as are the next two */
    uint64_t slice;           /* ticks of a generation */
    uint64_t now;             /* the clock, 0 until it is first set */
    uint64_t active_arrivals; /* arrivals in the generation being filled; 0 for a window by time */
    uint64_t arrivals;        /* the same in all generations that there are */
} bly_window_info;
BLY_CHECKED bly_status bly_window_look(const bly_filter *f, bly_window_info *out);

#ifdef __cplusplus
}
#endif
#endif
