/* bloomery.h - the header to include: filters of every kind, sizing, building.
 *
 * Opt-in headers:
 *   <bloomery/list.h>           typed lists: domains, IP blocks, e-mail addresses, URLs and more
 *   <bloomery/bytes.h>          filters in the caller's own bytes, for storage engines
 *   <bloomery/formulas.h>       the textbook's formulas
 *   <bloomery/redis/filter.h>   filters on a plain Redis or Valkey server; also url.h,
 *                               connection.h and bitmap.h
 *   <bloomery/host/...>         for servers and tools that embed the library: chunks.h,
 *                               defrag.h, prefetch.h, describe.h, files.h, lists.h, redisbloom.h
 *   <bloomery/bloomery.hpp>     a C++17 wrapper
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
