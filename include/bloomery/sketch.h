/* sketch.h - how often, and how many: counts, the top of them, and the number of distinct keys.
 *
 * Sketches are filters by their handle: they are created, added to, united, saved, loaded and
 * mapped by the functions of filter.h. What they tell of their keys is a number, and about right.
 *
 * counts: how often was each key added?
 *
 *   bly_filter *hits;
 *   if (bly_counts_create_in(64 << 20, &hits) == BLY_OK) {           64 MiB, whatever comes
 *       bly_status status = bly_filter_add(hits, ip, strlen(ip), NULL);
 *       ...
 *       printf("%llu times\n", (unsigned long long)bly_filter_copies(hits, ip, strlen(ip)));
 *       bly_filter_destroy(hits);
 *   }
 *
 * One byte for each counter, four counters for each key, shared with other keys. What is promised
 * of bly_filter_copies, where a key has been added n times:
 *
 * Alone with its counters, the key is counted exactly up to 27. From there on a counter takes only
 * some of the adds, chosen by a number that is no secret; it is right on average, with a standard
 * error of 17% at 100, 20% at 500, and at most 21.3%. It ends at 7,132,093,290. An exact geometry
 * with detail 1 is exact up to 40, has at most 14.4%, and ends at 244,011.
 *
 * Other keys can only make it more. By how much depends on the memory for each key. When keys are
 * distributed by Zipf's law (exponent 1.1, 20 million adds, a million keys) the mean relative
 * error, over all keys seen, is 0.043 with four bytes for each, and 1.07 with one: rare keys are
 * then taken for twice or three times as frequent, and frequent ones hardly touched. Counters of 32
 * bits need four times the memory for the same (0.96 and 9.9 in the same trial), though the most
 * frequent keys they would count exactly.
 *
 * A sketch of counts is a filter of its keys too: "no" is always right, "maybe" is wrong at the
 * rate that bly_counts_create was given, which costs 12, 28 or 65 bytes for each key at 1%, 0.1% or
 * 0.01%. Created in so many bytes it is made for 11 keys for each 64 of them, at 7%, and counts
 * well for several times as many. bly_filter_add's *added is true for a key whose count was 0;
 * bly_filter_count is the number of all adds and agings; statistics judge the number of distinct
 * keys by the counters that are in use, and `stuck` are the counters at their end. There is no
 * remove: what chance has counted cannot be taken back. Union adds the counts of two sketches,
 * rounding by chance where no code stands for the sum, never below the larger of the two. The same
 * adds in the same order make the same bytes, in batches or one by one. Exclusive (BLY_EXCLUSIVE).
 *
 * When to choose it: for counts of many keys in a stream, about right, in little memory. Where keys
 * must leave, or counts be exact: hybrid.h.
 *
 * top: which keys came most often? A list of the n keys with the highest counts that it was
 * offered; it copies their bytes.
 *
 *   bly_hash h = bly_hash_key(bly_filter_hasher(hits), ip, len);     one hash for both
 *   status = bly_filter_add_hash(hits, h, NULL);
 *   status = bly_top_offer(top, ip, len, bly_filter_copies_hash(hits, h));
 *
 * hll: how many distinct keys?
 *
 *   bly_filter *visitors;
 *   if (bly_hll_create(14, &visitors) == BLY_OK) {                   12 KiB, 0.81%
 *       bly_status status = bly_filter_add_many(visitors, keys, n, NULL, NULL);
 *       printf("%.0f\n", bly_hll_estimate(visitors));
 *       ...
 *
 * HyperLogLog: 2^precision registers of six bits, 12 bytes to 192 KiB, and any number of keys up to
 * 2^50. The standard error of the estimate is 1.039 / sqrt(registers), 26% to 0.2%; with fewer keys
 * than registers it is less (0.55% of up to some thousand keys with 2^14; a hundred keys are told
 * to within one or two). With fewer than 2^10 registers the error is skewed: the estimate is too
 * high by 1.1 / registers on average, and now and then by far (with 16 and 32 registers its error
 * is 29% and 19%, not 26% and 18%).
 *
 * `fpr` means this error wherever a rate is asked for or told: bly_plan and bly_spec_for give the
 * least precision whose error is as asked (to two digits: 0.0081 is 14), BLY_ERATE below 0.2%, and
 * the rate of the filter is then the error it has. The capacity has no bearing but on the hash,
 * whose collisions are not counted; it may be 0. bly_filter_count is the estimate, rounded, and so
 * is the count in a file's header (which is not believed when the file is read: the registers
 * tell). *added tells whether the key has changed a register. A sketch may be asked about a key:
 * "no" is always right, but "maybe" is said of most strangers once there are more keys than
 * registers (BLY_ONLY_COUNTS). Union is that of the keys, byte for byte, of any number of sketches
 * of the same precision, in any order. Nothing can be taken out. bly_filter_overlap subtracts
 * estimates, so its `both` has an error of about bly_hll_error times `either`: that is little for
 * sets that are much alike, and everything for sets that hardly meet. Exclusive (BLY_EXCLUSIVE).
 */
