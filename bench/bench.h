/* bench.h - what the parts of the benchmark share. docs/benchmarks.md says what is measured and
 * why so.
 *
 *   keys.c      deterministic keys, a chunk at a time
 *   limit.c     what the machine can do: random cache lines, and the bare hash
 *   pair.c      two threads that start together
 *   calm.c      whether other work disturbs them
 *   rivals.c    the filters, and each operation on a chunk of keys
 *   figures.c   medians
 *   measure.c   rounds: every rival does every operation once, on the same chunks
 *   family.c    the other kinds beside the fastest one
 *   builds.c    how building grows with the number of keys
 *   counting.c  the kinds that count, beside each other
 *   rates.c     false-positive rates and bits per key
 *   report.c    tables, ratios, targets, JSON
 *   report_counting.c  the same for the kinds that count
 *   options.c   the command line
 *   bench.c     all of it in order
 */
#ifndef BENCH_H
#define BENCH_H

#include <bloomery/bloomery.h>

#include <bloom.h> /* libbloom's */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    CHUNK = 262144, /* keys timed at a time */
    WARM_UPS = 4,   /* at most, before each measurement */
    BATCH = 4096,   /* keys in one batched call */
    MAX_ROUNDS = 99,
    MAX_LIST = 8, /* values in a list on the command line */
    MAX_RIVALS = MAX_LIST + 2,
    MAX_SAMPLES = 4096, /* chunks of one operation that are remembered */
    MIN_KEY = 8,        /* more than WARM_UPS, by which keys are cut */
    MAX_KEY = 4096
};

/* ---- options.c ------------------------------------------------------------------------------- */

typedef struct options {
    uint64_t n[MAX_LIST];
    double p[MAX_LIST];
    size_t len[MAX_LIST];
    bly_kind kinds[MAX_LIST]; /* measured besides the planned layout */
    size_t n_count, p_count, len_count, kind_count;
    unsigned rounds;
    uint64_t work;        /* keys each operation deals with in a round, at least */
    double expected_hits; /* false positives to expect when measuring a rate */
    bool rates;
    bool settings;        /* measure the settings above */
    uint64_t family_keys; /* in the filters of the other kinds; 0: leave them out */
    bool counting;        /* nothing but the kinds that count */
    bool builds;          /* measure building, from 1M to 40M keys */
    const char *json;
} options;

/* Exits on --help and on a mistake. */
options options_parse(int argc, char **argv);

/* ---- bench.c --------------------------------------------------------------------------------- */

/* Everything computed goes in here and is printed at the end, so that nothing is optimised away. */
void fold(uint64_t value);
/* For what must hold or the figures mean nothing; exits with status 1. */
void must(bool truth, const char *what);

/* ---- keys.c ---------------------------------------------------------------------------------- */

typedef struct keyset {
    size_t len;      /* of every key */
    uint8_t *bytes;  /* the keys, one after another */
    bly_bytes *keys; /* CHUNK of them */
} keyset;

/* Where the numbers of keys that are never added begin, and of those that only warm a filter. */
#define MISS_KEYS (UINT64_C(1) << 40)
#define WARM_KEYS (UINT64_C(1) << 41)

keyset keys_open(size_t len);
/* The n <= CHUNK keys numbered from `first`; different numbers make different keys. */
void keys_make(const keyset *set, uint64_t first, size_t n);
/* The n keys from `keys` on, which are some of a set's, become that long: without their last bytes
 * they are keys of their own, in the same memory; with set->len bytes they are themselves again. */
void keys_cut(bly_bytes *keys, size_t len, size_t n);
/* Makes the n keys numbered from `first`, a batch at a time, and hands each batch to `work` while
 * it is still in a near cache, as what a program has just read is. Returns the seconds `work` took;
 * the sum of what it returned is added to *sum. */
typedef uint64_t keys_fn(void *context, const bly_bytes *keys, size_t n);
double keys_spend(const keyset *set, uint64_t first, uint64_t n, keys_fn *work, void *context,
                  uint64_t *sum);
void keys_close(keyset *set);

/* ---- limit.c --------------------------------------------------------------------------------- */

