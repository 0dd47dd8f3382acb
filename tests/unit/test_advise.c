/* Advice: which kind, at what cost, and whether a filter created from it is as advised.
 *
 * Length: every kind is checked against the same needs.
 */
#include "support.h"

#include <bloomery/filter.h>

/* Returns the next kind that can be advised. Overlays, and kinds that only count, cannot. */
static bly_kind next_kind(bly_kind k) {
    while ((k = bly_kind_next(k)) == BLY_OVERLAY || k == BLY_HLL)
        continue;
    return k;
}

#define FOR_EACH_KIND(k)                                                                           \
    for (bly_kind k = next_kind(BLY_KIND_NONE); k != BLY_KIND_NONE; k = next_kind(k))

enum { ALL_FLAGS = 2 * BLY_NEED_SPACE - 1 };

/* Returns the flags without which the kind is not advised. */
static uint32_t its_flags(bly_kind kind) {
    uint32_t can = bly_kind_capabilities(kind);
    return (can & BLY_CAN_BUILD ? BLY_NEED_STATIC : 0U) |
           (kind == BLY_COUNTS ? BLY_NEED_COUNTS : 0U) | (can & BLY_FORGETS ? BLY_NEED_WINDOW : 0U);
}

/* The lowest rate that a kind can have. */
static double least_rate(bly_kind kind) {
    return kind == BLY_FUSE ? 0x1p-28 : 0x1p-40;
}

static bly_kind choice(uint64_t keys, double fpr, uint32_t flags) {
    bly_needs needs = {.keys = keys, .fpr = fpr, .flags = flags};
    bly_advice a = {.struct_size = sizeof a};
    assert_ok(bly_advise(&needs, &a));
    return a.kind;
}

static bly_advice cost(bly_kind kind, uint64_t keys, double fpr, uint64_t bytes, uint32_t flags) {
    bly_needs needs = {.keys = keys, .fpr = fpr, .bytes = bytes, .flags = flags | its_flags(kind)};
    bly_advice a = {.struct_size = sizeof a};
    assert_ok(bly_advise_kind(kind, &needs, &a));
    return a;
}

static bly_spec spec_of(const bly_advice *a) {
    bly_spec spec = {.struct_size = sizeof spec};
    assert_ok(bly_advice_get_spec(a, &spec));
    return spec;
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void refuses_nonsense(void **state) {
    static const struct {
        bly_needs needs;
        bly_status status;
    } cases[] = {
        {{.keys = 0, .fpr = 0.01}, BLY_ECOUNT},
        {{.keys = 10}, BLY_ERATE},
        {{.keys = 10, .fpr = 1}, BLY_ERATE},
        {{.keys = 10, .fpr = 2}, BLY_ERATE},
        {{.keys = 10, .fpr = -0.1}, BLY_ERATE},
        {{.keys = 10, .fpr = NAN}, BLY_ERATE},
        {{.keys = 10, .fpr = 1e-13}, BLY_ERATE},
        {{.bytes = 1000}, BLY_ECOUNT},
        {{.bytes = 1000, .fpr = 2}, BLY_ERATE},
        {{.keys = 10, .fpr = 0.01, .flags = ALL_FLAGS + 1}, BLY_EINVAL},
        {{.keys = 10, .fpr = 0.01, .flags = BLY_NEED_STATIC | BLY_NEED_GROW}, BLY_EINVAL},
        {{.keys = 10, .fpr = 0.01, .flags = BLY_NEED_STATIC | BLY_NEED_WINDOW}, BLY_EINVAL},
        {{.keys = 10, .fpr = 0.01, .flags = BLY_NEED_STATIC | BLY_NEED_REMOVE}, BLY_EINVAL},
        {{.keys = 10, .fpr = 0.01, .hash_bits = 31}, BLY_EINVAL},
        {{.keys = 10, .fpr = 0.01, .hash_bits = 129}, BLY_EINVAL},
        {{.keys = 10, .fpr = 0.01, .first_share = 1}, BLY_EINVAL},
        {{.keys = 10, .fpr = 0.01, .first_share = -1}, BLY_EINVAL},
        {{.keys = 10, .fpr = 0.01, .first_share = NAN}, BLY_EINVAL},
        {{.keys = 1000000, .fpr = 0.0001, .hash_bits = 32}, BLY_EWEAKHASH},
        {{.keys = (uint64_t)1 << 47, .fpr = 0.01}, BLY_ETOOBIG},
        {{.keys = UINT64_MAX, .fpr = 0.01, .flags = BLY_NEED_GROW}, BLY_ETOOBIG},
        {{.keys = 1000, .fpr = 0.01, .bytes = 1000}, BLY_EIMPOSSIBLE},
        {{.keys = 1000, .bytes = 64}, BLY_EIMPOSSIBLE},
        {{.fpr = 0.01, .bytes = 63}, BLY_EIMPOSSIBLE},
    };
    bly_advice a = {.struct_size = sizeof a};
    bly_advice untouched = {.struct_size = sizeof untouched};
    (void)state;
    memset(&a, 0x55, sizeof a);
    a.struct_size = sizeof a;
    memcpy(&untouched, &a, sizeof a);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bly_status status = bly_advise(&cases[i].needs, &a);
        if (status != cases[i].status)
            fail_msg("case %zu: %d, not %d", i, status, cases[i].status);
        assert_memory_equal(&a, &untouched, sizeof a);
    }
    bly_needs fine = {.keys = 10, .fpr = 0.01};
    assert_int_equal(bly_advise_kind(BLY_KIND_NONE, &fine, &a), BLY_EKIND);
    assert_int_equal(bly_advise_kind((bly_kind)99, &fine, &a), BLY_EKIND);
    assert_string_equal(bly_advise_why_not((bly_kind)99, &fine), "there is no such kind");
    assert_memory_equal(&a, &untouched, sizeof a);
}

