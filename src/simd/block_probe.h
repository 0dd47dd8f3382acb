/* block_probe.h - the block and the bits of a key in a blocked filter. Internal. */
#ifndef BLYI_SIMD_BLOCK_PROBE_H
#define BLYI_SIMD_BLOCK_PROBE_H

#include "base/bits.h"
#include <bloomery/base.h>

/* Where a key's bits are: the byte offset of its block from the first block, and the hash bits that
 * select bits of the block. */
typedef struct blyi_block_probe {
    uint64_t at;
    uint64_t bits;
} blyi_block_probe;

/* Returns the block probe of hash h in an array of `blocks` blocks of 2^shift bytes. */
static inline blyi_block_probe blyi_block_probe_of(bly_hash h, uint64_t blocks, unsigned shift) {
    return (blyi_block_probe){blyi_mulhi(h.lo, blocks) << shift, h.hi};
}

#endif
