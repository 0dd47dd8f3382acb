/* bench.h - declarations that the files of the benchmark share. docs/benchmarks.md describes what
 * is measured and why.
 *
 *   keys.c      generates keys, one chunk at a time
 *   limit.c     the machine's limits: random cache lines, and the bare hash
 *   pair.c      runs an operation on two threads
 *   calm.c      detects other load on the processors
 *   rivals.c    the filters compared, and each operation on a chunk of keys
 *   figures.c   medians
 *   measure.c   rounds: every filter does every operation once, on the same chunks
 *   family.c    the other kinds, compared with sbbf
 *   builds.c    build time by number of keys
 *   counting.c  the kinds that support removal or counts, compared with each other
 *   rates.c     false-positive rates and bits per key
 *   report.c    tables, ratios, targets, JSON
 *   report_counting.c  the same for counting.c
 *   options.c   the command line
 *   bench.c     main(): runs everything in order
 */
#ifndef BENCH_H
#define BENCH_H

#include <bloomery/bloomery.h>

#include <bloom.h> /* libbloom */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    CHUNK = 262144, /* number of keys in one measurement */
    WARM_UPS = 4,   /* maximum number of warm-up runs before a measurement */
    BATCH = 4096,   /* number of keys in one batched call */
    MAX_ROUNDS = 99,
    MAX_LIST = 8, /* maximum number of values in a list on the command line */
    MAX_RIVALS = MAX_LIST + 2,
    MAX_SAMPLES = 4096, /* maximum number of measurements that are kept per operation */
    MIN_KEY = 8,        /* minimum length of a key; must exceed WARM_UPS, because warming up
                           shortens keys by up to WARM_UPS bytes */
    MAX_KEY = 4096
};

/* ---- options.c ------------------------------------------------------------------------------- */

typedef struct options {
    uint64_t n[MAX_LIST];
    double p[MAX_LIST];
    size_t len[MAX_LIST];
    bly_kind kinds[MAX_LIST]; /* kinds to measure in addition to the planned one */
    size_t n_count, p_count, len_count, kind_count;
    unsigned rounds;
    uint64_t work;        /* minimum number of keys per operation and round */
    double expected_hits; /* expected number of false positives when measuring a rate; determines
                             the number of lookups */
    bool rates;
    bool settings;        /* true: measure the settings above */
    uint64_t family_keys; /* number of keys in the filters of the other kinds (family.c); 0: do not
                             measure these */
    bool counting;        /* true: measure only what counting.c measures */
    bool builds;          /* true: also measure build times for 1M to 40M keys */
    const char *json;
} options;

/* Parses the command line. Exits after --help, and if an argument is invalid. */
options options_parse(int argc, char **argv);

/* ---- bench.c --------------------------------------------------------------------------------- */

/* Adds a computed value to the checksum, so that the compiler cannot optimise the work away. */
void fold(uint64_t value);
/* Exits with status 1 if `truth` is false, because the measurements would then be meaningless. */
void must(bool truth, const char *what);

/* ---- keys.c ---------------------------------------------------------------------------------- */

typedef struct keyset {
    size_t len;      /* length of every key in bytes */
    uint8_t *bytes;  /* the keys, without gaps */
    bly_bytes *keys; /* CHUNK keys */
} keyset;

/* Keys are identified by numbers. Non-members begin at MISS_KEYS, and keys that are looked up only
 * to warm up a filter at WARM_KEYS. */
#define MISS_KEYS (UINT64_C(1) << 40)
#define WARM_KEYS (UINT64_C(1) << 41)

keyset keys_open(size_t len);
/* Generates the keys with the numbers `first` to first + n - 1; n must not exceed CHUNK. All keys
 * are distinct. */
void keys_make(const keyset *set, uint64_t first, size_t n);
/* Sets the length of n keys of a set to `len`. A shortened key is another key in the same memory.
 * Setting the length to that of the set restores the original keys. */
void keys_cut(bly_bytes *keys, size_t len, size_t n);
/* Generates the keys with the numbers `first` to first + n - 1, one batch at a time, and passes
 * each batch to `work` while it is still in a near cache, like data that a program has just read.
 * Returns the seconds spent in `work`, and adds the results of `work` to *sum. */