/* Creating a growing filter never fails because of its hash. But advice states a rate for all keys,
 * so it refuses a hash that has too few bits for them. */
static void growth_with_a_weak_hash_is_refused(void **state) {
    bly_needs needs = {.keys = 4000000, .fpr = 0.01, .flags = BLY_NEED_GROW, .hash_bits = 32};
    bly_advice a = {.struct_size = sizeof a};
    (void)state;
    needs.first_keys = 1000;
    assert_int_equal(bly_advise(&needs, &a), BLY_OK);
    needs.keys = 100000000;
    assert_int_equal(bly_advise(&needs, &a), BLY_EWEAKHASH);
}

static void says_what_cannot_be_done(void **state) {
    static const struct {
        uint32_t flags;
        const char *text;
    } cases[] = {
        {BLY_NEED_REMOVE | BLY_NEED_WINDOW, "no kind of this version meets all of these needs"},
        {BLY_NEED_GROW | BLY_NEED_WINDOW, "no kind of this version meets all of these needs"},
        {BLY_NEED_SHARE | BLY_NEED_REMOVE, "no kind of this version meets all of these needs"},
        {BLY_NEED_COUNTS | BLY_NEED_GROW, "no kind of this version meets all of these needs"},
        {BLY_NEED_GROW | BLY_NEED_SHARE, "no kind of this version meets all of these needs"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bly_needs needs = {.keys = 1000, .fpr = 0.01, .flags = cases[i].flags};
        bly_advice a = {.struct_size = sizeof a};
        assert_int_equal(bly_advise(&needs, &a), BLY_EUNSUPPORTED);
        assert_string_equal(bly_advise_why_not(BLY_KIND_NONE, &needs), cases[i].text);
    }
    static const uint32_t changes[] = {BLY_NEED_REMOVE, BLY_NEED_GROW, BLY_NEED_WINDOW};
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        bly_needs needs = {.flags = BLY_NEED_STATIC | changes[i]};
        assert_string_equal(
            bly_advise_why_not(BLY_KIND_NONE, &needs),
            "if all keys are known in advance, none is added, removed or forgotten later");
        assert_string_equal(
            bly_advise_why_not(BLY_FUSE, &needs),
            "if all keys are known in advance, none is added, removed or forgotten later");
    }
    bly_needs grow = {.flags = BLY_NEED_GROW}, share = {.flags = BLY_NEED_SHARE};
    assert_string_equal(bly_advise_why_not(BLY_SBBF, &grow), "it does not grow");
    assert_null(bly_advise_why_not(BLY_SCALABLE, &grow));
    assert_string_equal(bly_advise_why_not(BLY_SCALABLE, &share),
                        "several threads cannot add to it at once");
    assert_null(bly_advise_why_not(BLY_KIND_NONE, &share));
    bly_needs plain = {0}, window = {.flags = BLY_NEED_WINDOW}, fixed = {.flags = BLY_NEED_STATIC};
    assert_string_equal(bly_advise_why_not(BLY_WINDOW, &plain), "it forgets old keys");
    assert_null(bly_advise_why_not(BLY_WINDOW, &window));
    assert_string_equal(bly_advise_why_not(BLY_FUSE, &plain),
                        "all its keys must be known when it is built");
    assert_null(bly_advise_why_not(BLY_RIBBON, &fixed));
}

