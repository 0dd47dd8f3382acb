/* bly.h - shared by the commands BLY.*. */
#ifndef BLOOMERY_MODULE_BLY_H
#define BLOOMERY_MODULE_BLY_H

#include "types/value.h"

#include <bloomery/host/chunks.h>

/* NULL if the key has a filter, and with `items` its secret key too; else the error. */
const char *bm_bly_key_error(const bm_key *key, bool items);
/* Opens a key that must have a filter. False: a reply was sent (a replayed write leaves a
 * tombstone), and the key is closed. */
bool bm_bly_open(rm_ctx *ctx, rm_string *name, int mode, bm_key *key);

/* The file of the value's filter as it is now, kept until the filter changes. NULL: no memory. */
const bly_chunks *bm_bly_image(bm_value *value);

/* "bloomery", "redisbloom" or "redisbloom-cuckoo". */
const char *bm_bly_layout(const bm_value *value);
/* The name of the filter's kind, or of RedisBloom's layout. */
const char *bm_bly_kind(const bm_value *value);
/* The requested false-positive rate; NAN if none was requested. */
double bm_bly_rate(const bm_value *value);

#endif
