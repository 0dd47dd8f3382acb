/* Which kind to choose: the ranked table of advice.
 *
 * A kind's descriptor (kind.h) says what it can do and what it is good for. `rows` is the advice.
 * The first row that applies wins: all of its `wants` are among the stated needs, its kind meets
 * all needs and fits into the memory, and its `min_fpr` is at most the rate. A new kind gets a row
 * if it is ever the best choice.
 *
 * Where the limits `min_fpr` come from: a kind that reads one cache line needs more space, because
 * small blocks fill unevenly, and the lower the rate, the more (docs/choosing.md has the bits per
 * key). The first two limits are those of bly_plan_kind. At the last one bb2x512 begins to need a
 * quarter more space than classic.
 */
#include "base/struct_size.h"
#include "filter/cost.h"
#include "filter/kind.h"

typedef struct row {
    bly_kind kind;
    uint32_t wants; /* the row applies only if all of these are needed */
    double min_fpr; /* the lowest rate for which the row applies */
    bly_kind beats; /* the row applies only if it is better than this kind */
    const char *reason;
    bly_kind beats_too; /* another kind, with the same meaning as `beats` */
} row;

static const row rows[] = {
    {BLY_WINDOW, BLY_NEED_WINDOW, 0, 0,
     "it forgets old keys automatically, and never a key that is still in the window"},
    {BLY_GROWABLE_CUCKOO, BLY_NEED_REMOVE | BLY_NEED_GROW, 0, 0,
     "keys can be removed, and it doubles when full, so more keys than expected can be added"},
    {BLY_HYBRID, BLY_NEED_COUNTS, 0, 0,
     "it counts exactly, however often a key is added, and at rates below 5% takes less than half "
     "the space of 4-bit counters"},
    {BLY_CUCKOO, BLY_NEED_REMOVE, 0, 0,
     "keys can be removed: it stores a fingerprint of each, so a remove does not affect other "
     "keys"},
    {BLY_SCALABLE, BLY_NEED_GROW, 0, 0,
     "more keys than expected can be added: it grows and keeps its rate, and adding a key again "
     "takes no space"},
    {BLY_RIBBON, BLY_NEED_STATIC | BLY_NEED_SPACE, 0, BLY_CLASSIC,
     "all keys are known, and no kind is smaller: 5 to 7% above the lower bound for a million keys",
     BLY_FUSE},
    {BLY_FUSE, BLY_NEED_STATIC, 0x1p-28, BLY_CLASSIC,
     "all keys are known, so it is built from all of them at once: smaller than any Bloom filter "
     "(for many keys at 1% by a sixth), and a lookup reads three cache lines"},
    {BLY_RIBBON, BLY_NEED_STATIC, 0, BLY_CLASSIC,
     "all keys are known, and it is smaller than any Bloom filter"},
    {BLY_CLASSIC, BLY_NEED_SPACE, 0, 0,
     "the smallest kind to which keys can be added one by one (cuckoo may be smaller if no key "
     "repeats), but a lookup reads a cache line per bit"},
    {BLY_SBBF, 0, 0.004, 0,
     "the fastest kind: a lookup reads one cache line and tests it in one step; classic would save "
     "a tenth of the space (at 10% a fifth), but reads a cache line per bit"},
    {BLY_SPLIT512, 0, 0.001, 0,
     "a lookup reads one cache line, and no kind that reads one is smaller"},
    {BLY_BB2X512, 0, 1e-8, 0,
     "a lookup reads two cache lines; the kinds that read one need 7% more space at 0.1%, a fifth "
     "more at 0.001%, and still more below that"},
    {BLY_CLASSIC, 0, 0, 0,
     "a lookup reads a cache line per bit; at so low a rate, Bloom filters that read fewer lines "
     "need a quarter more space, and still more below that"},
};

/* Needs that not every kind can meet, in the order in which they are reported. Each has up to three
 * reasons why a kind is not advised: the kind does not meet the need, no kind does, or the kind
 * requires a need that is not stated. */
typedef struct need {
    uint32_t flag;
    uint32_t capability; /* BLY_CAN_* that meets the need, or 0 */
    const char *kind_lacks, *all_lack, *kind_requires;
} need;

static const need demands[] = {
    {BLY_NEED_REMOVE, BLY_CAN_REMOVE, "it cannot remove keys",
     "no kind of this version removes keys", NULL},
    {BLY_NEED_WINDOW, 0, "it does not forget old keys", "no kind of this version forgets old keys",
     "it forgets old keys"},
    {BLY_NEED_COUNTS, 0, "it does not count how often a key was added",
     "no kind of this version counts how often a key was added",
     "it is only for counting how often keys are added"},
    {BLY_NEED_GROW, 0, "it does not grow", "no kind of this version grows", NULL},
    {BLY_NEED_SHARE, BLY_CAN_SHARE, "several threads cannot add to it at once",
     "no kind of this version lets several threads add at once", NULL},
    {BLY_NEED_STATIC, ~0U, NULL, NULL, "all its keys must be known when it is built"},
};

enum { ROWS = sizeof rows / sizeof *rows, DEMANDS = sizeof demands / sizeof *demands };

/* Returns why the kind does not suit the needs in `flags`: the first need that it cannot meet, or
 * that it requires and `flags` lacks. Returns NULL if it suits. */