/* Three results never contradict each other: the advice, the reason against each kind, and the
 * reason against all kinds. */
static void refusals_are_consistent(void **state) {
    (void)state;
    for (uint32_t flags = 0; flags <= ALL_FLAGS; flags++) {
        bly_needs needs = {.keys = 1000, .fpr = 0.01, .flags = flags};
        bly_advice a = {.struct_size = sizeof a};
        bool any = false;
        if (flags & BLY_NEED_STATIC && flags & (BLY_NEED_GROW | BLY_NEED_WINDOW | BLY_NEED_REMOVE))
            continue;
        FOR_EACH_KIND(kind) {
            bool fits = bly_advise_why_not(kind, &needs) == NULL;
            assert_int_equal(bly_advise_kind(kind, &needs, &a), fits ? BLY_OK : BLY_EUNSUPPORTED);
            any |= fits;
            if (flags & BLY_NEED_REMOVE && !(bly_kind_capabilities(kind) & BLY_CAN_REMOVE))
                assert_false(fits);
            if (flags & BLY_NEED_SHARE && !(bly_kind_capabilities(kind) & BLY_CAN_SHARE))
                assert_false(fits);
        }
        assert_int_equal(bly_advise(&needs, &a), any ? BLY_OK : BLY_EUNSUPPORTED);
        assert_int_equal(bly_advise_why_not(BLY_KIND_NONE, &needs) == NULL, any);
    }
}

/* ---- the rows -------------------------------------------------------------------------------- */

