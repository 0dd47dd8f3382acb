/* rates_support.h - what the programs of rates share: filters filled to their capacity, lookups of
 * absent keys, and the two comparisons.
 *   A  false positives counted against the rate computed from the filter's own bits, within five
 *      sigma of a binomial;
 *   B  that rate, averaged over filters with different seeds, against the plan's prediction,
 *      within five sigma of its own spread.
 * Both are two-sided: a rate that is too low betrays a bad hash as surely as one too high. And the
 * plan's prediction must be within the rate requested. Only for the textbook's probes are these
 * rates upper bounds: there the count may also lie anywhere down to the rate of good probes. */
#ifndef BLYT_RATES_SUPPORT_H
#define BLYT_RATES_SUPPORT_H

#include "support.h"

#include <math.h>

typedef struct outcome {
    double queries, hits; /* counted */
    double expected;      /* hits, from the filters' own bits */
    double variance;      /* of hits around expected */
    double mean, spread;  /* of the filters' own rates, and their standard deviation */
    double predicted;
    unsigned filters;
} outcome;

/* How many lookups show at five sigma that a rate is off by a tenth of p: five sigma of the rate
 * measured are 5 sqrt(p (1 - p) / lookups), and that is p / 10 for 2500 (1 - p) / p. No fewer for
 * the smallest filters, although they are much better than requested: probes of one key that follow
 * from each other show there, in rates that should be next to nothing. */
static inline uint64_t lookups_for(double p) {
    return (uint64_t)(2500 * (1 - p) / p) / BLYT_SLOW + 1;
}

/* Queries absent keys; keys are drawn far from those added. */
static inline double count_hits(const bly_filter *f, blyt_keys set, uint64_t first,
                                uint64_t queries) {
    enum { SOME = 1024 }; /* keys and their hashes stay in the first cache */
    static char bytes[SOME * BLYT_KEY_MAX];
    static bly_bytes keys[SOME];
    double hits = 0;
    for (uint64_t done = 0; done < queries;) {
        char *at = bytes;
        size_t n = 0;
        for (; n < SOME && done < queries; n++, done++) {
            keys[n] = (bly_bytes){at, blyt_key(set, first + done, at)};
            at += keys[n].size;
        }
        hits += (double)bly_filter_contains_many(f, keys, n, NULL);
    }
    return hits;
}

/* What decides the rate: of an overlay from which nothing was removed, its base. */
static inline bly_geometry shape_of(const bly_filter *f) {
    const bly_filter *base = bly_overlay_base(f);
    return bly_filter_geometry(base ? base : f);
}

/* How many keys bring a filter that was made for n to the rate it was made for. One that forgets in
 * bulk is at its fullest when it has kept keys longer than it must; one that forgets gradually
 * comes into balance; which cells it lowers is the same for all of a size, so each is looked at at
 * another time. */
static inline size_t keys_to_rate(const bly_filter *f, size_t n) {
    bly_window_info info;
    if (bly_kind_capabilities(bly_filter_geometry(f).kind) & BLY_IS_LOSSY)
        return 12 * n + 200 + (size_t)(bly_filter_hasher(f)->seed % (8 * n + 100));
    if (bly_window_look(f, &info) != BLY_OK)
        return n;
    return (size_t)(info.generation_keys * (info.generations + 1));
}

/* Keys of a set from 0 on. Made once for all filters of a size. */
static inline void lengthen(blyt_list *l, blyt_keys set, size_t n) {
    if (l->n >= n)
        return;
    blyt_list_free(l);
    *l = blyt_list_of(set, 0, n);
}

static inline bly_filter *full_filter(const bly_spec *base, blyt_keys set, size_t n, uint64_t seed,
                                      blyt_list *l) {
    bly_spec spec = *base;
    spec.seed = seed;
    if (spec.hasher.id != BLY_HASH_NONE && spec.hasher.id != BLY_HASH_SIPHASH)
        assert_ok(bly_hasher_init(&spec.hasher, (bly_hash_id)spec.hasher.id, seed));
    lengthen(l, set, n);
    const blyt_list first = {l->keys, l->bytes, n};
    bly_filter *f = blyt_filled(&spec, &first);
    blyt_holds(f, &first); /* no false negative */
    size_t all = keys_to_rate(f, n);
    lengthen(l, set, all);
    const blyt_list rest = {l->keys + n, l->bytes, all - n};
    if (rest.n > 0)
        blyt_add_all(f, &rest);
    return f;
}