typedef struct arena {
    void *at;
    uint64_t bytes;
    uint64_t state; /* of the random sequence, so that no two calls read the same lines */
} arena;

arena arena_open(uint64_t bytes); /* huge pages, touched */
void arena_close(arena *a);
/* Reads random lines of the first `bytes` bytes. */
uint64_t limit_lines(arena *a, uint64_t bytes, size_t reads);
uint64_t limit_hash(const bly_bytes *keys, size_t n);
double seconds_now(void);

/* ---- pair.c ---------------------------------------------------------------------------------- */

/* Adds to, or queries, a filter in batches, and returns how many keys were new, or found; or does
 * something else with keys, without a filter. */
typedef uint64_t batch_fn(bly_filter *f, const bly_bytes *keys, size_t n);

void pair_open(void);      /* starts the second thread */
int pair_processors(void); /* that this process may use */
void pair_ready(void);     /* wakes it: it spins until pair_rest, so that waking is not timed */
void pair_rest(void);      /* sends it to sleep */
/* fn over n keys, half in each thread. */
uint64_t pair_run(batch_fn *fn, bly_filter *f, const bly_bytes *keys, size_t n);
void pair_close(void);

/* ---- calm.c ---------------------------------------------------------------------------------- */

void calm_open(void);
/* Whether this thread's processor, or both threads' after pair_ready, have nothing else to do. */
bool calm_now(bool pair);
void calm_count(bool was_calm); /* one measurement more */
double calm_share(void);        /* of all measurements */

/* ---- rivals.c -------------------------------------------------------------------------------- */

typedef enum op {
    LIMIT,      /* random lines at this filter's footprint */
    HASH,       /* bare XXH3 of the keys */
    HASH_PAIR,  /* the same, two threads: what two of them do on this machine just now */
    ADD_MANY,   /* batched, exclusive */
    ADD_ONE,    /* one call per key */
    ADD_SHARED, /* batched, a shared filter, one thread */
    ADD_PAIR,   /* the same, two threads */
    MISS_MANY,  /* queries for keys that are not in it */
    MISS_ONE,
    MISS_SHARED,
    MISS_PAIR,
    HIT_LIMIT, /* lines and hash again, beside queries for keys that are in it */
    HIT_HASH,
    HIT_MANY,
    HIT_ONE,
    OPS
} op;

/* ---- figures.c ------------------------------------------------------------------------------- */

typedef struct summary {
    double median, low, high; /* low and high: nine tenths lie above, below */
} summary;

/* 1 <= n <= MAX_SAMPLES */
summary summarise(const double *values, size_t n);

/* Of the values that were measured calmly; of all where those are fewer than FEW. */
enum { FEW = 8 };
summary summarise_calm(const double *values, const bool *calm, size_t n);

typedef struct rival {
    const char *name;
    bly_kind kind; /* BLY_KIND_NONE: libbloom */
    uint32_t ops;  /* a bit for each operation it takes part in */
    uint64_t bytes;
    bly_filter *many, *one, *shared, *pair; /* NULL for operations it takes no part in */
    struct bloom peer;
    double ns[OPS][MAX_SAMPLES]; /* per key, a chunk each, over all rounds */
    bool calm[OPS][MAX_SAMPLES];
    size_t taken[OPS];
} rival;

/* Fresh filters, touched, for n keys at rate p. */
void rival_open(rival *r, uint64_t n, double p);
void rival_clear(rival *r);
void rival_close(rival *r);
/* All of its filters hold the same bits. */
bool rival_agrees(const rival *r);
/* What an operation is done with: the keys of a chunk as they lie in memory, for batches; and a
 * place to make the same ones as they come, for single calls. */
typedef struct chunk {
    const keyset *pile, *hand;
    uint64_t first; /* the number of the first key */
    size_t n;
} chunk;

/* Does one operation, and takes its time. */
void rival_run(rival *r, op what, arena *lines, const chunk *keys);

/* ---- measure.c ------------------------------------------------------------------------------- */

typedef struct setting {
    uint64_t n;
    double p;
    size_t len;
    rival rivals[MAX_RIVALS]; /* the planned layout first; libbloom, where it fits, last */
    size_t count;
    bool has_peer;
} setting;