static void every_row_is_chosen(void **state) {
    static const struct {
        double fpr;
        uint32_t flags;
        bly_kind kind;
    } cases[] = {
        {0.5, 0, BLY_SBBF},
        {0.01, 0, BLY_SBBF},
        {0.004, 0, BLY_SBBF},
        {0.00399, 0, BLY_SPLIT512},
        {0.001, 0, BLY_SPLIT512},
        {0.000999, 0, BLY_BB2X512},
        {1e-5, 0, BLY_BB2X512},
        {1e-8, 0, BLY_BB2X512},
        {0.99e-8, 0, BLY_CLASSIC},
        {0x1p-40, 0, BLY_CLASSIC},
        {0.01, BLY_NEED_STATIC, BLY_FUSE},
        {1e-6, BLY_NEED_STATIC | BLY_NEED_SECRET, BLY_FUSE},
        {1e-9, BLY_NEED_STATIC, BLY_RIBBON},
        {0.01, BLY_NEED_STATIC | BLY_NEED_SPACE, BLY_RIBBON},
        {0.01, BLY_NEED_STATIC | BLY_NEED_SHARE, BLY_SBBF},
        {0.01, BLY_NEED_REMOVE, BLY_CUCKOO},
        {1e-6, BLY_NEED_REMOVE | BLY_NEED_SPACE | BLY_NEED_SECRET, BLY_CUCKOO},
        {0.01, BLY_NEED_REMOVE | BLY_NEED_GROW, BLY_GROWABLE_CUCKOO},
        {0.01, BLY_NEED_COUNTS, BLY_HYBRID},
        {1e-5, BLY_NEED_COUNTS | BLY_NEED_REMOVE | BLY_NEED_SECRET, BLY_HYBRID},
        {0.01, BLY_NEED_WINDOW, BLY_WINDOW},
        {1e-5, BLY_NEED_WINDOW | BLY_NEED_SPACE, BLY_WINDOW},
        {0.001, BLY_NEED_SECRET, BLY_SPLIT512},
        {0.0001, BLY_NEED_SHARE, BLY_BB2X512},
        {0.01, BLY_NEED_SPACE, BLY_CLASSIC},
        {0.0001, BLY_NEED_SPACE | BLY_NEED_SHARE, BLY_CLASSIC},
        {0.5, BLY_NEED_GROW, BLY_SCALABLE},
        {1e-8, BLY_NEED_GROW, BLY_SCALABLE},
        {0.01, BLY_NEED_GROW | BLY_NEED_SPACE | BLY_NEED_SECRET, BLY_SCALABLE},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(choice(1000000, cases[i].fpr, cases[i].flags), cases[i].kind);
}

/* The heading of a window (the fields at the start of its body) does not fit into very little
 * memory. */
static void a_window_needs_more_than_its_heading(void **state) {
    bly_needs needs = {.fpr = 0.01, .bytes = 256, .flags = BLY_NEED_WINDOW};
    bly_advice a = {.struct_size = sizeof a};
    (void)state;
    assert_int_equal(bly_advise(&needs, &a), BLY_EIMPOSSIBLE);
    needs.bytes = 1000000;
    assert_ok(bly_advise(&needs, &a));
    assert_int_equal(a.kind, BLY_WINDOW);
}

/* Fuse and ribbon filters are advised where they are smaller than a Bloom filter: for many keys. */
static void built_kinds_only_where_they_are_smaller(void **state) {
    static const uint32_t flags[] = {BLY_NEED_STATIC, BLY_NEED_STATIC | BLY_NEED_SPACE};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(flags); i++)
        for (uint64_t n = 1; n < 100000000; n = n * 2 + 1)
            for (double p = 0.3; p > 1e-11; p /= 5) {
                bly_needs needs = {.keys = n, .fpr = p, .flags = flags[i]};
                bly_advice a = {.struct_size = sizeof a}, classic = cost(BLY_CLASSIC, n, p, 0, 0);
                assert_ok(bly_advise(&needs, &a));
                if (bly_kind_capabilities(a.kind) & BLY_CAN_BUILD)
                    assert_true(a.bytes < classic.bytes);
                else
                    assert_true(n < 20000);
            }
    assert_int_equal(choice(1000, 0.01, BLY_NEED_STATIC), BLY_FUSE);
    assert_int_equal(choice(10, 0.01, BLY_NEED_STATIC), BLY_SBBF);
    assert_int_equal(choice(10, 0.01, BLY_NEED_STATIC | BLY_NEED_SPACE), BLY_CLASSIC);
}

/* For the rate 2^-r, r bits per fingerprint are enough; the chance of equal hashes adds no bit. */
static void powers_of_two_cost_no_bit_more(void **state) {
    static const uint64_t sizes[] = {10, 10000, 1000000, 100000000};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (int r = 1; r <= 28; r++) {
            bly_advice a = cost(BLY_FUSE, sizes[i], ldexp(1, -r), 0, 0);
            assert_int_equal(a.geometry.hashes, r);
        }
}

static void agrees_with_the_layout_rule(void **state) {
    (void)state;
    for (double p = 0.9; p >= 1e-8; p *= 0.97)
        assert_int_equal(choice(5000, p, 0), bly_plan_kind(p));
}

static void every_kind_has_its_words(void **state) {
    bly_advice chosen = {.struct_size = sizeof chosen};
    bly_needs needs = {.keys = 1000, .fpr = 0.01};
    (void)state;
    assert_ok(bly_advise(&needs, &chosen));
    assert_true(strlen(chosen.reason) > 20);
    FOR_EACH_KIND(kind) {
        bly_advice a = cost(kind, 1000, 0.01, 0, 0);
        assert_int_equal(a.kind, kind);
        assert_true(strlen(a.reason) > 20);
        assert_true(a.reason[strlen(a.reason) - 1] != '.');
    }
}

