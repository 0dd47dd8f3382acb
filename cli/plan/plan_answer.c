/* plan_answer.c - plans every kind for the stated needs, and selects the few worth comparing.
 *
 * The selection follows from the library's advice and figures, not from a list of kinds. A kind is
 * worth comparing if it meets the needs, has at most one capability that was not requested, and no
 * other kind is better. Better means at least as small, with as few cache lines per lookup, and
 * with the same capabilities. A user who needs another capability requests it, and then sees the
 * kinds that have it.
 */
#include "plan/plan_answer.h"

#include "filters/kind_words.h"
#include "filters/server_filter.h"

#include <bloomery/filter.h>
#include <bloomery/redis/bitmap.h>

/* The library's advice is for counters of the default width; another width changes the size. */
static bly_status set_counter_width(bly_advice *a, uint32_t counter_bits) {
    bly_status status = bly_plan_counting(a->needs.keys, a->needs.fpr, counter_bits,
                                          a->needs.hash_bits, &a->geometry);
    if (status != BLY_OK)
        return status;
    a->bytes = bly_plan_bytes(&a->geometry);
    a->bits_per_key = 8 * (double)a->bytes / (double)a->needs.keys;
    a->fpr = bly_plan_fpr(&a->geometry, a->needs.keys, a->needs.hash_bits);
    a->cache_lines = a->kind == BLY_COUNTING ? a->geometry.hashes : a->cache_lines;
    return BLY_OK;
}

bly_status plan_kind(const plan_answer *p, bly_kind kind, bly_advice *out) {
    BLY_INIT(*out);
    bly_status status = bly_advise_kind(kind, &p->needs, out);
    const bool widens = p->counter_bits && kind == BLY_COUNTING;
    return status == BLY_OK && widens ? set_counter_width(out, p->counter_bits) : status;
}

/* ---- the kinds to show ----------------------------------------------------------------------- */

/* The value that the planner computes, lower being better: memory, or the rate, or the negative
 * number of keys. */
static double cost_of(const plan_answer *p, const plan_line *line) {
    const bly_advice *a = &line->advice;
    if (p->needs.keys == 0)
        return -(double)a->needs.keys;
    return p->needs.fpr > 0 ? (double)a->bytes : a->fpr;
}

/* The needs that a kind can meet. If the keys never change, none of them matters, and the result is
 * 0. */
static uint32_t abilities_of(const plan_answer *p, bly_kind kind) {
    static const uint32_t all[] = {BLY_NEED_REMOVE, BLY_NEED_GROW, BLY_NEED_WINDOW, BLY_NEED_COUNTS,
                                   BLY_NEED_SHARE};
    uint32_t able = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all && !(p->needs.flags & BLY_NEED_STATIC); i++) {
        bly_needs needs = p->needs;
        needs.flags |= all[i];
        able |= bly_advise_why_not(kind, &needs) ? 0 : all[i];
    }
    return able;
}

/* The number of needs that a kind can meet and that were not requested. */
static unsigned extras_of(const plan_answer *p, bly_kind kind) {
    unsigned extras = 0;
    for (uint32_t left = abilities_of(p, kind) & ~p->needs.flags; left; left &= left - 1)
        extras++;
    return extras;
}

/* Whether a is at least as good as b in every respect. Slots are a disadvantage, because the filter
 * can become full. So are levels, because each costs a lookup. */
static bool is_no_worse(const plan_answer *p, const plan_line *a, const plan_line *b) {
    return cost_of(p, a) <= cost_of(p, b) && a->advice.cache_lines <= b->advice.cache_lines &&
           !(abilities_of(p, b->kind) & ~abilities_of(p, a->kind)) &&
           (kinds_hold_slots(b->kind) || !kinds_hold_slots(a->kind)) &&
           (kinds_have_levels(b->kind) || !kinds_have_levels(a->kind));
}

/* Whether another kind is better. Of two equal kinds, the first counts as better. */
static bool is_beaten(const plan_answer *p, const plan_line *line) {
    for (const plan_line *other = p->lines; other < p->lines + p->count; other++)
        if (other != line && other->status == BLY_OK && is_no_worse(p, other, line) &&
            (other < line || !is_no_worse(p, line, other)))
            return true;
    return false;
}

/* The order in which kinds are selected: the chosen kind, the planner's, then those with the fewest
 * capabilities that were not requested, then the smallest. */
static bool comes_before(const plan_answer *p, const plan_line *a, const plan_line *b) {
    const bly_kind first[] = {p->choice.kind, p->suggested};
    for (size_t i = 0; i < 2; i++)
        if (a->kind == first[i] || b->kind == first[i])
            return a->kind == first[i];
    const unsigned extras_a = extras_of(p, a->kind), extras_b = extras_of(p, b->kind);
    return extras_a != extras_b ? extras_a < extras_b : cost_of(p, a) < cost_of(p, b);
}

/* Inserts a line in the order of comes_before. If all places are used, the last line is dropped. */
static void show_line(plan_answer *p, size_t line) {
    size_t at = p->shown_count;
    while (at > 0 && comes_before(p, &p->lines[line], &p->lines[p->shown[at - 1]])) {
        if (at < PLAN_SHOWN)
            p->shown[at] = p->shown[at - 1];
        at--;
    }
    if (at < PLAN_SHOWN)
        p->shown[at] = line;
    p->shown_count += p->shown_count < PLAN_SHOWN;
}

