/* dedup_options.h - the options of `dedup`. */
#ifndef BLOOMERY_CLI_DEDUP_OPTIONS_H
#define BLOOMERY_CLI_DEDUP_OPTIONS_H

#include "dedup/state.h"
#include "io/key.h"

typedef struct dedup_options {
    key_options keys;
    uint64_t expect, memory, seed;
    double rate;
    bool repeated, count, force, exact, print_canonical, stats, json, allow_replica;
    const char *output, *confirm, *state, *window, *redis;
    uint64_t shards, expire, replicas;
    unsigned on_error; /* 0, or a state_policy */
} dedup_options;

extern const cli_option dedup_option_table[];

/* Why these options cannot be combined; NULL if they can. */
const char *dedup_conflict(const dedup_options *o);

/* The state that the options request, without the estimate. `rule` must outlive it. */
state_request dedup_request(const dedup_options *o, char rule[KEY_OPTIONS_WORDS]);

#endif
