/* The overlay: keys taken out of, and put into, a filter that cannot be changed so.
 *
 * The idea: leave the filter M as it is, and keep beside it the set D of the keys that were removed
 * and the set A of those that were added:
 *
 *     x is present  iff  A has x, or M has x and D has not
 *
 * The textbook form of this, two Bloom filters, misses keys: a key that looks deleted, at D's rate,
 * is gone. (And a key that was deleted cannot come back, since it cannot be taken out of D.) So D
 * and A are fingerprint tables (../cuckoo/table.h) with long remainders, in which keys take each
 * other's place once in 10^9 times, and out of which they can be taken again. A Bloom filter as D
 * is still to be had, since it takes a third of the space (BLY_CLASSIC as the marker); what is
 * added again after it was removed then goes to A.
 *
 * One entry per class. Adding a key that is present changes nothing, removing one that is absent
 * changes nothing: that makes it a set, in which copies collapse, and in which an entry of D or A
 * stands for a class of keys, not for a copy of one. Taking it out undoes exactly what putting it
 * in did. A class may still have several entries in a file from elsewhere, so taking out takes all.
 *
 * What can go wrong, and how often. With n entries, m buckets and f bits of remainder a class is
 * taken with chance n / (m 2^f) (blyi_table_rate), about 4 load / 2^f:
 *
 *   - x is in M, and some y of its class is removed: x is missed. f is 38 at first and 32 after six
 *     doublings: 1.4e-11 when the first table is full, 8.9e-10 when the last one is.
 *   - x is in A, and some y of its class is added and removed: x is missed. As unlikely for each y.
 *   - y is marked in D, and some x of its class is added: y is unmarked, and looks present. That is
 *     a false positive more.
 *
 * And keys whose whole hashes are equal are one key to all parts: n / 2^64 with a 64-bit hash.
 *
 * D and A see another hash than M: fmix64 of each word, with a constant (parts.h). That matters
 * where a stranger z is removed that M takes for x. If M is a cuckoo filter, the first 30 bits or
 * so of z's hash are those of x's. With a class made of the same bits, only the others would have
 * to be equal by chance for z's removal to take x with it; with a mix of all bits, all must be.
 *
 * Adds. Where M is the overlay's own, and takes adds without losing anything, new keys go to M, at
 * no further cost. Else, or when M is full, to A. M is never asked to take a key that it has, so a
 * filter that stores copies stores one.
 *
 * Failure. What can fail comes first, so that a failed call has changed nothing: putting x into M,
 * D or A before taking it out of the others.
 *
 * Space, per deleted key: slots of 39 bits, 0.96 of them in use, 40.6 bits when as many keys were
 * deleted as was asked for (41.6 for a thousand, 45.6 for 200, 50.6 for 100: a table has a few
 * slots to spare); twice as many right after a doubling; at the horizon, 64 times as many, 34.4.
 *
 * Time, in batches, over an sbbf of ten million keys at 1% with half a million deleted, as
 * processor time on a noisy machine where the sbbf alone takes 8 ns a key: 50 to 65 ns for a key
 * that is there, 20 to 30 for a stranger, which only its few false positives take to D; with half a
 * million added keys besides, 60 to 80 for either. As long as nothing has changed, what the base
 * takes.
 *
 * In a file: M, D and, once there is one, A, each with its header. A is made when first needed.
 */
#include "kinds/overlay/overlay_parts.h"

#include "filter/batch.h"
#include <bloomery/overlay.h>
#include <stdio.h>
#include <string.h>

/* ---- one part at a time ---------------------------------------------------------------------- */

static bool is_hidden(const bly_filter *f) {
    return f->geometry.detail == BLYI_OVERLAY_HIDDEN;
}

static bool base_has(const bly_filter *f, bly_hash h) {
    return !is_hidden(f) && bly_filter_contains_hash(blyi_overlay_base(f), h);
}

/* `mixed` is blyi_overlay_mix of a hash, here and below. */
static bool is_deleted(const bly_filter *f, bly_hash mixed) {
    const bly_filter *deleted = blyi_overlay_deleted(f);
    return deleted->items != 0 && deleted->ops->contains_many(deleted, &mixed, 1, NULL) != 0;
}

static bool is_added(const bly_filter *f, bly_hash mixed) {
    const bly_filter *added = blyi_overlay_added(f);
    return added && added->ops->contains_many(added, &mixed, 1, NULL) != 0;
}

static bly_status put_into(bly_filter *part, bly_hash h) {
    bly_tally sum = {0, 0};
    return blyi_filter_add_hashes(part, &h, 1, NULL, &sum);
}

