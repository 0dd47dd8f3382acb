/* The scalable Bloom filter: a filter that grows.
 *
 * The idea (Almeida, Baquero, Preguica and Hutchison 2007): when a filter is full, put a larger one
 * beside it. A key is present when any of these levels has it, so a query asks them all, and an
 * add asks them all and then goes to the last one. Wrong answers add up: level i must have a rate
 * p_i such that the sum over all levels there can ever be stays within the rate p that was asked.
 *
 *   capacities   n, 2n, 4n, ...
 *   rates        p_0 = share * p,   p_i = (p - p_0 - ... - p_(i-1)) * (1 - r)
 *
 * with r = 0.85. What is left of p shrinks by r with each level and is never used up. With the
 * default share, 1 - r, this is the series p (1-r) r^i. A level's capacity and rate are in its
 * header, so what the next one must be follows from those there are, and a filter that comes out
 * of a file grows on as if it had never been away.
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
 * the space: so it is for rates below 3e-5. Every level sees the same hash, computed once. Batches
 * request the lines of all levels ahead; then the levels are asked, newest first, since that holds
 * half the keys, and each only about the keys that no newer one has. An add asks all but the last
 * level so, and leaves it to the last one's own add to say what was new.
 *
 * In a file the levels follow one another, oldest first, each with a header of its own.
 */
#include "../core/planner.h"
#include "batch.h"
#include "growth.h"
#include "levels.h"

#include <bloomery/scalable.h>
#include <string.h>

/* Rates are sums of rounded numbers. */
#define SLACK 1e-9

/* ---- growth ---------------------------------------------------------------------------------- */

static bly_filter *newest(const bly_filter *f) {
    return f->levels->at[f->levels->n - 1];
}

/* How many more keys a level is made for. */
static uint64_t room_in(const bly_filter *level) {
    return level->items < level->capacity ? level->capacity - level->items : 0;
}

static bly_status open_level(bly_filter *f, uint64_t keys, double fpr, unsigned hash_bits) {
    blyi_shape shape = blyi_filter_shape(f);
    bly_geometry grown = f->geometry;
    bly_filter *level;
    shape.capacity = keys;
    shape.items = 0;
    shape.fpr = fpr;
    bly_status status = blyi_level_plan(keys, fpr, hash_bits, &shape.geometry);
    if (status)
        return status;
    grown.hashes++;
    grown.size += BLYI_LEVEL_HEADER + bly_plan_bytes(&shape.geometry);
    status = bly_plan_check(&grown);
    if (status == BLY_OK)
        status = blyi_filter_make(&shape, &f->alloc, NULL, &level);
    if (status == BLY_OK)
        blyi_levels_push(f, level);
    return status;
}

static bly_status grow(bly_filter *f) {
    uint64_t keys = newest(f)->capacity;
    double left = f->fpr;
    for (unsigned i = 0; i < f->levels->n; i++)
        left -= f->levels->at[i]->fpr;
    double rate = left * BLYI_NEXT_SHARE;
    if (f->levels->n == BLYI_MAX_LEVELS)
        return BLY_EFULL;
    bly_status status = open_level(f, 2 * keys, rate, f->hasher.bits);
    /* Too late to ask for a better hash: the level gets the size that its keys need without. */
    if (status == BLY_EWEAKHASH)
        status = open_level(f, 2 * keys, rate, 128);
    return status == BLY_ERATE ? BLY_EFULL : status;
}

/* ---- create ---------------------------------------------------------------------------------- */

static bly_status choose_hasher(const bly_spec *spec, bly_hasher *out) {
    if (spec->hasher.id != BLY_HASH_NONE) {
        *out = spec->hasher;
        return BLY_OK;
    }
    bool narrow = blyi_growth_hash_bits(spec->capacity, spec->fpr) == 64;
    return bly_hasher_init(out, narrow ? BLY_HASH_XXH3 : BLY_HASH_XXH3_128, spec->seed);
}

static bly_status check_spec(const bly_spec *spec, double share) {
    if (spec->geometry.size != 0)
        return BLY_EGEOMETRY;
    if (spec->geometry.options != 0 || !(share > 0 && share < 1))
        return BLY_EINVAL;
    if (!(spec->fpr >= 0x1p-40 && spec->fpr < 1))
        return BLY_ERATE;
    return spec->capacity == 0 ? BLY_ECOUNT : BLY_OK;
}

static bly_status create(const bly_spec *spec, bly_filter **out) {
    double share = spec->first_share != 0 ? spec->first_share : BLYI_FIRST_SHARE;
    blyi_shape shape = {
        .geometry = {.kind = BLY_SCALABLE},
        .fpr = spec->fpr,
        .sharing = spec->sharing,
    };
    bly_filter *f = NULL;
    bly_status status = check_spec(spec, share);
    if (status == BLY_OK)
        status = choose_hasher(spec, &shape.hasher);
    if (status == BLY_OK)
        status = blyi_filter_make(&shape, spec->allocator, NULL, &f);
    if (status == BLY_OK)
        status = open_level(f, spec->capacity, blyi_first_rate(spec->fpr, share),
                            spec->allow_weak_hash ? 128 : shape.hasher.bits);
    if (status == BLY_OK)
        *out = f;
    else
        bly_filter_destroy(f);
    return status;
}

bly_status bly_scalable_create(uint64_t first_keys, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_SCALABLE, first_keys, fpr);
    return bly_filter_create(&spec, out);
}

/* ---- use ------------------------------------------------------------------------------------- */

static void prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    for (unsigned i = f->levels->n; i-- > 0;)
        f->levels->at[i]->ops->prefetch(f->levels->at[i], h, n);
}

