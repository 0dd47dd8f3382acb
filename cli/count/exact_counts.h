/* exact_counts.h - how often each key came, exactly, in memory that grows with the number of keys.
 *
 * A hybrid filter (fingerprints with counts) has room for a number of keys that is known before.
 * Here a further one is added when the last is full, for as many keys as all before together; a key
 * stays in the level that it came into. Two keys are mistaken for one at the rate requested, for
 * which each level is made with a sixteenth of it.
 */
#ifndef BLOOMERY_CLI_EXACT_COUNTS_H
#define BLOOMERY_CLI_EXACT_COUNTS_H

#include "io/input.h"
#include <bloomery/bloomery.h>

enum { EXACT_COUNTS_LEVELS = 32 };

typedef struct exact_counts {
    bly_hasher hasher;
    double rate;         /* of each level */
    uint64_t most_bytes; /* of all levels */
    size_t levels;
    struct exact_level {
        bly_filter *filter;
        uint64_t keys, room;
    } level[EXACT_COUNTS_LEVELS];
    uint8_t found[INPUT_BATCH];
    uint8_t level_of[INPUT_BATCH]; /* 1 + the level that had the key before the batch, or 0 */
} exact_counts;

/* Room for `keys` at first. It takes no more than most_bytes, and a quarter of that for a moment
 * when a level grows for counts of 15 and more. BLY_EFULL: that is too little for any. */
BLY_CHECKED bly_status exact_counts_open(exact_counts *e, const bly_hasher *hasher, double rate,
                                         uint64_t keys, uint64_t most_bytes);
void exact_counts_close(exact_counts *e); /* one that is all zero, too */

/* Counts n hashes, at most INPUT_BATCH: times[i] is how often the i-th has come, this time
 * included, and *fresh grows by those that are new. *status is BLY_OK, BLY_EFULL (they would take
 * more than most_bytes), or BLY_ENOMEM. Returns how many were counted. */
size_t exact_counts_take(exact_counts *e, const bly_hash *hashes, size_t n, uint64_t *times,
                         uint64_t *fresh, bly_status *status);

uint64_t exact_counts_keys(const exact_counts *e);  /* different ones */
uint64_t exact_counts_bytes(const exact_counts *e); /* of memory */

/* The most keys for which a filter of `bytes` is enough; 0: not even for one. */
uint64_t exact_counts_within(bly_kind kind, double rate, unsigned hash_bits, uint64_t bytes);

#endif
