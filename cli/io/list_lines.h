/* build_read.h - the lines of files as keys of one type, malformed lines told. */
#ifndef BLOOMERY_CLI_BUILD_READ_H
#define BLOOMERY_CLI_BUILD_READ_H

#include "io/line_words.h"

typedef struct build_lines {
    uint64_t lines, malformed;
    uint64_t empty; /* blank lines and comments */
    bool stopped;   /* set by a build_line that is false for a reason that it has reported */
} build_lines;

/* false: out of memory, unless it says otherwise. Nothing more is read. */
typedef bool build_line(void *ctx, uint64_t number, bly_bytes line, const bly_list_key *key);

/* Calls `each` for every key of the files (none: standard input); counts in *lines, which begins
 * zeroed. The first malformed lines are named. With `skip` they are left out, else they make it
 * false, as do a file that cannot be read, want of memory and an `each` that stops; all
 * reported. */
bool build_read(char **paths, size_t count, const line_rule *rule, bool skip, build_line *each,
                void *ctx, build_lines *lines);

#endif
