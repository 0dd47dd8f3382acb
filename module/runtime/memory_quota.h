/* memory_quota.h - how much memory the whole server may use: the engine's maxmemory, and the memory
 * of the machine or container.
 *
 * A filter allocates its memory when it is created, and a command of a few bytes can request any
 * size. The engine would evict all other keys to make room for it. So what cannot fit is refused
 * before it is allocated. Nothing is refused while loading, or on a replica, which would lose data
 * that the master has.
 */
#ifndef BLOOMERY_MODULE_MEMORY_QUOTA_H
#define BLOOMERY_MODULE_MEMORY_QUOTA_H

#include "engine_api.h"

/* Reads the settings, and again whenever they change. */
int bm_quota_start(rm_ctx *ctx);

/* How many bytes more a filter of `own` bytes may allocate, when all filters have `all` bytes;
 * UINT64_MAX without a limit. All filters together never get more than the machine has. With
 * maxmemory: without eviction, what is left of it; with eviction, maxmemory less the filter's own
 * bytes. To be called in the engine's main thread. */
uint64_t bm_quota_available(uint64_t own, uint64_t all);

#endif
