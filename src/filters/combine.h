/* combine.h - what two filters have in common, judged by their bits or by anything else that keys
 * leave at random places. Internal. */
#ifndef BLYI_FILTERS_COMBINE_H
#define BLYI_FILTERS_COMBINE_H

#include <bloomery/filter.h>

/* From the numbers of keys that would have left as much as there is in a, in b, in one of them or
 * the other, and in both at the same places. */
bly_overlap blyi_overlap_of(double a, double b, double either, double shared);

#endif
