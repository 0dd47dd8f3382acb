/* spot.h - places in a blocked filter. Internal. */
#ifndef BLYI_CORE_SPOT_H
#define BLYI_CORE_SPOT_H

#include "bits.h"
#include <bloomery/base.h>

/* Where a key's bits are: its block, as a distance in bytes from the first, and the hash bits that
 * choose among the block's. */
typedef struct blyi_spot {
    uint64_t at;
    uint64_t bits;
} blyi_spot;

/* In `blocks` blocks of 2^shift bytes. */
static inline blyi_spot blyi_spot_of(bly_hash h, uint64_t blocks, unsigned shift) {
    return (blyi_spot){blyi_mulhi(h.lo, blocks) << shift, h.hi};
}

#endif
