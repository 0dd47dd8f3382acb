/* overlay.h - any filter, and what was removed from and added to it since.
 *
 *   bly_map *list;                                             a fuse filter, say, used in place
 *   bly_filter *f;
 *   if (bly_map_open("list.bly", NULL, &list) == BLY_OK &&
 *       bly_overlay_over(bly_map_filter(list), NULL, &f) == BLY_OK) {
 *       bly_status status = bly_filter_remove(f, "key", 3, NULL);
 *       status = bly_filter_add(f, "another", 7, NULL);
 *       ...
 *       bly_filter_destroy(f);
 *   }
 *   bly_map_close(list);
 *
 * Most filters cannot give a key up again; those that are built, or mapped, cannot take one either.
 * An overlay leaves such a filter, its base, as it is, and keeps beside it the keys that were
 * deleted and those that were added. Choose it to change a filter that is static, or shared, or on
 * a read-only disk, until it is built anew; and where a few keys leave a Bloom filter. Where most
 * keys leave again, a cuckoo filter (cuckoo.h) is smaller and faster.
 *
 * It is a set. That makes it different from all other kinds that can remove:
 *
 *   - Adding a key that is there changes nothing, and one remove takes it out, however often it was
 *     added. A base that holds copies of keys counts as holding each once, except that
 *     bly_filter_count starts from the base's own count.
 *   - Removing a key that was never added does no harm to others. It is either absent, and nothing
 *     happens; or it looks present, as any stranger may, and then it is remembered as deleted.
 *
 * False positives: those of the base, less those that were removed. A key that was removed is
 * answered "no" from then on (but for one in 10^9 or so), unless it comes to look like others that
 * are added to the base later.
 *
 * False negatives: nearly none, but not none. A key is missed when another one that was deleted
 * agrees with it in all the bits of hash that were kept of that one, which are 38 more than it
 * takes to count the deleted keys. bly_overlay_miss_bound, and bly_stats.miss_bound, tell the
 * chance of that for a key, as things stand. It is 0 at first, below 2e-11 while no more keys are
 * deleted than expected, and below 1e-9 when the overlay is full (under a hash of 64 bits up to a
 * billion keys; a hash of fewer bits makes it worse, and the bound says so). A key that was added
 * to the overlay can be lost, with the same small chance for each, when others that were added are
 * removed: the bound counts as many as there is room for at present.
 *
 * `changes` (bly_spec) says how many keys are expected to be deleted, and as many to be added: 0
 * stands for a twentieth of the base's capacity, at least 64. For as many, a deleted key takes 41
 * bits (42 when they are a thousand, 51 when they are 100), as does one that was added, unless it
 * went to the base. Room for the added ones is set aside when the first of them comes. With more
 * changes the table doubles, up to about 64 times as many; right after a doubling it takes up to
 * twice the bits per key, at the end 34. Then, or when there is no memory (BLY_ENOMEM), the call
 * changes nothing; BLY_EFULL means that it is time for a new base. Long before that, rebuild when
 * the changes (bly_overlay_changes) exceed a fifth of the keys: they then take as much memory as a
 * filter of all keys at 1%.
 *
 * `marker` says how deleted keys are kept. BLY_KIND_NONE or BLY_CUCKOO: as above. BLY_CLASSIC: in a
 * Bloom filter with a rate of 0.1% for `changes` keys, the construction that textbooks call a
 * deletable Bloom filter. It takes 14.4 bits per deleted key, and costs up to 0.1% of the keys:
 * each key of the base is missed at that filter's rate, which the bound reports. It does not grow:
 * after `changes` deletions the answer is BLY_EFULL. A key that was deleted and is added again is
 * kept beside the base from then on. Any other marker is BLY_EINVAL.
 *
 * Two ways to make one:
 *
 *   - bly_overlay_over lays one over a filter that stays its owner's. Added keys are kept apart.
 *   - bly_filter_create with the kind BLY_OVERLAY makes a blocked filter (blocked.h) for capacity
 *     and fpr, and an overlay that owns it. New keys go to that filter, so only deleted ones cost
 *     extra; what was deleted does not make room in it.
 *
 * One that was loaded or cloned owns its base, and adds to it if its kind can be added to and does
 * not forget: a window (window.h) stays as it is, and its clock stands still. When such a base is
 * full, added keys are kept beside it. A base may be of any kind but overlay and hll (sketch.h),
 * which does not tell which keys it has.
 *
 * bly_filter_clear empties an overlay that owns its base, base and all. What is lent is not emptied
 * but left out from then on, in files too, which still contain it: a new overlay over an empty
 * filter is the better choice. bly_filter_capacity is the base's; the count is the base's, less the
 * deleted keys, and the added ones, so every removal of a stranger makes it one too low. Statistics
 * are of all parts together, and the rates those of the whole.
 *
 * It can be saved (base, deleted and added keys in one file; a base that is mapped had better be
 * opened with BLY_OPEN_VERIFY for that), loaded, mapped, cloned, compared; not
 * united, intersected, subtracted or folded: rebuild instead. Exclusive (BLY_EXCLUSIVE). Where
 * strangers choose the keys, use a keyed hash (hash.h): who knows the hash can make keys that are
 * missed, or fill the overlay.
 */
#ifndef BLOOMERY_OVERLAY_H
#define BLOOMERY_OVERLAY_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Over `base`, which is lent: it must outlive the overlay, and is never changed. Nor may its owner
 * change it meanwhile. `spec` may be NULL; of it only changes, marker and allocator count.
 * BLY_EKIND (a base of such a kind), BLY_EINVAL, BLY_ETOOBIG, BLY_ENOMEM. */
BLY_CHECKED bly_status bly_overlay_over(const bly_filter *base, const bly_spec *spec,
                                        bly_filter **out);

/* How many keys are remembered as deleted, and how many are kept beside the base. Rebuild when they
 * are together more than a fifth of bly_filter_count. BLY_EKIND for a filter of another kind. */
BLY_CHECKED bly_status bly_overlay_changes(const bly_filter *f, uint64_t *deleted, uint64_t *added);

/* The chance, at most, that a key that is in it is missed; 0 for a filter of another kind. With a
 * Bloom marker this reads all of it. */
BLY_API double bly_overlay_miss_bound(const bly_filter *f);

/* The filter beneath, lent to be looked at; NULL for a filter of another kind. */
BLY_API const bly_filter *bly_overlay_base(const bly_filter *f);

#ifdef __cplusplus
}
#endif
#endif
