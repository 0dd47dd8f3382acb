/* blocked.h - blocked Bloom filters: all of a key's bits in one cache line. The default kind.
 *
 *   sbbf       256-bit blocks of eight 32-bit lanes, one bit in each lane (k = 8). The fastest;
 *              the layout Parquet, Impala and Arrow use. 10.5 / 16.9 / 26.3 bits per key at
 *              1% / 0.1% / 0.01%.
 *   split512   512-bit blocks of eight 64-bit lanes: one bit in each (k = 8), a second bit in
 *              four of them (12), or two in each (16). 10.1 / 15.7 / 22.1 bits per key.
 *   bb2x512    two 512-bit blocks per key, k/2 bits anywhere in each: two misses, and within
 *              3.5% of the classic filter's space down to 0.01%. 9.7 / 14.6 / 19.8 bits per key.
 *
 * Insert-only, no false negatives. These are short ways into filter.h; every other call is there.
 */
#ifndef BLOOMERY_BLOCKED_H
#define BLOOMERY_BLOCKED_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The layout that suits the rate (bly_plan_layout), with every default. */
BLY_CHECKED bly_status bly_blocked_create(uint64_t capacity, double fpr, bly_filter **out);

/* Exactly `blocks` blocks of `layout` (BLY_SBBF, BLY_SPLIT512, BLY_BB2X512; BLY_EKIND for
 * another kind) and `hashes` bits per key, as plan.h lists them. */
BLY_CHECKED bly_status bly_blocked_create_exact(bly_kind layout, uint64_t blocks, uint32_t hashes,
                                                bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