/* As long as a filter has not grown, it costs what its first level costs. */
static bly_filter *sole(const bly_filter *f, size_t n) {
    return f->levels->n == 1 && n <= room_in(newest(f)) ? newest(f) : NULL;
}

/* The hashes, at most a group, that none of the levels asked has. */
typedef struct absent {
    size_t n;
    bly_hash h[BLYI_GROUP];
    uint8_t from[BLYI_GROUP]; /* where they were among those asked about */
} absent;

/* Asks the oldest `levels` levels. A single key comes from a call of its own, not from a batch, so
 * nothing has been fetched for it yet: all levels' lines are, at once, instead of one by one. */
static void sift(const bly_filter *f, unsigned levels, const bly_hash *h, size_t n, absent *out) {
    if (n == 1)
        prefetch(f, h, 1);
    out->n = n;
    for (size_t i = 0; i < n; i++) {
        out->h[i] = h[i];
        out->from[i] = (uint8_t)i;
    }
    for (unsigned level = levels; level-- > 0 && out->n > 0;) {
        const bly_filter *l = f->levels->at[level];
        uint8_t found[BLYI_GROUP];
        if (l->ops->contains(l, out->h, out->n, found) == 0)
            continue;
        size_t kept = 0; /* without a branch: which are found is anyone's guess */
        for (size_t i = 0; i < out->n; i++) {
            out->h[kept] = out->h[i];
            out->from[kept] = out->from[i];
            kept += !found[i];
        }
        out->n = kept;
    }
}

static size_t contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    size_t hits = 0;
    for (size_t done = 0, some; done < n; done += some) {
        absent none;
        some = n - done < BLYI_GROUP ? n - done : BLYI_GROUP;
        sift(f, f->levels->n, h + done, some, &none);
        hits += some - none.n;
        if (!found)
            continue;
        memset(found + done, 1, some);
        for (size_t i = 0; i < none.n; i++)
            found[done + none.from[i]] = 0;
    }
    return hits;
}

/* Adds at most a group, which the last level has room for. Returns how many were new. */
static size_t put_some(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    absent fresh;
    uint8_t is_new[BLYI_GROUP];
    bly_filter *last = newest(f);
    sift(f, f->levels->n - 1, h, n, &fresh);
    size_t count = last->ops->add(last, fresh.h, fresh.n, is_new);
    last->items += count;
    f->items += count;
    if (added) {
        memset(added, 0, n);
        for (size_t i = 0; i < fresh.n; i++)
            added[fresh.from[i]] = is_new[i];
    }
    return count;
}

/* Passes over the keys that are present, up to the first new one. Returns how many. */
static size_t put_known(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    absent fresh;
    sift(f, f->levels->n, h, n, &fresh);
    size_t known = fresh.n > 0 ? fresh.from[0] : n;
    if (added)
        memset(added, 0, known);
    return known;
}

static bly_status put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, bly_tally *sum) {
    for (size_t done = 0, some; done < n; done += some) {
        uint64_t room = room_in(newest(f));
        uint8_t *to = added ? added + done : NULL;
        some = n - done < BLYI_GROUP ? n - done : BLYI_GROUP;
        if (room > 0) {
            some = some < room ? some : (size_t)room;
            sum->fresh += put_some(f, h + done, some, to);
        } else { /* full, but only a key that is new needs another level */
            size_t known = put_known(f, h + done, some, to);
            bly_status status = known < some ? grow(f) : BLY_OK;
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

static void clear(bly_filter *f) {
    bly_filter_clear(f->levels->at[0]);
    blyi_levels_cut(f, 1);
}

/* ---- the whole and its levels ---------------------------------------------------------------- */

/* A level must be a filter of plain bits. How large the next one will be follows from its capacity,
 * so that must be one that its bits can bear. */
static bool admits(const blyi_shape *all, unsigned i, const blyi_shape *level) {
    (void)all;
    (void)i;
    bly_kind kind = level->geometry.kind;
    return !blyi_kind_has_levels(kind) && !blyi_planner_of(kind) && !level->approximate &&
           level->capacity <= bly_plan_bits(&level->geometry);
}

static bool adds_up(const blyi_shape *all, const blyi_shape *const *levels, unsigned n) {
    uint64_t items = 0, capacity = 0;
    double rate = 0;
    for (unsigned i = 0; i < n; i++) {
        capacity = blyi_sum(capacity, levels[i]->capacity);
        items = blyi_sum(items, levels[i]->items);
        rate += levels[i]->fpr;
    }
    return capacity == all->capacity && items == all->items && rate <= all->fpr * (1 + SLACK) &&
           !all->approximate;
}

static void settle(bly_filter *f) {
    f->capacity = f->items = 0;
    for (unsigned i = 0; i < f->levels->n; i++) {
        f->capacity = blyi_sum(f->capacity, f->levels->at[i]->capacity);
        f->items = blyi_sum(f->items, f->levels->at[i]->items);
    }
}

static const blyi_whole whole = {
    .admits = admits,
    .adds_up = adds_up,
    .settle = settle,
    .shown = true,
};

const blyi_ops blyi_scalable_ops = {
    .kind = BLY_SCALABLE,
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_MAP,
    .create = create,
    .whole = &whole,
    .sole = sole,
    .prefetch = prefetch,
    .put = put,
    .contains = contains,
    .clear = clear,
    .stats = blyi_levels_stats,
    .unite = blyi_levels_union,
    .compatible = blyi_levels_compatible,
    .any_size = true,
    .any_detail = true,
    .equal = blyi_levels_equal,
};
