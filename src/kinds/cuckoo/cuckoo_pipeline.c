/* Lookups in a fingerprint table, for a batch of keys as a pipeline.
 *
 * A lookup reads both buckets of a key, whatever the first one contains: a branch on that would be
 * mispredicted half the time for members. All slots of a word are compared at once
 * (cuckoo_table.h), and the words of both buckets side by side. Both are compared with one pattern,
 * which has the remainder in every slot. For the other bucket, where the role is 1, the top bit of
 * every slot is set in addition.
 *
 * Most of the time goes into computing a key's two buckets. So a batch computes them once, when it
 * prefetches them, and remembers them until the key leaves the window of keys whose lines are being
 * loaded (block_batch.c has the same window). Two values depend on the core alone: the position of
 * its sum (cuckoo_table.h) and, if remainders are no longer than their core, the pattern. A large
 * batch first fills a table with these values for all cores, at most 512. Reading the table is
 * faster than computing the values for each key.
 */
#include "filter/batch.h"
#include "kinds/cuckoo/cuckoo_operations.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    MAX_CORES = 1 << BLYI_CORE_BITS,
    MIN_LARGE_BATCH = 4096, /* from this size on a table of all cores saves time */
};

/* How slots are packed into words. */
typedef struct slot_packing {
    unsigned per_word;  /* slots compared at once */
    bool byte_aligned;  /* each bucket begins at a byte; positions are in bytes, not bits */
    bool core_is_whole; /* remainders are no longer than their core */
} slot_packing;

/* What depends on a core alone: the position of its sum, and its pattern if it is a whole
 * remainder. */
typedef struct core_facts {
    uint64_t sum, pattern;
} core_facts;

/* What a lookup needs to know of a key: where its two buckets begin, and a pattern that has its
 * remainder in every slot of a word. */
typedef struct cuckoo_probe {
    uint64_t primary, other;
    uint64_t pattern;
} cuckoo_probe;

/* Words of a key's two buckets. */
typedef uint64_t word_pair __attribute__((vector_size(16)));

INLINE uint64_t bucket_stride(const blyi_cuckoo_table *t, slot_packing l) {
    uint64_t bits = (uint64_t)BLYI_BUCKET_SLOTS * blyi_table_width(t);
    return l.byte_aligned ? bits / 8 : bits;
}

INLINE void compute_core_facts(const blyi_cuckoo_table *t, slot_packing l, core_facts *facts) {
    const uint64_t stride = bucket_stride(t, l);
    const uint64_t ones = blyi_slot_ones(blyi_table_width(t), l.per_word);
    for (uint64_t core = 0; core <= t->core; core++) {
        uint64_t stored = core | (core == 0);
        facts[core] = (core_facts){blyi_bucket_sum(t, stored) * stride, stored * ones};
    }
}

/* Finds a key's buckets and prefetches them. `facts` is NULL, or the table of all cores.
 *
 * Some buckets lie across two cache lines. For others the words that are read do, because the last
 * word extends past the end of the bucket. So the last byte that may be read is prefetched, not the
 * last byte of the bucket. (Otherwise three of 64 buckets with 10-bit slots would cause a cache
 * miss that was not prefetched. With ten million keys at 1% on Zen 3, these misses took a fifth of
 * the time.) */
INLINE cuckoo_probe cuckoo_locate(const blyi_cuckoo_table t, slot_packing l,
                                  const core_facts *facts, bly_hash h) {
    const uint64_t stride = bucket_stride(&t, l), end = t.buckets * stride;
    const uint64_t last = ((BLYI_BUCKET_SLOTS - l.per_word) * blyi_table_width(&t) + 7) / 8 + 7;
    uint64_t sum, pattern, bucket;
    if (facts && l.core_is_whole) { /* such a table is never wide */
        const core_facts *core =
            facts + (blyi_mul(h.lo, t.buckets, &bucket) >> (64 - t.remainder_bits));
        sum = core->sum;
        pattern = core->pattern;
    } else {
        blyi_cuckoo_class c = blyi_cuckoo_class_of(&t, h);
        uint64_t core = c.remainder & t.core;
        bucket = c.bucket;
        sum = facts ? facts[core].sum : blyi_bucket_sum(&t, core) * stride;
        pattern = c.remainder * blyi_slot_ones(blyi_table_width(&t), l.per_word);
    }
    uint64_t primary = bucket * stride;
    cuckoo_probe probe = {primary, blyi_sum_minus(sum, primary, end), pattern};
    const uint8_t *a = t.body + (l.byte_aligned ? probe.primary : probe.primary / 8);
    const uint8_t *b = t.body + (l.byte_aligned ? probe.other : probe.other / 8);
    blyi_prefetch_to_read(a);
    blyi_prefetch_to_read(a + last);
    blyi_prefetch_to_read(b);
    blyi_prefetch_to_read(b + last);
    return probe;
}

