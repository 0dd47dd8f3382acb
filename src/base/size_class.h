/* steps.h - sizes in steps of a quarter of a power of two, in a byte. Internal.
 *
 * A table that grows takes the next step when it is full: a quarter to a seventh more, so that it
 * is never much larger than needed, and a filter's header can name its size in its detail.
 *
 *     step   0  1  2  3  4  5   6   7   8   9  ...
 *     size   0  4  5  6  7  8  10  12  14  16  ...
 */
#ifndef BLYI_BASE_SIZE_CLASS_H
#define BLYI_BASE_SIZE_CLASS_H

#include <stdint.h>

enum { BLYI_MAX_SIZE_CLASS = 180 }; /* 2^46 and more: no body is so large */

/* `step` is at most BLYI_MAX_SIZE_CLASS. */
static inline uint64_t blyi_size_of_class(unsigned step) {
    return step == 0 ? 0 : (uint64_t)(4 + (step - 1) % 4) << (step - 1) / 4;
}

/* The first step whose size is at least n; BLYI_MAX_SIZE_CLASS + 1 when there is none. */
static inline unsigned blyi_size_class_for(uint64_t n) {
    unsigned step = 0;
    while (step <= BLYI_MAX_SIZE_CLASS && blyi_size_of_class(step) < n)
        step++;
    return step;
}

#endif
