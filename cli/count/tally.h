/* tally.h - how often each key was seen: exact counts, or a sketch of counts, and the file in which
 * they are kept. */
#ifndef BLOOMERY_CLI_TALLY_H
#define BLOOMERY_CLI_TALLY_H

#include "count/exact_counts.h"
#include "filters/filter_file.h"
#include "filters/state_file.h"
#include "io/input.h"
#include "io/list_lines.h"

/* What the user wants; 0 or NULL for what he did not say. */
typedef struct tally_wish {
    uint64_t keys;     /* different ones that are expected */
    uint64_t estimate; /* about how many lines there are; 0: no way to tell */
    uint64_t memory;   /* bytes for the counts, at most; 0: TALLY_MEMORY of exact ones */
    double rate;       /* at which a key has a count that is another's too */
    uint64_t seed;
    const char *state;
    const bly_hasher *key; /* the secret */
    bly_key_rule key_rule; /* how keys are made of lines: a state is good for one rule; */
    const char *rule;      /* and the same in any words, in more detail */
    bool sketch;           /* a sketch instead of exact counts */
    bool exact;            /* what a state holds must be exact */
    bool ask;              /* tell, add nothing: `state` is any filter that tells copies */
    bool age;              /* halve all counts first */
} tally_wish;

/* The most that exact counts take unless told otherwise: for about 140 million different keys. */
#define TALLY_MEMORY (UINT64_C(1) << 30)

/* How often a key was seen. */
typedef struct tally_count {
    uint64_t count;
    uint64_t error; /* it is too high by that at most; 0: it is exact */
} tally_count;

/* Keys that are followed beside a sketch, in buckets of eight. */
typedef struct tracked_key {
    uint64_t fingerprint;
    uint64_t before; /* by the sketch */
    uint64_t since;  /* exactly; 0: there is no key here */
} tracked_key;

typedef struct tracked {
    tracked_key *keys;
    uint64_t buckets;
} tracked;

typedef struct tally {
    exact_counts exact;       /* where keys are counted, exactly and without a state */
    state_file kept;          /* else where they are added, */
    tracked tracked;          /* and, of a sketch, followed */
    opened file;              /* where they are only asked for */
    const bly_filter *filter; /* of one of these (of `exact` the first level) */
    bly_list_type type;       /* of a list whose keys have a type, which is only asked, */
    bly_list_reader *reader;  /* and what reads them */
    bool keeps_return;        /* it does not record that keys lack a carriage return */
    bool limited;             /* its size follows from --memory */
    uint64_t fresh;           /* keys added that had not been seen */
    bly_hash hashes[INPUT_BATCH];
    uint8_t found[INPUT_BATCH];
    uint64_t times[INPUT_BATCH];
} tally;

/* On failure, which is reported, *t is to be closed all the same. */
bool tally_open(tally *t, const tally_wish *wish);
void tally_close(tally *t);

/* counts[i]: how often keys[i] has been seen, this time included, n <= INPUT_BATCH; or, where keys
 * are only asked for, how often it was added. Returns how many were dealt with: fewer than n if one
 * could not be, which is reported. */
size_t tally_take(tally *t, const bly_bytes *keys, size_t n, tally_count *counts);

/* By how much at most a count that tally_take has told of this key is too high, as far as that is
 * still known. */
uint64_t tally_error(const tally *t, bly_bytes key, uint64_t count);

bool tally_is_sketch(const tally *t);

uint64_t tally_bytes(const tally *t); /* of memory */

/* Warns when more keys came than the counts were made for. */
void tally_judge(const tally *t);

#endif
