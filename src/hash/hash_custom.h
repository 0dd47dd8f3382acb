/* hash_custom.h - the two forms of a custom hash function, mixed and raw. Internal.
 *
 * A file records the form by its hash id, and the function by its tag. Keys added in one form are
 * not found in the other. The function serves for both forms, so a filter is always read in the
 * form that its file records, whichever form the caller's hasher has.
 */
#ifndef BLYI_HASH_HASH_CUSTOM_H
#define BLYI_HASH_HASH_CUSTOM_H

#include <bloomery/hash.h>

/* Whether `given` computes the hashes of a filter whose file records the hash id `id`, and `seed`
 * as its seed, key id or tag. If so, *out becomes the hasher to use: a copy of `given`, but a
 * custom function has the form that `id` stands for. `given` may be NULL, or `out` itself. */
bool blyi_hasher_match(const bly_hasher *given, uint16_t id, uint64_t seed, bly_hasher *out);

#endif
