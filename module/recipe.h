/* recipe.h - everything that can be said of a filter to be made, and the one way to make it.
 *
 * BF.RESERVE, BF.ADD, CF.INSERT and the rest fill in a recipe; BLY.RESERVE reads one from its
 * arguments; and every creation is replicated as the BLY.RESERVE that spells its recipe out, seed
 * and defaults included. So a replica, or a server that replays its AOF, makes the same filter
 * whatever its own configuration says.
 */
#ifndef BLOOMERY_MODULE_RECIPE_H
#define BLOOMERY_MODULE_RECIPE_H

#include "value.h"

typedef enum bm_layout { BM_LAYOUT_OWN, BM_LAYOUT_RB_BLOOM, BM_LAYOUT_RB_CUCKOO } bm_layout;

typedef struct bm_recipe {
    bm_layout layout;
    bly_spec spec;         /* of BM_LAYOUT_OWN; of the others capacity and fpr (Bloom) count */
    bly_hash_id hash;      /* BLY_HASH_NONE: the default */
    bool keyed, key_named; /* with a secret key: the first of the ring, or the one of `key_id` */
    uint64_t key_id;
    bm_traits traits;
    rm_string *base_name;   /* of an overlay over another key's filter: that key; else NULL */
    const bly_filter *base; /* and the filter, which is copied; it is for the command to find */
} bm_recipe;

/* What BF.* and CF.* make. `capacity_known`: the user said it, it is not a default. */
bm_recipe bm_recipe_bf(double error, uint64_t capacity, uint32_t expansion, bool nonscaling,
                       bool capacity_known);
bm_recipe bm_recipe_cf(double error, uint64_t capacity, uint16_t bucket_size,
                       uint16_t max_iterations, uint32_t expansion, bool capacity_known);

/* The arguments of BLY.RESERVE after the key. On failure false, and an error has been replied. */
bool bm_recipe_parse(rm_ctx *ctx, rm_string **argv, int argc, bm_recipe *out);

/* Makes it. BLY_ENOMEM: *refusal says whether a limit or the system refused. What the recipe left
 * open of hash, seed and key is settled in it. */
bly_status bm_recipe_make(bm_recipe *recipe, bool unlimited, bm_value **out, bm_refusal *refusal);

/* Replicates BLY.RESERVE name ... */
void bm_recipe_replicate(rm_ctx *ctx, rm_string *name, const bm_recipe *recipe);

/* All together for a command that creates: make, set the key, replicate, notify `event`. False:
 * it was replied to, and nothing has changed; but what is replayed leaves the mark of a filter that
 * is lost (lost.h), so that no other is made in its place. */
bool bm_recipe_create(rm_ctx *ctx, bm_key *key, bm_recipe *recipe, const char *event);

#endif
