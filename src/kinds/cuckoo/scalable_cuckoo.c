/* The scalable cuckoo filter: a list of fingerprint tables from which keys can be removed.
 *
 * cuckoo.c and table.h explain a table, scalable.c lists of levels and their rates. Putting the two
 * together is not new, and what is usually made of it loses keys. A remove looks for the key in one
 * table after the other and takes out the first entry that matches. Say x is stored in table A, y
 * in table B, and x and y happen to look alike in B but not in A. Removing x takes y's entry out of
 * B. x's own entry stays in A, where it is none of y's; so y is lost.
 *
 * Two rules prevent that.
 *
 *   1. Every level is a refinement of all older ones: keys of one class in it are of one class in
 *      each of them.
 *   2. A remove takes the entry from the newest level that has one.
 *
 * Why they do. Let every copy of a key own an entry, in some level, of its class there; adding
 * gives it one. Claim: after a remove of x, of which there is a copy, each copy left still can own
 * one. Let x own an entry e in level a, and let the remove take an entry e' in level b. By rule 2,
 * b is a or newer, for e was there to be found. If e' is not e, it is owned by a copy of some y,
 * and in b x and y are of one class, that of e'. By rule 1 they are of one class in a. So e will do
 * for y: it owns e from now on, x owns nothing, and all others own what they did. Hence no key is
 * ever lost. The same argument says that an entry may be moved to an older level: whoever owned it
 * owns it there.
 *
 * How refinement comes about. The class of a key x, taken as a number in [0, 1), in a table of m
 * buckets and remainders of f bits is floor(x m 2^f). Let m 2^f grow by powers of two, by a factor
 * of 2 at least: then the class in an older table is that in the newer one without its last bits.
 * One detail: where the core of a remainder is 0, its lowest bit is set, so that two numbers become
 * one class. They differ in the lowest bit alone, and that is among those left out. (Tables of one
 * shape refine each other; there are such after a union.) And x must be the same number: a table
 * with m 2^f >= 2^56 takes more bits of the hash into account than others do (table.h), and
 * rounding them off may round the other way. So a list stays of the sort that its first level is,
 * and is full when it cannot.
 *
 * Sizes: m_0 as a cuckoo filter for n keys has them, and the level for n g^i keys gets the least of
 * m_0, 2 m_0, 4 m_0, ... that hold so many, mostly m_0 g^i; which is why g is a power of two.
 * Rates: the series of scalable.c, but what a level's whole bits really give is what counts as
 * used, which is up to half less than its share; so later levels have more to share. Remainders are
 * the shortest that keep the rate and are a refinement.
 *
 * In a file the levels follow one another, oldest first, each a cuckoo filter with a header of its
 * own.
 */
#include "filter/level_growth.h"
#include "filter/levels.h"
#include "filter/rate.h"
#include "kinds/cuckoo/chain.h"

#include <bloomery/scalable_cuckoo.h>

enum {
    ALL = 10, /* tenths of a level's capacity: every place may be used, */
    MAX = 9,  /* and an older level is worth trying when fewer than so many are */
    MIN = 8,  /* less than 1/8 of the slots in use: copies fill the buckets, not keys */
};

/* ---- create ---------------------------------------------------------------------------------- */

static bly_status create(const bly_spec *spec, bly_filter **out) {
    uint32_t growth = BLYI_DEFAULT_GROWTH;
    while (growth < spec->growth && growth < BLYI_MAX_GROWTH)
        growth *= 2;
    return blyi_levels_create(spec, growth, out);
}

bly_status bly_scalable_cuckoo_create(uint64_t first_keys, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_SCALABLE_CUCKOO, first_keys, fpr);
    return bly_filter_create(&spec, out);
}

/* ---- add ------------------------------------------------------------------------------------- */

/* Whether less than so many tenths of a level's capacity are in use, or nothing. */
static bool has_room(const bly_filter *level, unsigned tenths) {
    uint64_t most = level->capacity / 10 * tenths + level->capacity % 10 * tenths / 10;
    return level->items < most || level->items == 0;
}

bool blyi_chain_store(bly_filter *f, unsigned end, unsigned tenths, const blyi_table *of,
                      blyi_class c) {
    for (unsigned i = end; i-- > 0;) {
        bly_filter *level = f->levels->at[i];
        blyi_table t = blyi_table_of(level);
        if (has_room(level, tenths) && blyi_table_insert(&t, blyi_class_coarse(&t, of, c))) {
            level->items++;
            return true;
        }
    }
    return false;
}

