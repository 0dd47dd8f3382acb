/* set_operations.h - estimates that set operations of several kinds share. Internal. */
#ifndef BLYI_FILTER_SET_OPERATIONS_H
#define BLYI_FILTER_SET_OPERATIONS_H

#include <bloomery/filter.h>

/* Returns the overlap of two filters, given four estimates. Each is the number of keys that would
 * set as many cells as are set: in the first filter (a), in the second (b), in at least one of them
 * (either), in both (shared). */
bly_overlap blyi_overlap_of(double a, double b, double either, double shared);

/* ---- filters that store copies --------------------------------------------------------------- */

/* Returns bly_filter_info.expected_fill for a filter that stores several copies of a key. `keys` is
 * the number of distinct keys, estimated from its cells; INFINITY if all cells are in use. */
double blyi_copies_fill(const bly_filter *f, double keys);

/* Returns the estimated number of copies in an intersection, at most `most`. `both` is the
 * estimated number of keys that the two filters share. `copies` and `keys` are the numbers of
 * copies and of distinct keys, estimated from the cells of the intersection; `keys` may be
 * INFINITY. */
uint64_t blyi_copies_in_both(double both, double copies, double keys, uint64_t most);

/* What a subtraction of src from dst did, as sums of the counts in cells. */
typedef struct blyi_subtraction {
    uint64_t taken, passed; /* in src: subtracted, or passed over as dst lacked the key */
    uint64_t left, stuck;   /* in dst afterwards: in cells that still count, in stuck cells */
} blyi_subtraction;

/* Returns how many of its `items` copies dst still has after a subtraction of src, which had
 * `others` copies. If nothing was passed over, all copies of src were subtracted; if nothing was
 * taken, none; otherwise a share of them. The result is not 0 if t->left is not 0. */
uint64_t blyi_copies_left(uint64_t items, uint64_t others, const blyi_subtraction *t);

#endif
