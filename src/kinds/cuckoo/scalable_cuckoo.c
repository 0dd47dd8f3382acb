/* The scalable cuckoo filter: a list of fingerprint tables, its levels, from which keys can be
 * removed.
 *
 * cuckoo.c and cuckoo_table.h explain a table, scalable.c lists of levels and their rates.
 * Combining the two is not new, and the usual combination loses keys. A remove looks for the key in
 * one table after the other and removes the first entry that matches. Say x is stored in table A, y
 * in table B, and x and y have the same class in B but not in A. Removing x removes y's entry from
 * B. x's own entry stays in A, where it does not match y, so y is lost.
 *
 * Two rules prevent that.
 *
 *   1. Every level is a refinement of all older ones: keys of one class in it are of one class in
 *      each of them.
 *   2. A remove removes the entry from the newest level that has one.
 *
 * Proof. Every copy of a key owns an entry in some level: one of the key's class in that level. An
 * add stores this entry. Claim: after one copy of x is removed, each remaining copy can still own
 * an entry. Let x own an entry e in level a, and let the remove delete an entry e' in level b. By
 * rule 2, b is a or newer: if b were older, the remove would have found e first. If e' is not e, it
 * is owned by a copy of some y, and in b x and y are of one class, that of e'. By rule 1 they are
 * of one class in a. So y can own e instead; x owns nothing, and all other copies own what they
 * did. So no key is ever lost. By the same argument an entry may be moved to an older level: the
 * copy that owned it owns it there.
 *
 * How refinement is achieved. The class of a key x, taken as a number in [0, 1), in a table of m
 * buckets and remainders of f bits is floor(x m 2^f). Let m 2^f grow by powers of two, by a factor
 * of at least 2. Then the class in an older table is the class in the newer one without its last
 * bits. One detail: where the core of a remainder is 0, its lowest bit is set, so that two numbers
 * become one class. They differ in the lowest bit alone, which is among those left out. (Tables of
 * one shape refine each other; a union can produce them.) And x must be the same number for both
 * tables: a wide table, with m 2^f >= 2^56, uses more bits of the hash than others do
 * (cuckoo_table.h), and truncating them may round differently. So all levels are wide or none is,
 * and the filter is full when it cannot add such a level.
 *
 * Sizes: m_0 is the number of buckets of a cuckoo filter for n keys, and the level for n g^i keys
 * gets the smallest of m_0, 2 m_0, 4 m_0, ... with room for that many, usually m_0 g^i. This is why
 * g is a power of two. Rates: the series of scalable.c. But remainders have a whole number of bits,
 * so the FPR of a level is up to half below its share. The real FPR is subtracted from the
 * filter's, so later levels have more to share. Remainders are the shortest that keep the rate and
 * make a refinement.
 *
 * In a file the levels follow one another, oldest first, each a cuckoo filter with its own header.
 */
#include "filter/level_growth.h"
#include "filter/levels.h"
#include "filter/rate.h"
#include "kinds/cuckoo/cuckoo_operations.h"

#include <bloomery/filter.h>

enum {
    ALL_TENTHS = 10,   /* the newest level may use all of its capacity */
    OLDER_TENTHS = 9,  /* an add tries an older level that uses less than 9/10 of its capacity */
    MIN_LOAD_PART = 8, /* if less than 1/8 is in use, only copies of a key can fill a bucket */
};

/* Whether two tables have the same shape. Levels of the same shape, which only a union produces,
 * have one part of the FPR in common. */
static bool scalable_cuckoo_share_rate(const bly_geometry *a, const bly_geometry *b) {
    return a->kind == BLY_CUCKOO && b->kind == BLY_CUCKOO && a->size == b->size &&
           a->hashes == b->hashes;
}

/* Whether level `newer` may come after level `older`: as a refinement, or with the same shape. */
static bool scalable_cuckoo_may_follow(const blyi_shape *newer, const blyi_shape *older) {
    if (scalable_cuckoo_share_rate(&newer->geometry, &older->geometry))
        return newer->capacity == older->capacity && newer->fpr == older->fpr;
    return blyi_cuckoo_refines(&newer->geometry, &older->geometry);
}

/* ---- create ---------------------------------------------------------------------------------- */

