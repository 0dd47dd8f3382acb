/* prefetch_cache.h - remembers where the filter of a key was, so that its memory can be prefetched
 * before the key is opened.
 *
 * Opening a key takes the engine about as long as loading a cache line of a large filter from
 * memory. So a command on one item first prefetches the cache lines that the item uses in the
 * filter that this name had last time, and opens the key while they are loaded. The remembered
 * addresses are only a hint (<bloomery/host/prefetch.h>), and may all be outdated. So the lookup
 * always uses the filter that the key has now. If the hint was wrong, that filter is remembered
 * instead.
 */
#ifndef BLOOMERY_MODULE_PREFETCH_CACHE_H
#define BLOOMERY_MODULE_PREFETCH_CACHE_H

#include "engine_api.h"

#include <bloomery/host/prefetch.h>

typedef struct bm_prefetch {
    const rm_string *name;
    const bly_prefetch_hint *hint; /* NULL: no filter is remembered for this name */
    bly_bytes item;
    uint64_t generation; /* bm_prefetch_generation when the prefetch began */
    bly_hash hash;       /* the item's hash in the remembered filter */
} bm_prefetch;

/* Increases whenever an entry of the cache changes. The entry to which a bm_prefetch refers may
 * then describe another filter, for which the hash in the bm_prefetch must not be used. */
extern uint64_t bm_prefetch_generation;

/* Starts the prefetch. To be called before the key is opened. All functions of this header must be
 * called in the engine's main thread. */
void bm_prefetch_begin(bm_prefetch *prefetch, const rm_string *name, bly_bytes item);

/* Remembers the filter that the name has now. */
void bm_prefetch_remember(const bm_prefetch *prefetch, const bly_filter *f);

/* Whether prefetch->hash is the item's hash in `f`, the filter that the key has now. If not,
 * remembers `f` for the next prefetch. */
static inline bool bm_prefetch_matches(const bm_prefetch *prefetch, const bly_filter *f) {
    if (prefetch->hint && prefetch->generation == bm_prefetch_generation &&
        bly_prefetch_hint_valid(prefetch->hint, f))
        return true;
    bm_prefetch_remember(prefetch, f);
    return false;
}

/* These two call bly_filter_add and bly_filter_contains for the item, with the prefetched hash if
 * possible. */
static inline bly_status bm_prefetch_add(const bm_prefetch *prefetch, bly_filter *f, bool *added) {
    if (bm_prefetch_matches(prefetch, f))
        return bly_filter_add_hash(f, prefetch->hash, added);
    return bly_filter_add(f, prefetch->item.data, prefetch->item.size, added);
}

static inline bool bm_prefetch_contains(const bm_prefetch *prefetch, const bly_filter *f) {
    if (bm_prefetch_matches(prefetch, f))
        return bly_filter_contains_hash(f, prefetch->hash);
    return bly_filter_contains(f, prefetch->item.data, prefetch->item.size);
}

#endif
