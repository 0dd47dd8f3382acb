/* The blocked counting filter: all counters of a key in one line.
 *
 * A counting filter (counting.c) with the locality of a blocked Bloom filter (Putze, Sanders and
 * Singler 2007): a key's line is chosen by lo, and its k counters among the line's 512 / width by
 * hi. So a query, an add and a remove cost one cache miss each, instead of k. Lines fill unevenly,
 * and the fewer counters they have the more so: with 4 bits it costs 13% more space at 1%, a third
 * at 0.1% and 60% at 0.01% (plan_counting.c has the table, and the exact rate).
 *
 * The line is mulhi(lo, lines). The counters are slices of hi, 8, 7, 6 or 5 bits each for counters
 * of 2, 4, 8 or 16 bits, from the top, as many as fit; then of w = w * LCG, w ^= w >> 32, and so
 * on, as in bb2x512 (masks.h). There is no multiplication for up to 8, 9, 10 or 12 of them. Some
 * may be the same (cells.h); drawing k different ones would save 1% of the space at 1% and 2.5% at
 * 0.01%, but then every query would have to find out which of its slices are.
 *
 * Queries are batched as those of blocked Bloom filters (stream.c). Nanoseconds of CPU time for a
 * key, in batches of ten million keys of 8 bytes, hashing included, at 1% with 4 bits, on an EPYC
 * core that others used too: add 38, query 20, remove 45. A counting filter: 166, 113 (83 for a
 * stranger), 159.
 *
 * Body: the lines, 64 bytes each, counter i of a line from its bit i * width on.
 */
#include "kinds/counting/counting_cells.h"
#include "simd/masks.h"

#include <bloomery/counting.h>
#include <math.h>

#define INLINE static inline __attribute__((always_inline))

enum { LINE_SHIFT = 6, LINE_WORDS = 8 };

static inline uint64_t *line_of(const bly_filter *f, bly_hash h) {
    return blyi_words(f) + blyi_mulhi(h.lo, f->geometry.size) * LINE_WORDS;
}

/* ---- which counters of its line a key has ---------------------------------------------------- */

typedef struct slices {
    uint64_t word, rest; /* the word that slices are taken from, and what is left of it */
    unsigned left;       /* slices in that */
} slices;

INLINE slices slices_of(uint64_t bits, unsigned width) {
    return (slices){bits, bits, 64 / blyi_line_slice(width)};
}

/* The next one, by its first bit. */
INLINE uint64_t next_counter(slices *s, unsigned width) {
    const unsigned slice = blyi_line_slice(width);
    if (s->left == 0) {
        s->word = blyi_split_more(s->word);
        s->rest = s->word;
        s->left = 64 / slice;
    }
    uint64_t at = (s->rest >> (64 - slice)) * width;
    s->rest <<= slice;
    s->left--;
    return at;
}

/* ---- queries --------------------------------------------------------------------------------- */

INLINE bool has(const void *line, uint64_t bits, unsigned k, unsigned width) {
    const uint64_t *words = line;
    bool all = true;
    slices s = slices_of(bits, width);
    for (unsigned j = 0; j < k; j++)
        all &= blyi_counter_get(words, next_counter(&s, width), blyi_counter_limit(width)) != 0;
    return all;
}

INLINE size_t probe(const uint8_t *lines, const blyi_block_probe *s, size_t n, unsigned k,
                    uint8_t *out, unsigned width) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hit = has(lines + s[i].at, s[i].bits, k, width);
        hits += hit;
        if (out)
            out[i] = hit;
    }
    return hits;
}

/* One copy for each width, so that every shift is by a constant. */
#define FOR_WIDTH(width)                                                                           \
    static bool has_##width(const void *line, uint64_t bits, unsigned k) {                         \
        return has(line, bits, k, width);                                                          \
    }                                                                                              \
    static size_t probe_##width(const void *lines, const blyi_block_probe *s, size_t n,            \
                                unsigned k, uint8_t *out) {                                        \
        return probe(lines, s, n, k, out, width);                                                  \
    }
FOR_WIDTH(2)
FOR_WIDTH(4)
FOR_WIDTH(8)
FOR_WIDTH(16)

