/* multilayer.h - a counting filter at half the memory of one with 4-bit counters.
 *
 *   bly_filter *f;
 *   if (bly_multilayer_create(1000000, 0.01, &f) == BLY_OK) {
 *       bly_status status = bly_filter_add(f, "key", 3, NULL);     (BLY_ENOMEM: see below)
 *       ...
 *       status = bly_filter_remove(f, "key", 3, NULL);
 *       bly_filter_destroy(f);
 *   }
 *
 * A multilayer filter is a blocked Bloom filter from which keys can be taken out again. A query
 * reads a few bits of one cache line. Behind them, in the same line, stand counts of variable
 * length, a bit for every copy of a key in each of its cells. It takes 18.2 / 21.8 / 30.2 / 42.5
 * bits per key at 1% / 0.5% / 0.1% / 0.01% and a million keys, where 4-bit counters take 38.4 at
 * 1%, and a cuckoo filter (cuckoo.h) 10.4.
 *
 * Choose it when keys come and go, queries are many, and an add must not be refused for lack of a
 * place: there is no BLY_EFULL, and a filter with more keys than it was made for only has a higher
 * rate, as a Bloom filter has. Where that may happen, or memory is what counts, take cuckoo; where
 * keys come often, hybrid (hybrid.h).
 *
 * What it promises: no false negative, the rate asked, and no counter that gets stuck by the way:
 * bly_filter_copies is exact but for keys whose cells all have other keys besides (up to 65,535 it
 * is never too low), and a filter from which everything was removed is empty to the last bit. Only
 * a cell with 65,535 copies stays as it is from then on (bly_stats.stuck), and its keys stay
 * present.
 *
 * What it does not: room for copies is limited. A line that overflows gets a record of 648 bytes
 * behind the lines; queries do not notice, changes there take longer, and the filter grows by a
 * quarter to a seventh of its records when they are used up, which takes memory for a second copy
 * of the filter for a moment. When there is none, the add answers BLY_ENOMEM, and nothing has
 * changed; a remove never fails. The memory of records is used again, but not given back.
 *
 * With distinct keys up to the capacity one line in a thousand overflows, and room for that is part
 * of the bits above; one filter in a hundred grows, of small ones up to one in twenty. Copies cost
 * more. A filter made for a million keys at 1%, each of which was added 1.1 / 1.2 / 1.3 / 2 times
 * on average, came to 20 / 27 / 39 / 167 bits per key. So where keys repeat, create it for as many
 * keys as there will be copies: 20 / 22 / 25 / 45 bits per key. Of five million adds drawn from a
 * million keys by Zipf's law with exponent 1 nearly all lines overflow: 204 bits for each key that
 * was drawn. From 1.3 copies per key on, take hybrid.
 *
 * Only what was added may be removed: a stranger that looks present would take other keys' counts
 * with it, and these would be missed.
 *
 * Union adds the counts of both, difference takes them away; both are exact, cell by cell. A line
 * in which the other filter has more in some cell than there is, is left as it is by a difference:
 * then something is to be taken out that is not there. Counts of 65,535 stay, and for one in the
 * other filter nothing is taken. bly_filter_count is then an estimate. Intersection keeps the
 * smaller count of every cell, which is at least what the common keys need, and estimates how many
 * copies that are. All three build the result beside the first filter (BLY_ENOMEM: it is as it
 * was). Two filters are equal when all counts are, however they came about. bly_filter_overlap
 * estimates distinct keys, from the bits that queries see.
 *
 * Exclusive (BLY_EXCLUSIVE); can be saved, loaded and mapped, not folded. With an exact geometry
 * the detail tells the room for records: n stands for the n-th of the sizes 0, 4, 5, 6, 7, 8, 10,
 * 12, 14, 16 and so on (n from 0). 0 will do, as the filter grows, but the capacity is then what
 * needs none.
 */
#ifndef BLOOMERY_MULTILAYER_H
#define BLOOMERY_MULTILAYER_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For `keys` distinct keys, with every default. bly_filter_create's statuses. */
BLY_CHECKED bly_status bly_multilayer_create(uint64_t keys, double fpr, bly_filter **out);

/* How many of its lines (bly_geometry.size) have overflowed at the moment; 0 for other kinds. */
BLY_API uint64_t bly_multilayer_spilled(const bly_filter *f);

#ifdef __cplusplus
}
#endif
#endif
