/* filter.h - filters on a plain Redis or Valkey server or cluster, without a module.
 * docs/plain-redis.md has an example.
 *
 * An error is never reported as an answer. If there is no answer for some keys, the call returns an
 * error status, and bly_redis_filter_error returns the reason. Such a key gets BLY_UNKNOWN, or the
 * answer that the caller passed as `otherwise`. For each call, choose the mistake that costs less:
 *
 *   a guard before a database ("absent" ends the request)   assume BLY_YES: all requests pass
 *   a block list ("present" ends the request)               assume BLY_NO or BLY_YES, as you like
 *   a crawler's add ("seen" drops the page)                 assume BLY_YES: a page twice, none lost
 *
 * Adds. Of concurrent adds of one key, in any number of processes, exactly one reports "new". If an
 * add was answered, the key is in the filter as long as the server keeps its data: a restart
 * without persistence, or a failover, may lose it. If a reply is lost, the call reconnects and
 * sends the command again. For a key that is present then, the answer is BLY_UNSURE, because the
 * first attempt may have added it.
 *
 * A handle may be used by one thread at a time. */
#ifndef BLOOMERY_REDIS_FILTER_H
#define BLOOMERY_REDIS_FILTER_H

#include "bitmap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A filter on a server. */
typedef struct bly_redis_filter bly_redis_filter;

/* How to use a filter on a server. */
typedef struct bly_redis_filter_options {
    size_t struct_size;
    uint32_t connect_ms;  /* time limit for connecting, after the host name is resolved; 0: 5 s */
    uint32_t command_ms;  /* how long a server may send nothing while a reply is due; 0: 10 s. A
                             reply that arrives in small parts may take longer in total */
    uint32_t retry_ms;    /* how long a call tries again without progress, while servers are
                             unreachable, busy or failing over; 0: 15 s. The first connection is not
                             tried again if the host name is unknown or the connection is refused */
    bool no_retry;        /* true: fail at the first lost connection, without trying again.
                             (Redirections in a cluster are followed.) false: try again for retry_ms */
    uint32_t replicas;    /* number of replicas that must confirm an add (WAIT); 0: only the master
                             must */
    uint32_t replicas_ms; /* time limit for waiting for the replicas; 0: 1 s */
    uint32_t batch;       /* maximum number of keys per script; 0: 512. A script keeps the server
                             busy for a few microseconds per key */
    bool allow_replica; /* true: allow lookups on a replica, where keys that are not yet replicated
                           are reported absent. false: a call to a replica returns BLY_EREFUSED,
                           after retry_ms if the server was a master before. The role is queried
                           (ROLE) only when connecting; a server that refuses ROLE counts as a
                           master */
    bool without_key;   /* true: open a keyed filter without its hasher, to inspect, move or delete
                           it; adds and lookups then return BLY_EKEY */
} bly_redis_filter_options;

/* ---- open ----------------------------------------------------------------------------------- */

/* Creates the filter at the key of `url`, or opens the filter there if it is compatible
 * (bly_bitmap_compatible). If several clients call this at the same time, one creates the filter,
 * with its expire_ms, and the others open it. `options` and `why` may be NULL. If the call fails,
 * *why is filled in. The caller closes *out with bly_redis_filter_close.
 * Errors: those of bly_bitmap_plan; BLY_EMISMATCH (the existing filter is not compatible), BLY_EIO
 * (no connection, or no answer), BLY_EREFUSED (the server refused the password, permission or
 * memory; or the key is not a string), BLY_ECORRUPT (the key contains something else), BLY_EMISSING
 * (the filter exists, but lacks shards), BLY_EVERSION, BLY_EKEY, BLY_EHASHER, BLY_EUNSUPPORTED (the
 * library was built without hiredis, or without TLS and the URL needs it), BLY_EINVAL (`url` has no
 * key), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_redis_filter_create(const bly_redis_url *url,
                                               const bly_bitmap_spec *spec,
                                               const bly_redis_filter_options *options,
                                               bly_redis_reason *why, bly_redis_filter **out);

/* Opens an existing filter. Its parameters are stored with it. `hasher` is needed for a keyed
 * filter, and NULL for any other. Errors: those of bly_redis_filter_create; BLY_EMISSING (the
 * filter or one of its shards does not exist, or another client has not completed the filter
 * yet). */
BLY_CHECKED bly_status bly_redis_filter_open(const bly_redis_url *url, const bly_hasher *hasher,
                                             const bly_redis_filter_options *options,
                                             bly_redis_reason *why, bly_redis_filter **out);

/* Opens a filter of go-zero with `bits` bits. It need not exist: the first add creates it. Until
 * then lookups return BLY_EMISSING (whereas go-zero answers "absent").
 * Errors: those of bly_redis_filter_create and bly_bitmap_gozero. */
BLY_CHECKED bly_status bly_redis_filter_gozero(const bly_redis_url *url, uint64_t bits,
                                               const bly_redis_filter_options *options,
                                               bly_redis_reason *why, bly_redis_filter **out);
/* Closes the handle, but does not delete the filter on the server. NULL does nothing. */
BLY_API void bly_redis_filter_close(bly_redis_filter *f);
/* Returns the shape of the filter, borrowed until bly_redis_filter_close. */
BLY_API const bly_bitmap *bly_redis_filter_bitmap(const bly_redis_filter *f);
/* Returns a text that says why the last call failed. It is valid until the next call. */
BLY_API const char *bly_redis_filter_error(const bly_redis_filter *f);

/* ---- use ------------------------------------------------------------------------------------ */

