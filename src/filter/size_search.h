/* size_search.h - the search for the smallest size whose rate is low enough. Internal. */
#ifndef BLYI_FILTER_SIZE_SEARCH_H
#define BLYI_FILTER_SIZE_SEARCH_H

#include <stdint.h>

/* Returns blyi_excess of the rate that a size gives. May write to *ctx. */
typedef double (*blyi_excess_of)(void *ctx, uint64_t size);

/* Returns ln(rate / goal). In spite of rounding, the result is positive if and only if rate > goal.
 */
double blyi_excess(double rate, double goal);

typedef struct blyi_size_search {
    blyi_excess_of excess; /* falls as sizes grow */
    void *ctx;
    uint64_t low;   /* known to be too small */
    uint64_t first; /* a guess, low < first <= max */
    uint64_t max;   /* the largest size allowed, below 2^62 */
    double steep;   /* roughly how much the excess falls if ln(size) grows by 1: about k */
} blyi_size_search;

/* Returns the smallest size whose excess is not above 0, or 0 if `max` is too small. A good guess
 * makes the search fast; a bad one does not change the result. */
uint64_t blyi_smallest_size(const blyi_size_search *s);

#endif
