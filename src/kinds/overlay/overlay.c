/* The overlay: removes keys from, and adds keys to, a filter that cannot be changed that way.
 *
 * The idea: do not change the filter M, and store beside it the set D of the keys that were removed
 * and the set A of those that were added:
 *
 *     x is present  iff  A contains x, or M contains x and D does not
 *
 * The textbook form of this, two Bloom filters, misses keys: a key that D reports as deleted by
 * mistake, at D's FPR, is missed. (And a key that was deleted cannot be added again, since it
 * cannot be removed from D.) So D and A are fingerprint tables (cuckoo_table.h) with long
 * remainders, from which keys can be removed again. The probability that a key has the same entry
 * as some key in the table is below 1e-9. All keys with the same entry are a class. A Bloom filter
 * as D is still available, since it takes a third of the space (BLY_CLASSIC as the marker). A key
 * that is added again after it was removed then goes to A.
 *
 * One entry per class. Adding a key that is present changes nothing, and removing one that is
 * absent changes nothing. That makes it a set without copies, in which an entry of D or A stands
 * for a class of keys, not for one copy of a key. Removing an entry undoes exactly what adding it
 * did. In a file that another program wrote a class may have several entries, so a remove removes
 * all of them.
 *
 * What can go wrong, and how often. With n entries, m buckets and f bits of remainder a class has
 * an entry with probability n / (m 2^f) (blyi_table_rate), about 4 load / 2^f:
 *
 *   - x is in M, and some y of its class is removed: x is missed. f is 38 at first and 32 after six
 *     doublings: 1.4e-11 when the first table is full, 8.9e-10 when the last one is.
 *   - x is in A, and some y of its class is added and removed: x is missed.
 *     This is equally unlikely for each y.
 *   - y is marked in D, and some x of its class is added: y is unmarked, and looks present. That is
 *     one more false positive.
 *
 * And no part can tell keys apart whose whole hashes are equal. The probability of that is n / 2^64
 * with a 64-bit hash.
 *
 * D and A use another hash than M: fmix64 of each word, with a constant (overlay_layout.h). This
 * matters when a non-member z is removed that M mistakes for a member x. If M is a cuckoo filter,
 * the first 30 bits or so of z's hash equal those of x's. If classes were made of the same bits, z
 * and x would have the same class as soon as the other bits were equal by chance, and removing z
 * would remove x as well. Classes made from a mix of all bits do not have this problem.
 *
 * Adds. If the overlay owns M, and an add to M never makes it forget other keys, new keys are added
 * to M, at no further cost. Otherwise, or when M is full, they are added to A. A key that M
 * contains is never added to M again, so an M that stores copies has only one of each key.
 *
 * Failure. The steps that can fail come first, so that a failed call changes nothing: x is added to
 * M, D or A before it is removed from the others.
 *
 * Space, per deleted key: slots of 39 bits, 0.96 of them in use when as many keys were deleted as
 * were planned (docs/kinds/overlay.md has the bits per key; a small table has a larger share of
 * slots to spare). Right after a doubling it is twice as much. A table can double six times, for 64
 * times as many keys. Each doubling makes the slots one bit shorter.
 *
 * Time per lookup, in batches, over an sbbf of ten million keys at 1% of which half a million were
 * deleted (processor time on a noisy machine, where the sbbf alone takes 8 ns per key): 50 to 65 ns
 * for a member, 20 to 30 for a non-member, which is looked up in D only if it is one of the few
 * false positives. With half a million added keys as well, 60 to 80 for either. As long as nothing
 * has changed, a lookup takes as long as in the base alone.
 *
 * In a file: M, D and, once it exists, A, each with its header. A is created when first needed.
 */
#include "kinds/overlay/overlay_layout.h"

#include "base/struct_size.h"
#include "filter/batch.h"
#include "filter/level_growth.h"
#include "filter/rate.h"
#include "kinds/cuckoo/cuckoo_layout.h"
#include <bloomery/filter.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- one part at a time ---------------------------------------------------------------------- */

static bool overlay_is_hidden(const bly_filter *f) {
    return f->geometry.detail == BLYI_OVERLAY_HIDDEN;
}

