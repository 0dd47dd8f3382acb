/* What a filter of one kind costs: bytes, cache lines and rate.
 *
 * Given the number of keys and the rate, bly_plan determines the size of a filter that does not
 * grow. The growth of a filter that grows is simulated, level by level or doubling by doubling, by
 * the same rules as in real filters (level_growth.h, blyi_planner.plan_grown).
 *
 * If the memory is given, a search finds the largest number of keys or the lowest rate that fits.
 * Both are the same search: x is the number of keys, or 1 / rate, and a larger x takes more bytes.
 * So no kind needs formulas to solve for keys or rate. (There is one exception: a level of a
 * scalable filter is bb2x512 instead of split512 below a certain rate, and at that rate its size
 * drops by 13%. The result of the search fits nevertheless, but a lower rate beyond that step might
 * fit, too.)
 */
#include "filter/cost.h"
#include "filter/kind.h"
#include "filter/level_growth.h"
#include "filter/levels.h"
#include "filter/rate.h"

#include <math.h>

#define MIN_RATE   0x1p-40
#define WORST_RATE 0.5 /* the highest rate that a search for the rate tries */
#define MAX_KEYS   ((uint64_t)1 << 56)

static uint64_t min_u64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* ---- the needs ------------------------------------------------------------------------------- */

bool blyi_needs_contradict(uint32_t flags) {
    const uint32_t change = BLY_NEED_GROW | BLY_NEED_WINDOW | BLY_NEED_REMOVE;
    return (flags & BLY_NEED_STATIC) && (flags & change);
}

bly_status blyi_needs_check(const bly_needs *needs) {
    const uint32_t known = 2 * BLY_NEED_SPACE - 1;
    double p = needs->fpr, share = needs->first_share;
    if (needs->flags & ~known || blyi_needs_contradict(needs->flags))
        return BLY_EINVAL;
    if (needs->hash_bits != 0 && (needs->hash_bits < 32 || needs->hash_bits > 128))
        return BLY_EINVAL;
    if (share != 0 && !(share > 0 && share < 1))
        return BLY_EINVAL;
    if (needs->keys == 0 && (needs->bytes == 0 || p == 0))
        return BLY_ECOUNT;
    if (p == 0 ? needs->bytes == 0 : !(p >= MIN_RATE && p < 1))
        return BLY_ERATE;
    return BLY_OK;
}

/* Whether a kind grows by levels. */
static bool by_levels(bly_kind kind) {
    const blyi_level_rules *rules = blyi_ops_of(kind)->level_rules;
    return rules && rules->plan_level;
}

/* Whether a kind grows by doubling. */
static bool by_doubling(bly_kind kind) {
    return blyi_planner_of(kind)->plan_grown != NULL;
}

/* Returns the needs with defaults filled in. The number of keys and the rate must be given. */
static bly_needs resolve_needs(bly_kind kind, const bly_needs *needs) {
    bly_needs n = *needs;
    bool grows = n.flags & BLY_NEED_GROW;
    bly_hasher hasher = {0};
    if (n.first_keys == 0)
        n.first_keys = grows ? n.keys / 10 + (n.keys % 10 != 0) : n.keys;
    if (by_doubling(kind))
        n.first_keys = min_u64(n.first_keys, n.keys);
    if (n.first_share == 0)
        n.first_share = grows ? BLYI_FIRST_SHARE : 0.8;
    if (n.hash_bits == 0 && (n.flags & BLY_NEED_SECRET))
        n.hash_bits = bly_hash_bits(BLY_HASH_SIPHASH);
    if (n.hash_bits == 0 && by_levels(kind))
        n.hash_bits = blyi_growth_hash_bits(n.first_keys, n.fpr);
    uint64_t most = by_doubling(kind) ? blyi_planner_of(kind)->horizon(&n) : n.keys;
    if (n.hash_bits == 0 && bly_kind_capabilities(kind) & BLY_CAN_BUILD)
        n.hash_bits =
            blyi_hash_floor((double)most, 64) <= n.fpr * BLYI_RATE_TOLERANCE / 2 ? 64 : 128;
    if (n.hash_bits == 0 && bly_hasher_default(&hasher, most, n.fpr, 0) == BLY_OK)
        n.hash_bits = hasher.bits;
    return n;
}

/* ---- levels ---------------------------------------------------------------------------------- */

typedef struct level {
    bly_geometry geometry;
    uint64_t keys;
    double left;   /* the part of the rate that is left for later levels */
    unsigned rank; /* index of the level; the first has 0 */
} level;

/* Plans a level of rate `fpr`, after a level of geometry `last` (NULL for the first level). */
static bly_status simulate_level(const bly_advice *a, const bly_geometry *last, double fpr,
                                 unsigned hash_bits, level *l) {
    const blyi_level_request wish = {
        .kind = a->kind,
        .last = last,
        .reserved = blyi_first_level_dominates(blyi_first_rate(a->needs.fpr, a->needs.first_share),
                                               a->needs.fpr),
        .keys = l->keys,
        .hash_bits = hash_bits,
    };
    bly_status status = blyi_level_plan(&wish, &fpr, &l->geometry);
    if (status == BLY_OK)
        l->left -= fpr;
    return status;
}

