/* Classic and partitioned Bloom filters.
 *
 * The idea (Bloom 1970): k hash functions choose k bits per key in an array of m bits. An add sets
 * them, and a key one of whose bits is clear was never added.
 *
 * The k functions are derived from one 128-bit hash. Kirsch and Mitzenmacher (2006) showed that two
 * functions suffice, g_i = h1 + i*h2 mod m, but only for large m: two keys with the same step share
 * most of their bits, and at n = 100, p = 1e-4 that doubles the FPR. Bloomery's probe sequence is
 *
 *     x = lo;  inc = hi | 1;   bit i = mulhi(x, m);   x = x * LCG + inc
 *
 * a linear congruential step per probe. It is as good as independent hashes at every size measured,
 * and needs one multiplication more, but no division. The textbook's sequence is an option, for
 * compatibility. Its extra FPR is part of the expected FPR (bloom_textbook_extra), so that plans
 * with it keep the requested FPR too.
 *
 * Body: m bits, bit i at byte i>>3, mask 1<<(i&7). A partitioned filter has k slices of s bits (a
 * multiple of 64) one after the other, with probe i in slice i. Folding by d ORs d adjacent bits,
 * because mulhi scales the hash to the size. With the textbook's modulus, folding ORs d stretches
 * of m / d bits each.
 *
 * Bits per key: docs/choosing.md.
 */
#include "base/bits.h"
#include "filter/filter.h"
#include "filter/probe_sequence.h"
#include "filter/rate.h"

#include <bloomery/filter.h>
#include <math.h>
#include <stdio.h>

/* ---- planning (filter/plan.c, filter/rate.c) ------------------------------------------------- */

/* The FPR that the textbook's double hashing adds; 0 for other geometries. If a key has the same
 * step as a member, or its negative, and starts s steps away, it shares all but |s| of that
 * member's bits. It is a false positive if the other |s| bits are set, too. Steps are odd, so for
 * an even m only half of all steps occur. For an odd m a step can be 0 modulo m; then all probes
 * test a single bit. The result is exact when m is a power of two. Otherwise the sequence wraps at
 * 2^64, which breaks up most of these coincidences, and the result is an upper bound. */
static double bloom_textbook_extra(const bly_geometry *g, double n) {
    double m = (double)g->size;
    unsigned k = g->hashes;
    if (!(g->options & BLY_TEXTBOOK))
        return 0;
    double fill = -expm1(k * n * log1p(-1 / m)), shifts = 1, term = 1;
    bool even = fmod(m, 2) == 0;
    for (unsigned s = 1; s < k; s++)
        shifts += 2 * (term *= fill);
    double same_step = even ? 2 / m : 1 / m;
    return n * 2 * same_step / m * shifts + (even ? 0 : fill / m);
}

static double classic_rate(const bly_geometry *g, double n) {
    return blyi_cells_rate((double)g->size, g->hashes * n, g->hashes) + bloom_textbook_extra(g, n);
}

static double classic_log_miss(const bly_geometry *g) {
    return g->hashes * log1p(-1 / (double)g->size);
}

static double partitioned_rate(const bly_geometry *g, double n) {
    return blyi_power(-expm1(n * log1p(-1 / (double)g->size)), g->hashes);
}

static double partitioned_log_miss(const bly_geometry *g) {
    return log1p(-1 / (double)g->size);
}

static const blyi_bit_layout classic_layout = {
    .unit_bits = 1,
    .step = 64,
    .min_size = 512,
    .min_valid = 64,
    .size_unit = 1,
    .min_k = 1,
    .max_k = 64,
    .k_step = 1,
    .options = BLY_FOLDABLE | BLY_TEXTBOOK,
    .best_k_is_simple = true,
    .log_miss = classic_log_miss,
};

/* The size of a partitioned filter is the number of bits of one of its k slices. */
static const blyi_bit_layout partitioned_layout = {
    .unit_bits = 0,
    .step = 64,
    .min_size = 64,
    .min_valid = 64,
    .size_unit = 64,
    .min_k = 1,
    .max_k = 64,
    .k_step = 1,
    .options = BLY_FOLDABLE,
    .log_miss = partitioned_log_miss,
};

static const blyi_planner classic_planner = {.layout = &classic_layout, .rate = classic_rate};
static const blyi_planner partitioned_planner = {.layout = &partitioned_layout,
                                                 .rate = partitioned_rate};

/* ---- probe sequences ------------------------------------------------------------------------- */

