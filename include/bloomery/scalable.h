/* scalable.h - a filter that grows: for when nobody knows how many keys will come.
 *
 * A scalable filter is a list of levels, each an ordinary blocked filter (split512, or bb2x512
 * where split512 would take more than 1.15 times its space, 1.1 times in later levels when the
 * first has half of the rate or more) with the same hasher. The first holds the keys expected;
 * whenever the last is full and one more new key comes, a level for `growth` times as many
 * (bly_spec; 0: twice) is opened. A key is present when any level has it, so the levels' rates add
 * up: each new level gets 15% of what the earlier ones have left of the rate asked, and however
 * often the filter grows, the sum never reaches it.
 *
 * What it costs: space, since later levels need lower rates (at 1%, grown from a thousand keys to a
 * million, 18.2 bits per key when the last level is full and twice that when it has just been
 * opened; a filter that had known takes 10), and one cache line per level and key. So give as good
 * a guess of the number of keys as you have. Growing by a factor of 1000 means ten levels.
 *
 * The first level takes `first_share` (bly_spec) of the rate. The default, 0.15, suits a guess that
 * is likely to be far too low. Who knows the number, and only wants to be safe when it is exceeded,
 * says 0.8: as long as it is not, the filter is then hardly larger than one that cannot grow.
 * (Bits per key at 1%, reserved and full, and grown from a thousand to a million keys: 10.6
 * and 20.4 for 0.8, 10.7 and 19.9 for 0.75, 14.6 and 18.6 for 0.15.)
 *
 * A `growth` above 2 means fewer levels to ask, and more room that may stay unused; 1 means levels
 * alike. Since a query asks every level and there are at most 48, a growth of 1 counts as 2 once
 * there are 16 levels. At most 32768 (BLY_EINVAL). It is kept in files, and filters of different
 * growth cannot be united.
 *
 * bly_filter_create takes the kind BLY_SCALABLE, no size, no number of hashes and no options.
 * Opening a level is the only time an add allocates; one that cannot be opened (BLY_ENOMEM) leaves
 * the filter as it was, and the add may be tried again. After 48 levels, or where the next would
 * have a rate below 2^-40, the answer is BLY_EFULL; past 2^48 bits BLY_ETOOBIG; and BLY_EGROWTH
 * where a filter that was loaded may not grow so much (bly_filter_limit_growth). Growth never fails
 * for a hash with too few bits: creation refuses one that is too weak for the first level, and
 * statistics count it in later.
 *
 * Insert-only, no false negatives, exclusive (BLY_EXCLUSIVE). It can be united, saved, loaded and
 * mapped; not intersected, overlapped or folded. These are short ways into filter.h; every other
 * call is there.
 */
#ifndef BLOOMERY_SCALABLE_H
#define BLOOMERY_SCALABLE_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A filter whose first level holds `first_keys`, with every default, that answers wrongly at a rate
 * of at most `fpr` however many keys come. */
BLY_CHECKED bly_status bly_scalable_create(uint64_t first_keys, double fpr, bly_filter **out);

#ifdef __cplusplus
}
#endif
#endif
