/* filter.h - filters on a plain Redis or Valkey server or cluster, without a module.
 * docs/plain-redis.md has an example.
 *
 * Errors are not answers. A call without all answers returns a status and a reason
 * (bly_redis_filter_error). A key without an answer gets BLY_UNKNOWN, or the answer that the caller
 * chose to assume. Choose the cheaper mistake for each call:
 *
 *   a guard before a database ("absent" ends the request)   assume BLY_YES: all requests pass
 *   a block list ("present" ends the request)               assume BLY_NO or BLY_YES, as you like
 *   a crawler's add ("seen" drops the page)                 assume BLY_YES: a page twice, none lost
 *
 * Adds. Of concurrent adds of one key, in any number of processes, exactly one reports "new". An
 * add that was answered is in the filter as long as the server keeps its data: a restart without
 * persistence or a failover may lose it. If a reply is lost, the call reconnects and sends the
 * command again; a key that is present by then is BLY_UNSURE.
 *
 * A handle is for one thread at a time. */
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
    uint32_t connect_ms; /* time limit of connecting, after the name was resolved; 0: 5 s */
    uint32_t command_ms; /* time that a server may be silent while a reply is due; 0: 10 s. A reply
                            that arrives byte by byte may take longer */
    uint32_t retry_ms; /* time limit without progress while servers are unreachable, busy or failing
                          over; 0: 15 s. At the first connection, an unknown host name or a refused
                          connection fails at once */
    bool no_retry;     /* fail at the first lost connection. Redirections in a cluster are still
                          followed */
    uint32_t replicas; /* replicas that must confirm an add (WAIT); 0: the master is enough */
    uint32_t replicas_ms; /* time limit of waiting for them; 0: 1 s */
    uint32_t batch;       /* keys per script, which keeps the server busy for a few microseconds per
                             key; 0: 512 */
    bool allow_replica; /* allow lookups on a replica; keys not yet replicated are reported absent.
                           If false, a replica is BLY_EREFUSED, after retry_ms if it was a master
                           before. The role is queried (ROLE) on connecting, not later; a server
                           that refuses ROLE counts as a master */
    bool without_key;   /* open a keyed filter without its hasher, to inspect, move or delete it.
                           Adds and lookups return BLY_EKEY */
} bly_redis_filter_options;

/* ---- open ----------------------------------------------------------------------------------- */

/* Creates the filter that the url names or, if a compatible one exists (bly_bitmap_compatible),
 * joins it. Clients that do this at the same time get the same filter; expire_ms counts only for
 * the one that creates it. `options` and `why` may be NULL; *why is filled in on failure. The
 * caller closes *out with bly_redis_filter_close.
 * Errors: those of bly_bitmap_plan; BLY_EMISMATCH (the existing one is not compatible), BLY_EIO (no
 * connection, no answer), BLY_EREFUSED (password, permission, memory; the key has another type than
 * string), BLY_ECORRUPT (the key contains something else), BLY_EMISSING (the filter exists, but
 * lacks shards), BLY_EVERSION, BLY_EKEY, BLY_EHASHER, BLY_EUNSUPPORTED (a build without hiredis, or
 * TLS without it), BLY_EINVAL (the url names no key), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_redis_filter_create(const bly_redis_url *url,
                                               const bly_bitmap_spec *spec,
                                               const bly_redis_filter_options *options,
                                               bly_redis_reason *why, bly_redis_filter **out);

/* Opens an existing filter, whose parameters are stored with it. A keyed filter needs its hasher;
 * pass NULL for others. Errors: those of bly_redis_filter_create; BLY_EMISSING (the filter or one
 * of its shards is missing, or it is still being created). */
BLY_CHECKED bly_status bly_redis_filter_open(const bly_redis_url *url, const bly_hasher *hasher,
                                             const bly_redis_filter_options *options,
                                             bly_redis_reason *why, bly_redis_filter **out);

/* Opens a filter of go-zero with that many bits. Nothing is written until an add creates it. While
 * it is missing, lookups return BLY_EMISSING (go-zero itself answers "absent").
 * Errors: those of bly_redis_filter_create and bly_bitmap_gozero. */
BLY_CHECKED bly_status bly_redis_filter_gozero(const bly_redis_url *url, uint64_t bits,
                                               const bly_redis_filter_options *options,
                                               bly_redis_reason *why, bly_redis_filter **out);
/* Closes the handle; the filter on the server stays. NULL does nothing. */
BLY_API void bly_redis_filter_close(bly_redis_filter *f);
/* Returns the shape of the filter, borrowed until close. */
BLY_API const bly_bitmap *bly_redis_filter_bitmap(const bly_redis_filter *f);
/* Returns why the last call failed; valid until the next call. */
BLY_API const char *bly_redis_filter_error(const bly_redis_filter *f);

/* ---- use ------------------------------------------------------------------------------------ */

