#include "kinds/overlay/overlay_plan.h"
#include "filter/plan_levels.h"
#include "filter/planner.h"

static bly_status check(const bly_geometry *g) {
    if (g->detail > BLYI_OVERLAY_HIDDEN)
        return BLY_EGEOMETRY;
    return blyi_levels_geometry_check(g, BLYI_OVERLAY_DELETED + 1, BLYI_OVERLAY_PARTS);
}

const blyi_planner blyi_plan_overlay = {
    .kind = BLY_OVERLAY,
    .name = "overlay",
    .check = check,
    .bits = blyi_levels_geometry_bits,
    .width = blyi_levels_geometry_width,
    .plan = blyi_levels_geometry_plan,
    .rate = blyi_levels_geometry_rate,
    .max_keys = blyi_levels_geometry_max_keys,
    .fill = blyi_levels_geometry_fill,
};
