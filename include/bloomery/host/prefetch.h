/* prefetch.h - prefetching a key's cache lines before the filter itself has been found.
 *
 * A server that finds filters by name needs about as long for that as for loading a cache line. If
 * it remembers where the filter was, it can do both at the same time.
 *
 * A hint is a plain copy of the data by which a key's cache lines are located. Its pointers are
 * only prefetched, never dereferenced, so a hint may outlive its filter: if the filter has grown,
 * was moved or was destroyed, the wrong lines are fetched, which does no harm. */
#ifndef BLOOMERY_HOST_PREFETCH_H
#define BLOOMERY_HOST_PREFETCH_H

#include "../filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The maximum number of levels that a hint covers. */
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

/* Fills in a hint for a filter; if the filter has levels, for its newest four. The hint is empty
 * for kinds in which the contents of one cache line determine the next one, for keyed filters (a
 * hint has no copy of the key), and for custom hash functions. */
BLY_API void bly_prefetch_hint_init(const bly_filter *f, bly_prefetch_hint *out);

/* Returns true if the hint still fits the filter. The hash function is compared exactly; addresses
 * only by a quick test, which may miss a difference. */
BLY_API bool bly_prefetch_hint_valid(const bly_prefetch_hint *hint, const bly_filter *f);

/* Starts to fetch the cache lines of a key. The hint must not be empty. Returns the hash of the
 * key. When the filter has been found, and bly_prefetch_hint_valid is true for it, this hash may be
 * passed to bly_filter_add_hash and similar functions. */
BLY_API bly_hash bly_prefetch_hint_start(const bly_prefetch_hint *hint, const void *key,
                                         size_t len);

#ifdef __cplusplus
}
#endif
#endif