static bool overlay_base_contains(const bly_filter *f, bly_hash h) {
    return !overlay_is_hidden(f) && bly_filter_contains_hash(blyi_overlay_base(f), h);
}

/* In this file `mixed` is blyi_overlay_mix of a key's hash. */
static bool overlay_is_deleted(const bly_filter *f, bly_hash mixed) {
    const bly_filter *deleted = blyi_overlay_deleted(f);
    return deleted->items != 0 && deleted->ops->contains_many(deleted, &mixed, 1, NULL) != 0;
}

static bool overlay_is_added(const bly_filter *f, bly_hash mixed) {
    const bly_filter *added = blyi_overlay_added(f);
    return added && added->ops->contains_many(added, &mixed, 1, NULL) != 0;
}

static bly_status overlay_add_to_part(bly_filter *part, bly_hash h) {
    bly_batch_result sum = {0, 0};
    return blyi_filter_add_hashes(part, &h, 1, NULL, &sum);
}

/* Removes all entries of a class from a table. */
static void overlay_remove_class(bly_filter *part, bly_hash mixed) {
    bool removed = true;
    while (removed && part->ops->remove_one(part, mixed, &removed) == BLY_OK)
        ;
}

/* Records that a key of the base is deleted. A Bloom filter counts as full when more keys would
 * make its FPR exceed the one it was made for. */
static bly_status overlay_mark_deleted(bly_filter *f, bly_hash mixed) {
    bly_filter *deleted = blyi_overlay_deleted(f);
    if (deleted->geometry.kind == BLY_CLASSIC && deleted->items >= deleted->capacity)
        return BLY_EFULL;
    return overlay_add_to_part(deleted, mixed);
}

/* Adds a key to the table beside the base. A new table always has room for one key, so a failure
 * leaves no empty table. */
static bly_status overlay_add_beside(bly_filter *f, bly_hash mixed) {
    bly_status status = blyi_overlay_added(f) ? BLY_OK : blyi_overlay_create_added(f);
    return status ? status : overlay_add_to_part(blyi_overlay_added(f), mixed);
}

/* ---- add and remove -------------------------------------------------------------------------- */

/* Whether new keys are added to the base. They are not if the base forgets keys, as a window does:
 * each add would make it forget older keys. */
static bool overlay_base_takes_adds(const bly_filter *f) {
    uint32_t can = blyi_overlay_base(f)->ops->capabilities;
    return !f->levels->borrowed && !overlay_is_hidden(f) && can & BLY_CAN_ADD &&
           !(can & BLY_FORGETS);
}

/* Whether nothing was removed or added beside the base, so that the base alone gives the
 * answers. */
static bool overlay_is_unchanged(const bly_filter *f) {
    return !overlay_is_hidden(f) && blyi_overlay_deleted(f)->items == 0 && !blyi_overlay_added(f);
}

/* Whether a whole batch can be added to the base directly: adding a key that the base contains
 * changes nothing there, and no add can fail. */
static bool overlay_base_takes_batches(const bly_filter *f) {
    const blyi_ops *base = blyi_overlay_base(f)->ops;
    return overlay_is_unchanged(f) && overlay_base_takes_adds(f) && base->add_many &&
           !base->try_add_many && !(base->capabilities & BLY_CAN_REMOVE);
}

/* Adds a key that is not present. The caller must update the overlay's own counts
 * (blyi_levels_recompute). */
static bly_status overlay_add_new(bly_filter *f, bly_hash h, bly_hash mixed, bool in_base) {
    bly_filter *deleted = blyi_overlay_deleted(f);
    bool marked = overlay_is_deleted(f, mixed);
    if (marked && !deleted->ops->remove_one)
        return overlay_add_beside(f, mixed);
    if (!in_base) {
        bly_status status =
            overlay_base_takes_adds(f) ? overlay_add_to_part(blyi_overlay_base(f), h) : BLY_EFULL;
        if (status)
            return status == BLY_EFULL ? overlay_add_beside(f, mixed) : status;
    }
    if (marked)
        overlay_remove_class(deleted, mixed);
    return BLY_OK;
}

