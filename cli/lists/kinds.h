/* kinds.h - kinds and shapes of filters in words. */
#ifndef BLOOMERY_CLI_KINDS_H
#define BLOOMERY_CLI_KINDS_H

#include <bloomery/bloomery.h>

/* A kind that versions before 0.2 had. Its code in files (docs/format.md) stays reserved. */
typedef struct kinds_removed {
    unsigned code;
    const char *name, *replacement;
} kinds_removed;
const kinds_removed *kinds_removed_by_code(unsigned code); /* NULL: no such kind was removed */
const kinds_removed *kinds_removed_by_name(const char *name);

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
/* There is room for KINDS_MOST_COPIES copies of a key at most. */
enum { KINDS_MOST_COPIES = 8 };
bool kinds_limit_copies(bly_kind kind);
/* The detail of its geometry grows as counts outgrow their place: filters that were built alike may
 * differ in it. */
bool kinds_outgrow(bly_kind kind);

uint64_t kinds_counters(const bly_geometry *g); /* 0 for a kind that has none */

/* How many different keys the filter is sure to take when it has grown as far as it can, of a kind
 * with slots; UINT64_MAX: there is no end to it. */
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
