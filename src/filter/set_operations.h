/* set_operations.h - estimates that set operations of several kinds share. Internal. */
#ifndef BLYI_FILTER_SET_OPERATIONS_H
#define BLYI_FILTER_SET_OPERATIONS_H

#include <bloomery/filter.h>

/* The overlap of two filters, from the numbers of keys that would have set as many cells as are set
 * in a, in b, in either of them, and in both at the same positions. */
bly_overlap blyi_overlap_of(double a, double b, double either, double shared);

/* ---- filters that store copies --------------------------------------------------------------- */

/* bly_filter_info.expected_fill of a filter that its cells say has `keys` distinct keys, or
 * INFINITY. */
double blyi_copies_fill(const bly_filter *f, double keys);

/* How many copies an intersection has, at most `most`, if two filters share `both` keys, and its
 * cells hold as many copies of as many keys (or INFINITY) as this. */
uint64_t blyi_copies_in_both(double both, double copies, double keys, uint64_t most);

/* What a subtraction did, in sums of counts. */
typedef struct blyi_subtraction {
    uint64_t taken, passed; /* of src: taken out of dst, or passed over */
    uint64_t left, stuck; /* in dst afterwards: in cells that count, and in those that are stuck */
} blyi_subtraction;

/* How many of its `items` copies dst has left, src having had `others`: all of src's are gone if
 * nothing was passed over, none if nothing was taken, in between a share of them. Not 0 while cells
 * that count have something left. */
uint64_t blyi_copies_left(uint64_t items, uint64_t others, const blyi_subtraction *t);

#endif
