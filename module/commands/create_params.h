/* create_params.h - the parameters of a new filter, and the function that creates it.
 *
 * The BF.* and CF.* commands fill in the parameters from their options and from the settings.
 * BLY.RESERVE parses them from its arguments. Every creation is replicated as a BLY.RESERVE that
 * states all parameters, including the seed and the defaults. So a replica, or a server that
 * replays its AOF, creates the same filter even if its settings differ.
 */
#ifndef BLOOMERY_MODULE_CREATE_PARAMS_H
#define BLOOMERY_MODULE_CREATE_PARAMS_H

#include "types/value.h"

typedef enum bm_layout { BM_LAYOUT_NATIVE, BM_LAYOUT_RB_BLOOM, BM_LAYOUT_RB_CUCKOO } bm_layout;

typedef struct bm_create_params {
    bm_layout layout;
    bly_spec spec;         /* RedisBloom's layouts use only its capacity and, for Bloom filters, its
                              fpr */
    bly_hash_id hash;      /* BLY_HASH_NONE: the default */
    bool keyed, key_named; /* keyed: hash with a secret key; key_named: the key is the one with the
                              id `key_id`, else the first key of the ring */
    uint64_t key_id;
    bm_traits traits;
    rm_string *base_name;   /* for an overlay: the name of the key whose filter is the base; else
                               NULL */
    const bly_filter *base; /* the filter of that key, set by the command; the new overlay gets a
                               copy of it */
} bm_create_params;

/* Return the parameters of a filter that BF.* or CF.* create. `capacity_known` is true if the user
 * gave the capacity, and false if it is the default. */
bm_create_params bm_create_params_bf(double error, uint64_t capacity, uint32_t expansion,
                                     bool nonscaling, bool capacity_known);
bm_create_params bm_create_params_cf(double error, uint64_t capacity, uint16_t bucket_size,
                                     uint16_t max_iterations, uint32_t expansion,
                                     bool capacity_known);

/* Creates a filter, makes it the value of the key, replicates the creation, and notifies keyspace
 * listeners of `event`. Fills in the hash and the key id in `params` if they were not given.
 * Returns false after sending an error as reply. Then nothing has changed, except that a replayed
 * creation leaves a tombstone (runtime/tombstone.h), so that no later command creates another
 * filter in its place. */
bool bm_create_filter(rm_ctx *ctx, bm_key *key, bm_create_params *params, const char *event);

#endif
