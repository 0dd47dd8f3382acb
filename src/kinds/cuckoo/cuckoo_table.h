/* cuckoo_table.h - the fingerprint table: buckets of four slots that store remainders of hashes.
 * Internal. cuckoo.c explains the idea.
 *
 * With m buckets and remainders of f bits:
 *
 *     lo * m / 2^64 = primary bucket + fraction;   remainder R = the first f bits of the fraction
 *
 * (If m 2^f is so large that 64 bits do not tell all classes apart, lo + hi / 2^64 is used instead
 * of lo. Such a table is called wide. Doubling does not change m 2^f, so a table stays wide or
 * narrow forever.)
 *
 * The class of a key is its primary bucket and its remainder. The table cannot tell keys of one
 * class apart.
 *
 * The core is the low c bits of R. If they are all 0, R's lowest bit is set. (So no stored
 * remainder is 0, and 0 marks a free slot.) The core chooses a sum, and a key's two buckets add up
 * to it, modulo m:
 *
 *     sum = mulhi(bswap64(core * GOLD), m), made odd when m is even;   other(b) = sum - b (mod m)
 *
 * This is its own inverse for any m, and for even m the two buckets are never the same. A slot is a
 * remainder and one bit above it, its role: 0 in the primary bucket, 1 in the other. So the class
 * of an entry follows from its slot, in either bucket. When m doubles, the top bit of R becomes the
 * lowest bit of the bucket number, and keys of one class remain in one class.
 *
 * Slots are packed. Slot s of a table with `width`-bit slots is the bits from s * width on, lowest
 * first, of a little-endian array. Any slot of at most 57 bits lies within the eight bytes that
 * begin with its first bit's byte. So do two slots of at most 29 bits each, and all four slots of a
 * bucket if they have at most 16 bits each (a bucket begins at a multiple of 4 bits, half a bucket
 * at a multiple of 2). So a bucket is compared in one, two or four words, all slots of a word at
 * once.
 *
 * A table may also have a count of four bits for each slot, two in each byte, the lower half first.
 * A count moves with its entry. The kind that uses it defines its meaning (hybrid.c).
 *
 * All functions are memory-safe for any contents: bucket numbers are below m by construction.
 */
#ifndef BLYI_KINDS_CUCKOO_TABLE_H
#define BLYI_KINDS_CUCKOO_TABLE_H

#include "base/bits.h"
#include "base/little_endian.h"
#include "filter/filter.h"
#include "hash/mix.h"
#include "kinds/cuckoo/cuckoo_layout.h"

typedef struct blyi_cuckoo_table {
    uint8_t *body;
    uint64_t buckets;        /* m */
    unsigned remainder_bits; /* f */
    bool wide;               /* m 2^f >= 2^56: lo alone would be too coarse */
    uint64_t core;           /* mask of the core */
    uint8_t *counts;         /* one count per slot; NULL if the table has none */
} blyi_cuckoo_table;

typedef struct blyi_cuckoo_class {
    uint64_t bucket; /* the primary one */
    uint64_t remainder;
} blyi_cuckoo_class;

/* The maximum number of copies of one class: two full buckets. */
enum { BLYI_MAX_COPIES = 2 * BLYI_BUCKET_SLOTS };

#define BLYI_NO_SLOT UINT64_MAX

/* ---- packed slots ---------------------------------------------------------------------------- */

/* The word that begins with bit `at`. Only its lowest 57 bits are valid. */
static inline uint64_t blyi_bits_at(const uint8_t *body, uint64_t at) {
    return blyi_load64le(body + (at >> 3)) >> (at & 7);
}

static inline uint64_t blyi_slot_get(const uint8_t *body, unsigned width, uint64_t slot) {
    return blyi_bits_at(body, slot * width) & (((uint64_t)1 << width) - 1);
}

static inline void blyi_slot_set(uint8_t *body, unsigned width, uint64_t slot, uint64_t value) {
    uint64_t at = slot * width, mask = (((uint64_t)1 << width) - 1) << (at & 7);
    uint8_t *word = body + (at >> 3);
    blyi_store64le(word, (blyi_load64le(word) & ~mask) | value << (at & 7));
}