/* Without counting it in the whole. */
static bly_status store(bly_filter *f, bly_hash h) {
    const unsigned n = f->levels->n;
    const bly_filter *last = blyi_newest_level(f);
    blyi_table t = blyi_table_of(last);
    blyi_class c = blyi_class_of(&t, h);
    if (has_room(last, ALL) && blyi_table_insert(&t, c)) {
        blyi_newest_level(f)->items++;
        return BLY_OK;
    }
    if (blyi_chain_store(f, n - 1, MAX, &t, c))
        return BLY_OK;
    if (has_room(last, ALL) && last->items < blyi_table_slots(&t) / MIN)
        return BLY_EFULL;
    bly_status status = blyi_levels_grow(f);
    if (status)
        return status;
    t = blyi_table_of(blyi_newest_level(f));
    (void)blyi_table_insert(&t, blyi_class_of(&t, h)); /* into an empty table */
    blyi_newest_level(f)->items++;
    return BLY_OK;
}

static bly_status put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, bly_tally *sum) {
    for (size_t i = 0; i < n; i++) {
        bool is_new = blyi_levels_contains_many(f, &h[i], 1, NULL) == 0;
        bly_status status = store(f, h[i]);
        if (status)
            return status;
        f->items++;
        sum->done++;
        sum->fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    return BLY_OK;
}

/* ---- ask and remove -------------------------------------------------------------------------- */

/* As long as a filter has not grown, a query costs what its first level costs. */
static bly_filter *sole(const bly_filter *f, size_t n) {
    return f->levels->n == 1 && n == 0 ? f->levels->at[0] : NULL;
}

static uint64_t copies(const bly_filter *f, bly_hash h) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < f->levels->n; i++)
        sum += blyi_entries_copies(f->levels->at[i], h);
    return sum;
}

/* The newest levels are given up when they are empty, but not as long as the next add would open
 * one again. */
static void shrink(bly_filter *f) {
    unsigned n = f->levels->n;
    while (n > 1 && f->levels->at[n - 1]->items == 0 && has_room(f->levels->at[n - 2], MAX))
        n--;
    if (n < f->levels->n)
        blyi_levels_truncate(f, n);
}

static bly_status take(bly_filter *f, bly_hash h, bool *removed) {
    bly_status status = BLY_OK;
    *removed = false;
    for (unsigned i = f->levels->n; i-- > 0 && status == BLY_OK && !*removed;)
        status = blyi_entries_take(f->levels->at[i], h, removed);
    if (*removed) {
        blyi_filter_subtract_count(f, 1);
        shrink(f);
    }
    return status;
}

/* ---- compact --------------------------------------------------------------------------------- */

uint64_t blyi_chain_drain(bly_filter *f, unsigned i, uint64_t *slot, uint64_t end) {
    bly_filter *level = f->levels->at[i];
    const blyi_table t = blyi_table_of(level);
    uint64_t moved = 0;
    for (; *slot < end; ++*slot) {
        blyi_class c;
        if (!blyi_slot_class(&t, *slot / BLYI_BUCKET, *slot % BLYI_BUCKET, &c) ||
            !blyi_chain_store(f, i, ALL, &t, c))
            continue;
        blyi_slot_set(t.body, blyi_table_width(&t), *slot, 0);
        level->items--;
        moved++;
    }
    return moved;
}

/* Whether the older levels have room for all of the newest. */
static bool can_be_emptied(const bly_filter *f) {
    uint64_t room = 0;
    for (unsigned i = 0; i + 1 < f->levels->n; i++)
        room = blyi_sum(room, blyi_level_room(f->levels->at[i]));
    return f->levels->n > 1 && blyi_newest_level(f)->items <= room;
}

/* A cursor is the number of levels and a slot of the newest, so that one from before a level came
 * or went starts anew. */
enum { SLOT_BITS = 56 };

bly_status bly_scalable_cuckoo_compact(bly_filter *f, uint64_t slots, uint64_t *cursor,
                                       uint64_t *moved) {
    const uint64_t below = ((uint64_t)1 << SLOT_BITS) - 1;
    uint64_t left = slots ? slots : UINT64_MAX, slot = *cursor & below, sum = 0;
    if (f->geometry.kind != BLY_SCALABLE_CUCKOO)
        return BLY_EUNSUPPORTED;
    bool more = true;
    if (*cursor >> SLOT_BITS != f->levels->n)
        slot = 0;
    while (more && left > 0) {
        const uint64_t all = blyi_newest_level(f)->geometry.size * BLYI_BUCKET;
        more = slot != 0 || can_be_emptied(f);
        if (!more)
            break;
        uint64_t end = slot < all && all - slot > left ? slot + left : all, from = slot;
        sum += blyi_chain_drain(f, f->levels->n - 1, &slot, end);
        left -= slot > from ? slot - from : 0;
        if (slot < all)
            break;
        slot = 0;
        more = f->levels->n > 1 && blyi_newest_level(f)->items == 0;
        if (more)
            blyi_levels_truncate(f, f->levels->n - 1);
    }
    *cursor = more ? (uint64_t)f->levels->n << SLOT_BITS | slot : 0;
    if (moved)
        *moved = sum;
    return BLY_OK;
}

