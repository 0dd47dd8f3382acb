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

/* The size of a geometry in its own unit: "4,096 blocks", "2 slices of 640 bits", "3 levels". */
enum { KINDS_SIZE = 64 };
char *kinds_size(const bly_geometry *g, char out[KINDS_SIZE]);

#endif
