/* ask.h - questions to a value, whichever of the three types it is of. */
#ifndef BLOOMERY_MODULE_ASK_H
#define BLOOMERY_MODULE_ASK_H

#include "args.h"
#include "value.h"

/* Whether an item may be in it. Every item may be in what is still arriving, or lost. */
bool bm_ask(const bm_value *value, bly_bytes item);
/* The same for many: items->answers. */
void bm_ask_many(const bm_value *value, bm_items *items);
/* How many copies of an item there seem to be, at least where none can be counted. */
uint64_t bm_ask_copies(const bm_value *value, bly_bytes item);

/* After an add that was refused because the filter is full (BLY_EFULL): the number of copies of the
 * item if these fill all slots that the item may use, so that a filter for more items would not
 * take another copy either. 0: that is not the reason. */
uint64_t bm_ask_most_copies(const bm_value *value, bly_bytes item);
/* How many items there are, in a value that is neither arriving nor lost. */
uint64_t bm_ask_count(const bm_value *value);

/* EXISTS and MEXISTS of a family that takes such keys. What is not there has no item; nor, with
 * `compat`, has what is of another type, as RedisBloom makes no difference. */
typedef bool (*bm_takes_fn)(const bm_key *key);
int bm_ask_exists(rm_ctx *ctx, rm_string **argv, int argc, bm_takes_fn takes);
int bm_ask_mexists(rm_ctx *ctx, rm_string **argv, int argc, bm_takes_fn takes);

/* Replies to a reader whose key holds nothing that it takes, if that is an error. */
bool bm_ask_refused(rm_ctx *ctx, const bm_key *key);

#endif
