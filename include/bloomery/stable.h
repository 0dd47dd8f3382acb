/* stable.h - the stable Bloom filter: a fixed memory that forgets gradually.
 *
 * For streams without end and a memory that must not grow, where a key that is forgotten early does
 * little harm. Cells of 1 to 3 bits; each add lowers a random run of cells and then raises the few
 * cells of its key to the top. Old keys wear away under the new ones, and after a while the filter
 * is in balance: its rate of false positives comes up to the one asked, and stays there for ever.
 *
 * It is lossy (BLY_IS_LOSSY): "no" is only probably right. A key that was added may be answered
 * "no", the more likely the more keys have come since. So `capacity` means something of its own
 * here: the number of other keys that may come after a key before fewer than nine in ten such keys
 * are still found. bly_stable_recall tells the chance for any other number. A key added again is as
 * good as new. bly_filter_add's *added tells whether the key was not found before: for a key that
 * has been forgotten, that is true.
 *
 * What it costs, in bits per key of capacity at 5% / 1% / 0.1%: 43 / 73 / 119. A window (window.h)
 * finds all of the last W keys, with 17 bits each at 1%: prefer it wherever the edge it has does no
 * harm. A stable filter has none. It needs no number of keys: given bytes and a rate, it remembers
 * as far back as these reach, in a stream of any speed, and a few keys for a good deal longer.
 *
 * The rate holds for streams of distinct keys; repeats only make it lower (and the memory, counted
 * in adds, shorter). bly_filter_count is the number of keys that were new when added, forgotten
 * ones included. In statistics set_bits counts the bits of the cells that are not 0, fill is the
 * share of these cells, estimated_keys tells how many keys would have set as many, and
 * predicted_fpr is for as many adds as there have been. Two filters fed the same keys in the same
 * order are equal: the runs are numbered, not drawn. Stable filters can be saved, loaded and
 * mapped; not united (which keys are the newest is not known of the union). Exclusive
 * (BLY_EXCLUSIVE).
 *
 *     bly_filter *clicks;
 *     bly_stable_create(1 << 20, 0.01, &clicks);               a mebibyte, whatever comes
 *     bly_filter_add(clicks, id, strlen(id), &fresh);
 */
#ifndef BLOOMERY_STABLE_H
#define BLOOMERY_STABLE_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* At most `bytes` bytes of body: the longest memory they can have at that rate. BLY_EIMPOSSIBLE
 * when they are too few for it, BLY_ERATE, BLY_ETOOBIG, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_stable_create(uint64_t bytes, double fpr, bly_filter **out);

/* As many bytes as a memory of `keys` keys needs: bly_filter_create with every default. */
BLY_CHECKED bly_status bly_stable_create_keys(uint64_t keys, double fpr, bly_filter **out);

/* The chance that a key is still found when `later` distinct keys have been added after it: 1 at
 * first, the filter's rate in the end. BLY_EKIND for a filter of another kind. */
BLY_CHECKED bly_status bly_stable_recall(const bly_filter *f, uint64_t later, double *out);

#ifdef __cplusplus
}
#endif
#endif
