/* cost.h - what a filter of one kind costs: bytes, cache lines, rate. Pure. Internal. */
#ifndef BLYI_FILTER_COST_H
#define BLYI_FILTER_COST_H

#include <bloomery/filter.h>

/* Checks for needs that no kind could meet. Returns BLY_OK, or BLY_EINVAL, BLY_ECOUNT or BLY_ERATE
 * for the same reasons as bly_advise. */
bly_status blyi_needs_check(const bly_needs *needs);

/* Whether the flags say both that all keys are known in advance and that they change later. */
bool blyi_needs_contradict(uint32_t flags);

/* Fills in *out except for `reason`. `needs` must have passed blyi_needs_check, and the kind must
 * be able to meet them. */
bly_status blyi_cost(bly_kind kind, const bly_needs *needs, bly_advice *out);

#endif
