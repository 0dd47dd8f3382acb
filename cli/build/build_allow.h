/* build_allow.h - the lines that a list must not match (--must-not-match). */
#ifndef BLOOMERY_CLI_BUILD_ALLOW_H
#define BLOOMERY_CLI_BUILD_ALLOW_H

#include "io/gathered_keys.h"
#include "io/list_lines.h"

typedef struct build_allow {
    const char *path;
    bly_list_type type;
    byte_strings lines; /* for each line: its number and level, its text, its key */
    uint64_t count;
} build_allow;

/* Reads the lines of a file. `skip`: malformed lines are skipped. On failure, reports the error and
 * returns false. */
bool build_allow_read(build_allow *a, const char *path, const line_rule *rule, bool skip);

/* Returns the number of lines that are really in the list, not only false positives, and reports
 * the first of them. */
uint64_t build_allow_in_list(const build_allow *a, const bly_list_levels *levels,
                             const bly_hasher *hasher, const gathered_keys *keys);

/* Returns the number of lines that the filter matches, false positives included. */
uint64_t build_allow_count_matches(const build_allow *a, const bly_list_levels *levels,
                                   const bly_filter *f);

void build_allow_free(build_allow *a);

#endif
