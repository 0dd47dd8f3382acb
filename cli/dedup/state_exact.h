/* state_exact.h - the fingerprints of `dedup --exact --state`, in memory and in their file. */
#ifndef BLOOMERY_CLI_DEDUP_STATE_EXACT_H
#define BLOOMERY_CLI_DEDUP_STATE_EXACT_H

#include "dedup/fingerprint_set.h"
#include "io/fingerprint_file.h"

typedef struct exact_file {
    fingerprint_set *set;
    pages pages; /* the file: locked, one process at a time */
    bool open;
} exact_file;

/* The set in the file; an empty one if there is no file, whose seed is then a random one.
 * `expected` and `max_bytes` as fingerprint_set_create has them, the file's memory included. false:
 * reported, and *f is empty. */
bool exact_file_open(exact_file *f, const char *path, uint64_t expected, uint64_t max_bytes);
/* Replaces the file, by a temporary one and a rename. false: reported. */
bool exact_file_save(exact_file *f);
void exact_file_close(exact_file *f);

uint64_t exact_file_bytes(const exact_file *f); /* of memory */

#endif
