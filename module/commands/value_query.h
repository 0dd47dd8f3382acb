/* value_query.h - lookups in a value of any of the three types. */
#ifndef BLOOMERY_MODULE_VALUE_QUERY_H
#define BLOOMERY_MODULE_VALUE_QUERY_H

#include "commands/command_args.h"
#include "types/value.h"

/* Whether the value may contain an item. A value without a filter (a staged load, a tombstone) may
 * contain every item. */
bool bm_value_contains(const bm_value *value, bly_bytes item);
/* The same for a batch; the results are in items->answers. */
void bm_value_contains_many(const bm_value *value, bm_items *items);
/* How many copies of an item there seem to be; 0 or 1 where copies are not counted. */
uint64_t bm_value_copies(const bm_value *value, bly_bytes item);

/* After an add that failed because the filter is full (BLY_EFULL): the number of copies of the item
 * if these fill all slots that the item may use, so that a filter for more items could not store
 * another copy either. 0: that is not the reason. */
uint64_t bm_value_max_copies(const bm_value *value, bly_bytes item);
/* The number of items, of a value that has a filter. */
uint64_t bm_value_count(const bm_value *value);

/* EXISTS and MEXISTS, for keys that `accepts` accepts. A missing key contains no item. With
 * `compat` a key of another type contains none either, as in RedisBloom. */
typedef bool (*bm_accepts_fn)(const bm_key *key);
int bm_exists(rm_ctx *ctx, rm_string **argv, int argc, bm_accepts_fn accepts);
int bm_mexists(rm_ctx *ctx, rm_string **argv, int argc, bm_accepts_fn accepts);

/* For a read of a key that is not accepted: replies with WRONGTYPE and returns true, if that is an
 * error. */
bool bm_reply_wrong_type(rm_ctx *ctx, const bm_key *key);

#endif