static bly_status overlay_add_one(bly_filter *f, bly_hash h, bool *is_new) {
    bly_hash mixed = blyi_overlay_mix(h);
    bool in_base = overlay_base_contains(f, h);
    *is_new = !overlay_is_added(f, mixed) && !(in_base && !overlay_is_deleted(f, mixed));
    if (!*is_new)
        return BLY_OK;
    bly_status status = overlay_add_new(f, h, mixed, in_base);
    blyi_levels_recompute(f);
    return status;
}

static bly_status overlay_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                   bly_batch_result *sum) {
    if (overlay_base_takes_batches(f)) {
        bly_status status = blyi_filter_add_hashes(blyi_overlay_base(f), h, n, added, sum);
        blyi_levels_recompute(f);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        bool is_new;
        bly_status status = overlay_add_one(f, h[i], &is_new);
        if (status)
            return status;
        sum->done++;
        sum->changed += is_new;
        if (added)
            added[i] = is_new;
    }
    return BLY_OK;
}

static bly_status overlay_remove_one(bly_filter *f, bly_hash h, bool *removed) {
    bly_hash mixed = blyi_overlay_mix(h);
    bool beside = overlay_is_added(f, mixed);
    bool in_base = overlay_base_contains(f, h) && !overlay_is_deleted(f, mixed);
    *removed = beside || in_base;
    if (in_base) {
        bly_status status = overlay_mark_deleted(f, mixed);
        if (status)
            return status;
    }
    if (beside)
        overlay_remove_class(blyi_overlay_added(f), mixed);
    if (*removed)
        blyi_levels_recompute(f);
    return BLY_OK;
}

/* A borrowed base cannot be emptied, so it is ignored from now on. */
static void overlay_clear(bly_filter *f) {
    f->geometry.detail = f->levels->borrowed ? BLYI_OVERLAY_HIDDEN : 0;
    if (!f->levels->borrowed)
        bly_filter_clear(blyi_overlay_base(f));
    bly_filter_clear(blyi_overlay_deleted(f));
    blyi_levels_truncate(f, BLYI_OVERLAY_ADDED);
}

/* ---- lookups --------------------------------------------------------------------------------- */

/* Prefetches from all parts that a lookup will read. */
static void overlay_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    const bly_filter *base = blyi_overlay_base(f), *deleted = blyi_overlay_deleted(f);
    const bly_filter *added = blyi_overlay_added(f);
    if (!overlay_is_hidden(f))
        base->ops->prefetch(base, h, n);
    if (deleted->items == 0 && !added)
        return;
    for (size_t done = 0, some; done < n; done += some) {
        bly_hash mixed[BLYI_BATCH_GROUP];
        some = n - done < BLYI_BATCH_GROUP ? n - done : BLYI_BATCH_GROUP;
        for (size_t i = 0; i < some; i++)
            mixed[i] = blyi_overlay_mix(h[done + i]);
        if (deleted->items != 0)
            deleted->ops->prefetch(deleted, mixed, some);
        if (added)
            added->ops->prefetch(added, mixed, some);
    }
}

/* Looks up in `part` those of n <= BLYI_BATCH_GROUP hashes for which found[i] == found_is. Inverts
 * found[i] of each that `part` contains: a key that was found is absent if it is among the deleted
 * keys, and a key that was not found is present if it is among the added ones. */
static void overlay_invert_found(const bly_filter *part, const bly_hash *h, size_t n,
                                 uint8_t found_is, uint8_t *found) {
    bly_hash mixed[BLYI_BATCH_GROUP];
    uint8_t from[BLYI_BATCH_GROUP], contained[BLYI_BATCH_GROUP];
    size_t some = 0; /* counted without a branch, which would often be mispredicted */
    for (size_t i = 0; i < n; i++) {
        from[some] = (uint8_t)i;
        some += found[i] == found_is;
    }
    for (size_t i = 0; i < some; i++)
        mixed[i] = blyi_overlay_mix(h[from[i]]);
    if (some == 0 || part->ops->contains_many(part, mixed, some, contained) == 0)
        return;
    for (size_t i = 0; i < some; i++)
        found[from[i]] ^= contained[i];
}

