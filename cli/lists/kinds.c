#include "kinds.h"

#include "numbers.h"

#include <stdio.h>

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
    case BLY_STABLE:
        return "forgets old keys bit by bit in a fixed size; may forget early";
    case BLY_CUCKOO:
        return "fingerprints in buckets; keys can be removed";
    case BLY_FUSE:
        return "built from all keys at once; small and fast, never changes";
    case BLY_RIBBON:
        return "built from all keys at once; the smallest, never changes";
    case BLY_GROWABLE_CUCKOO:
        return "fingerprints in buckets; keys can be removed, and it doubles when full";
    case BLY_KIND_NONE:
        break;
    }
    return "unknown";
}

char *kinds_that_can(uint32_t capabilities, char out[KINDS_LIST]) {
    const char *names[16];
    size_t n = 0, used = 0;
    for (bly_kind k = bly_kind_next(BLY_KIND_NONE); k != BLY_KIND_NONE && n < 16;
         k = bly_kind_next(k))
        if ((bly_kind_capabilities(k) & capabilities) == capabilities)
            names[n++] = bly_kind_name(k);
    out[0] = '\0';
    for (size_t i = 0; i < n && used < KINDS_LIST; i++) {
        const char *before = i == 0 ? "" : i + 1 == n ? " and " : ", ";
        used += (size_t)snprintf(out + used, KINDS_LIST - used, "%s%s", before, names[i]);
    }
    return out;
}

char *kinds_size(const bly_geometry *g, char out[KINDS_SIZE]) {
    char number[NUMBER_TEXT];
    (void)number_grouped(g->size, number);
    const char *several = g->size == 1 ? "" : "s";
    if (g->kind == BLY_SCALABLE)
        (void)snprintf(out, KINDS_SIZE, "%u level%s", g->hashes, g->hashes == 1 ? "" : "s");
    else if (g->kind == BLY_PARTITIONED)
        (void)snprintf(out, KINDS_SIZE, "slices of %s bits", number);
    else
        (void)snprintf(out, KINDS_SIZE, "%s %s%s", number, g->kind == BLY_CLASSIC ? "bit" : "block",
                       several);
    return out;
}
