/* bench.h - shared declarations of the benchmark. docs/benchmarks.md describes what is measured
 * and why.
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
    CHUNK = 262144, /* keys in one measurement */
    WARM_UPS = 4,   /* maximum before a measurement */
    BATCH = 4096,   /* keys in one batched call */
    MAX_ROUNDS = 99,
    MAX_LIST = 8, /* values of one list on the command line */
    MAX_RIVALS = MAX_LIST + 2,
    MAX_SAMPLES = 4096, /* measurements kept per operation */
    MIN_KEY = 8,        /* exceeds WARM_UPS: warming up cuts up to WARM_UPS bytes off a key */
    MAX_KEY = 4096
};

/* ---- options.c ------------------------------------------------------------------------------- */

typedef struct options {
    uint64_t n[MAX_LIST];
    double p[MAX_LIST];
    size_t len[MAX_LIST];
    bly_kind kinds[MAX_LIST]; /* measured in addition to the planned layout */
    size_t n_count, p_count, len_count, kind_count;
    unsigned rounds;
    uint64_t work;        /* minimum number of keys per operation and round */
    double expected_hits; /* false positives expected when measuring a rate */
    bool rates;
    bool settings;        /* measure the settings above */
    uint64_t family_keys; /* in the filters of the other kinds; 0: skip them */
    bool counting;        /* measure only what counting.c measures */
    bool builds;          /* measure build times from 1M to 40M keys */
    const char *json;
} options;

/* Exits on --help and on invalid arguments. */
options options_parse(int argc, char **argv);

/* ---- bench.c --------------------------------------------------------------------------------- */

/* Adds a computed value to the checksum, so that the compiler cannot optimise the work away. */
void fold(uint64_t value);
/* Exits with status 1 if `truth` is false: the measurements would be meaningless. */
void must(bool truth, const char *what);

/* ---- keys.c ---------------------------------------------------------------------------------- */

typedef struct keyset {
    size_t len;      /* bytes of every key */
    uint8_t *bytes;  /* the keys, without gaps */
    bly_bytes *keys; /* CHUNK keys */
} keyset;

/* First numbers of the non-members, and of the keys that are looked up only to warm a filter. */
#define MISS_KEYS (UINT64_C(1) << 40)
#define WARM_KEYS (UINT64_C(1) << 41)

keyset keys_open(size_t len);
/* Generates the keys with the numbers `first` to first + n - 1, n <= CHUNK. They are distinct. */
void keys_make(const keyset *set, uint64_t first, size_t n);
/* Sets the length of n keys of a set. A shortened key is another key in the same memory; with
 * set->len bytes it is the original again. */
void keys_cut(bly_bytes *keys, size_t len, size_t n);
/* Generates the keys with the numbers `first` to first + n - 1, one batch at a time, and passes
 * each batch to `work` while it is still in a near cache, like data that a program has just read.
 * Returns the seconds spent in `work` and adds its results to *sum. */
typedef uint64_t keys_fn(void *context, const bly_bytes *keys, size_t n);
double keys_spend(const keyset *set, uint64_t first, uint64_t n, keys_fn *work, void *context,
                  uint64_t *sum);
void keys_close(keyset *set);

/* ---- limit.c --------------------------------------------------------------------------------- */

typedef struct arena {
    void *at;
    uint64_t bytes;
    uint64_t state; /* of the random sequence: every call reads other lines */
} arena;

arena arena_open(uint64_t bytes); /* huge pages, all touched */
void arena_close(arena *a);
/* Reads random cache lines of the first `bytes` bytes. */
uint64_t limit_lines(arena *a, uint64_t bytes, size_t reads);
uint64_t limit_hash(const bly_bytes *keys, size_t n);
double seconds_now(void);

/* ---- pair.c ---------------------------------------------------------------------------------- */

/* An operation on n keys: a batched add (returns the number of new keys), a batched lookup (returns
 * the number found), or one without a filter. */
typedef uint64_t batch_fn(bly_filter *f, const bly_bytes *keys, size_t n);

void pair_open(void);      /* starts the second thread */
int pair_processors(void); /* number of processors that this process may use */
void pair_ready(void);     /* wakes the thread, which spins until pair_rest: waking is not timed */
void pair_rest(void);      /* sends it to sleep */
/* Runs fn over n keys on both threads, which take batches from one queue. Returns the sum. */
uint64_t pair_run(batch_fn *fn, bly_filter *f, const bly_bytes *keys, size_t n);
void pair_close(void);

/* ---- calm.c ---------------------------------------------------------------------------------- */

void calm_open(void);
/* True if no other load is noticed on this thread's processor; with `pair`, which needs pair_ready,
 * on both threads' processors. */
bool calm_now(bool pair);
void calm_count(bool was_calm); /* counts one measurement */
double calm_share(void);        /* share of calm measurements */

/* ---- rivals.c -------------------------------------------------------------------------------- */