static void space_first_is_smallest(void **state) {
    static const uint64_t sizes[] = {1, 40, 1000, 30000, 1000000, 1000000000};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (double p = 0.3; p > 1e-11; p /= 7) {
            bly_needs needs = {.keys = sizes[i], .fpr = p, .flags = BLY_NEED_SPACE};
            bly_advice a = {.struct_size = sizeof a};
            assert_ok(bly_advise(&needs, &a));
            /* Compares only kinds that can add a key any number of times. */
            FOR_EACH_KIND(kind)
            if (!bly_advise_why_not(kind, &needs) &&
                !(bly_kind_capabilities(kind) & BLY_CAN_REMOVE))
                assert_true(a.bytes <= cost(kind, sizes[i], p, 0, 0).bytes);
            needs.flags |= BLY_NEED_STATIC;
            if (sizes[i] < 1000)
                continue;
            bly_advice built = {.struct_size = sizeof built}, other = built;
            assert_ok(bly_advise(&needs, &built));
            FOR_EACH_KIND(kind)
            if (bly_advise_kind(kind, &needs, &other) == BLY_OK && built.bytes > other.bytes)
                fail_msg("%s is smaller than %s for %llu keys at %g", bly_kind_name(kind),
                         bly_kind_name(built.kind), (unsigned long long)sizes[i], p);
        }
}

/* Checks the figures that the reasons of advice contain. */
static void reasons_are_true(void **state) {
    const uint64_t n = 10000000;
    (void)state;
#define BITS(kind, p) cost(kind, n, p, 0, 0).bits_per_key
    double tenth = BITS(BLY_CLASSIC, 0.01) / BITS(BLY_SBBF, 0.01);
    double fifth = BITS(BLY_CLASSIC, 0.1) / BITS(BLY_SBBF, 0.1);
    assert_true(tenth > 0.88 && tenth < 0.92);
    assert_true(fifth > 0.78 && fifth < 0.82);
    double five = BITS(BLY_SBBF, 0.004) / BITS(BLY_SPLIT512, 0.004);
    assert_true(five > 1.045 && five < 1.06);
    double seven = BITS(BLY_SPLIT512, 0.001) / BITS(BLY_BB2X512, 0.001);
    assert_true(seven > 1.065 && seven < 1.08);
    double more = BITS(BLY_SPLIT512, 0.00001) / BITS(BLY_BB2X512, 0.00001);
    assert_true(more > 1.18 && more < 1.22);
    double half = BITS(BLY_HYBRID, 0.01) / BITS(BLY_COUNTING, 0.01);
    assert_true(half < 0.4); /* and up to 4 bits more for keys that are often repeated */
    double quarter = BITS(BLY_BB2X512, 0.99e-8) / BITS(BLY_CLASSIC, 0.99e-8);
    assert_true(quarter > 1.2 && quarter < 1.27);
#undef BITS
}

/* ---- filters are as advised ------------------------------------------------------------------ */

static void filter_is_as_advised(bly_kind kind, uint64_t keys, double fpr, uint32_t flags) {
    bly_advice a = cost(kind, keys, fpr, 0, flags);
    bly_spec spec = spec_of(&a);
    bly_filter *f;
    bly_filter_info stats = {.struct_size = sizeof stats};
    blyt_list list = blyt_list_of(KEYS_RANDOM, 0, (size_t)keys);
    if (bly_kind_capabilities(kind) & BLY_CAN_BUILD) {
        assert_ok(bly_filter_build(&spec, list.keys, list.n, &f));
    } else {
        assert_ok(bly_filter_create(&spec, &f));
        blyt_add_all(f, &list);
    }
    bly_geometry g = bly_filter_geometry(f);
    bly_filter_get_info(f, &stats);
    assert_int_equal(g.kind, a.geometry.kind);
    assert_int_equal(g.hashes, a.geometry.hashes);
    assert_int_equal(g.size, a.geometry.size);
    assert_int_equal(stats.bytes, a.bytes);
    assert_int_equal(bly_filter_hasher(f)->bits, a.needs.hash_bits);
    assert_true(a.bits_per_key == 8.0 * (double)stats.bytes / (double)keys);
    assert_true(a.fpr <= fpr);
    /* The rate that follows from the set bits differs by a few percent, because there are few
     * keys. */
    double least = bly_kind_capabilities(kind) & BLY_FORGETS ? 0.8 /* one generation is empty */
                                                             : 0.9;
    double share = stats.expected_fpr / a.fpr;
    assert_true(share > least && share < 1.1);
    blyt_list_free(&list);
    bly_filter_destroy(f);
}