/* The outcome of a batch. */
typedef struct bly_redis_batch_result {
    size_t yes;         /* adds: number of new keys; lookups: number of keys that are present */
    size_t unsure;      /* adds: number of keys that are in the filter, where it is unknown whether
                           they were new */
    size_t unknown;     /* number of keys without an answer; after an add, it is unknown whether
                           they are in the filter */
    size_t round_trips; /* maximum number of round trips to one server: 1 per 32768 keys if nothing
                           fails */
} bly_redis_batch_result;

/* Adds a batch of keys. answers[i] becomes BLY_YES or BLY_NO. If neither is known, it becomes
 * `otherwise` or, if `otherwise` is BLY_UNKNOWN, either BLY_UNSURE or BLY_UNKNOWN. `result` may be
 * NULL. The call returns BLY_OK if no key is without an answer. If it fails, as many keys as
 * possible have been answered. Errors: BLY_EIO, BLY_EMISSING, BLY_EMISMATCH (another filter
 * replaced it), BLY_EREFUSED, BLY_ECORRUPT, BLY_EKEY (opened without its hasher), BLY_ENOMEM,
 * BLY_EINVAL
 * (`otherwise` is BLY_UNSURE). */
BLY_CHECKED bly_status bly_redis_filter_add_many(bly_redis_filter *f, const bly_bytes *keys,
                                                 size_t n, bly_answer otherwise, uint8_t *answers,
                                                 bly_redis_batch_result *result);
/* Looks a batch of keys up, with the same arguments and results as bly_redis_filter_add_many.
 * Errors: those of bly_redis_filter_add_many. */
BLY_CHECKED bly_status bly_redis_filter_contains_many(bly_redis_filter *f, const bly_bytes *keys,
                                                      size_t n, bly_answer otherwise,
                                                      uint8_t *answers,
                                                      bly_redis_batch_result *result);
/* Adds one key, as bly_redis_filter_add_many does.
 * Errors: those of bly_redis_filter_add_many. */
BLY_CHECKED bly_status bly_redis_filter_add(bly_redis_filter *f, const void *key, size_t len,
                                            bly_answer otherwise, bly_answer *answer);
/* Looks one key up, as bly_redis_filter_contains_many does.
 * Errors: those of bly_redis_filter_add_many. */
BLY_CHECKED bly_status bly_redis_filter_contains(bly_redis_filter *f, const void *key, size_t len,
                                                 bly_answer otherwise, bly_answer *answer);

/* ---- whole filters -------------------------------------------------------------------------- */

/* The state of a filter on a server. */
typedef struct bly_redis_filter_info {
    size_t struct_size;
    uint64_t count;      /* number of keys that were new when added; go-zero: 0 */
    uint64_t bytes;      /* number of bytes of all strings */
    uint64_t set_bits;   /* go-zero: number of bits that are set (BITCOUNT); native: 0 */
    double expected_fpr; /* false-positive rate by formula, from `count` (bly_bitmap_keys); go-zero:
                            from set_bits */
    int64_t expires_ms;  /* time in ms until the first of the shards expires; -1: never */
    uint32_t nodes;      /* number of servers on which the shards are */
} bly_redis_filter_info;

/* Describes a filter on a server. Errors: those of bly_redis_filter_add_many, BLY_EINVAL
 * (struct_size). */
BLY_CHECKED bly_status bly_redis_filter_get_info(bly_redis_filter *f, bly_redis_filter_info *out);

/* Sets the time in ms after which all shards expire; 0: never.
 * Errors: those of bly_redis_filter_add_many. */
BLY_CHECKED bly_status bly_redis_filter_expire(bly_redis_filter *f, uint64_t ms);

/* Deletes a filter from the server. Afterwards the handle can only be closed.
 * Errors: those of bly_redis_filter_add_many. */
BLY_CHECKED bly_status bly_redis_filter_drop(bly_redis_filter *f);

/* Receives the progress of a copy, in bytes. Return false to stop the copy: it then fails with
 * BLY_EIO and errno EINTR. */
typedef bool (*bly_redis_progress)(void *ctx, uint64_t done, uint64_t total);

/* Copies a filter in memory, of kind sbbf or split512, to a server. The copy is sent under another
 * name, and renamed when it is complete. If `replace` is true, it may replace an existing filter.
 * Of `spec` only shards, shard_bytes and expire_ms are used. spec, options, progress, why and out
 * may be NULL. If `out` is not NULL, the copy is opened.
 *
 * If the call fails, the old filter is unchanged, with one exception: if this process dies while
 * shards are being renamed, or a server is then down for longer than this call waits, the name has
 * shards of both filters, and every call on it fails until a filter is pushed again. If two clients
 * push to one name at the same time, one or both may fail, and must push again. Errors: those of
 * bly_redis_filter_create, BLY_EKIND, BLY_EEXISTS (a filter exists, and `replace` is false). */
BLY_CHECKED bly_status bly_redis_filter_push(const bly_filter *from, const bly_redis_url *url,
                                             const bly_bitmap_spec *spec, bool replace,
                                             const bly_redis_filter_options *options,
                                             bly_redis_progress progress, void *ctx,
                                             bly_redis_reason *why, bly_redis_filter **out);

/* Copies a filter from a server into memory. The copy contains every key whose add was answered
 * before this call. Errors: those of bly_redis_filter_add_many, BLY_EUNSUPPORTED (a filter of
 * go-zero). */
BLY_CHECKED bly_status bly_redis_filter_pull(bly_redis_filter *f, bly_redis_progress progress,
                                             void *ctx, bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
