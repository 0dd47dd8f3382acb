/* fingerprint_set.h - a set of 64-bit fingerprints in memory, for `dedup --exact`, and for the
 * fingerprints of --confirm that are not in the file yet.
 *
 * Two different keys are mistaken for each other only if their fingerprints are equal. For n keys,
 * the probability that this happens at all is n^2 / 2^65 (1 in 1.5 million for 5 million keys).
 * Fingerprints must be uniformly distributed over all 64-bit numbers, as hashes are.
 */
#ifndef BLOOMERY_CLI_FINGERPRINT_SET_H
#define BLOOMERY_CLI_FINGERPRINT_SET_H

#include <bloomery/bloomery.h>

typedef struct fingerprint_set fingerprint_set;

/* Creates a set with room for `expected` fingerprints (0: unknown). It grows as needed, to at most
 * `max_bytes` (0: no limit). NULL: out of memory, or the limit is too small. */
fingerprint_set *fingerprint_set_create(uint64_t expected, uint64_t max_bytes);
void fingerprint_set_destroy(fingerprint_set *e); /* NULL does nothing */

/* Adds n fingerprints in order; fresh[i] = 1 if fingerprint i was not in the set (nor earlier in
 * this batch). fresh may be NULL. After BLY_ENOMEM or BLY_EFULL (the limit is reached) nothing was
 * added. */
BLY_CHECKED bly_status fingerprint_set_add(fingerprint_set *e, const uint64_t *fingerprints,
                                           size_t n, uint8_t *fresh);
bool fingerprint_set_contains(const fingerprint_set *e, uint64_t fingerprint);
/* Loads the memory of a fingerprint that will be looked up or added soon. */
void fingerprint_set_prefetch(const fingerprint_set *e, uint64_t fingerprint);
void fingerprint_set_clear(fingerprint_set *e); /* its memory stays allocated */

/* Writes the fingerprints from `first` to `last`, both included, to `out` in ascending order, at
 * most `room`. Returns their number; if it exceeds `room`, any of them may be missing in `out`. Its
 * time is proportional to that part of the table. */
size_t fingerprint_set_range(const fingerprint_set *e, uint64_t first, uint64_t last, uint64_t *out,
                             size_t room);

uint64_t fingerprint_set_count(const fingerprint_set *e);
uint64_t fingerprint_set_bytes(const fingerprint_set *e); /* memory in use */

#endif
