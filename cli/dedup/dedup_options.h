/* dedup_options.h - the options of `dedup`. */
#ifndef BLOOMERY_CLI_DEDUP_OPTIONS_H
#define BLOOMERY_CLI_DEDUP_OPTIONS_H

#include "dedup/state.h"
#include "io/key.h"

typedef struct dedup_options {
    state_request request; /* the part that the options set directly; dedup_request adds the rest */
    key_options keys;
    bool count, force, print_canonical, stats, json;
    const char *output, *window;
} dedup_options;

extern const cli_option dedup_option_table[];

/* Why these options cannot be combined; NULL if they can. */
const char *dedup_conflict(const dedup_options *o);

/* The state that the options request, without the estimate. `rule` receives the key rule in words,
 * and must outlive the result. */
state_request dedup_request(const dedup_options *o, char rule[KEY_OPTIONS_WORDS]);

#endif
