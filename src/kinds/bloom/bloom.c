/* Classic and partitioned Bloom filters.
 *
 * The idea (Bloom 1970): k hash functions choose k bits per key in an array of m; add sets them,
 * and a key one of whose bits is clear was never added.
 *
 * One 128-bit hash stands for the k functions. Kirsch and Mitzenmacher (2006) showed that two
 * suffice, g_i = h1 + i*h2 mod m, but only for large m: two keys with the same step share most
 * of their bits, and at n = 100, p = 1e-4 that doubles the rate. Bloomery walks
 *
 *     x = lo;  inc = hi | 1;   bit i = mulhi(x, m);   x = x * LCG + inc
 *
 * a linear congruential step per probe: as good as independent hashes at every size measured, no
 * division, one multiplication more. The textbook walk stays as an option for compatibility; its
 * extra rate is in the calculator (rate.c), so that even it keeps the rate asked.
 *
 * Body: m bits, bit i at byte i>>3, mask 1<<(i&7); partitioned: k slices of s bits (a multiple of
 * 64) one after the other, probe i in slice i. Because mulhi scales, folding by d ORs d adjacent
 * bits; the textbook's modulus ORs d distant stretches.
 *
 * Bits per key at 1% / 0.1% / 0.01%: 9.6 / 14.4 / 19.2, k = 7 / 10 / 13.
 */
#include "base/bits.h"
#include "filter/filter.h"
#include "filter/probe_sequence.h"
#include "filter/rate.h"
#include "kinds/bloom/bloom_plan.h"

#include <bloomery/bloom.h>
#include <math.h>
#include <stdio.h>

typedef enum scheme { SPREAD, TEXTBOOK, SLICED } scheme;

typedef struct walk {
    blyi_probe_sequence at;
    uint64_t m;
    uint64_t base; /* of the slice */
} walk;

static inline walk walk_from(const bly_filter *f, bly_hash h) {
    return (walk){blyi_probe_sequence_begin(h), f->geometry.size, 0};
}

static inline uint64_t walk_next(walk *w, scheme s) {
    if (s == TEXTBOOK) {
        uint64_t i = w->at.x % w->m;
        w->at.x += w->at.inc;
        return i;
    }
    uint64_t i = w->base + blyi_probe_sequence_next(&w->at, w->m);
    if (s == SLICED)
        w->base += w->m;
    return i;
}

static scheme scheme_of(const bly_filter *f) {
    if (f->geometry.kind == BLY_PARTITIONED)
        return SLICED;
    return f->geometry.options & BLY_TEXTBOOK ? TEXTBOOK : SPREAD;
}

static inline void request_in(const bly_filter *f, const bly_hash *h, size_t n, scheme s,
                              bool to_write) {
    for (size_t i = 0; i < n; i++) {
        walk w = walk_from(f, h[i]);
        for (unsigned j = 0; j < f->geometry.hashes; j++)
            blyi_prefetch(f->body + (walk_next(&w, s) >> 3), to_write);
    }
}

static inline size_t contains_in(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found,
                                 scheme s) {
    const uint64_t *words = blyi_words(f);
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        walk w = walk_from(f, h[i]);
        bool hit = true;
        for (unsigned j = 0; hit && j < f->geometry.hashes; j++) {
            uint64_t at = walk_next(&w, s);
            hit = blyi_word_get(words + (at >> 6)) >> (at & 63) & 1;
        }
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

static inline size_t add_in(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, scheme s,
                            bool (*set)(uint64_t *, uint64_t)) {
    uint64_t *words = blyi_words(f);
    size_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        walk w = walk_from(f, h[i]);
        bool is_new = false;
        for (unsigned j = 0; j < f->geometry.hashes; j++) {
            uint64_t at = walk_next(&w, s);
            is_new |= set(words + (at >> 6), (uint64_t)1 << (at & 63));
        }
        fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    return fresh;
}

static inline void request(const bly_filter *f, const bly_hash *h, size_t n, bool to_write) {
    switch (scheme_of(f)) {
    case SPREAD:
        request_in(f, h, n, SPREAD, to_write);
        break;
    case TEXTBOOK:
        request_in(f, h, n, TEXTBOOK, to_write);
        break;
    case SLICED:
        request_in(f, h, n, SLICED, to_write);
    }
}

static void prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    request(f, h, n, false);
}

static void prefetch_add_shared(const bly_filter *f, const bly_hash *h, size_t n) {
    request(f, h, n, true);
}

static size_t contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    switch (scheme_of(f)) {
    case SPREAD:
        return contains_in(f, h, n, found, SPREAD);
    case TEXTBOOK:
        return contains_in(f, h, n, found, TEXTBOOK);
    default:
        return contains_in(f, h, n, found, SLICED);
    }
}

static size_t add(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    switch (scheme_of(f)) {
    case SPREAD:
        return add_in(f, h, n, added, SPREAD, blyi_word_set);
    case TEXTBOOK:
        return add_in(f, h, n, added, TEXTBOOK, blyi_word_set);
    default:
        return add_in(f, h, n, added, SLICED, blyi_word_set);
    }
}