typedef uint64_t keys_fn(void *context, const bly_bytes *keys, size_t n);
double keys_spend(const keyset *set, uint64_t first, uint64_t n, keys_fn *work, void *context,
                  uint64_t *sum);
void keys_close(keyset *set);

/* ---- limit.c --------------------------------------------------------------------------------- */

typedef struct arena {
    void *at;
    uint64_t bytes;
    uint64_t state; /* state of the random sequence, so that every call reads other lines */
} arena;

arena arena_open(uint64_t bytes); /* in huge pages, of which all are mapped */
void arena_close(arena *a);
/* Reads `reads` random cache lines from the first `bytes` bytes of the arena. */
uint64_t limit_lines(arena *a, uint64_t bytes, size_t reads);
uint64_t limit_hash(const bly_bytes *keys, size_t n);
double seconds_now(void);

/* ---- pair.c ---------------------------------------------------------------------------------- */

/* An operation on n keys: a batched add, which returns the number of new keys; a batched lookup,
 * which returns the number of keys found; or an operation that needs no filter. */
typedef uint64_t batch_fn(bly_filter *f, const bly_bytes *keys, size_t n);

void pair_open(void);      /* starts the second thread */
int pair_processors(void); /* number of processors that this process may use */
void pair_ready(void);     /* wakes the thread, which spins until pair_rest, so that waking it is
                              not timed */
void pair_rest(void);      /* lets the second thread sleep */
/* Applies fn to n keys on both threads, which take batches from one queue. Returns the sum of the
 * results. */
uint64_t pair_run(batch_fn *fn, bly_filter *f, const bly_bytes *keys, size_t n);
void pair_close(void);

/* ---- calm.c ---------------------------------------------------------------------------------- */

void calm_open(void);
/* Returns true if no other load is detected on this thread's processor or, if `pair` is true, on
 * the processors of both threads (call pair_ready before). */
bool calm_now(bool pair);
void calm_count(bool was_calm); /* counts one measurement, for calm_share */
double calm_share(void);        /* share of measurements that were calm */

/* ---- rivals.c -------------------------------------------------------------------------------- */

typedef enum op {
    LIMIT,      /* L: reading random cache lines from as much memory as the filter has */
    HASH,       /* H: only hashing the keys with XXH3 */
    HASH_PAIR,  /* H on two threads, which shows what two threads can reach on this machine */
    ADD_MANY,   /* batched adds to an exclusive filter */
    ADD_ONE,    /* adds with one call per key */
    ADD_SHARED, /* batched adds to a shared filter by one thread */
    ADD_PAIR,   /* batched adds to a shared filter by two threads */
    MISS_MANY,  /* batched lookups of non-members; the next three are their other forms */
    MISS_ONE,
    MISS_SHARED,
    MISS_PAIR,
    HIT_LIMIT, /* L and H again, measured together with the lookups of members */
    HIT_HASH,
    HIT_MANY,
    HIT_ONE,
    OPS
} op;

/* ---- figures.c ------------------------------------------------------------------------------- */

typedef struct summary {
    double median, low, high; /* `low` and `high` are the 10th and the 90th percentile */
} summary;

/* Summarises n values; n must be 1 to MAX_SAMPLES. */
summary summarise(const double *values, size_t n);

/* Summarises the values that were measured without other load; all values, if those are fewer than
 * MIN_CALM. */
enum { MIN_CALM = 8 };
summary summarise_calm(const double *values, const bool *calm, size_t n);

typedef struct rival {
    const char *name;
    bly_kind kind; /* BLY_KIND_NONE: libbloom */
    uint32_t ops;  /* one bit for each operation that is measured */
    uint64_t bytes;
    bly_filter *many, *one, *shared, *pair; /* the filters for each form of use; NULL if no measured
                                               operation needs it */
    struct bloom peer;
    double ns[OPS][MAX_SAMPLES]; /* nanoseconds per key; one value per chunk, of all rounds */
    bool calm[OPS][MAX_SAMPLES];
    size_t taken[OPS];
} rival;

/* Creates filters for n keys at rate p. All of their memory is mapped by writing to it. */
void rival_open(rival *r, uint64_t n, double p);
void rival_clear(rival *r);
void rival_close(rival *r);
/* Returns true if all filters of the rival have the same bits. */
bool rival_agrees(const rival *r);
/* The keys of one measurement. `stored` contains all of them, for batches. `fresh` has space in
 * which the same keys are generated again, just before single calls use them. */
