/* bly.h - functions that the commands BLY.* share. */
#ifndef BLOOMERY_MODULE_BLY_H
#define BLOOMERY_MODULE_BLY_H

#include "types/value.h"

#include <bloomery/host/chunks.h>

/* Returns NULL if the key has a filter and, if `items` is true, the server has its secret key; else
 * the text of the error. */
const char *bm_bly_key_error(const bm_key *key, bool items);
/* Opens a key that must have a filter. Otherwise sends a reply (and, for a replayed write, leaves a
 * tombstone), closes the key, and returns false. */
bool bm_bly_open(rm_ctx *ctx, rm_string *name, int mode, bm_key *key);

/* Returns the file of the value's filter, as it is now. The value keeps it until the filter
 * changes. Returns NULL if there is no memory. */
const bly_chunks *bm_bly_image(bm_value *value);

/* Returns the name of the value's layout: "bloomery", "redisbloom" or "redisbloom-cuckoo". */
const char *bm_bly_layout(const bm_value *value);
/* Returns the name of the filter's kind or, for RedisBloom's types, of the layout. */
const char *bm_bly_kind(const bm_value *value);
/* Returns the requested false-positive rate; NAN if no rate was requested. */
double bm_bly_rate(const bm_value *value);

#endif
