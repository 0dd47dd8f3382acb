/* hybrid.h - exact counts of any size beside short fingerprints: a multiset in 15 to 18 bits per
 * distinct key.
 *
 *   bly_filter *f;
 *   if (bly_hybrid_create(1000000, 0.01, &f) == BLY_OK) {
 *       bly_status status = bly_filter_add(f, "key", 3, NULL);     (BLY_EFULL, BLY_ENOMEM: below)
 *       status = bly_filter_add(f, "key", 3, NULL);
 *       printf("%llu\n", (unsigned long long)bly_filter_copies(f, "key", 3));             (2)
 *       status = bly_filter_remove(f, "key", 3, NULL);
 *       bly_filter_destroy(f);
 *   }
 *
 * A hybrid filter is a cuckoo filter (cuckoo.h) that counts. A key has one entry, however often it
 * is added, and four bits beside it for its copies. A key that comes to 15 copies gets an exact
 * counter of 48 bits elsewhere, its spilled count, and gives it back when it is down to 8. So the
 * `keys` asked for are distinct keys, and each of them may come a million times.
 *
 * Memory: 14.6 / 17.7 / 21.9 bits per key at 1% / 0.1% / 0.01% (some more below ten thousand keys),
 * and 91 to 115 bits for each spilled count (some more at lower rates). Ten million keys, each
 * added once and then four times more on average by Zipf's law with exponent 0.8 / 1.0 / 1.2,
 * had 3.3 / 1.8 / 0.6% of their counts spilled, and took 17.7 / 16.4 / 15.2 bits per key in all at
 * 1%. 4-bit counters (counting.h) take 38.4, and would be stuck at 15.
 *
 * Choose it when keys come more than once and leave again, or when you want to know how many copies
 * there are. Where each key comes once, a cuckoo filter is smaller by 4 bits; where none leaves and
 * counts may be rough, a sketch (sketch.h).
 *
 * What it promises: no false negative, the rate asked, and that the number of distinct keys it was
 * made for finds room. bly_filter_copies is never too low, and exact but for keys that look alike
 * to the filter (at its rate): they share one count. Nothing gets stuck: a filter from which
 * everything was removed is empty to the last bit. bly_filter_count counts copies,
 * bly_stats.estimated_keys distinct keys. Queries are a cuckoo filter's, at its speed; changes
 * touch one more cache line.
 *
 * What it does not: there is an end to it. A new key that finds no place is answered BLY_EFULL,
 * usually 1 to 2% past the capacity; more copies of the keys that are there are taken all the same,
 * up to 2^48 - 1 of each. Spilled counts are kept behind the table, and when their room is used up
 * the filter grows by a seventh to a quarter of that room, for which it is copied: an add that
 * finds no memory for this answers BLY_ENOMEM. In either case nothing has changed. A remove never
 * fails. That room is used again, but not given back, by bly_filter_clear neither. And only what
 * was added may be removed: a stranger that looks present would take another key's copy with it.
 *
 * Union adds up the copies of both (BLY_EFULL, BLY_ENOMEM: the first filter is as it was);
 * intersection keeps of every key as many copies as the filter that has fewer; subtraction takes as
 * many out as the other has. bly_filter_overlap speaks of distinct keys. Two filters are equal when
 * they hold the same keys as often, in whatever order they came and however much room each has.
 *
 * Exclusive (BLY_EXCLUSIVE); can be saved, loaded and mapped, not folded. With an exact geometry
 * the detail tells the room for spilled counts: n stands for the n-th of the sizes 0, 4, 5, 6, 7,
 * 8, 10, 12, 14, 16 and so on (n from 0), of which seven eighths are used. 0 will do, as it grows.
 * Keys with the same hash are one key here, so they cannot fill it; keys chosen so that their
 * buckets are the same can: where strangers choose the keys, use a keyed hash (hash.h).
 */
#ifndef BLOOMERY_HYBRID_H
#define BLOOMERY_HYBRID_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For `keys` distinct keys, each as often as it likes. bly_filter_create's statuses. */
BLY_CHECKED bly_status bly_hybrid_create(uint64_t keys, double fpr, bly_filter **out);

/* How many keys have a spilled count at the moment; 0 for other kinds. */
BLY_API uint64_t bly_hybrid_spilled(const bly_filter *f);

#ifdef __cplusplus
}
#endif
#endif
