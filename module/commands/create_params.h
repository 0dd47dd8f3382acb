/* create_params.h - the parameters of a filter to be created, and the function that creates it.
 *
 * BF.RESERVE, BF.ADD, CF.INSERT and others fill them in. BLY.RESERVE parses them from its
 * arguments. Every creation is replicated as a BLY.RESERVE with all parameters, including the seed
 * and the defaults. So a replica, or a server that replays its AOF, creates the same filter
 * whatever its own configuration is.
 */
#ifndef BLOOMERY_MODULE_CREATE_PARAMS_H
#define BLOOMERY_MODULE_CREATE_PARAMS_H

#include "types/value.h"

typedef enum bm_layout { BM_LAYOUT_NATIVE, BM_LAYOUT_RB_BLOOM, BM_LAYOUT_RB_CUCKOO } bm_layout;

typedef struct bm_create_params {
    bm_layout layout;
    bly_spec spec;         /* the other layouts use only its capacity and (Bloom) fpr */
    bly_hash_id hash;      /* BLY_HASH_NONE: the default */
    bool keyed, key_named; /* with a secret key: the first of the ring, or the one of `key_id` */
    uint64_t key_id;
    bm_traits traits;
    rm_string *base_name;   /* of an overlay over another key's filter: that key; else NULL */
    const bly_filter *base; /* the filter of that key, set by the command; it is copied */
} bm_create_params;

/* The parameters of BF.* and CF.*. `capacity_known`: the user gave it, it is not a default. */
bm_create_params bm_create_params_bf(double error, uint64_t capacity, uint32_t expansion,
                                     bool nonscaling, bool capacity_known);
bm_create_params bm_create_params_cf(double error, uint64_t capacity, uint16_t bucket_size,
                                     uint16_t max_iterations, uint32_t expansion,
                                     bool capacity_known);

/* For a command that creates a filter: creates it, sets the key, replicates, and notifies `event`.
 * Fills in the hash, seed and key that were left open. False: a reply was sent, and nothing has
 * changed, except that a replayed creation leaves a tombstone (runtime/tombstone.h), so that no
 * later command creates another filter in its place. */
bool bm_create_filter(rm_ctx *ctx, bm_key *key, bm_create_params *params, const char *event);

#endif
