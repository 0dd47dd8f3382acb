/* card.h - what is known of a filter file, on a card for people or as JSON. */
#ifndef BLOOMERY_CLI_CARD_H
#define BLOOMERY_CLI_CARD_H

#include "filters/health.h"
#include <bloomery/bloomery.h>
#include <stdio.h>

typedef struct card {
    const char *path;
    bly_file_info header;
    const bly_filter *filter; /* NULL: the header is all that was read */
    bly_filter_info stats;    /* of the filter */
    bool typed;               /* the type is known */
    bly_list_type type;
    rates_lookups lookups;
    bool by_chance; /* it is so full that levels seem to be there which are not */
    uint64_t marks; /* keys that say the type, and are counted with the others; if by_chance, those
                       that are certain */
} card;

/* A card of the header, and of the filter unless that is NULL. One pass over its bits. */
card card_of(const char *path, const bly_file_info *header, const bly_filter *filter);

void card_print(const card *c, FILE *to);
void card_json(const card *c, FILE *to); /* one object on one line */

/* A bar of `cells` cells (40 at most) for a share, of which what is above 1 is cut off: in block
 * characters where the locale is UTF-8, else of '#'. */
enum { CARD_BAR = 40 * 4 + 8 };
char *card_bar(double share, unsigned cells, char out[CARD_BAR]);

#endif
