/* The counting filter: a Bloom filter with counters instead of bits (Fan, Cao, Almeida and Broder
 * 1998, "Summary Cache").
 *
 * An add raises the k counters of a key by one, a remove lowers them, and a key one of whose
 * counters is 0 is not there. The places are those of a classic filter (walk.h, bloom.c), and so
 * are the rate and the plan; the counters that are not 0 are its bits.
 *
 * Two things go wrong in simple implementations, and keys are lost. A counter that is full is
 * raised, and wraps, or carries into its neighbour; or it is not raised, but lowered later, as if
 * it knew how far. Here it is stuck for good. And two of a key's k places can be the same: then an
 * add raises that counter by one, not two, and so does a remove, whatever was added (cells.h).
 * Else a stranger with such a place, and luck with the others, would take a 1 down to -1.
 *
 * How wide. A counter after n keys has been raised a binomial number of times, of mean l = k n / m,
 * which is ln 2 = 0.69 at the classic optimum and 0.73 at 1%, where k = 7 is a little more than the
 * optimum. For 4 bits, at l = ln 2, from the exact tail:
 *
 *     15 or more   1.64e-15   the counter reaches its limit: what matters here, since nobody can
 *                             tell afterwards whether it was 15 or more, and it is stuck
 *     16 or more   7.07e-17   it would have overflowed. Fan's bound, (e ln 2 / 16)^16 = 1.37e-15,
 *                             is of this, and 19 times too high
 *     17 or more   2.88e-18   sometimes given for it (and as 3.33e-18), by taking 16 for the
 *                             largest number of 4 bits
 *
 * Each is for one counter. A filter for 10^9 keys at 1% has 9.6 * 10^9 of them, at l = 0.73, where
 * 15 is reached with probability 3.4e-15: 3.3e-5 are expected to be stuck. That is for distinct
 * keys. Copies raise the same counters again and again: with five adds for each key of the
 * capacity, by Zipf's law with exponent 0.8, 1.0 or 1.2, and everything removed, 3.6%, 1.9% or 0.8%
 * of the counters were left stuck (a million keys at 1%; test_counting.c has a smaller such
 * filter); of counters of 8 bits, 0.08%, 0.10% and 0.07%.
 *
 * What is left stuck after everything has been removed is a rate of 7e-11 at 3.6%, so it hardly
 * matters by itself: the memory is lost slowly, not the answers.
 *
 * Body: the counters one after the other, counter i from bit i * width on, the lowest bit first; no
 * heading. The number of copies is in the file's header. A body can hold anything: counters that
 * are stuck, or that an intersection has left, need not agree with any number of copies, so there
 * is nothing to check in it but its padding.
 */
#include "filter/probe_sequence.h"
#include "kinds/counting/counting_cells.h"

#include <bloomery/counting.h>
#include <math.h>
#include <stdio.h>

static void prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    const uint64_t m = f->geometry.size;
    const unsigned width = f->geometry.detail;
    for (size_t i = 0; i < n; i++) {
        blyi_probe_sequence w = blyi_probe_sequence_begin(h[i]);
        for (unsigned j = 0; j < f->geometry.hashes; j++)
            blyi_prefetch_to_read(f->body + (blyi_probe_sequence_next(&w, m) * width >> 3));
    }
}

static size_t contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    const uint64_t *words = blyi_words(f), m = f->geometry.size;
    const unsigned width = f->geometry.detail;
    const uint64_t limit = blyi_counter_limit(width);
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        blyi_probe_sequence w = blyi_probe_sequence_begin(h[i]);
        bool hit = true;
        for (unsigned j = 0; hit && j < f->geometry.hashes; j++)
            hit = blyi_counter_get(words, blyi_probe_sequence_next(&w, m) * width, limit) != 0;
        hits += hit;
        if (found)
            found[i] = hit;
    }
    return hits;
}

/* The counters of a key, by their first bits; the same ones may come twice. */
static inline void counters_of(const bly_filter *f, bly_hash h, uint64_t at[BLYI_MAX_COUNTERS]) {
    blyi_probe_sequence w = blyi_probe_sequence_begin(h);
    for (unsigned j = 0; j < f->geometry.hashes; j++)
        at[j] = blyi_probe_sequence_next(&w, f->geometry.size) * f->geometry.detail;
}

