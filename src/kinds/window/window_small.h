/* window_small.h - the table of a small window. Internal; window_small.c has the essay.
 *
 * All are for windows with blyi_window_is_small. */
#ifndef BLYI_KINDS_WINDOW_WINDOW_SMALL_H
#define BLYI_KINDS_WINDOW_WINDOW_SMALL_H

#include "kinds/window/window_body.h"

/* As the hooks of the same names. */
size_t blyi_window_small_contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found);
size_t blyi_window_small_ask(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found);
bly_status blyi_window_small_put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                 bly_tally *sum);

/* Which slots hold the key: bit i for slot i. */
uint64_t blyi_window_small_find(const bly_filter *f, bly_hash h);

/* Clears a slot's bits. */
void blyi_window_small_empty(bly_filter *f, unsigned slot);

/* Adds to set[i] the bits of slot i that are set, if it is live. */
void blyi_window_small_tally(const bly_filter *f, uint64_t *set);

/* Whether none of a slot's bits is set in a body of that shape. */
bool blyi_window_small_clean(const blyi_shape *shape, const uint8_t *body, unsigned slot);

/* dst keeps its live slots' bits and gets those of the slots `bring` of src, slot i's in to[i]. */
void blyi_window_small_unite(bly_filter *dst, const bly_filter *src, uint64_t bring,
                             const unsigned *to);

#endif
