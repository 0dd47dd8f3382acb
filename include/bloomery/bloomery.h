/* bloomery.h - everything. Include this, or only the headers you use. */
#ifndef BLOOMERY_BLOOMERY_H
#define BLOOMERY_BLOOMERY_H

#include "advise.h"
#include "base.h"
#include "blocked.h"
#include "bloom.h"
#include "filter.h"
#include "hash.h"
#include "plan.h"
#include "scalable.h"

#endif
