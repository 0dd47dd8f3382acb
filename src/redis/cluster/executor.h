/* executor.h - runs commands on a server or on a cluster. Internal.
 *
 * In one round, every node gets all its commands at once over its own connection. All nodes work at
 * the same time, and replies are read as they arrive. Commands that could not be run are sent again
 * in further rounds, until they succeed or time is up: after NOSCRIPT with the script's text; after
 * MOVED or ASK to another node; after LOADING, TRYAGAIN, CLUSTERDOWN and the like after a pause;
 * after a lost connection over a new one. In the last case the command may have been executed
 * before: `repeated`.
 */
#ifndef BLYI_REDIS_CLUSTER_EXECUTOR_H
#define BLYI_REDIS_CLUSTER_EXECUTOR_H

#include <bloomery/redis/filter.h>

typedef struct blyi_executor blyi_executor;

typedef struct blyi_request {
    const bly_bitmap_command *command;
    bool once; /* if it was sent, and may have been executed, it is not sent again but fails with
                  BLY_EIO and `repeated` */
    /* The result: */
    bly_redis_reply *reply; /* the server's last reply, for the caller to free; NULL: none. An error
                               reply only if another attempt would not help */
    bly_status status;      /* BLY_OK: there is a reply. BLY_EIO: no reply, or too few replicas have
                               confirmed it. BLY_EREFUSED: its node refused the password or the
                               database, or is a replica. BLY_ENOMEM */
    bool repeated; /* it was sent before without a reply, and may have been executed then */
} blyi_request;

/* Connects to the server of the URL, and retries as a run does, but not if no server listens.
 * Statuses as of bly_redis_open, except BLY_EREFUSED if the server refused. Whether it is a replica
 * is only found out by the first run. */
bly_status blyi_executor_open(const bly_redis_url *url, const bly_redis_filter_options *options,
                              bly_redis_reason *why, blyi_executor **out);
void blyi_executor_close(blyi_executor *x); /* NULL does nothing */

/* Runs n requests in any order; requests for the same key run in order, unless one has to be
 * repeated. BLY_OK: each has a reply, which may be an error. Otherwise the status of the first that
 * has none, and blyi_executor_why says why. */
bly_status blyi_executor_run(blyi_executor *x, blyi_request *requests, size_t n);

/* Frees the replies, so that the same commands can be run again. */
void blyi_requests_clear(blyi_request *requests, size_t n);

const char *blyi_executor_why(const blyi_executor *x);
/* Round trips of the last run. */
size_t blyi_executor_rounds(const blyi_executor *x);
/* "HOST:PORT" of the node that owns this key, as far as is known. */
const char *blyi_executor_node(const blyi_executor *x, bly_bytes key);

#endif
