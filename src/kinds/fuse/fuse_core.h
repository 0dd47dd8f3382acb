/* fuse_core.h - equations of three slots each, solved whatever it takes. Internal. */
#ifndef BLYI_KINDS_FUSE_FUSE_CORE_H
#define BLYI_KINDS_FUSE_FUSE_CORE_H

#include <bloomery/base.h>

/* Three different slots, and what the exclusive or of them must be. */
typedef struct blyi_triple {
    uint32_t at[3];
    uint32_t want;
} blyi_triple;

/* Finds the values of `slots` slots (less than 2^32), all 0 before, that fulfil n equations. The
 * result depends on the order of these. BLY_EFULL: there are none, or it would take too long;
 * BLY_ENOMEM. Values are then 0 still, or anything. */
bly_status blyi_core_solve(const blyi_triple *t, size_t n, size_t slots, uint32_t *value,
                           const bly_allocator *a);

#endif
