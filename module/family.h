/* family.h - what BF.* and CF.* have in common: which values they work on, what they refuse, how
 * their options are found, and what of an add is replicated.
 *
 * BF.* take filters of RedisBloom's type and every filter of ours but those made by CF.*. CF.*
 * take cuckoo filters of RedisBloom's type and every filter of ours from which keys can be removed.
 * So existing clients can ask filters that came by BLY.LOAD.
 */
#ifndef BLOOMERY_MODULE_FAMILY_H
#define BLOOMERY_MODULE_FAMILY_H

#include "args.h"
#include "value.h"

#define BM_ARRIVING "ERR filter is being loaded"

#define BM_KEYLESS                                                                                 \
    "ERR the filter's secret key is not in the ring (BLY.INFO tells its id, BLY.KEYRING those "    \
    "that are there)"

/* The most keys that a filter may be made for; RedisBloom's limit with `compat`. */
long long bm_family_most(void);

static inline bool bm_bf_takes(const bm_key *key) {
    return key->what == BM_RB_BLOOM ||
           (key->what == BM_FILTER && key->value->traits.face != BM_FACE_CF);
}

bool bm_cf_takes(const bm_key *key);

/* Of a value that is taken: something is still arriving, and there is no filter before. Every key
 * may be in it. */
static inline bool bm_is_arriving(const bm_value *value) {
    return value->what == BM_FILTER && !value->as.filter;
}

/* Opens the key of a command that looks at a whole filter. False: an error was replied; close it
 * all the same. */
bool bm_family_look(rm_ctx *ctx, rm_string *name, bool (*takes)(const bm_key *), bm_key *key);

/* Before an add to, or a remove from, a value that is taken. False: an error was replied. Turns a
 * timed window to the present. */
bool bm_family_may_write(rm_ctx *ctx, bm_key *key);

/* Whether an add changes the filter even when the key was there: where copies are counted, or keys
 * grow old. Of what BF.* and CF.* make, cuckoo filters. */
bool bm_family_adds_always(const bm_value *value);

/* As bly_filter_add_many, to a filter made NONSCALING: it is full (BLY_EFULL) when it has as many
 * keys as it was made for; those that it has may still be added. */
bly_status bm_family_add_capped(bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *added,
                                bly_tally *tally);

/* How many sub-filters a cuckoo filter of RedisBloom's type may have after an add. What a master
 * did, or the AOF says, is not refused. */
uint64_t bm_family_max_filters(rm_ctx *ctx);

/* ---- options --------------------------------------------------------------------------------- */

/* Where among argv[from], argv[from + step], ... the word stands; 0: nowhere. */
int bm_find_word(rm_string **argv, int argc, int from, int step, const char *word);

/* An error that names the word; returns RM_OK. */
int bm_unknown_word(rm_ctx *ctx, const rm_string *word);

/* RedisBloom's rates: any number but NaN; its reply for one outside (0, 1) is the caller's. Above
 * 0.25 it takes 0.25: with `compat` so do we. */
bool bm_family_rate(const rm_string *arg, double *out);
double bm_family_cap(double rate);

#endif
