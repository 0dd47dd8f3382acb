/* tally.h - how often each key was seen: a sketch of counts, or exact ones, and the file in which
 * they are kept. */
#ifndef BLOOMERY_CLI_TALLY_H
#define BLOOMERY_CLI_TALLY_H

#include "input.h"
#include "kept.h"
#include "keytype.h"
#include "open.h"

/* What the user wants; 0 or NULL for what he did not say. */
typedef struct tally_wish {
    uint64_t keys;     /* different ones that are expected */
    uint64_t estimate; /* about how many lines there are; 0: no way to tell */
    uint64_t memory;   /* bytes for the counts, at most */
    double rate;       /* at which a key has a count that is another's too */
    uint64_t seed;
    const char *state;
    const bly_hasher *key; /* the secret */
    const char *rule;      /* how keys are made of lines, in any words: a state is good for one */
    bool exact;            /* exact counts instead of a sketch */
    bool ask;              /* tell, add nothing: `state` is any filter that tells copies */
    bool age;              /* halve all counts first */
} tally_wish;

typedef struct tally {
    kept kept;                /* where keys are added */
    opened file;              /* where they are only asked for */
    const bly_filter *filter; /* of one of the two */
    keytype_reader reader;    /* of a list whose keys have a type, which is only asked */
    uint64_t fresh;           /* keys added that had not been seen */
    bly_hash hashes[INPUT_BATCH];
    uint8_t found[INPUT_BATCH];
} tally;

/* On failure, which is reported, *t is to be closed all the same. */
bool tally_open(tally *t, const tally_wish *wish);
void tally_close(tally *t);

/* times[i]: how often keys[i] has been seen, this time included, n <= INPUT_BATCH; or, where keys
 * are only asked for, how often it was added. Returns how many were dealt with: fewer than n if one
 * could not be, which is reported. */
size_t tally_take(tally *t, const bly_bytes *keys, size_t n, uint64_t *times);

/* Whether a key must be used before the next is made: then n is 1. */
bool tally_wants_one(const tally *t);

uint64_t tally_bytes(const tally *t); /* of memory */

/* Warns when more keys came than the counts were made for. */
void tally_judge(const tally *t);

#endif