static bly_status scalable_cuckoo_create(const bly_spec *spec, bly_filter **out) {
    uint32_t growth = BLYI_DEFAULT_GROWTH;
    while (growth < spec->scalable.growth && growth < BLYI_MAX_GROWTH)
        growth *= 2;
    return blyi_levels_create(spec, growth, out);
}

/* ---- add ------------------------------------------------------------------------------------- */

/* Whether a level uses less than that many tenths of its capacity, or is empty. */
static bool scalable_cuckoo_has_room(const bly_filter *level, unsigned tenths) {
    uint64_t max = level->capacity / 10 * tenths + level->capacity % 10 * tenths / 10;
    return level->items < max || level->items == 0;
}

/* Adds an entry, of class c in table `of`, to the newest of the first `end` levels that has room
 * for it and uses less than that many tenths of its capacity. Returns false, and changes nothing,
 * if no level qualifies. The caller updates the filter's items. */
static bool scalable_cuckoo_add_to_levels(bly_filter *f, unsigned end, unsigned tenths,
                                          const blyi_cuckoo_table *of, blyi_cuckoo_class c) {
    for (unsigned i = end; i-- > 0;) {
        bly_filter *level = f->levels->at[i];
        blyi_cuckoo_table t = blyi_table_of(level);
        if (scalable_cuckoo_has_room(level, tenths) &&
            blyi_table_try_add(&t, blyi_cuckoo_class_in_coarser(&t, of, c))) {
            level->items++;
            return true;
        }
    }
    return false;
}

/* Adds a key without counting it in the filter's items. */
static bly_status scalable_cuckoo_add(bly_filter *f, bly_hash h) {
    const unsigned n = f->levels->n;
    const bly_filter *last = blyi_newest_level(f);
    blyi_cuckoo_table t = blyi_table_of(last);
    blyi_cuckoo_class c = blyi_cuckoo_class_of(&t, h);
    if (scalable_cuckoo_has_room(last, ALL_TENTHS) && blyi_table_try_add(&t, c)) {
        blyi_newest_level(f)->items++;
        return BLY_OK;
    }
    if (scalable_cuckoo_add_to_levels(f, n - 1, OLDER_TENTHS, &t, c))
        return BLY_OK;
    if (scalable_cuckoo_has_room(last, ALL_TENTHS) &&
        last->items < blyi_table_slots(&t) / MIN_LOAD_PART)
        return BLY_EFULL;
    bly_status status = blyi_levels_grow(f);
    if (status)
        return status;
    t = blyi_table_of(blyi_newest_level(f));
    (void)blyi_table_try_add(&t, blyi_cuckoo_class_of(&t, h)); /* an empty table has room */
    blyi_newest_level(f)->items++;
    return BLY_OK;
}

static bly_status scalable_cuckoo_add_many(bly_filter *f, const bly_hash *h, size_t n,
                                           uint8_t *added, bly_batch_result *sum) {
    for (size_t i = 0; i < n; i++) {
        bool is_new = blyi_levels_contains_many(f, &h[i], 1, NULL) == 0;
        bly_status status = scalable_cuckoo_add(f, h[i]);
        if (status)
            return status;
        f->items++;
        sum->done++;
        sum->changed += is_new;
        if (added)
            added[i] = is_new;
    }
    return BLY_OK;
}

/* ---- lookup and remove ----------------------------------------------------------------------- */

/* blyi_ops.single_level: the only level, for lookups (n is 0); else NULL. So until a filter grows,
 * a lookup takes as long as in a cuckoo filter. */
static bly_filter *scalable_cuckoo_single_level(const bly_filter *f, size_t n) {
    return f->levels->n == 1 && n == 0 ? f->levels->at[0] : NULL;
}

static uint64_t scalable_cuckoo_count_copies(const bly_filter *f, bly_hash h) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < f->levels->n; i++)
        sum += blyi_cuckoo_count_copies(f->levels->at[i], h);
    return sum;
}

/* Frees the newest levels if they are empty, unless the next add would create one again. */
static void scalable_cuckoo_shrink(bly_filter *f) {
    unsigned n = f->levels->n;
    while (n > 1 && f->levels->at[n - 1]->items == 0 &&
           scalable_cuckoo_has_room(f->levels->at[n - 2], OLDER_TENTHS))
        n--;
    if (n < f->levels->n)
        blyi_levels_truncate(f, n);
}

