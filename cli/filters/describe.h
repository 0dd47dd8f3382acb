/* describe.h - describes a filter in a file or on a server, as text or as JSON, for `info`. */
#ifndef BLOOMERY_CLI_DESCRIBE_H
#define BLOOMERY_CLI_DESCRIBE_H

#include "filters/handle.h"
#include "filters/health.h"
#include "text/json.h"
#include "text/message.h"

typedef struct description {
    const char *name;
    uint32_t can; /* HANDLE_... */
    handle_facts facts;
    const bly_filter *filter; /* NULL: it is on a server, or only the header was read */
    FILE *out;      /* where description_print writes; describe sets it to standard output */
    bool examined;  /* the marks were looked up; if not, `list` has at most the type */
    bool lacks_key; /* the marks could not be looked up, because the filter's key is missing */
    bly_list_info list;
    rates_lookups lookups;
} description;

/* Reads all bits of a file once. With `list`, also looks up the marks of a filter on a server. *h
 * must stay open. On failure, reports the error and returns false. */
bool describe(description *d, filter_handle *h, bool list);

void description_print(const description *d);
/* One object on one line, on standard output. */
void description_json(const description *d);

/* ---- for describe*.c ------------------------------------------------------------------------- */

/* Prints the name, which comes before all rows. */
void describe_name(FILE *out, const char *name);
/* Prints one row. */
void describe_row(FILE *out, const char *label, const char *format, ...) PRINTF_LIKE(3, 4);

/* A bar for a share, full for 1 and more. It consists of block characters if the locale is UTF-8,
 * else of '#'. */
enum { DESCRIBE_BAR = 40 * 4 + 8 };
char *describe_bar(double share, char out[DESCRIBE_BAR]);

/* Print rows that only some kinds have, and nothing for other kinds. describe_distinct prints all
 * rows about the keys of a sketch (kind hll). */
void describe_distinct(const description *d);
void describe_stuck(const description *d);
void describe_changes(const description *d);
void describe_window(const description *d);
void describe_levels(const description *d);
void describe_kind_json(const description *d, json *j);

#endif