static inline outcome run(const bly_spec *spec, blyt_keys set, size_t n, unsigned filters,
                          uint64_t queries) {
    outcome o = {.filters = filters};
    blyt_list l = {NULL, NULL, 0};
    double squares = 0;
    for (unsigned i = 0; i < filters; i++) {
        bly_filter *f = full_filter(spec, set, n, i * 7919 + n, &l);
        bly_geometry g = shape_of(f);
        bly_stats s;
        bly_filter_stats(f, &s);
        bool lossy = bly_kind_capabilities(g.kind) & BLY_IS_LOSSY;
        uint64_t each = queries / filters + 1;
        o.predicted = bly_plan_fpr(&g, lossy ? keys_to_rate(f, n) : n, bly_filter_hasher(f)->bits);
        o.hits += count_hits(f, set, 1u << 24, each);
        o.queries += (double)each;
        o.expected += s.current_fpr * (double)each;
        o.variance += s.current_fpr * (1 - s.current_fpr) * (double)each;
        o.mean += s.current_fpr / filters;
        squares += s.current_fpr * s.current_fpr / filters;
        bly_filter_destroy(f);
    }
    blyt_list_free(&l);
    o.spread = sqrt(fmax(0, squares - o.mean * o.mean));
    return o;
}

/* Relative standard deviation between filters, where one filter must speak for all (n large). */
static inline double known_spread(const bly_geometry *g) {
    double size = (double)g->size, k = g->hashes;
    if (g->kind == BLY_CLASSIC || g->kind == BLY_PARTITIONED)
        return sqrt(0.307 * k * k / (double)bly_plan_bits(g));
    if (g->kind == BLY_COUNTING)
        return sqrt(0.307 * k * k / size);
    return sqrt(7 / size);
}

/* The formulas are of second order: exact for large filters, to 2% for a handful of keys. What
 * forgets gradually is never quite at rest. */
static inline double formula_room(const bly_geometry *g, size_t n) {
    if (bly_kind_capabilities(g->kind) & BLY_IS_LOSSY)
        return n < 1000 ? 0.2 : 3e-2;
    return n < 10 ? 2e-2 : 5e-3;
}

static inline void judge(const char *name, const outcome *o, const bly_geometry *g, size_t n,
                         double p) {
    double room_a = 5 * sqrt(o->variance) + 4; /* + 4: counts of a few are not normal */
    double spread = o->filters > 1 ? o->spread / sqrt(o->filters) : known_spread(g) * o->predicted;
    double room_b = 5 * spread + formula_room(g, n) * o->predicted;
    bly_geometry plain = *g;
    plain.options &= ~(uint32_t)BLY_TEXTBOOK;
    double least =
        g->options & BLY_TEXTBOOK ? bly_plan_fpr(&plain, n, 64) * o->queries : o->expected;
    bool a = o->hits <= o->expected + room_a && o->hits >= least - room_a;
    bool b = o->predicted < 1e-9 || fabs(o->mean - o->predicted) <= room_b;
    if (!a || !b || getenv("BLYT_VERBOSE"))
        print_message("%-17s n=%-8zu p=%-7g k=%-2u hits %.0f, expected %.1f +- %.1f; rate %.4g, "
                      "predicted %.4g +- %.2g%s%s\n",
                      name, n, p, g->hashes, o->hits, o->expected, room_a, o->mean, o->predicted,
                      room_b, a ? "" : "  COUNT OFF", b ? "" : "  RATE OFF");
    assert_true(a);
    assert_true(b);
}

/* Whether there is a rate to be measured: what only counts has an error instead, and what grows
 * has a test of its own. */
static inline bool has_rate(const blyt_case *c) {
    return !blyt_can(c, BLY_ONLY_COUNTS) && (blyt_plans(c) || c->kind == BLY_OVERLAY);
}

static inline void one_size(const blyt_case *c, size_t n, double p) {
    if (blyt_can(c, BLY_IS_LOSSY) && n > 30000)
        n = 30000; /* it takes twelve times as many to come into balance */
    bly_spec spec = blyt_spec(c, n, p);
    bly_geometry g;
    if (c->counter_bits) {
        assert_ok(bly_counting_plan(c->kind, n, p, c->counter_bits, 64, &g));
    } else if (blyt_plans(c)) {
        assert_ok(bly_plan(c->kind, n, p, c->options, 64, &g));
    } else {
        bly_filter *f = blyt_create(c, n, p, 0);
        g = shape_of(f);
        bly_filter_destroy(f);
    }
    assert_true(bly_plan_fpr(&g, n, 64) <= p);
    unsigned filters = n <= 1000 ? 200 : n <= 10000 ? 50 : 1;
    outcome o = run(&spec, n % 3 ? KEYS_RANDOM : KEYS_URL, n, filters / (BLYT_SLOW > 1 ? 2 : 1) + 1,
                    lookups_for(p));
    o.filters = o.filters < 20 ? 1 : o.filters;
    judge(c->name, &o, &g, n, p);
}

/* ---- which kinds at which sizes and rates ---------------------------------------------------- */

/* The kinds that count are tried at fewer sizes, to save time, and counting filters of other
 * widths, whose counters are the same but for that, at one rate; but all at a larger size too where
 * there is plenty (BLOOMERY_LONG in the environment). */
