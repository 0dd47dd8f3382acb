/* memory_quota.h - the limits of the memory that the whole server may use: the engine's maxmemory,
 * and the memory of the machine or container.
 *
 * A filter allocates its memory when it is created, and a command of a few bytes can request any
 * size. The engine would evict all other keys to make room for such a filter. So a filter that does
 * not fit is refused before its memory is allocated. Nothing is refused while the server is
 * loading, or on a replica, because data of the master would be lost there.
 */
#ifndef BLOOMERY_MODULE_MEMORY_QUOTA_H
#define BLOOMERY_MODULE_MEMORY_QUOTA_H

#include "engine_api.h"

/* Reads the settings now and whenever they change. */
int bm_quota_start(rm_ctx *ctx);

/* Returns how many more bytes a filter that has `own` bytes may allocate, if all filters together
 * have `all` bytes; UINT64_MAX if there is no limit. All filters together never get more memory
 * than the machine has. If maxmemory is set, the limit is also: without eviction, the rest of
 * maxmemory; with eviction, maxmemory minus `own`. Must be called in the engine's main thread. */
uint64_t bm_quota_available(uint64_t own, uint64_t all);

#endif
