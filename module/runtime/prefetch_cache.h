/* prefetch_cache.h - remembers where the filter of a key was, to prefetch from it before the key is
 * opened.
 *
 * Opening a key takes the engine about as long as a cache line of a large filter takes to come from
 * memory. So a command on one item first prefetches the lines that the item would use in the filter
 * that the name had last time, and opens the key meanwhile. The remembered addresses are only a
 * hint (<bloomery/host/prefetch.h>) and may be outdated in every way. So the lookup always uses the
 * filter that the key has now, which is then remembered.
 */
#ifndef BLOOMERY_MODULE_PREFETCH_CACHE_H
#define BLOOMERY_MODULE_PREFETCH_CACHE_H

#include "engine_api.h"

#include <bloomery/host/prefetch.h>

typedef struct bm_prefetch {
    const rm_string *name;
    const bly_prefetch_hint *hint; /* NULL: no filter of that name is remembered */
    bly_bytes item;
    uint64_t generation; /* bm_prefetch_generation when the prefetch began */
    bly_hash hash;       /* of the item in the remembered filter */
} bm_prefetch;

/* Grows whenever an entry of the cache changes. A prefetch that began before may refer to an entry
 * that describes another filter now, and its hash must not be used for that one. */
extern uint64_t bm_prefetch_generation;

/* Before the key is opened. All functions must be called in the engine's main thread. */
void bm_prefetch_begin(bm_prefetch *prefetch, const rm_string *name, bly_bytes item);

/* Remembers the filter that the name has now. */
void bm_prefetch_remember(const bm_prefetch *prefetch, const bly_filter *f);

/* Whether prefetch->hash is the item's hash in the filter that the key has. If not, the filter is
 * remembered. */
static inline bool bm_prefetch_matches(const bm_prefetch *prefetch, const bly_filter *f) {
    if (prefetch->hint && prefetch->generation == bm_prefetch_generation &&
        bly_prefetch_hint_valid(prefetch->hint, f))
        return true;
    bm_prefetch_remember(prefetch, f);
    return false;
}

/* bly_filter_add and bly_filter_contains of the item. */
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
