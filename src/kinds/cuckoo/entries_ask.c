/* Asking a fingerprint table for keys, many at a time.
 *
 * A query looks at both buckets of a key, whatever the first one says: a branch on that would be
 * mispredicted half the time for keys that are there. All slots of a word are compared at once
 * (slots.h), and the words of both buckets side by side. The pattern with the remainder in every
 * slot serves both: in the other bucket, where the role is 1, it has the top bit of every slot set
 * besides.
 *
 * What a key costs is finding its two buckets, so a batch does that once, when it starts their
 * loads, and keeps where they are until its window has passed (stream.c has the same window). A
 * large batch first works out what follows from a core: where its sum of table.h begins, and the
 * pattern that a remainder has if it is no longer than its core. There are at most 512 cores, and
 * looking one up is cheaper than computing it.
 */
#include "filter/batch.h"
#include "kinds/cuckoo/entries.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    CORES = 1 << BLYI_CORE_BITS,
    LARGE = 4096, /* a batch that pays for so many */
};

/* How slots lie: how many fit a word; whether buckets begin with a byte, and places of buckets are
 * counted in bytes, not in bits; and whether remainders are all core. */
typedef struct layout {
    unsigned per;
    bool bytes, brief;
} layout;

/* What follows from a core: the place of its sum, and its pattern if it is all of a remainder. */
typedef struct core_facts {
    uint64_t sum, pattern;
} core_facts;

/* What a query needs of a key: where its two buckets begin, and its remainder in every slot of a
 * word. */
typedef struct spot {
    uint64_t primary, other;
    uint64_t pattern;
} spot;

/* Words of a key's two buckets. */
typedef uint64_t pair __attribute__((vector_size(16)));

INLINE uint64_t stride_of(const blyi_table *t, layout l) {
    uint64_t bits = (uint64_t)BLYI_BUCKET * blyi_table_width(t);
    return l.bytes ? bits / 8 : bits;
}

INLINE void work_out(const blyi_table *t, layout l, core_facts *facts) {
    const uint64_t stride = stride_of(t, l), ones = blyi_slot_ones(blyi_table_width(t), l.per);
    for (uint64_t core = 0; core <= t->core; core++) {
        uint64_t stored = core | (core == 0);
        facts[core] = (core_facts){blyi_bucket_sum(t, stored) * stride, stored * ones};
    }
}

/* Finds a key's buckets and starts loading them. `facts` is NULL, or what is above.
 *
 * Some buckets lie across two cache lines; and what is read with others does, since the last word
 * read of a bucket goes on after its end. So the last byte that may be read is requested, not the
 * last of the bucket. (Otherwise three buckets in 64, of 10-bit slots, are a miss that nobody has
 * asked for: a fifth of the time, for ten million keys at 1% on Zen 3.) */
INLINE spot locate(const blyi_table t, layout l, const core_facts *facts, bly_hash h) {
    const uint64_t stride = stride_of(&t, l), end = t.buckets * stride;
    const uint64_t last = ((BLYI_BUCKET - l.per) * blyi_table_width(&t) + 7) / 8 + 7;
    uint64_t sum, pattern, bucket;
    if (facts && l.brief) { /* never a wide table */
        const core_facts *its = facts + (blyi_mul(h.lo, t.buckets, &bucket) >> (64 - t.rest));
        sum = its->sum;
        pattern = its->pattern;
    } else {
        blyi_class c = blyi_class_of(&t, h);
        uint64_t core = c.rest & t.core;
        bucket = c.bucket;
        sum = facts ? facts[core].sum : blyi_bucket_sum(&t, core) * stride;
        pattern = c.rest * blyi_slot_ones(blyi_table_width(&t), l.per);
    }
    uint64_t primary = bucket * stride;
    spot s = {primary, blyi_sum_less(sum, primary, end), pattern};
    const uint8_t *a = t.body + (l.bytes ? s.primary : s.primary / 8);
    const uint8_t *b = t.body + (l.bytes ? s.other : s.other / 8);
    blyi_prefetch_to_read(a);
    blyi_prefetch_to_read(a + last);
    blyi_prefetch_to_read(b);
    blyi_prefetch_to_read(b + last);
    return s;
}

/* The word with the slots from the i-th on of the bucket at `place`. */
INLINE uint64_t word_of(const blyi_table *t, layout l, uint64_t place, unsigned i) {
    if (l.bytes)
        return blyi_load64le(t->body + place);
    return blyi_bits_at(t->body, place + i * blyi_table_width(t));
}

INLINE uint64_t test(const blyi_table t, layout l, spot s) {
    const uint64_t one = blyi_slot_ones(blyi_table_width(&t), l.per), top = one << t.rest;
    const pair ones = {one, one}, tops = {top, top}, roles = {0, top};
    pair pattern = (pair){s.pattern, s.pattern} ^ roles, zeros = {0, 0};
    for (unsigned i = 0; i < BLYI_BUCKET; i += l.per) {
        pair x = pattern ^ (pair) { word_of(&t, l, s.primary, i), word_of(&t, l, s.other, i) };
        zeros |= (x - ones) & ~x; /* blyi_slot_zeros of both */
    }
    zeros &= tops;
    return (zeros[0] | zeros[1]) != 0;
}

