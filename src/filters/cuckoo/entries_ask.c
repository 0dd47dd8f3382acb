/* Asking a fingerprint table for keys, many at a time.
 *
 * A query looks at both buckets of a key, whatever the first one says: a branch on that would be
 * mispredicted half the time for keys that are there. All slots of a word are compared at once
 * (slots.h). The pattern with the remainder in every slot serves both buckets: in the other one,
 * where the role is 1, it has the top bit of every slot set besides.
 *
 * What a key costs is finding its two buckets, so a batch does that once, when it starts their
 * loads, and keeps where they are until its window has passed (stream.c has the same window). A
 * large batch first works out where the sums of table.h begin: there are as many as cores, at most
 * 512, and looking one up is cheaper than computing it.
 */
#include "../batch.h"
#include "entries.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    MOST_SUMS = 1 << BLYI_CORE_BITS,
    LARGE = 4096, /* a batch that pays for MOST_SUMS sums */
};

/* How slots lie: how many fit a word, and whether buckets begin with a byte. Places of buckets are
 * counted in bytes if so, else in bits. */
typedef struct layout {
    unsigned per;
    bool bytes;
} layout;

/* What a query needs of a key: where its two buckets begin, and its remainder. */
typedef struct spot {
    uint64_t primary, other;
    uint64_t rest;
} spot;

INLINE uint64_t stride_of(const blyi_table *t, layout l) {
    uint64_t bits = (uint64_t)BLYI_BUCKET * blyi_table_width(t);
    return l.bytes ? bits / 8 : bits;
}

/* Places of the sums of all cores. */
INLINE void work_out_sums(const blyi_table *t, layout l, uint64_t *sums) {
    for (uint64_t core = 0; core <= t->core; core++)
        sums[core] = blyi_bucket_sum(t, core) * stride_of(t, l);
}

/* Finds a key's buckets and starts loading them; some lie across two cache lines. `sums` is NULL,
 * or what is above. */
INLINE spot locate(const blyi_table t, layout l, const uint64_t *sums, bly_hash h) {
    const uint64_t stride = stride_of(&t, l), end = t.buckets * stride;
    const uint64_t last = (BLYI_BUCKET * blyi_table_width(&t) - 1) / 8;
    blyi_class c = blyi_class_of(&t, h);
    uint64_t core = c.rest & t.core, primary = c.bucket * stride;
    uint64_t sum = sums ? sums[core] : blyi_bucket_sum(&t, core) * stride;
    spot s = {primary, blyi_sum_less(sum, primary, end), c.rest};
    const uint8_t *a = t.body + (l.bytes ? s.primary : s.primary / 8);
    const uint8_t *b = t.body + (l.bytes ? s.other : s.other / 8);
    __builtin_prefetch(a);
    __builtin_prefetch(a + last);
    __builtin_prefetch(b);
    __builtin_prefetch(b + last);
    return s;
}

/* The word with the slots from the i-th on of the bucket at `place`. */
INLINE uint64_t word_of(const blyi_table *t, layout l, uint64_t place, unsigned i) {
    if (l.bytes)
        return blyi_load64le(t->body + place);
    return blyi_bits_at(t->body, place + i * blyi_table_width(t));
}

INLINE bool test(const blyi_table t, layout l, spot s) {
    const uint64_t ones = blyi_slot_ones(blyi_table_width(&t), l.per), tops = ones << t.rest;
    uint64_t pattern = s.rest * ones, zeros = 0;
    for (unsigned i = 0; i < BLYI_BUCKET; i += l.per) {
        zeros |= blyi_slot_zeros(word_of(&t, l, s.primary, i) ^ pattern, ones);
        zeros |= blyi_slot_zeros(word_of(&t, l, s.other, i) ^ (pattern | tops), ones);
    }
    return (zeros & tops) != 0;
}

INLINE size_t test_some(const blyi_table t, layout l, const spot *s, size_t n, uint8_t *found) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_there = test(t, l, s[i]);
        hits += is_there;
        found[i] = is_there;
    }
    return hits;
}

INLINE void locate_some(const blyi_table t, layout l, const uint64_t *sums, const bly_hash *h,
                        size_t n, spot *out) {
    for (size_t i = 0; i < n; i++)
        out[i] = locate(t, l, sums, h[i]);
}

/* ---- batches of keys ------------------------------------------------------------------------- */

INLINE size_t window(const bly_filter *f, layout l, const uint64_t *sums, const bly_bytes *keys,
                     size_t n, uint8_t *found) {
    const blyi_table t = blyi_table_of(f);
    spot ring[BLYI_WINDOW];
    bly_hash h[BLYI_GROUP];
    uint8_t nowhere[BLYI_GROUP];
    size_t hits = 0;
    for (size_t head = 0, tail = 0, some; tail < n; tail += some) {
        while (head < n && head - tail < BLYI_WINDOW) {
            some = n - head < BLYI_GROUP ? n - head : BLYI_GROUP;
            f->hasher.many(&f->hasher, keys + head, some, h);
            locate_some(t, l, sums, h, some, ring + head % BLYI_WINDOW);
            head += some;
        }
        some = n - tail < BLYI_GROUP ? n - tail : BLYI_GROUP;
        uint8_t *to = found ? found + tail : nowhere;
        hits += test_some(t, l, ring + tail % BLYI_WINDOW, some, to);
    }
    return hits;
}

INLINE size_t ask(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found, layout l) {
    if (n < LARGE)
        return window(f, l, NULL, keys, n, found);
    const blyi_table t = blyi_table_of(f);
    uint64_t sums[MOST_SUMS];
    work_out_sums(&t, l, sums);
    return window(f, l, sums, keys, n, found);
}

size_t blyi_entries_ask(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found) {
    unsigned width = f->geometry.hashes + 1, per = blyi_slots_per_word(width);
    if (per == 4 && width % 2 == 0)
        return ask(f, keys, n, found, (layout){4, true});
    if (per == 4)
        return ask(f, keys, n, found, (layout){4, false});
    if (per == 2)
        return ask(f, keys, n, found, (layout){2, false});
    return ask(f, keys, n, found, (layout){1, false});
}

/* ---- hashes ---------------------------------------------------------------------------------- */

/* Counts of a bucket are two bytes. */
INLINE void prefetch(const blyi_table t, const bly_hash *h, size_t n) {
    for (size_t i = 0; i < n; i++) {
        spot s = locate(t, (layout){1, false}, NULL, h[i]);
        if (t.counts) {
            blyi_class c = blyi_class_of(&t, h[i]);
            __builtin_prefetch(t.counts + 2 * c.bucket);
            __builtin_prefetch(t.counts + 2 * blyi_other_bucket(&t, c.bucket, s.rest));
        }
    }
}

void blyi_table_prefetch(const blyi_table *t, const bly_hash *h, size_t n) {
    prefetch(*t, h, n);
}

void blyi_entries_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    prefetch(blyi_table_of(f), h, n);
}

INLINE size_t contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found,
                       unsigned per) {
    const blyi_table t = blyi_table_of(f);
    const layout l = {per, false};
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_there = test(t, l, locate(t, l, NULL, h[i]));
        hits += is_there;
        if (found)
            found[i] = is_there;
    }
    return hits;
}

size_t blyi_entries_contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    switch (blyi_slots_per_word(f->geometry.hashes + 1)) {
    case 4:
        return contains(f, h, n, found, 4);
    case 2:
        return contains(f, h, n, found, 2);
    default:
        return contains(f, h, n, found, 1);
    }
}
