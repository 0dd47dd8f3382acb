/* blocked_plan.h - how sbbf, split512 and bb2x512 are sized. Internal. */
#ifndef BLYI_KINDS_BLOCKED_PLAN_H
#define BLYI_KINDS_BLOCKED_PLAN_H

#include "filter/kind.h"

extern const blyi_planner blyi_sbbf_planner, blyi_split512_planner, blyi_bb2x512_planner;

#endif
