/* size_class.h - size classes: four sizes for each power of two, with numbers that fit in a byte.
 * Internal.
 *
 * A table that is full grows to the next class, which is a quarter to a seventh larger. So it is
 * never much larger than needed, and one byte of a filter's header can name its size.
 *
 *     class  0  1  2  3  4  5   6   7   8   9  ...
 *     size   0  4  5  6  7  8  10  12  14  16  ...
 */
#ifndef BLYI_BASE_SIZE_CLASS_H
#define BLYI_BASE_SIZE_CLASS_H

#include <stdint.h>

enum { BLYI_MAX_SIZE_CLASS = 180 }; /* a size above 2^46, larger than any body */

/* Returns the size of a class, which must be at most BLYI_MAX_SIZE_CLASS. */
static inline uint64_t blyi_size_of_class(unsigned size_class) {
    return size_class == 0 ? 0 : (uint64_t)(4 + (size_class - 1) % 4) << (size_class - 1) / 4;
}

/* Returns the first class whose size is at least n, or BLYI_MAX_SIZE_CLASS + 1 if n is larger. */
static inline unsigned blyi_size_class_for(uint64_t n) {
    unsigned size_class = 0;
    while (size_class <= BLYI_MAX_SIZE_CLASS && blyi_size_of_class(size_class) < n)
        size_class++;
    return size_class;
}

#endif
