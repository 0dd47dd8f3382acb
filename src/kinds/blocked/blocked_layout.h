/* blocked_layout.h - the planners of sbbf, split512 and bb2x512 (blocked_plan.c). Internal.
 *
 * Their layouts are in blocked.c, and which bits of a block a key has in simd/masks.h.
 */
#ifndef BLYI_KINDS_BLOCKED_LAYOUT_H
#define BLYI_KINDS_BLOCKED_LAYOUT_H

#include "filter/kind.h"

extern const blyi_planner blyi_sbbf_planner, blyi_split512_planner, blyi_bb2x512_planner;

#endif
