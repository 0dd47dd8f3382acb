/* bly.h - what the commands BLY.* share. */
#ifndef BLOOMERY_MODULE_BLY_H
#define BLOOMERY_MODULE_BLY_H

#include "value.h"

/* Opens a key that must hold a filter. False: an error was replied, and the key is closed. */
bool bm_bly_open(rm_ctx *ctx, rm_string *name, int mode, bm_key *key);
/* The same where keys are asked for: the filter's secret key must be there too. */
bool bm_bly_open_items(rm_ctx *ctx, rm_string *name, int mode, bm_key *key);

/* What "new" does not say: whether an add changed the filter all the same. */
bool bm_bly_adds_always(const bm_value *value);

/* "bloomery", "redisbloom" or "redisbloom-cuckoo"; a kind's name, or RedisBloom's. */
const char *bm_bly_layout(const bm_value *value);
const char *bm_bly_kind(const bm_value *value);
/* Of any type: bly_filter_count. */
uint64_t bm_bly_filter_count(const bm_value *value);
/* The rate asked; NAN where none was. */
double bm_bly_rate(const bm_value *value);

#endif
