/* quota.h - how much memory the server as a whole may take: the engine's maxmemory, and what the
 * machine, or the container, has.
 *
 * A filter takes its memory when it is made, and a few bytes can ask for any size. What the engine
 * counts as used it makes room for, by evicting all the rest; so what cannot fit is refused before.
 * Nothing is refused while loading, nor on a replica: that would lose what the master has.
 */
#ifndef BLOOMERY_MODULE_QUOTA_H
#define BLOOMERY_MODULE_QUOTA_H

#include "api.h"

/* Reads the settings, and again whenever they change. */
int bm_quota_start(rm_ctx *ctx);

/* Bytes more that a filter which has `own` may take, when all filters have `all`; UINT64_MAX where
 * nothing stands against it. Not more than the machine has for all of them. With maxmemory: where
 * nothing is evicted, what is left of it; where keys are, what it is, less the filter's own. In the
 * engine's main thread alone. */
uint64_t bm_quota_room(uint64_t own, uint64_t all);

#endif
