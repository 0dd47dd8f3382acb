/* plan_refuse.c - the messages of `plan` when there is no plan. If another number would work, the
 * message names it. */
#include "cli.h"
#include "filters/kind_words.h"
#include "filters/server_filter.h"
#include "plan/plan_answer.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>
#include <stdio.h>

static int unsupported(const bly_needs *needs, bly_kind kind) {
    /* What to do if no kind meets all needs at once. */
    static const struct {
        uint32_t flag;
        const char *instead;
    } ways[] = {
        {BLY_NEED_COUNTS, "count the keys themselves, or leave out --counts"},
        {BLY_NEED_SHARE, "let one thread add all keys, or leave out --shared"},
        {BLY_NEED_WINDOW, "leave out --window, or the other needs"},
    };
    const char *maker = kind == BLY_OVERLAY                     ? "bloomery build --over"
                        : kinds_can(kind, BLY_CARDINALITY_ONLY) ? "bloomery distinct --state"
                                                                : NULL;
    if (kind != BLY_KIND_NONE && maker)
        return message_error("plan does not support kind %s (%s); use %s to create such a filter",
                             bly_kind_name(kind), bly_advise_why_not(kind, needs), maker);
    if (kind != BLY_KIND_NONE && !bly_advise_why_not(BLY_KIND_NONE, needs))
        return message_error(
            "%s does not meet these needs: %s; leave out --kind to see which kinds do",
            bly_kind_name(kind), bly_advise_why_not(kind, needs));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (needs->flags & ways[i].flag)
            return message_error("%s; %s", bly_advise_why_not(BLY_KIND_NONE, needs),
                                 ways[i].instead);
    return message_error("%s", bly_advise_why_not(BLY_KIND_NONE, needs));
}

/* n keys under a hash of E bits collide at a rate of n / 2^E, which must not be above a tenth of
 * the requested rate. */
static int weak_hash(const bly_needs *needs, bly_hash_id hash) {
    const char *name = bly_hash_name(hash);
    if (needs->keys == 0 || needs->fpr == 0)
        return message_error("%s has only %u bits, too few for a filter of this size or rate; "
                             "choose another --hash, such as xxh3, or a higher -p",
                             name, needs->hash_bits);
    double bound = floor(ldexp(needs->fpr / 10, (int)needs->hash_bits));
    return message_error("%s has only %u bits, too few for %s keys at a false-positive rate of %s "
                         "(it allows %s keys); choose another --hash, such as xxh3",
                         name, needs->hash_bits, NUMBER_GROUPED(needs->keys),
                         NUMBER_PERCENT(needs->fpr),
                         NUMBER_GROUPED(bound < 0x1p63 ? (uint64_t)bound : UINT64_MAX));
}

/* The smallest plan of all kinds that meet the needs. The kind that the planner advises may be
 * larger, because it also allows repeated keys. */
static bly_status find_smallest(const bly_needs *needs, bool on_server, bly_advice *out) {
    bly_advice a = {.struct_size = sizeof a};
    bly_status best = BLY_EUNSUPPORTED;
    for (bly_kind kind = bly_kind_next(BLY_KIND_NONE); kind; kind = bly_kind_next(kind)) {
        if ((on_server && !remote_supports_kind(kind)) ||
            bly_advise_kind(kind, needs, &a) != BLY_OK || (best == BLY_OK && a.bytes >= out->bytes))
            continue;
        *out = a;
        best = BLY_OK;
    }
    return best;
}

enum { SMALLER_TEXT = 128 };

/* Writes a plan that is smaller than `bytes`, such as ", or 16.1 MiB with --kind cuckoo", or "" if
 * no plan is smaller. */
