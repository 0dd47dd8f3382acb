/* bf_cf_common.h - shared by BF.* and CF.*, and partly by BLY.*: which values they accept, which
 * writes they refuse, how they parse options, and which adds are replicated.
 *
 * BF.* accept filters of RedisBloom's type and all of ours except those created by CF.*. CF.*
 * accept cuckoo filters of RedisBloom's type and all of ours from which keys can be removed. So
 * existing clients can query filters that were loaded with BLY.LOAD.
 */
#ifndef BLOOMERY_MODULE_BF_CF_COMMON_H
#define BLOOMERY_MODULE_BF_CF_COMMON_H

#include "runtime/tombstone.h"

#define BM_LOADING_ERROR "ERR filter is being loaded; send its other chunks, or DEL the key"

#define BM_KEYLESS_ERROR                                                                           \
    "ERR this server lacks the filter's secret key: add the key with its id (key_id in BLY.INFO) " \
    "to bf.key-file; a filter with a custom hash function cannot be used on any server"

/* The largest capacity a filter may be created with; RedisBloom's limit with `compat`. */
long long bm_max_capacity(void);

/* ---- keys ------------------------------------------------------------------------------------ */

static inline bool bm_bf_accepts(const bm_key *key) {
    return key->type == BM_RB_BLOOM ||
           (key->type == BM_FILTER && key->value->traits.face != BM_FACE_CF);
}

bool bm_cf_accepts(const bm_key *key);

/* Whether the value has no filter, because it is a staged load or a tombstone. Any key may be in
 * the filter that it stands for. */
static inline bool bm_has_no_filter(const bm_value *value) {
    return value->type == BM_FILTER && !value->as.filter;
}

/* The error of a command that needs the filter of such a value. */
static inline const char *bm_no_filter_error(const bm_value *value) {
    return bm_is_tombstone(value) ? bm_tombstone_error(value) : BM_LOADING_ERROR;
}

/* Opens the key of a command that reads a filter. False: an error was replied. Close the key in
 * both cases. */
bool bm_open_for_read(rm_ctx *ctx, rm_string *name, bool (*accepts)(const bm_key *), bm_key *key);

/* ---- writes ---------------------------------------------------------------------------------- */

/* Whether the filter's kind supports adds. False: an error was replied. */
bool bm_can_add(rm_ctx *ctx, const bm_value *value);

/* Before an add to, or a remove from, an accepted value. False: a reply was sent, and the write
 * must not be made. Advances a timed window to the present. */
bool bm_may_write(rm_ctx *ctx, bm_key *key);

/* After a write that failed: whether it was replayed, so that the value is a tombstone now and a
 * reply was sent (bm_tombstone_if_replayed). A full filter in RedisBloom's layout gets no
 * tombstone: it is full on its master too, which replicates the command although it failed. */
bool bm_write_failed(rm_ctx *ctx, bm_key *key, bly_status status);

/* Whether an add changes the filter even when it contains the key: true where copies are counted,
 * or keys age (by time, or by the number of adds). Of the filters that BF.* and CF.* create, this
 * is true of cuckoo filters. It is false of an hll, which reports exactly whether an add changed
 * it. */
bool bm_add_always_changes(const bm_value *value);

/* Whether `n` more keys might exceed the capacity of a filter created with NONSCALING. False for
 * replayed writes, which are never refused. */
bool bm_would_exceed_capacity(rm_ctx *ctx, const bm_value *value, size_t n);
static inline bool bm_is_capped(rm_ctx *ctx, const bm_value *value, size_t n) {
    return value->type == BM_FILTER && value->traits.nonscaling &&
           bm_would_exceed_capacity(ctx, value, n);
}

/* bly_filter_add_many for a filter created with NONSCALING: BLY_EFULL when its count has reached
 * its capacity. Keys that it contains can still be added. */
bly_status bm_add_many_capped(bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *added,
                              bly_batch_result *tally);

/* How many sub-filters a cuckoo filter of RedisBloom's type may have after an add; 0: any number,
 * for replayed writes. */
uint64_t bm_max_rb_filters(rm_ctx *ctx);

/* ---- options --------------------------------------------------------------------------------- */

/* Whether options are parsed by RedisBloom's lax rules: with `compat`, and for replayed commands,
 * because the master may be RedisBloom. */
bool bm_lax_options(rm_ctx *ctx);

/* Parses a rate as RedisBloom does: any number except NaN. Its error for a rate outside (0, 1)
 * differs by command, so the caller checks that. */
bool bm_parse_rate(const rm_string *arg, double *out);
/* The rate that is used: when `lax`, rates above 0.25 become 0.25, as in RedisBloom. */
double bm_clamp_rate(double rate, bool lax);

#endif
