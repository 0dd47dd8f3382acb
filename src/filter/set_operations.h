/* set_operations.h - estimates that set operations of several kinds share. Internal. */
#ifndef BLYI_FILTER_SET_OPERATIONS_H
#define BLYI_FILTER_SET_OPERATIONS_H

#include <bloomery/filter.h>

/* The overlap of two filters, from four estimates: the numbers of keys that set as many cells as
 * are set in a, in b, in either of them, and in both at the same positions. */
bly_overlap blyi_overlap_of(double a, double b, double either, double shared);

/* ---- filters that store copies --------------------------------------------------------------- */

/* bly_filter_info.expected_fill of a filter that stores copies. `keys` is the number of distinct
 * keys that its cells suggest, or INFINITY. */
double blyi_copies_fill(const bly_filter *f, double keys);

/* How many copies an intersection has, at most `most`. The two filters share `both` keys; the cells
 * of the intersection suggest `copies` copies of `keys` keys (or INFINITY). */
uint64_t blyi_copies_in_both(double both, double copies, double keys, uint64_t most);

/* What a subtraction did, in sums of counts. */
typedef struct blyi_subtraction {
    uint64_t taken, passed; /* of src: taken out of dst, or passed over */
    uint64_t left, stuck; /* in dst afterwards: in cells that count, and in those that are stuck */
} blyi_subtraction;

/* How many of its `items` copies dst has left after a subtraction of src, which had `others`. All
 * of src's copies were subtracted if nothing was passed over, none if nothing was taken, and
 * otherwise a share of them. The result is not 0 if t->left is not 0. */
uint64_t blyi_copies_left(uint64_t items, uint64_t others, const blyi_subtraction *t);

#endif
