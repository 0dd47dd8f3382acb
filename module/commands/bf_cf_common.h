/* bf_cf_common.h - functions that BF.* and CF.* share, and some that BLY.* use too: which values
 * they accept, which writes they refuse, how they parse options, and which adds are replicated.
 *
 * BF.* accept RedisBloom's Bloom filters, and all filters of this module except those created by
 * CF.*. CF.* accept RedisBloom's cuckoo filters, and the filters of this module from which keys can
 * be removed, except those created by BF.*. So existing clients can use filters that were loaded
 * with BLY.LOAD.
 */
#ifndef BLOOMERY_MODULE_BF_CF_COMMON_H
#define BLOOMERY_MODULE_BF_CF_COMMON_H

#include "runtime/tombstone.h"

#define BM_LOADING_ERROR "ERR filter is being loaded; send its other chunks, or DEL the key"

#define BM_KEYLESS_ERROR                                                                           \
    "ERR this server lacks the filter's secret key: add the key with its id (key_id in BLY.INFO) " \
    "to bf.key-file; a filter with a custom hash function cannot be used on any server"

/* Returns the maximum capacity of a new filter: 2^40, or 2^30 as in RedisBloom if `compat` is
 * on. */
long long bm_max_capacity(void);

/* ---- keys ------------------------------------------------------------------------------------ */

static inline bool bm_bf_accepts(const bm_key *key) {
    return key->type == BM_RB_BLOOM ||
           (key->type == BM_FILTER && key->value->traits.face != BM_FACE_CF);
}

bool bm_cf_accepts(const bm_key *key);

/* Whether the value has no filter: it is a staged load, which has no filter yet, or a tombstone,
 * whose filter was lost. The members of such a filter are unknown, so a lookup answers "maybe", and
 * a command that needs the filter must fail. */
static inline bool bm_has_no_filter(const bm_value *value) {
    return value->type == BM_FILTER && !value->as.filter;
}

/* Returns the error text for a command that needs a filter, for a value that has none
 * (bm_has_no_filter). */
static inline const char *bm_no_filter_error(const bm_value *value) {
    return bm_is_tombstone(value) ? bm_tombstone_error(value) : BM_LOADING_ERROR;
}

/* Opens the key of a command that reads a filter. Returns false after replying with an error. The
 * caller closes the key in either case. */
bool bm_open_for_read(rm_ctx *ctx, rm_string *name, bool (*accepts)(const bm_key *), bm_key *key);

/* ---- writes ---------------------------------------------------------------------------------- */

/* Returns true if the kind of the filter supports adds; else false, after replying with an
 * error. */
bool bm_can_add(rm_ctx *ctx, const bm_value *value);

/* Prepares an add to, or a remove from, a value that the command accepts; if it is a timed window,
 * advances it to the present time. Returns false after sending a reply: the command must not write
 * then. */
bool bm_may_write(rm_ctx *ctx, bm_key *key);

/* To be called after a write, with its status. If the write failed and the command is replayed,
 * replaces the value by a tombstone, sends a reply (bm_tombstone_if_replayed), and returns true;
 * else returns false. An exception is a full filter in RedisBloom's layout, which is not replaced:
 * it is full on its master too, because RedisBloom replicates the command although it failed. */
bool bm_write_failed(rm_ctx *ctx, bm_key *key, bly_status status);

/* Whether an add of a key that the filter contains changes the filter. This is true for kinds that
 * count copies, and for kinds whose keys age by time or by the number of adds. Of the filters that
 * BF.* and CF.* create, it is true for cuckoo filters. It is false for an hll, which reports
 * exactly whether an add has changed it. */
bool bm_add_always_changes(const bm_value *value);

/* Whether adding `n` more keys might exceed the filter's capacity. False for replayed writes, which
 * are never refused. */
bool bm_would_exceed_capacity(rm_ctx *ctx, const bm_value *value, size_t n);
static inline bool bm_is_capped(rm_ctx *ctx, const bm_value *value, size_t n) {
    return value->type == BM_FILTER && value->traits.nonscaling &&
           bm_would_exceed_capacity(ctx, value, n);
}

/* Does what bly_filter_add_many does, for a filter created with NONSCALING: returns BLY_EFULL at
 * the first key that the filter does not contain when its count has reached its capacity. */
bly_status bm_add_many_capped(bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *added,
                              bly_batch_result *tally);

/* Returns the maximum number of sub-filters that a cuckoo filter of RedisBloom's type may have
 * after an add; 0 (no limit) for replayed writes. */
uint64_t bm_max_rb_filters(rm_ctx *ctx);

/* ---- options --------------------------------------------------------------------------------- */

/* Whether options are parsed by RedisBloom's lax rules: if `compat` is on, and for replayed
 * commands, because their master may be RedisBloom. */
bool bm_lax_options(rm_ctx *ctx);

/* Parses a rate as RedisBloom does: any number except NaN. Whether the rate is in (0, 1) is left to
 * the caller, because RedisBloom's error for that differs by command. */
bool bm_parse_rate(const rm_string *arg, double *out);
/* Returns the rate to use: if `lax`, a rate above 0.25 becomes 0.25, as in RedisBloom. */
double bm_clamp_rate(double rate, bool lax);

#endif
