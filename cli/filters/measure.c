/* measure.c - measures false-positive rates by random lookups, and estimates how many keys a sketch
 * has counted. */
#include "filters/measure.h"

#include "cli.h"
#include "filters/health.h"
#include "text/message.h"
#include "text/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 95% of a normal distribution lie within this many standard errors of its mean. */
static const double sure = 1.959963984540054;

enum { BATCH = 1024, PREFIX = 8, KEY = PREFIX + 16 };

/* Random 128-bit numbers: the hash of a random key and a counter, under a random seed. */
typedef struct generator {
    bly_hasher hasher;
    struct {
        uint8_t random[16];
        uint64_t counter;
    } state;
} generator;

static bool generator_open(generator *g) {
    uint64_t seed[2];
    memset(g, 0, sizeof *g);
    bly_status status = bly_random_key((uint8_t *)seed);
    if (status == BLY_OK)
        status = bly_random_key(g->state.random);
    if (status == BLY_OK)
        status = bly_hasher_init(&g->hasher, BLY_HASH_XXH3_128, seed[0] ^ seed[1]);
    return status == BLY_OK || message_fail("cannot choose random keys: %s", bly_strerror(status));
}

static bly_hash next(generator *g) {
    g->state.counter++;
    return bly_hash_key(&g->hasher, &g->state, sizeof g->state);
}

static size_t look_up_keys(const bly_filter *f, generator *g, size_t n, uint8_t found[BATCH]) {
    static const char prefix[PREFIX] = "\n\0probe\n";
    char text[BATCH][KEY];
    bly_bytes keys[BATCH];
    for (size_t i = 0; i < n; i++) {
        const bly_hash random = next(g);
        memcpy(text[i], prefix, PREFIX);
        memcpy(text[i] + PREFIX, &random, sizeof random);
        keys[i] = (bly_bytes){text[i], KEY};
    }
    return bly_filter_contains_many(f, keys, n, found);
}

static size_t look_up_hashes(const bly_filter *f, generator *g, size_t n, uint8_t found[BATCH]) {
    bly_hash hashes[BATCH];
    for (size_t i = 0; i < n; i++)
        hashes[i] = next(g);
    return bly_filter_contains_hashes(f, hashes, n, found);
}

static void compute_interval(measurement *m) {
    const double n = (double)m->lines, p = (double)m->positives / n;
    const double middle = (p + sure * sure / (2 * n)) / (1 + sure * sure / n);
    const double half =
        sure / (1 + sure * sure / n) * sqrt(p * (1 - p) / n + sure * sure / (4 * n * n));
    m->rate = p;
    m->low = m->positives == 0 ? 0 : fmax(0, middle - half);
    m->high = m->positives == m->lines ? 1 : fmin(1, middle + half);
}

/* Looks up n lines: the first lookups of all, then the second ones, and so on. */
static void look_up_lines(const bly_filter *f, generator *g, size_t n, measurement *m) {
    uint8_t line[BATCH] = {0}, found[BATCH];
    for (unsigned i = 0; i < m->lookups; i++) {
        m->positive_lookups +=
            m->hashes ? look_up_hashes(f, g, n, found) : look_up_keys(f, g, n, found);
        for (size_t k = 0; k < n; k++)
            line[k] |= found[k];
    }
    for (size_t k = 0; k < n; k++)
        m->positives += line[k];
    m->lines += n;
}

bool measure(const bly_filter *f, uint64_t lines, unsigned lookups, measurement *out) {
    generator g;
    progress p;
    measurement m = {.lookups = lookups, .hashes = bly_filter_hasher(f) == NULL};
    if (!generator_open(&g))
        return false;
    progress_begin(&p, false);
    while (m.lines < lines) {
        const uint64_t left = lines - m.lines;
        look_up_lines(f, &g, left < BATCH ? (size_t)left : BATCH, &m);
        progress_show(&p, m.lines, m.lines, lines);
    }
    progress_end(&p);
    compute_interval(&m);
    *out = m;
    return true;
}

/* Whether that many false positives occur by chance in fewer than one of a million measurements at
 * that rate. The limit is five standard deviations, plus four for small counts, which are not
 * normally distributed. */
static bool more_than_chance(const measurement *m, double rate) {
    const double expected = rate * (double)m->lines;
    return (double)m->positives > expected + 5 * sqrt(expected * (1 - rate)) + 4;
}

bool measure_above(const measurement *m, double requested) {
    return more_than_chance(m, requested) && m->rate > HEALTH_MARGIN * requested;
}

bool measure_blames_hash(const measurement *m, double by_bits) {
    return more_than_chance(m, fmin(1, HEALTH_MARGIN * by_bits));
}

/* ---- how many distinct keys ------------------------------------------------------------------ */

estimate estimate_of(const bly_filter *sketch, uint64_t most) {
    const double top = fmin((double)most, 0x1p62), error = bly_hll_error(sketch);
    const double keys = fmax(0, fmin(bly_hll_estimate(sketch), top));
    const double least = keys < 0.5 ? 0 : 1; /* unless the sketch is empty */
    return (estimate){.keys = (uint64_t)llround(keys),
                      .low = (uint64_t)llround(fmax(keys * (1 - sure * error), least)),
                      .high = (uint64_t)llround(fmin(keys * (1 + sure * error), top)),
                      .error = error};
}

char *estimate_range(const estimate *e, char out[ESTIMATE_RANGE]) {
    out[0] = '\0';
    if (e->low != e->high)
        (void)snprintf(out, ESTIMATE_RANGE, " (%llu to %llu with 95%% certainty)",
                       (unsigned long long)e->low, (unsigned long long)e->high);
    return out;
}
