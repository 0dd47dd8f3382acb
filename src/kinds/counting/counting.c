/* The counting filter: a Bloom filter with counters instead of bits (Fan, Cao, Almeida and Broder
 * 1998, "Summary Cache").
 *
 * An add raises the k counters of a key by one, a remove lowers them, and a key with a counter of 0
 * is absent. The probe sequence is that of a classic filter (probe_sequence.h, bloom.c), and so are
 * the FPR and the plan: the nonzero counters are the classic filter's set bits.
 *
 * Simple implementations lose keys in two ways. The first is a full counter. It is raised, and
 * wraps or carries into its neighbour; or it is not raised, but lowered later as if its value were
 * exact. Here a full counter is stuck: it never changes again. The second is a key with two equal
 * probes. Here an add raises that counter by one, not two, and a remove lowers it by one. Otherwise
 * removing a non-member with such a probe, whose other counters happen to be nonzero, would lower
 * a counter from 1 to -1.
 *
 * Width. After n keys, the number of times that a counter was raised is binomial with mean
 * l = k n / m, which is ln 2 = 0.69 at the classic optimum and 0.73 at 1%, where k = 7 is a little
 * more than the optimum. For 4 bits, at l = ln 2, from the exact tail:
 *
 *     15 or more   1.64e-15   the counter reaches its limit. This is what matters here: afterwards
 *                             15 cannot be told from more, so the counter is stuck
 *     16 or more   7.07e-17   it would have overflowed. Fan's bound, (e ln 2 / 16)^16 = 1.37e-15,
 *                             is for this case, and 19 times too high
 *     17 or more   2.88e-18   sometimes given for it (and as 3.33e-18), by mistaking 16 for the
 *                             largest number of 4 bits
 *
 * Each probability is for one counter. A filter for 10^9 keys at 1% has 9.6 * 10^9 of them, at l =
 * 0.73, where 15 is reached with probability 3.4e-15: 3.3e-5 are expected to be stuck. That is for
 * distinct keys. Copies raise the same counters repeatedly. In a filter for a million keys at 1%,
 * keys were added five million times by Zipf's law with exponent 0.8, 1.0 or 1.2, and removed as
 * often. This left 3.6%, 1.9% or 0.8% of the counters stuck; of counters of 8 bits, 0.08%, 0.10% or
 * 0.07%. (test_counting.c does the same with a smaller filter.)
 *
 * A filter with 3.6% of its counters stuck and no keys has an FPR of 7e-11. So stuck counters
 * hardly affect answers. But they are lost memory, and slowly become more.
 *
 * Body: the counters one after the other, counter i from bit i * width on, the lowest bit first,
 * without a header. The number of copies is in the file's header. Any body is valid: stuck counters
 * and those that an intersection has left need not agree with any number of copies, so only the
 * padding is checked.
 */
#include "filter/probe_sequence.h"
#include "kinds/counting/counting_layout.h"

#include <bloomery/filter.h>
#include <math.h>
#include <stdio.h>

/* ---- the counters of a key, by their first bits ---------------------------------------------- */

BLYI_COUNTING_INLINE uint64_t counting_read(const uint64_t *words, uint64_t at, uint64_t limit) {
    return blyi_le64(words[at >> 6]) >> (at & 63) & limit;
}

BLYI_COUNTING_INLINE void counting_write(uint64_t *words, uint64_t at, uint64_t limit,
                                         uint64_t value) {
    uint64_t x = blyi_le64(words[at >> 6]) & ~(limit << (at & 63));
    words[at >> 6] = blyi_le64(x | value << (at & 63));
}

/* Some of a key's counters may coincide, and must be raised or lowered only once. So all are read
 * before any is written, and what is written depends only on what was read: the same counter is
 * given the same value twice. That is faster than finding out which coincide. */