static bly_status scalable_cuckoo_remove_one(bly_filter *f, bly_hash h, bool *removed) {
    bly_status status = BLY_OK;
    *removed = false;
    for (unsigned i = f->levels->n; i-- > 0 && status == BLY_OK && !*removed;)
        status = blyi_cuckoo_remove_one(f->levels->at[i], h, removed);
    if (*removed) {
        blyi_filter_subtract_count(f, 1);
        scalable_cuckoo_shrink(f);
    }
    return status;
}

/* ---- compact --------------------------------------------------------------------------------- */

/* Moves the entries in slots *slot to `end` - 1 of level i to older levels. An entry for which no
 * older level has room stays. Returns the number of entries moved, and sets *slot to `end`. */
static uint64_t scalable_cuckoo_move_to_older(bly_filter *f, unsigned i, uint64_t *slot,
                                              uint64_t end) {
    bly_filter *level = f->levels->at[i];
    const blyi_cuckoo_table t = blyi_table_of(level);
    uint64_t moved = 0;
    for (; *slot < end; ++*slot) {
        blyi_cuckoo_class c;
        if (!blyi_slot_class(&t, *slot / BLYI_BUCKET_SLOTS, *slot % BLYI_BUCKET_SLOTS, &c) ||
            !scalable_cuckoo_add_to_levels(f, i, ALL_TENTHS, &t, c))
            continue;
        blyi_slot_set(t.body, blyi_table_width(&t), *slot, 0);
        level->items--;
        moved++;
    }
    return moved;
}

/* Whether there are older levels, which together have room for all entries of the newest one. */
static bool scalable_cuckoo_can_empty_newest(const bly_filter *f) {
    uint64_t room = 0;
    for (unsigned i = 0; i + 1 < f->levels->n; i++)
        room = blyi_sum(room, blyi_level_room(f->levels->at[i]));
    return f->levels->n > 1 && blyi_newest_level(f)->items <= room;
}

/* The highest bits of a cursor are the number of levels, the others a slot of the newest level. If
 * the number of levels has changed since the cursor was returned, compacting starts again at slot
 * 0. */
enum { CURSOR_SLOT_BITS = 56 };

bly_status bly_scalable_cuckoo_compact(bly_filter *f, uint64_t slots, uint64_t *cursor,
                                       uint64_t *moved) {
    const uint64_t below = ((uint64_t)1 << CURSOR_SLOT_BITS) - 1;
    uint64_t left = slots ? slots : UINT64_MAX, slot = *cursor & below, sum = 0;
    if (f->geometry.kind != BLY_SCALABLE_CUCKOO)
        return BLY_EUNSUPPORTED;
    bool more = true;
    if (*cursor >> CURSOR_SLOT_BITS != f->levels->n)
        slot = 0;
    while (more && left > 0) {
        const uint64_t all = blyi_newest_level(f)->geometry.size * BLYI_BUCKET_SLOTS;
        more = slot != 0 || scalable_cuckoo_can_empty_newest(f);
        if (!more)
            break;
        uint64_t end = slot < all && all - slot > left ? slot + left : all, from = slot;
        sum += scalable_cuckoo_move_to_older(f, f->levels->n - 1, &slot, end);
        left -= slot > from ? slot - from : 0;
        if (slot < all)
            break;
        slot = 0;
        more = f->levels->n > 1 && blyi_newest_level(f)->items == 0;
        if (more)
            blyi_levels_truncate(f, f->levels->n - 1);
    }
    *cursor = more ? (uint64_t)f->levels->n << CURSOR_SLOT_BITS | slot : 0;
    if (moved)
        *moved = sum;
    return BLY_OK;
}

/* ---- union -----------------------------------------------------------------------------------
 *
 * The union of two filters is one list of all their levels. Filters that were created alike have
 * levels of the same shapes. Sorted by the number of their classes, each level refines those before
 * it or has their shape. A level that fits into one of the same shape is emptied into it. One that
 * does not fit stays a separate level: its entries cannot be moved to a newer level, because they
 * do not determine the finer classes there.
 */

/* Whether two levels can be in one list. */
static bool scalable_cuckoo_levels_fit(const bly_filter *a, const bly_filter *b) {
    const blyi_shape sa = blyi_filter_shape(a), sb = blyi_filter_shape(b);
    return scalable_cuckoo_may_follow(&sa, &sb) || scalable_cuckoo_may_follow(&sb, &sa);
}

