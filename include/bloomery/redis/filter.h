/* filter.h - filters on a plain Redis or Valkey server or cluster. No module is needed.
 *
 *     bly_redis_url url;
 *     bly_redis_filter *seen;
 *     bly_bitmap_spec spec = {.struct_size = sizeof spec, .capacity = 100000000,
 *                             .fpr = 0.001};
 *     bly_redis_url_parse("redis://cache.example/crawl:seen", NULL, &url);
 *     bly_redis_filter_create(&url, &spec, NULL, &why, &seen);   creates or joins it
 *     bly_redis_filter_add_many(seen, keys, n, BLY_UNKNOWN, answers, &result);
 *
 * Errors are not answers. A call that could not get all answers returns a status and a reason
 * (bly_redis_filter_error). Keys without an answer are BLY_UNKNOWN, or what the caller wants to
 * assume instead. Decide for each call which mistake is the cheaper one:
 *
 *   a guard before a database ("absent" ends the request)   assume BLY_YES: all requests pass
 *   a block list ("present" ends the request)               assume BLY_NO or BLY_YES, as you like
 *   a crawler's add ("seen" drops the page)                 assume BLY_YES: a page twice, none lost
 *
 * Adds. Of concurrent adds of one key, in any number of processes, exactly one reports "new". What
 * was answered is in the filter, and stays as long as the server keeps its data: a server
 * without persistence loses it when it is restarted, and a replica that is promoted lacks what had
 * not reached it. Options can wait for replicas. When an answer is lost on the way, the call
 * reconnects and sends the same again; keys that are there by then are BLY_UNSURE.
 *
 * A handle is for one thread at a time.
 */
#ifndef BLOOMERY_REDIS_FILTER_H
#define BLOOMERY_REDIS_FILTER_H

#include "bitmap.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bly_redis_filter bly_redis_filter;

typedef struct bly_redis_filter_options {
    size_t struct_size;
    uint32_t connect_ms;  /* how long connecting may take, from when the name has been looked up;
                             0: 5 s */
    uint32_t command_ms;  /* how long a server may be silent when an answer is due; 0: 10 s. An
                             answer that comes byte by byte may take longer */
    uint32_t retry_ms;    /* how long a call goes on trying while servers are away, busy, or change
                             places, since something last got done: one whose parts get done one by
                             one may take several times as long; 0: 15 s. The first connection of a
                             handle is tried for as long, but not where no server listens or the
                             name is not known: that is an error at once */
    bool no_retry;        /* it does not: the first lost connection ends the call (redirections in a
                             cluster are still followed) */
    uint32_t replicas;    /* replicas that must confirm an add (WAIT); 0: the master is enough */
    uint32_t replicas_ms; /* how long to wait for them; 0: 1 s */
    uint32_t batch;       /* keys in one script, which keeps the server busy for a few microseconds
                             each; 0: 512 */
    bool allow_replica;   /* ask a replica too, when that is where the url leads: what it has not
                             heard of yet is "absent" then. Otherwise BLY_EREFUSED, after retry_ms
                             where it was a master before. A server is asked (ROLE) when it is
                             connected to; one that may not be is taken for a master. A master that
                             becomes a replica, and keeps its connections (as Sentinel does not),
                             answers lookups until the next reconnect */
    bool without_key;     /* open a keyed filter without its hasher: to look at it, move it or
                             delete it; adds and questions are BLY_EKEY */
} bly_redis_filter_options;

/* ---- open -------------------------------------------------------------------------------------
 */

/* The url names the key. `options` and `why` may be NULL; the last is filled in on failure.
 *
 * Makes the filter, or, where it is there already, joins it: it must be alike
 * (bly_bitmap_compatible), or BLY_EMISMATCH. If many do so at once, they end up with the same
 * filter. The spec's expiry counts only for one who made it. bly_bitmap_plan's statuses; BLY_EIO
 * (no connection, no answer), BLY_EREFUSED (password, permission, memory; not a string),
 * BLY_ECORRUPT (the key has something else), BLY_EMISSING (it is there, but not all of its shards
 * are), BLY_EVERSION, BLY_EKEY, BLY_EHASHER, BLY_EUNSUPPORTED (a build without hiredis, or TLS
 * without it), BLY_EINVAL (the url names no key), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_redis_filter_create(const bly_redis_url *url,
                                               const bly_bitmap_spec *spec,
                                               const bly_redis_filter_options *options,
                                               bly_redis_reason *why, bly_redis_filter **out);

/* One that exists; it says itself what it is. A keyed filter needs its hasher, others NULL. As
 * above, and BLY_EMISSING (it, or one of its shards, is not there; or it is still being made). */
BLY_CHECKED bly_status bly_redis_filter_open(const bly_redis_url *url, const bly_hasher *hasher,
                                             const bly_redis_filter_options *options,
                                             bly_redis_reason *why, bly_redis_filter **out);

/* go-zero's, of that many bits. Nothing is written; an add makes it where it is missing. Asked for
 * a key while it is missing, it is BLY_EMISSING like any other. (go-zero itself would say
 * "absent".)
 */