/* The word that begins with slot i of the bucket at position `at`. (If buckets are byte-aligned,
 * all four slots are in one word, and i is 0.) */
INLINE uint64_t bucket_word(const blyi_cuckoo_table *t, slot_packing l, uint64_t at, unsigned i) {
    if (l.byte_aligned)
        return blyi_load64le(t->body + at);
    return blyi_bits_at(t->body, at + i * blyi_table_width(t));
}

/* Whether a slot of either bucket equals the pattern, that is, whether the XOR of the two is 0 in
 * some slot. In (x - ones) & ~x the lowest slot that is 0 in x has its top bit set, because no slot
 * below it borrows. Slots above it may be reported by mistake, but only if there is a match
 * anyway. */
INLINE uint64_t cuckoo_test(const blyi_cuckoo_table t, slot_packing l, cuckoo_probe probe) {
    const uint64_t one = blyi_slot_ones(blyi_table_width(&t), l.per_word);
    const uint64_t top = one << t.remainder_bits;
    const word_pair ones = {one, one}, tops = {top, top}, roles = {0, top};
    word_pair pattern = (word_pair){probe.pattern, probe.pattern} ^ roles, zeros = {0, 0};
    for (unsigned i = 0; i < BLYI_BUCKET_SLOTS; i += l.per_word) {
        word_pair x = pattern ^ (word_pair) {
            bucket_word(&t, l, probe.primary, i), bucket_word(&t, l, probe.other, i)
        };
        zeros |= (x - ones) & ~x;
    }
    zeros &= tops;
    return (zeros[0] | zeros[1]) != 0;
}

INLINE size_t cuckoo_test_many(const blyi_cuckoo_table t, slot_packing l,
                               const cuckoo_probe *probes, size_t n, uint8_t *found) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t present = cuckoo_test(t, l, probes[i]);
        hits += (size_t)present;
        found[i] = (uint8_t)present;
    }
    return hits;
}

/* ---- pipeline ------------------------------------------------------------------------------- */

/* A batch of keys (`hashes` is NULL) or of hashes (`keys` is NULL). */
typedef struct cuckoo_batch {
    const bly_bytes *keys;
    const bly_hash *hashes;
    size_t n;
} cuckoo_batch;

/* Computes the probes of n <= BLYI_BATCH_GROUP keys from `at` on, and prefetches their buckets. */
INLINE void cuckoo_pipeline_enter(const bly_filter *f, const blyi_cuckoo_table t, slot_packing l,
                                  const core_facts *facts, const cuckoo_batch *from, size_t at,
                                  size_t n, cuckoo_probe *out) {
    bly_hash own[BLYI_BATCH_GROUP];
    const bly_hash *h = from->keys ? own : from->hashes + at;
    if (from->keys && (t.wide || f->hasher.id != BLY_HASH_XXH3))
        blyi_batch_hash(f, from->keys + at, n, own);
    else if (from->keys) /* only the first words of the hashes are needed */
        blyi_batch_hash_first(f, from->keys + at, n, own);
    for (size_t i = 0; i < n; i++)
        out[i] = cuckoo_locate(t, l, facts, h[i]);
}

/* Looks up a batch in groups. All but the last are complete, because loops of a fixed length are
 * faster. */
INLINE size_t cuckoo_pipeline_run(const bly_filter *f, const blyi_cuckoo_table t, slot_packing l,
                                  const core_facts *facts, const cuckoo_batch *from,
                                  uint8_t *found) {
    const size_t remaining = from->n % BLYI_BATCH_GROUP, whole = from->n - remaining;
    cuckoo_probe ring[BLYI_BATCH_WINDOW];
    uint8_t ignored[BLYI_BATCH_GROUP];
    size_t hits = 0, head = 0, tail = 0;
    for (; head < whole && head < BLYI_BATCH_WINDOW; head += BLYI_BATCH_GROUP)
        cuckoo_pipeline_enter(f, t, l, facts, from, head, BLYI_BATCH_GROUP, ring + head);
    for (; head < whole; head += BLYI_BATCH_GROUP, tail += BLYI_BATCH_GROUP) {
        cuckoo_probe *group = ring + tail % BLYI_BATCH_WINDOW;
        hits += cuckoo_test_many(t, l, group, BLYI_BATCH_GROUP, found ? found + tail : ignored);
        cuckoo_pipeline_enter(f, t, l, facts, from, head, BLYI_BATCH_GROUP, group);
    }
    for (; tail < whole; tail += BLYI_BATCH_GROUP)
        hits += cuckoo_test_many(t, l, ring + tail % BLYI_BATCH_WINDOW, BLYI_BATCH_GROUP,
                                 found ? found + tail : ignored);
    if (remaining) {
        cuckoo_pipeline_enter(f, t, l, facts, from, whole, remaining, ring);
        hits += cuckoo_test_many(t, l, ring, remaining, found ? found + whole : ignored);
    }
    return hits;
}