/* Takes a class out of a table. */
static void take_out(bly_filter *part, bly_hash mixed) {
    bool removed = true;
    while (removed && part->ops->remove_one(part, mixed, &removed) == BLY_OK)
        ;
}

/* A Bloom filter stops where its rate would be worse than the one it was made for. */
static bly_status mark_deleted(bly_filter *f, bly_hash mixed) {
    bly_filter *deleted = blyi_overlay_deleted(f);
    if (deleted->geometry.kind == BLY_CLASSIC && deleted->items >= deleted->capacity)
        return BLY_EFULL;
    return put_into(deleted, mixed);
}

/* A new table always has room for one key, so none is left behind empty. */
static bly_status put_beside(bly_filter *f, bly_hash mixed) {
    bly_status status = blyi_overlay_added(f) ? BLY_OK : blyi_overlay_make_added(f);
    return status ? status : put_into(blyi_overlay_added(f), mixed);
}

/* ---- adding and removing --------------------------------------------------------------------- */

/* Whether new keys go to the base: one that forgets would forget others for them. */
static bool base_takes_adds(const bly_filter *f) {
    uint32_t can = blyi_overlay_base(f)->ops->capabilities;
    return !f->levels->lent && !is_hidden(f) && can & BLY_CAN_ADD && !(can & BLY_FORGETS);
}

/* Whether the base answers for all of it, and takes a batch of keys as it comes: keys that it has
 * change nothing in it, and no add fails. */
static bool base_is_all(const bly_filter *f) {
    return !is_hidden(f) && blyi_overlay_deleted(f)->items == 0 && !blyi_overlay_added(f);
}

static bool base_takes_batches(const bly_filter *f) {
    const blyi_ops *base = blyi_overlay_base(f)->ops;
    return base_is_all(f) && base_takes_adds(f) && base->add_many && !base->try_add_many &&
           !(base->capabilities & BLY_CAN_REMOVE);
}

/* Adds a key that is not present, with all counts but the whole's. */
static bly_status put_new(bly_filter *f, bly_hash h, bly_hash mixed, bool in_base) {
    bly_filter *deleted = blyi_overlay_deleted(f);
    bool marked = is_deleted(f, mixed);
    if (marked && !deleted->ops->remove_one)
        return put_beside(f, mixed);
    if (!in_base) {
        bly_status status = base_takes_adds(f) ? put_into(blyi_overlay_base(f), h) : BLY_EFULL;
        if (status)
            return status == BLY_EFULL ? put_beside(f, mixed) : status;
    }
    if (marked)
        take_out(deleted, mixed);
    return BLY_OK;
}

static bly_status put_one(bly_filter *f, bly_hash h, bool *is_new) {
    bly_hash mixed = blyi_overlay_mix(h);
    bool in_base = base_has(f, h);
    *is_new = !is_added(f, mixed) && !(in_base && !is_deleted(f, mixed));
    if (!*is_new)
        return BLY_OK;
    bly_status status = put_new(f, h, mixed, in_base);
    blyi_levels_recompute(f);
    return status;
}

