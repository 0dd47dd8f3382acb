/* counting.h - Bloom filters with counters instead of bits.
 *
 *   bly_filter *f;
 *   if (bly_counting_create(1000000, 0.01, 4, &f) == BLY_OK) {
 *       bly_status status = bly_filter_add(f, "key", 3, NULL);
 *       ...
 *       status = bly_filter_remove(f, "key", 3, NULL);
 *       bly_filter_destroy(f);
 *   }
 *
 * An add raises the k counters of a key by one, a remove lowers them. They are the places that a
 * classic filter's bits would have, anywhere: k cache misses per key. (A layered filter, layered.h,
 * has all counters of a key in one line.) Bits per key at 1% / 0.1% / 0.01%:
 *
 *   bits of a counter           2                    4                    8                 16
 *   counting           19.2 / 28.8 / 38.3   38.4 / 57.5 / 76.7   76.7 / 115 / 153   153 / 230 / 307
 *
 * Choose them for what is simple about them: every operation takes the same time whatever has been
 * added before; they are never full; filters made at different places merge by adding them up, and
 * a part can be subtracted again; and the bits of a counting filter are a classic filter's
 * (bly_counting_bits), to be handed out to those who only ask. A cuckoo filter (cuckoo.h) removes
 * with a quarter of the memory, multilayer.h with a half; hybrid.h counts copies without end.
 *
 * What they promise: no false negative, and the rate asked. Every add stores a copy of the key,
 * whether or not it is there, and a remove takes one out; one of a key that is surely not there
 * changes no byte. bly_filter_count counts copies. bly_filter_copies tells how many a key has:
 * never too few below the limit, and too many at no more than the filter's rate.
 *
 * What they do not: a counter of w bits has a limit, 2^w - 1: 3, 15, 255, 65535. A counter that has
 * reached it is stuck for good. It means so many or more, and lowering it might lose a key. So a
 * key that was added 15 times to a filter with 4 bits stays for ever, however often it is removed
 * (each remove is answered with "removed", and counted, until the count is 0). copies then tells
 * the limit. bly_stats.stuck is the number of such counters, and when everything has been removed,
 * all others are 0. Where stuck counters are a tenth of those in use, make the filter anew.
 *
 * Distinct keys do not get there with 4 bits. A given counter of a filter that is as full as
 * planned reaches 15 with probability 3.4e-15 at 1%, and less at lower rates
 * (bly_counting_overflow): in a filter for a thousand million keys, 3 in 100000 that a single one
 * does. With 2 bits 3 to 4% of all counters do, so take these only where keys seldom leave.
 *
 * Copies of keys are another matter. When five times the capacity was added, keys drawn by Zipf's
 * law with exponent 0.8 / 1.0 / 1.2, and everything removed again, these shares of all counters
 * were stuck in a counting filter for a million keys at 1%:
 *
 *   2 bits   27.9 / 13.5 / 4.0 %            8 bits    0.08 / 0.10 / 0.07 %
 *   4 bits    3.6 /  1.9 / 0.8 %           16 bits    all below 0.001 %
 *
 * And only what was added may be removed: a stranger that looks present takes others' counts.
 *
 * Union adds counters up to the limit: the filter of both multisets, byte for byte, if nothing that
 * was stuck had been removed. Intersection keeps the lower of two counters, and its
 * bly_filter_count is an estimate. Subtraction lowers each counter by the other filter's. It is
 * exact where src is a part of dst and nothing is stuck; a counter that is stuck here stays, and
 * for one that is stuck in src alone nothing is taken. Where src is not a part of dst,
 * it can only pass over single counters that hold less than src's: its other counters are lowered
 * all the same, and keys that are in dst can be lost. bly_filter_count is then an estimate. Overlap
 * and estimated keys tell of distinct keys, not of copies. In statistics set_bits are the bits of
 * the counters that are not 0, and fill is the share of these.
 *
 * Counting filters are exclusive (BLY_EXCLUSIVE); they can be saved, loaded and mapped, not folded.
 * In bly_spec the width is `counter_bits` or, with an exact geometry, its `detail`. bly_plan plans
 * with 4 bits.
 */
#ifndef BLOOMERY_COUNTING_H
#define BLOOMERY_COUNTING_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For `keys` distinct keys, with counters of `counter_bits` bits: 2, 4, 8 or 16; 0: 4.
 * bly_filter_create's statuses; BLY_EINVAL for another width. */
BLY_CHECKED bly_status bly_counting_create(uint64_t keys, double fpr, uint32_t counter_bits,
                                           bly_filter **out);

/* As bly_plan, for counters of that width: 2, 4, 8 or 16; 0: 4. Its statuses; BLY_EKIND for a kind
 * that has no such counters, BLY_EINVAL for another width. */
BLY_CHECKED bly_status bly_counting_plan(bly_kind kind, uint64_t keys, double fpr,
                                         uint32_t counter_bits, unsigned hash_bits,
                                         bly_geometry *out);

/* The chance that one given counter has reached its limit, and so is stuck, after `keys` distinct
 * keys, each added once. Times the counters, it is how many are expected to be. The geometry is one
 * that passes bly_plan_check; NAN when it is of another kind. */
BLY_API double bly_counting_overflow(const bly_geometry *g, double keys);

/* A new classic filter of the same keys: a bit for every counter that is not 0; equal, bit for bit,
 * to one of the same size and k to which the keys were added. (What is stuck counts as a key.) Its
 * bly_filter_count is what the bits tell. f may be mapped, `a` NULL. BLY_EUNSUPPORTED (f is of
 * another kind), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_counting_bits(const bly_filter *f, const bly_allocator *a,
                                         bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