/* The probe sequences: Bloomery's over all bits, the textbook's, and Bloomery's with one probe in
 * each slice. */
typedef enum bloom_scheme { BLOOM_SPREAD, BLOOM_TEXTBOOK, BLOOM_SLICED } bloom_scheme;

typedef struct bloom_probes {
    blyi_probe_sequence at;
    uint64_t m;
    uint64_t base; /* first bit of the slice */
} bloom_probes;

static inline bloom_probes bloom_probes_begin(const bly_filter *f, bly_hash h) {
    return (bloom_probes){blyi_probe_sequence_begin(h), f->geometry.size, 0};
}

static inline uint64_t bloom_probes_next(bloom_probes *w, bloom_scheme s) {
    if (s == BLOOM_TEXTBOOK) {
        uint64_t i = w->at.x % w->m;
        w->at.x += w->at.inc;
        return i;
    }
    uint64_t i = w->base + blyi_probe_sequence_next(&w->at, w->m);
    if (s == BLOOM_SLICED)
        w->base += w->m;
    return i;
}

static bloom_scheme bloom_scheme_of(const bly_filter *f) {
    if (f->geometry.kind == BLY_PARTITIONED)
        return BLOOM_SLICED;
    return f->geometry.options & BLY_TEXTBOOK ? BLOOM_TEXTBOOK : BLOOM_SPREAD;
}

/* ---- lookups and adds ------------------------------------------------------------------------ */

/* The functions ending in `_in` are inlined with a constant scheme, so that their loops do not
 * branch on it. Only shared adds read it at run time. */

static inline void bloom_prefetch_in(const bly_filter *f, const bly_hash *h, size_t n,
                                     bloom_scheme s, bool to_write) {
    for (size_t i = 0; i < n; i++) {
        bloom_probes w = bloom_probes_begin(f, h[i]);
        for (unsigned j = 0; j < f->geometry.hashes; j++)
            blyi_prefetch(f->body + (bloom_probes_next(&w, s) >> 3), to_write);
    }
}

static inline size_t bloom_contains_in(const bly_filter *f, const bly_hash *h, size_t n,
                                       uint8_t *found, bloom_scheme s) {
    const uint64_t *words = blyi_words(f);
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bloom_probes w = bloom_probes_begin(f, h[i]);
        bool hit = true;
        for (unsigned j = 0; hit && j < f->geometry.hashes; j++) {
            uint64_t at = bloom_probes_next(&w, s);
            hit = blyi_word_get(words + (at >> 6)) >> (at & 63) & 1;
        }
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

static inline size_t bloom_add_in(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                  bloom_scheme s, bool (*set)(uint64_t *, uint64_t)) {
    uint64_t *words = blyi_words(f);
    size_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        bloom_probes w = bloom_probes_begin(f, h[i]);
        bool is_new = false;
        for (unsigned j = 0; j < f->geometry.hashes; j++) {
            uint64_t at = bloom_probes_next(&w, s);
            is_new |= set(words + (at >> 6), (uint64_t)1 << (at & 63));
        }
        fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    return fresh;
}

static inline void bloom_prefetch_lines(const bly_filter *f, const bly_hash *h, size_t n,
                                        bool to_write) {
    switch (bloom_scheme_of(f)) {
    case BLOOM_SPREAD:
        bloom_prefetch_in(f, h, n, BLOOM_SPREAD, to_write);
        break;
    case BLOOM_TEXTBOOK:
        bloom_prefetch_in(f, h, n, BLOOM_TEXTBOOK, to_write);
        break;
    case BLOOM_SLICED:
        bloom_prefetch_in(f, h, n, BLOOM_SLICED, to_write);
    }
}

static void bloom_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    bloom_prefetch_lines(f, h, n, false);
}

static void bloom_prefetch_add_shared(const bly_filter *f, const bly_hash *h, size_t n) {
    bloom_prefetch_lines(f, h, n, true);
}

static size_t bloom_contains_many(const bly_filter *f, const bly_hash *h, size_t n,
                                  uint8_t *found) {
    switch (bloom_scheme_of(f)) {
    case BLOOM_SPREAD:
        return bloom_contains_in(f, h, n, found, BLOOM_SPREAD);
    case BLOOM_TEXTBOOK:
        return bloom_contains_in(f, h, n, found, BLOOM_TEXTBOOK);
    default:
        return bloom_contains_in(f, h, n, found, BLOOM_SLICED);
    }
}

