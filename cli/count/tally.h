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
    const bly_hasher *key;   /* the secret key; NULL: none */
    const key_options *rule; /* how lines become keys, which must not change for a state */
} tally_request;

/* The default memory limit of exact counts: about 140 million different keys. */
#define TALLY_MEMORY (UINT64_C(1) << 30)

/* The count of a key. */
typedef struct tally_count {
    uint64_t count;
    uint64_t error; /* it is too high by at most this; 0: it is exact */
} tally_count;

/* An entry of the table of keys that are tracked beside a sketch. Eight entries are a bucket. */
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
    exact_counts exact;       /* counts without a state and without --sketch */
    state_file kept;          /* with a state or a sketch: the filter that counts */
    tracked tracked;          /* with a sketch: the keys that are also counted exactly */
    opened file;              /* in a query: the filter in which keys are looked up */
    const bly_filter *filter; /* the filter of `kept` or `file`, or the first level of `exact` */
    bly_list_type type;       /* in a query: the type of the lines */
    bly_list_reader *reader;  /* in a query: makes keys from lines */
    bool keeps_return; /* the file does not record whether a carriage return is part of a key */
    bool limited;      /* the size was set by --memory */
    uint64_t fresh;    /* keys added that were new */
    bly_hash hashes[INPUT_BATCH];
    uint8_t found[INPUT_BATCH];
    uint64_t times[INPUT_BATCH];
} tally;

/* On failure, reports the error and returns false. Close *t in any case. */
bool tally_open(tally *t, const tally_request *request);
void tally_close(tally *t);

/* Counts n <= INPUT_BATCH keys: counts[i] is how often keys[i] has occurred, this time included. In
 * a query, only looks them up: counts[i] is how often keys[i] was added. Returns the number of keys
 * done; if it is less than n, an error was reported. */
size_t tally_take(tally *t, const bly_bytes *keys, size_t n, tally_count *counts);

/* The most by which a count that tally_take returned for this key can be too high. If a sketch no
 * longer tracks the key, that is all but one occurrence. */
uint64_t tally_error(const tally *t, bly_bytes key, uint64_t count);

bool tally_is_sketch(const tally *t);

uint64_t tally_bytes(const tally *t); /* memory in use */

/* Warns if there are more keys than the counts were planned for. */
void tally_judge(const tally *t);

#endif
