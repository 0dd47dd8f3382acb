/* cuckoo.h - filters whose keys can be taken out again: cuckoo, and growable-cuckoo, which grows.
 *
 *   bly_filter *f;
 *   if (bly_cuckoo_create(1000000, 0.001, &f) == BLY_OK) {
 *       bly_status status = bly_filter_add(f, "key", 3, NULL);     (BLY_EFULL: see below)
 *       ...
 *       status = bly_filter_remove(f, "key", 3, NULL);
 *       bly_filter_destroy(f);
 *   }
 *
 * A cuckoo filter is a table of short remainders of hashes, one for every copy of a key. It takes
 * 10.4 / 13.5 / 17.7 / 20.8 bits per key at 1% / 0.1% / 0.01% / 0.001% (some more below two
 * thousand keys), which from 0.2% down is less than any Bloom filter takes, and two cache misses
 * per key. Choose it when keys must leave again, or when the rate is very low. Where neither is so,
 * a blocked filter (blocked.h) is twice as fast.
 *
 * What it promises: no false negative, the rate asked, and that the number of keys it was made for
 * finds room (made for fewer than three thousand, one filter in 4000 has none for the last of
 * them). Adding stores a copy whether or not the key is there already, and removing takes one copy
 * out; bly_filter_count counts copies; bly_filter_copies tells how many a key has. A filter from
 * which everything was removed is empty to the last bit.
 *
 * What it does not: there is an end to it. An add that finds no place answers BLY_EFULL, and
 * changes nothing; usually 1 to 2% past the capacity. A ninth copy of one key never finds a place.
 * Copies that many keys have find fewer places than as many different keys would: with two of
 * every key about 0.84 of the capacity can be used, with three a half, with four a quarter, and
 * with more next to nothing. For keys that come often take a hybrid filter (hybrid.h). And only
 * what was added may be removed: a stranger that looks present would take another key's copy with
 * it.
 *
 * Union stores the copies of both (BLY_EFULL, BLY_ENOMEM: the first filter is as it was);
 * intersection keeps of every key as many copies as the filter that has fewer; subtraction takes
 * one copy out for each of the other's. Keys that look alike to the filter (at its rate) count as
 * one. Two filters are equal when they hold the same at the same size, in whatever order it came.
 *
 * The growable kind doubles when an add finds no place, up to the `horizon` (bly_spec): the most
 * keys it is ever to hold, at most 2^24 times the capacity asked; 0 stands for 1024 times, or less
 * where so much is not possible. The rate asked is the rate at the horizon. Before, it is lower in
 * proportion: the table starts with remainders that are longer by one bit for each doubling to
 * come. So room to grow costs log2(horizon / keys) bits per key: at 1%, with room for a factor of
 * 1024, 21.3 bits per key at first, 10.6 at the horizon, and up to twice as many right after a
 * doubling. (Compare scalable.h and
 * scalable_cuckoo.h: they grow without end and without a pause, but ask every level; scalable
 * cannot remove.)
 *
 * Doubling takes time in proportion to the keys, and memory for the new table beside the old one.
 * When there is none, the add answers BLY_ENOMEM, changes nothing, and may be tried again. Past the
 * horizon the answer is BLY_EFULL; before it too where doubling would not help: for a ninth copy of
 * a key, and for copies that find no place in a table that is less than an eighth full.
 * bly_filter_capacity is what the present size holds. bly_filter_clear keeps the present size. Two
 * growable filters can be combined whatever size each has grown to, if they were created alike.
 * bly_plan, asked for this kind, tells what it takes when it has grown to that many keys and may
 * grow no more: the same as a cuckoo filter.
 *
 * Both kinds are exclusive (BLY_EXCLUSIVE); they can be saved, loaded and mapped, not folded. Nine
 * keys with the same hash make any such filter full: where strangers choose the keys, use a keyed
 * hash (hash.h).
 */
#ifndef BLOOMERY_CUCKOO_H
#define BLOOMERY_CUCKOO_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For `keys` copies of keys, with every default. bly_filter_create's statuses. */
BLY_CHECKED bly_status bly_cuckoo_create(uint64_t keys, double fpr, bly_filter **out);

/* For `keys` at first and `horizon` in the end; 0: the default. BLY_EINVAL when that is less than
 * `keys`, or more than 2^24 times as many; BLY_ERATE when remainders would exceed 55 bits. */
BLY_CHECKED bly_status bly_cuckoo_create_growable(uint64_t keys, uint64_t horizon, double fpr,
                                                  bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
