/* server_state.h - whether the server's data is complete, so that lookups can be answered, and
 * whether commands are replayed.
 *
 * While the server loads its data, lookups cannot be answered, because a missing key may still be
 * loaded. The same is true on a replica that has lost its master, if it is configured not to serve
 * stale data (replica-serve-stale-data no).
 *
 * Querying the engine's state takes longer than a lookup in a filter. So the results are cached
 * until an event of the engine makes them invalid.
 */
#ifndef BLOOMERY_MODULE_SERVER_STATE_H
#define BLOOMERY_MODULE_SERVER_STATE_H

#include "engine_api.h"

#include <stdbool.h>

/* True if the state must be queried again. Events set these; the two functions below query the
 * state. */
extern bool bm_readiness_unknown, bm_role_unknown;
bool bm_readiness_check(rm_ctx *ctx);
bool bm_role_check_follows(rm_ctx *ctx);

/* Whether lookups can be answered: the server's data is complete and may be served. */
static inline bool bm_is_ready(rm_ctx *ctx) {
    return !bm_readiness_unknown || bm_readiness_check(ctx);
}

/* Whether the server is a master that is not loading. On such a server no command is replayed. */
static inline bool bm_is_loaded_master(rm_ctx *ctx) {
    return !bm_role_unknown || !bm_role_check_follows(ctx);
}

/* Whether the current command is replayed: it comes from a master, the AOF or an RDB file. Its
 * effect has already been confirmed to a client, by the master or before a restart. So no limits
 * apply to it, and it does not advance windows by this server's clock. */
bool bm_is_replayed(rm_ctx *ctx);
/* Whether the server is loading or is a replica. For code that runs without a client, such as
 * loading or copying a value. */
bool bm_is_following(void);

/* Subscribes to the engine's events. */
int bm_server_state_start(rm_ctx *ctx);

#endif