INLINE size_t test_some(const blyi_table t, layout l, const spot *s, size_t n, uint8_t *found) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t is_there = test(t, l, s[i]);
        hits += (size_t)is_there;
        found[i] = (uint8_t)is_there;
    }
    return hits;
}

/* ---- batches -------------------------------------------------------------------------------- */

/* What a batch is of: keys, or else their hashes. */
typedef struct batch {
    const bly_bytes *keys;
    const bly_hash *hashes;
    size_t n;
} batch;

/* Finds the spots of n keys from `at` on, n <= BLYI_BATCH_GROUP. */
INLINE void enter(const bly_filter *f, const blyi_table t, layout l, const core_facts *facts,
                  const batch *from, size_t at, size_t n, spot *out) {
    bly_hash own[BLYI_BATCH_GROUP];
    const bly_hash *h = from->keys ? own : from->hashes + at;
    if (from->keys && (t.wide || f->hasher.id != BLY_HASH_XXH3))
        blyi_batch_hash(f, from->keys + at, n, own);
    else if (from->keys) /* the first words are all that is needed */
        blyi_batch_hash_first(f, from->keys + at, n, own);
    for (size_t i = 0; i < n; i++)
        out[i] = locate(t, l, facts, h[i]);
}

/* Groups are whole but for the last: loops of a fixed length are faster. */
INLINE size_t window(const bly_filter *f, const blyi_table t, layout l, const core_facts *facts,
                     const batch *from, uint8_t *found) {
    const size_t rest = from->n % BLYI_BATCH_GROUP, whole = from->n - rest;
    spot ring[BLYI_BATCH_WINDOW];
    uint8_t nowhere[BLYI_BATCH_GROUP];
    size_t hits = 0, head = 0, tail = 0;
    for (; head < whole && head < BLYI_BATCH_WINDOW; head += BLYI_BATCH_GROUP)
        enter(f, t, l, facts, from, head, BLYI_BATCH_GROUP, ring + head);
    for (; head < whole; head += BLYI_BATCH_GROUP, tail += BLYI_BATCH_GROUP) {
        spot *group = ring + tail % BLYI_BATCH_WINDOW;
        hits += test_some(t, l, group, BLYI_BATCH_GROUP, found ? found + tail : nowhere);
        enter(f, t, l, facts, from, head, BLYI_BATCH_GROUP, group);
    }
    for (; tail < whole; tail += BLYI_BATCH_GROUP)
        hits += test_some(t, l, ring + tail % BLYI_BATCH_WINDOW, BLYI_BATCH_GROUP,
                          found ? found + tail : nowhere);
    if (rest) {
        enter(f, t, l, facts, from, whole, rest, ring);
        hits += test_some(t, l, ring, rest, found ? found + whole : nowhere);
    }
    return hits;
}

INLINE size_t ask(const bly_filter *f, const batch *from, uint8_t *found, layout l) {
    const blyi_table t = blyi_table_of(f);
    if (from->n < LARGE)
        return window(f, t, l, NULL, from, found);
    core_facts facts[CORES];
    work_out(&t, l, facts);
    return window(f, t, l, facts, from, found);
}

static size_t ask_batch(const bly_filter *f, const batch *from, uint8_t *found) {
    unsigned width = f->geometry.hashes + 1, per = blyi_slots_per_word(width);
    if (per == 4 && width % 2 == 0 && blyi_core_bits(&f->geometry) == f->geometry.hashes)
        return ask(f, from, found, (layout){4, true, true});
    if (per == 4 && width % 2 == 0)
        return ask(f, from, found, (layout){4, true, false});
    if (per == 4)
        return ask(f, from, found, (layout){4, false, false});
    if (per == 2)
        return ask(f, from, found, (layout){2, false, false});
    return ask(f, from, found, (layout){1, false, false});
}

size_t blyi_entries_ask(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found) {
    return ask_batch(f, &(batch){.keys = keys, .n = n}, found);
}

size_t blyi_entries_ask_hashes(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    return ask_batch(f, &(batch){.hashes = h, .n = n}, found);
}

/* ---- a few hashes ---------------------------------------------------------------------------- */

/* Counts of a bucket are two bytes. */
INLINE void prefetch(const blyi_table t, const bly_hash *h, size_t n) {
    for (size_t i = 0; i < n; i++) {
        (void)locate(t, (layout){1, false, false}, NULL, h[i]);
        if (t.counts) {
            blyi_class c = blyi_class_of(&t, h[i]);
            blyi_prefetch_to_read(t.counts + 2 * c.bucket);
            blyi_prefetch_to_read(t.counts + 2 * blyi_other_bucket(&t, c.bucket, c.rest));
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
    const layout l = {per, false, false};
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
