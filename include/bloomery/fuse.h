/* fuse.h - binary fuse filters: small and quick to ask, made from all their keys at once.
 *
 * A key has three slots of r bits whose exclusive or is its fingerprint. So the rate is 2^-r
 * whatever the number of keys, and 1.12 r to 1.15 r bits per key (from a thousand keys on) are all
 * the space: 8.0 / 11.4 / 15.9 bits per key at 1% / 0.1% / 0.01%, against 10.5 / 16.9 / 26.3 of a
 * blocked Bloom filter. A query reads three cache lines and takes no branches.
 *
 * r is a whole number, from 1 to 28: the rate is the power of two at or below the one asked, so ask
 * for 1/128 rather than 0.01. (A rate within a millionth of a power of two counts as it.) Below
 * 2^-28 the answer is BLY_ERATE.
 *
 * Choose it for a set that does not change: a dictionary, a list shipped to many readers, the keys
 * of a file that is written once. Choose a ribbon filter (ribbon.h) where space counts more than
 * speed, a blocked filter (blocked.h) where keys come one by one.
 *
 * Building never fails for want of luck: a set of keys whose slots cannot be worked out is tried
 * with other slots, then with more of them. It takes 8 bytes per key while it lasts (16 with
 * another hash than the default of 64 bits) and 15 MB for each thread, or what options.memory says
 * (build.h). Keys must not have been chosen by the filter's own hash: a set that was split by the
 * top bits of xxh3 under the same seed crowds in a part of the slots, takes more of them, and may
 * end as BLY_EWEAKHASH. Give the filter, or what splits, another seed.
 *
 *     bly_filter *f;
 *     if (bly_fuse_build(keys, n, 1.0 / 256, &f) == BLY_OK) {
 *         ... bly_filter_contains(f, key, len) ...
 *         bly_filter_destroy(f);
 *     }
 *
 * Nothing can be added to it, united with it or folded (BLY_EUNSUPPORTED). It can be saved, loaded,
 * mapped, and asked by any number of threads at once. Its count is exact, but for keys whose whole
 * hashes are equal. Clearing it leaves a filter that says no to everything.
 */
#ifndef BLOOMERY_FUSE_H
#define BLOOMERY_FUSE_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The filter of n keys, which may repeat, with every default. bly_filter_build's statuses
 * (build.h). */
BLY_CHECKED bly_status bly_fuse_build(const bly_bytes *keys, size_t n, double fpr,
                                      bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
