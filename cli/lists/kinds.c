#include "kinds.h"

#include "numbers.h"
#include <bloomery/advise.h>

#include <stdio.h>
#include <string.h>

/* ---- kinds that were removed ----------------------------------------------------------------- */

static const kinds_removed removed[] = {
    {8, "stable", "window"},
    {20, "blocked-counting", "layered"},
};

const kinds_removed *kinds_removed_by_code(unsigned code) {
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
        if (removed[i].code == code)
            return &removed[i];
    return NULL;
}

const kinds_removed *kinds_removed_by_name(const char *name) {
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
        if (strcmp(removed[i].name, name) == 0)
            return &removed[i];
    return NULL;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

const char *kinds_article(bly_kind kind) {
    return kind == BLY_OVERLAY || kind == BLY_HLL || kind == BLY_SBBF ? "an" : "a";
}

const char *kinds_meaning(bly_kind kind) {
    switch (kind) {
    case BLY_CLASSIC:
        return "bits anywhere in one array; small, one cache miss per bit";
    case BLY_PARTITIONED:
        return "one bit in each of several slices; small, one cache miss per bit";
    case BLY_SBBF:
        return "eight bits in one block of 32 bytes; the fastest";
    case BLY_SPLIT512:
        return "all bits in one block of 64 bytes; fast";
    case BLY_BB2X512:
        return "half the bits in each of two blocks of 64 bytes; fast and small";
    case BLY_SCALABLE:
        return "a list of filters that grows with its keys";
    case BLY_WINDOW:
        return "remembers the last keys, or those of the last hours, and forgets older ones";
    case BLY_CUCKOO:
        return "fingerprints in buckets; keys can be removed";
    case BLY_FUSE:
        return "built from all keys at once; small and fast, never changes";
    case BLY_RIBBON:
        return "built from all keys at once; the smallest, never changes";
    case BLY_GROWABLE_CUCKOO:
        return "fingerprints in buckets; keys can be removed, and it doubles when full";
    case BLY_SCALABLE_CUCKOO:
        return "a list of fingerprint tables that grows with its keys; keys can be removed";
    case BLY_COUNTING:
        return "counters anywhere in one array; keys can be removed, and repeats are counted";
    case BLY_MULTILAYER:
        return "counters of variable length in one block of 64 bytes; keys can be removed";
    case BLY_LAYERED:
        return "sbbf in front, counters behind; keys can be removed, the front can be shared";
    case BLY_OVERLAY:
        return "another filter, and what was removed from and added to it since";
    case BLY_HYBRID:
        return "fingerprints with exact counts; keys can be removed, and come any number of times";
    case BLY_COUNTS:
        return "how often each key came, exact while it is seldom, then an estimate";
    case BLY_HLL:
        return "how many different keys came, an estimate, in a few kilobytes";
    case BLY_KIND_NONE:
        break;
    }
    return "unknown";
}

char *kinds_that_can(uint32_t capabilities, char out[KINDS_LIST]) {
    enum { MOST = 32 };
    const char *names[MOST];
    size_t n = 0, used = 0;
    for (bly_kind k = bly_kind_next(BLY_KIND_NONE); k != BLY_KIND_NONE && n < MOST;
         k = bly_kind_next(k))
        if (kinds_can(k, capabilities))
            names[n++] = bly_kind_name(k);
    out[0] = '\0';
    for (size_t i = 0; i < n && used < KINDS_LIST; i++) {
        const char *before = i == 0 ? "" : i + 1 == n ? " and " : ", ";
        used += (size_t)snprintf(out + used, KINDS_LIST - used, "%s%s", before, names[i]);
    }
    return out;
}

bool kinds_can(bly_kind kind, uint32_t capabilities) {
    return (bly_kind_capabilities(kind) & capabilities) == capabilities;
}

bool kinds_grow(bly_kind kind) {
    const bly_needs needs = {.flags = BLY_NEED_GROW};
    return kind != BLY_KIND_NONE && !bly_advise_why_not(kind, &needs);
}

bool kinds_have_levels(bly_kind kind) {
    return kind == BLY_SCALABLE || kind == BLY_SCALABLE_CUCKOO;
}

bool kinds_are_bits(bly_kind kind) {
    const uint32_t others =
        BLY_CAN_REMOVE | BLY_CAN_BUILD | BLY_FORGETS | BLY_TELLS_COPIES | BLY_ONLY_COUNTS;
    return !(bly_kind_capabilities(kind) & others) && !kinds_grow(kind);
}

bool kinds_share_cells(bly_kind kind) {
    return kinds_are_bits(kind) || (kinds_hold_copies(kind) && !kinds_hold_slots(kind));
}

bool kinds_hold_copies(bly_kind kind) {
    return kinds_can(kind, BLY_CAN_REMOVE | BLY_TELLS_COPIES);
}

bool kinds_hold_slots(bly_kind kind) {
    return kinds_limit_copies(kind) || kind == BLY_HYBRID;
}

bool kinds_limit_copies(bly_kind kind) {
    return kind == BLY_CUCKOO || kind == BLY_GROWABLE_CUCKOO || kind == BLY_SCALABLE_CUCKOO;
}

bool kinds_outgrow(bly_kind kind) {
    return kind == BLY_MULTILAYER || kind == BLY_HYBRID;
}

uint64_t kinds_counters(const bly_geometry *g) {
    enum { LAYERED = 256, MULTILAYER = 320, COUNTS = 64 };
    switch (g->kind) {
    case BLY_COUNTING:
        return g->size;
    case BLY_LAYERED:
        return g->size * LAYERED;
    case BLY_MULTILAYER:
        return g->size * MULTILAYER;
    case BLY_COUNTS:
        return g->size * COUNTS;
    default:
        return 0;
    }
}

uint64_t kinds_most_keys(const bly_filter *f) {
    const bly_geometry g = bly_filter_geometry(f);
    const unsigned doublings = g.kind == BLY_GROWABLE_CUCKOO ? g.hashes - g.detail : 0;
    const uint64_t now = kinds_have_levels(g.kind) ? UINT64_MAX : bly_filter_capacity(f);
    return now > UINT64_MAX >> doublings ? UINT64_MAX : now << doublings;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* A ribbon that is cut to groups of slots says so in k: plan.h. */
enum { RIBBON_CUT = 64 };

/* What `size` counts: docs/format.md. */
static const char *unit_of(const bly_geometry *g) {
    switch (g->kind) {
    case BLY_CLASSIC:
    case BLY_PARTITIONED:
        return "bit";
    case BLY_CUCKOO:
    case BLY_GROWABLE_CUCKOO:
    case BLY_HYBRID:
        return "bucket";
    case BLY_FUSE:
        return "slot";
    case BLY_COUNTING:
        return "counter";
    case BLY_COUNTS:
        return "line";
    case BLY_HLL:
        return "register";
    case BLY_RIBBON:
        return g->hashes >= RIBBON_CUT ? "group" : "block";
    default:
        return "block";
    }
}

char *kinds_size(const bly_geometry *g, char out[KINDS_SIZE]) {
    char number[NUMBER_TEXT];
    (void)number_grouped(g->size, number);
    if (kinds_have_levels(g->kind))
        (void)snprintf(out, KINDS_SIZE, "%u level%s", g->hashes, g->hashes == 1 ? "" : "s");
    else if (g->kind == BLY_OVERLAY)
        (void)snprintf(out, KINDS_SIZE, "%u parts", g->hashes);
    else if (g->kind == BLY_WINDOW && g->detail & BLY_WINDOW_SMALL)
        (void)snprintf(out, KINDS_SIZE, "%u generations and the one being filled, %s columns",
                       g->detail - BLY_WINDOW_SMALL, number);
    else if (g->kind == BLY_WINDOW)
        (void)snprintf(out, KINDS_SIZE, "%u generations and the one being filled, %s line%s a part",
                       g->detail, number, g->size == 1 ? "" : "s");
    else
        (void)snprintf(out, KINDS_SIZE, "%s%s %s%s", g->kind == BLY_PARTITIONED ? "slices of " : "",
                       number, unit_of(g), g->size == 1 ? "" : "s");
    return out;
}

const char *kinds_hashes(bly_kind kind) {
    switch (kind) {
    case BLY_CUCKOO:
    case BLY_GROWABLE_CUCKOO:
    case BLY_HYBRID:
        return "bits of a remainder";
    case BLY_COUNTING:
    case BLY_MULTILAYER:
    case BLY_LAYERED:
    case BLY_COUNTS:
        return "counters per key";
    case BLY_HLL:
        return "precision";
    case BLY_OVERLAY:
        return "parts";
    case BLY_FUSE:
        return "bits of a fingerprint";
    case BLY_RIBBON:
        return "columns";
    default:
        return "bits per key";
    }
}

/* The kinds that count: their counters. */
static void counters_shape(const bly_geometry *g, char *out, size_t room) {
    const unsigned k = g->hashes;
    const char *of = k == 1 ? "counter" : "counters";
    switch (g->kind) {
    case BLY_COUNTING:
        (void)snprintf(out, room, " of %u bits, %u per key", g->detail, k);
        return;
    case BLY_COUNTS:
        (void)snprintf(out, room, " of 64 counters, %u %s per key", k, of);
        return;
    case BLY_HLL:
        (void)snprintf(out, room, " of 6 bits");
        return;
    default:
        (void)snprintf(out, room, " of %llu counters, %u %s per key",
                       (unsigned long long)(kinds_counters(g) / g->size), k, of);
        return;
    }
}

static void ribbon_shape(const bly_geometry *g, char *out, size_t room) {
    const bool cut = g->hashes >= RIBBON_CUT;
    unsigned shards = cut ? 1U << g->detail / 256 % 16 : 1 + g->detail / 256;
    int n = snprintf(out, room, " of %u slots, %.3g columns", cut ? 8 : 128,
                     g->hashes % RIBBON_CUT + (g->detail % 256) / 256.0);
    if (shards > 1 && n > 0 && (size_t)n < room)
        (void)snprintf(out + n, room - (size_t)n, ", in %u shards", shards);
}

/* What only this kind has, each with a comma before it. */
static void own_shape(const bly_geometry *g, char *out, size_t room) {
    const unsigned k = g->hashes;
    const char *one = k == 1 ? "" : "s";
    char several[32] = "";
    switch (g->kind) {
    case BLY_SCALABLE:
    case BLY_SCALABLE_CUCKOO:
    case BLY_OVERLAY:
        *out = '\0';
        return;
    case BLY_COUNTING:
    case BLY_MULTILAYER:
    case BLY_LAYERED:
    case BLY_COUNTS:
    case BLY_HLL:
        counters_shape(g, out, room);
        return;
    case BLY_CUCKOO:
    case BLY_HYBRID:
        (void)snprintf(out, room, " of 4 slots, remainders of %u bit%s", k, one);
        return;
    case BLY_GROWABLE_CUCKOO:
        if (k > g->detail)
            (void)snprintf(several, sizeof several, "can double %u time%s", k - g->detail,
                           k - g->detail == 1 ? "" : "s");
        (void)snprintf(out, room, " of 4 slots, remainders of %u bit%s, %s", k, one,
                       k > g->detail ? several : "cannot double any more");
        return;
    case BLY_FUSE:
        if (g->detail >= 32)
            (void)snprintf(several, sizeof several, ", in %u shards", 1 + g->detail / 32);
        (void)snprintf(out, room, ", fingerprints of %u bit%s%s", k, one, several);
        return;
    case BLY_RIBBON:
        ribbon_shape(g, out, room);
        return;
    default:
        (void)snprintf(out, room, ", %u bit%s per key%s%s", k, one,
                       g->options & BLY_TEXTBOOK ? ", the textbook's probes" : "",
                       g->options & BLY_FOLDABLE ? ", foldable" : "");
        return;
    }
}

char *kinds_shape(const bly_geometry *g, char out[KINDS_SHAPE]) {
    char size[KINDS_SIZE], rest[KINDS_SHAPE - KINDS_SIZE];
    own_shape(g, rest, sizeof rest);
    (void)snprintf(out, KINDS_SHAPE, "%s%s", kinds_size(g, size), rest);
    return out;
}
