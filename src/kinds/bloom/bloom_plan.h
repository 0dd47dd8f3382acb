/* bloom_plan.h - how classic and partitioned filters are sized. Internal. */
#ifndef BLYI_KINDS_BLOOM_PLAN_H
#define BLYI_KINDS_BLOOM_PLAN_H

#include "filter/kind.h"

extern const blyi_planner blyi_classic_planner, blyi_partitioned_planner;

/* The part of the expected rate that only the textbook's probes cause, at most; 0 for other
 * geometries. */
double blyi_textbook_extra(const bly_geometry *g, double n);

#endif
