/* list_lines_read.h - the lines of files as keys of one type, malformed lines told. */
#ifndef BLOOMERY_CLI_LIST_LINES_H
#define BLOOMERY_CLI_LIST_LINES_H

#include "io/line_words.h"

typedef struct list_lines {
    uint64_t lines, malformed;
    uint64_t empty; /* blank lines and comments */
    bool stopped;   /* set by a list_line that is false for a reason that it has reported */
} list_lines;

/* false: out of memory, unless it says otherwise. Nothing more is read. */
typedef bool list_line(void *ctx, uint64_t number, bly_bytes line, const bly_list_key *key);

/* Calls `each` for every key of the files (none: standard input); counts in *lines, which begins
 * zeroed. The first malformed lines are named. With `skip` they are left out, else they make it
 * false, as do a file that cannot be read, want of memory and an `each` that stops; all
 * reported. */
bool list_lines_read(char **paths, size_t count, const line_rule *rule, bool skip, list_line *each,
                     void *ctx, list_lines *lines);

#endif
