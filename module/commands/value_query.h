/* value_query.h - lookups in a value of any of the three types. */
#ifndef BLOOMERY_MODULE_VALUE_QUERY_H
#define BLOOMERY_MODULE_VALUE_QUERY_H

#include "commands/command_args.h"
#include "types/value.h"

/* Whether the value may contain an item. A value without a filter (a staged load, a tombstone) may
 * contain every item. */
bool bm_value_contains(const bm_value *value, bly_bytes item);
/* Looks a batch up as bm_value_contains does, and stores the results in items->answers. */
void bm_value_contains_many(const bm_value *value, bm_items *items);
/* Returns how many copies of an item the value seems to contain; 0 or 1 if its kind does not count
 * copies. */
uint64_t bm_value_copies(const bm_value *value, bly_bytes item);

/* To be called after an add that failed with BLY_EFULL. If copies of the item fill all slots that
 * the item may use, returns their number: then even a larger filter could not store another copy.
 * Returns 0 if the filter is full for another reason. */
uint64_t bm_value_max_copies(const bm_value *value, bly_bytes item);
/* Returns the number of items in a value that has a filter. */
uint64_t bm_value_count(const bm_value *value);

/* Execute EXISTS and MEXISTS. `accepts` tells whether a key has an accepted type. The answer for a
 * missing key is 0. For a key of another type it is an error, or 0 if the setting `compat` is on,
 * as in RedisBloom. */
typedef bool (*bm_accepts_fn)(const bm_key *key);
int bm_exists(rm_ctx *ctx, rm_string **argv, int argc, bm_accepts_fn accepts);
int bm_mexists(rm_ctx *ctx, rm_string **argv, int argc, bm_accepts_fn accepts);

/* To be called for a lookup in a key that is not accepted. If the key exists and `compat` is off,
 * replies with WRONGTYPE and returns true; else returns false. */
bool bm_reply_wrong_type(rm_ctx *ctx, const bm_key *key);

#endif
