/* table.h - the fingerprint table: buckets of four slots in which hashes leave their remainders.
 * Internal. cuckoo.c explains the idea.
 *
 * With m buckets and remainders of f bits:
 *
 *     lo * m / 2^64 = primary bucket + fraction;   remainder R = the first f bits of the fraction
 *
 * (Where m 2^f is so large that 64 bits do not tell all classes apart, lo + hi / 2^64 stands for
 * lo. Doubling does not change m 2^f, so a table is of one sort all its life.)
 *
 * The core is the low c bits of R; if they are all 0, R's lowest bit is set. (Hence no stored
 * remainder is 0, and 0 marks a free slot.) The core chooses a sum, and a key's two buckets add up
 * to it, modulo m:
 *
 *     sum = mulhi(bswap64(core * GOLD), m), made odd when m is even;   other(b) = sum - b (mod m)
 *
 * That is its own inverse for any m, and for even m never the same bucket. A slot is a remainder
 * and above it one bit, its role: 0 in the primary bucket, 1 in the other. So each entry tells its
 * class (primary bucket, R) wherever it lies, and doubling m while R gives its top bit to the
 * bucket number leaves every class what it was.
 *
 * A table may have a count for each slot besides, half a byte, low half first. It goes where its
 * entry goes; what it says is its owner's business (hybrid.c).
 *
 * All functions are memory-safe for any contents: bucket numbers are below m by construction.
 */
#ifndef BLYI_KINDS_CUCKOO_TABLE_H
#define BLYI_KINDS_CUCKOO_TABLE_H

#include "base/bits.h"
#include "filter/filter.h"
#include "hash/mix.h"
#include "kinds/cuckoo/cuckoo_plan.h"
#include "kinds/cuckoo/cuckoo_slots.h"

typedef struct blyi_table {
    uint8_t *body;
    uint64_t buckets; /* m */
    unsigned rest;    /* f */
    bool wide;        /* m 2^f >= 2^56: lo alone would be too coarse */
    uint64_t core;    /* mask of the core */
    uint8_t *counts;  /* of the slots; NULL when there are none */
} blyi_table;

/* What a key leaves. */
typedef struct blyi_class {
    uint64_t bucket;
    uint64_t rest;
} blyi_class;

/* The most copies of one class that can be stored: two buckets full. */
enum { BLYI_MAX_COPIES = 2 * BLYI_BUCKET };

#define BLYI_NO_SLOT UINT64_MAX

static inline blyi_table blyi_table_over(const bly_geometry *g, uint8_t *body) {
    uint64_t core = ((uint64_t)1 << blyi_core_bits(g)) - 1;
    return (blyi_table){body, g->size, g->hashes, blyi_table_is_wide(g), core, NULL};
}

static inline blyi_table blyi_table_of(const bly_filter *f) {
    return blyi_table_over(&f->geometry, f->body);
}

static inline unsigned blyi_table_width(const blyi_table *t) {
    return t->rest + 1;
}

static inline uint64_t blyi_table_slots(const blyi_table *t) {
    return t->buckets * BLYI_BUCKET;
}

/* Where a bucket begins. */
static inline uint64_t blyi_bucket_bit(const blyi_table *t, uint64_t bucket) {
    return bucket * BLYI_BUCKET * blyi_table_width(t);
}

static inline blyi_class blyi_class_of(const blyi_table *t, bly_hash h) {
    uint64_t bucket, fraction = blyi_mul(h.lo, t->buckets, &bucket);
    if (t->wide) {
        uint64_t more = fraction + blyi_mulhi(h.hi, t->buckets);
        bucket += more < fraction;
        fraction = more;
    }
    uint64_t rest = fraction >> (64 - t->rest);
    return (blyi_class){bucket, rest | ((rest & t->core) == 0)};
}

/* sum - bucket (mod m), all of them in any unit. No branch: it would be a coin toss. */
static inline uint64_t blyi_sum_less(uint64_t sum, uint64_t bucket, uint64_t m) {
    uint64_t other = sum - bucket, below = 0 - (other >> 63);
    return other + (m & below);
}

/* What the numbers of an entry's two buckets add up to. */
static inline uint64_t blyi_bucket_sum(const blyi_table *t, uint64_t core) {
    uint64_t mixed = __builtin_bswap64(core * BLYI_GOLD);
    return blyi_mulhi(mixed, t->buckets) | (~t->buckets & 1);
}