static void filters_are_as_advised(void **state) {
    (void)state;
    FOR_EACH_KIND(kind) {
        filter_is_as_advised(kind, 20000, 0.01, 0);
        filter_is_as_advised(kind, 20000, 0.0001, 0);
        filter_is_as_advised(kind, 50000, 0.001, 0);
    }
    filter_is_as_advised(BLY_SCALABLE, 20000, 0.01, BLY_NEED_GROW);
    filter_is_as_advised(BLY_SCALABLE, 60000, 0.0001, BLY_NEED_GROW);
    filter_is_as_advised(BLY_GROWABLE_CUCKOO, 20000, 0.01, BLY_NEED_GROW | BLY_NEED_REMOVE);
    filter_is_as_advised(BLY_GROWABLE_CUCKOO, 60000, 0.0001, BLY_NEED_GROW);
}

/* Filters that grow by many levels are as advised, also if the size of the first level is given. */
static void grown_filters_are_as_advised(void **state) {
    static const uint64_t firsts[] = {100, 1000, 7777, 100000};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(firsts); i++) {
        bly_needs needs = {.keys = 100000, .fpr = 0.003, .flags = BLY_NEED_GROW};
        bly_advice a = {.struct_size = sizeof a};
        bly_filter *f;
        needs.first_keys = firsts[i];
        assert_ok(bly_advise(&needs, &a));
        bly_spec spec = spec_of(&a);
        assert_int_equal(spec.capacity, firsts[i]);
        assert_ok(bly_filter_create(&spec, &f));
        blyt_list list = blyt_list_of(KEYS_URL, 0, (size_t)needs.keys);
        blyt_add_all(f, &list);
        bly_geometry g = bly_filter_geometry(f);
        assert_memory_equal(&g, &a.geometry, sizeof g);
        blyt_list_free(&list);
        bly_filter_destroy(f);
    }
}

static void cache_lines(void **state) {
    (void)state;
    assert_int_equal(cost(BLY_SBBF, 1000000, 0.01, 0, 0).cache_lines, 1);
    assert_int_equal(cost(BLY_SPLIT512, 1000000, 1e-6, 0, 0).cache_lines, 1);
    assert_int_equal(cost(BLY_BB2X512, 1000000, 0.01, 0, 0).cache_lines, 2);
    bly_advice classic = cost(BLY_CLASSIC, 1000000, 0.001, 0, 0);
    assert_int_equal(classic.cache_lines, classic.geometry.hashes);
    assert_int_equal(cost(BLY_CLASSIC, 1, 0.001, 0, 0).cache_lines, 1);
    assert_int_equal(cost(BLY_SCALABLE, 1000000, 0.01, 0, 0).cache_lines, 1);
    assert_int_equal(cost(BLY_SCALABLE, 1000000, 0.01, 0, BLY_NEED_GROW).cache_lines, 4);
}

static void keyed_needs_the_keyed_hash(void **state) {
    bly_needs needs = {.keys = 1000, .fpr = 0.01, .flags = BLY_NEED_SECRET};
    bly_advice a = {.struct_size = sizeof a};
    (void)state;
    assert_ok(bly_advise(&needs, &a));
    assert_true(a.keyed);
    assert_int_equal(a.needs.hash_bits, 128);
    needs.flags = 0;
    assert_ok(bly_advise(&needs, &a));
    assert_false(a.keyed);
    assert_int_equal(a.needs.hash_bits, 64);
    needs.flags = BLY_NEED_SHARE;
    assert_ok(bly_advise(&needs, &a));
    assert_int_equal(spec_of(&a).sharing, BLY_SHARED);
}

static void no_advice_is_no_spec(void **state) {
    bly_advice none = {.struct_size = sizeof none};
    bly_spec spec = {.struct_size = sizeof spec};
    (void)state;
    assert_int_equal(bly_advice_get_spec(&none, &spec), BLY_EKIND);
}

/* ---- curves ---------------------------------------------------------------------------------- */

