/* window_support.h - what the tests of windows share: streams of hashed keys, and short ways. */
#ifndef BLYT_WINDOW_SUPPORT_H
#define BLYT_WINDOW_SUPPORT_H

#include "support.h"

#include "filters/window/window_body.h"

#include <math.h>

static inline bool is_long(void) {
    return getenv("BLOOMERY_LONG") != NULL;
}

static inline bly_filter *window(uint64_t keys, double p, uint32_t generations, uint64_t span,
                                 uint64_t seed) {
    bly_spec spec = bly_spec_for(BLY_WINDOW, keys, p);
    bly_filter *f = NULL;
    spec.generations = generations;
    spec.span = span;
    spec.seed = seed;
    assert_ok(bly_filter_create(&spec, &f));
    return f;
}

/* Key i of stream s, hashed. Streams have no key in common. */
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
    bly_window_info info;
    assert_ok(bly_window_look(f, &info));
    return info;
}

static inline bly_stats stats_of(const bly_filter *f) {
    bly_stats s;
    bly_filter_stats(f, &s);
    return s;
}

static inline void assert_sound(const bly_filter *f) {
    blyi_shape shape = blyi_filter_shape(f);
    assert_true(blyi_window_sound(&shape, f->body));
}

/* How many of the keys first .. last-1 of a stream are found. */
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

/* Counted against expected, both over `queries`, within five sigma; + 4: counts of a few are not
 * normal. */
static inline void assert_near_rate(uint64_t hits, double queries, double rate) {
    double room = 5 * sqrt(queries * rate * (1 - rate)) + 4;
    if (fabs((double)hits - queries * rate) > room)
        print_message("%llu hits of %.0f, expected %.1f +- %.1f\n", (unsigned long long)hits,
                      queries, queries * rate, room);
    assert_true(fabs((double)hits - queries * rate) <= room);
}

#endif
