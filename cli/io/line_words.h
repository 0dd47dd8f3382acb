/* line_words.h - lines and types of lists (<bloomery/list.h>) in messages. */
#ifndef BLOOMERY_CLI_LINE_WORDS_H
#define BLOOMERY_CLI_LINE_WORDS_H

#include <bloomery/bloomery.h>
#include <bloomery/host/lists.h>

/* The types that can be chosen, for a CLI_CHOICE: in the order of bly_list_type. */
#define LINE_TYPE_CHOICES "ip|phone|email|domain|url|line"

/* What a list is, in words: "line" for a record, too; "dedup --url" and the like for the other
 * states; NULL for BLY_LIST_NONE. */
const char *line_type_words(bly_list_type type);

/* How lines become keys of a list. */
typedef struct line_rule {
    bly_list_type type;
    uint32_t flags; /* of bly_list_read */
} line_rule;

/* Hostile bytes for a message: cut to 60, control characters as \xNN. */
enum { LINE_QUOTE = 256 };
char *line_quote(bly_bytes text, char out[LINE_QUOTE]);

/* "FILE:12: not an IP address: 'x'", for a malformed line. path NULL: there is no file. An error,
 * or with `note` a message_note. */
void line_complain(const char *reason, const char *path, uint64_t number, bly_bytes line,
                   bool note);

#endif
