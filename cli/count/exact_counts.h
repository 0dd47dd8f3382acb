/* exact_counts.h - exact counts of keys, in memory that grows with the number of keys.
 *
 * A hybrid filter (fingerprints with counts) has a fixed capacity. When it is full, another one (a
 * level) is added, for as many keys as all levels before it together. A key stays in the level that
 * it was added to. A new key is mistaken for an earlier one at the requested rate; each level is
 * created with a sixteenth of that rate.
 */
#ifndef BLOOMERY_CLI_EXACT_COUNTS_H
#define BLOOMERY_CLI_EXACT_COUNTS_H

#include "io/input.h"
#include <bloomery/bloomery.h>

enum { EXACT_COUNTS_LEVELS = 32 };

typedef struct exact_counts {
    bly_hasher hasher;
    double rate;        /* false-positive rate of each level */
    uint64_t max_bytes; /* maximum size of all levels together */
    size_t levels;
    struct exact_level {
        bly_filter *filter;
        uint64_t keys, room;
    } level[EXACT_COUNTS_LEVELS];
    uint8_t found[INPUT_BATCH];
    uint8_t level_of[INPUT_BATCH]; /* 1 + the level that had the key before the batch, or 0 */
} exact_counts;

/* Creates counts, at first for `keys` keys. They use at most max_bytes, and a quarter more while a
 * level grows for counts of 15 and more. Returns BLY_EFULL if max_bytes is too little for a single
 * key. */
BLY_CHECKED bly_status exact_counts_open(exact_counts *e, const bly_hasher *hasher, double rate,
                                         uint64_t keys, uint64_t max_bytes);
void exact_counts_close(exact_counts *e); /* also if *e is zeroed */

/* Counts n hashes, at most INPUT_BATCH: times[i] is how often the i-th has occurred, this time
 * included. The number of new keys is added to *fresh. *status is BLY_OK, BLY_EFULL (more than
 * max_bytes would be needed) or BLY_ENOMEM. Returns how many hashes were counted. */
size_t exact_counts_take(exact_counts *e, const bly_hash *hashes, size_t n, uint64_t *times,
                         uint64_t *fresh, bly_status *status);

uint64_t exact_counts_keys(const exact_counts *e);  /* number of different keys */
uint64_t exact_counts_bytes(const exact_counts *e); /* memory in use */

/* The largest capacity of a filter of at most `bytes`; 0 if not even one key fits. */
uint64_t exact_counts_within(bly_kind kind, double rate, unsigned hash_bits, uint64_t bytes);

#endif