typedef enum op {
    LIMIT,      /* L: random cache lines from as much memory as the filter has */
    HASH,       /* H: bare XXH3 of the keys */
    HASH_PAIR,  /* H on two threads: what two threads can reach on this machine */
    ADD_MANY,   /* batched adds, exclusive filter */
    ADD_ONE,    /* one call per key */
    ADD_SHARED, /* batched adds, shared filter, one thread */
    ADD_PAIR,   /* the same on two threads */
    MISS_MANY,  /* lookups of non-members */
    MISS_ONE,
    MISS_SHARED,
    MISS_PAIR,
    HIT_LIMIT, /* L and H again, measured beside lookups of members */
    HIT_HASH,
    HIT_MANY,
    HIT_ONE,
    OPS
} op;

/* ---- figures.c ------------------------------------------------------------------------------- */

typedef struct summary {
    double median, low, high; /* low, high: 10th and 90th percentile */
} summary;

/* 1 <= n <= MAX_SAMPLES */
summary summarise(const double *values, size_t n);

/* Summarises the values measured without other load; all values if fewer than MIN_CALM are left. */
enum { MIN_CALM = 8 };
summary summarise_calm(const double *values, const bool *calm, size_t n);

typedef struct rival {
    const char *name;
    bly_kind kind; /* BLY_KIND_NONE: libbloom */
    uint32_t ops;  /* one bit for each operation that is measured */
    uint64_t bytes;
    bly_filter *many, *one, *shared, *pair; /* NULL if no measured operation needs it */
    struct bloom peer;
    double ns[OPS][MAX_SAMPLES]; /* per key; one value per chunk, over all rounds */
    bool calm[OPS][MAX_SAMPLES];
    size_t taken[OPS];
} rival;

/* Creates filters for n keys at rate p, with all memory touched. */
void rival_open(rival *r, uint64_t n, double p);
void rival_clear(rival *r);
void rival_close(rival *r);
/* True if all its filters have the same bits. */
bool rival_agrees(const rival *r);
/* The keys of one measurement: `stored` has all of them in memory, for batches; `fresh` is space to
 * generate the same keys again just before single calls use them. */
typedef struct chunk {
    const keyset *stored, *fresh;
    uint64_t first; /* number of the first key */
    size_t n;
} chunk;

/* Does one operation and records its time. */
void rival_run(rival *r, op what, arena *lines, const chunk *keys);

/* ---- measure.c ------------------------------------------------------------------------------- */

typedef struct setting {
    uint64_t n;
    double p;
    size_t len;
    rival rivals[MAX_RIVALS]; /* first the planned layout; last libbloom, if it supports n */
    size_t count;
    bool has_peer;
} setting;

void measure(setting *s, const options *opt);

/* ---- family.c -------------------------------------------------------------------------------- */

enum { FAMILY = 6 }; /* kinds; the others are compared with the first */

typedef enum family_op { FAMILY_ADD, FAMILY_MISS, FAMILY_HIT, FAMILY_OPS } family_op;

typedef struct member {
    bly_kind kind;
    bly_filter *filter;
    bly_builder *builder; /* of a built kind, while it collects keys */
    uint64_t bytes;
    double fill_ns; /* total time of filling in this round */
    double ns[FAMILY_OPS][MAX_SAMPLES];
    bool calm[FAMILY_OPS][MAX_SAMPLES];
    size_t taken[FAMILY_OPS];
} member;

typedef struct family {
    uint64_t n;
    double p;
    unsigned rounds;
    member members[FAMILY];
    double fill_ratio[FAMILY][MAX_ROUNDS]; /* fill_ns over that of the first kind, per round */
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

/* The others are compared with the first. The last, sbbf, supports neither removal nor counts; it
 * is what `layered` is compared with. */
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
    const char *form;     /* which of the six forms of docs/choosing.md */
    const char *strength; /* what the other kinds cannot do */
    bly_filter *filter;
    uint64_t bytes;
    uint64_t non_members, false_positives; /* lookups of non-members, and how many were found */
    double ns[COUNTER_OPS][MAX_SAMPLES];
    size_t taken[COUNTER_OPS];
} counter;

/* Results with repeated keys: each key is added as often as its rank says, then all are removed. */
typedef struct zipf {
    bly_kind kind;
    double exponent;
    uint64_t adds, most; /* number of adds, and of those of the most frequent key */
    uint64_t bytes;      /* after all adds */
    double exact;        /* share of keys with an exact count */
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

/* Output to the file of --json, if that option was given. json() is like printf. json_number()
 * writes `comma` and "name": value, or null for NAN (not measured). json_element() begins an
 * element of a list. json_list() ends the current list and begins another. */
__attribute__((format(printf, 1, 2))) void json(const char *format, ...);
void json_number(const char *comma, const char *name, double value);
void json_element(void);
void json_list(const char *name);
/* Returns "ok" or "MISS" and counts it. */
const char *verdict(bool met);
/* Prints the checksum and how many targets were met. */
void report_close(uint64_t checksum);

#endif