static void choose(bly_filter *f) {
    switch (f->geometry.detail) {
    case 2:
        f->contains_block = has_2;
        f->contains_blocks = probe_2;
        break;
    case 4:
        f->contains_block = has_4;
        f->contains_blocks = probe_4;
        break;
    case 8:
        f->contains_block = has_8;
        f->contains_blocks = probe_8;
        break;
    default:
        f->contains_block = has_16;
        f->contains_blocks = probe_16;
    }
}

static void prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    for (size_t i = 0; i < n; i++)
        blyi_prefetch_to_read(line_of(f, h[i]));
}

/* ---- changes, and how many copies ------------------------------------------------------------ */

/* The counters of a key in its line, by their first bits; the same ones may come twice. */
INLINE void counters_of(bly_hash h, unsigned k, unsigned width, uint64_t at[BLYI_MAX_IN_LINE]) {
    slices s = slices_of(h.hi, width);
    for (unsigned j = 0; j < k; j++)
        at[j] = next_counter(&s, width);
}

static uint64_t copies(const bly_filter *f, bly_hash h) {
    const unsigned width = f->geometry.detail, k = f->geometry.hashes;
    uint64_t at[BLYI_MAX_IN_LINE];
    counters_of(h, k, width, at);
    return blyi_counters_lowest(line_of(f, h), at, k, blyi_counter_limit(width));
}

INLINE size_t add_by(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, unsigned width) {
    const unsigned k = f->geometry.hashes;
    size_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t at[BLYI_MAX_IN_LINE];
        counters_of(h[i], k, width, at);
        bool is_new = blyi_counters_raise(line_of(f, h[i]), at, k, blyi_counter_limit(width));
        fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    return fresh;
}

static bly_status put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, bly_tally *sum) {
    switch (f->geometry.detail) {
    case 2:
        sum->fresh += add_by(f, h, n, added, 2);
        break;
    case 4:
        sum->fresh += add_by(f, h, n, added, 4);
        break;
    case 8:
        sum->fresh += add_by(f, h, n, added, 8);
        break;
    default:
        sum->fresh += add_by(f, h, n, added, 16);
    }
    sum->done += n;
    f->items = blyi_sum(f->items, n);
    return BLY_OK;
}

INLINE bool take_by(bly_filter *f, bly_hash h, unsigned width) {
    const unsigned k = f->geometry.hashes;
    uint64_t at[BLYI_MAX_IN_LINE];
    counters_of(h, k, width, at);
    return blyi_counters_lower(line_of(f, h), at, k, blyi_counter_limit(width));
}

static bly_status take(bly_filter *f, bly_hash h, bool *removed) {
    switch (f->geometry.detail) {
    case 2:
        *removed = take_by(f, h, 2);
        break;
    case 4:
        *removed = take_by(f, h, 4);
        break;
    case 8:
        *removed = take_by(f, h, 8);
        break;
    default:
        *removed = take_by(f, h, 16);
    }
    if (*removed)
        blyi_filter_subtract_count(f, 1);
    return BLY_OK;
}

/* ---- look ------------------------------------------------------------------------------------ */

/* The mean over lines: a stranger's k places are drawn as a key's are. */
static double current_rate(const bly_filter *f, double share) {
    const uint64_t *words = blyi_words(f);
    const double cells = blyi_line_cells(&f->geometry);
    double sum = 0;
    (void)share;
    for (uint64_t line = 0; line < f->geometry.size; line++) {
        unsigned used = 0;
        for (unsigned i = 0; i < LINE_WORDS; i++, words++)
            used += blyi_popcount64(blyi_counters_used(blyi_le64(*words), f->geometry.detail));
        sum += pow(used / cells, f->geometry.hashes);
    }
    return sum / (double)f->geometry.size;
}

static void stats(const bly_filter *f, bly_stats *out) {
    blyi_counters_stats(f, out, current_rate);
}

const blyi_ops blyi_blocked_counting_ops = {
    .kind = BLY_BLOCKED_COUNTING,
    .capabilities = BLYI_COUNTERS_CAN,
    .block_shift = LINE_SHIFT,
    .select_kernels = choose,
    .prefetch = prefetch,
    .try_add_many = put,
    .contains_many = blyi_blocks_contain_many,
    .remove_one = take,
    .count_copies = copies,
    .fill_stats = stats,
    .union_with = blyi_counters_unite,
    .intersect_with = blyi_counters_intersect,
    .subtract_from = blyi_counters_subtract,
    .estimate_overlap = blyi_counters_overlap,
};
