#include "bench/bench_keys.h"

#include "text/message.h"
#include "text/progress.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

bool bench_keys_open(bench_keys *k, size_t length) {
    *k = (bench_keys){length, malloc(length * BENCH_CHUNK), calloc(BENCH_CHUNK, sizeof *k->keys)};
    if (!k->bytes || !k->keys) {
        bench_keys_close(k);
        (void)message_error("out of memory");
        return false;
    }
    for (size_t i = 0; i < BENCH_CHUNK; i++)
        k->keys[i] = (bly_bytes){k->bytes + i * length, length};
    return true;
}

/* Murmur3's finaliser: a bijection, so that different numbers give different first words. */
static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 33)) * UINT64_C(0xFF51AFD7ED558CCD);
    x = (x ^ (x >> 33)) * UINT64_C(0xC4CEB9FE1A85EC53);
    return x ^ (x >> 33);
}

void bench_keys_make(const bench_keys *k, uint64_t first, size_t n) {
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

void bench_keys_close(bench_keys *k) {
    free(k->bytes);
    free(k->keys);
    *k = (bench_keys){0};
}

void bench_time(bench_times *t, double start, size_t keys) {
    double ns = 1e9 * (progress_clock() - start) / (double)keys;
    if (t->count < BENCH_SAMPLES)
        t->ns[t->count++] = ns;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(bench_times *t) {
    if (t->count == 0)
        return 0;
    qsort(t->ns, t->count, sizeof *t->ns, ascending);
    return (t->ns[(t->count - 1) / 2] + t->ns[t->count / 2]) / 2;
}