/* Looks up n <= BLYI_BATCH_GROUP hashes. */
static size_t overlay_contains_group(const bly_filter *f, const bly_hash *h, size_t n,
                                     uint8_t *found) {
    const bly_filter *base = blyi_overlay_base(f), *deleted = blyi_overlay_deleted(f);
    const bly_filter *added = blyi_overlay_added(f);
    size_t hits = 0;
    if (overlay_is_hidden(f))
        memset(found, 0, n);
    else
        hits = base->ops->contains_many(base, h, n, found);
    if (hits && deleted->items != 0)
        overlay_invert_found(deleted, h, n, 1, found);
    if (added)
        overlay_invert_found(added, h, n, 0, found);
    hits = 0;
    for (size_t i = 0; i < n; i++)
        hits += found[i];
    return hits;
}

/* A single key was not looked up as part of a batch, so nothing has been prefetched for it. */
static size_t overlay_contains_many(const bly_filter *f, const bly_hash *h, size_t n,
                                    uint8_t *found) {
    uint8_t ignored[BLYI_BATCH_GROUP];
    size_t hits = 0;
    if (n == 1 && !overlay_is_unchanged(f))
        overlay_prefetch(f, h, 1);
    for (size_t done = 0, some; done < n; done += some) {
        some = n - done < BLYI_BATCH_GROUP ? n - done : BLYI_BATCH_GROUP;
        hits += overlay_contains_group(f, h + done, some, found ? found + done : ignored);
    }
    return hits;
}

/* blyi_ops.single_level: the base, if it can process the batch alone; else NULL. So as long as
 * nothing was changed, a lookup takes as long as in the base. The base must not be shared with
 * other threads, because then its keys are counted in several counters, and must not have been
 * opened without its hash key, because then it cannot hash. */
static bly_filter *overlay_single_level(const bly_filter *f, size_t n) {
    bly_filter *base = blyi_overlay_base(f);
    bool fits = n ? overlay_base_takes_batches(f) : overlay_is_unchanged(f);
    return fits && base->sharing == BLY_EXCLUSIVE && !base->keyless ? base : NULL;
}

static bool overlay_compatible(const bly_filter *a, const bly_filter *b) {
    bool same = true;
    for (unsigned i = 0; same && i < a->levels->n && i < b->levels->n; i++)
        same = bly_filter_compatible(a->levels->at[i], b->levels->at[i]) == BLY_OK;
    return same;
}