static const char *unmet_need(const blyi_kind *k, uint32_t flags) {
    uint32_t can = k->ops->capabilities;
    if (k->never_advised)
        return k->never_advised;
    for (size_t i = 0; i < DEMANDS; i++)
        if (demands[i].flag & flags & ~k->meets && !(demands[i].capability & can))
            return demands[i].kind_lacks;
    for (size_t i = 0; i < DEMANDS; i++)
        if (demands[i].flag & k->requires & ~flags)
            return demands[i].kind_requires;
    return NULL;
}

static bool any_kind_meets(uint32_t flags) {
    for (bly_kind k = BLY_KIND_NONE; (k = bly_kind_next(k)) != BLY_KIND_NONE;)
        if (!unmet_need(blyi_kind_of(k), flags))
            return true;
    return false;
}

const char *bly_advise_why_not(bly_kind kind, const bly_needs *needs) {
    const blyi_kind *k = blyi_kind_of(kind);
    if (kind != BLY_KIND_NONE && !k)
        return "there is no such kind";
    if (blyi_needs_contradict(needs->flags))
        return "if all keys are known in advance, none is added, removed or forgotten later";
    if (k)
        return unmet_need(k, needs->flags);
    if (any_kind_meets(needs->flags))
        return NULL;
    for (size_t i = 0; i < DEMANDS; i++)
        if (demands[i].all_lack && demands[i].flag & needs->flags &&
            !any_kind_meets(demands[i].flag))
            return demands[i].all_lack;
    return "no kind of this version meets all of these needs";
}

static bly_status advise_kind(bly_kind kind, const bly_needs *needs, bly_advice *out) {
    const blyi_kind *k = blyi_kind_of(kind);
    bly_status status = k ? blyi_needs_check(needs) : BLY_EKIND;
    if (status == BLY_OK && unmet_need(k, needs->flags))
        status = BLY_EUNSUPPORTED;
    if (status == BLY_OK)
        status = blyi_cost(kind, needs, out);
    if (status == BLY_OK)
        out->reason = k->reason;
    return status;
}

/* Whether advice `a` is better than advice for the other kind: fewer bytes or, if the memory is
 * given, more keys or a lower rate. True if the other kind is unsuitable. */
static bool is_better_than(const bly_advice *a, bly_kind other, const bly_needs *needs) {
    bly_advice b;
    if (other == BLY_KIND_NONE || advise_kind(other, needs, &b) != BLY_OK)
        return true;
    if (needs->keys == 0)
        return a->needs.keys > b.needs.keys;
    return needs->fpr == 0 ? a->fpr < b.fpr : a->bytes < b.bytes;
}

static bly_status advise(const bly_needs *needs, bly_advice *out) {
    bly_status status = blyi_needs_check(needs), failed = BLY_EUNSUPPORTED;
    for (size_t i = 0; i < ROWS && status == BLY_OK; i++) {
        const row *r = &rows[i];
        bly_advice a;
        /* If the rate is given, a row can be skipped without computing anything. */
        if ((needs->flags & r->wants) != r->wants || (needs->fpr != 0 && needs->fpr < r->min_fpr))
            continue;
        bly_status fits = advise_kind(r->kind, needs, &a);
        if (fits == BLY_OK &&
            !(is_better_than(&a, r->beats, needs) && is_better_than(&a, r->beats_too, needs)))
            continue;
        if (fits == BLY_OK && a.needs.fpr >= r->min_fpr) {
            *out = a;
            out->reason = r->reason;
            return BLY_OK;
        }
        /* A status such as "the memory is too small" says more than that some kind lacks a
         * feature. */
        if (fits != BLY_OK && fits != BLY_EUNSUPPORTED)
            failed = fits;
    }
    return status ? status : failed;
}

bly_status bly_advise_kind(bly_kind kind, const bly_needs *needs, bly_advice *out) {
    bly_advice advice;
    if (!blyi_can_write_struct(out, sizeof advice))
        return BLY_EINVAL;
    const bly_status status = advise_kind(kind, needs, &advice);
    if (status == BLY_OK)
        blyi_write_struct(out, &advice, sizeof advice);
    return status;
}

bly_status bly_advise(const bly_needs *needs, bly_advice *out) {
    bly_advice advice;
    if (!blyi_can_write_struct(out, sizeof advice))
        return BLY_EINVAL;
    const bly_status status = advise(needs, &advice);
    if (status == BLY_OK)
        blyi_write_struct(out, &advice, sizeof advice);
    return status;
}

bly_status bly_advice_get_spec(const bly_advice *advice, bly_spec *out) {
    if (!blyi_can_write_struct(out, sizeof *out))
        return BLY_EINVAL;
    const bly_needs *needs = &advice->needs;
    const blyi_kind *k = blyi_kind_of(advice->kind);
    if (!k)
        return BLY_EKIND;
    bool grows = k->meets & BLY_NEED_GROW;
    bly_spec spec = bly_spec_for(advice->kind, grows ? needs->first_keys : needs->keys, needs->fpr);
    if (k->spec_fields & BLYI_SPEC_LEVELS)
        spec.scalable.first_share = needs->first_share;
    if (k->spec_fields & BLYI_SPEC_HORIZON)
        spec.cuckoo.horizon = k->planner->horizon(needs);
    if (needs->flags & BLY_NEED_SHARE)
        spec.sharing = BLY_SHARED;
    blyi_write_struct(out, &spec, sizeof spec);
    return BLY_OK;
}
