/* bench_run.c - measures the time, space and rate of each kind of filter, and two limits of the
 * machine.
 */
#include "bench/bench_run.h"

#include "filters/filter_file.h"
#include "filters/kind_words.h"
#include "text/message.h"
#include "text/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    CHUNK = 1 << 16,      /* keys made and timed together */
    SAMPLES = 1 << 14,    /* the most times that are stored for one operation */
    BATCH = 4096,         /* keys in one batched call */
    MAX_LOOKUPS = 2 << 20 /* a round looks up at most this many keys */
};

/* Keys with this number or a higher one are never added. */
static const uint64_t first_absent = UINT64_C(1) << 50;

/* ---- keys ------------------------------------------------------------------------------------ */

/* Keys are made when they are needed, a chunk at a time, instead of storing them all. */
typedef struct bench_keys {
    size_t length;
    uint8_t *bytes; /* one key after another, as lines of a file would lie */
    bly_bytes *keys;
} bench_keys;

static void keys_close(bench_keys *k) {
    free(k->bytes);
    free(k->keys);
    *k = (bench_keys){0};
}

/* If memory runs out, reports that and returns false. */
static bool keys_open(bench_keys *k, size_t length) {
    *k = (bench_keys){length, malloc(length * CHUNK), calloc(CHUNK, sizeof *k->keys)};
    if (!k->bytes || !k->keys) {
        keys_close(k);
        return message_fail("out of memory");
    }
    for (size_t i = 0; i < CHUNK; i++)
        k->keys[i] = (bly_bytes){k->bytes + i * length, length};
    return true;
}

/* Murmur3's finaliser: a bijection, so that keys with different numbers differ in their first
 * words. */
static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 33)) * UINT64_C(0xFF51AFD7ED558CCD);
    x = (x ^ (x >> 33)) * UINT64_C(0xC4CEB9FE1A85EC53);
    return x ^ (x >> 33);
}

/* Makes n <= CHUNK keys, numbered from `first`. Keys with different numbers are different. */
static void make_keys(const bench_keys *k, uint64_t first, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint8_t *to = k->bytes + i * k->length;
        uint64_t word = mix(first + i);
        for (size_t at = 0; at < k->length; at += sizeof word) {
            size_t rest = k->length - at;
            memcpy(to + at, &word, rest < sizeof word ? rest : sizeof word);
            word = (word ^ (word >> 29)) * UINT64_C(0x9E3779B97F4A7C15);
        }
    }
}

/* ---- times ----------------------------------------------------------------------------------- */

typedef struct bench_times {
    size_t count;
    double ns[SAMPLES]; /* per key; when the array is full, further times are dropped */
} bench_times;

static void record_time(bench_times *t, double start, size_t keys) {
    double ns = 1e9 * (progress_clock() - start) / (double)keys;
    if (t->count < SAMPLES)
        t->ns[t->count++] = ns;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the times, and returns their median, or 0 if no time was stored. */
static double median_of(bench_times *t) {
    if (t->count == 0)
        return 0;
    qsort(t->ns, t->count, sizeof *t->ns, ascending);
    return (t->ns[(t->count - 1) / 2] + t->ns[t->count / 2]) / 2;
}

/* ---- one kind -------------------------------------------------------------------------------- */

typedef struct bench {
    const bench_setting *setting;
    bench_keys keys;
    bly_spec spec;
    bool built; /* the filter is built from all keys at once; `many` and `one` are then the same
                   filter */
    bly_builder *builder; /* used if `built` */
    bly_filter *many, *one;
    bench_times times[BENCH_OPS];
    const char *wrong;        /* the first error; NULL: none */
    uint64_t false_positives; /* false positives of all rounds */
} bench;

static void expect(bench *b, bool truth, const char *error) {
    if (!truth && !b->wrong)
        b->wrong = error;
}

/* ---- operations on a chunk ------------------------------------------------------------------- */

/* Each of these functions adds or looks up the first n keys of the chunk, and returns how many were
 * new, or were found. */

static uint64_t add_many(bench *b, size_t n) {
    uint8_t added[BATCH];
    uint64_t fresh = 0;
    bool good = true;
    for (size_t at = 0; at < n; at += BATCH) {
        bly_batch_result tally = {0};
        size_t some = n - at < BATCH ? n - at : BATCH;
        good &= bly_filter_add_many(b->many, b->keys.keys + at, some, added, &tally) == BLY_OK;
        fresh += tally.changed;
    }
    expect(b, good, "a batch of keys could not be added");
    return fresh;
}

static uint64_t add_one(bench *b, size_t n) {
    uint64_t fresh = 0;
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        bool added = false;
        good &=
            bly_filter_add(b->one, b->keys.keys[i].data, b->keys.keys[i].size, &added) == BLY_OK;
        fresh += added;
    }
    expect(b, good, "a key could not be added");
    return fresh;
}

