/* kind_words.c - queries the library about kinds, and writes lists of their names. */
#include "filters/kind_words.h"

#include <bloomery/filter.h>
#include <bloomery/host/describe.h>

#include <stdio.h>

static bly_kind_info info_of(bly_kind kind) {
    bly_kind_info info = {.struct_size = sizeof info};
    if (bly_kind_get_info(kind, &info) != BLY_OK)
        info = (bly_kind_info){.struct_size = sizeof(bly_kind_info),
                               .name = "unknown",
                               .article = "an",
                               .meaning = "unknown",
                               .hashes = "hashes"};
    return info;
}

const char *kinds_article(bly_kind kind) {
    return info_of(kind).article;
}

const char *kinds_meaning(bly_kind kind) {
    return info_of(kind).meaning;
}

const char *kinds_hashes(bly_kind kind) {
    return info_of(kind).hashes;
}

char *kinds_that_can(uint32_t capabilities, char out[KINDS_LIST]) {
    enum { MAX = 32 };
    const char *names[MAX];
    size_t n = 0, used = 0;
    for (bly_kind k = bly_kind_next(BLY_KIND_NONE); k != BLY_KIND_NONE && n < MAX;
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
    return kinds_can(kind, BLY_HAS_LEVELS);
}

bool kinds_are_bits(bly_kind kind) {
    const uint32_t others =
        BLY_CAN_REMOVE | BLY_CAN_BUILD | BLY_FORGETS | BLY_CAN_COUNT | BLY_CARDINALITY_ONLY;
    return !(bly_kind_capabilities(kind) & others) && !kinds_grow(kind);
}

bool kinds_share_cells(bly_kind kind) {
    return kinds_are_bits(kind) || (kinds_hold_copies(kind) && !kinds_hold_slots(kind));
}

bool kinds_hold_copies(bly_kind kind) {
    return kinds_can(kind, BLY_CAN_REMOVE | BLY_CAN_COUNT);
}

bool kinds_hold_slots(bly_kind kind) {
    return kinds_can(kind, BLY_HAS_SLOTS);
}

bool kinds_limit_copies(bly_kind kind) {
    return kinds_can(kind, BLY_LIMITS_COPIES);
}

char *kinds_size(const bly_geometry *g, char out[KINDS_SIZE]) {
    (void)bly_geometry_format_size(g, out, KINDS_SIZE);
    return out;
}

char *kinds_shape(const bly_geometry *g, char out[KINDS_SHAPE]) {
    (void)bly_geometry_format(g, out, KINDS_SHAPE);
    return out;
}
