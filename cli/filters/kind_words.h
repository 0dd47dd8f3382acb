/* kind_words.h - kinds and shapes of filters in words. */
#ifndef BLOOMERY_CLI_KIND_WORDS_H
#define BLOOMERY_CLI_KIND_WORDS_H

#include <bloomery/bloomery.h>

const char *kinds_article(bly_kind kind); /* "a" or "an", as it is said before its name */

/* One line without a full stop: how this kind works. */
const char *kinds_meaning(bly_kind kind);

/* "classic, sbbf and scalable": those that have every one of the capabilities (BLY_CAN_...);
 * "" for none. */
enum { KINDS_LIST = 384 };
char *kinds_that_can(uint32_t capabilities, char out[KINDS_LIST]);

bool kinds_can(bly_kind kind, uint32_t capabilities); /* every one of them */
bool kinds_grow(bly_kind kind);
bool kinds_have_levels(bly_kind kind); /* it grows by opening one more */
/* Bloom filters of a fixed size: their rate is a matter of which bits are set, and takes any number
 * of keys. */
bool kinds_are_bits(bly_kind kind);

/* Keys share bits or counters, of which there are so many: the rate is a matter of where they fall.
 */
bool kinds_share_cells(bly_kind kind);

/* A key is held as often as it was added, and can be removed as often. */
bool kinds_hold_copies(bly_kind kind);
/* Keys have slots of their own, of which there are so many: such a filter can be full. */
bool kinds_hold_slots(bly_kind kind);
/* There is room for BLY_MAX_COPIES copies of a key at most. */
bool kinds_limit_copies(bly_kind kind);
/* The size of a geometry in its own unit: "4,096 blocks", "slices of 640 bits", "3 levels". */
enum { KINDS_SIZE = 96 };
char *kinds_size(const bly_geometry *g, char out[KINDS_SIZE]);

/* What the number of hashes of a geometry is, in its own words: "bits per key". */
const char *kinds_hashes(bly_kind kind);

/* Size and all the rest: "4,096 blocks, 8 bits per key, foldable". */
enum { KINDS_SHAPE = 224 };
char *kinds_shape(const bly_geometry *g, char out[KINDS_SHAPE]);

#endif
