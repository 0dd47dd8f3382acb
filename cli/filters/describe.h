/* describe.h - what `bloomery info` says of a filter, wherever it is: for people, and as JSON. */
#ifndef BLOOMERY_CLI_DESCRIBE_H
#define BLOOMERY_CLI_DESCRIBE_H

#include "filters/handle.h"
#include "filters/health.h"
#include "text/json.h"
#include "text/message.h"

#include <stdio.h>

typedef struct description {
    const char *name;
    uint32_t can; /* HANDLE_... */
    handle_facts facts;
    const bly_filter *filter; /* NULL: it is on a server, or only the header was read */
    bool typed;               /* the type is known: */
    bly_list_type type;
    bool examined; /* the rest is known: */
    bly_list_levels levels;
    rates_lookups lookups;
    bool by_chance; /* it is so full that levels seem to be there which are not */
    uint64_t marks; /* keys that say the type, and are counted with the others; if by_chance, those
                       that are certain */
} description;

/* Takes one pass over the bits of a file. `list`: the marks of a filter on a server are looked up,
 * too. *h must stay open. false: reported. */
bool describe(description *d, filter_handle *h, bool list);

void description_print(const description *d, FILE *to);
void description_json(const description *d, FILE *to); /* one object on one line */

/* ---- parts, for describe*.c ------------------------------------------------------------------ */

static inline bool description_kind_can(const description *d, uint32_t capabilities) {
    return (bly_kind_capabilities(d->facts.geometry.kind) & capabilities) == capabilities;
}

/* The name, which comes first, and one row. */
void describe_name(FILE *to, const char *name);
void describe_row(FILE *to, const char *label, const char *format, ...) PRINTF_LIKE(3, 4);

/* A bar for a share, of which what is above 1 is cut off: in block characters where the locale is
 * UTF-8, else of '#'. */
enum { DESCRIBE_BAR = 40 * 4 + 8 };
char *describe_bar(double share, char out[DESCRIBE_BAR]);

/* What only some kinds have; nothing, where there is nothing of the kind. describe_distinct: all
 * that there is to say of a filter that only counts. */
void describe_distinct(const description *d, FILE *to);
void describe_stuck(const description *d, FILE *to);
void describe_changes(const description *d, FILE *to);
void describe_window(const description *d, FILE *to);
void describe_levels(const description *d, FILE *to);
void describe_kind_json(const description *d, json *j);

#endif