void measure(setting *s, const options *opt);

/* ---- family.c -------------------------------------------------------------------------------- */

enum { FAMILY = 6 }; /* kinds, of which the first is what the others are compared with */

typedef enum family_op { FAMILY_ADD, FAMILY_MISS, FAMILY_HIT, FAMILY_OPS } family_op;

typedef struct member {
    bly_kind kind;
    bly_filter *filter;
    bly_builder *builder; /* of a kind that is built, while it collects keys */
    uint64_t bytes;
    double ns_in_all; /* that filling took in this round */
    double ns[FAMILY_OPS][MAX_SAMPLES];
    bool calm[FAMILY_OPS][MAX_SAMPLES];
    size_t taken[FAMILY_OPS];
} member;

typedef struct family {
    uint64_t n;
    double p;
    unsigned rounds;
    member members[FAMILY];
    double built_over[FAMILY][MAX_ROUNDS]; /* filling over the first one's, a round each */
} family;

void family_measure(family *f, const options *opt);

/* ---- builds.c -------------------------------------------------------------------------------- */

enum { BUILD_KINDS = 2, BUILD_SIZES = 4 };

typedef struct builds {
    unsigned rounds;
    bly_kind kinds[BUILD_KINDS];
    uint64_t sizes[BUILD_SIZES];
    double ns[BUILD_KINDS][BUILD_SIZES][MAX_ROUNDS]; /* per key */
} builds;

void builds_measure(builds *b, const options *opt);

/* ---- counting.c ------------------------------------------------------------------------------ */

/* The first is what the others are compared with, and the last, which cannot count, what the front
 * of `layered` is compared with. */
enum { COUNTERS = 7, ZIPFS = 3 };

typedef enum counter_op {
    COUNTER_ADD,
    COUNTER_REMOVE,
    COUNTER_MISS,
    COUNTER_HIT,
    COUNTER_OPS
} counter_op;

typedef struct counter {
    bly_kind kind;
    const char *form;  /* which of the six */
    const char *alone; /* what it can do that the others cannot */
    bly_filter *filter;
    uint64_t bytes;
    uint64_t strangers, mistaken; /* keys asked that were never added, and how many seemed to be */
    double ns[COUNTER_OPS][MAX_SAMPLES];
    size_t taken[COUNTER_OPS];
} counter;

/* Every key added as often as its rank says, all of them removed again. */
typedef struct zipf {
    bly_kind kind;
    double exponent;
    uint64_t adds, most; /* in all, and of the most frequent key */
    uint64_t bytes;      /* when all are in */
    double exact;        /* the share of keys whose copies were told exactly */
    double stuck;        /* the share of counters that never came back to 0 */
    double left;         /* the share of keys that seem to be there in the end */
} zipf;

enum { ZIPF_KINDS = 4 };

typedef struct counting {
    uint64_t n;
    double p;
    unsigned rounds;
    counter counters[COUNTERS];
    zipf zipfs[ZIPFS][ZIPF_KINDS];
} counting;

void counting_measure(counting *c, const options *opt);

/* ---- rates.c --------------------------------------------------------------------------------- */

enum { RATE_KEYS = 1000000 };

typedef struct rate {
    bly_kind kind;
    double asked;
    double measured;
    double error; /* the standard error of measured / asked */
    double bits_per_key;
} rate;

rate rate_measure(bly_kind kind, double asked, double expected_hits);

/* ---- report.c -------------------------------------------------------------------------------- */

void report_open(const options *opt);
void report_setting(const setting *s);
void report_family(const family *f);
void report_builds(const builds *b);
void report_rates_open(const options *opt);
void report_rate(const rate *r);
void report_counting(const counting *c);

/* Into the file of --json, if there is one: as printf; "name": value, or null for what was not
 * measured, with `comma` before it; what comes before an element of a list; the list before ended,
 * and another begun. */
__attribute__((format(printf, 1, 2))) void json(const char *format, ...);
void json_number(const char *comma, const char *name, double value);
void json_element(void);
void json_list(const char *name);
/* "ok" or "MISS", counted. */
const char *verdict(bool met);
/* The checksum, and how many targets were met. */
void report_close(uint64_t checksum);

#endif
