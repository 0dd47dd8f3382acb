/* state_exact.h - the fingerprints of `dedup --exact --state`, in memory and in their file. */
#ifndef BLOOMERY_CLI_DEDUP_STATE_EXACT_H
#define BLOOMERY_CLI_DEDUP_STATE_EXACT_H

#include "dedup/fingerprint_set.h"
#include "io/fingerprint_file.h"

typedef struct exact_file {
    fingerprint_set *set;
    pages pages; /* the file, locked against other processes */
    bool open;
} exact_file;

/* Loads the set from the file. If there is no file, the set is empty, and its seed is random.
 * `expected` and `max_bytes` have the meaning that they have in fingerprint_set_create, but
 * max_bytes also covers the file's buffers. On failure, reports the error, leaves *f empty and
 * returns false. */
bool exact_file_open(exact_file *f, const char *path, uint64_t expected, uint64_t max_bytes);
/* Replaces the file atomically. On failure, reports the error and returns false. */
bool exact_file_save(exact_file *f);
void exact_file_close(exact_file *f);

uint64_t exact_file_bytes(const exact_file *f); /* memory in use */

#endif
