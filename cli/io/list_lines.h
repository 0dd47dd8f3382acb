/* list_lines.h - reads files of lines as keys of one type (<bloomery/list.h>). */
#ifndef BLOOMERY_CLI_LIST_LINES_H
#define BLOOMERY_CLI_LIST_LINES_H

#include <bloomery/bloomery.h>
#include <bloomery/host/lists.h>

/* The types that can be chosen, for a CLI_CHOICE: in the order of bly_list_type. */
#define LINE_TYPE_CHOICES "ip|phone|email|domain|url|line"

/* The name of the type of a list; "line" also for records, "dedup --url" and so on for other
 * states, NULL for BLY_LIST_NONE. */
const char *line_type_words(bly_list_type type);

/* How lines become keys of a list. */
typedef struct line_rule {
    bly_list_type type;
    uint32_t flags; /* flags for bly_list_read */
} line_rule;

/* Quotes untrusted bytes, at most 60, escaped as in a message. */
enum { LINE_QUOTE = 256 };
char *line_quote(bly_bytes text, char out[LINE_QUOTE]);

enum { MAX_NAMED_LINES = 10 }; /* more malformed lines are only counted */

/* Reports a malformed line: "FILE:12: not an IP address: 'x'". path NULL: there is no file. It is
 * an error, or with `note` a note. */
void line_complain(const char *reason, const char *path, uint64_t number, bly_bytes line,
                   bool note);

typedef struct list_lines {
    uint64_t lines, malformed;
    uint64_t empty; /* blank lines and comments */
    bool stopped;   /* set by a list_line that has reported an error and returns false */
} list_lines;

/* Called with the key of one line. Returns false to end the reading. If the reason is not that
 * memory ran out, it must first report the error and set `stopped`. */
typedef bool list_line(void *ctx, uint64_t number, bly_bytes line, const bly_list_key *key);

/* Calls `each` for every key of the files (none: standard input), and counts in *lines, which must
 * be zeroed. The first malformed lines are named. With `skip` they are skipped; otherwise the
 * result is false. It is also false if a file cannot be read, if memory runs out, or if `each`
 * returns false; all of this is reported. */
bool list_lines_read(char **paths, size_t count, const line_rule *rule, bool skip, list_line *each,
                     void *ctx, list_lines *lines);

#endif
