/* bly.h - what the commands BLY.* share. */
#ifndef BLOOMERY_MODULE_BLY_H
#define BLOOMERY_MODULE_BLY_H

#include "value.h"

/* NULL, or the error if the key does not hold a filter, or, where `items` are asked for, not its
 * secret key is there too. */
const char *bm_bly_why_not(const bm_key *key, bool items);
/* Opens a key that must hold a filter. False: it was replied to (of a write that is replayed the
 * filter is lost then: lost.h), and the key is closed. */
bool bm_bly_open(rm_ctx *ctx, rm_string *name, int mode, bm_key *key);
/* The same where keys are asked for: the filter's secret key must be there too. */
bool bm_bly_open_items(rm_ctx *ctx, rm_string *name, int mode, bm_key *key);

/* The file of the value's filter as it is now, kept until it changes. NULL: no memory. */
const bly_image *bm_bly_image(bm_value *value);

/* "bloomery", "redisbloom" or "redisbloom-cuckoo"; a kind's name, or RedisBloom's. */
const char *bm_bly_layout(const bm_value *value);
const char *bm_bly_kind(const bm_value *value);
/* The rate asked; NAN where none was. */
double bm_bly_rate(const bm_value *value);

#endif
