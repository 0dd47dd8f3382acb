/* ahead.h - fetching the memory that a key falls in while its filter is still being looked for.
 *
 * Where filters are found by name, as in a server, finding one takes about as long as a line of a
 * large filter takes to come from memory. Whoever remembers where the filter of that name was last
 * time can do both at once.
 *
 * A bly_ahead is a plain copy of what leads to a key's lines. It owns nothing, and no pointer to
 * the filter's memory in it is ever followed: they are only handed to the processor as wishes. So
 * it may outlive its filter, which may have grown, moved or died since: lines are then fetched that
 * nobody needs, and no harm is done.
 */
#ifndef BLOOMERY_AHEAD_H
#define BLOOMERY_AHEAD_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BLY_AHEAD_PLACES = 4 };

/* Filled in by bly_ahead_of; copy it as you like. */
typedef struct bly_ahead {
    bly_hasher hasher;
    bly_geometry whole;
    uint32_t places; /* 0: nothing is known */
    struct bly_ahead_place {
        const void *row; /* the library's own */
        const void *body;
        bly_geometry geometry;
    } place[BLY_AHEAD_PLACES];
} bly_ahead;

/* Where the keys of that filter are now, of one with levels those in its newest four. Nothing is
 * known of kinds whose lines cannot be told without looking at others (scalable and scalable-cuckoo
 * filters, and what these are made of, are not among them), nor of filters that are keyed, whose
 * secret is not copied, or have a hash function of the caller's own. */
BLY_API void bly_ahead_of(const bly_filter *f, bly_ahead *out);

/* Whether what is known is still so: surely, as far as hashes go, and as far as can be told at a
 * glance of the places. */
BLY_API bool bly_ahead_holds(const bly_ahead *a, const bly_filter *f);

/* Starts fetching the key's lines, and returns its hash: for bly_filter_add_hash and the like, once
 * the filter is at hand and bly_ahead_holds. Something must be known. */
BLY_API bly_hash bly_ahead_fetch(const bly_ahead *a, const void *key, size_t len);

#ifdef __cplusplus
}
#endif
#endif
