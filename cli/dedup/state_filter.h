/* state_filter.h - the part that the states in a filter file share: state_filter.c and
 * state_window.c. */
#ifndef BLOOMERY_CLI_DEDUP_STATE_FILTER_H
#define BLOOMERY_CLI_DEDUP_STATE_FILTER_H

#include "dedup/state.h"
#include "io/lock.h"

typedef struct filter_state {
    dedup_state base;
    bly_filter *filter;
    lock lock;       /* on the file */
    bool loaded;     /* the file existed */
    uint64_t added;  /* keys given to the filter in this run, repeats included */
    double rate;     /* false-positive rate of the last batch */
    double worst;    /* the highest rate so far */
    double expected; /* new keys expected to have been mistaken for known ones, by the rates */
    double repeats;  /* keys that were not reported as new: an upper bound of `expected` */
    /* For state_filter.c alone: */
    uint64_t rate_keys, rate_added; /* keys in the filter, and `added`, when `rate` was computed */
} filter_state;

/* Locks the file, and loads the filter if it exists. Refuses kinds that cannot be a state. */
bool filter_state_load(filter_state *s);
bool filter_state_create(filter_state *s, bly_spec spec);
/* Refuses a loaded filter whose seed is not the requested one. */
bool filter_state_fits_seed(const filter_state *s);
/* Reports that the state was created for this rate, which is not the requested one, and returns
 * false. */
bool filter_state_refuse_rate(const filter_state *s, double rate);
/* The same for the number of keys. */
bool filter_state_refuse_keys(const filter_state *s, uint64_t keys);

/* Adds keys to the filter; *unique is how many were new. Does not update the counts in *s; see
 * filter_state_expect. */
bool filter_state_add(filter_state *s, const bly_bytes *keys, size_t n, uint8_t *fresh,
                      size_t *unique);
/* Updates the counts in *s for a batch in which `unique` of n keys were new, at the false-positive
 * rate s->rate. */
void filter_state_expect(filter_state *s, size_t n, size_t unique);

/* Operations that state_filter.c and state_window.c share. */
void filter_state_close(dedup_state *base);
bool filter_state_get_rule(dedup_state *base, bly_key_rule *rule, uint64_t *keys);
bool filter_state_set_rule(dedup_state *base, bly_key_rule rule);
bool filter_state_save(dedup_state *base);
/* Gets all facts except the rates. */
void filter_state_get_facts(const filter_state *s, state_facts *out);

#endif
