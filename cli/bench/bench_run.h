/* bench_run.h - measures one kind of filter, and two limits of the machine.
 *
 * Keys are made in chunks, which is not timed. Every operation is timed per chunk, and the results
 * are medians over the chunks of all rounds. A round fills two empty filters, one by batched calls
 * and one by single calls, and looks up keys that are in them and keys that are not. The answers
 * are checked: the two filters must be equal in the end, every key that was added must be found
 * (except by a kind that may forget), and batched and single calls must agree.
 *
 * A kind that is built from all its keys at once is built once in each round, so a round gives only
 * one time. Such a kind has no single adds.
 */
#ifndef BLOOMERY_CLI_BENCH_RUN_H
#define BLOOMERY_CLI_BENCH_RUN_H

#include <bloomery/filter.h>

typedef struct bench_setting {
    uint64_t keys;
    double rate;
    size_t key_bytes;
    unsigned rounds;
} bench_setting;

typedef enum bench_op {
    BENCH_ADD_MANY,
    BENCH_ADD_ONE,
    BENCH_MISS_MANY, /* lookups of non-members */
    BENCH_MISS_ONE,
    BENCH_HIT_MANY, /* lookups of members */
    BENCH_HIT_ONE,
    BENCH_OPS
} bench_op;

typedef struct bench_result {
    bly_kind kind;
    double ns[BENCH_OPS]; /* per key; 0 if the kind does not have the operation */
    uint64_t bytes;       /* size of the full filter */
    double bits_per_key;
    double requested;                 /* requested false-positive rate */
    uint64_t absent, false_positives; /* lookups of non-members, and false positives among them */
} bench_result;

/* Whether a filter of this kind can be created and measured; if not, reports why. */
bool bench_possible(const bench_setting *s, bly_kind kind);

/* Measures one kind. A filter that can grow is measured while it grows to the given number of keys.
 * On failure, reports the error and returns false. */
bool bench_kind(const bench_setting *s, bly_kind kind, bench_result *out);

typedef struct bench_limits {
    double hash_many, hash_one; /* ns per key, by the default hash function */
    const char *hash;
    uint64_t bytes; /* size of the planned filter, and of the memory from which lines are read */
    double line;    /* ns per random cache line, many of them requested at once */
} bench_limits;

bool bench_limits_find(const bench_setting *s, bench_limits *out);

#endif
