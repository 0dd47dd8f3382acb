/* readiness.h - whether the server can answer for its data now.
 *
 * It cannot while it loads them: a key that is not there may come yet. Nor can a replica that has
 * lost its master, if it was told not to serve what may be stale (replica-serve-stale-data no).
 */
#ifndef BLOOMERY_MODULE_READINESS_H
#define BLOOMERY_MODULE_READINESS_H

#include "api.h"

#include <stdbool.h>

/* Something has happened since the last look that may make it not ready. */
extern bool bm_unsettled;
/* The same of what bm_is_on_its_own says. */
extern bool bm_may_follow;
/* Looks; to be called when bm_unsettled. */
bool bm_readiness_look(rm_ctx *ctx);

/* Looks; to be called when bm_may_follow. */
bool bm_readiness_follows(rm_ctx *ctx);

/* Costs nothing as long as nothing happens: asking the engine for its state takes longer than
 * asking a filter. */
static inline bool bm_is_ready(rm_ctx *ctx) {
    return !bm_unsettled || bm_readiness_look(ctx);
}

/* A master that is not loading: nothing is replayed here. Costs as little. */
static inline bool bm_is_on_its_own(rm_ctx *ctx) {
    return !bm_may_follow || !bm_readiness_follows(ctx);
}

/* Subscribes to the engine's events. */
int bm_readiness_start(rm_ctx *ctx);

#endif
