/* chain.h - a list of fingerprint tables, each a refinement of those before it. Internal.
 * scalable_cuckoo.c explains it.
 */
#ifndef BLYI_KINDS_CUCKOO_CHAIN_H
#define BLYI_KINDS_CUCKOO_CHAIN_H

#include "filter/level_growth.h"
#include "kinds/cuckoo/entries.h"

/* Whether keys of one class in a table `fine` are of one class in a table `coarse`, which has fewer
 * classes and as many buckets or fewer. */
bool blyi_refines(const bly_geometry *fine, const bly_geometry *coarse);

/* Whether two tables have the same shape. Then they have one share of the rate between them: a
 * union may leave such levels. */
static inline bool blyi_tables_share_rate(const bly_geometry *a, const bly_geometry *b) {
    return a->kind == BLY_CUCKOO && b->kind == BLY_CUCKOO && a->size == b->size &&
           a->hashes == b->hashes;
}

/* Whether a level of the one shape may come after one of the other: a refinement, or its twin. */
bool blyi_chain_fits(const blyi_shape *newer, const blyi_shape *older);

/* Stores an entry, of class c in table `of`, in the newest of the first `end` levels that has a
 * place for it and less than so many tenths of its capacity in use. False: in none of them, and no
 * byte has changed. The whole's items are left to the caller. */
bool blyi_chain_store(bly_filter *f, unsigned end, unsigned tenths, const blyi_table *of,
                      blyi_class c);

/* Moves entries of level i, from slot *slot up to slot `end`, to older levels, as far as they have
 * room. Returns how many; *slot is where it stopped: an entry without a place stays. */
uint64_t blyi_chain_drain(bly_filter *f, unsigned i, uint64_t *slot, uint64_t end);

/* blyi_ops.union_with and .compatible. */
bly_status blyi_chain_unite(bly_filter *dst, const bly_filter *src);
bool blyi_chain_compatible(const bly_filter *a, const bly_filter *b);

#endif
