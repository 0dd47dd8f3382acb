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
#include "lost.h"

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

/* Of a value that is taken: there is no filter, since it is still arriving, or lost. Every key may
 * be in it. */
static inline bool bm_is_hollow(const bm_value *value) {
    return value->what == BM_FILTER && !value->as.filter;
}

/* What to reply then to a command that needs one. */
static inline const char *bm_hollow_text(const bm_value *value) {
    return bm_is_lost(value) ? bm_lost_text(value) : BM_ARRIVING;
}

/* Opens the key of a command that looks at a whole filter. False: an error was replied; close it
 * all the same. */
bool bm_family_look(rm_ctx *ctx, rm_string *name, bool (*takes)(const bm_key *), bm_key *key);

/* Whether keys can be added at all; if not, an error was replied. */
bool bm_family_takes_more(rm_ctx *ctx, const bm_value *value);

/* Before an add to, or a remove from, a value that is taken. False: it was replied to, and is not
 * to be done. Turns a timed window to the present. */
bool bm_family_may_write(rm_ctx *ctx, bm_key *key);

/* After a write that failed: whether it is replayed, so that the filter is lost and was replied to
 * (bm_lose). A filter of RedisBloom's layout that is full is so for its master too, who says it in
 * its reply and sends the command all the same. */
bool bm_family_lose(rm_ctx *ctx, bm_key *key, bly_status status);

/* Whether an add changes the filter even when the key was there: where copies are counted, or keys
 * grow old (by time, or by the number of adds). Of what BF.* and CF.* make, cuckoo filters. An
 * hll's "new" is exact. */
bool bm_family_adds_always(const bm_value *value);

/* Whether `n` more keys might be more than a filter made NONSCALING takes. What a master did, or
 * the AOF says, is not refused. */
bool bm_family_reaches(rm_ctx *ctx, const bm_value *value, size_t n);
static inline bool bm_family_capped(rm_ctx *ctx, const bm_value *value, size_t n) {
    return value->what == BM_FILTER && value->traits.nonscaling && bm_family_reaches(ctx, value, n);
}

/* As bly_filter_add_many, to a filter made NONSCALING: it is full (BLY_EFULL) when it has as many
 * keys as it was made for; those that it has may still be added. */
bly_status bm_family_add_capped(bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *added,
                                bly_tally *tally);

/* How many sub-filters a cuckoo filter of RedisBloom's type may have after an add. What a master
 * did, or the AOF says, is not refused. */
uint64_t bm_family_max_filters(rm_ctx *ctx);

/* ---- options --------------------------------------------------------------------------------- */

/* Whether options are read by RedisBloom's lax rules: with `compat`, and of what is replayed, since
 * the master may be RedisBloom. */
bool bm_family_lax(rm_ctx *ctx);

/* Where among argv[from], argv[from + step], ... the word stands; 0: nowhere. */
int bm_find_word(rm_string **argv, int argc, int from, int step, const char *word);

/* An error that names the word; returns RM_OK. */
int bm_unknown_word(rm_ctx *ctx, const rm_string *word);

/* RedisBloom's rates: any number but NaN; its reply for one outside (0, 1) is the caller's. */
bool bm_family_rate(const rm_string *arg, double *out);
/* Above 0.25 it takes 0.25: so do we where it is to be followed. */
double bm_family_cap(double rate, bool lax);

#endif