/* ---- the whole and its levels ---------------------------------------------------------------- */

bool blyi_refines(const bly_geometry *fine, const bly_geometry *coarse) {
    unsigned shift = 0;
    while (coarse->size << shift < fine->size)
        shift++;
    return coarse->size << shift == fine->size && fine->hashes + shift > coarse->hashes &&
           blyi_table_is_wide(fine) == blyi_table_is_wide(coarse);
}

bool blyi_chain_fits(const blyi_shape *newer, const blyi_shape *older) {
    if (blyi_tables_share_rate(&newer->geometry, &older->geometry))
        return newer->capacity == older->capacity && newer->fpr == older->fpr;
    return blyi_refines(&newer->geometry, &older->geometry);
}

static bool admits(const blyi_shape *all, unsigned i, const blyi_shape *level) {
    (void)all;
    (void)i;
    return level->geometry.kind == BLY_CUCKOO && !level->approximate &&
           level->capacity <= level->geometry.size * BLYI_BUCKET;
}

static bool adds_up(const blyi_shape *all, const blyi_shape *const *levels, unsigned n) {
    for (unsigned i = 1; i < n; i++) {
        if (!blyi_chain_fits(levels[i], levels[i - 1]))
            return false;
    }
    return blyi_levels_consistent(all, levels, n);
}

/* Remainders have whole bits, so a table's rate is below the one it may have. */
static bly_status scalable_cuckoo_plan_level(const blyi_level_request *w, double *fpr,
                                             bly_geometry *out) {
    double floor = blyi_hash_floor((double)w->keys, w->hash_bits);
    if (!(*fpr >= 0x1p-40))
        return BLY_ERATE;
    if (floor > *fpr / 10)
        return BLY_EWEAKHASH;
    bly_status status = w->last ? blyi_chain_plan(w->last, w->keys, *fpr - floor, out)
                                : blyi_table_plan(BLY_CUCKOO, w->keys, *fpr - floor, out);
    if (status == BLY_OK)
        *fpr = blyi_table_rate(out, (double)w->keys) + floor;
    return status;
}

static const blyi_level_rules whole = {
    .accepts_level = admits,
    .levels_are_consistent = adds_up,
    .update_totals = blyi_levels_sum_counts,
    .plan_level = scalable_cuckoo_plan_level,
    .share_rate = blyi_tables_share_rate,
    .levels_are_public = true,
};

static const blyi_ops scalable_cuckoo_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_MAP | BLY_CAN_REMOVE | BLY_TELLS_COPIES |
                    BLY_HAS_LEVELS | BLY_HAS_SLOTS | BLY_LIMITS_COPIES,
    .create = create,
    .level_rules = &whole,
    .single_level = sole,
    .prefetch = blyi_levels_prefetch,
    .try_add_many = put,
    .contains_many = blyi_levels_contains_many,
    .remove_one = take,
    .count_copies = copies,
    .clear = blyi_levels_clear,
    .fill_stats = blyi_levels_stats,
    .union_with = blyi_chain_unite,
    .is_compatible = blyi_chain_compatible,
    .any_size = true,
    .is_equal = blyi_levels_equal,
};

/* The factor is a power of two. */
static bly_status check_scalable_cuckoo(const bly_geometry *g) {
    if (!blyi_growth_is_valid(g->detail) || g->detail == 1 || g->detail & (g->detail - 1))
        return BLY_EGEOMETRY;
    return blyi_levels_geometry_check(g, 1, BLYI_MAX_LEVELS);
}

static const blyi_planner scalable_cuckoo_planner = BLYI_LEVELS_PLANNER(check_scalable_cuckoo);

const blyi_kind blyi_kind_scalable_cuckoo = {
    .code = BLY_SCALABLE_CUCKOO,
    .name = "scalable-cuckoo",
    .meaning = "a list of fingerprint tables that grows with its keys; keys can be removed",
    .reason = "keys can be removed, and it grows without end by opening levels, so that no add has "
              "to wait; two cache lines for each level",
    .hashes_name = "levels",
    .describe_size = blyi_describe_levels,
    .describe_rest = blyi_describe_nothing,
    .meets = BLY_NEED_GROW,
    .spec_fields = BLYI_SPEC_LEVELS,
    .refusals = {[BLY_OP_SUBTRACT] =
                     "what a key leaves in one level does not tell which entry of a newer one is "
                     "its own; remove the keys themselves"},
    .planner = &scalable_cuckoo_planner,
    .ops = &scalable_cuckoo_ops,
};