static bool overlay_equal(const bly_filter *a, const bly_filter *b) {
    return a->geometry.detail == b->geometry.detail && blyi_levels_equal(a, b);
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* The probability that a key of the base is missed, because it has the class of a deleted key or,
 * if the deleted keys are in a Bloom filter, because its bits are set there. */
static double overlay_base_misses(const bly_filter *f) {
    const bly_filter *deleted = blyi_overlay_deleted(f);
    double n = (double)deleted->items;
    if (deleted->items == 0)
        return 0;
    double alike = deleted->geometry.kind == BLY_GROWABLE_CUCKOO
                       ? blyi_table_rate(&deleted->geometry, n)
                       : deleted->ops->current_fpr(deleted);
    return alike + blyi_hash_floor(n, f->hasher.bits);
}

/* The probability that an added key is missed, because it had the class of an added key that was
 * removed. How many were removed is unknown, so the table's capacity is assumed. */
static double overlay_added_misses(const bly_filter *f) {
    const bly_filter *added = blyi_overlay_added(f);
    if (!added)
        return 0;
    double n = (double)blyi_buckets_capacity(added->geometry.size);
    return blyi_table_rate(&added->geometry, n) + blyi_hash_floor(n, f->hasher.bits);
}

static double overlay_miss_bound(const bly_filter *f) {
    return fmin(1, fmax(overlay_base_misses(f), overlay_added_misses(f)));
}

static void overlay_fill_stats(const bly_filter *f, bly_filter_info *out) {
    static const bly_filter_info nothing;
    bly_filter_info each[BLYI_OVERLAY_PARTS] = {{0}};
    blyi_levels_sum_stats(f, each, out);
    bool hidden = f->geometry.detail == BLYI_OVERLAY_HIDDEN;
    const bly_filter_info *base = hidden ? &nothing : &each[BLYI_OVERLAY_BASE];
    const bly_filter_info *added = &each[BLYI_OVERLAY_ADDED];
    double deleted = (double)each[BLYI_OVERLAY_DELETED].count;
    out->estimated_keys = fmax(0, base->estimated_keys - deleted) + added->estimated_keys;
    out->expected_fpr = blyi_combined_rate(base->expected_fpr, added->expected_fpr);
    out->current_fpr = blyi_combined_rate(base->current_fpr, added->current_fpr);
    out->stuck = each[BLYI_OVERLAY_BASE].stuck;
    out->spilled = each[BLYI_OVERLAY_BASE].spilled;
    out->miss_bound = overlay_miss_bound(f);
}

bly_status bly_overlay_get_info(const bly_filter *f, bly_overlay_info *out) {
    if (f->geometry.kind != BLY_OVERLAY)
        return BLY_EKIND;
    if (!blyi_can_write_struct(out, sizeof *out))
        return BLY_EINVAL;
    const bly_filter *beside = blyi_overlay_added(f);
    const bly_overlay_info info = {
        .deleted = blyi_overlay_deleted(f)->items,
        .added = beside ? beside->items : 0,
        .miss_bound = overlay_miss_bound(f),
    };
    blyi_write_struct(out, &info, sizeof info);
    return BLY_OK;
}

const bly_filter *bly_overlay_base(const bly_filter *f) {
    return f->geometry.kind == BLY_OVERLAY ? blyi_overlay_base(f) : NULL;
}

/* ---- descriptor ------------------------------------------------------------------------------ */

static bly_status overlay_check(const bly_geometry *g) {
    if (g->detail > BLYI_OVERLAY_HIDDEN)
        return BLY_EGEOMETRY;
    return blyi_levels_geometry_check(g, BLYI_OVERLAY_DELETED + 1, BLYI_OVERLAY_PARTS);
}

static const blyi_planner overlay_planner = BLYI_LEVELS_PLANNER(overlay_check);

static const blyi_ops overlay_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_REMOVE | BLY_CAN_MAP,
    .create = blyi_overlay_create,
    .level_rules = &blyi_overlay_level_rules,
    .single_level = overlay_single_level,
    .prefetch = overlay_prefetch,
    .try_add_many = overlay_add_many,
    .contains_many = overlay_contains_many,
    .remove_one = overlay_remove_one,
    .clear = overlay_clear,
    .fill_stats = overlay_fill_stats,
    .is_compatible = overlay_compatible,
    .any_size = true,
    .any_detail = true,
    .is_equal = overlay_equal,
};

#define OVERLAY_NOT_COMBINED "overlays cannot be combined; build a new filter from the keys"

static void overlay_describe_size(const bly_geometry *g, const char *grouped, char *out,
                                  size_t room) {
    (void)grouped;
    snprintf(out, room, "%u parts", (unsigned)g->hashes);
}

const blyi_kind blyi_kind_overlay = {
    .code = BLY_OVERLAY,
    .name = "overlay",
    .article = "an",
    .meaning = "another filter, and the keys that were removed from and added to it since",
    .reason = "removes keys from, and adds keys to, a filter that cannot be changed",
    .never_advised = "it needs another filter as its base: plan that one",
    .hashes_name = "parts",
    .describe_size = overlay_describe_size,
    .describe_rest = blyi_describe_nothing,
    .spec_fields = BLYI_SPEC_OVERLAY,
    .may_miss_members = true,
    .refusals = {[BLY_OP_UNION] = OVERLAY_NOT_COMBINED,
                 [BLY_OP_INTERSECT] = OVERLAY_NOT_COMBINED,
                 [BLY_OP_SUBTRACT] = OVERLAY_NOT_COMBINED,
                 [BLY_OP_OVERLAP] = OVERLAY_NOT_COMBINED},
    .planner = &overlay_planner,
    .ops = &overlay_ops,
};
