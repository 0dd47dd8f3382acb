/* hunch.h - where the filter of a key was found last time, to begin fetching before it is found
 * again.
 *
 * Opening a key takes the engine about as long as a line of a large filter takes to come from
 * memory. So a command on one item first has the lines fetched that the item would have in the
 * filter that the name had last, and opens the key meanwhile. A hunch may be wrong in every way
 * (<bloomery/ahead.h>): the filter is asked all the same, and remembered for the next time.
 */
#ifndef BLOOMERY_MODULE_HUNCH_H
#define BLOOMERY_MODULE_HUNCH_H

#include "args.h"

#include <bloomery/ahead.h>

typedef struct bm_hunch {
    const rm_string *name;
    const bly_ahead *ahead; /* NULL: no filter of that name is remembered */
    bly_bytes item;
    uint64_t learned; /* bm_hunch_learned, when it began */
    bly_hash hash;    /* of the item, in the filter that is */
} bm_hunch;

/* How often something was learnt. A hunch is of what was known when it began: what it points to may
 * be of another filter after that, and its hash then is none of that one's. */
extern uint64_t bm_hunch_learned;

/* Before the key is opened. In the engine's main thread alone, like the rest. */
void bm_hunch_begin(bm_hunch *hunch, const rm_string *name, bly_bytes item);

/* Remembers the filter that the name has now. */
void bm_hunch_learn(const bm_hunch *hunch, const bly_filter *f);

/* Whether the hash is the item's in the filter that the key turned out to have. */
static inline bool bm_hunch_holds(const bm_hunch *hunch, const bly_filter *f) {
    if (hunch->ahead && hunch->learned == bm_hunch_learned && bly_ahead_holds(hunch->ahead, f))
        return true;
    bm_hunch_learn(hunch, f);
    return false;
}

/* bly_filter_add and bly_filter_contains of the item. */
static inline bly_status bm_hunch_add(const bm_hunch *hunch, bly_filter *f, bool *added) {
    if (bm_hunch_holds(hunch, f))
        return bly_filter_add_hash(f, hunch->hash, added);
    return bly_filter_add(f, hunch->item.data, hunch->item.size, added);
}

static inline bool bm_hunch_ask(const bm_hunch *hunch, const bly_filter *f) {
    if (bm_hunch_holds(hunch, f))
        return bly_filter_contains_hash(f, hunch->hash);
    return bly_filter_contains(f, hunch->item.data, hunch->item.size);
}

#endif