/* How many slots of that width are compared in a word: 4, 2 or 1. */
static inline unsigned blyi_slots_per_word(unsigned width) {
    return width <= 16 ? 4 : width <= 29 ? 2 : 1;
}

/* A word with the lowest bit of each of `per` slots set. */
static inline uint64_t blyi_slot_ones(unsigned width, unsigned per) {
    uint64_t one = 1, two = one | one << width;
    return per == 1 ? one : per == 2 ? two : two | two << 2 * width;
}

/* ---- the table ------------------------------------------------------------------------------- */

static inline blyi_cuckoo_table blyi_table_over(const bly_geometry *g, uint8_t *body) {
    uint64_t core = ((uint64_t)1 << blyi_core_bits(g)) - 1;
    return (blyi_cuckoo_table){body, g->size, g->hashes, blyi_table_is_wide(g), core, NULL};
}

static inline blyi_cuckoo_table blyi_table_of(const bly_filter *f) {
    return blyi_table_over(&f->geometry, f->body);
}

/* The number of bits in a slot. */
static inline unsigned blyi_table_width(const blyi_cuckoo_table *t) {
    return t->remainder_bits + 1;
}

static inline uint64_t blyi_table_slots(const blyi_cuckoo_table *t) {
    return t->buckets * BLYI_BUCKET_SLOTS;
}

/* The first bit of a bucket. */
static inline uint64_t blyi_bucket_bit(const blyi_cuckoo_table *t, uint64_t bucket) {
    return bucket * BLYI_BUCKET_SLOTS * blyi_table_width(t);
}

static inline blyi_cuckoo_class blyi_cuckoo_class_of(const blyi_cuckoo_table *t, bly_hash h) {
    uint64_t bucket, fraction = blyi_mul(h.lo, t->buckets, &bucket);
    if (t->wide) {
        uint64_t more = fraction + blyi_mulhi(h.hi, t->buckets);
        bucket += more < fraction;
        fraction = more;
    }
    uint64_t remainder = fraction >> (64 - t->remainder_bits);
    return (blyi_cuckoo_class){bucket, remainder | ((remainder & t->core) == 0)};
}

/* Returns sum - bucket (mod m). All are in the same unit, which may be buckets, bytes or bits.
 * There is no branch, because it would be mispredicted half the time. */
static inline uint64_t blyi_sum_minus(uint64_t sum, uint64_t bucket, uint64_t m) {
    uint64_t other = sum - bucket, below = 0 - (other >> 63);
    return other + (m & below);
}

/* The sum, modulo m, of the numbers of the two buckets of an entry with this core. */
static inline uint64_t blyi_bucket_sum(const blyi_cuckoo_table *t, uint64_t core) {
    uint64_t mixed = __builtin_bswap64(core * BLYI_GOLD);
    return blyi_mulhi(mixed, t->buckets) | (~t->buckets & 1);
}

/* The other bucket of an entry in `bucket`. */
static inline uint64_t blyi_other_bucket(const blyi_cuckoo_table *t, uint64_t bucket,
                                         uint64_t remainder) {
    return blyi_sum_minus(blyi_bucket_sum(t, remainder & t->core), bucket, t->buckets);
}

/* Sets *out to the class of the entry in slot i of `bucket`. Returns false if the slot is free. */
static inline bool blyi_slot_class(const blyi_cuckoo_table *t, uint64_t bucket, unsigned i,
                                   blyi_cuckoo_class *out) {
    uint64_t entry = blyi_slot_get(t->body, blyi_table_width(t), bucket * BLYI_BUCKET_SLOTS + i);
    uint64_t remainder = entry & (((uint64_t)1 << t->remainder_bits) - 1);
    *out = (blyi_cuckoo_class){
        entry == remainder ? bucket : blyi_other_bucket(t, bucket, remainder), remainder};
    return entry != 0;
}

/* The count of a slot, in a table that has counts. */
static inline unsigned blyi_slot_count(const blyi_cuckoo_table *t, uint64_t slot) {
    return (unsigned)t->counts[slot / 2] >> 4 * (slot % 2) & 15U;
}