static bly_status simulate_first_level(const bly_advice *a, level *out) {
    const bly_needs *needs = &a->needs;
    double fpr = blyi_first_rate(needs->fpr, needs->first_share);
    *out = (level){.keys = needs->first_keys, .left = needs->fpr};
    return simulate_level(a, NULL, fpr, needs->hash_bits, out);
}

static bly_status simulate_next_level(const bly_advice *a, level *l) {
    const bly_geometry last = l->geometry;
    double fpr = l->left * BLYI_NEXT_SHARE;
    if (++l->rank == BLYI_MAX_LEVELS)
        return BLY_EFULL;
    l->keys = blyi_next_keys(0, l->rank, l->keys);
    bly_status status = simulate_level(a, &last, fpr, a->needs.hash_bits, l);
    /* As in blyi_levels_grow: the hash of an existing filter cannot be replaced by a better one. */
    if (status == BLY_EWEAKHASH)
        status = simulate_level(a, &last, fpr, 128, l);
    return status;
}

/* Plans the levels once, for the largest of keys[0..n), because planning takes time. Then
 * distributes each number of keys over them, oldest level first. */
static void rates_by_levels(const bly_advice *a, const uint64_t *keys, size_t n, double *rates) {
    level levels[BLYI_MAX_LEVELS], l;
    uint64_t most = 0, room = 0;
    unsigned count = 0;
    for (size_t i = 0; i < n; i++)
        most = keys[i] > most ? keys[i] : most;
    bly_status status = simulate_first_level(a, &l);
    while (status == BLY_OK && count < BLYI_MAX_LEVELS) {
        levels[count++] = l;
        room = blyi_sum(room, l.keys);
        status = room < most ? simulate_next_level(a, &l) : BLY_EFULL;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t rest = keys[i];
        rates[i] = 0;
        for (unsigned j = 0; j < count && rest > 0; j++) {
            uint64_t here = min_u64(rest, levels[j].keys);
            rest -= here;
            rates[i] = blyi_combined_rate(
                rates[i], bly_plan_fpr(&levels[j].geometry, here, a->needs.hash_bits));
        }
    }
}

/* ---- doubling -------------------------------------------------------------------------------- */

static void rates_by_doubling(const bly_advice *a, const uint64_t *keys, size_t n, double *rates) {
    for (size_t i = 0; i < n; i++) {
        bly_geometry g;
        bool made = blyi_planner_of(a->kind)->plan_grown(&a->needs, keys[i], &g) == BLY_OK;
        rates[i] = made ? bly_plan_fpr(&g, keys[i], a->needs.hash_bits) : 1;
    }
}

/* ---- one kind, for given keys and rate ------------------------------------------------------- */

/* Returns the number of cache lines that a lookup reads, but at most the number that the body
 * has. */
static unsigned lookup_lines_of(const bly_geometry *g) {
    const blyi_planner *p = blyi_planner_of(g->kind);
    unsigned lines = p->lookup_lines         ? p->lookup_lines
                     : p->count_lookup_lines ? p->count_lookup_lines(g)
                                             : g->hashes;
    return (unsigned)min_u64(lines, bly_plan_bytes(g) / 64);
}

static bly_status size_fixed(bly_advice *out) {
    const bly_needs *needs = &out->needs;
    bly_status status =
        by_doubling(out->kind)
            ? blyi_planner_of(out->kind)->plan_grown(needs, needs->keys, &out->geometry)
            : bly_plan(out->kind, needs->keys, needs->fpr, 0, needs->hash_bits, &out->geometry);
    if (status)
        return status;
    out->bytes = bly_plan_bytes(&out->geometry);
    out->cache_lines = lookup_lines_of(&out->geometry);
    return BLY_OK;
}

static bly_status size_levels(bly_advice *out) {
    uint64_t rest = out->needs.keys;
    level l;
    bly_status status = simulate_first_level(out, &l);
    out->geometry = (bly_geometry){.kind = out->kind};
    for (; status == BLY_OK; status = simulate_next_level(out, &l)) {
        uint64_t bytes = bly_plan_bytes(&l.geometry);
        out->bytes += bytes;
        out->cache_lines += lookup_lines_of(&l.geometry);
        out->geometry.hashes++;
        out->geometry.size += BLYI_LEVEL_HEADER + bytes;
        if (rest <= l.keys)
            return bly_plan_check(&out->geometry);
        rest -= l.keys;
    }
    /* A filter that has used up its levels or its rate reports that it is full. In a plan this
     * means that the number of keys is too large. */
    return status == BLY_EFULL || status == BLY_ERATE ? BLY_ETOOBIG : status;
}

