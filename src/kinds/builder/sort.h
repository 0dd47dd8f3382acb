/* sort.h - hashes in order, each once. Internal. */
#ifndef BLYI_KINDS_BUILDER_SORT_H
#define BLYI_KINDS_BUILDER_SORT_H

#include <bloomery/base.h>

/* Sorts by (lo, hi), drops repeats, and returns how many are left. All hashes have the same
 * `common` leading bits in lo. `scratch` has room for n. */
size_t blyi_sort_unique(bly_hash *h, size_t n, bly_hash *scratch, unsigned common);

#endif
