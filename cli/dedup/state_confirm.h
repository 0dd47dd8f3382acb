/* state_confirm.h - fingerprints on disk behind a filter in memory, for `dedup --confirm FILE`.
 *
 * For most new keys the filter answers "certainly new". Only possible repeats are looked up, first
 * among the fingerprints in memory, then in the file by one short read. So no new key is dropped
 * (except if 64-bit fingerprints are equal by chance, see fingerprint_set.h), and memory is that of
 * the filter and of a few tables of fixed size (10 MB).
 *
 * Only confirm_settle writes fingerprints to the file. The caller must flush their lines first. So
 * after a kill at any moment, all lines whose fingerprints are in the file were printed.
 */
#ifndef BLOOMERY_CLI_DEDUP_STATE_CONFIRM_H
#define BLOOMERY_CLI_DEDUP_STATE_CONFIRM_H

#include <bloomery/bloomery.h>

typedef struct confirm confirm;

/* Opens or creates the file, and locks it against other processes. An existing file is read once,
 * to fill the filter. `expected`: the number of keys (0: unknown). `fpr`: the filter's rate; a rate
 * below 10^-6 is raised to that. On failure, reports the error and returns NULL. */
confirm *confirm_open(const char *path, uint64_t expected, double fpr);

/* The hasher whose lo words are the fingerprints. Its seed is random, and stored in the file. */
const bly_hasher *confirm_hasher(const confirm *c);

/* Adds fingerprints, and sets fresh[i] as fingerprint_set_add does. n is at most INPUT_BATCH.
 * Returns BLY_EIO if the file could not be read (see errno); BLY_ENOMEM if the filter could not
 * grow. A failed call adds nothing, and may be repeated. */
BLY_CHECKED bly_status confirm_add(confirm *c, const uint64_t *fingerprints, size_t n,
                                   uint8_t *fresh);

/* Whether confirm_settle should be called now. If it is not called, memory grows. */
bool confirm_is_due(const confirm *c);

/* Writes the fingerprints that are only in memory to the file. On failure, reports the error and
 * returns false; the fingerprints that did not reach the file stay in memory, and all answers stay
 * right. */
bool confirm_settle(confirm *c);

uint64_t confirm_count(const confirm *c);   /* number of fingerprints */
uint64_t confirm_bytes(const confirm *c);   /* memory in use */
uint64_t confirm_lookups(const confirm *c); /* pages of the file that were read */
uint64_t confirm_saved(const confirm *c);   /* new keys that the filter alone would have dropped */

/* Fingerprints that were not written to the file are lost. NULL does nothing. */
void confirm_close(confirm *c);

#endif
