/* bloomery.h - everything. Include this, or only the headers you use. */
#ifndef BLOOMERY_BLOOMERY_H
#define BLOOMERY_BLOOMERY_H

#include "advise.h"
#include "base.h"
#include "blocked.h"
#include "bloom.h"
#include "build.h"
#include "cuckoo.h"
#include "filter.h"
#include "fuse.h"
#include "hash.h"
#include "plan.h"
#include "ribbon.h"
#include "scalable.h"
#include "stable.h"
#include "window.h"

#endif
