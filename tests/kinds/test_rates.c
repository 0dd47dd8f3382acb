/* The measured rate is the requested rate. Filters are filled to their capacity, and non-members
 * are looked up. There are two comparisons:
 *   A  false positives counted against the rate computed from the filter's own bits, within five
 *      sigma of a binomial;
 *   B  that rate, averaged over filters with different seeds, against the plan's prediction,
 *      within five sigma of its own spread.
 * Both are two-sided, since a rate that is too low also shows a bad hash. The plan's prediction
 * must be within the requested rate. For the textbook's probes these rates are only upper bounds:
 * there the count may be anywhere down to the rate of good probes.
 *
 * The cases are in groups, each a test of its own, because some take long:
 *     test_rates           each kind and probe, sizes from 1 to 100,000 keys
 *     test_rates shapes    every k, rates between the round ones, every hash, and levels
 *     test_rates low       rates down to 0.0001, which take many lookups
 *     test_rates large     a million keys or, with BLOOMERY_LONG in the environment, ten millions
 */
#include "support.h"

#include <math.h>

typedef struct outcome {
    double queries, hits; /* lookups of non-members, and those found */
    double expected;      /* false positives expected from the filters' own bits */
    double variance;      /* of hits around expected */
    double mean, spread;  /* of the filters' own rates, and their standard deviation */
    double predicted;
    unsigned filters;
} outcome;

/* Returns the number of lookups that detect at five sigma that a rate is off by a tenth of p: five
 * sigma of the measured rate are 5 sqrt(p (1 - p) / lookups), which is p / 10 for 2500 (1 - p) / p
 * lookups. The smallest filters get as many, although their rates are much lower than requested and
 * should be close to 0: there, dependent probes would show. */
static uint64_t lookups_for(double p) {
    return (uint64_t)(2500 * (1 - p) / p) / BLYT_SLOW + 1;
}

