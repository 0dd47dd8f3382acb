/* Prefetch hints: addresses remembered from an earlier lookup, so that the lines of a key can be
 * prefetched before the filter itself is available. */
#include "filter/level_growth.h"

#include <bloomery/host/prefetch.h>

static bool hasher_is_secret(const bly_hasher *hasher) {
    return hasher->id == BLY_HASH_SIPHASH || bly_hash_is_custom((bly_hash_id)hasher->id);
}

void bly_prefetch_hint_init(const bly_filter *f, bly_prefetch_hint *out) {
    size_t levels = bly_filter_level_count(f);
    out->count = 0;
    if (f->keyless || hasher_is_secret(&f->hasher))
        return;
    out->hasher = f->hasher;
    out->geometry = f->geometry;
    while (levels > 0 && out->count < BLY_PREFETCH_TARGETS) {
        const bly_filter *level = bly_filter_level(f, --levels);
        if (!level->ops->prefetch_reads_no_body)
            return;
        struct bly_prefetch_target *to = &out->targets[out->count++];
        to->ops = level->ops;
        to->body = level->body;
        to->geometry = level->geometry;
    }
}

/* If a filter has opened or dropped a level since, its size differs. */
bool bly_prefetch_hint_valid(const bly_prefetch_hint *a, const bly_filter *f) {
    const bly_filter *newest = f->levels ? blyi_newest_level(f) : f;
    return a->count && newest->body == a->targets[0].body && f->geometry.size == a->geometry.size &&
           f->geometry.kind == a->geometry.kind && f->hasher.seed == a->hasher.seed &&
           f->hasher.id == a->hasher.id && !f->keyless;
}

static inline void prefetch_place(const struct bly_prefetch_target *place, bly_hash h) {
    const blyi_ops *ops = place->ops;
    const uint8_t *body = place->body;
    if (ops->block_shift) {
        blyi_prefetch_to_read(body +
                              blyi_block_probe_of(h, place->geometry.size, ops->block_shift).at);
        return;
    }
    /* The only members of a filter that `prefetch` of these kinds reads. */
    const bly_filter there = {
        .ops = ops, .body = (uint8_t *)(uintptr_t)body, .geometry = place->geometry};
    ops->prefetch(&there, &h, 1);
}

bly_hash bly_prefetch_hint_start(const bly_prefetch_hint *a, const void *key, size_t len) {
    bly_hash h = a->hasher.one(&a->hasher, key, len);
    for (uint32_t i = 0; i < a->count; i++)
        prefetch_place(&a->targets[i], h);
    return h;
}
