/* window_support.h - shared by the tests of windows: streams of hashed keys, and short names for
 * calls. */
#ifndef BLYT_WINDOW_SUPPORT_H
#define BLYT_WINDOW_SUPPORT_H

#include "support.h"

#include "kinds/window/window_layout.h"

#include <math.h>

static inline bly_filter *window(uint64_t keys, double p, uint32_t generations, uint64_t span,
                                 uint64_t seed) {
    bly_spec spec = bly_spec_for(BLY_WINDOW, keys, p);
    bly_filter *f = NULL;
    spec.window.generations = generations;
    spec.window.span = span;
    spec.seed = seed;
    assert_ok(bly_filter_create(&spec, &f));
    return f;
}

/* Returns a window at 1%, in the requested form. Plans of the large form start at more keys than
 * some tests use, so a large window gets lines for twice as many keys. It has three or five
 * parts. */
static inline bly_filter *any_window(bool small, uint64_t keys, uint32_t generations,
                                     uint64_t span) {
    bly_spec spec = bly_spec_for(BLY_WINDOW, keys, 0.01);
    bly_filter *f = NULL;
    spec.window.generations = generations;
    spec.window.span = span;
    if (!small)
        spec.geometry = (bly_geometry){BLY_WINDOW, generations < 10 ? 9 : 10,
                                       keys / 8 * generations / 40 + 2, 0, generations};
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(blyi_window_is_small(&f->geometry), small);
    return f;
}

/* Returns the hash of key i of stream s. Streams have no keys in common. */
static inline bly_hash key(uint64_t s, uint64_t i) {
    uint64_t a = s * UINT64_C(0x123456789abcdef1) + 2 * i, b = a + 1;
    return (bly_hash){blyt_next(&a), blyt_next(&b)};
}

static inline bool add(bly_filter *f, bly_hash h) {
    bool added;
    assert_ok(bly_filter_add_hash(f, h, &added));
    return added;
}

static inline bly_window_info info_of(const bly_filter *f) {
    bly_window_info info = {.struct_size = sizeof info};
    assert_ok(bly_window_get_info(f, &info));
    return info;
}

static inline bly_filter_info stats_of(const bly_filter *f) {
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(f, &s);
    return s;
}

static inline void assert_sound(const bly_filter *f) {
    blyi_shape shape = blyi_filter_shape(f);
    assert_true(blyi_window_body_is_valid(&shape, f->body));
}

/* Counts how many of the keys first .. last - 1 of a stream are found. */
static inline uint64_t count_found(const bly_filter *f, uint64_t s, uint64_t first, uint64_t last) {
    bly_hash some[500];
    uint64_t hits = 0;
    for (uint64_t i = first; i < last;) {
        size_t n = 0;
        for (; n < COUNT_OF(some) && i < last; n++, i++)
            some[n] = key(s, i);
        hits += bly_filter_contains_hashes(f, some, n, NULL);
    }
    return hits;
}

/* Asserts that the number of hits is within five sigma of the expected one. 4 more are allowed,
 * because small counts are not normally distributed. */
static inline void assert_near_rate(uint64_t hits, double queries, double rate) {
    double room = 5 * sqrt(queries * rate * (1 - rate)) + 4;
    if (fabs((double)hits - queries * rate) > room)
        print_message("%llu hits of %.0f, expected %.1f +- %.1f\n", (unsigned long long)hits,
                      queries, queries * rate, room);
    assert_true(fabs((double)hits - queries * rate) <= room);
}

/* Returns the planned rate after `keys` keys if only the share count / arrivals of adds sets bits.
 * (The others are false positives.) */
static inline double rate_planned(const bly_geometry *g, uint64_t keys, uint64_t count,
                                  uint64_t arrivals) {
    double set = (double)keys * (double)count / (double)arrivals;
    return bly_plan_fpr(g, (uint64_t)llround(set), 64);
}

/* Compares the rates of a full window: planned, computed from its bits, and measured. */
static inline void rate_when_full(uint64_t keys, double p, uint32_t s, unsigned filters) {
    /* With 2700 hits, five sigma and the 4 hits allowed in addition are a tenth. Below a rate of
     * 0.001, only kinds_window_large and kinds_window_small_large have time for as many; otherwise
     * 1,400,000 lookups are made. */
    const double enough = blyt_large() ? 4000 / p : p < 0.001 ? 1.4e6 : 2700 / p;
    uint64_t quota = (keys + s - 1) / s, queries = (uint64_t)enough / filters / BLYT_SLOW + 1;
    double mean = 0, squares = 0, variance = 0, expected = 0, planned = 0, hits = 0;
    for (unsigned seed = 1; seed <= filters; seed++) {
        bly_filter *f = window(keys, p, s, 0, seed);
        bly_geometry g = bly_filter_geometry(f);
        uint64_t i = 0;
        while (info_of(f).ordinal < s + 2 || info_of(f).active_arrivals < quota)
            add(f, key(seed, i++));
        bly_filter_info now = stats_of(f);
        assert_true(bly_plan_fpr(&g, keys, 64) <= p);
        assert_true(info_of(f).arrivals == (s + 1) * quota && now.count <= (s + 1) * quota);
        planned += rate_planned(&g, keys, now.count, (s + 1) * quota) / filters;
        assert_true(fabs(now.fill - now.expected_fill) < 0.02);
        hits += (double)count_found(f, 1000 + seed, 0, queries);
        expected += now.current_fpr * (double)queries;
        variance += now.current_fpr * (1 - now.current_fpr) * (double)queries;
        mean += now.current_fpr / filters;
        squares += now.current_fpr * now.current_fpr / filters;
        bly_filter_destroy(f);
    }
    /* The standard deviation between filters: measured if there are several, otherwise computed for
     * blocks (as in test_rates.c). */
    double spread = filters > 1 ? sqrt(fmax(0, squares - mean * mean) / filters)
                                : planned * sqrt(10 / ((double)keys / 30));
    bool counted = fabs(hits - expected) <= 5 * sqrt(variance) + 4;
    bool foreseen = fabs(mean - planned) <= 5 * spread + 5e-3 * planned;
    if (!counted || !foreseen || getenv("BLYT_VERBOSE"))
        print_message(
            "W=%llu p=%g s=%u: hits %.0f, expected %.1f; rate %.4g, planned %.4g +- %.2g\n",
            (unsigned long long)keys, p, s, hits, expected, mean, planned, 5 * spread);
    assert_true(counted && foreseen);
}

#endif
