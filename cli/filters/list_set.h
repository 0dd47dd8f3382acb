/* list_set.h - looks up lines in several lists of any types, in files or on servers. A line matches
 * if it matches at least one list, and is malformed if it is malformed for every list. */
#ifndef BLOOMERY_CLI_LIST_SET_H
#define BLOOMERY_CLI_LIST_SET_H

#include "filters/list_query.h"
#include "options.h"

/* A list, and its results for the lines of a batch. */
typedef struct set_list {
    live_list list;
    list_answers answers;
    uint64_t matched, assumed; /* lines of all batches */
} set_list;

typedef struct list_set {
    set_list *lists;
    size_t count;
    list_answers any; /* the results for all lists together */
    live_list_options options;
    query query;
    char reason[512];
} list_set;

/* Opens the lists. Before the call, *s is zero except for options and query (see list_query.h). The
 * names must outlive it. On failure, reports the error and returns false. Close *s in any case. */
bool list_set_open(list_set *s, cli_operands names);
void list_set_close(list_set *s);

/* Looks up n <= INPUT_BATCH lines. Fails as query_batch does. */
bool list_set_batch(list_set *s, const bly_bytes *lines, size_t n);

/* For --follow: see live_list_refresh. On failure, reports the error and returns false. */
bool list_set_refresh(list_set *s);

const char *list_set_name(const set_list *l);

/* The entry that a line matched: see query_explain. */
bly_bytes list_set_entry(list_set *s, set_list *l, bly_bytes line, char room[BLY_LIST_WORDS]);
/* Why a line is malformed; valid until the next call. */
const char *list_set_reason(list_set *s, bly_bytes line);
/* The types of the lists: "ip or domain". */
enum { LIST_SET_TYPES = 160 };
char *list_set_types(const list_set *s, char out[LIST_SET_TYPES]);

#endif
