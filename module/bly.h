/* bly.h - what the commands BLY.* share. */
#ifndef BLOOMERY_MODULE_BLY_H
#define BLOOMERY_MODULE_BLY_H

#include "value.h"

/* Opens a key that must hold a filter. False: an error was replied, and the key is closed. */
bool bm_bly_open(rm_ctx *ctx, rm_string *name, int mode, bm_key *key);
/* The same where keys are asked for: the filter's secret key must be there too. */
bool bm_bly_open_items(rm_ctx *ctx, rm_string *name, int mode, bm_key *key);

/* A replica, or a server that reads its AOF, without a key that its master had when it wrote: what
 * it cannot add it would deny later, when it has the key. So it gives the filter up, and BLY.CHECK
 * says that nobody knows, until it is sent again or read with the key. */
void bm_bly_give_up(rm_ctx *ctx, bm_key *key);

/* The file of the value's filter as it is now, kept until it changes. NULL: no memory. */
const bly_image *bm_bly_image(bm_value *value);

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
