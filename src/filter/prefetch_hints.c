#include "filter/series.h"

#include <bloomery/ahead.h>

/* Kinds whose prefetch looks at geometry and body alone, and at no byte of the body. */
static bool is_plain(bly_kind kind) {
    switch (kind) {
    case BLY_CLASSIC:
    case BLY_PARTITIONED:
    case BLY_SBBF:
    case BLY_SPLIT512:
    case BLY_BB2X512:
    case BLY_COUNTING:
    case BLY_CUCKOO:
    case BLY_GROWABLE_CUCKOO:
        return true;
    default:
        return false;
    }
}

static bool is_secret(const bly_hasher *hasher) {
    return hasher->id == BLY_HASH_SIPHASH || hasher->id == BLY_HASH_CUSTOM;
}

void bly_ahead_of(const bly_filter *f, bly_ahead *out) {
    size_t levels = bly_filter_levels(f);
    out->places = 0;
    if (f->keyless || is_secret(&f->hasher))
        return;
    out->hasher = f->hasher;
    out->whole = f->geometry;
    while (levels > 0 && out->places < BLY_AHEAD_PLACES) {
        const bly_filter *level = bly_filter_level(f, --levels);
        if (!is_plain(level->geometry.kind))
            return;
        struct bly_ahead_place *to = &out->place[out->places++];
        to->row = level->ops;
        to->body = level->body;
        to->geometry = level->geometry;
    }
}

/* A filter with levels that has another one, or lost some, has another size. */
bool bly_ahead_holds(const bly_ahead *a, const bly_filter *f) {
    const bly_filter *newest = f->levels ? blyi_newest_level(f) : f;
    return a->places && newest->body == a->place[0].body && f->geometry.size == a->whole.size &&
           f->geometry.kind == a->whole.kind && f->hasher.seed == a->hasher.seed &&
           f->hasher.id == a->hasher.id && !f->keyless;
}

static inline void fetch(const struct bly_ahead_place *place, bly_hash h) {
    const blyi_ops *ops = place->row;
    const uint8_t *body = place->body;
    if (ops->block_shift) {
        blyi_prefetch_to_read(body +
                              blyi_block_probe_of(h, place->geometry.size, ops->block_shift).at);
        return;
    }
    /* As much of a filter as these kinds look at. */
    const bly_filter there = {
        .ops = ops, .body = (uint8_t *)(uintptr_t)body, .geometry = place->geometry};
    ops->prefetch(&there, &h, 1);
}

bly_hash bly_ahead_fetch(const bly_ahead *a, const void *key, size_t len) {
    bly_hash h = a->hasher.one(&a->hasher, key, len);
    for (uint32_t i = 0; i < a->places; i++)
        fetch(&a->place[i], h);
    return h;
}
