/* ribbon.h - the smallest kind, made from all its keys at once.
 *
 * A ribbon takes 7.0 / 10.4 / 14.0 bits per key at 1% / 0.1% / 0.01% for some thousand keys,
 * and 7.1 / 10.6 / 14.3 for many million: 5 to 8% over the information-theoretic bound, a quarter
 * less than the best Bloom filter. It has the rate asked, not the next power of two. Choose it
 * where space counts: filters that are shipped, mapped or kept by the thousand. Where speed counts,
 * choose fuse (fuse.h), which answers half as fast again and takes a tenth more; where keys are
 * added later, another kind.
 *
 * What it promises: no false negatives; building never fails for want of luck, whatever the keys
 * and however many, and repeats do no harm; the same keys, in any order, give the same bytes.
 * An empty filter answers no. Any number of threads may ask at once.
 *
 * What it does not: keys cannot be added or removed, and two filters cannot be combined
 * (BLY_EUNSUPPORTED): build another from the keys of both, or ask both.
 *
 * Few keys cost more each: every filter has 12 slots to spare and as many as the rate has powers of
 * two, each of so many bits (and a body is a multiple of 64 bytes). From a thousand keys on this no
 * longer counts.
 *
 * Building takes 16 bytes for each key besides, and about 18 bytes for each key of the shards (of
 * some two million keys) that are being solved.
 *
 *     bly_bytes keys[] = {{"red", 3}, {"green", 5}, {"blue", 4}};
 *     bly_filter *f;
 *     if (bly_ribbon_build(keys, 3, 0.001, &f) == BLY_OK) {
 *         bool maybe = bly_filter_contains(f, "green", 5);
 *         bly_filter_destroy(f);
 *     }
 *
 * More keys than fit an array, threads, a seed or a hash of your own: bly_builder (build.h) with
 * the kind BLY_RIBBON. Everything else is in filter.h.
 */
#ifndef BLOOMERY_RIBBON_H
#define BLOOMERY_RIBBON_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The filter of these keys at rate `fpr`, with every default. As bly_filter_build. */
BLY_CHECKED bly_status bly_ribbon_build(const bly_bytes *keys, size_t n, double fpr,
                                        bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