static bly_status put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, bly_tally *sum) {
    if (base_takes_batches(f)) {
        bly_status status = blyi_filter_add_hashes(blyi_overlay_base(f), h, n, added, sum);
        blyi_levels_recompute(f);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        bool is_new;
        bly_status status = put_one(f, h[i], &is_new);
        if (status)
            return status;
        sum->done++;
        sum->fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    return BLY_OK;
}

static bly_status take(bly_filter *f, bly_hash h, bool *removed) {
    bly_hash mixed = blyi_overlay_mix(h);
    bool beside = is_added(f, mixed), shows = base_has(f, h) && !is_deleted(f, mixed);
    *removed = beside || shows;
    if (shows) {
        bly_status status = mark_deleted(f, mixed);
        if (status)
            return status;
    }
    if (beside)
        take_out(blyi_overlay_added(f), mixed);
    if (*removed)
        blyi_levels_recompute(f);
    return BLY_OK;
}

/* What is lent cannot be emptied, so it is passed over from now on. */
static void clear(bly_filter *f) {
    f->geometry.detail = f->levels->lent ? BLYI_OVERLAY_HIDDEN : 0;
    if (!f->levels->lent)
        bly_filter_clear(blyi_overlay_base(f));
    bly_filter_clear(blyi_overlay_deleted(f));
    blyi_levels_truncate(f, BLYI_OVERLAY_ADDED);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Starts the loads of all parts that will have a say. */
static void prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    const bly_filter *base = blyi_overlay_base(f), *deleted = blyi_overlay_deleted(f);
    const bly_filter *added = blyi_overlay_added(f);
    if (!is_hidden(f))
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

/* Asks `part` about those of at most a group that are found so far, or not, as `found_is` says, and
 * turns the answer round where it has the key: a key is out when it is among the deleted ones, and
 * in when it is among the added ones. */
static void turn_round(const bly_filter *part, const bly_hash *h, size_t n, uint8_t found_is,
                       uint8_t *found) {
    bly_hash mixed[BLYI_BATCH_GROUP];
    uint8_t from[BLYI_BATCH_GROUP], there[BLYI_BATCH_GROUP];
    size_t some = 0; /* without a branch: which are found is anyone's guess */
    for (size_t i = 0; i < n; i++) {
        from[some] = (uint8_t)i;
        some += found[i] == found_is;
    }
    for (size_t i = 0; i < some; i++)
        mixed[i] = blyi_overlay_mix(h[from[i]]);
    if (some == 0 || part->ops->contains_many(part, mixed, some, there) == 0)
        return;
    for (size_t i = 0; i < some; i++)
        found[from[i]] ^= there[i];
}

/* Asks about at most a group. */
static size_t ask_some(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    const bly_filter *base = blyi_overlay_base(f), *deleted = blyi_overlay_deleted(f);
    const bly_filter *added = blyi_overlay_added(f);
    size_t hits = 0;
    if (is_hidden(f))
        memset(found, 0, n);
    else
        hits = base->ops->contains_many(base, h, n, found);
    if (hits && deleted->items != 0)
        turn_round(deleted, h, n, 1, found);
    if (added)
        turn_round(added, h, n, 0, found);
    hits = 0;
    for (size_t i = 0; i < n; i++)
        hits += found[i];
    return hits;
}

/* A single key comes from a call of its own, not from a batch, so nothing has been fetched yet. */
static size_t contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    uint8_t nowhere[BLYI_BATCH_GROUP];
    size_t hits = 0;
    if (n == 1 && !base_is_all(f))
        prefetch(f, h, 1);
    for (size_t done = 0, some; done < n; done += some) {
        some = n - done < BLYI_BATCH_GROUP ? n - done : BLYI_BATCH_GROUP;
        hits += ask_some(f, h + done, some, found ? found + done : nowhere);
    }
    return hits;
}

/* As long as nothing has changed, it costs what the base costs. A base shared with other threads
 * counts its keys elsewhere. */
static bly_filter *sole(const bly_filter *f, size_t n) {
    bly_filter *base = blyi_overlay_base(f);
    bool fits = n ? base_takes_batches(f) : base_is_all(f);
    return fits && base->sharing == BLY_EXCLUSIVE ? base : NULL;
}

static const blyi_ops overlay_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_REMOVE | BLY_CAN_MAP,
    .create = blyi_overlay_create,
    .level_rules = &blyi_overlay_whole,
    .single_level = sole,
    .prefetch = prefetch,
    .try_add_many = put,
    .contains_many = contains,
    .remove_one = take,
    .clear = clear,
    .fill_stats = blyi_overlay_stats,
    .is_compatible = blyi_overlay_compatible,
    .any_size = true,
    .any_detail = true,
    .is_equal = blyi_overlay_equal,
};

/* ---- descriptor ------------------------------------------------------------------------------ */

#define NEVER_COMBINED "an overlay's parts cannot be combined; rebuild from the keys"

static void overlay_describe_size(const bly_geometry *g, const char *grouped, char *out,
                                  size_t room) {
    (void)grouped;
    snprintf(out, room, "%u parts", (unsigned)g->hashes);
}

const blyi_kind blyi_kind_overlay = {
    .code = BLY_OVERLAY,
    .name = "overlay",
    .article = "an",
    .meaning = "another filter, and what was removed from and added to it since",
    .reason = "takes keys out of a filter that cannot be changed, and puts others in",
    .never_advised = "it lies over another filter: plan that one",
    .hashes_name = "parts",
    .describe_size = overlay_describe_size,
    .describe_rest = blyi_describe_nothing,
    .spec_fields = BLYI_SPEC_OVERLAY,
    .may_miss_members = true,
    .refusals = {[BLY_OP_UNION] = NEVER_COMBINED,
                 [BLY_OP_INTERSECT] = NEVER_COMBINED,
                 [BLY_OP_SUBTRACT] = NEVER_COMBINED,
                 [BLY_OP_OVERLAP] = NEVER_COMBINED},
    .planner = &blyi_overlay_planner,
    .ops = &overlay_ops,
};
