/* The scalable Bloom filter: a filter that grows.
 *
 * The idea (Almeida, Baquero, Preguica and Hutchison 2007): when a filter is full, put a larger one
 * beside it. A key is present when any of these levels has it, so a query asks them all, and an
 * add asks them all and then goes to the last one. Wrong answers add up: level i must have a rate
 * p_i such that the sum over all levels there can ever be stays within the rate p that was asked.
 *
 *   capacities   n, g n, g^2 n, ...      with g = 2 unless another factor was asked
 *   rates        p_0 = share * p,   p_i = (p - p_0 - ... - p_(i-1)) * (1 - r)
 *
 * with r = 0.85. (A factor of 1 means levels alike. It is good for sixteen of them and then counts
 * as 2, since a query asks every level, and there may be 48.) What is left of p shrinks by r with
 * each level and is never used up. With the default share, 1 - r, this is the series p (1-r) r^i. A
 * level's capacity and rate are in its header, so what the next one must be follows from those
 * there are, and a filter that comes out of a file grows on as if it had never been away.
 *
 * The trap is to start the series at p, as if the first level had the whole rate to itself: the sum
 * is then p / (1 - r), twice the rate asked for r = 1/2 and five times for r = 0.8. Widely used
 * implementations do so, behind tests that allow twice the rate.
 *
 * The choice of r. A small one makes late levels expensive (each halving of a rate costs 1.44 bits
 * per key), one close to 1 the first. Grown from n = 1000 at p = 1% to a million and to a billion
 * keys, as multiples of the space of a classic filter that had known the number: 2.35 and 3.86 for
 * r = 1/2, 1.74 and 2.22 for 0.8, 1.69 and 2.05 for 0.85, 1.68 and 1.91 for 0.9. (Computed for
 * classic levels; blocked ones take a little more.)
 *
 * Levels are split512, one cache line per key, unless bb2x512, two lines, needs less than 1/1.15 of
 * the space: so it is for rates below 3e-5. (Less than 1/1.1 where the first level has taken half
 * of the rate or more: later levels are then finer, below 2e-4 from the first on.) Every level sees
 * the same hash, computed once. Batches request the lines of all levels ahead; then the levels are
 * asked, newest first, since that holds half the keys, and each only about the keys that no newer
 * one has. An add asks all but the last level so, and leaves it to the last one's own add to say
 * what was new.
 *
 * In a file the levels follow one another, oldest first, each with a header of its own.
 */
#include "filter/kind.h"
#include "filter/level_growth.h"
#include "filter/levels.h"

#include <bloomery/scalable.h>
#include <string.h>

/* ---- create ---------------------------------------------------------------------------------- */

static bly_status create(const bly_spec *spec, bly_filter **out) {
    return blyi_levels_create(spec, spec->growth, out);
}

bly_status bly_scalable_create(uint64_t first_keys, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_SCALABLE, first_keys, fpr);
    return bly_filter_create(&spec, out);
}

/* ---- use ------------------------------------------------------------------------------------- */

/* As long as a filter has not grown, it costs what its first level costs. */
static bly_filter *sole(const bly_filter *f, size_t n) {
    return f->levels->n == 1 && n <= blyi_level_room(blyi_newest_level(f)) ? blyi_newest_level(f)
                                                                           : NULL;
}

/* Adds at most a group, which the last level has room for. Returns how many were new. */
static size_t put_some(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    blyi_absent fresh;
    uint8_t is_new[BLYI_BATCH_GROUP];
    bly_filter *last = blyi_newest_level(f);
    blyi_levels_find_absent(f, f->levels->n - 1, h, n, &fresh);
    size_t count = last->ops->add_many(last, fresh.h, fresh.n, is_new);
    last->items += count;                 /* it had room for them */
    f->items = blyi_sum(f->items, count); /* as blyi_levels_consistent adds them */
    if (added) {
        memset(added, 0, n);
        for (size_t i = 0; i < fresh.n; i++)
            added[fresh.from[i]] = is_new[i];
    }
    return count;
}

/* Passes over the keys that are present, up to the first new one. Returns how many. */
static size_t put_known(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    blyi_absent fresh;
    blyi_levels_find_absent(f, f->levels->n, h, n, &fresh);
    size_t known = fresh.n > 0 ? fresh.from[0] : n;
    if (added)
        memset(added, 0, known);
    return known;
}

