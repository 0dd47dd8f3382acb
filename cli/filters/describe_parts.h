/* card_more.h - what a card tells of the kinds that count, and of overlays. */
#ifndef BLOOMERY_CLI_CARD_MORE_H
#define BLOOMERY_CLI_CARD_MORE_H

#include "filters/describe_file.h"
#include "text/json.h"
#include "text/message.h"

/* One line of a card. */
void card_line(FILE *to, const char *label, const char *format, ...) PRINTF_LIKE(3, 4);

/* ", up to 3 lookups", and for how many the rate was requested, if that differs. */
enum { CARD_LOOKUPS = 80 };
char *card_lookups(rates_lookups of, char out[CARD_LOOKUPS]);
/* The rate per line of a list so full that levels seem to be there which are not: what was
 * requested per line is not known then. */
void card_chance(FILE *to, bly_list_type type, double rate, const char *lookups);

/* All that there is to tell of a filter that only counts. */
void card_distinct(const card *c, FILE *to);

/* Nothing, where there is nothing of the kind: counters that stay at their limit; what an overlay
 * lies over, and what has changed. */
void card_stuck(const card *c, FILE *to);
void card_changes(const card *c, FILE *to);

/* The same for programs. */
void card_json_more(const card *c, json *j);

#endif
