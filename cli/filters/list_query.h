/* list_query.h - looks up the lines of a batch in a list. */
#ifndef BLOOMERY_CLI_LIST_QUERY_H
#define BLOOMERY_CLI_LIST_QUERY_H

#include "filters/live_list.h"
#include "io/gathered_keys.h"
#include "io/input.h"
#include "io/key.h"

enum { QUERY_ROOM = 2 * INPUT_BATCH };

/* The results for each line of a batch. */
typedef struct list_answers {
    uint8_t match[INPUT_BATCH];     /* 1: may be in the list; 0: certainly not */
    uint8_t malformed[INPUT_BATCH]; /* 1: not of the list's type, and so certainly not in it */
    uint8_t assumed[INPUT_BATCH];   /* 1: the server gave no answer, and `match` follows from
                                       the fallback in live_list_options */
} list_answers;

/* The working memory of lookups. One can serve several lists, one after the other.
 * Before use, all is zero except reader, field.field and field.delimiter, and with -0 field.exact
 * and flags. */
typedef struct query {
    key_rule field; /* which part of a line is looked up */
    bly_list_reader *reader;
    uint32_t flags;     /* how lines are read: BLY_LIST_RECORDS with -0 */
    const char *reason; /* what is wrong with the last malformed line */
    char no_field[64];
    bly_url_buffer standard; /* for URLs in canonical form; field.canonical is a second buffer */
    list_answers *answers;   /* the results for the current batch */
    /* Lookups that are gathered: */
    bly_bytes keys[QUERY_ROOM];
    bly_hash hashes[QUERY_ROOM];
    uint16_t owner[QUERY_ROOM]; /* the index of the line that a lookup is for */
    uint8_t found[QUERY_ROOM];
    size_t count;
    bly_list_entries entries; /* the lookups of one line */
    byte_strings texts;       /* the gathered keys, if they are not looked up by their hashes */
} query;

/* Looks up n <= INPUT_BATCH lines. If memory runs out or a server gives no answer, reports that and
 * returns false. */
bool query_batch(query *q, live_list *list, const bly_bytes *lines, size_t n, list_answers *out);

/* Looks up one line again, and returns the entry of the list that it matched, as text; empty if it
 * matched no entry. It is valid until the next use of q. For a malformed line, q->reason is set. */
bly_bytes query_explain(query *q, live_list *list, bly_bytes line, char room[BLY_LIST_WORDS]);

void query_free(query *q);

#endif