static bool scalable_cuckoo_compatible(const bly_filter *a, const bly_filter *b) {
    const blyi_levels *la = a->levels, *lb = b->levels;
    bool same =
        a->fpr == b->fpr && scalable_cuckoo_share_rate(&la->at[0]->geometry, &lb->at[0]->geometry);
    for (unsigned i = 0; i < la->n; i++)
        for (unsigned j = 0; same && j < lb->n; j++)
            same = scalable_cuckoo_levels_fit(la->at[i], lb->at[j]);
    return same;
}

static bool scalable_cuckoo_has_shape(const bly_filter *f, const bly_filter *level) {
    bool has = false;
    for (unsigned i = 0; !has && i < f->levels->n; i++)
        has = scalable_cuckoo_share_rate(&f->levels->at[i]->geometry, &level->geometry);
    return has;
}

/* Sets `out` to the levels of src that must be appended to dst: all but empty ones for which dst
 * has a level of the same shape. Returns their number. */
static unsigned scalable_cuckoo_choose_levels(const bly_filter *dst, const bly_filter *src,
                                              const bly_filter *out[BLYI_MAX_LEVELS]) {
    unsigned n = 0;
    for (unsigned i = 0; i < src->levels->n; i++) {
        const bly_filter *level = src->levels->at[i];
        if (level->items > 0 || !scalable_cuckoo_has_shape(dst, level))
            out[n++] = level;
    }
    return n;
}

/* Moves the last level to its position among the others, which are sorted by the number of
 * classes. */
static void scalable_cuckoo_sort_last(blyi_levels *l) {
    bly_filter *level = l->at[l->n - 1];
    unsigned i = l->n - 1;
    for (; i > 0 && blyi_cuckoo_refines(&l->at[i - 1]->geometry, &level->geometry); i--)
        l->at[i] = l->at[i - 1];
    l->at[i] = level;
}

/* Removes a level that has no entries. */
static void scalable_cuckoo_drop_level(bly_filter *f, unsigned i) {
    blyi_levels *l = f->levels;
    bly_filter *level = l->at[i];
    for (; i + 1 < l->n; i++)
        l->at[i] = l->at[i + 1];
    l->at[i] = level;
    blyi_levels_truncate(f, i);
}

/* Moves the entries of levels to older levels of the same shape, where these have room, and removes
 * the levels that are empty then. */
static void scalable_cuckoo_join_same_shapes(bly_filter *f) {
    for (unsigned i = f->levels->n; --i > 0;) {
        const bly_filter *level = f->levels->at[i], *older = f->levels->at[i - 1];
        uint64_t slot = 0;
        if (!scalable_cuckoo_share_rate(&level->geometry, &older->geometry) ||
            level->items > blyi_level_room(older))
            continue;
        (void)scalable_cuckoo_move_to_older(f, i, &slot, level->geometry.size * BLYI_BUCKET_SLOTS);
        if (level->items == 0)
            scalable_cuckoo_drop_level(f, i);
    }
}

static bly_status scalable_cuckoo_union(bly_filter *dst, const bly_filter *src) {
    const bly_filter *from[BLYI_MAX_LEVELS];
    bly_geometry grown = dst->geometry;
    const unsigned had = dst->levels->n, n = scalable_cuckoo_choose_levels(dst, src, from);
    bly_status status = had + n > BLYI_MAX_LEVELS ? BLY_EFULL : BLY_OK;
    for (unsigned i = 0; i < n; i++)
        grown.size += BLYI_LEVEL_HEADER + from[i]->body_bytes;
    if (status == BLY_OK)
        status = bly_plan_check(&grown);
    for (unsigned i = 0; status == BLY_OK && i < n; i++)
        status = blyi_levels_append(dst, from[i]);
    if (status) {
        blyi_levels_truncate(dst, had);
        return status;
    }
    for (unsigned i = had; i < had + n; i++) {
        dst->levels->n = i + 1;
        scalable_cuckoo_sort_last(dst->levels);
    }
    scalable_cuckoo_join_same_shapes(dst);
    blyi_levels_recompute(dst);
    return BLY_OK;
}

/* ---- rules of the levels, and descriptor ----------------------------------------------------- */