static void curves_rise_and_pass_the_promise(void **state) {
    const uint64_t n = 30000;
    uint64_t keys[31];
    double rates[31];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        keys[i] = i * n / 10;
    FOR_EACH_KIND(kind) {
        bly_advice a = cost(kind, n, 0.002, 0, 0);
        bly_advice_expected_fpr(&a, keys, COUNT_OF(keys), rates);
        assert_true(rates[0] == 0);
        assert_true(rates[10] == a.fpr);
        for (size_t i = 1; i < COUNT_OF(keys); i++) {
            /* The rate of a built filter does not depend on the number of keys. */
            assert_true(rates[i] > rates[i - 1] ||
                        (rates[i] == rates[i - 1] && bly_kind_capabilities(kind) & BLY_CAN_BUILD));
            assert_true(rates[i] <= 1);
        }
        if (bly_kind_capabilities(kind) & BLY_CAN_SHARE) { /* kinds that only set bits */
            assert_true(rates[10] <= 0.002 && rates[10] > 0.0019);
            assert_true(rates[20] > 0.002 * 5);
        }
    }
}

static void growth_keeps_the_rate(void **state) {
    uint64_t keys[40];
    double rates[40];
    bly_advice a = cost(BLY_SCALABLE, 1000, 0.01, 0, BLY_NEED_GROW);
    (void)state;
    assert_int_equal(a.needs.first_keys, 100);
    keys[0] = 1;
    for (size_t i = 1; i < COUNT_OF(keys); i++)
        keys[i] = keys[i - 1] * 7 / 4 + 1;
    bly_advice_expected_fpr(&a, keys, COUNT_OF(keys), rates);
    for (size_t i = 1; i < COUNT_OF(keys); i++) {
        assert_true(rates[i] >= rates[i - 1]);
        assert_true(rates[i] < 0.01);
    }
    assert_true(rates[COUNT_OF(keys) - 1] > 0.007);
}

/* ---- two of keys, rate and memory give the third --------------------------------------------- */

static void memory_gives_keys(void **state) {
    static const double rates[] = {0.3, 0.01, 0.001, 1e-6};
    static const uint64_t bytes[] = {64, 1000, 65536, 10000000, (uint64_t)1 << 33};
    (void)state;
    FOR_EACH_KIND(kind)
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        for (size_t j = 0; j < COUNT_OF(bytes); j++) {
            bly_needs needs = {.fpr = rates[i], .bytes = bytes[j], .flags = its_flags(kind)};
            bly_advice a = {.struct_size = sizeof a}, more = a;
            bly_status status = bly_advise_kind(kind, &needs, &a);
            if (status == BLY_EIMPOSSIBLE) { /* then not even one key fits */
                assert_true(cost(kind, 1, rates[i], 0, 0).bytes > bytes[j]);
                continue;
            }
            assert_ok(status);
            assert_true(a.bytes <= bytes[j]);
            needs.keys = a.needs.keys;
            assert_ok(bly_advise_kind(kind, &needs, &more));
            assert_int_equal(more.bytes, a.bytes);
            needs.keys++;
            assert_int_equal(bly_advise_kind(kind, &needs, &more), BLY_EIMPOSSIBLE);
        }
}

static void memory_gives_the_rate(void **state) {
    static const uint64_t sizes[] = {1, 100, 50000, 3000000};
    (void)state;
    FOR_EACH_KIND(kind)
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (double bits = 3; bits < 40; bits += 6) {
            bly_needs needs = {.keys = sizes[i],
                               .bytes = 64 + (uint64_t)(bits * (double)sizes[i] / 8),
                               .flags = its_flags(kind)};
            bly_advice a = {.struct_size = sizeof a}, better = a;
            bly_status status = bly_advise_kind(kind, &needs, &a);
            if (status == BLY_EIMPOSSIBLE) {
                assert_true(cost(kind, sizes[i], 0.5, 0, 0).bytes > needs.bytes);
                continue;
            }
            assert_ok(status);
            assert_true(a.bytes <= needs.bytes);
            assert_true(a.fpr <= a.needs.fpr * (1 + 1e-6) && a.needs.fpr <= 0.5);
            needs.fpr = a.needs.fpr * (1 - 1e-7);
            /* A lower rate does not fit into the memory, or is not possible with that kind. */
            if (needs.fpr >= 0x1p-40)
                assert_int_not_equal(bly_advise_kind(kind, &needs, &better), BLY_OK);
        }
}

static void round_trips(void **state) {
    (void)state;
    FOR_EACH_KIND(kind)
    for (double p = 0.2; p > 1e-7; p /= 5) {
        const uint64_t n = 123456;
        bly_advice a = cost(kind, n, p, 0, 0);
        assert_true(cost(kind, 0, p, a.bytes, 0).needs.keys >= n);
        assert_true(cost(kind, n, 0, a.bytes, 0).needs.fpr <= p * (1 + 1e-8));
        assert_int_equal(cost(kind, n, p, a.bytes, 0).bytes, a.bytes);
    }
}

