/* plan_overlay.h - the shape of an overlay, for those who check one and those who make one.
 * Internal.
 */
#ifndef BLYI_KINDS_OVERLAY_OVERLAY_PLAN_H
#define BLYI_KINDS_OVERLAY_OVERLAY_PLAN_H

#include "filter/kind.h"
#include <bloomery/plan.h>

/* The parts, in this order. */
enum {
    BLYI_OVERLAY_BASE,
    BLYI_OVERLAY_DELETED,
    BLYI_OVERLAY_ADDED, /* once there is need of it */
    BLYI_OVERLAY_PARTS
};

/* The detail of one that was cleared over a base that it may not change: the base is passed over.
 */
enum { BLYI_OVERLAY_HIDDEN = 1 };

extern const blyi_planner blyi_overlay_planner;

#endif
