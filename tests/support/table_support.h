/* table_support.h - shared by the tests of cuckoo and growable-cuckoo: numbered hashes, measured
 * rates, and access to a filter's body. */
#ifndef BLYT_TABLE_SUPPORT_H
#define BLYT_TABLE_SUPPORT_H

#include "support.h"

#include "filter/filter.h"
#include <math.h>

/* The i-th hash of a stream. */
static inline bly_hash hash_at(uint64_t stream, uint64_t i) {
    uint64_t state = blyt_next(&stream) + i * UINT64_C(0x632be59bd9b4e019);
    uint64_t lo = blyt_next(&state);
    return (bly_hash){lo, blyt_next(&state)};
}

/* Runs the next statement for the hashes from .. until - 1 of a stream, in groups of at most
 * SOME. */
enum { SOME = 1024 };
#define FOR_GROUPS(h, stream, from, until)                                                         \
    for (size_t at_ = (from), n_; at_ < (until) && (n_ = group(h, stream, at_, until)); at_ += n_)

static inline size_t group(bly_hash h[SOME], uint64_t stream, uint64_t from, uint64_t until) {
    size_t n = until - from < SOME ? (size_t)(until - from) : SOME;
    for (size_t i = 0; i < n; i++)
        h[i] = hash_at(stream, from + i);
    return n;
}

static inline bly_status try_hashes(bly_filter *f, uint64_t stream, uint64_t from, uint64_t until) {
    bly_hash h[SOME];
    bly_status status = BLY_OK;
    FOR_GROUPS(h, stream, from, until)
    if (status == BLY_OK)
        status = bly_filter_add_hashes(f, h, n_, NULL, NULL);
    return status;
}

static inline void add_hashes(bly_filter *f, uint64_t stream, uint64_t from, uint64_t until) {
    assert_ok(try_hashes(f, stream, from, until));
}

static inline uint64_t count_hashes(const bly_filter *f, uint64_t stream, uint64_t from,
                                    uint64_t until) {
    bly_hash h[SOME];
    uint64_t hits = 0;
    FOR_GROUPS(h, stream, from, until)
    hits += bly_filter_contains_hashes(f, h, n_, NULL);
    return hits;
}

static inline bool contains_hashes(const bly_filter *f, uint64_t stream, uint64_t from,
                                   uint64_t until) {
    return count_hashes(f, stream, from, until) == until - from;
}

static inline void remove_hashes(bly_filter *f, uint64_t stream, uint64_t from, uint64_t until) {
    for (uint64_t i = from; i < until; i++) {
        bool removed = false;
        assert_ok(bly_filter_remove_hash(f, hash_at(stream, i), &removed));
        assert_true(removed);
    }
}

/* Numbers of non-members that were looked up, that were found, and that were expected to be
 * found. */
typedef struct tally {
    double asked, found, expected;
} tally;

static inline void look_up_non_members(const bly_filter *f, uint64_t stream, uint64_t n,
                                       double rate, tally *t) {
    t->asked += (double)n;
    t->found += (double)count_hashes(f, stream, 0, n);
    t->expected += rate * (double)n;
}

/* Asserts that the number found is within five sigma of the expected number, on both sides. */
static inline void judge(const tally *t, const char *what, double n, double p) {
    bool fits = fabs(t->found - t->expected) <= 5 * sqrt(t->expected) + 4;
    if (!fits || getenv("BLYT_VERBOSE"))
        print_message("%s, %g keys at %g: found %.0f of %.0f, expected %.1f\n", what, n, p,
                      t->found, t->asked, t->expected);
    assert_true(fits);
}

static inline bool all_zero(const bly_filter *f) {
    for (uint64_t i = 0; i < f->body_bytes; i++)
        if (f->body[i] != 0)
            return false;
    return true;
}

/* A copy of the body, to compare with later. */
static inline uint8_t *keep_body(const bly_filter *f) {
    uint8_t *copy = malloc((size_t)f->body_bytes);
    assert_non_null(copy);
    memcpy(copy, f->body, (size_t)f->body_bytes);
    return copy;
}

static inline void assert_body_is(const bly_filter *f, uint8_t *kept) {
    assert_memory_equal(f->body, kept, (size_t)f->body_bytes);
    free(kept);
}

/* A filter of exactly that geometry. */
static inline bly_filter *exact_table(bly_geometry g, const bly_allocator *a) {
    bly_spec spec = {.struct_size = sizeof spec, .geometry = g, .allocator = a};
    bly_filter *f = NULL;
    assert_ok(bly_filter_create(&spec, &f));
    return f;
}

