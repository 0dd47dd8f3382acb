/* overlay_support.h - shared by the tests of overlays: bases of every kind, and random programs
 * compared with an exact set. */
#ifndef BLYT_OVERLAY_SUPPORT_H
#define BLYT_OVERLAY_SUPPORT_H

#include "store_support.h"

/* Returns the next kind that can be a base. Starts from BLY_KIND_NONE, and returns it after the
 * last. */
static inline bly_kind next_base(bly_kind kind) {
    do
        kind = bly_kind_next(kind);
    while (kind == BLY_OVERLAY || bly_kind_capabilities(kind) & BLY_CARDINALITY_ONLY);
    return kind;
}

#define FOR_EACH_BASE(kind)                                                                        \
    for (bly_kind kind = next_base(BLY_KIND_NONE); kind != BLY_KIND_NONE; kind = next_base(kind))

/* Returns a base with the first n keys of KEYS_DECIMAL. */
static inline bly_filter *base_of(bly_kind kind, size_t n, double fpr) {
    blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, n);
    bly_spec spec = bly_spec_for(kind, n, fpr);
    spec.seed = 7;
    if (bly_kind_capabilities(kind) & BLY_HAS_LEVELS)
        spec.capacity = n / 10 + 1; /* so that a growing base has several levels */
    bly_filter *f = blyt_filled(&spec, &l);
    blyt_list_free(&l);
    return f;
}

static inline bly_filter *over(const bly_filter *base, uint64_t changes, bly_kind marker) {
    const bly_overlay_options options = {.changes = changes, .marker = marker};
    bly_filter *f = NULL;
    assert_ok(bly_overlay_over(base, &options, NULL, &f));
    return f;
}

/* How many changes to plan for if a program of a few thousand steps must miss no key. A Bloom
 * filter of deleted keys (marker BLY_CLASSIC) is made 50 times as large, so that it has no false
 * positives. */
static inline uint64_t room_for(uint64_t changes, bly_kind marker) {
    return marker == BLY_CLASSIC ? 50 * changes : changes;
}

static inline bool contains_key(const bly_filter *f, uint64_t i) {
    char key[BLYT_KEY_MAX];
    return bly_filter_contains(f, key, blyt_key(KEYS_DECIMAL, i, key));
}

static inline bly_status add_key(bly_filter *f, uint64_t i, bool *added) {
    char key[BLYT_KEY_MAX];
    return bly_filter_add(f, key, blyt_key(KEYS_DECIMAL, i, key), added);
}

static inline bly_status remove_key(bly_filter *f, uint64_t i, bool *removed) {
    char key[BLYT_KEY_MAX];
    return bly_filter_remove(f, key, blyt_key(KEYS_DECIMAL, i, key), removed);
}

/* Asserts that a filter has these bytes. */
static inline void assert_bytes(const bly_filter *f, blyt_buffer want) {
    blyt_buffer have = blyt_write(f);
    assert_int_equal(have.size, want.size);
    assert_memory_equal(have.data, want.data, want.size);
    free(have.data);
}

/* What is known of a key: it is a member, was removed, or was never added. For keys that are not
 * members, the answer may change: if the base accepts adds, it may get new false positives. A key
 * that was removed from the base stays hidden by its mark as deleted, but a key that was removed
 * from the added keys has no such mark. */
enum { IN, GONE, OUT };

/* The state of n keys. The answer is certain for keys with a state of at most `sure`. */
typedef struct truth {
    uint8_t *is;
    size_t n;
    uint8_t sure;
} truth;

/* Sets the state of n keys to what the filter answers now. */
static inline truth truth_of(const bly_filter *f, size_t n, uint8_t sure) {
    truth t = {malloc(n), n, sure};
    assert_non_null(t.is);
    for (size_t i = 0; i < n; i++)
        t.is[i] = contains_key(f, i) ? IN : OUT;
    return t;
}

static inline void assert_truth(const bly_filter *f, const truth *t) {
    blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, t->n);
    uint8_t *found = malloc(t->n + 1);
    (void)bly_filter_contains_many(f, l.keys, t->n, found);
    for (size_t i = 0; i < t->n; i++) {
        assert_int_equal(contains_key(f, i), found[i]);
        if (t->is[i] <= t->sure)
            assert_int_equal(found[i], t->is[i] == IN);
    }
    free(found);
    blyt_list_free(&l);
}

/* Adds or removes key i. Asserts that the answers before and after the step fit the state of the
 * key. */
static inline void step(bly_filter *f, truth *t, size_t i, bool removes) {
    bool changed, was = contains_key(f, i);
    uint64_t had = bly_filter_count(f);
    if (t->is[i] <= t->sure)
        assert_int_equal(was, t->is[i] == IN);
    assert_ok(removes ? remove_key(f, i, &changed) : add_key(f, i, &changed));
    assert_int_equal(changed, removes ? was : !was);
    assert_int_equal(contains_key(f, i), !removes);
    assert_true(changed ? bly_filter_count(f) != had || had == 0 : bly_filter_count(f) == had);
    if (changed || !removes)
        t->is[i] = removes ? GONE : IN;
}

/* Runs random steps. The third power of a random number makes some keys far more frequent than
 * others. */
static inline void run(bly_filter *f, truth *t, uint64_t seed, size_t steps) {
    for (size_t s = 0; s < steps; s++) {
        double at = (double)(blyt_next(&seed) >> 11) * 0x1p-53;
        size_t i = (size_t)(at * at * at * (double)t->n);
        step(f, t, (i * 7919 + 13) % t->n, blyt_next(&seed) % 2);
    }
}

#endif
