/* list_set.h - several lists that are looked up in together, of whatever types and wherever they
 * are: a line matches if any of them has it, and is malformed if none of them can read it. */
#ifndef BLOOMERY_CLI_LIST_SET_H
#define BLOOMERY_CLI_LIST_SET_H

#include "filters/list_query.h"
#include "options.h"

/* A list, and what it answers about the lines of a batch. */
typedef struct set_list {
    live_list list;
    list_answers answers;
    uint64_t matched, assumed; /* lines of all batches */
} set_list;

typedef struct list_set {
    set_list *lists;
    size_t count;
    list_answers any; /* of all lists together */
    live_list_options options;
    query query;
    char reason[512];
} list_set;

/* Begins zeroed, but for options and query (see list_query.h). The names must outlive it. false:
 * reported. It is to be closed in any case. */
bool list_set_open(list_set *s, cli_operands names);
void list_set_close(list_set *s);

/* Fills in the answers for n <= INPUT_BATCH lines. false: as query_batch. */
bool list_set_batch(list_set *s, const bly_bytes *lines, size_t n);

/* Lists that are followed: see live_list_refresh. */
void list_set_refresh(list_set *s);

const char *list_set_name(const set_list *l);

/* As query_explain: the entry by which a list matched. */
bly_bytes list_set_entry(list_set *s, set_list *l, bly_bytes line, char room[BLY_LIST_WORDS]);
/* Why no list can read a malformed line; until the next call. */
const char *list_set_reason(list_set *s, bly_bytes line);
/* The types of the lists: "ip or domain". */
enum { LIST_SET_TYPES = 160 };
char *list_set_types(const list_set *s, char out[LIST_SET_TYPES]);

#endif