#ifndef BLOOMERY_SKETCH_H
#define BLOOMERY_SKETCH_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- counts ---------------------------------------------------------------------------------- */

/* For `keys` distinct keys, of which strangers are told at the rate `fpr`: bly_filter_create with
 * every default. */
BLY_CHECKED bly_status bly_counts_create(uint64_t keys, double fpr, bly_filter **out);

/* In at most `bytes` bytes of body, a multiple of 64 of them. BLY_EIMPOSSIBLE for fewer than 64,
 * BLY_ETOOBIG, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_counts_create_in(uint64_t bytes, bly_filter **out);

/* Halves every count in one pass over the sketch (bly_filter_count grows by one): so that what was
 * frequent once makes room for what is frequent now. Counts that are exact are rounded down, so a
 * key that came once is forgotten, and may be answered "no"; the others are halved on average.
 * BLY_EUNSUPPORTED of another kind. */
BLY_CHECKED bly_status bly_counts_age(bly_filter *f);

/* ---- top ------------------------------------------------------------------------------------- */

typedef struct bly_top bly_top;

typedef struct bly_top_entry {
    bly_bytes key; /* lent */
    uint64_t count;
} bly_top_entry;

/* For n keys. BLY_EINVAL for 0; BLY_ENOMEM, also for more than 2^28. (Who chooses the keys can make
 * offers take time in proportion to n: they are found by a hash without a secret.) */
BLY_CHECKED bly_status bly_top_create(size_t n, const bly_allocator *a, bly_top **out);
BLY_API void bly_top_destroy(bly_top *t); /* NULL does nothing */

/* The key has now been seen `count` times. If it is in the list, that becomes its count, be it more
 * or (after bly_counts_age) less; 0 takes it out. If it is not, it comes in when there is room, or
 * in the place of the key with the lowest count, if its own is higher: those already there win
 * ties. BLY_ENOMEM: nothing has changed. */
BLY_CHECKED bly_status bly_top_offer(bly_top *t, const void *key, size_t len, uint64_t count);

/* The entries, most frequent first, those with equal counts in the order of their bytes; returns
 * how many. Valid until the next offer, list or destroy. */
BLY_API size_t bly_top_list(bly_top *t, const bly_top_entry **out);

/* ---- hll ------------------------------------------------------------------------------------- */

/* 2^precision registers, 4 .. 18. BLY_EGEOMETRY, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_hll_create(uint32_t precision, bly_filter **out);

/* The number of distinct keys, and the standard error of that, as a share of it. NAN of another
 * kind. (INFINITY only of a damaged map, all of whose registers are at their end.) */
BLY_API double bly_hll_estimate(const bly_filter *f);
BLY_API double bly_hll_error(const bly_filter *f);

#ifdef __cplusplus
}
#endif
#endif