static uint64_t contains_many(bench *b, size_t n) {
    uint8_t found[BATCH];
    uint64_t sum = 0;
    for (size_t at = 0; at < n; at += BATCH)
        sum += bly_filter_contains_many(b->many, b->keys.keys + at, n - at < BATCH ? n - at : BATCH,
                                        found);
    return sum;
}

static uint64_t contains_one(bench *b, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += bly_filter_contains(b->one, b->keys.keys[i].data, b->keys.keys[i].size);
    return sum;
}

/* ---- a round --------------------------------------------------------------------------------- */

/* Runs one operation for `count` keys, numbered from `first`. It runs for all keys before another
 * operation begins, so that only one of the two filters is in the caches. Returns the sum of the
 * results. */
static uint64_t pass(bench *b, bench_op op, uint64_t first, uint64_t count) {
    static uint64_t (*const works[BENCH_OPS])(bench *, size_t) = {
        add_many, add_one, contains_many, contains_one, contains_many, contains_one};
    uint64_t sum = 0;
    for (uint64_t done = 0; done < count && !b->wrong; done += CHUNK) {
        size_t n = count - done < CHUNK ? (size_t)(count - done) : CHUNK;
        make_keys(&b->keys, first + done, n);
        double start = progress_clock();
        sum += works[op](b, n);
        record_time(&b->times[op], start, n);
    }
    return sum;
}

static uint64_t lookups_per_round(const bench_setting *s) {
    return s->keys < MAX_LOOKUPS ? s->keys : MAX_LOOKUPS;
}

/* Fills both filters. */
static void add_all(bench *b) {
    const uint64_t keys = b->setting->keys;
    bly_filter_clear(b->many);
    bly_filter_clear(b->one);
    uint64_t fresh = pass(b, BENCH_ADD_MANY, 0, keys);
    expect(b, pass(b, BENCH_ADD_ONE, 0, keys) == fresh,
           "batched and single adds disagree on which keys are new");
    expect(b, bly_filter_equal(b->many, b->one), "batched and single adds give different filters");
}

/* Builds the filter, and times everything but the making of the keys. */
static void build(bench *b) {
    const uint64_t keys = b->setting->keys;
    double spent = 0, start = progress_clock();
    bly_filter_destroy(b->many);
    b->many = b->one = NULL;
    expect(b, bly_builder_create(&b->spec, NULL, &b->builder) == BLY_OK,
           "the filter cannot be built");
    for (uint64_t done = 0; done < keys && !b->wrong; done += CHUNK) {
        size_t n = keys - done < CHUNK ? (size_t)(keys - done) : CHUNK;
        spent += progress_clock() - start;
        make_keys(&b->keys, done, n);
        start = progress_clock();
        expect(b, bly_builder_add(b->builder, b->keys.keys, n) == BLY_OK,
               "keys could not be collected");
    }
    if (!b->wrong)
        expect(b, bly_builder_finish(b->builder, &b->many) == BLY_OK,
               "the filter could not be built");
    record_time(&b->times[BENCH_ADD_MANY], start - spent, (size_t)keys);
    bly_builder_destroy(b->builder);
    b->one = b->many;
}

static void one_round(bench *b, unsigned round) {
    const uint64_t keys = b->setting->keys, lookups = lookups_per_round(b->setting);
    const uint64_t absent = first_absent + round * lookups;
    b->built ? build(b) : add_all(b);
    if (b->wrong)
        return;
    uint64_t wrong = pass(b, BENCH_MISS_MANY, absent, lookups);
    expect(b, pass(b, BENCH_MISS_ONE, absent, lookups) == wrong,
           "batched and single lookups disagree");
    uint64_t found = pass(b, BENCH_HIT_MANY, 0, keys);
    expect(b, found == keys, "a key that was added is not found");
    found = pass(b, BENCH_HIT_ONE, 0, lookups);
    expect(b, found == lookups, "a key that was added is not found");
    b->false_positives += wrong;
}

