/* The machine's limits. A lookup must hash its key and read one random cache line; this file
 * measures how fast the machine does each of the two alone. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    LINE = 64,
    WINDOW = 32,   /* number of lines that are prefetched but not yet read */
    SEQUENCES = 4, /* number of random sequences, used in turn, because each has to wait for its
                      multiplication */
    HUGE_PAGE = 2 << 20
};

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

arena arena_open(uint64_t bytes) {
    arena a = {.bytes = (bytes / HUGE_PAGE + 1) * HUGE_PAGE, .state = 1};
    a.at = aligned_alloc(HUGE_PAGE, (size_t)a.bytes);
    must(a.at != NULL, "memory for the lines");
#ifdef MADV_HUGEPAGE
    (void)madvise(a.at, (size_t)a.bytes, MADV_HUGEPAGE);
#endif
    memset(a.at, 1, (size_t)a.bytes);
    return a;
}

void arena_close(arena *a) {
    free(a->at);
    *a = (arena){0};
}

/* Advances a linear congruential generator, and prefetches the line that the upper half of its
 * state selects: into the first-level cache if `near`, otherwise into the second level, which
 * allows more outstanding requests. Bloomery's filters do the same. */
static inline const uint64_t *request(const uint64_t *at, uint64_t lines, uint64_t *x, bool near) {
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t *line = at + ((*x >> 32) * lines >> 32) * (LINE / sizeof *at);
    if (near)
        __builtin_prefetch(line);
    else
        __builtin_prefetch(line, 0, 2);
    return line;
}

static inline __attribute__((always_inline)) uint64_t read_lines(arena *a, uint64_t lines,
                                                                 size_t reads, bool near) {
    const uint64_t *const at = a->at;
    const uint64_t *ring[WINDOW];
    uint64_t x[SEQUENCES], sum = 0;
    for (size_t j = 0; j < SEQUENCES; j++)
        x[j] = (a->state += 2) * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t i = 0; i < WINDOW; i++)
        ring[i] = request(at, lines, &x[i % SEQUENCES], near);
    for (size_t i = 0; i < reads; i += SEQUENCES) {
        const uint64_t **slot = ring + i % WINDOW;
        for (size_t j = 0; j < SEQUENCES; j++) {
            sum += *slot[j];
            slot[j] = request(at, lines, &x[j], near);
        }
    }
    return sum;
}

uint64_t limit_lines(arena *a, uint64_t bytes, size_t reads) {
    const uint64_t near = 4 << 20;
    must(bytes <= a->bytes && bytes / LINE < UINT32_MAX, "the size of the lines");
    return bytes <= near ? read_lines(a, bytes / LINE, reads, true)
                         : read_lines(a, bytes / LINE, reads, false);
}

/* `flatten` inlines the hash function into the loop, as in the library. */
__attribute__((flatten)) uint64_t limit_hash(const bly_bytes *keys, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += XXH3_64bits(keys[i].data, keys[i].size);
    return sum;
}
