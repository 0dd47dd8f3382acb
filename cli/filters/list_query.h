/* list_query.h - which lines of a batch may be in a list. */
#ifndef BLOOMERY_CLI_LIST_QUERY_H
#define BLOOMERY_CLI_LIST_QUERY_H

#include "filters/live_list.h"
#include "io/gathered_keys.h"
#include "io/input.h"
#include "io/key.h"

enum { QUERY_ROOM = 2 * INPUT_BATCH };

/* What a list answers for each line of a batch. */
typedef struct list_answers {
    uint8_t match[INPUT_BATCH];     /* 1: may be in the list; 0: surely not */
    uint8_t malformed[INPUT_BATCH]; /* 1: not of the list's type, and so surely not in it */
    uint8_t assumed[INPUT_BATCH];   /* 1: its server gave no answer, and `match` is what the user
                                       chose for that case */
} list_answers;

/* What lookups need meanwhile; one is enough for several lists, one after the other.
 * Begins zeroed, but for reader, field.field, field.delimiter, and field.exact and flags with -0.
 */
typedef struct query {
    key_rule field; /* which part of a line is looked for */
    bly_list_reader *reader;
    uint32_t flags;     /* how lines are read: BLY_LIST_RECORDS with -0 */
    const char *reason; /* after a malformed line: what is wrong */
    char no_field[64];
    bly_url_buffer standard; /* of URLs in canonical form, besides field.canonical */
    list_answers *answers;   /* of the batch that is being looked up */
    /* Lookups that wait: */
    bly_bytes keys[QUERY_ROOM];
    bly_hash hashes[QUERY_ROOM];
    uint16_t owner[QUERY_ROOM]; /* the line that a lookup is for */
    uint8_t found[QUERY_ROOM];
    size_t count;
    bly_list_entries tries;
    byte_strings texts; /* of keys that are not looked up by their hashes */
} query;

/* Fills in the first n <= INPUT_BATCH answers. false: out of memory, or no answer; reported. */
bool query_batch(query *q, live_list *list, const bly_bytes *lines, size_t n, list_answers *out);

/* One line again, for more than a yes or no: the key of the list that it matched by, in words,
 * until the next use of q; empty if there is none. After a malformed line q->reason tells why.
 */
bly_bytes query_explain(query *q, live_list *list, bly_bytes line, char room[BLY_LIST_WORDS]);

void query_free(query *q);

#endif
