/* fingerprint_set.h - a set of 64-bit fingerprints in memory: what `dedup --exact` has instead of a
 * filter, and --confirm for those that are not in the file yet.
 *
 * Two different keys are taken for one only when their fingerprints agree in all 64 bits: for n
 * keys a chance of n^2 / 2^65 that this happens at all (1 in 1.5 million for 5 million keys).
 * Fingerprints must be spread evenly over all 64-bit numbers, as hashes are.
 */
#ifndef BLOOMERY_CLI_FINGERPRINT_SET_H
#define BLOOMERY_CLI_FINGERPRINT_SET_H

#include <bloomery/bloomery.h>

typedef struct fingerprint_set fingerprint_set;

/* Room for `expected` fingerprints (0: unknown); it grows as it must, but never past `most_bytes`
 * (0: no limit). NULL: out of memory, or the limit is too small for that. */
fingerprint_set *fingerprint_set_create(uint64_t expected, uint64_t most_bytes);
void fingerprint_set_destroy(fingerprint_set *e); /* NULL does nothing */

/* Adds n fingerprints in order; fresh[i] = 1 where fingerprint i was not there before (nor earlier
 * among these). fresh may be NULL. BLY_ENOMEM, BLY_EFULL (the limit): then nothing was added. */
BLY_CHECKED bly_status fingerprint_set_add(fingerprint_set *e, const uint64_t *fingerprints,
                                           size_t n, uint8_t *fresh);
bool fingerprint_set_contains(const fingerprint_set *e, uint64_t fingerprint);
void fingerprint_set_prefetch(const fingerprint_set *e,
                              uint64_t fingerprint); /* it will be asked for soon */
void fingerprint_set_clear(fingerprint_set *e);      /* keeps its memory */

/* The fingerprints from `first` to `last`, both included, in ascending order: as many as `room`
 * allows are put into `out`. Returns how many there are; when they are more than `room`, which of
 * them came out is not said. Takes time for the part of the table they lie in. */
size_t fingerprint_set_range(const fingerprint_set *e, uint64_t first, uint64_t last, uint64_t *out,
                             size_t room);

uint64_t fingerprint_set_count(const fingerprint_set *e);
uint64_t fingerprint_set_bytes(const fingerprint_set *e); /* of memory */

#endif