INLINE size_t cuckoo_contains_packed(const bly_filter *f, const cuckoo_batch *from, uint8_t *found,
                                     slot_packing l) {
    const blyi_cuckoo_table t = blyi_table_of(f);
    if (from->n < MIN_LARGE_BATCH)
        return cuckoo_pipeline_run(f, t, l, NULL, from, found);
    core_facts facts[MAX_CORES];
    compute_core_facts(&t, l, facts);
    return cuckoo_pipeline_run(f, t, l, facts, from, found);
}

static size_t cuckoo_contains_batch(const bly_filter *f, const cuckoo_batch *from, uint8_t *found) {
    unsigned width = f->geometry.hashes + 1, per = blyi_slots_per_word(width);
    if (per == 4 && width % 2 == 0 && blyi_core_bits(&f->geometry) == f->geometry.hashes)
        return cuckoo_contains_packed(f, from, found, (slot_packing){4, true, true});
    if (per == 4 && width % 2 == 0)
        return cuckoo_contains_packed(f, from, found, (slot_packing){4, true, false});
    if (per == 4)
        return cuckoo_contains_packed(f, from, found, (slot_packing){4, false, false});
    if (per == 2)
        return cuckoo_contains_packed(f, from, found, (slot_packing){2, false, false});
    return cuckoo_contains_packed(f, from, found, (slot_packing){1, false, false});
}

size_t blyi_cuckoo_contains_keys(const bly_filter *f, const bly_bytes *keys, size_t n,
                                 uint8_t *found) {
    return cuckoo_contains_batch(f, &(cuckoo_batch){.keys = keys, .n = n}, found);
}

size_t blyi_cuckoo_contains_hashes(const bly_filter *f, const bly_hash *h, size_t n,
                                   uint8_t *found) {
    return cuckoo_contains_batch(f, &(cuckoo_batch){.hashes = h, .n = n}, found);
}

/* ---- a few hashes ---------------------------------------------------------------------------- */

/* Prefetches the buckets of n hashes, and their counts, which take two bytes per bucket. */
INLINE void cuckoo_prefetch(const blyi_cuckoo_table t, const bly_hash *h, size_t n) {
    for (size_t i = 0; i < n; i++) {
        (void)cuckoo_locate(t, (slot_packing){1, false, false}, NULL, h[i]);
        if (t.counts) {
            blyi_cuckoo_class c = blyi_cuckoo_class_of(&t, h[i]);
            blyi_prefetch_to_read(t.counts + 2 * c.bucket);
            blyi_prefetch_to_read(t.counts + 2 * blyi_other_bucket(&t, c.bucket, c.remainder));
        }
    }
}

void blyi_table_prefetch(const blyi_cuckoo_table *t, const bly_hash *h, size_t n) {
    cuckoo_prefetch(*t, h, n);
}

void blyi_cuckoo_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    cuckoo_prefetch(blyi_table_of(f), h, n);
}

INLINE size_t cuckoo_contains_many(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found,
                                   unsigned per) {
    const blyi_cuckoo_table t = blyi_table_of(f);
    const slot_packing l = {per, false, false};
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool present = cuckoo_test(t, l, cuckoo_locate(t, l, NULL, h[i]));
        hits += present;
        if (found)
            found[i] = present;
    }
    return hits;
}

size_t blyi_cuckoo_contains_many(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    switch (blyi_slots_per_word(f->geometry.hashes + 1)) {
    case 4:
        return cuckoo_contains_many(f, h, n, found, 4);
    case 2:
        return cuckoo_contains_many(f, h, n, found, 2);
    default:
        return cuckoo_contains_many(f, h, n, found, 1);
    }
}
