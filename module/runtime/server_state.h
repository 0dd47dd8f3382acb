/* server_state.h - whether the server can answer for its data now, and whether it replays writes.
 *
 * It cannot answer while it loads its data, because a missing key may still be loaded. A replica
 * without its master cannot either, if it is configured not to serve stale data
 * (replica-serve-stale-data no).
 *
 * A query of the engine's state takes longer than a lookup in a filter. So the results are cached
 * until an event of the engine invalidates them.
 */
#ifndef BLOOMERY_MODULE_SERVER_STATE_H
#define BLOOMERY_MODULE_SERVER_STATE_H

#include "engine_api.h"

#include <stdbool.h>

/* Set by events: the state must be queried again. */
extern bool bm_readiness_unknown, bm_role_unknown;
bool bm_readiness_check(rm_ctx *ctx);
bool bm_role_check_follows(rm_ctx *ctx);

/* Whether the server can answer for its data. */
static inline bool bm_is_ready(rm_ctx *ctx) {
    return !bm_readiness_unknown || bm_readiness_check(ctx);
}

/* Whether the server is a master that is not loading: nothing is replayed on it. */
static inline bool bm_is_loaded_master(rm_ctx *ctx) {
    return !bm_role_unknown || !bm_role_check_follows(ctx);
}

/* Whether the current command is replayed: it comes from a master, the AOF or an RDB file. Its
 * reply has already been sent, by the master or before a restart. So no limit applies to it, and
 * windows do not advance by this server's clock. */
bool bm_is_replayed(rm_ctx *ctx);
/* The same where there is no client, as when values are loaded or copied: the server is loading, or
 * is a replica. */
bool bm_is_following(void);

/* Subscribes to the engine's events. */
int bm_server_state_start(rm_ctx *ctx);

#endif
