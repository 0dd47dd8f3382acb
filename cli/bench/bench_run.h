/* bench_run.h - measures one kind of filter, and what the machine can do at best.
 *
 * Keys are made in chunks, outside the timing, and every operation is timed a chunk at a time; the
 * figures are medians over the chunks of all rounds. A round fills two empty filters, one by
 * batched calls and one by single ones, and asks for keys that are in them and for keys that are
 * not. The answers are checked as they come: the two filters must end up equal, every key added
 * must be found (but by a kind that may forget), and batched and single calls must agree.
 *
 * A kind that is made from all its keys is built in each round, which is one sample: there are no
 * single adds.
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
    BENCH_MISS_MANY, /* keys that are not in it */
    BENCH_MISS_ONE,
    BENCH_HIT_MANY, /* keys that are */
    BENCH_HIT_ONE,
    BENCH_OPS
} bench_op;

typedef struct bench_result {
    bly_kind kind;
    double ns[BENCH_OPS]; /* per key; 0: there is no such operation */
    uint64_t bytes;       /* once full */
    double bits_per_key;
    double promised;
    uint64_t asked, wrong; /* keys that were not in it, and how often it said that they were */
} bench_result;

/* Whether such a filter can be had at all. false: reported. */
bool bench_possible(const bench_setting *s, bly_kind kind);

/* A kind that can grow is measured as one that grew to this size. false: reported. */
bool bench_kind(const bench_setting *s, bly_kind kind, bench_result *out);

typedef struct bench_limits {
    double hash_many, hash_one; /* ns per key, by the default hash function */
    const char *hash;
    uint64_t bytes; /* of memory that lines are read from: the planned filter's */
    double line;    /* ns per random cache line, many of them under way at once */
} bench_limits;

bool bench_limits_find(const bench_setting *s, bench_limits *out);

#endif
