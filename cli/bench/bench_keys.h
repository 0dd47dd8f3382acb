/* bench_keys.h - keys without storing them all, times, and their medians. */
#ifndef BLOOMERY_CLI_BENCH_KEYS_H
#define BLOOMERY_CLI_BENCH_KEYS_H

#include <bloomery/base.h>

enum { BENCH_CHUNK = 1 << 16, BENCH_SAMPLES = 1 << 14 };

/* Where the numbers of keys that are never added begin. */
#define BENCH_MISSING (UINT64_C(1) << 50)

typedef struct bench_keys {
    size_t length;
    uint8_t *bytes; /* one key after another, as lines of a file would lie */
    bly_bytes *keys;
} bench_keys;

/* false: no memory, reported. */
bool bench_keys_open(bench_keys *k, size_t length);
/* The n <= BENCH_CHUNK keys numbered from `first`: different numbers, different keys. */
void bench_keys_make(const bench_keys *k, uint64_t first, size_t n);
void bench_keys_close(bench_keys *k);

typedef struct bench_times {
    size_t count;
    double ns[BENCH_SAMPLES]; /* per key; those past the last are forgotten */
} bench_times;

void bench_time(bench_times *t, double start, size_t keys);
double bench_median(bench_times *t); /* sorts; 0 when there are none */

#endif
