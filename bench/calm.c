/* Detects other load on the processors.
 *
 * On a shared machine, a virtual processor may be one of two hardware threads of a core, and the
 * other may run another program. Then computing takes up to 50% longer, while waiting for memory
 * takes hardly longer. So even the ratio of two measurements that directly follow each other
 * depends on such load. Therefore a short piece of arithmetic that uses most of a core is timed
 * before and after each measurement. If one of the two runs took 20% longer than the fastest run on
 * one processor, the measurement was disturbed. It is dropped, unless too few measurements would
 * remain. (Waiting for a calm moment instead would favour operations on one processor over
 * operations on two.)
 */
#include "bench.h"

enum {
    STEPS = 50000, /* number of steps of the arithmetic, which take about 50 us */
    FIRST = 2000   /* number of timings at the start, to find the fastest */
};

#define SLACK 1.2

static double fastest;
static uint64_t calm, all;
static volatile uint64_t sink; /* keeps the arithmetic from being optimised away; not part of the
                                  checksum, because the number of timings varies */

static uint64_t arithmetic(bly_filter *unused, const bly_bytes *keys, size_t n) {
    uint64_t a = n, b = n + 1, c = n + 2, d = n + 3;
    (void)unused;
    (void)keys;
    for (int i = 0; i < STEPS; i++) {
        a = a * 3 + (a >> 7);
        b = b * 5 + (b >> 9);
        c = c * 9 + (c >> 3);
        d = d * 3 ^ (d >> 5);
    }
    return a ^ b ^ c ^ d;
}

static double timed(bool pair) {
    static const bly_bytes none[2 * BATCH]; /* one batch per thread */
    double start = seconds_now();
    uint64_t result =
        pair ? pair_run(arithmetic, NULL, none, 2 * (size_t)BATCH) : arithmetic(NULL, none, BATCH);
    double took = seconds_now() - start;
    sink = result;
    return took;
}

void calm_open(void) {
    fastest = timed(false);
    for (int i = 0; i < FIRST; i++) {
        double took = timed(false);
        if (took < fastest)
            fastest = took;
    }
}

bool calm_now(bool pair) {
    double took = timed(pair);
    if (!pair && took < fastest)
        fastest = took;
    return took < SLACK * fastest;
}

void calm_count(bool was_calm) {
    calm += was_calm;
    all++;
}

double calm_share(void) {
    return (double)calm / (double)all;
}