BLY_CHECKED bly_status bly_redis_filter_gozero(const bly_redis_url *url, uint64_t bits,
                                               const bly_redis_filter_options *options,
                                               bly_redis_reason *why, bly_redis_filter **out);

BLY_API void bly_redis_filter_close(bly_redis_filter *f); /* the filter stays; NULL does nothing */

BLY_API const bly_bitmap *bly_redis_filter_bitmap(const bly_redis_filter *f);
/* Why the last call failed; good until the next. */
BLY_API const char *bly_redis_filter_error(const bly_redis_filter *f);

/* ---- use --------------------------------------------------------------------------------------
 */

/* The outcome of a batch. */
typedef struct bly_redis_batch_result {
    size_t yes;         /* of adds: new; of questions: present */
    size_t unsure;      /* of adds: in the filter, but whether new is not known */
    size_t unknown;     /* nothing is known: of an add, whether it took place either */
    size_t round_trips; /* the maximum over all servers: 1 per 32768 keys if nothing failed */
} bly_redis_batch_result;

/* answers[i] receives BLY_YES, BLY_NO, or, where that is not known, `otherwise`: with BLY_UNKNOWN
 * they are told apart (BLY_UNSURE, BLY_UNKNOWN). `tally` may be NULL. BLY_OK: there is no
 * BLY_UNKNOWN. Otherwise, with as many keys answered as could be: BLY_EIO, BLY_EMISSING,
 * BLY_EMISMATCH (it was replaced by another), BLY_EREFUSED, BLY_ECORRUPT, BLY_ENOMEM, BLY_EINVAL
 * (`otherwise` is BLY_UNSURE). */
BLY_CHECKED bly_status bly_redis_filter_add_many(bly_redis_filter *f, const bly_bytes *keys,
                                                 size_t n, bly_answer otherwise, uint8_t *answers,
                                                 bly_redis_batch_result *tally);
BLY_CHECKED bly_status bly_redis_filter_contains_many(bly_redis_filter *f, const bly_bytes *keys,
                                                      size_t n, bly_answer otherwise,
                                                      uint8_t *answers,
                                                      bly_redis_batch_result *tally);
/* One key. */
BLY_CHECKED bly_status bly_redis_filter_add(bly_redis_filter *f, const void *key, size_t len,
                                            bly_answer otherwise, bly_answer *answer);
BLY_CHECKED bly_status bly_redis_filter_contains(bly_redis_filter *f, const void *key, size_t len,
                                                 bly_answer otherwise, bly_answer *answer);

/* ---- the whole --------------------------------------------------------------------------------
 */

typedef struct bly_redis_filter_info {
    size_t struct_size;
    uint64_t count;      /* keys that were new; go-zero: 0 */
    uint64_t bytes;      /* of all strings */
    uint64_t set_bits;   /* go-zero only: its bits that are set (BITCOUNT) */
    double expected_fpr; /* by that count (bly_bitmap_keys); go-zero: by the bits that are set */
    int64_t expires_ms;  /* how long it has to live, of the shard that has least; -1: for ever */
    uint32_t nodes;      /* servers that hold it */
} bly_redis_filter_info;

/* Statuses as of adds. */
BLY_CHECKED bly_status bly_redis_filter_get_info(bly_redis_filter *f, bly_redis_filter_info *out);

/* In how many ms the filter shall vanish, all shards at once; 0: never. */
BLY_CHECKED bly_status bly_redis_filter_expire(bly_redis_filter *f, uint64_t ms);

/* Deletes it. The handle can only be closed then. */
BLY_CHECKED bly_status bly_redis_filter_drop(bly_redis_filter *f);

/* How far it is: bytes done, of how many. false: stop (BLY_EIO, errno EINTR). */
typedef bool (*bly_redis_progress)(void *ctx, uint64_t done, uint64_t total);

/* A filter in memory, sbbf or split512, becomes one on a server. It arrives under another name, and
 * appears when it is whole, with `replace` instead of one that is there (BLY_EEXISTS without). Of
 * the spec shards, shard_bytes and expire_ms are used; it may be NULL, as may options, progress and
 * why. `out` may be NULL: not opened then. BLY_EKIND and the statuses of create.
 *
 * What fails leaves what was there before. Only in the very last step, when the shards of a filter
 * that replaces another change places one after the other, the death of this process, or of a
 * server for longer than this call waits, can leave some of both: that is an error for everybody
 * who uses it, until a filter is sent again. Two that send to one name at once may be in each
 * other's way: BLY_EMISMATCH, BLY_EMISSING or BLY_EEXISTS for one of them or both; send again. */
BLY_CHECKED bly_status bly_redis_filter_push(const bly_filter *from, const bly_redis_url *url,
                                             const bly_bitmap_spec *spec, bool replace,
                                             const bly_redis_filter_options *options,
                                             bly_redis_progress progress, void *ctx,
                                             bly_redis_reason *why, bly_redis_filter **out);

/* A copy in memory, for a file. It has every key whose add was answered before the call. Not for
 * go-zero's (BLY_EUNSUPPORTED). */
BLY_CHECKED bly_status bly_redis_filter_pull(bly_redis_filter *f, bly_redis_progress progress,
                                             void *ctx, bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
