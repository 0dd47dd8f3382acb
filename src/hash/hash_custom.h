/* hash_custom.h - the two forms of a custom hash function, mixed and raw. Internal.
 *
 * A file records the form by its hash id, and the function by its tag. Keys added in one form are
 * not found in the other. A caller who has the function can use either form, so a file is always
 * read in the form that it records, whichever form the caller chose.
 */
#ifndef BLYI_HASH_HASH_CUSTOM_H
#define BLYI_HASH_HASH_CUSTOM_H

#include <bloomery/hash.h>

/* Whether `given` computes the hashes of a filter with that hash id, and that seed, key id or tag.
 * If so, *out becomes the hasher to use: a copy of `given`, with a custom function in the form that
 * the id names. `given` may be NULL, or `out` itself. */
bool blyi_hasher_match(const bly_hasher *given, uint16_t id, uint64_t seed, bly_hasher *out);

#endif