/* Raises each of k counters by one, unless it is stuck. Returns whether one of them was 0. */
BLYI_COUNTING_INLINE bool counting_raise(uint64_t *words, const uint64_t *at, unsigned k,
                                         uint64_t limit) {
    uint64_t old[BLYI_COUNTING_MAX_HASHES];
    bool is_new = false;
    for (unsigned j = 0; j < k; j++) {
        old[j] = counting_read(words, at[j], limit);
        is_new |= old[j] == 0;
    }
    for (unsigned j = 0; j < k; j++)
        counting_write(words, at[j], limit, old[j] + (old[j] < limit));
    return is_new;
}

/* Lowers each of k counters by one, unless it is stuck. Returns false, and changes nothing, if one
 * of them is 0. */
BLYI_COUNTING_INLINE bool counting_lower(uint64_t *words, const uint64_t *at, unsigned k,
                                         uint64_t limit) {
    uint64_t old[BLYI_COUNTING_MAX_HASHES];
    bool all = true;
    for (unsigned j = 0; j < k; j++) {
        old[j] = counting_read(words, at[j], limit);
        all &= old[j] != 0;
    }
    for (unsigned j = 0; all && j < k; j++)
        counting_write(words, at[j], limit, old[j] - (old[j] < limit));
    return all;
}

/* Sets at[j] to the first bit of counter j of a key. Some may be equal. */
static inline void counting_probes(const bly_filter *f, bly_hash h,
                                   uint64_t at[BLYI_COUNTING_MAX_HASHES]) {
    blyi_probe_sequence w = blyi_probe_sequence_begin(h);
    for (unsigned j = 0; j < f->geometry.hashes; j++)
        at[j] = blyi_probe_sequence_next(&w, f->geometry.size) * f->geometry.detail;
}

/* ---- lookups --------------------------------------------------------------------------------- */

static void counting_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    const uint64_t m = f->geometry.size;
    const unsigned width = f->geometry.detail;
    for (size_t i = 0; i < n; i++) {
        blyi_probe_sequence w = blyi_probe_sequence_begin(h[i]);
        for (unsigned j = 0; j < f->geometry.hashes; j++)
            blyi_prefetch_to_read(f->body + (blyi_probe_sequence_next(&w, m) * width >> 3));
    }
}

static size_t counting_contains_many(const bly_filter *f, const bly_hash *h, size_t n,
                                     uint8_t *found) {
    const uint64_t *words = blyi_words(f), m = f->geometry.size;
    const unsigned width = f->geometry.detail;
    const uint64_t limit = blyi_counting_limit(width);
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        blyi_probe_sequence w = blyi_probe_sequence_begin(h[i]);
        bool hit = true;
        for (unsigned j = 0; hit && j < f->geometry.hashes; j++)
            hit = counting_read(words, blyi_probe_sequence_next(&w, m) * width, limit) != 0;
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

/* The lowest of the key's counters. */
static uint64_t counting_count_copies(const bly_filter *f, bly_hash h) {
    const uint64_t limit = blyi_counting_limit(f->geometry.detail);
    uint64_t at[BLYI_COUNTING_MAX_HASHES], lowest = limit;
    counting_probes(f, h, at);
    for (unsigned j = 0; j < f->geometry.hashes; j++) {
        uint64_t count = counting_read(blyi_words(f), at[j], limit);
        lowest = count < lowest ? count : lowest;
    }
    return lowest;
}

/* ---- adds and removes ------------------------------------------------------------------------ */

static bly_status counting_try_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                        bly_batch_result *sum) {
    const uint64_t limit = blyi_counting_limit(f->geometry.detail);
    for (size_t i = 0; i < n; i++) {
        uint64_t at[BLYI_COUNTING_MAX_HASHES];
        counting_probes(f, h[i], at);
        bool is_new = counting_raise(blyi_words(f), at, f->geometry.hashes, limit);
        sum->changed += is_new;
        if (added)
            added[i] = is_new;
    }
    sum->done += n;
    f->items = blyi_sum(f->items, n);
    return BLY_OK;
}

