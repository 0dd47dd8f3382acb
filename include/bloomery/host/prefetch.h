/* prefetch.h - prefetching a key's cache lines before its filter is found.
 *
 * Where filters are found by name, as in a server, the search takes about as long as a cache line
 * of a large filter takes to arrive from memory. A host that remembers where the filter of that
 * name was can do both at once.
 *
 * A hint is a plain copy of what locates a key's cache lines. It owns nothing, and pointers in it
 * are only passed to the processor as prefetches, never dereferenced. So it may outlive its filter:
 * if the filter has grown, moved or been destroyed since, useless lines are fetched, without harm.
 */
#ifndef BLOOMERY_HOST_PREFETCH_H
#define BLOOMERY_HOST_PREFETCH_H

#include "../filter.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BLY_PREFETCH_TARGETS = 4 };

/* Filled in by bly_prefetch_hint_init; may be copied. */
typedef struct bly_prefetch_hint {
    bly_hasher hasher;
    bly_geometry geometry; /* of the whole filter */
    uint32_t count;        /* of targets; 0: an empty hint */
    struct bly_prefetch_target {
        const void *ops; /* internal */
        const void *body;
        bly_geometry geometry;
    } targets[BLY_PREFETCH_TARGETS];
} bly_prefetch_hint;

/* Where the keys of that filter are now; for a filter with levels, those of its newest four. The
 * hint is empty for kinds whose cache lines depend on the contents of others, for keyed filters,
 * whose key is not copied, and for custom hash functions. */
BLY_API void bly_prefetch_hint_init(const bly_filter *f, bly_prefetch_hint *out);

/* Whether the hint still fits the filter: its hash function for certain, its addresses as far as a
 * quick test can tell. */
BLY_API bool bly_prefetch_hint_valid(const bly_prefetch_hint *hint, const bly_filter *f);

/* Starts fetching the key's cache lines and returns its hash, for bly_filter_add_hash and the like,
 * to be used when the filter is found and bly_prefetch_hint_valid. The hint must not be empty. */
BLY_API bly_hash bly_prefetch_hint_start(const bly_prefetch_hint *hint, const void *key,
                                         size_t len);

#ifdef __cplusplus
}
#endif
#endif