static bool scalable_cuckoo_accepts_level(const blyi_shape *all, unsigned i,
                                          const blyi_shape *level) {
    (void)all;
    (void)i;
    return level->geometry.kind == BLY_CUCKOO && !level->approximate &&
           level->capacity <= level->geometry.size * BLYI_BUCKET_SLOTS;
}

static bool scalable_cuckoo_levels_are_consistent(const blyi_shape *all,
                                                  const blyi_shape *const *levels, unsigned n) {
    for (unsigned i = 1; i < n; i++) {
        if (!scalable_cuckoo_may_follow(levels[i], levels[i - 1]))
            return false;
    }
    return blyi_levels_consistent(all, levels, n);
}

/* blyi_level_rules.plan_level. Sets *fpr to the level's real FPR, which is below the share given in
 * *fpr, because remainders have a whole number of bits. */
static bly_status scalable_cuckoo_plan_level(const blyi_level_request *w, double *fpr,
                                             bly_geometry *out) {
    double floor = blyi_hash_floor((double)w->keys, w->hash_bits);
    if (!(*fpr >= 0x1p-40))
        return BLY_ERATE;
    if (floor > *fpr / 10)
        return BLY_EWEAKHASH;
    bly_status status = w->last ? blyi_cuckoo_plan_next_level(w->last, w->keys, *fpr - floor, out)
                                : blyi_table_plan(BLY_CUCKOO, w->keys, *fpr - floor, out);
    if (status == BLY_OK)
        *fpr = blyi_table_rate(out, (double)w->keys) + floor;
    return status;
}

static const blyi_level_rules scalable_cuckoo_level_rules = {
    .accepts_level = scalable_cuckoo_accepts_level,
    .levels_are_consistent = scalable_cuckoo_levels_are_consistent,
    .update_totals = blyi_levels_sum_counts,
    .plan_level = scalable_cuckoo_plan_level,
    .share_rate = scalable_cuckoo_share_rate,
    .levels_are_public = true,
};

static const blyi_ops scalable_cuckoo_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_MAP | BLY_CAN_REMOVE | BLY_CAN_COUNT |
                    BLY_HAS_LEVELS | BLY_HAS_SLOTS | BLY_LIMITS_COPIES,
    .create = scalable_cuckoo_create,
    .level_rules = &scalable_cuckoo_level_rules,
    .single_level = scalable_cuckoo_single_level,
    .prefetch = blyi_levels_prefetch,
    .try_add_many = scalable_cuckoo_add_many,
    .contains_many = blyi_levels_contains_many,
    .remove_one = scalable_cuckoo_remove_one,
    .count_copies = scalable_cuckoo_count_copies,
    .clear = blyi_levels_clear,
    .fill_stats = blyi_levels_stats,
    .union_with = scalable_cuckoo_union,
    .is_compatible = scalable_cuckoo_compatible,
    .any_size = true,
    .is_equal = blyi_levels_equal,
};

/* Checks the growth factor, which must be a power of two and not 1, and the number of levels. */
static bly_status scalable_cuckoo_check(const bly_geometry *g) {
    if (!blyi_growth_is_valid(g->detail) || g->detail == 1 || g->detail & (g->detail - 1))
        return BLY_EGEOMETRY;
    return blyi_levels_geometry_check(g, 1, BLYI_MAX_LEVELS);
}

static const blyi_planner scalable_cuckoo_planner = BLYI_LEVELS_PLANNER(scalable_cuckoo_check);

const blyi_kind blyi_kind_scalable_cuckoo = {
    .code = BLY_SCALABLE_CUCKOO,
    .name = "scalable-cuckoo",
    .meaning = "a list of fingerprint tables that grows with its keys; keys can be removed",
    .reason = "keys can be removed, and it grows by adding levels, so no add has to wait for a "
              "rehash; a lookup reads two cache lines per level",
    .hashes_name = "levels",
    .describe_size = blyi_describe_levels,
    .describe_rest = blyi_describe_nothing,
    .meets = BLY_NEED_GROW,
    .spec_fields = BLYI_SPEC_LEVELS,
    .refusals = {[BLY_OP_SUBTRACT] =
                     "an entry in an older level does not identify the entry of the same key in a "
                     "newer one; remove the keys instead"},
    .planner = &scalable_cuckoo_planner,
    .ops = &scalable_cuckoo_ops,
};