static inline void blyi_slot_set_count(blyi_cuckoo_table *t, uint64_t slot, unsigned count) {
    unsigned shift = 4 * (slot % 2), others = t->counts[slot / 2] & ~(15U << shift);
    t->counts[slot / 2] = (uint8_t)(others | count << shift);
}

/* Iterates over the slots in use. Set *slot to 0 before the first call. Each call sets *slot to the
 * slot after the entry that it finds, and *c to the class of the entry. Returns false after the
 * last entry. Entries that no key can have, in a damaged mapped file, are skipped. */
static inline bool blyi_table_next(const blyi_cuckoo_table *t, uint64_t *slot,
                                   blyi_cuckoo_class *c) {
    for (uint64_t end = blyi_table_slots(t); *slot < end;) {
        uint64_t at = (*slot)++;
        if (blyi_slot_class(t, at / BLYI_BUCKET_SLOTS, at % BLYI_BUCKET_SLOTS, c) &&
            (c->remainder & t->core) != 0)
            return true;
    }
    return false;
}

/* Converts a class of `from` to the class of the same keys in `to`, which is the same table after
 * or before some doublings. */
static inline blyi_cuckoo_class blyi_cuckoo_class_in(const blyi_cuckoo_table *to,
                                                     const blyi_cuckoo_table *from,
                                                     blyi_cuckoo_class c) {
    if (from->remainder_bits >= to->remainder_bits) {
        uint64_t below = ((uint64_t)1 << to->remainder_bits) - 1;
        return (blyi_cuckoo_class){c.bucket << (from->remainder_bits - to->remainder_bits) |
                                       c.remainder >> to->remainder_bits,
                                   c.remainder & below};
    }
    unsigned more = to->remainder_bits - from->remainder_bits;
    uint64_t top = c.bucket & (((uint64_t)1 << more) - 1);
    return (blyi_cuckoo_class){c.bucket >> more, top << from->remainder_bits | c.remainder};
}

/* Converts a class of `from` to the class of the same keys in `to`. Either both tables have the
 * same shape, or from's number of buckets is to's times a power of two, and from's classes have at
 * least one bit more. In the second case the bits left out include the lowest bit of the remainder,
 * which may be set only because the core would have been 0. The lowest bit of the result is set
 * instead, if its core would be 0. */
static inline blyi_cuckoo_class blyi_cuckoo_class_in_coarser(const blyi_cuckoo_table *to,
                                                             const blyi_cuckoo_table *from,
                                                             blyi_cuckoo_class c) {
    unsigned split = 0; /* bits that move from the bucket number to the remainder */
    while (to->buckets << split < from->buckets)
        split++;
    uint64_t low = c.bucket & (((uint64_t)1 << split) - 1);
    unsigned out = split + from->remainder_bits - to->remainder_bits;
    uint64_t remainder = out <= from->remainder_bits
                             ? low << (from->remainder_bits - out) | c.remainder >> out
                             : low >> (out - from->remainder_bits);
    return (blyi_cuckoo_class){c.bucket >> split, remainder | ((remainder & to->core) == 0)};
}

/* The number of copies of a class. */
unsigned blyi_table_count(const blyi_cuckoo_table *t, blyi_cuckoo_class c);

/* The slot of one copy of a class; BLYI_NO_SLOT if the table has no copy. */
uint64_t blyi_table_find(const blyi_cuckoo_table *t, blyi_cuckoo_class c);

/* Adds a copy of a class and returns its slot. Does not set the slot's count. Returns BLYI_NO_SLOT,
 * and changes nothing, if the table has no room. */
uint64_t blyi_table_add(blyi_cuckoo_table *t, blyi_cuckoo_class c);

static inline bool blyi_table_try_add(blyi_cuckoo_table *t, blyi_cuckoo_class c) {
    return blyi_table_add(t, c) != BLYI_NO_SLOT;
}

/* Removes a copy of a class. Returns false, and changes nothing, if the table has no copy. */
bool blyi_table_remove(blyi_cuckoo_table *t, blyi_cuckoo_class c);

/* Adds all entries of `from`, which is the same table at another size. Returns false if there is no
 * room for one of them; the entries before it stay added. */
bool blyi_table_add_all(blyi_cuckoo_table *t, const blyi_cuckoo_table *from);

#endif
