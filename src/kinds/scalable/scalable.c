/* The scalable Bloom filter: a filter that grows.
 *
 * The idea (Almeida, Baquero, Preguica and Hutchison 2007): when a filter is full, a larger one is
 * created beside it. Each of them is a level. A key is present when any level contains it, so a
 * lookup tests all levels, and an add tests all of them and then adds to the last one. False
 * positives add up: level i must have an FPR p_i such that the sum over all possible levels stays
 * within the requested FPR p.
 *
 *   capacities   n, g n, g^2 n, ...      with g = 2 unless another factor is requested
 *   FPRs         p_0 = share * p,   p_i = (p - p_0 - ... - p_(i-1)) * (1 - r)
 *
 * with r = 0.85. (A factor of 1 means levels of equal capacity. After sixteen of them the factor
 * becomes 2, because a lookup tests every level and a filter can have at most 48.) The remaining
 * part of p shrinks by r with each level and is never used up. With the default share, 1 - r, this
 * is the series p (1-r) r^i. A level's capacity and FPR are in its header, so the next level
 * follows from the existing ones, and a filter that was loaded from a file grows as if it had never
 * been saved.
 *
 * The trap is to start the series at p, as if the first level could use the whole FPR: the sum is
 * then p / (1 - r), twice the requested FPR for r = 1/2 and five times for r = 0.8. Widely used
 * implementations do so, with tests that allow twice the FPR.
 *
 * The choice of r. A small r makes late levels expensive (each halving of an FPR costs 1.44 bits
 * per key), an r close to 1 makes the first level expensive. Grown from n = 1000 at p = 1% to a
 * million and to a billion keys, as multiples of the space of a classic filter planned for the
 * final number: 2.35 and 3.86 for r = 1/2, 1.74 and 2.22 for 0.8, 1.69 and 2.05 for 0.85, 1.68 and
 * 1.91 for 0.9. (Computed for classic levels; blocked ones take a little more.)
 *
 * Levels are split512, one cache line per key, unless bb2x512, two lines, needs less than 1/1.15 of
 * the space. That is so for FPRs below 3e-5. (Where the first level has taken half of the FPR or
 * more, the later ones have lower FPRs. For them the limit is 1/1.1, which is reached at 2e-4.)
 * Every level uses the same hash, computed once. Batches prefetch the lines of all levels. Then the
 * levels are tested, beginning with the newest, which has about half of the keys. Each level is
 * tested only for the keys that no newer level contains. An add tests all levels but the last in
 * this way. The last level's own add then reports which of the remaining keys were new.
 *
 * In a file the levels follow one another, oldest first, each with its own header.
 */
#include "filter/kind.h"
#include "filter/level_growth.h"
#include "filter/levels.h"

#include <bloomery/filter.h>
#include <string.h>

/* ---- create ---------------------------------------------------------------------------------- */

static bly_status scalable_create(const bly_spec *spec, bly_filter **out) {
    return blyi_levels_create(spec, spec->scalable.growth, out);
}

/* ---- adds ------------------------------------------------------------------------------------ */

/* blyi_ops.single_level: the only level, if the filter has not grown and n more keys fit; else
 * NULL. So until a filter grows, a batch takes as long as in a plain filter. */
static bly_filter *scalable_single_level(const bly_filter *f, size_t n) {
    return f->levels->n == 1 && n <= blyi_level_room(blyi_newest_level(f)) ? blyi_newest_level(f)
                                                                           : NULL;
}

/* Adds n <= BLYI_BATCH_GROUP keys, for which the last level must have capacity. Returns the number
 * of new keys. */
static size_t scalable_add_group(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    blyi_absent fresh;
    uint8_t is_new[BLYI_BATCH_GROUP];
    bly_filter *last = blyi_newest_level(f);
    blyi_levels_find_absent(f, f->levels->n - 1, h, n, &fresh);
    size_t count = last->ops->add_many(last, fresh.h, fresh.n, is_new);
    last->items += count;                 /* no overflow: within its capacity */
    f->items = blyi_sum(f->items, count); /* saturates, as blyi_levels_consistent requires */
    if (added) {
        memset(added, 0, n);
        for (size_t i = 0; i < fresh.n; i++)
            added[fresh.from[i]] = is_new[i];
    }
    return count;
}

/* Skips the keys that are present, up to the first new one. Returns how many were skipped. */
static size_t scalable_skip_known(const bly_filter *f, const bly_hash *h, size_t n,
                                  uint8_t *added) {
    blyi_absent fresh;
    blyi_levels_find_absent(f, f->levels->n, h, n, &fresh);
    size_t known = fresh.n > 0 ? fresh.from[0] : n;
    if (added)
        memset(added, 0, known);
    return known;
}