static size_t add_shared(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    return add_in(f, h, n, added, scheme_of(f), blyi_word_set_shared);
}

static double classic_current_fpr(const bly_filter *f) {
    uint64_t set = f->kernels->popcount(blyi_words(f), blyi_word_count(f));
    if (set >= f->geometry.size)
        return 1;
    return pow((double)set / (double)f->geometry.size, f->geometry.hashes) +
           blyi_textbook_extra(&f->geometry, bly_plan_keys(&f->geometry, set));
}

static double partitioned_current_fpr(const bly_filter *f) {
    const uint64_t *words = blyi_words(f);
    size_t slice = (size_t)(f->geometry.size / 64);
    double rate = 1;
    for (unsigned j = 0; j < f->geometry.hashes; j++) {
        uint64_t set = 0;
        for (size_t i = 0; i < slice; i++)
            set += blyi_popcount64(blyi_word_get(words + j * slice + i));
        rate *= (double)set / (double)f->geometry.size;
    }
    return rate;
}

/* Where a bit of the large filter lands in the small one. */
static uint64_t folded(uint64_t at, const bly_filter *from, const bly_filter *to,
                       uint64_t divisor) {
    switch (scheme_of(from)) {
    case SPREAD:
        return at / divisor;
    case TEXTBOOK:
        return at % to->geometry.size;
    default:
        return at / from->geometry.size * to->geometry.size + at % from->geometry.size / divisor;
    }
}

static void fold(const bly_filter *from, uint64_t divisor, bly_filter *to) {
    const uint64_t *source = blyi_words(from);
    uint64_t *target = blyi_words(to), bits = bly_plan_bits(&from->geometry);
    for (uint64_t base = 0; base < bits; base += 64) {
        for (uint64_t w = blyi_le64(source[base >> 6]); w; w &= w - 1) {
            uint64_t at = base + (unsigned)__builtin_ctzll(w);
            if (at >= bits) /* padding, set only in a damaged map */
                break;
            at = folded(at, from, to, divisor);
            (void)blyi_word_set(target + (at >> 6), (uint64_t)1 << (at & 63));
        }
    }
}

static const blyi_ops classic_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_SHARE | BLY_CAN_UNION | BLY_CAN_INTERSECT | BLY_CAN_FOLD |
                    BLY_CAN_OVERLAP | BLY_CAN_MAP,
    .prefetch = prefetch,
    .prefetch_add_shared = prefetch_add_shared,
    .add_many = add,
    .add_many_shared = add_shared,
    .contains_many = contains,
    .current_fpr = classic_current_fpr,
    .fold = fold,
    .prefetch_reads_no_body = true,
};

static const blyi_ops partitioned_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_SHARE | BLY_CAN_UNION | BLY_CAN_INTERSECT | BLY_CAN_FOLD |
                    BLY_CAN_OVERLAP | BLY_CAN_MAP,
    .prefetch = prefetch,
    .prefetch_add_shared = prefetch_add_shared,
    .add_many = add,
    .add_many_shared = add_shared,
    .contains_many = contains,
    .current_fpr = partitioned_current_fpr,
    .fold = fold,
    .prefetch_reads_no_body = true,
};

bly_status bly_bloom_create(uint64_t capacity, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_CLASSIC, capacity, fpr);
    return bly_filter_create(&spec, out);
}

static bly_status create_exact(bly_kind kind, uint64_t size, uint32_t hashes, bly_filter **out) {
    bly_spec spec = bly_spec_for(kind, 0, 0);
    *out = NULL;
    if (size == 0)
        return BLY_EGEOMETRY;
    spec.geometry.size = size;
    spec.geometry.hashes = hashes;
    return bly_filter_create(&spec, out);
}

bly_status bly_bloom_create_exact(uint64_t bits, uint32_t hashes, bly_filter **out) {
    return create_exact(BLY_CLASSIC, bits, hashes, out);
}

bly_status bly_bloom_create_slices(uint64_t slice_bits, uint32_t hashes, bly_filter **out) {
    return create_exact(BLY_PARTITIONED, slice_bits, hashes, out);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static void describe_slices(const bly_geometry *g, const char *grouped, char *out, size_t room) {
    (void)g; /* more than one bit: slices are whole words */
    snprintf(out, room, "slices of %s bits", grouped);
}

const blyi_kind blyi_kind_classic = {
    .code = BLY_CLASSIC,
    .name = "classic",
    .meaning = "bits anywhere in one array; small, one cache miss per bit",
    .reason = "the smallest of the kinds that any number of threads can add to, at the price of a "
              "cache line for each of a key's bits",
    .size_unit = "bit",
    .planner = &blyi_classic_planner,
    .ops = &classic_ops,
};

const blyi_kind blyi_kind_partitioned = {
    .code = BLY_PARTITIONED,
    .name = "partitioned",
    .meaning = "one bit in each of several slices; small, one cache miss per bit",
    .reason = "as small as classic, with each of a key's bits in a slice of its own",
    .describe_size = describe_slices,
    .planner = &blyi_partitioned_planner,
    .ops = &partitioned_ops,
};
