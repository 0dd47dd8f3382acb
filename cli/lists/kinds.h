/* kinds.h - kinds and shapes of filters in words. */
#ifndef BLOOMERY_CLI_KINDS_H
#define BLOOMERY_CLI_KINDS_H

#include <bloomery/bloomery.h>

/* One line without a full stop: how this kind works. */
const char *kinds_meaning(bly_kind kind);

/* "classic, sbbf and scalable": those that have every one of the capabilities (BLY_CAN_...);
 * "" for none. */
enum { KINDS_LIST = 256 };
char *kinds_that_can(uint32_t capabilities, char out[KINDS_LIST]);

bool kinds_can(bly_kind kind, uint32_t capabilities); /* every one of them */
bool kinds_grow(bly_kind kind);
/* Bloom filters of a fixed size: their rate is a matter of which bits are set, and takes any number
 * of keys. */
bool kinds_are_bits(bly_kind kind);

/* Of a kind that holds copies of keys: how many of one key, and how many different keys the filter
 * is sure to take when it has grown as far as it can. */
enum { KINDS_MOST_COPIES = 8 };
uint64_t kinds_most_keys(const bly_filter *f);

/* The size of a geometry in its own unit: "4,096 blocks", "slices of 640 bits", "3 levels". */
enum { KINDS_SIZE = 96 };
char *kinds_size(const bly_geometry *g, char out[KINDS_SIZE]);

/* What the number of hashes of a geometry is, in its own words: "bits per key". */
const char *kinds_hashes(bly_kind kind);

/* Size and all the rest: "4,096 blocks, 8 bits per key, foldable". */
enum { KINDS_SHAPE = 224 };
char *kinds_shape(const bly_geometry *g, char out[KINDS_SHAPE]);

#endif
