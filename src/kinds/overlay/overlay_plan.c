#include "kinds/overlay/overlay_plan.h"
#include "filter/kind.h"
#include "filter/level_growth.h"

static bly_status check(const bly_geometry *g) {
    if (g->detail > BLYI_OVERLAY_HIDDEN)
        return BLY_EGEOMETRY;
    return blyi_levels_geometry_check(g, BLYI_OVERLAY_DELETED + 1, BLYI_OVERLAY_PARTS);
}

const blyi_planner blyi_overlay_planner = BLYI_LEVELS_PLANNER(check);
