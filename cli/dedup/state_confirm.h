/* state_confirm.h - fingerprints kept on disk, behind a filter in memory: what `dedup --confirm
 * FILE` uses.
 *
 * The filter answers for most new keys at once: "surely new". Only what it takes for seen is looked
 * up, first among the fingerprints still in memory, then in the file: one short read. So no new key
 * is lost (but for a collision of 64-bit fingerprints, see fingerprint_set.h), while memory stays
 * at what the filter and a few tables of fixed size (10 MB) take.
 *
 * Fingerprints reach the file only by confirm_settle. The caller first hands on (flushes) the lines
 * they stand for: after a kill at any moment the file knows no line that was not printed.
 */
#ifndef BLOOMERY_CLI_DEDUP_STATE_CONFIRM_H
#define BLOOMERY_CLI_DEDUP_STATE_CONFIRM_H

#include <bloomery/bloomery.h>

typedef struct confirm confirm;

/* Opens or creates the file. An existing one is read once, to fill the filter. `expected` keys (0:
 * unknown, then the filter grows) at the filter's rate `fpr`, or 10^-6 if it is lower. One process
 * at a time: the file is locked. On failure a message has been printed and the result is NULL. */
confirm *confirm_open(const char *path, uint64_t expected, double fpr);

/* The hasher whose lo words are the fingerprints: seeded at random when the file was made. */
const bly_hasher *confirm_hasher(const confirm *c);

/* As fingerprint_set_add, for n of at most INPUT_BATCH. BLY_EIO: reading the file failed (errno);
 * BLY_ENOMEM: no memory for the filter to grow. On failure nothing was added, and it may be tried
 * again. */
BLY_CHECKED bly_status confirm_add(confirm *c, const uint64_t *fingerprints, size_t n,
                                   uint8_t *fresh);

/* Whether enough new fingerprints wait in memory that it is time to settle: at once, or memory
 * grows. */
bool confirm_is_due(const confirm *c);

/* Writes the waiting fingerprints to the file. false: a message has been printed; what is not in
 * the file waits on, and all answers stay right. */
bool confirm_settle(confirm *c);

uint64_t confirm_count(const confirm *c);   /* fingerprints in all */
uint64_t confirm_bytes(const confirm *c);   /* of memory */
uint64_t confirm_lookups(const confirm *c); /* in the file, to settle a suspicion */
uint64_t confirm_saved(const confirm *c);   /* keys that the filter alone would have lost */

/* Frees; what was not settled is forgotten. NULL does nothing. */
void confirm_close(confirm *c);

#endif