static bly_status put_all(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                          bly_tally *sum) {
    for (size_t done = 0, some; done < n; done += some) {
        uint64_t room = blyi_level_room(blyi_newest_level(f));
        uint8_t *to = added ? added + done : NULL;
        some = n - done < BLYI_BATCH_GROUP ? n - done : BLYI_BATCH_GROUP;
        if (room > 0) {
            some = some < room ? some : (size_t)room;
            sum->fresh += put_some(f, h + done, some, to);
        } else { /* full, but only a key that is new needs another level */
            size_t known = put_known(f, h + done, some, to);
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

/* A key by itself, in a filter that has not grown, goes straight to its place: that is what a
 * server adds most of the time. */
static bly_status put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, bly_tally *sum) {
    bly_filter *only = n == 1 ? sole(f, 1) : NULL;
    if (!only || !only->add_block)
        return put_all(f, h, n, added, sum);
    blyi_block_probe spot = blyi_block_probe_of(h[0], only->geometry.size, only->ops->block_shift);
    bool is_new = only->add_block(only->body + spot.at, spot.bits, only->geometry.hashes);
    f->items = only->items += is_new;
    if (added)
        *added = is_new;
    sum->done++;
    sum->fresh += is_new;
    return BLY_OK;
}

/* ---- the whole and its levels ---------------------------------------------------------------- */

/* A level must be a filter of plain bits. How large the next one will be follows from its capacity,
 * so that must be one that its bits can bear. */
static bool admits(const blyi_shape *all, unsigned i, const blyi_shape *level) {
    (void)all;
    (void)i;
    bly_kind kind = level->geometry.kind;
    return blyi_kind_is_bits(kind) && !level->approximate &&
           level->capacity <= bly_plan_bits(&level->geometry);
}

/* What one line per key may cost, as a multiple of what two lines need. Where the first level has
 * taken most of the rate, the later ones have such low rates that the difference matters more. */
#define MAX_SPACE               1.15
#define MAX_SPACE_WHEN_RESERVED 1.1

static bly_status scalable_plan_level(const blyi_level_request *w, double *fpr, bly_geometry *out) {
    const double most = w->last && w->reserved ? MAX_SPACE_WHEN_RESERVED : MAX_SPACE;
    bly_geometry fast;
    bly_status status = bly_plan(BLY_BB2X512, w->keys, *fpr, 0, w->hash_bits, out);
    if (status == BLY_OK &&
        bly_plan(BLY_SPLIT512, w->keys, *fpr, 0, w->hash_bits, &fast) == BLY_OK &&
        (double)bly_plan_bytes(&fast) <= most * (double)bly_plan_bytes(out))
        *out = fast;
    return status;
}

static const blyi_level_rules whole = {
    .accepts_level = admits,
    .levels_are_consistent = blyi_levels_consistent,
    .update_totals = blyi_levels_sum_counts,
    .plan_level = scalable_plan_level,
    .levels_are_public = true,
};

static const blyi_ops scalable_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_MAP | BLY_HAS_LEVELS,
    .create = create,
    .level_rules = &whole,
    .single_level = sole,
    .prefetch = blyi_levels_prefetch,
    .try_add_many = put,
    .contains_many = blyi_levels_contains_many,
    .clear = blyi_levels_clear,
    .fill_stats = blyi_levels_stats,
    .union_with = blyi_levels_union,
    .is_compatible = blyi_levels_compatible,
    .any_size = true,
    .is_equal = blyi_levels_equal,
};

static bly_status check_geometry(const bly_geometry *g) {
    if (!blyi_growth_is_valid(g->detail))
        return BLY_EGEOMETRY;
    return blyi_levels_geometry_check(g, 1, BLYI_MAX_LEVELS);
}

static const blyi_planner scalable_planner = BLYI_LEVELS_PLANNER(check_geometry);

const blyi_kind blyi_kind_scalable = {
    .code = BLY_SCALABLE,
    .name = "scalable",
    .meaning = "a list of filters that grows with its keys",
    .reason = "grows as keys come and keeps its rate, at the price of space and of a cache line or "
              "two for each time it has grown",
    .hashes_name = "levels",
    .describe_size = blyi_describe_levels,
    .describe_rest = blyi_describe_nothing,
    .meets = BLY_NEED_GROW,
    .spec_fields = BLYI_SPEC_LEVELS,
    .planner = &scalable_planner,
    .ops = &scalable_ops,
};
