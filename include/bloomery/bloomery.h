/* bloomery.h - the library: filters of every kind, sizing, building. Include this.
 *
 * Opt-in headers, each with an interface of its own:
 *   <bloomery/formulas.h>        the textbook's formulas
 *   <bloomery/redis/filter.h>    filters on a plain Redis or Valkey server (also url.h,
 * connection.h, bitmap.h) <bloomery/host/...>          for servers and tools that embed the
 * library: chunks.h, defrag.h, prefetch.h, describe.h, files.h, redisbloom.h
 */
#ifndef BLOOMERY_BLOOMERY_H
#define BLOOMERY_BLOOMERY_H

#include "base.h"
#include "build.h"
#include "filter.h"
#include "hash.h"
#include "kinds.h"
#include "plan.h"

#endif
