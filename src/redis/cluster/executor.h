/* executor.h - runs commands on a server or on a cluster. Internal.
 *
 * In one round, every node gets all its commands at once over its own connection. All nodes work at
 * the same time, and replies are read as they arrive. Commands that could not be run are sent again
 * in further rounds, until they succeed or time is up: after NOSCRIPT with the script's text; after
 * MOVED or ASK to another node; after LOADING, TRYAGAIN, CLUSTERDOWN and the like after a pause;
 * after a lost connection over a new one. In the last case the command may have been executed
 * before, and `repeated` is set.
 */
#ifndef BLYI_REDIS_CLUSTER_EXECUTOR_H
#define BLYI_REDIS_CLUSTER_EXECUTOR_H

#include <bloomery/redis/filter.h>

typedef struct blyi_executor blyi_executor;

typedef struct blyi_request {
    const bly_bitmap_command *command;
    /* If true, the command is not sent again once it may have been executed: it fails with BLY_EIO,
     * and `repeated` is set. */
    bool once;
    /* ---- the result ---- */
    /* The server's last reply, which the caller frees; NULL: none. It is an error only if another
     * attempt would not help. */
    bly_redis_reply *reply;
    /* BLY_OK: there is a reply. BLY_EIO: there is no reply, or too few replicas have confirmed the
     * write. BLY_EREFUSED: the node refused the password or the database, or is a replica.
     * BLY_ENOMEM. */
    bly_status status;
    bool repeated; /* an earlier copy got no reply, and may have been executed */
} blyi_request;

/* Connects to the server of the URL. Retries as a run does, but not if no server listens. Returns
 * the statuses of bly_redis_open, but BLY_EREFUSED if the server refused the password or the
 * database. Only the first run finds out whether the server is a replica. */
bly_status blyi_executor_open(const bly_redis_url *url, const bly_redis_filter_options *options,
                              bly_redis_reason *why, blyi_executor **out);
void blyi_executor_close(blyi_executor *x); /* `x` may be NULL */

/* Runs n requests in any order. Requests for the same key run in the given order, unless one has to
 * be repeated. Returns BLY_OK if each has a reply, which may be an error. Otherwise returns the
 * status of the first request that failed; blyi_executor_why has the reason. */
bly_status blyi_executor_run(blyi_executor *x, blyi_request *requests, size_t n);

/* Frees the replies, so that the same commands can be run again. */
void blyi_requests_clear(blyi_request *requests, size_t n);

/* Returns the reason why the last run failed. */
const char *blyi_executor_why(const blyi_executor *x);
/* Returns the number of round trips of the last run. */
size_t blyi_executor_rounds(const blyi_executor *x);
/* Returns "HOST:PORT" of the node that owns this key, as far as is known. */
const char *blyi_executor_node(const blyi_executor *x, bly_bytes key);

#endif