/* Looks up non-members and returns the number of hits. They are drawn far from the added keys. */
static double count_hits(const bly_filter *f, blyt_keys set, uint64_t first, uint64_t queries) {
    enum { SOME = 1024 }; /* keys and their hashes fit the L1 cache */
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

/* Returns the geometry that determines the rate: for an overlay without removed keys, that of its
 * base. */
static bly_geometry shape_of(const bly_filter *f) {
    const bly_filter *base = bly_overlay_base(f);
    return bly_filter_geometry(base ? base : f);
}

/* Returns the number of keys after which a filter for n keys has its requested rate. For a window
 * these are more than n: it is fullest when it still has older keys than it must keep. */
static size_t keys_to_rate(const bly_filter *f, size_t n) {
    bly_window_info info = {.struct_size = sizeof info};
    if (bly_window_get_info(f, &info) != BLY_OK)
        return n;
    return (size_t)(info.generation_keys * (info.generations + 1));
}

/* Makes the list contain at least the first n keys of a set. One list is used for all filters of a
 * size. */
static void lengthen(blyt_list *l, blyt_keys set, size_t n) {
    if (l->n >= n)
        return;
    blyt_list_free(l);
    *l = blyt_list_of(set, 0, n);
}

static bly_filter *full_filter(const bly_spec *base, blyt_keys set, size_t n, uint64_t seed,
                               blyt_list *l) {
    bly_spec spec = *base;
    spec.seed = seed;
    if (spec.hasher.id != BLY_HASH_NONE && spec.hasher.id != BLY_HASH_SIPHASH)
        assert_ok(bly_hasher_init(&spec.hasher, (bly_hash_id)spec.hasher.id, seed));
    lengthen(l, set, n);
    const blyt_list first = {l->keys, l->bytes, n};
    bly_filter *f = blyt_filled(&spec, &first);
    blyt_assert_contains(f, &first); /* no false negative */
    size_t all = keys_to_rate(f, n);
    lengthen(l, set, all);
    const blyt_list rest = {l->keys + n, l->bytes, all - n};
    if (rest.n > 0)
        blyt_add_all(f, &rest);
    return f;
}

static outcome run(const bly_spec *spec, blyt_keys set, size_t n, unsigned filters,
                   uint64_t queries) {
    outcome o = {.filters = filters};
    blyt_list l = {NULL, NULL, 0};
    double squares = 0;
    for (unsigned i = 0; i < filters; i++) {
        bly_filter *f = full_filter(spec, set, n, i * 7919 + n, &l);
        bly_geometry g = shape_of(f);
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(f, &s);
        uint64_t each = queries / filters + 1;
        o.predicted = bly_plan_fpr(&g, n, bly_filter_hasher(f)->bits);
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

/* Returns the relative standard deviation of the rate between filters. It is used for large n, for
 * which only one filter is measured. */
static double known_spread(const bly_geometry *g) {
    double size = (double)g->size, k = g->hashes;
    if (g->kind == BLY_CLASSIC || g->kind == BLY_PARTITIONED)
        return sqrt(0.307 * k * k / (double)bly_plan_bits(g));
    if (g->kind == BLY_COUNTING)
        return sqrt(0.307 * k * k / size);
    return sqrt(7 / size);
}

/* Returns the tolerance for the plan's formulas, which are of second order: nearly exact for large
 * filters, within 2% for a few keys. */
static double formula_room(size_t n) {
    return n < 10 ? 2e-2 : 5e-3;
}

static void judge(const char *name, const outcome *o, const bly_geometry *g, size_t n, double p) {
    double room_a = 5 * sqrt(o->variance) + 4; /* + 4: counts of a few are not normal */
    double spread = o->filters > 1 ? o->spread / sqrt(o->filters) : known_spread(g) * o->predicted;
    double room_b = 5 * spread + formula_room(n) * o->predicted;
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

/* Whether the kind has a rate to measure here. Kinds that only count have an error instead, and
 * kinds that grow have their own tests. */
static bool has_rate(const blyt_case *c) {
    return !blyt_can(c, BLY_CARDINALITY_ONLY) && (blyt_plans(c) || c->kind == BLY_OVERLAY);
}

static void one_size(const blyt_case *c, size_t n, double p) {
    bly_spec spec = blyt_spec(c, n, p);
    bly_geometry g;
    if (c->counter_bits) {
        assert_ok(bly_plan_counting(n, p, c->counter_bits, 64, &g));
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

/* Whether a kind is tested at this size and rate. To save time, kinds that count copies are tested
 * at fewer sizes, and counter widths other than the default at one rate only. With BLOOMERY_LONG in
 * the environment, all are tested at a larger size, too. */
static bool is_tried(const blyt_case *c, size_t n, double p) {
    bool plenty = blyt_long();
    bool counts = blyt_can(c, BLY_CAN_COUNT) && !blyt_can(c, BLY_LIMITS_COPIES);
    if (!has_rate(c) || p < c->finest || (BLYT_SLOW > 1 && n >= 1000000))
        return false;
    if (n == 10000000)
        return plenty && p <= 0.01;
    if (c->kind == BLY_COUNTING && c->counter_bits && !plenty && p != 0.01)
        return false;
    if (counts || c->kind == BLY_OVERLAY)
        return (n == 1000 || n == 100000) && p <= 0.01;
    return n != 100000 || p == 0.01;
}

/* The group (see main) that tests a size at a rate. The second group needs more lookups, the third
 * more keys. */
typedef enum part { PART_QUICK, PART_LOW, PART_LARGE } part;

static part part_of(size_t n, double p) {
    if ((p >= 0.01 && n <= 100000) || (p == 0.001 && (n == 1 || n == 1000)))
        return PART_QUICK;
    return p < 0.001 && n < 1000000 ? PART_LOW : PART_LARGE;
}

static void every_size(part which) {
    static const size_t sizes[] = {1, 2, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    static const double rates[] = {0.05, 0.01, 0.001, 0.0001};
    FOR_EACH_CASE(c)
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (size_t j = 0; j < COUNT_OF(rates); j++)
            if (part_of(sizes[i], rates[j]) == which && is_tried(c, sizes[i], rates[j]))
                one_size(c, sizes[i], rates[j]);
}

/* Tests a rate for all kinds that choose their shape by the rate. */
static void rate_between(double p) {
    FOR_EACH_CASE(c)
    if (blyt_plans(c) && has_rate(c) && !blyt_sets_bits(c) && !c->counter_bits)
        one_size(c, 3000, p);
}

/* ---- filters that grow ----------------------------------------------------------------------- */

/* Returns a filter to which keys were added until n of them were reported as new. */
static bly_filter *grown(const bly_spec *spec, uint64_t n) {
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

/* Grows a filter `doublings` times, from `first` keys until its last level is full. Judges the
 * measured rate, the rate computed from the bits, and the planned rates of the levels. */
static void grow_and_judge(uint64_t first, unsigned doublings, double p, double share) {
    uint64_t n = first * ((2u << doublings) - 1);
    unsigned filters = n <= 1000 ? 100 : n <= 20000 ? 10 : 1;
    uint64_t queries = (uint64_t)(1000 / p) / filters / BLYT_SLOW + 1;
    double hits = 0, expected = 0, variance = 0, mean = 0, planned = 0, made_for = 0, spread = 0;
    for (unsigned seed = 1; seed <= filters; seed++) {
        bly_spec spec = bly_spec_for(BLY_SCALABLE, first, p);
        bly_filter_info s = {.struct_size = sizeof s};
        spec.scalable.first_share = share;
        spec.seed = seed;
        bly_filter *f = grown(&spec, n);
        assert_int_equal(bly_filter_level_count(f), doublings + 1);
        for (size_t i = 0; i < bly_filter_level_count(f); i++) {
            const bly_filter *level = bly_filter_level(f, i);
            bly_geometry g = bly_filter_geometry(level);
            double rate = bly_plan_fpr(&g, bly_filter_count(level), 64);
            planned += rate / filters;
            spread += pow(rate * known_spread(&g) / filters, 2);
            bly_filter_get_info(level, &s);
            made_for += s.requested_fpr / filters;
        }
        bly_filter_get_info(f, &s);
        hits += count_hits(f, KEYS_RANDOM, (uint64_t)1 << 40, queries);
        expected += s.current_fpr * (double)queries;
        variance += s.current_fpr * (1 - s.current_fpr) * (double)queries;
        mean += s.current_fpr / filters;
        bly_filter_destroy(f);
    }
    bool counted = fabs(hits - expected) <= 5 * sqrt(variance) + 4;
    bool asked = made_for < p && planned <= made_for * (1 + 1e-9);
    bool near = fabs(mean - planned) <= 5 * sqrt(spread) + 5e-3 * planned;
    /* With 20 keys the rate is much lower: a level has at least one line, which is more than these
     * keys need. */
    if (first >= 1000)
        near = near && mean < p && mean > p / 20;
    if (!counted || !asked || !near || getenv("BLYT_VERBOSE"))
        print_message(
            "scalable from %llu, %u doublings, p=%g: hits %.0f, expected %.1f; rate %.4g, "
            "planned %.4g, made for %.4g\n",
            (unsigned long long)first, doublings, p, hits, expected, mean, planned, made_for);
    assert_true(counted && asked && near);
}

/* ---- every size ------------------------------------------------------------------------------ */

static void rates_at_every_size(void **state) {
    (void)state;
    every_size(PART_QUICK);
}

/* At capacity, filters have the designed number of bits per key, to within 1%. */
static void bits_per_key_at_capacity(void **state) {
    static const struct {
        bly_kind kind;
        double p, bits;
    } table[] = {
        {BLY_CLASSIC, 0.01, 9.593},     {BLY_CLASSIC, 0.001, 14.378},
        {BLY_CLASSIC, 0.0001, 19.173},  {BLY_CLASSIC, 1e-6, 28.755},
        {BLY_PARTITIONED, 0.01, 9.593}, {BLY_SBBF, 0.05, 7.23},
        {BLY_SBBF, 0.02, 9.02},         {BLY_SBBF, 0.01, 10.53},
        {BLY_SBBF, 0.004, 12.78},       {BLY_SBBF, 0.001, 16.89},
        {BLY_SBBF, 0.0005, 19.34},      {BLY_SBBF, 0.0001, 26.34},
        {BLY_SBBF, 1e-5, 40.99},        {BLY_SPLIT512, 0.01, 10.10},
        {BLY_SPLIT512, 0.001, 15.72},   {BLY_SPLIT512, 0.0001, 22.10},
        {BLY_SPLIT512, 1e-5, 29.9},     {BLY_BB2X512, 0.05, 6.26},
        {BLY_BB2X512, 0.02, 8.19},      {BLY_BB2X512, 0.01, 9.67},
        {BLY_BB2X512, 0.004, 11.61},    {BLY_BB2X512, 0.001, 14.63},
        {BLY_BB2X512, 0.0005, 16.18},   {BLY_BB2X512, 0.0001, 19.84},
        {BLY_BB2X512, 1e-5, 25.27},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        bly_geometry g;
        assert_ok(bly_plan(table[i].kind, 1000000, table[i].p, 0, 64, &g));
        double bits = (double)bly_plan_bits(&g) / 1e6;
        assert_true(fabs(bits / table[i].bits - 1) < 0.01);
    }
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Tests exact geometries, for every k of every layout, not only those that plans choose. */
static void rates_of_every_k(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        for (uint32_t k = 1; k <= 16 && blyt_plans(c) && blyt_sets_bits(c); k++) {
            bly_spec spec = blyt_spec(c, 3000, 0);
            bly_geometry *g = &spec.geometry;
            *g = (bly_geometry){c->kind, k, 1, c->options, 0};
            g->size = c->kind == BLY_PARTITIONED ? 64 : c->kind == BLY_CLASSIC ? 512 : 1;
            if (bly_plan_check(g) != BLY_OK)
                continue;
            while (bly_plan_bits(g) < 30000)
                g->size += g->kind == BLY_PARTITIONED ? 64 : g->kind == BLY_CLASSIC ? 577 : 1;
            double q = bly_plan_fpr(g, 3000, 64);
            outcome o = run(&spec, KEYS_RANDOM, 3000, 60, lookups_for(q));
            judge(c->name, &o, g, 3000, 0);
        }
    }
}

/* Kinds whose keys do not set random bits choose their shape by the rate, so they are tested at
 * rates between the usual ones. */
static void rates_between(void **state) {
    static const double rates[] = {0.4, 0.24, 0.11, 0.03, 0.006};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        rate_between(rates[i]);
}

/* Returns a case that can be planned. Successive n cycle through all of them. */
static const blyt_case *nth_planned(size_t n) {
    size_t planned = 0;
    FOR_EACH_CASE(c)
    planned += blyt_plans(c) && has_rate(c) && !c->counter_bits;
    n %= planned ? planned : 1;
    FOR_EACH_CASE(c)
    if (blyt_plans(c) && has_rate(c) && !c->counter_bits && n-- == 0)
        return c;
    return NULL;
}

/* Tests every hash with every set of keys: the rate must not depend on what keys look like. */
static void rates_of_every_hash(void **state) {
    static const uint8_t key[16] = "sixteen bytes ok";
    (void)state;
    for (int id = 1; id <= BLY_HASH_SIPHASH; id++) {
        if (!bly_hash_available((bly_hash_id)id))
            continue;
        for (int set = 0; set < KEYS_SETS; set++) {
            const blyt_case *c = nth_planned((size_t)(id + set));
            if (!c)
                skip(); /* BLYT_ONLY names no such case */
            bly_spec spec = blyt_spec(c, 20000, 0.01);
            bly_geometry g;
            if (id == BLY_HASH_SIPHASH)
                assert_ok(bly_hasher_keyed(&spec.hasher, key));
            else
                assert_ok(bly_hasher_init(&spec.hasher, (bly_hash_id)id, 0));
            assert_ok(bly_plan(c->kind, 20000, 0.01, c->options, spec.hasher.bits, &g));
            outcome o = run(&spec, (blyt_keys)set, 20000, 1, lookups_for(0.01));
            judge(bly_hash_name((bly_hash_id)id), &o, &g, 20000, 0.01);
        }
    }
}

/* rates_of_filters_that_grew_far tests a lower rate, and more levels. */
static void rates_of_growing_filters(void **state) {
    static const double rates[] = {0.05, 0.01, 0.001};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        for (unsigned doublings = 0; doublings <= 5; doublings += 5) {
            grow_and_judge(1000, doublings, rates[i], 0);
            grow_and_judge(1000, doublings, rates[i], 0.8);
            grow_and_judge(20, doublings, rates[i], 0);
        }
}

/* A hash of 32 bits is too weak for a million keys at 1e-4. It is refused or, if allowed, the
 * filter reports its real rate. */
static void weak_hashes_are_counted(void **state) {
    bly_spec spec = bly_spec_for(BLY_SBBF, 1000000, 0.0001);
    bly_filter *f = NULL;
    blyt_list l = {NULL, NULL, 0};
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    assert_ok(bly_hasher_init(&spec.hasher, BLY_HASH_FNV1A_32, 0));
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EWEAKHASH);
    assert_null(f);
    spec.allow_weak_hash = true;
    f = full_filter(&spec, KEYS_RANDOM, 1000000, 0, &l);
    blyt_list_free(&l);
    bly_filter_get_info(f, &s);
    assert_true(s.expected_fpr > 3.2e-4 && s.expected_fpr < 3.4e-4);
    double queries = 4000000 / BLYT_SLOW;
    double hits = count_hits(f, KEYS_RANDOM, 1u << 24, (uint64_t)queries);
    assert_true(fabs(hits - queries * s.current_fpr) <= 5 * sqrt(queries * s.current_fpr) + 4);
    bly_filter_destroy(f);
}

/* ---- low rates ------------------------------------------------------------------------------- */

static void low_rates(void **state) {
    (void)state;
    every_size(PART_LOW);
}

static void low_rates_between(void **state) {
    (void)state;
    rate_between(0.0007);
}

/* ---- large sizes ----------------------------------------------------------------------------- */

static void low_rates_and_large_sizes(void **state) {
    (void)state;
    every_size(PART_LARGE);
}

static void rates_of_filters_that_grew_far(void **state) {
    static const double rates[] = {0.05, 0.01, 0.001, 0.0001};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        for (unsigned doublings = 0; doublings <= (BLYT_SLOW > 1 ? 5 : 10); doublings += 5) {
            if (doublings <= 5 && rates[i] >= 0.001)
                continue; /* rates_of_growing_filters tests these */
            grow_and_judge(1000, doublings, rates[i], 0);
            grow_and_judge(1000, doublings, rates[i], 0.8);
            if (doublings <= 5)
                grow_and_judge(20, doublings, rates[i], 0);
        }
}

/* ---- groups ---------------------------------------------------------------------------------- */

int main(int argc, char **argv) {
    const struct CMUnitTest sizes[] = {
        cmocka_unit_test(bits_per_key_at_capacity),
        cmocka_unit_test(rates_at_every_size),
    };
    const struct CMUnitTest shapes[] = {
        cmocka_unit_test(rates_of_every_k),        cmocka_unit_test(rates_between),
        cmocka_unit_test(rates_of_every_hash),     cmocka_unit_test(rates_of_growing_filters),
        cmocka_unit_test(weak_hashes_are_counted),
    };
    const struct CMUnitTest low[] = {
        cmocka_unit_test(low_rates),
        cmocka_unit_test(low_rates_between),
    };
    const struct CMUnitTest large[] = {
        cmocka_unit_test(low_rates_and_large_sizes),
        cmocka_unit_test(rates_of_filters_that_grew_far),
    };
    const char *group = argc > 1 ? argv[1] : "";
    if (strcmp(group, "shapes") == 0)
        return cmocka_run_group_tests(shapes, NULL, NULL);
    if (strcmp(group, "low") == 0)
        return cmocka_run_group_tests(low, NULL, NULL);
    if (strcmp(group, "large") == 0)
        return cmocka_run_group_tests(large, NULL, NULL);
    return cmocka_run_group_tests(sizes, NULL, NULL);
}
