#include "plan_overlay.h"
#include "plan_levels.h"
#include "planner.h"

static bly_status check(const bly_geometry *g) {
    if (g->detail > BLYI_OVERLAY_HIDDEN)
        return BLY_EGEOMETRY;
    return blyi_whole_check(g, BLYI_OVERLAY_DELETED + 1, BLYI_OVERLAY_PARTS);
}

const blyi_planner blyi_plan_overlay = {
    .kind = BLY_OVERLAY,
    .name = "overlay",
    .check = check,
    .bits = blyi_whole_bits,
    .width = blyi_whole_width,
    .plan = blyi_whole_plan,
    .rate = blyi_whole_rate,
    .most = blyi_whole_most,
    .fill = blyi_whole_fill,
};