/* The other bucket of an entry in `bucket`. */
static inline uint64_t blyi_other_bucket(const blyi_table *t, uint64_t bucket, uint64_t rest) {
    return blyi_sum_less(blyi_bucket_sum(t, rest & t->core), bucket, t->buckets);
}

/* The entry in a slot of `bucket`; false when it is free. */
static inline bool blyi_slot_class(const blyi_table *t, uint64_t bucket, unsigned i,
                                   blyi_class *out) {
    uint64_t entry = blyi_slot_get(t->body, blyi_table_width(t), bucket * BLYI_BUCKET + i);
    uint64_t rest = entry & (((uint64_t)1 << t->rest) - 1);
    *out = (blyi_class){entry == rest ? bucket : blyi_other_bucket(t, bucket, rest), rest};
    return entry != 0;
}

/* The count of a slot, of a table that has counts. */
static inline unsigned blyi_slot_count(const blyi_table *t, uint64_t slot) {
    return (unsigned)t->counts[slot / 2] >> 4 * (slot % 2) & 15U;
}

static inline void blyi_slot_set_count(blyi_table *t, uint64_t slot, unsigned count) {
    unsigned shift = 4 * (slot % 2), others = t->counts[slot / 2] & ~(15U << shift);
    t->counts[slot / 2] = (uint8_t)(others | count << shift);
}

/* The slot after *slot (from 0 on) that is in use, its class in *c; false after the last. What no
 * key can have left, in a damaged map, is passed over. */
static inline bool blyi_table_next(const blyi_table *t, uint64_t *slot, blyi_class *c) {
    for (uint64_t end = blyi_table_slots(t); *slot < end;) {
        uint64_t at = (*slot)++;
        if (blyi_slot_class(t, at / BLYI_BUCKET, at % BLYI_BUCKET, c) && (c->rest & t->core) != 0)
            return true;
    }
    return false;
}

/* A class of `from` as one of `to`: the same table, perhaps before or after it doubled. */
static inline blyi_class blyi_class_in(const blyi_table *to, const blyi_table *from, blyi_class c) {
    if (from->rest >= to->rest) {
        uint64_t below = ((uint64_t)1 << to->rest) - 1;
        return (blyi_class){c.bucket << (from->rest - to->rest) | c.rest >> to->rest,
                            c.rest & below};
    }
    unsigned more = to->rest - from->rest;
    uint64_t top = c.bucket & (((uint64_t)1 << more) - 1);
    return (blyi_class){c.bucket >> more, top << from->rest | c.rest};
}

/* A class of `from` as one of `to`, whose buckets are fewer by a power of two and whose classes are
 * coarser by at least one bit, or which has the same shape. Leaving out a bit or more leaves out
 * the one that a core of zeros had set; `to` may have to set its own. */
static inline blyi_class blyi_class_coarse(const blyi_table *to, const blyi_table *from,
                                           blyi_class c) {
    unsigned split = 0; /* bits that go from the bucket's number to the remainder */
    while (to->buckets << split < from->buckets)
        split++;
    uint64_t low = c.bucket & (((uint64_t)1 << split) - 1);
    unsigned out = split + from->rest - to->rest;
    uint64_t rest =
        out <= from->rest ? low << (from->rest - out) | c.rest >> out : low >> (out - from->rest);
    return (blyi_class){c.bucket >> split, rest | ((rest & to->core) == 0)};
}

/* Copies of a class. */
unsigned blyi_table_count(const blyi_table *t, blyi_class c);

/* The slot of a copy; BLYI_NO_SLOT when there is none. */
uint64_t blyi_table_find(const blyi_table *t, blyi_class c);

/* Stores a copy, and tells in which slot; its count is the one it had when it was free. When no
 * place was found for it, BLYI_NO_SLOT, and no byte has changed. */
uint64_t blyi_table_place(blyi_table *t, blyi_class c);

static inline bool blyi_table_insert(blyi_table *t, blyi_class c) {
    return blyi_table_place(t, c) != BLYI_NO_SLOT;
}

/* Takes out a copy. False when there is none; then no byte has changed. */
bool blyi_table_remove(blyi_table *t, blyi_class c);

/* Stores all entries of `from`, the same table at another size. False when no place was found for
 * one; some then are stored. */
bool blyi_table_insert_all(blyi_table *t, const blyi_table *from);

#endif
