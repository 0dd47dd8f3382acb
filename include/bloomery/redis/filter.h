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
    uint32_t retry_ms;    /* maximum time without progress while servers are unreachable, busy or
                             failing over; 0: 15 s. A call that makes progress may take longer. At
                             the first connection, an unknown host name or a refused connection
                             fails at once */
    bool no_retry;        /* fail at the first lost connection; redirections in a cluster are still
                             followed */
    uint32_t replicas;    /* replicas that must confirm an add (WAIT); 0: the master is enough */
    uint32_t replicas_ms; /* how long to wait for them; 0: 1 s */
    uint32_t batch;       /* keys in one script, which keeps the server busy for a few microseconds
                             each; 0: 512 */
    bool allow_replica;   /* allow lookups on a replica; keys that have not been replicated yet are
                             reported absent. If false, a replica is BLY_EREFUSED, after retry_ms
                             if it was a master before. The role is queried (ROLE) on connecting; a
                             server that does not permit the query is taken for a master. A master
                             that becomes a replica and keeps its connections (Sentinel closes
                             them) answers lookups until the next reconnect */
    bool without_key;     /* open a keyed filter without its hasher, to inspect, move or delete it;
                             adds and lookups are BLY_EKEY */
} bly_redis_filter_options;

/* ---- open -------------------------------------------------------------------------------------
 */

/* The url names the key. `options` and `why` may be NULL; the last is filled in on failure.
 *
 * Creates the filter or, if it exists, joins it: it must be compatible (bly_bitmap_compatible), or
 * BLY_EMISMATCH. Clients that do so at the same time get the same filter. expire_ms is used only by
 * the client that creates it. The statuses of bly_bitmap_plan; BLY_EIO
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
 * they are told apart (BLY_UNSURE, BLY_UNKNOWN). `result` may be NULL. BLY_OK: there is no
 * BLY_UNKNOWN. Otherwise, with as many keys answered as could be: BLY_EIO, BLY_EMISSING,
 * BLY_EMISMATCH (it was replaced by another), BLY_EREFUSED, BLY_ECORRUPT, BLY_ENOMEM, BLY_EINVAL
 * (`otherwise` is BLY_UNSURE). */
BLY_CHECKED bly_status bly_redis_filter_add_many(bly_redis_filter *f, const bly_bytes *keys,
                                                 size_t n, bly_answer otherwise, uint8_t *answers,
                                                 bly_redis_batch_result *result);
BLY_CHECKED bly_status bly_redis_filter_contains_many(bly_redis_filter *f, const bly_bytes *keys,
                                                      size_t n, bly_answer otherwise,
                                                      uint8_t *answers,
                                                      bly_redis_batch_result *result);
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

/* Copies a filter in memory, sbbf or split512, to a server. It arrives under another name and is
 * renamed when it is complete. With `replace` it replaces an existing filter; without, that is
 * BLY_EEXISTS. Of the spec, shards, shard_bytes and expire_ms are used; spec, options, progress and
 * why may be NULL. `out` may be NULL: the filter is not opened then. BLY_EKIND and the statuses of
 * create.
 *
 * On failure the old filter is unchanged. Exception: if this process dies, or a server for longer
 * than this call waits, while the shards are being renamed one by one, shards of both filters
 * remain, and every call fails until a filter is pushed again. If two clients push to one name at
 * the same time, either or both may get BLY_EMISMATCH, BLY_EMISSING or BLY_EEXISTS; push again. */
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