static inline bool is_tried(const blyt_case *c, size_t n, double p) {
    bool plenty = getenv("BLOOMERY_LONG") != NULL;
    bool counts = blyt_can(c, BLY_TELLS_COPIES) && !blyt_has_slots(c);
    if (!has_rate(c) || p < c->finest || (BLYT_SLOW > 1 && n >= 1000000))
        return false;
    if (n == 10000000)
        return plenty && p <= 0.01 && !blyt_can(c, BLY_IS_LOSSY);
    if (c->kind == BLY_COUNTING && c->counter_bits && !plenty && p != 0.01)
        return false;
    if (counts || c->kind == BLY_OVERLAY)
        return (n == 1000 || n == 100000) && p <= 0.01;
    return n != 100000 || (p == 0.01 && !blyt_can(c, BLY_IS_LOSSY));
}

/* In which program: the others take more lookups, or more keys. */
typedef enum part { PART_QUICK, PART_LOW, PART_LARGE } part;

static inline part part_of(size_t n, double p) {
    if ((p >= 0.01 && n <= 100000) || (p == 0.001 && (n == 1 || n == 1000)))
        return PART_QUICK;
    return p < 0.001 && n < 1000000 ? PART_LOW : PART_LARGE;
}

static inline void every_size(part which) {
    static const size_t sizes[] = {1, 2, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    static const double rates[] = {0.05, 0.01, 0.001, 0.0001};
    FOR_EACH_CASE(c)
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (size_t j = 0; j < COUNT_OF(rates); j++)
            if (part_of(sizes[i], rates[j]) == which && is_tried(c, sizes[i], rates[j]))
                one_size(c, sizes[i], rates[j]);
}

/* Kinds that choose their shape by the rate. */
static inline void rate_between(double p) {
    FOR_EACH_CASE(c)
    if (blyt_plans(c) && has_rate(c) && !blyt_sets_bits(c) && !c->counter_bits)
        one_size(c, 3000, p);
}

/* ---- filters that grow ----------------------------------------------------------------------- */

/* A filter of n keys that counted as new. */
static inline bly_filter *grown(const bly_spec *spec, uint64_t n) {
    bly_filter *f = NULL;
    assert_ok(bly_filter_create(spec, &f));
    for (uint64_t next = 0; bly_filter_count(f) < n;) {
        uint64_t missing = n - bly_filter_count(f);
        blyt_list l = blyt_list_of(KEYS_RANDOM, next, missing < 65536 ? (size_t)missing : 65536);
        blyt_add_all(f, &l);
        next += l.n;
        blyt_list_free(&l);
    }
    return f;
}

/* A filter that grew `doublings` times, from `first` keys until its last level is full: its rate as
 * counted and as its bits say, and what its levels were made for. */
static inline void grow_and_judge(uint64_t first, unsigned doublings, double p, double share) {
    uint64_t n = first * ((2u << doublings) - 1);
    unsigned filters = n <= 1000 ? 100 : n <= 20000 ? 10 : 1;
    uint64_t queries = (uint64_t)(1000 / p) / filters / BLYT_SLOW + 1;
    double hits = 0, expected = 0, variance = 0, mean = 0, planned = 0, made_for = 0, spread = 0;
    for (unsigned seed = 1; seed <= filters; seed++) {
        bly_spec spec = bly_spec_for(BLY_SCALABLE, first, p);
        bly_stats s;
        spec.first_share = share;
        spec.seed = seed;
        bly_filter *f = grown(&spec, n);
        assert_int_equal(bly_filter_levels(f), doublings + 1);
        for (size_t i = 0; i < bly_filter_levels(f); i++) {
            const bly_filter *level = bly_filter_level(f, i);
            bly_geometry g = bly_filter_geometry(level);
            double rate = bly_plan_fpr(&g, bly_filter_count(level), 64);
            planned += rate / filters;
            spread += pow(rate * known_spread(&g) / filters, 2);
            bly_filter_stats(level, &s);
            made_for += s.target_fpr / filters;
        }
        bly_filter_stats(f, &s);
        hits += count_hits(f, KEYS_RANDOM, (uint64_t)1 << 40, queries);
        expected += s.current_fpr * (double)queries;
        variance += s.current_fpr * (1 - s.current_fpr) * (double)queries;
        mean += s.current_fpr / filters;
        bly_filter_destroy(f);
    }
    bool counted = fabs(hits - expected) <= 5 * sqrt(variance) + 4;
    bool asked = made_for < p && planned <= made_for * (1 + 1e-9);
    bool near = fabs(mean - planned) <= 5 * sqrt(spread) + 5e-3 * planned;
    /* A line is the least a level takes: for twenty keys more than the rate asks for. */
    if (first >= 1000)
        near = near && mean < p && mean > p / 20;
    if (!counted || !asked || !near || getenv("BLYT_VERBOSE"))
        print_message(
            "scalable from %llu, %u doublings, p=%g: hits %.0f, expected %.1f; rate %.4g, "
            "planned %.4g, made for %.4g\n",
            (unsigned long long)first, doublings, p, hits, expected, mean, planned, made_for);
    assert_true(counted && asked && near);
}

#endif