/* ---- all rounds ------------------------------------------------------------------------------ */

/* Plans a filter for the use that its kind is made for: a filter that grows begins with room for a
 * tenth of the keys, one that is built gets all keys at once, and one that forgets has a window. */
static bly_status plan(const bench_setting *s, bly_kind kind, bly_spec *out) {
    static const uint32_t uses[] = {BLY_NEED_GROW, 0, BLY_NEED_STATIC, BLY_NEED_WINDOW,
                                    BLY_NEED_COUNTS};
    bly_needs needs = {.keys = s->keys, .fpr = s->rate};
    size_t i = 0;
    do
        needs.flags = uses[i++];
    while (bly_advise_why_not(kind, &needs) && i < sizeof uses / sizeof *uses);
    bly_advice advice = {.struct_size = sizeof advice};
    bly_status status = bly_advise_kind(kind, &needs, &advice);
    *out = bly_spec_for(kind, s->keys, s->rate);
    if (status == BLY_OK)
        status = bly_advice_get_spec(&advice, out);
    /* The planner never advises an overlay, but one can be created. */
    return kind == BLY_OVERLAY ? BLY_OK : status;
}

bool bench_possible(const bench_setting *s, bly_kind kind) {
    bly_spec spec;
    if (kinds_can(kind, BLY_CARDINALITY_ONLY))
        return message_fail(
            "%s: only counts keys, so it has no lookups to measure; leave it out of --kinds",
            bly_kind_name(kind));
    bly_status status = plan(s, kind, &spec);
    return status == BLY_OK || message_fail("%s: %s", bly_kind_name(kind), bly_strerror(status));
}

static bool open_filters(bench *b, bly_kind kind) {
    b->built = kinds_can(kind, BLY_CAN_BUILD);
    bly_status status = plan(b->setting, kind, &b->spec);
    if (status == BLY_OK && !b->built)
        status = bly_filter_create(&b->spec, &b->many);
    if (status == BLY_OK && !b->built)
        status = bly_filter_create(&b->spec, &b->one);
    if (status != BLY_OK)
        return message_fail("%s: %s", bly_kind_name(kind), bly_strerror(status));
    return keys_open(&b->keys, b->setting->key_bytes);
}

static bool run_rounds(bench *b) {
    for (unsigned round = 0; round < b->setting->rounds && !b->wrong; round++)
        one_round(b, round);
    return !b->wrong || message_fail("%s: %s; do not trust this build",
                                     bly_kind_name(b->spec.geometry.kind), b->wrong);
}

static void collect(bench *b, bench_result *out) {
    const bly_filter_info stats = filter_info(b->many);
    out->bytes = stats.bytes;
    out->bits_per_key = 8 * (double)stats.bytes / (double)b->setting->keys;
    out->absent = lookups_per_round(b->setting) * b->setting->rounds;
    out->false_positives = b->false_positives;
    for (int op = 0; op < BENCH_OPS; op++)
        out->ns[op] = median_of(&b->times[op]);
}

bool bench_kind(const bench_setting *s, bly_kind kind, bench_result *out) {
    bench *b = calloc(1, sizeof *b);
    if (!b)
        return message_fail("out of memory");
    b->setting = s;
    *out = (bench_result){.kind = kind, .requested = s->rate};
    const bool good = open_filters(b, kind) && run_rounds(b);
    if (good)
        collect(b, out);
    bly_filter_destroy(b->many);
    bly_filter_destroy(b->built ? NULL : b->one);
    keys_close(&b->keys);
    free(b);
    return good;
}

/* ---- limits of the machine ------------------------------------------------------------------- */

/* A lookup must hash its key and read one random cache line. The functions below measure how fast
 * the machine does each of the two alone. */
