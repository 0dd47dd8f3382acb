/* state_filter.h - what a state that is a filter has: state_filter.c itself, and state_window.c. */
#ifndef BLOOMERY_CLI_DEDUP_STATE_FILTER_H
#define BLOOMERY_CLI_DEDUP_STATE_FILTER_H

#include "dedup/state.h"
#include "io/lock.h"

typedef struct filter_state {
    dedup_state base;
    bly_filter *filter;
    lock lock;       /* on the file */
    bool loaded;     /* it was there */
    uint64_t added;  /* keys so far: repeats, too */
    double rate;     /* false-positive rate of the last batch */
    double worst;    /* the highest */
    double expected; /* new keys that were taken for known ones, by the rates; */
    double repeats;  /* and no more than this: all keys that were not new */
    /* For state_filter.c alone: */
    uint64_t rate_keys, rate_added; /* keys in the filter, and `added`, when `rate` was computed */
} filter_state;

/* Locks the file, and loads the filter if there is one. Refuses kinds that are of no use. */
bool filter_state_load(filter_state *s);
bool filter_state_create(filter_state *s, bly_spec spec);
/* Refuses a loaded filter with another seed than the requested one. */
bool filter_state_fits_seed(const filter_state *s);
void filter_state_refuse_rate(const filter_state *s, double rate);
void filter_state_refuse_keys(const filter_state *s, uint64_t keys);

/* Adds keys to the filter alone. */
bool filter_state_add(filter_state *s, const bly_bytes *keys, size_t n, uint8_t *fresh,
                      size_t *unique);
/* Of n keys that were added, `unique` came out new, while s->rate held. */
void filter_state_expect(filter_state *s, size_t n, size_t unique);

/* Of the ops. */
void filter_state_close(dedup_state *base);
bool filter_state_get_rule(dedup_state *base, bly_key_rule *rule, uint64_t *keys);
bool filter_state_set_rule(dedup_state *base, bly_key_rule rule);
bool filter_state_save(dedup_state *base);
/* All but the rates. */
void filter_state_get_facts(const filter_state *s, state_facts *out);

#endif
