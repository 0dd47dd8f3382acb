/* exchange.h - carrying out commands on a server or on a cluster of them. Internal.
 *
 * One round: every node that has something to do gets all of it at once, over a connection of its
 * own; all nodes work at the same time; answers are taken as they come. What could not be done is
 * done in further rounds, until it is or time is up: after NOSCRIPT with the script's text, after
 * MOVED or ASK elsewhere, after LOADING, TRYAGAIN, CLUSTERDOWN and the like in a while, after a
 * lost connection over a new one (and then it may have been carried out before: `repeated`).
 */
#ifndef BLYI_REDIS_EXCHANGE_H
#define BLYI_REDIS_EXCHANGE_H

#include <bloomery/redis_filter.h>

typedef struct blyi_exchange blyi_exchange;

typedef struct blyi_request {
    const bly_bitmap_command *command; /* what is to be done */
    bool once;                         /* if any of it was sent, and it may have been carried out,
                                          it is not sent again: BLY_EIO, `repeated` */
    /* What became of it: */
    bly_redis_reply *reply; /* the server's last word, for the caller to free, NULL if there is
                               none; an error only if trying again would not help */
    bly_status status;      /* BLY_OK: there is a reply. BLY_EIO: there is none, or too few replicas
                               have confirmed it. BLY_EREFUSED: its node did not take our password
                               or our database, or is a replica. BLY_ENOMEM */
    bool repeated;          /* it was sent before, and no answer came: perhaps it was carried out */
} blyi_request;

/* Connects to the server of the url, and goes on trying as a run does, but not where nobody
 * listens. All of bly_redis_open's statuses, but BLY_EREFUSED where the server refused. That it is
 * a replica is seen by the first run. */
bly_status blyi_exchange_open(const bly_redis_url *url, const bly_redis_filter_options *options,
                              bly_redis_reason *why, blyi_exchange **out);
void blyi_exchange_close(blyi_exchange *x); /* NULL does nothing */

/* Carries out n requests, in any order; those to one key in theirs, unless one has to be repeated.
 * BLY_OK: each has a reply, whatever it says. Otherwise the status of the first that has none, and
 * blyi_exchange_why says why. */
bly_status blyi_exchange_run(blyi_exchange *x, blyi_request *requests, size_t n);

/* Frees the replies, for the next run of the same commands. */
void blyi_requests_clear(blyi_request *requests, size_t n);

const char *blyi_exchange_why(const blyi_exchange *x);
/* Rounds of the last run: times that servers had to be waited for. */
size_t blyi_exchange_rounds(const blyi_exchange *x);
/* "HOST:PORT" of the node that has this key, as far as is known. */
const char *blyi_exchange_node(const blyi_exchange *x, bly_bytes key);

#endif
