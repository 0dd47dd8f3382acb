/* locate.h - from keys straight to places in a blocked filter. Internal. */
#ifndef BLYI_CORE_LOCATE_H
#define BLYI_CORE_LOCATE_H

#include "bits.h"
#include <bloomery/hash.h>

/* Where a key's bits are: its block, as a distance in bytes from the first, and the hash bits that
 * choose among the block's. */
typedef struct blyi_spot {
    uint64_t at;
    uint64_t bits;
} blyi_spot;

/* An array of `blocks` blocks of 2^shift bytes, shift 5 or 6. */
typedef struct blyi_field {
    const uint8_t *at;
    uint64_t blocks;
    unsigned shift;
} blyi_field;

static inline blyi_spot blyi_spot_of(const blyi_field *field, bly_hash h) {
    return (blyi_spot){blyi_mulhi(h.lo, field->blocks) << field->shift, h.hi};
}

/* Hashes n keys, finds their spots, and starts loading their blocks. */
typedef void blyi_locate_fn(const bly_hasher *hasher, const bly_bytes *keys, size_t n,
                            const blyi_field *field, blyi_spot *out);

/* The one for this hasher and for blocks of 2^shift bytes: for the default hash a loop with the
 * hash inside, for the others one that goes through hasher->many. */
blyi_locate_fn *blyi_locate_for(const bly_hasher *hasher, unsigned shift);

#endif
