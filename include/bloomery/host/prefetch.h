/* prefetch.h - prefetching a key's cache lines before its filter is found.
 *
 * Finding a filter by its name takes a server about as long as loading a cache line. A host that
 * remembers where the filter was can do both at once.
 *
 * A hint is a plain copy of what locates a key's cache lines. Its pointers are only prefetched
 * from, never dereferenced, so it may outlive its filter: if the filter has grown, moved or been
 * destroyed, useless lines are fetched, without harm. */
#ifndef BLOOMERY_HOST_PREFETCH_H
#define BLOOMERY_HOST_PREFETCH_H

#include "../filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of levels that a hint covers at most. */
enum { BLY_PREFETCH_TARGETS = 4 };

/* Where the cache lines of a filter's keys are. It may be copied. */
typedef struct bly_prefetch_hint {
    bly_hasher hasher;
    bly_geometry geometry; /* of the whole filter */
    uint32_t count;        /* number of targets; 0: an empty hint */
    struct bly_prefetch_target {
        const void *ops; /* internal */
        const void *body;
        bly_geometry geometry;
    } targets[BLY_PREFETCH_TARGETS];
} bly_prefetch_hint;

/* Fills in a hint for a filter; for a filter with levels, for its newest four. The hint is empty
 * for kinds whose cache lines depend on the contents of others, for keyed filters, whose key is not
 * copied, and for custom hash functions. */
BLY_API void bly_prefetch_hint_init(const bly_filter *f, bly_prefetch_hint *out);

/* Returns true if the hint still fits the filter. The hash function is compared exactly, the
 * addresses as far as a quick test can tell. */
BLY_API bool bly_prefetch_hint_valid(const bly_prefetch_hint *hint, const bly_filter *f);

/* Starts to fetch the cache lines of a key. The hint must not be empty. Returns the hash of the
 * key, for bly_filter_add_hash and the like if bly_prefetch_hint_valid once the filter is found. */
BLY_API bly_hash bly_prefetch_hint_start(const bly_prefetch_hint *hint, const void *key,
                                         size_t len);

#ifdef __cplusplus
}
#endif
#endif
