/* layered.h - a plain filter in front, its counters behind.
 *
 *   bly_filter *f, *front;
 *   if (bly_layered_create(1000000, 0.01, &f) == BLY_OK) {
 *       bly_status status = bly_filter_add(f, "key", 3, NULL);
 *       ...
 *       status = bly_filter_remove(f, "key", 3, NULL);
 *       if (bly_layered_front(f, &front) == BLY_OK) {
 *           status = bly_filter_save(front, "summary.bly");     (others map it)
 *           bly_filter_destroy(front);
 *       }
 *       bly_filter_destroy(f);
 *   }
 *
 * A layered filter counts how often each of its cells is used, so that keys can be taken out again;
 * but it keeps "used or not" apart from the counts. That part, the front, is an sbbf filter
 * (blocked.h), bit for bit the one that the same keys would have made. Queries look at nothing
 * else, and are as fast as those of sbbf: one cache line. Adds and removes look at two lines more.
 *
 * Choose it where one owner adds and removes and others only ask: the front can be lent to other
 * threads, saved and mapped by other processes, or sent, at a quarter of the memory, by anyone and
 * to anyone who knows sbbf filters. And where queries are many and changes few. It takes four times
 * the memory of sbbf: 42.1 / 67.6 / 105.4 bits per key at 1% / 0.1% / 0.01%. For removal at the
 * least memory see cuckoo.h, multilayer.h; for larger counts counting.h, hybrid.h.
 *
 * What it promises: no false negative, the rate asked, and that it never is full: past the capacity
 * the rate rises, as in any Bloom filter. Every add stores a copy, whether or not the key is there;
 * bly_filter_count counts copies; removing takes one out, and changes nothing when the key is
 * surely not there. bly_filter_copies tells how many a key has: seldom too many (at about the
 * filter's rate), never too few up to 7. 8 means 8 or more.
 *
 * What it does not: a cell counts to 8 and then stands still for good, as it cannot know when it
 * has been left by all. bly_stats.stuck tells how many do. Of distinct keys hardly any get there:
 * 1.4 cells in a million at 1%. But a key that has eight copies at a time leaves its eight cells
 * stuck, and stays present whatever is removed; where keys come that often, use hybrid.h. When
 * everything has been removed, all but the stuck cells are 0.
 *
 * And only what was added may be removed: a stranger that looks present takes counts from others.
 *
 * Union adds the counts: the filter of both multisets, byte for byte. Intersection keeps the lower
 * count of each cell, and its bly_filter_count is an estimate. Subtraction works in blocks of 256
 * cells, about 24 keys at 1%: it takes out all that the other filter has in a block, or, where some
 * cell has fewer, leaves the block as it is; bly_filter_count is then an estimate. Overlap and
 * estimated keys tell of distinct keys, not of copies. Two filters are equal when all their counts
 * are.
 *
 * Exclusive (BLY_EXCLUSIVE), but see below; can be saved, loaded and mapped, not folded.
 */
#ifndef BLOOMERY_LAYERED_H
#define BLOOMERY_LAYERED_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For `keys` distinct keys at a time. bly_filter_create's statuses. */
BLY_CHECKED bly_status bly_layered_create(uint64_t keys, double fpr, bly_filter **out);

/* The front as an sbbf filter that lies in f's memory: what is added to f and removed from it, it
 * shows at once. f may be mapped. Free it with bly_filter_destroy, before f. BLY_EUNSUPPORTED (f is
 * of another kind), BLY_ENOMEM.
 *
 * It can only be read: adding to it, uniting or intersecting it answers BLY_EUNSUPPORTED, and
 * clearing it does nothing. It can be queried, written, saved, folded, compared, and be the second
 * filter of a union. A clone is an ordinary sbbf filter. Its bly_filter_count is the number of
 * distinct keys that the bits told of when it was made here, at most f's copies (one pass over the
 * front): make it anew before each save, and the file has the count of the day.
 *
 * Threads. Queries of the front (bly_filter_contains and its batches), by any number of threads,
 * may run while one thread adds to f and removes from it, one key or a batch at a time. They take
 * no lock and never wait. A key that is in f all the while, and whose add the reader knows to have
 * finished (filter.h, "shared"), is found; one that is not, is found at the filter's rate; for one
 * that comes or goes meanwhile, either answer. Everything else needs f to hold still: saving,
 * writing, cloning, folding and statistics of the front, and on f's side clear, union, intersect,
 * subtract and destroy. So a process that serves others by file lets its writer stop for the save;
 * those who have the file mapped do not notice, and open the new one when they like. */
BLY_CHECKED bly_status bly_layered_front(const bly_filter *f, bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