static size_t bloom_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    switch (bloom_scheme_of(f)) {
    case BLOOM_SPREAD:
        return bloom_add_in(f, h, n, added, BLOOM_SPREAD, blyi_word_set);
    case BLOOM_TEXTBOOK:
        return bloom_add_in(f, h, n, added, BLOOM_TEXTBOOK, blyi_word_set);
    default:
        return bloom_add_in(f, h, n, added, BLOOM_SLICED, blyi_word_set);
    }
}

static size_t bloom_add_many_shared(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added) {
    return bloom_add_in(f, h, n, added, bloom_scheme_of(f), blyi_word_set_shared);
}

/* ---- the FPR that follows from the bits, and folding ----------------------------------------- */

static double classic_current_fpr(const bly_filter *f) {
    uint64_t set = f->kernels->popcount(blyi_words(f), blyi_word_count(f));
    if (set >= f->geometry.size)
        return 1;
    return pow((double)set / (double)f->geometry.size, f->geometry.hashes) +
           bloom_textbook_extra(&f->geometry, bly_plan_keys(&f->geometry, set));
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

/* Where bit `at` of the large filter goes in the small one. */
static uint64_t bloom_folded_bit(uint64_t at, const bly_filter *from, const bly_filter *to,
                                 uint64_t divisor) {
    switch (bloom_scheme_of(from)) {
    case BLOOM_SPREAD:
        return at / divisor;
    case BLOOM_TEXTBOOK:
        return at % to->geometry.size;
    default:
        return at / from->geometry.size * to->geometry.size + at % from->geometry.size / divisor;
    }
}

static void bloom_fold(const bly_filter *from, uint64_t divisor, bly_filter *to) {
    const uint64_t *source = blyi_words(from);
    uint64_t *target = blyi_words(to), bits = bly_plan_bits(&from->geometry);
    for (uint64_t base = 0; base < bits; base += 64) {
        for (uint64_t w = blyi_le64(source[base >> 6]); w; w &= w - 1) {
            uint64_t at = base + (unsigned)__builtin_ctzll(w);
            if (at >= bits) /* padding, set only in a damaged mapped file */
                break;
            at = bloom_folded_bit(at, from, to, divisor);
            (void)blyi_word_set(target + (at >> 6), (uint64_t)1 << (at & 63));
        }
    }
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static const blyi_ops classic_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_SHARE | BLY_CAN_UNION | BLY_CAN_INTERSECT | BLY_CAN_FOLD |
                    BLY_CAN_OVERLAP | BLY_CAN_MAP,
    .prefetch = bloom_prefetch,
    .prefetch_add_shared = bloom_prefetch_add_shared,
    .add_many = bloom_add_many,
    .add_many_shared = bloom_add_many_shared,
    .contains_many = bloom_contains_many,
    .current_fpr = classic_current_fpr,
    .fold = bloom_fold,
    .prefetch_reads_no_body = true,
};

static const blyi_ops partitioned_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_SHARE | BLY_CAN_UNION | BLY_CAN_INTERSECT | BLY_CAN_FOLD |
                    BLY_CAN_OVERLAP | BLY_CAN_MAP,
    .prefetch = bloom_prefetch,
    .prefetch_add_shared = bloom_prefetch_add_shared,
    .add_many = bloom_add_many,
    .add_many_shared = bloom_add_many_shared,
    .contains_many = bloom_contains_many,
    .current_fpr = partitioned_current_fpr,
    .fold = bloom_fold,
    .prefetch_reads_no_body = true,
};

static void bloom_describe_slices(const bly_geometry *g, const char *grouped, char *out,
                                  size_t room) {
    (void)g; /* not needed: a slice has at least 64 bits, so the text is always in the plural */
    snprintf(out, room, "slices of %s bits", grouped);
}

const blyi_kind blyi_kind_classic = {
    .code = BLY_CLASSIC,
    .name = "classic",
    .meaning = "bits anywhere in one array; small, one cache miss per bit",
    .reason = "the smallest kind to which several threads can add at once, but a lookup reads a "
              "cache line per bit",
    .size_unit = "bit",
    .planner = &classic_planner,
    .ops = &classic_ops,
};

const blyi_kind blyi_kind_partitioned = {
    .code = BLY_PARTITIONED,
    .name = "partitioned",
    .meaning = "one bit in each of several slices; small, one cache miss per bit",
    .reason = "as small as classic, with one of a key's bits in each slice",
    .describe_size = bloom_describe_slices,
    .planner = &partitioned_planner,
    .ops = &partitioned_ops,
};
