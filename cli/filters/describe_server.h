/* card_live.h - what is known of a filter on a plain server, on a card for people or as JSON. */
#ifndef BLOOMERY_CLI_CARD_LIVE_H
#define BLOOMERY_CLI_CARD_LIVE_H

#include "filters/health.h"
#include "filters/server_filter.h"

#include <bloomery/redis/filter.h>
#include <stdio.h>

typedef struct card_live {
    const char *name;
    const bly_bitmap *bitmap;
    bly_redis_filter_info facts;
    bly_filter_info stats;
    bool keyed; /* it is keyed, and its key is not at hand */
    bool typed; /* the type is known */
    bly_list_type type;
    rates_lookups lookups;
    bool by_chance; /* as card's */
    uint64_t marks;
} card_live;

/* Looks at r->filter, which is open and must outlive it; with `type` its marks are asked for, too.
 * false: reported. */
bool card_live_of(card_live *c, const remote *r, bool type);

void card_live_print(const card_live *c, FILE *to);
void card_live_json(const card_live *c, FILE *to); /* one object on one line */

#endif