/* Sorts the lines after the first by cost. */
static void sort_shown(plan_answer *p) {
    for (size_t i = 2; i < p->shown_count; i++)
        for (size_t at = i; at > 1; at--) {
            const size_t line = p->shown[at];
            if (cost_of(p, &p->lines[line]) >= cost_of(p, &p->lines[p->shown[at - 1]]))
                break;
            p->shown[at] = p->shown[at - 1];
            p->shown[at - 1] = line;
        }
}

static void choose_shown(plan_answer *p) {
    size_t fitting = 0;
    for (size_t i = 0; i < p->count; i++)
        fitting += p->lines[i].status == BLY_OK;
    p->shown_count = 0;
    for (size_t i = 0; i < p->count; i++) {
        const plan_line *line = &p->lines[i];
        const bool must = line->kind == p->choice.kind || line->kind == p->suggested;
        if (line->status == BLY_OK && (fitting <= PLAN_SHOWN || must ||
                                       (extras_of(p, line->kind) <= 1 && !is_beaten(p, line))))
            show_line(p, i);
    }
    sort_shown(p);
    for (size_t i = 0; i < p->shown_count; i++)
        p->lines[p->shown[i]].shown = true;
}

void plan_fill_lines(plan_answer *p) {
    p->count = 0;
    for (bly_kind kind = bly_kind_next(BLY_KIND_NONE);
         kind != BLY_KIND_NONE && p->count < PLAN_KINDS; kind = bly_kind_next(kind)) {
        if (p->on_server && !remote_supports_kind(kind))
            continue;
        plan_line *line = &p->lines[p->count++];
        *line = (plan_line){.kind = kind};
        line->status = plan_kind(p, kind, &line->advice);
    }
    choose_shown(p);
}

/* ---- on a server ----------------------------------------------------------------------------- */

/* The kind for the requested rate. If no rate was requested, or space matters, the better of the
 * two kinds. */
static bly_status choose_for_server(plan_answer *p) {
    bly_advice other = {.struct_size = sizeof other};
    if (p->needs.fpr > 0 && !(p->needs.flags & BLY_NEED_SPACE))
        return plan_kind(p, remote_kind(p->needs.fpr), &p->choice);
    const bly_status status = plan_kind(p, BLY_SPLIT512, &p->choice);
    const bly_status second = plan_kind(p, BLY_SBBF, &other);
    const bool better =
        p->needs.fpr > 0 ? other.bytes < p->choice.bytes : other.fpr < p->choice.fpr;
    if (second == BLY_OK && (status != BLY_OK || better))
        p->choice = other;
    return second == BLY_OK ? second : status;
}

/* Only the size is computed, which does not depend on a secret key. */
static bly_status hasher_for(const plan_answer *p, bly_hasher *out) {
    const bly_needs *needs = &p->choice.needs;
    if (p->hash && p->hash != BLY_HASH_SIPHASH && bly_hash_available(p->hash))
        return bly_hasher_init(out, p->hash, 0);
    return bly_hasher_default(out, needs->keys, needs->fpr, 0);
}

bly_status plan_on_server(plan_answer *p, bly_kind kind, uint64_t shards, const char **why) {
    *why = NULL;
    p->needs.flags &= ~(uint32_t)BLY_NEED_SHARE; /* clients can always add concurrently */
    bly_status status =
        kind == BLY_KIND_NONE ? choose_for_server(p) : plan_kind(p, kind, &p->choice);
    p->suggested = p->choice.kind;
    if (status != BLY_OK)
        return status;
    bly_bitmap_spec spec = {.struct_size = sizeof spec,
                            .capacity = p->choice.needs.keys,
                            .fpr = p->choice.needs.fpr,
                            .kind = p->choice.kind,
                            .shards = (uint32_t)shards};
    status = hasher_for(p, &spec.hasher);
    if (status == BLY_OK)
        status = bly_bitmap_plan(&spec, &p->bitmap);
    if (status == BLY_ETOOBIG)
        *why = shards ? "the filter cannot be split into that number of strings: each has at least "
                        "one block, and at most 512 MiB; leave out --shards"
                      : "the filter would need more than 4096 strings of 512 MiB; split the keys "
                        "among several filters, or allow a higher rate";
    return status;
}

const char *plan_why_not(const plan_answer *p, const plan_line *line) {
    if (line->status == BLY_EUNSUPPORTED)
        return bly_advise_why_not(line->kind, &p->needs);
    if (line->status == BLY_EIMPOSSIBLE)
        return "it does not fit into --memory";
    if (line->status == BLY_ETOOBIG)
        return "it would need more than 32 TiB";
    if (line->status == BLY_ERATE)
        return "it cannot reach so low a rate";
    return bly_strerror(line->status);
}

bool plan_is_counted_window(const plan_answer *p, const bly_advice *a) {
    return kinds_can(a->kind, BLY_FORGETS) && !p->seconds;
}

uint64_t plan_max_keys(const bly_advice *a) {
    bly_geometry g = a->geometry;
    if (kinds_can(a->kind, BLY_CAN_BUILD))
        return a->needs.keys;
    if (!kinds_hold_slots(a->kind) || kinds_have_levels(a->kind))
        return UINT64_MAX;
    if (kinds_grow(a->kind)) { /* after all doublings */
        g.size <<= g.hashes - g.detail;
        g.hashes = g.detail;
    }
    return bly_plan_capacity(&g, 0.999, a->needs.hash_bits);
}

double plan_rate_at(const bly_advice *a, uint64_t keys) {
    double rate;
    bly_advice_expected_fpr(a, &keys, 1, &rate);
    return rate;
}
