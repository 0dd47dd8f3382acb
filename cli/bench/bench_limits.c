/* The limits. A membership test must hash its key and read one cache line at random; this is how
 * fast the machine does either, with nothing else to do. */
#include "bench/bench_keys.h"
#include "bench/bench_run.h"
#include "text/message.h"
#include "text/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LINE = 64,
    NEAR_LINES = (4 << 20) / LINE, /* up to so many, most lie in caches */
    WINDOW = 32,                   /* lines requested and not yet read */
    SEQUENCES = 4, /* random sequences taken in turn: one alone would wait for its own multiply */
    HUGE_PAGE = 2 << 20,
    PASSES = 40
};

/* Everything computed goes in here, so that nothing is optimised away. */
static volatile uint64_t sink;

/* ---- the hash -------------------------------------------------------------------------------- */

static bool time_hash(const bench_setting *s, bench_limits *out) {
    static bench_times many, one; /* large */
    static bly_hash hashes[BENCH_CHUNK];
    bly_hasher hasher;
    bench_keys keys;
    bly_status status = bly_hasher_default(&hasher, s->keys, s->rate, 0);
    if (status) {
        (void)message_error("%s", bly_strerror(status));
        return false;
    }
    if (!bench_keys_open(&keys, s->key_bytes))
        return false;
    out->hash = bly_hash_name((bly_hash_id)hasher.id);
    many.count = one.count = 0;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        bench_keys_make(&keys, (uint64_t)pass * BENCH_CHUNK, BENCH_CHUNK);
        double start = progress_clock();
        bly_hash_keys(&hasher, keys.keys, BENCH_CHUNK, hashes);
        bench_time(&many, start, BENCH_CHUNK);
        sink = sink + hashes[pass].lo;
        uint64_t sum = 0;
        start = progress_clock();
        for (size_t i = 0; i < BENCH_CHUNK; i++)
            sum += bly_hash_key(&hasher, keys.keys[i].data, keys.keys[i].size).lo;
        bench_time(&one, start, BENCH_CHUNK);
        sink = sink + sum;
    }
    bench_keys_close(&keys);
    out->hash_many = bench_median(&many);
    out->hash_one = bench_median(&one);
    return true;
}

/* ---- the lines ------------------------------------------------------------------------------- */

/* Advances a linear congruential sequence and requests the line its upper half chooses, as filters
 * do: into the second level, which can wait for more of them, or, of a small array, the first. */
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
    static bench_times times; /* large */
    uint64_t bytes = (out->bytes / HUGE_PAGE + 1) * HUGE_PAGE, lines = out->bytes / LINE;
    /* The sequences choose among 2^32 lines at most; more than that are not to be had anyway. */
    void *at =
        bytes <= SIZE_MAX && lines <= UINT32_MAX ? aligned_alloc(HUGE_PAGE, (size_t)bytes) : NULL;
    if (!at) {
        (void)message_error("out of memory");
        return false;
    }
#ifdef MADV_HUGEPAGE
    (void)madvise(at, (size_t)bytes, MADV_HUGEPAGE);
#endif
    memset(at, 1, (size_t)bytes);
    times.count = 0;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        double start = progress_clock();
        sink = sink + read_lines(at, lines, pass, BENCH_CHUNK);
        bench_time(&times, start, BENCH_CHUNK);
    }
    free(at);
    out->line = bench_median(&times);
    return true;
}

bool bench_limits_find(const bench_setting *s, bench_limits *out) {
    bly_needs needs = {.keys = s->keys, .fpr = s->rate};
    bly_advice a = {.struct_size = sizeof a};
    bly_status status = bly_advise(&needs, &a);
    if (status) {
        (void)message_error("%s", bly_strerror(status));
        return false;
    }
    *out = (bench_limits){.bytes = a.bytes};
    return time_hash(s, out) && time_lines(out);
}
