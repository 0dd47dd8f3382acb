/* Overlays cannot be planned: what they take depends on the filter beneath and on what changes. All
 * there is to say of a geometry is whether a file may have it. */
#include "plan_overlay.h"
#include "planner.h"
#include "rate.h"

enum { LEAST_PART = 128 }; /* bytes: a header and a line */

static bly_status check(const bly_geometry *g) {
    if (g->hashes <= BLYI_OVERLAY_DELETED || g->hashes > BLYI_OVERLAY_PARTS)
        return BLY_EGEOMETRY;
    if (g->detail > BLYI_OVERLAY_HIDDEN || g->size % 64 || g->size / LEAST_PART < g->hashes)
        return BLY_EGEOMETRY;
    return g->size > BLYI_MAX_BITS / 8 ? BLY_ETOOBIG : BLY_OK;
}

static uint64_t bits(const bly_geometry *g) {
    return g->size * 8;
}

static unsigned width(const bly_geometry *g) {
    (void)g;
    return 1;
}

static bly_status plan(uint64_t keys, double fpr, bly_geometry *out) {
    (void)keys;
    (void)fpr;
    (void)out;
    return BLY_EKIND;
}

static double rate(const bly_geometry *g, double n) {
    (void)g;
    (void)n;
    return 1;
}

static uint64_t most(const bly_geometry *g) {
    (void)g;
    return 0;
}

static double fill(const bly_geometry *g, double n) {
    (void)g;
    (void)n;
    return 0;
}

const blyi_planner blyi_plan_overlay = {
    .kind = BLY_OVERLAY,
    .name = "overlay",
    .check = check,
    .bits = bits,
    .width = width,
    .plan = plan,
    .rate = rate,
    .most = most,
    .fill = fill,
};