static uint64_t copies(const bly_filter *f, bly_hash h) {
    uint64_t at[BLYI_MAX_COUNTERS];
    counters_of(f, h, at);
    return blyi_counters_lowest(blyi_words(f), at, f->geometry.hashes,
                                blyi_counter_limit(f->geometry.detail));
}

/* ---- changes --------------------------------------------------------------------------------- */

static bly_status put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, bly_tally *sum) {
    const uint64_t limit = blyi_counter_limit(f->geometry.detail);
    for (size_t i = 0; i < n; i++) {
        uint64_t at[BLYI_MAX_COUNTERS];
        counters_of(f, h[i], at);
        bool is_new = blyi_counters_raise(blyi_words(f), at, f->geometry.hashes, limit);
        sum->fresh += is_new;
        if (added)
            added[i] = is_new;
    }
    sum->done += n;
    f->items = blyi_sum(f->items, n);
    return BLY_OK;
}

static bly_status take(bly_filter *f, bly_hash h, bool *removed) {
    const uint64_t limit = blyi_counter_limit(f->geometry.detail);
    uint64_t at[BLYI_MAX_COUNTERS];
    counters_of(f, h, at);
    *removed = blyi_counters_lower(blyi_words(f), at, f->geometry.hashes, limit);
    if (*removed)
        blyi_filter_subtract_count(f, 1);
    return BLY_OK;
}

/* ---- look ------------------------------------------------------------------------------------ */

static double current_rate(const bly_filter *f, double share) {
    return pow(share, f->geometry.hashes);
}

static void stats(const bly_filter *f, bly_stats *out) {
    blyi_counters_stats(f, out, current_rate);
}

/* Word i of the classic filter's bits: those of `width` words of counters, or of as many as there
 * are. */
static uint64_t bits_of_counters(const bly_filter *f, uint64_t i, uint64_t bits) {
    const unsigned width = f->geometry.detail, per = 64 / width;
    uint64_t out = 0;
    for (unsigned j = 0; j < width && i * width + j < blyi_word_count(f); j++) {
        uint64_t used = blyi_counters_used(blyi_counters_word(f, i * width + j, bits), width);
        for (; used; used &= used - 1)
            out |= (uint64_t)1 << (j * per + (unsigned)__builtin_ctzll(used) / width);
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
        uint64_t bits = bits_of_counters(f, i, used);
        set += blyi_popcount64(bits);
        words[i] = blyi_le64(bits);
    }
    /* Copies are not keys; the bits tell how many of these there are. */
    double keys = bly_plan_keys(&shape.geometry, set);
    if (keys < (double)shape.items)
        blyi_filter_set_items(*out, (uint64_t)llround(keys));
    return BLY_OK;
}

static const blyi_ops counting_ops = {
    .capabilities = BLYI_COUNTERS_CAN,
    .prefetch = prefetch,
    .try_add_many = put,
    .contains_many = contains,
    .remove_one = take,
    .count_copies = copies,
    .fill_stats = stats,
    .union_with = blyi_counters_unite,
    .intersect_with = blyi_counters_intersect,
    .subtract_from = blyi_counters_subtract,
    .estimate_overlap = blyi_counters_overlap,
    .prefetch_reads_no_body = true,
};

/* ---- descriptor ------------------------------------------------------------------------------ */

static void counting_describe_rest(const bly_geometry *g, char *out, size_t room) {
    snprintf(out, room, " of %u bits, %u per key", (unsigned)g->detail, (unsigned)g->hashes);
}

const blyi_kind blyi_kind_counting = {
    .code = BLY_COUNTING,
    .name = "counting",
    .meaning = "counters anywhere in one array; keys can be removed, and repeats are counted",
    .reason = "counters of four bits instead of classic's bits: keys can be removed, and repeats "
              "are counted up to 15",
    .hashes_name = "counters per key",
    .size_unit = "counter",
    .describe_rest = counting_describe_rest,
    .meets = BLY_NEED_COUNTS,
    .spec_fields = BLYI_SPEC_COUNTERS,
    .planner = &blyi_counting_planner,
    .ops = &counting_ops,
};