enum {
    LINE = 64,
    NEAR_LINES = (4 << 20) / LINE, /* smaller arrays mostly fit into the caches */
    WINDOW = 32,                   /* cache lines requested and not yet read */
    SEQUENCES = 4, /* random sequences in rotation: one alone would wait for its multiplications */
    HUGE_PAGE = 2 << 20,
    PASSES = 40
};

/* All results are added to this variable, so that the compiler removes no computation. */
static volatile uint64_t sink;

static bool time_hash(const bench_setting *s, bench_limits *out) {
    static bench_times many, one; /* too large for the stack */
    static bly_hash hashes[CHUNK];
    bly_hasher hasher;
    bench_keys keys;
    bly_status status = bly_hasher_default(&hasher, s->keys, s->rate, 0);
    if (status)
        return message_fail("%s", bly_strerror(status));
    if (!keys_open(&keys, s->key_bytes))
        return false;
    out->hash = bly_hash_name((bly_hash_id)hasher.id);
    many.count = one.count = 0;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        make_keys(&keys, (uint64_t)pass * CHUNK, CHUNK);
        double start = progress_clock();
        bly_hash_keys(&hasher, keys.keys, CHUNK, hashes);
        record_time(&many, start, CHUNK);
        sink = sink + hashes[pass].lo;
        uint64_t sum = 0;
        start = progress_clock();
        for (size_t i = 0; i < CHUNK; i++)
            sum += bly_hash_key(&hasher, keys.keys[i].data, keys.keys[i].size).lo;
        record_time(&one, start, CHUNK);
        sink = sink + sum;
    }
    keys_close(&keys);
    out->hash_many = median_of(&many);
    out->hash_one = median_of(&one);
    return true;
}

/* Advances a linear congruential sequence, and prefetches the line that its upper half chooses. As
 * in filters, a small array is prefetched into the first-level cache, and a larger one into the
 * second-level cache, which can wait for more lines at once. */
static inline const uint64_t *request(const uint64_t *at, uint64_t lines, uint64_t *x) {
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t *line = at + ((*x >> 32) * lines >> 32) * (LINE / sizeof *at);
    if (lines <= NEAR_LINES)
        __builtin_prefetch(line);
    else
        __builtin_prefetch(line, 0, 2);
    return line;
}

static uint64_t read_lines(const uint64_t *at, uint64_t lines, uint64_t seed, size_t reads) {
    const uint64_t *ring[WINDOW];
    uint64_t x[SEQUENCES], sum = 0;
    for (size_t j = 0; j < SEQUENCES; j++)
        x[j] = (seed * SEQUENCES + j + 1) * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t i = 0; i < WINDOW; i++)
        ring[i] = request(at, lines, &x[i % SEQUENCES]);
    for (size_t i = 0; i < reads; i += SEQUENCES) {
        const uint64_t **slot = ring + i % WINDOW;
        for (size_t j = 0; j < SEQUENCES; j++) {
            sum += *slot[j];
            slot[j] = request(at, lines, &x[j]);
        }
    }
    return sum;
}

static bool time_lines(bench_limits *out) {
    static bench_times times; /* too large for the stack */
    uint64_t bytes = (out->bytes / HUGE_PAGE + 1) * HUGE_PAGE, lines = out->bytes / LINE;
    /* The sequences can choose among at most 2^32 lines (256 GiB). */
    void *at =
        bytes <= SIZE_MAX && lines <= UINT32_MAX ? aligned_alloc(HUGE_PAGE, (size_t)bytes) : NULL;
    if (!at)
        return message_fail("out of memory");
#ifdef MADV_HUGEPAGE
    (void)madvise(at, (size_t)bytes, MADV_HUGEPAGE);
#endif
    memset(at, 1, (size_t)bytes);
    times.count = 0;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        double start = progress_clock();
        sink = sink + read_lines(at, lines, pass, CHUNK);
        record_time(&times, start, CHUNK);
    }
    free(at);
    out->line = median_of(&times);
    return true;
}

bool bench_limits_find(const bench_setting *s, bench_limits *out) {
    bly_needs needs = {.keys = s->keys, .fpr = s->rate};
    bly_advice a = {.struct_size = sizeof a};
    bly_status status = bly_advise(&needs, &a);
    if (status)
        return message_fail("%s", bly_strerror(status));
    *out = (bench_limits){.bytes = a.bytes};
    return time_hash(s, out) && time_lines(out);
}