static bly_status scalable_add_groups(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                      bly_batch_result *sum) {
    for (size_t done = 0, some; done < n; done += some) {
        uint64_t room = blyi_level_room(blyi_newest_level(f));
        uint8_t *to = added ? added + done : NULL;
        some = n - done < BLYI_BATCH_GROUP ? n - done : BLYI_BATCH_GROUP;
        if (room > 0) {
            some = some < room ? some : (size_t)room;
            sum->changed += scalable_add_group(f, h + done, some, to);
        } else { /* full, but only a new key needs another level */
            size_t known = scalable_skip_known(f, h + done, some, to);
            bly_status status = known < some ? blyi_levels_grow(f) : BLY_OK;
            some = known;
            if (status) {
                sum->done += known;
                return status;
            }
        }
        sum->done += some;
    }
    return BLY_OK;
}

/* Adds a single key to a filter that has not grown directly to its block, because servers mostly
 * add keys one at a time. All other batches take the general path. */
static bly_status scalable_try_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                        bly_batch_result *sum) {
    bly_filter *level = n == 1 ? scalable_single_level(f, 1) : NULL;
    if (!level || !level->add_block)
        return scalable_add_groups(f, h, n, added, sum);
    blyi_block_probe probe =
        blyi_block_probe_of(h[0], level->geometry.size, level->ops->block_shift);
    bool is_new = level->add_block(level->body + probe.at, probe.bits, level->geometry.hashes);
    f->items = level->items += is_new;
    if (added)
        *added = is_new;
    sum->done++;
    sum->changed += is_new;
    return BLY_OK;
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* A level must be a filter of plain bits. The size of the next level is computed from this level's
 * capacity, so the capacity must not exceed the number of bits. */
static bool scalable_accepts_level(const blyi_shape *all, unsigned i, const blyi_shape *level) {
    (void)all;
    (void)i;
    bly_kind kind = level->geometry.kind;
    return blyi_kind_is_bits(kind) && !level->approximate &&
           level->capacity <= bly_plan_bits(&level->geometry);
}

/* The maximum space for which split512 is chosen, as a multiple of what bb2x512 needs. The second
 * limit is for later levels when the first one has taken most of the FPR: their FPRs are so low
 * that the difference in space matters more. */
#define SCALABLE_MAX_SPACE               1.15
#define SCALABLE_MAX_SPACE_WHEN_RESERVED 1.1

static bly_status scalable_plan_level(const blyi_level_request *w, double *fpr, bly_geometry *out) {
    const double max_space =
        w->last && w->reserved ? SCALABLE_MAX_SPACE_WHEN_RESERVED : SCALABLE_MAX_SPACE;
    bly_geometry fast;
    bly_status status = bly_plan(BLY_BB2X512, w->keys, *fpr, 0, w->hash_bits, out);
    if (status == BLY_OK &&
        bly_plan(BLY_SPLIT512, w->keys, *fpr, 0, w->hash_bits, &fast) == BLY_OK &&
        (double)bly_plan_bytes(&fast) <= max_space * (double)bly_plan_bytes(out))
        *out = fast;
    return status;
}

static const blyi_level_rules scalable_level_rules = {
    .accepts_level = scalable_accepts_level,
    .levels_are_consistent = blyi_levels_consistent,
    .update_totals = blyi_levels_sum_counts,
    .plan_level = scalable_plan_level,
    .levels_are_public = true,
};

/* ---- descriptor ------------------------------------------------------------------------------ */

static const blyi_ops scalable_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_MAP | BLY_HAS_LEVELS,
    .create = scalable_create,
    .level_rules = &scalable_level_rules,
    .single_level = scalable_single_level,
    .prefetch = blyi_levels_prefetch,
    .try_add_many = scalable_try_add_many,
    .contains_many = blyi_levels_contains_many,
    .clear = blyi_levels_clear,
    .fill_stats = blyi_levels_stats,
    .union_with = blyi_levels_union,
    .is_compatible = blyi_levels_compatible,
    .any_size = true,
    .is_equal = blyi_levels_equal,
};

static bly_status scalable_check(const bly_geometry *g) {
    if (!blyi_growth_is_valid(g->detail))
        return BLY_EGEOMETRY;
    return blyi_levels_geometry_check(g, 1, BLYI_MAX_LEVELS);
}

static const blyi_planner scalable_planner = BLYI_LEVELS_PLANNER(scalable_check);

const blyi_kind blyi_kind_scalable = {
    .code = BLY_SCALABLE,
    .name = "scalable",
    .meaning = "a list of filters that grows with its keys",
    .reason =
        "grows with its keys and keeps its rate, but takes more space, and a lookup reads one "
        "or two cache lines per level",
    .hashes_name = "levels",
    .describe_size = blyi_describe_levels,
    .describe_rest = blyi_describe_nothing,
    .meets = BLY_NEED_GROW,
    .spec_fields = BLYI_SPEC_LEVELS,
    .planner = &scalable_planner,
    .ops = &scalable_ops,
};