/* Sizes a filter of one kind. Does not check whether it fits into needs.bytes. */
static bly_status size_kind(bly_kind kind, const bly_needs *needs, bly_advice *out) {
    *out = (bly_advice){.kind = kind, .needs = resolve_needs(kind, needs)};
    bly_status status = by_levels(kind) ? size_levels(out) : size_fixed(out);
    if (status)
        return status;
    out->bits_per_key = 8 * (double)out->bytes / (double)needs->keys;
    out->keyed = needs->flags & BLY_NEED_SECRET;
    bly_advice_expected_fpr(out, &needs->keys, 1, &out->fpr);
    /* A growing filter accepts a weak hash, but advice must not contain one. */
    return out->fpr <= needs->fpr * (1 + BLYI_RATE_TOLERANCE) ? BLY_OK : BLY_EWEAKHASH;
}

void bly_advice_expected_fpr(const bly_advice *advice, const uint64_t *keys, size_t n,
                             double *rates) {
    if (by_levels(advice->kind)) {
        rates_by_levels(advice, keys, n, rates);
        return;
    }
    if (by_doubling(advice->kind)) {
        rates_by_doubling(advice, keys, n, rates);
        return;
    }
    for (size_t i = 0; i < n; i++)
        rates[i] = bly_plan_fpr(&advice->geometry, keys[i], advice->needs.hash_bits);
}

/* ---- searching for the keys or the rate ------------------------------------------------------ */

typedef struct search {
    bly_kind kind;
    const bly_needs *needs;
    bool keys;       /* true: x is the number of keys; false: 1 / rate */
    bly_advice best; /* the advice for the largest x so far that fits */
} search;

typedef struct trial {
    double x, excess; /* ln(bytes needed / bytes allowed), negative if it fits */
    bly_status status;
} trial;

static trial try_cost(search *s, double x) {
    bly_needs needs = *s->needs;
    bly_advice a;
    if (s->keys)
        needs.keys = (uint64_t)x;
    else
        needs.fpr = fmin(WORST_RATE, 1 / x);
    trial t = {x, 1, size_kind(s->kind, &needs, &a)};
    if (t.status)
        return t;
    /* Sizes are multiples of 64 bytes, so a limit between two multiples ensures that the excess is
     * never 0. */
    t.excess = log((double)a.bytes / ((double)(needs.bytes / 64 * 64) + 32));
    if (t.excess < 0)
        s->best = a;
    return t;
}

/* Returns a value of x strictly between those of the two trials: halfway on a logarithmic scale, or
 * where a straight line through the trials reaches excess 0 on that scale. */
static double cost_between(const search *s, trial low, trial high, bool halfway) {
    double share = halfway ? 0.5 : low.excess / (low.excess - high.excess);
    double x = low.x * exp(log(high.x / low.x) * share);
    double step = s->keys ? 1 : low.x * 1e-10;
    if (s->keys)
        x = floor(x);
    return fmin(fmax(x, low.x + step), high.x - step);
}

/* Finds the largest x that fits, given that `low` fits and `high` does not. Uses false position
 * with Illinois weights, and a bisection in every third round. */
static void narrow_search(search *s, trial low, trial high) {
    for (unsigned round = 1, side = 0;; round++) {
        if (s->keys ? high.x - low.x <= 1 : high.x <= low.x * (1 + 1e-9))
            return;
        trial t = try_cost(s, cost_between(s, low, high, round % 3 == 0));
        if (t.status || t.excess > 0) {
            high = t;
            low.excess *= side == 1 ? 0.5 : 1;
            side = 1;
        } else {
            low = t;
            high.excess *= side == 2 ? 0.5 : 1;
            side = 2;
        }
    }
}

/* Searches for the largest x that fits. No kind of filter stores a key in fewer than log2(1/p)
 * bits, which bounds the number of keys. */
static bly_status search_cost(search *s) {
    double bound = s->keys ? 8 * (double)s->needs->bytes / -log2(s->needs->fpr) : 1 / MIN_RATE;
    trial low = try_cost(s, s->keys ? 1 : 1 / WORST_RATE);
    if (low.status)
        return low.status;
    if (low.excess > 0)
        return BLY_EIMPOSSIBLE;
    trial high = try_cost(s, s->keys ? fmin(floor(bound) + 1, (double)MAX_KEYS) : bound);
    if (high.status || high.excess > 0)
        narrow_search(s, low, high);
    return BLY_OK;
}

bly_status blyi_cost(bly_kind kind, const bly_needs *needs, bly_advice *out) {
    search s = {.kind = kind, .needs = needs, .keys = needs->keys == 0};
    bly_status status;
    if (needs->keys == 0 || needs->fpr == 0)
        status = search_cost(&s);
    else {
        status = size_kind(kind, needs, &s.best);
        if (status == BLY_OK && needs->bytes != 0 && s.best.bytes > needs->bytes)
            status = BLY_EIMPOSSIBLE;
    }
    if (status == BLY_OK)
        *out = s.best;
    return status;
}
