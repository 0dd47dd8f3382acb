/* tally.h - counts how often each key occurred: exactly or in a sketch, in memory or in a state
 * file. */
#ifndef BLOOMERY_CLI_TALLY_H
#define BLOOMERY_CLI_TALLY_H

#include "count/exact_counts.h"
#include "filters/filter_file.h"
#include "filters/state_file.h"
#include "io/input.h"
#include "io/key.h"

/* The options of a run; 0 or NULL if not given. */
typedef struct tally_request {
    uint64_t keys;   /* expected number of different keys */
    uint64_t memory; /* maximum memory of the counts in bytes; 0: TALLY_MEMORY for exact ones */
    double rate;     /* share of new keys that may be mistaken for others */
    uint64_t seed;
    const char *state;
    bool sketch; /* a sketch instead of exact counts */
    bool exact;  /* refuse a state that is a sketch */
    bool query;  /* only look up counts; `state` may be any filter that stores copies of keys */
    bool age;    /* halve all counts first */
    /* Not options: */
    uint64_t estimate;       /* estimated number of lines; 0: unknown */
    const bly_hasher *key;   /* the secret */
    const key_options *rule; /* how lines become keys, which must not change for a state */
} tally_request;

/* The default memory limit of exact counts: about 140 million different keys. */
#define TALLY_MEMORY (UINT64_C(1) << 30)

/* The count of a key. */
typedef struct tally_count {
    uint64_t count;
    uint64_t error; /* it is too high by at most this; 0: it is exact */
} tally_count;

/* A tracked key, beside a sketch; in buckets of eight. */
typedef struct tracked_key {
    uint64_t fingerprint;
    uint64_t before; /* occurrences before it was tracked, estimated by the sketch */
    uint64_t since;  /* occurrences since then, exact; 0: the entry is empty */
} tracked_key;

typedef struct tracked {
    tracked_key *keys;
    uint64_t buckets;
} tracked;

typedef struct tally {
    exact_counts exact;       /* where keys are counted, exactly and without a state */
    state_file kept;          /* else where they are added, */
    tracked tracked;          /* and, of a sketch, followed */
    opened file;              /* or, of a query, the filter that is looked up in */
    const bly_filter *filter; /* of one of these (of `exact` the first level) */
    bly_list_type type;       /* of a query: the type of its lines */
    bly_list_reader *reader;  /* of a query: makes keys of lines */
    bool keeps_return; /* its header does not record whether keys have their carriage return */
    bool limited;      /* its size was set by --memory */
    uint64_t fresh;    /* keys added that were new */
    bly_hash hashes[INPUT_BATCH];
    uint8_t found[INPUT_BATCH];
    uint64_t times[INPUT_BATCH];
} tally;

/* false: reported; *t must then be closed, too. */
bool tally_open(tally *t, const tally_request *request);
void tally_close(tally *t);

/* counts[i]: how often keys[i] has occurred, this time included, n <= INPUT_BATCH; in a query, how
 * often it was added. Returns the number of keys done; fewer than n: an error was reported. */
size_t tally_take(tally *t, const bly_bytes *keys, size_t n, tally_count *counts);

/* The most by which a count that tally_take returned for this key can be too high, as far as that
 * is still known. */
uint64_t tally_error(const tally *t, bly_bytes key, uint64_t count);

bool tally_is_sketch(const tally *t);

uint64_t tally_bytes(const tally *t); /* of memory */

/* Warns if there are more keys than the counts were planned for. */
void tally_judge(const tally *t);

#endif
