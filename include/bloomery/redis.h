/* redis.h - everything about servers: filters on a plain Redis or Valkey, without a module.
 *
 *   redis_link.h     where a server is; a connection, one command at a time
 *   redis_bitmap.h   a filter as strings of a server: its bytes, commands, what answers mean. No
 *                    I/O: for programs with a client or an event loop of their own
 *   redis_filter.h   the same over connections of ours: open, add, ask, in batches, on clusters
 */
#ifndef BLOOMERY_REDIS_H
#define BLOOMERY_REDIS_H

#include "redis_bitmap.h"
#include "redis_filter.h"
#include "redis_link.h"

#endif
