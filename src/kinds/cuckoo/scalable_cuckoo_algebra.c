/* The union of two lists of tables: one list of all of them.
 *
 * Filters that were created alike have levels of the same shapes, so that sorted by the number of
 * their classes they are a list in which each refines those before it or has their shape. A level
 * that fits into its twin is emptied into it. What does not stays a level of its own: entries
 * cannot be moved to a newer level, whose classes are finer than what they tell.
 */
#include "kinds/cuckoo/chain.h"

/* Whether two levels can be in one list. */
static bool go_together(const bly_filter *a, const bly_filter *b) {
    const blyi_shape sa = blyi_filter_shape(a), sb = blyi_filter_shape(b);
    return blyi_chain_fits(&sa, &sb) || blyi_chain_fits(&sb, &sa);
}

bool blyi_chain_compatible(const bly_filter *a, const bly_filter *b) {
    const blyi_levels *la = a->levels, *lb = b->levels;
    bool same =
        a->fpr == b->fpr && blyi_tables_share_rate(&la->at[0]->geometry, &lb->at[0]->geometry);
    for (unsigned i = 0; i < la->n; i++)
        for (unsigned j = 0; same && j < lb->n; j++)
            same = go_together(la->at[i], lb->at[j]);
    return same;
}

static bool has_shape(const bly_filter *f, const bly_filter *level) {
    bool has = false;
    for (unsigned i = 0; !has && i < f->levels->n; i++)
        has = blyi_tables_share_rate(&f->levels->at[i]->geometry, &level->geometry);
    return has;
}

/* Empty levels of shapes that dst has are passed over. */
static unsigned choose(const bly_filter *dst, const bly_filter *src,
                       const bly_filter *out[BLYI_MAX_LEVELS]) {
    unsigned n = 0;
    for (unsigned i = 0; i < src->levels->n; i++) {
        const bly_filter *level = src->levels->at[i];
        if (level->items > 0 || !has_shape(dst, level))
            out[n++] = level;
    }
    return n;
}

/* Takes the level behind all others to its place. */
static void sort_in(blyi_levels *l) {
    bly_filter *level = l->at[l->n - 1];
    unsigned i = l->n - 1;
    for (; i > 0 && blyi_refines(&l->at[i - 1]->geometry, &level->geometry); i--)
        l->at[i] = l->at[i - 1];
    l->at[i] = level;
}

/* Takes out a level that has no entries. */
static void drop(bly_filter *f, unsigned i) {
    blyi_levels *l = f->levels;
    bly_filter *level = l->at[i];
    for (; i + 1 < l->n; i++)
        l->at[i] = l->at[i + 1];
    l->at[i] = level;
    blyi_levels_truncate(f, i);
}

static void join_twins(bly_filter *f) {
    for (unsigned i = f->levels->n; --i > 0;) {
        const bly_filter *level = f->levels->at[i], *twin = f->levels->at[i - 1];
        uint64_t slot = 0;
        if (!blyi_tables_share_rate(&level->geometry, &twin->geometry) ||
            level->items > blyi_level_room(twin))
            continue;
        (void)blyi_chain_drain(f, i, &slot, level->geometry.size * BLYI_BUCKET);
        if (level->items == 0)
            drop(f, i);
    }
}

bly_status blyi_chain_unite(bly_filter *dst, const bly_filter *src) {
    const bly_filter *from[BLYI_MAX_LEVELS];
    bly_geometry grown = dst->geometry;
    const unsigned had = dst->levels->n, n = choose(dst, src, from);
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
        sort_in(dst->levels);
    }
    join_twins(dst);
    blyi_levels_recompute(dst);
    return BLY_OK;
}