typedef struct chunk {
    const keyset *stored, *fresh;
    uint64_t first; /* number that identifies the first key */
    size_t n;
} chunk;

/* Does one operation and records its time. */
void rival_run(rival *r, op what, arena *lines, const chunk *keys);

/* ---- measure.c ------------------------------------------------------------------------------- */

typedef struct setting {
    uint64_t n;
    double p;
    size_t len;
    rival rivals[MAX_RIVALS]; /* the first is the planned kind; the last is libbloom, if it supports
                                 n keys */
    size_t count;
    bool has_peer;
} setting;

void measure(setting *s, const options *opt);

/* ---- family.c -------------------------------------------------------------------------------- */

enum { FAMILY = 6 }; /* number of kinds; the others are compared with the first */

typedef enum family_op { FAMILY_ADD, FAMILY_MISS, FAMILY_HIT, FAMILY_OPS } family_op;

typedef struct member {
    bly_kind kind;
    bly_filter *filter;
    bly_builder *builder; /* for a built kind, while keys are collected */
    uint64_t bytes;
    double fill_ns; /* total time of filling the filter in this round, in nanoseconds */
    double ns[FAMILY_OPS][MAX_SAMPLES];
    bool calm[FAMILY_OPS][MAX_SAMPLES];
    size_t taken[FAMILY_OPS];
} member;

typedef struct family {
    uint64_t n;
    double p;
    unsigned rounds;
    member members[FAMILY];
    double fill_ratio[FAMILY][MAX_ROUNDS]; /* per round: fill_ns divided by that of the first
                                              kind */
} family;

void family_measure(family *f, const options *opt);

/* ---- builds.c -------------------------------------------------------------------------------- */

enum { BUILD_KINDS = 2, BUILD_SIZES = 4 };

typedef struct builds {
    unsigned rounds;
    bly_kind kinds[BUILD_KINDS];
    uint64_t sizes[BUILD_SIZES];
    double ns[BUILD_KINDS][BUILD_SIZES][MAX_ROUNDS]; /* nanoseconds per key */
} builds;

void builds_measure(builds *b, const options *opt);

/* ---- counting.c ------------------------------------------------------------------------------ */

/* The number of kinds. The others are compared with the first. The last, sbbf, supports neither
 * removal nor counts; `layered` is also compared with it. */
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
    const char *form;     /* which of the six forms in docs/choosing.md the kind is */
    const char *strength; /* what distinguishes the kind from the others */
    bly_filter *filter;
    uint64_t bytes;
    uint64_t non_members, false_positives; /* number of non-members looked up, and how many of them
                                              were found */
    double ns[COUNTER_OPS][MAX_SAMPLES];
    size_t taken[COUNTER_OPS];
} counter;

/* Results with repeated keys. Each key is added as often as its rank determines (Zipf's law); then
 * all copies are removed. */
typedef struct zipf {
    bly_kind kind;
    double exponent;
    uint64_t adds, most; /* number of adds; number of adds of the most frequent key */
    uint64_t bytes;      /* bytes of memory after all adds */
    double exact;        /* share of keys whose count is exact */
    double stuck;        /* share of counters that did not return to 0 */
    double left;         /* share of keys still found after all removals */
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
    double requested;
    double measured;
    double error; /* standard error of measured / requested */
    double bits_per_key;
} rate;

rate rate_measure(bly_kind kind, double requested, double expected_hits);

/* ---- report.c -------------------------------------------------------------------------------- */

void report_open(const options *opt);
void report_setting(const setting *s);
void report_family(const family *f);
void report_builds(const builds *b);
void report_rates_open(const options *opt);
void report_rate(const rate *r);
void report_counting(const counting *c);

/* These functions write to the file of --json, if that option was given. json() works like printf.
 * json_number() writes `comma`, then "name": value, with null for NAN (not measured).
 * json_element() begins an element of a list. json_list() ends the current list and begins
 * another. */
__attribute__((format(printf, 1, 2))) void json(const char *format, ...);
void json_number(const char *comma, const char *name, double value);
void json_element(void);
void json_list(const char *name);
/* Returns "ok" if a target was met, else "MISS", and counts it. */
const char *verdict(bool met);
/* Prints the checksum and how many targets were met. */
void report_close(uint64_t checksum);

#endif
