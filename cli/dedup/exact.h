/* exact.h - the set of all 64-bit fingerprints seen so far, in memory: what `dedup --exact` uses
 * in place of a filter.
 *
 * Two different keys are taken for one only when their fingerprints agree in all 64 bits: for n
 * keys a chance of n^2 / 2^65 that this happens at all (1 in 1.5 million for 5 million keys).
 * Fingerprints must be spread evenly over all 64-bit numbers, as hashes are.
 */
#ifndef BLOOMERY_CLI_EXACT_H
#define BLOOMERY_CLI_EXACT_H

#include <bloomery/bloomery.h>

typedef struct exact exact;

/* Room for `expected` fingerprints (0: unknown); it grows as it must, but never past `most_bytes`
 * (0: no limit). NULL: out of memory, or the limit is too small for that. */
exact *exact_create(uint64_t expected, uint64_t most_bytes);
void exact_destroy(exact *e); /* NULL does nothing */

/* Adds n fingerprints in order; fresh[i] = 1 where fingerprint i was not there before (nor earlier
 * among these). fresh may be NULL. BLY_ENOMEM, BLY_EFULL (the limit): then nothing was added. */
BLY_CHECKED bly_status exact_add(exact *e, const uint64_t *fingerprints, size_t n, uint8_t *fresh);
bool exact_has(const exact *e, uint64_t fingerprint);
void exact_prefetch(const exact *e, uint64_t fingerprint); /* it will be asked for soon */
void exact_clear(exact *e);                                /* keeps its memory */

/* The fingerprints from `first` to `last`, both included, in ascending order: as many as `room`
 * allows are put into `out`. Returns how many there are; when they are more than `room`, which of
 * them came out is not said. Takes time for the part of the table they lie in. */
size_t exact_range(const exact *e, uint64_t first, uint64_t last, uint64_t *out, size_t room);

uint64_t exact_count(const exact *e);
uint64_t exact_bytes(const exact *e); /* of memory */

/* --exact --state: the same in a file, in the format of pages.h, which is confirm.h's too. On
 * failure a message has been printed. A file that is not there gives an empty set. *seed is the
 * seed that fingerprints are made with; chosen at random when the file is new. The file stays
 * locked until exact_destroy: one process at a time. */
bool exact_load(const char *path, uint64_t expected, uint64_t most_bytes, exact **out,
                uint64_t *seed);
/* What the fingerprints are of: as the file records it, or as it is to be recorded. */
bly_key_rule exact_key_rule(const exact *e);
void exact_set_key_rule(exact *e, bly_key_rule rule);
bool exact_save(const exact *e, const char *path,
                uint64_t seed); /* temporary file, fsync, rename */

#endif
