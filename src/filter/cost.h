/* cost.h - what a filter of one kind costs: bytes, cache lines, rate. Pure. Internal. */
#ifndef BLYI_FILTER_COST_H
#define BLYI_FILTER_COST_H

#include <bloomery/filter.h>

/* BLY_EINVAL, BLY_ECOUNT and BLY_ERATE as bly_advise, for what no kind could help with. */
bly_status blyi_needs_check(const bly_needs *needs);

/* Whether the flags want keys that are all known beforehand, and others later. */
bool blyi_needs_contradict(uint32_t flags);

/* Everything in *out but the reason, for needs that passed the check and that the kind can meet. */
bly_status blyi_cost(bly_kind kind, const bly_needs *needs, bly_advice *out);

#endif
