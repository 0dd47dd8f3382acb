/* kind_words.h - the capabilities of kinds of filters, and the words for kinds and shapes. */
#ifndef BLOOMERY_CLI_KIND_WORDS_H
#define BLOOMERY_CLI_KIND_WORDS_H

#include <bloomery/bloomery.h>

const char *kinds_article(bly_kind kind); /* "a" or "an", before its name */

/* One line without a full stop, about how the kind works. */
const char *kinds_meaning(bly_kind kind);

/* "classic, sbbf and scalable": the kinds with all of these capabilities (BLY_CAN_...); "" if no
 * kind has them. */
enum { KINDS_LIST = 384 };
char *kinds_that_can(uint32_t capabilities, char out[KINDS_LIST]);

bool kinds_can(bly_kind kind, uint32_t capabilities); /* whether it has all of these */
bool kinds_grow(bly_kind kind);
bool kinds_have_levels(bly_kind kind); /* whether it grows by adding levels */
/* Whether the kind is a Bloom filter of a fixed size: it takes any number of keys, and its rate
 * depends on which bits are set. */
bool kinds_are_bits(bly_kind kind);

/* Whether keys share a fixed number of bits or counters, so that the false-positive rate depends on
 * how the keys are distributed. */
bool kinds_share_cells(bly_kind kind);

/* Whether a key is stored as often as it was added, and can be removed as often. */
bool kinds_hold_copies(bly_kind kind);
/* Whether each key occupies one of a fixed number of slots, so that the filter can become full. */
bool kinds_hold_slots(bly_kind kind);
/* Whether there is space for at most BLY_MAX_COPIES copies of a key. */
bool kinds_limit_copies(bly_kind kind);
/* The size of a geometry in its own unit: "4,096 blocks", "slices of 640 bits", "3 levels". */
enum { KINDS_SIZE = 96 };
char *kinds_size(const bly_geometry *g, char out[KINDS_SIZE]);

/* What the number of hashes of a geometry means: "bits per key". */
const char *kinds_hashes(bly_kind kind);

/* The size and the other parameters: "4,096 blocks, 8 bits per key, foldable". */
enum { KINDS_SHAPE = 224 };
char *kinds_shape(const bly_geometry *g, char out[KINDS_SHAPE]);

#endif