/* The outcome of a batch. */
typedef struct bly_redis_batch_result {
    size_t yes;         /* adds: new; lookups: present */
    size_t unsure;      /* adds: in the filter, but unknown whether new */
    size_t unknown;     /* no answer: unknown even whether an add took place */
    size_t round_trips; /* maximum over all servers: 1 per 32768 keys if nothing failed */
} bly_redis_batch_result;

/* Add or look up a batch of keys. answers[i] becomes BLY_YES or BLY_NO or, if that is unknown,
 * `otherwise`; with BLY_UNKNOWN as `otherwise`, it is BLY_UNSURE or BLY_UNKNOWN. `result` may be
 * NULL. BLY_OK means that no answer is BLY_UNKNOWN; on failure as many keys as possible are
 * answered. Errors: BLY_EIO, BLY_EMISSING, BLY_EMISMATCH (another filter replaced it),
 * BLY_EREFUSED, BLY_ECORRUPT, BLY_EKEY (opened without its hasher), BLY_ENOMEM, BLY_EINVAL
 * (`otherwise` is BLY_UNSURE). */
BLY_CHECKED bly_status bly_redis_filter_add_many(bly_redis_filter *f, const bly_bytes *keys,
                                                 size_t n, bly_answer otherwise, uint8_t *answers,
                                                 bly_redis_batch_result *result);
BLY_CHECKED bly_status bly_redis_filter_contains_many(bly_redis_filter *f, const bly_bytes *keys,
                                                      size_t n, bly_answer otherwise,
                                                      uint8_t *answers,
                                                      bly_redis_batch_result *result);
/* Add or look up one key, as the functions for batches do.
 * Errors: those of bly_redis_filter_add_many. */
BLY_CHECKED bly_status bly_redis_filter_add(bly_redis_filter *f, const void *key, size_t len,
                                            bly_answer otherwise, bly_answer *answer);
BLY_CHECKED bly_status bly_redis_filter_contains(bly_redis_filter *f, const void *key, size_t len,
                                                 bly_answer otherwise, bly_answer *answer);

/* ---- whole filters
 * -------------------------------------------------------------------------------- */

/* The state of a filter on a server. */
typedef struct bly_redis_filter_info {
    size_t struct_size;
    uint64_t count;      /* keys that were new; go-zero: 0 */
    uint64_t bytes;      /* of all strings */
    uint64_t set_bits;   /* go-zero only: its bits that are set (BITCOUNT) */
    double expected_fpr; /* for that count (bly_bitmap_keys); go-zero: for the bits that are set */
    int64_t expires_ms;  /* time until the first shard expires; -1: never */
    uint32_t nodes;      /* servers that it lies on */
} bly_redis_filter_info;

/* Describes a filter. Errors: those of bly_redis_filter_add_many, BLY_EINVAL (struct_size). */
BLY_CHECKED bly_status bly_redis_filter_get_info(bly_redis_filter *f, bly_redis_filter_info *out);

/* Sets the time in ms after which all shards expire; 0: never.
 * Errors: those of bly_redis_filter_add_many. */
BLY_CHECKED bly_status bly_redis_filter_expire(bly_redis_filter *f, uint64_t ms);

/* Deletes a filter from the server. Afterwards the handle can only be closed.
 * Errors: those of bly_redis_filter_add_many. */
BLY_CHECKED bly_status bly_redis_filter_drop(bly_redis_filter *f);

/* Receives the progress of a copy, in bytes. Return false to stop it (BLY_EIO, errno EINTR). */
typedef bool (*bly_redis_progress)(void *ctx, uint64_t done, uint64_t total);

/* Copies a filter in memory, sbbf or split512, to a server. It is sent under another name, and
 * renamed when it is complete. `replace` allows it to replace an existing filter. Of the spec,
 * shards, shard_bytes and expire_ms are used. spec, options, progress, why and out may be NULL;
 * without out the filter is not opened.
 *
 * On failure the old filter is unchanged. Exception: if this process dies while the shards are
 * being renamed, or a server is down for longer than this call waits, shards of both filters
 * remain, and every call fails until a filter is pushed again. If two clients push to one name at
 * once, either or both may fail; push again. Errors: those of bly_redis_filter_create, BLY_EKIND,
 * BLY_EEXISTS (a filter exists, and `replace` is false). */
BLY_CHECKED bly_status bly_redis_filter_push(const bly_filter *from, const bly_redis_url *url,
                                             const bly_bitmap_spec *spec, bool replace,
                                             const bly_redis_filter_options *options,
                                             bly_redis_progress progress, void *ctx,
                                             bly_redis_reason *why, bly_redis_filter **out);

/* Copies a filter from a server into memory. The copy has every key whose add was answered before
 * the call. Errors: those of bly_redis_filter_add_many, BLY_EUNSUPPORTED (a filter of go-zero). */
BLY_CHECKED bly_status bly_redis_filter_pull(bly_redis_filter *f, bly_redis_progress progress,
                                             void *ctx, bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
