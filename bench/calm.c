/* Whether a processor is ours alone.
 *
 * On a shared machine it is not: two virtual processors may be the halves of one core, and the
 * other half someone else's. Then what computes takes half as long again, and what waits for memory
 * hardly longer, so that even a ratio of neighbours in time says more about the neighbours on the
 * core. So a small piece of arithmetic that leaves a core little room for others is timed before
 * and after everything that is measured. Where either took a fifth longer than it did at best on
 * one processor, the measurement was disturbed, and is left out unless there are hardly any others.
 * (Waiting for a calm moment to begin would favour what needs one processor over what needs two.)
 */
#include "bench.h"

enum {
    STEPS = 50000, /* of the arithmetic: some 50 us */
    FIRST = 2000   /* timings from which the quickest is known to begin with */
};

#define SLACK 1.2

static double quickest;
static uint64_t calm, all;
static volatile uint64_t sink; /* not the checksum: how often this is timed depends on others */

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
    static const bly_bytes none[2 * BATCH]; /* a batch for each thread */
    double start = seconds_now();
    uint64_t result =
        pair ? pair_run(arithmetic, NULL, none, 2 * (size_t)BATCH) : arithmetic(NULL, none, BATCH);
    double took = seconds_now() - start;
    sink = result;
    return took;
}

void calm_open(void) {
    quickest = timed(false);
    for (int i = 0; i < FIRST; i++) {
        double took = timed(false);
        if (took < quickest)
            quickest = took;
    }
}

bool calm_now(bool pair) {
    double took = timed(pair);
    if (!pair && took < quickest)
        quickest = took;
    return took < SLACK * quickest;
}

void calm_count(bool was_calm) {
    calm += was_calm;
    all++;
}

double calm_share(void) {
    return (double)calm / (double)all;
}
