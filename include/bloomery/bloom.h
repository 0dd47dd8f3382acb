/* bloom.h - the classic Bloom filter and its partitioned form.
 *
 * classic: k bits per key anywhere in one array of m bits. The smallest of the Bloom kinds
 * (9.6 bits per key at 1%, 14.4 at 0.1%), at the price of one cache miss per probed bit.
 * partitioned: the same with k slices of m/k bits, one bit of the key in each; the rate is exact
 * and every key owns exactly k bits. Both are insert-only, without false negatives, and take any
 * m. For one miss per key instead of k, see blocked.h.
 *
 * These are short ways into filter.h; every other call is there.
 */
#ifndef BLOOMERY_BLOOM_H
#define BLOOMERY_BLOOM_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A classic filter for `capacity` keys at rate `fpr`, with every default. */
BLY_CHECKED bly_status bly_bloom_create(uint64_t capacity, double fpr, bly_filter **out);

/* A classic filter of exactly `bits` bits and `hashes` probes per key, by (k, m). */
BLY_CHECKED bly_status bly_bloom_create_exact(uint64_t bits, uint32_t hashes, bly_filter **out);

/* A partitioned filter of `hashes` slices of `slice_bits` each (a multiple of 64). */
BLY_CHECKED bly_status bly_bloom_create_slices(uint64_t slice_bits, uint32_t hashes,
                                               bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
