/* bloomery.h - everything. Include this, or only the headers you use. */
#ifndef BLOOMERY_BLOOMERY_H
#define BLOOMERY_BLOOMERY_H

#include "advise.h"
#include "ahead.h"
#include "base.h"
#include "blocked.h"
#include "bloom.h"
#include "build.h"
#include "counting.h"
#include "cuckoo.h"
#include "file.h"
#include "filter.h"
#include "fuse.h"
#include "hash.h"
#include "hybrid.h"
#include "layered.h"
#include "multilayer.h"
#include "overlay.h"
#include "pieces.h"
#include "plan.h"
#include "redis.h"
#include "redis_bitmap.h"
#include "redis_filter.h"
#include "redis_link.h"
#include "redisbloom.h"
#include "ribbon.h"
#include "scalable.h"
#include "scalable_cuckoo.h"
#include "sketch.h"
#include "window.h"

#endif