/* More keys or a lower rate never take less memory. More memory never allows fewer keys or a higher
 * rate. There are two exceptions, growable-cuckoo below, and a lower rate for a scalable filter:
 * its levels change to another layout where the present one needs 15% more memory. */
static void more_costs_more(void **state) {
    (void)state;
    FOR_EACH_KIND(kind) {
        uint64_t last = 0;
        for (uint64_t n = 1; n < 1000000000; n = n * 3 / 2 + 1) {
            uint64_t bytes = cost(kind, n, 0.003, 0, 0).bytes;
            /* Exception: for a few hundred keys, a growable filter for more keys may need less
             * memory. */
            assert_true(kind == BLY_GROWABLE_CUCKOO ? bytes * 5 >= last * 2 : bytes >= last);
            last = bytes;
        }
        last = 0;
        for (double p = 0.4; p > fmax(1e-10, least_rate(kind)); p /= 2) {
            uint64_t bytes = cost(kind, 54321, p, 0, 0).bytes;
            assert_true(kind == BLY_SCALABLE ? bytes * 8 > last * 7 : bytes >= last);
            last = bytes;
        }
        double best = 1;
        uint64_t most = 0;
        for (uint64_t bytes = 10000; bytes < 10000000; bytes *= 2) {
            double p = cost(kind, 3000, 0, bytes, 0).needs.fpr;
            uint64_t n = cost(kind, 0, 0.01, bytes, 0).needs.keys;
            assert_true(p <= best * (1 + 1e-8));
            assert_true(n > most);
            best = p;
            most = n;
        }
    }
}

static void choice_when_memory_decides(void **state) {
    static const struct {
        uint64_t bytes;
        double fpr;
        bly_kind kind;
    } table[] = {
        /* Only memory is given: with 16 bits per key, the rate is too low for sbbf and split512. */
        {2000000, 0, BLY_BB2X512},
        {1400000, 0, BLY_SBBF},
        {8000000, 0, BLY_CLASSIC},
        /* Rate and memory are given, but do not fit: the kind that is best at the rate that
         * fits. */
        {1320000, 0.01, BLY_SBBF},
        {1265000, 0.01, BLY_SPLIT512},
        {1215000, 0.01, BLY_BB2X512},
        {1200000, 0.01, BLY_CLASSIC},
    };
    bly_needs needs = {.keys = 1000000};
    bly_advice a = {.struct_size = sizeof a};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        needs.bytes = table[i].bytes;
        needs.fpr = table[i].fpr;
        assert_ok(bly_advise(&needs, &a));
        assert_int_equal(a.kind, table[i].kind);
    }
    needs.bytes = 1100000;
    assert_int_equal(bly_advise(&needs, &a), BLY_EIMPOSSIBLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_nonsense),
        cmocka_unit_test(growth_with_a_weak_hash_is_refused),
        cmocka_unit_test(says_what_cannot_be_done),
        cmocka_unit_test(refusals_are_consistent),
        cmocka_unit_test(every_row_is_chosen),
        cmocka_unit_test(agrees_with_the_layout_rule),
        cmocka_unit_test(a_window_needs_more_than_its_heading),
        cmocka_unit_test(built_kinds_only_where_they_are_smaller),
        cmocka_unit_test(powers_of_two_cost_no_bit_more),
        cmocka_unit_test(every_kind_has_its_words),
        cmocka_unit_test(space_first_is_smallest),
        cmocka_unit_test(reasons_are_true),
        cmocka_unit_test(filters_are_as_advised),
        cmocka_unit_test(grown_filters_are_as_advised),
        cmocka_unit_test(cache_lines),
        cmocka_unit_test(keyed_needs_the_keyed_hash),
        cmocka_unit_test(no_advice_is_no_spec),
        cmocka_unit_test(curves_rise_and_pass_the_promise),
        cmocka_unit_test(growth_keeps_the_rate),
        cmocka_unit_test(memory_gives_keys),
        cmocka_unit_test(memory_gives_the_rate),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(more_costs_more),
        cmocka_unit_test(choice_when_memory_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