/* Random adds and removes of `keys` keys, checked against exact counts. No key ever has more than
 * two copies, and all keys together never have more than `most`. At the end, all are removed. */
static inline void run_program(bly_filter *f, unsigned keys, uint64_t most, uint64_t operations) {
    uint8_t *copies = calloc(keys, 1);
    uint64_t live = 0, state = operations ^ keys;
    assert_non_null(copies);
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t dice = blyt_next(&state);
        unsigned key = (unsigned)(dice >> 32) % keys;
        bly_hash h = hash_at(77, key);
        /* Long phases of mostly adds and mostly removes, so that the filter gets nearly full and
         * nearly empty. */
        bool adds = dice % 8 < (i * 8 / operations % 2 ? 3 : 5);
        bool changed = false;
        if (adds && copies[key] < 2 && live < most) {
            assert_ok(bly_filter_add_hash(f, h, &changed));
            assert_true(copies[key] == 0 || !changed);
            copies[key]++;
            live++;
        } else if (copies[key] > 0) {
            assert_ok(bly_filter_remove_hash(f, h, &changed));
            assert_true(changed);
            copies[key]--;
            live--;
        }
        unsigned other = (unsigned)(dice >> 8) % keys;
        if (copies[other] > 0)
            assert_true(bly_filter_contains_hash(f, hash_at(77, other)));
        if (i % (operations / 4) == 0)
            for (unsigned k = 0; k < keys; k++)
                assert_true(copies[k] == 0 || bly_filter_contains_hash(f, hash_at(77, k)));
    }
    assert_int_equal(bly_filter_count(f), live);
    for (unsigned k = 0; k < keys; k++)
        for (; copies[k] > 0; copies[k]--)
            remove_hashes(f, 77, k, k + 1);
    assert_int_equal(bly_filter_count(f), 0);
    assert_true(all_zero(f));
    free(copies);
}

/* Gives a filter a body of random bytes. Lookups must stay within it, and statistics must be
 * plausible. */
static inline void abuse(bly_geometry g) {
    uint64_t bytes = bly_plan_bytes(&g), state = g.size ^ g.hashes;
    /* The body ends where the allocation ends, so that a sanitizer reports an access past it. */
    uint8_t *body = aligned_alloc(64, (size_t)bytes);
    assert_non_null(body);
    for (uint64_t i = 0; i < bytes; i++)
        body[i] = (uint8_t)blyt_next(&state);
    blyi_shape shape = {.geometry = g, .capacity = 1, .fpr = 0.5, .items = 5};
    bly_filter *f, *other;
    bly_filter_info s = {.struct_size = sizeof s};
    bly_overlap o;
    assert_ok(bly_hasher_init(&shape.hasher, BLY_HASH_XXH3, 0));
    assert_ok(blyi_filter_make(&shape, NULL, body, &f));
    assert_ok(blyi_filter_make(&shape, NULL, NULL, &other));
    blyt_list l = blyt_list_of(KEYS_RANDOM, 0, 5000);
    (void)bly_filter_contains_many(f, l.keys, l.n, NULL);
    for (uint64_t i = 0; i < 2000; i++) {
        bly_hash h = hash_at(5, i);
        h.lo = i % 7 == 0 ? UINT64_MAX : h.lo;
        h.hi = i % 5 == 0 ? UINT64_MAX : h.hi;
        (void)bly_filter_contains_hash(f, h);
        assert_true(bly_filter_copies(f, l.keys[i].data, l.keys[i].size) <= 8);
    }
    bly_filter_get_info(f, &s);
    assert_true(s.fill >= 0 && s.fill <= 1 && s.current_fpr >= 0 && s.current_fpr <= 1);
    assert_true(s.set_bits <= s.bits);
    assert_ok(bly_filter_overlap(f, other, &o));
    assert_ok(bly_filter_overlap(other, f, &o));
    (void)bly_filter_equal(f, other);
    bly_status status = bly_filter_union(other, f);
    assert_true(status == BLY_OK || status == BLY_EFULL);
    assert_ok(bly_filter_intersect(other, f));
    assert_ok(bly_filter_subtract(other, f));
    blyt_list_free(&l);
    bly_filter_destroy(other);
    bly_filter_destroy(f);
    free(body);
}

#endif