static char *smaller_text(const plan_answer *p, const bly_needs *needs, uint64_t bytes,
                          char out[SMALLER_TEXT]) {
    bly_advice a = {.struct_size = sizeof a};
    bly_needs fixed = *needs;
    out[0] = '\0';
    fixed.flags |= BLY_NEED_STATIC;
    if (find_smallest(needs, p->on_server, &a) == BLY_OK && a.bytes < bytes) {
        (void)snprintf(out, SMALLER_TEXT, ", or %s with --kind %s", NUMBER_BYTES(a.bytes),
                       bly_kind_name(a.kind));
        bytes = a.bytes;
    }
    if (bytes > p->needs.bytes && !p->on_server && !p->own_kind &&
        bly_advise(&fixed, &a) == BLY_OK && a.bytes <= p->needs.bytes)
        (void)snprintf(out, SMALLER_TEXT, ", or %s with --static, if no key is added later",
                       NUMBER_BYTES(a.bytes));
    return out;
}

/* Reports that the memory is too small, and names the smallest size for the keys at the requested
 * rate, or at 50% if no rate was requested. */
static int too_small(const plan_answer *p, bly_kind kind) {
    bly_needs free = p->needs;
    bly_advice a = {.struct_size = sizeof a};
    char smaller[SMALLER_TEXT];
    free.bytes = 0;
    free.flags |= BLY_NEED_SPACE;
    if (free.keys == 0)
        free.keys = 1;
    const bool any_rate = free.fpr == 0;
    if (any_rate)
        free.fpr = 0.5;
    const bly_status status = kind != BLY_KIND_NONE ? bly_advise_kind(kind, &free, &a)
                              : p->on_server        ? find_smallest(&free, true, &a)
                                                    : bly_advise(&free, &a);
    if (status)
        return message_error("%s", bly_strerror(status));
    return message_error(
        "%s of memory is too little; the minimum for %s %s%s at a rate of %s is %s (%s)%s",
        NUMBER_BYTES(p->needs.bytes), NUMBER_GROUPED(free.keys), free.keys == 1 ? "key" : "keys",
        any_rate ? " even" : "", NUMBER_PERCENT(free.fpr), NUMBER_BYTES(a.bytes),
        bly_kind_name(a.kind), smaller_text(p, &free, a.bytes, smaller));
}

int plan_refuse(const plan_answer *p, bly_kind kind, bly_status status) {
    const bly_needs *needs = &p->needs;
    switch (status) {
    case BLY_EUNSUPPORTED:
        return unsupported(needs, kind);
    case BLY_EWEAKHASH:
        return weak_hash(needs, p->hash);
    case BLY_EIMPOSSIBLE:
        return too_small(p, kind);
    case BLY_ERATE:
        if (kind != BLY_KIND_NONE && needs->fpr >= 0x1p-40)
            return message_error("a false-positive rate of %g is too low for %s; leave out --kind "
                                 "to see which kinds can reach it",
                                 needs->fpr, bly_kind_name(kind));
        return message_error(
            "a false-positive rate of %g is too low: the lowest is 2^-40, about 9.1e-13",
            needs->fpr);
    case BLY_ETOOBIG:
        return message_error(
            "the filter would need more than 32 TiB (2^48 bits), which is the maximum; split the "
            "keys among several filters, or allow a higher rate");
    case BLY_EINVAL:
        return message_error("--static cannot be combined with --grows, --window or --deletes: no "
                             "key of a static filter is added or removed later");
    default:
        return message_error("%s", bly_strerror(status));
    }
}

int plan_check_server(uint32_t flags, bly_kind kind, uint64_t shards) {
    bly_bitmap_spec spec = {.struct_size = sizeof spec};
    if (flags &
        (BLY_NEED_REMOVE | BLY_NEED_GROW | BLY_NEED_STATIC | BLY_NEED_WINDOW | BLY_NEED_COUNTS))
        return message_error(
            "--plain cannot be combined with --deletes, --grows, --static, --window or --counts, "
            "which need the Bloomery module; leave out --plain or the others");
    if (kind && !remote_supports_kind(kind))
        return remote_refuse_kind("--plain", kind);
    return remote_spec(shards, 0, &spec) ? CLI_OK : CLI_ERROR;
}