static bly_status counting_remove_one(bly_filter *f, bly_hash h, bool *removed) {
    const uint64_t limit = blyi_counting_limit(f->geometry.detail);
    uint64_t at[BLYI_COUNTING_MAX_HASHES];
    counting_probes(f, h, at);
    *removed = counting_lower(blyi_words(f), at, f->geometry.hashes, limit);
    if (*removed)
        blyi_filter_subtract_count(f, 1);
    return BLY_OK;
}

/* ---- the classic filter of the nonzero counters ---------------------------------------------- */

/* Word i of the classic filter: the bits of `width` words of counters, or of fewer at the end.
 * `bits` is the size of the body in bits, without padding. */
static uint64_t counting_classic_word(const bly_filter *f, uint64_t i, uint64_t bits) {
    const unsigned width = f->geometry.detail, per_word = 64 / width;
    uint64_t out = 0;
    for (unsigned j = 0; j < width && i * width + j < blyi_word_count(f); j++) {
        uint64_t used = blyi_counting_nonzero(blyi_counting_word(f, i * width + j, bits), width);
        for (; used; used &= used - 1)
            out |= (uint64_t)1 << (j * per_word + (unsigned)__builtin_ctzll(used) / width);
    }
    return out;
}

bly_status bly_counting_bits(const bly_filter *f, const bly_allocator *a, bly_filter **out) {
    *out = NULL;
    if (f->geometry.kind != BLY_COUNTING)
        return BLY_EUNSUPPORTED;
    blyi_shape shape = blyi_filter_shape(f);
    shape.geometry = blyi_counting_classic(&f->geometry);
    bly_status status = blyi_filter_make(&shape, a, NULL, out);
    if (status)
        return status;
    uint64_t *words = blyi_words(*out), set = 0, used = bly_plan_bits(&f->geometry);
    for (uint64_t i = 0; i < (shape.geometry.size + 63) / 64; i++) {
        uint64_t bits = counting_classic_word(f, i, used);
        set += blyi_popcount64(bits);
        words[i] = blyi_le64(bits);
    }
    /* f counts copies. The number of distinct keys is estimated from the bits. */
    double keys = bly_plan_keys(&shape.geometry, set);
    if (keys < (double)shape.items)
        blyi_filter_set_items(*out, (uint64_t)llround(keys));
    return BLY_OK;
}

/* ---- descriptor ------------------------------------------------------------------------------ */

static const blyi_ops counting_ops = {
    .capabilities = BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_INTERSECT | BLY_CAN_OVERLAP |
                    BLY_CAN_MAP | BLY_CAN_REMOVE | BLY_CAN_SUBTRACT | BLY_CAN_COUNT,
    .prefetch = counting_prefetch,
    .try_add_many = counting_try_add_many,
    .contains_many = counting_contains_many,
    .remove_one = counting_remove_one,
    .count_copies = counting_count_copies,
    .fill_stats = blyi_counting_fill_stats,
    .union_with = blyi_counting_union,
    .intersect_with = blyi_counting_intersect,
    .subtract_from = blyi_counting_subtract,
    .estimate_overlap = blyi_counting_overlap,
    .prefetch_reads_no_body = true,
};

static void counting_describe_rest(const bly_geometry *g, char *out, size_t room) {
    snprintf(out, room, " of %u bits, %u per key", (unsigned)g->detail, (unsigned)g->hashes);
}

const blyi_kind blyi_kind_counting = {
    .code = BLY_COUNTING,
    .name = "counting",
    .meaning = "counters anywhere in one array; keys can be removed, and repeats are counted",
    .reason = "counters instead of classic's bits: keys can be removed, and repeats are counted, "
              "with 4-bit counters up to 15",
    .hashes_name = "counters per key",
    .size_unit = "counter",
    .describe_rest = counting_describe_rest,
    .meets = BLY_NEED_COUNTS,
    .spec_fields = BLYI_SPEC_COUNTERS,
    .planner = &blyi_counting_planner,
    .ops = &counting_ops,
};
