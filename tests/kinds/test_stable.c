/* Stable filters: every cell as the rule says, the rate and the memory as the formulas say. With
 * BLOOMERY_LONG set, with ten times as many measurements. */
#include "support.h"

#include "base/bits.h"
#include "filter/ops.h"
#include "hash/mix.h"
#include "kinds/stable/stable_plan.h"

#include <math.h>

static unsigned thorough(void) {
    return blyt_long() ? 10 : 1;
}

static bly_filter *exact(uint32_t k, unsigned width, uint64_t run, uint64_t cells) {
    bly_spec spec = bly_spec_for(BLY_STABLE, 1, 0.5);
    bly_filter *f = NULL;
    spec.geometry = (bly_geometry){BLY_STABLE, k, cells, 0, (uint32_t)(4 * run + width)};
    assert_ok(bly_filter_create(&spec, &f));
    return f;
}

/* Key i of stream s, hashed. Streams have no key in common. */
static bly_hash key(uint64_t s, uint64_t i) {
    uint64_t a = s * UINT64_C(0x123456789abcdef1) + 2 * i, b = a + 1;
    return (bly_hash){blyt_next(&a), blyt_next(&b)};
}

static void add_some(bly_filter *f, uint64_t s, uint64_t first, uint64_t n) {
    bly_hash some[256];
    for (uint64_t i = 0; i < n;) {
        size_t m = 0;
        for (; m < COUNT_OF(some) && i < n; m++, i++)
            some[m] = key(s, first + i);
        assert_ok(bly_filter_add_hashes(f, some, m, NULL, NULL));
    }
}

static uint64_t count_found(const bly_filter *f, uint64_t s, uint64_t first, uint64_t n) {
    bly_hash some[256];
    uint64_t hits = 0;
    for (uint64_t i = 0; i < n;) {
        size_t m = 0;
        for (; m < COUNT_OF(some) && i < n; m++, i++)
            some[m] = key(s, first + i);
        hits += bly_filter_contains_hashes(f, some, m, NULL);
    }
    return hits;
}

static bly_stats stats_of(const bly_filter *f) {
    bly_stats s;
    bly_filter_stats(f, &s);
    return s;
}

/* ---- every cell -------------------------------------------------------------------------------
 */

/* The same by the words of the rule, one cell after the other. */
static bool model_add(uint8_t *cells, const bly_geometry *g, bly_hash h, uint64_t turn) {
    uint64_t start = blyi_mulhi(blyi_fmix64((turn + 1) * BLYI_GOLD), g->size), x = h.lo;
    bool found = true;
    for (unsigned j = 0; j < g->hashes; j++, x = x * BLYI_LCG + (h.hi | 1))
        found &= cells[blyi_mulhi(x, g->size)] != 0;
    for (unsigned j = 0; j < g->detail / 4; j++) {
        uint8_t *c = &cells[(start + j) % g->size];
        *c = (uint8_t)(*c - (*c != 0));
    }
    x = h.lo;
    for (unsigned j = 0; j < g->hashes; j++, x = x * BLYI_LCG + (h.hi | 1))
        cells[blyi_mulhi(x, g->size)] = (uint8_t)((1 << g->detail % 4) - 1);
    return !found;
}

static unsigned cell(const bly_filter *f, uint64_t i) {
    unsigned width = f->geometry.detail % 4, per = width == 3 ? 21 : 64 / width;
    uint64_t word = blyi_le64(blyi_words(f)[8 + i / per]);
    return (unsigned)(word >> i % per * width) & ((1U << width) - 1);
}

static void cells_follow_the_rule(void **state) {
    static const uint64_t runs[] = {1, 2, 20, 21, 63, 64, 65, 150, 499};
    (void)state;
    for (unsigned width = 1; width <= 3; width++)
        for (size_t r = 0; r < COUNT_OF(runs); r++) {
            const uint64_t m = 500 + 7 * r;
            const uint32_t k = (uint32_t)(r % 8 + 1);
            bly_filter *f = exact(k, width, runs[r], m);
            uint8_t *cells = calloc(m, 1);
            uint64_t fresh = 0, rng = r;
            for (uint64_t i = 0; i < 3000; i++) {
                bly_hash h = key(1, blyt_next(&rng) % (i + 10));
                bool want = model_add(cells, &f->geometry, h, i), got;
                assert_ok(bly_filter_add_hash(f, h, &got));
                assert_int_equal(got, want);
                assert_true(bly_filter_contains_hash(f, h)); /* the newest is always there */
                fresh += got;
                for (uint64_t c = 0; i % 50 == 0 && c < m; c++)
                    assert_int_equal(cell(f, c), cells[c]);
            }
            uint64_t used = 0;
            for (uint64_t c = 0; c < m; c++)
                used += cells[c] != 0;
            bly_stats s = stats_of(f);
            assert_true(s.count == fresh && s.set_bits == used * width);
            assert_true(s.fill == (double)used / (double)m);
            assert_true(fabs(s.current_fpr - pow(s.fill, k)) < 1e-9);
            free(cells);
            bly_filter_destroy(f);
        }
}

/* ---- rate -------------------------------------------------------------------------------------
 */

/* In balance, at moments far apart: hits against the cells as they are, these against the formula.
 */
static void rate_in_balance(bly_filter *f, unsigned moments) {
    const bly_geometry *g = &f->geometry;
    /* The time in which cells are raised, or worn down, once over. */
    uint64_t turnover = g->size * blyi_stable_top(g) / (blyi_stable_run(g) + g->hashes) + 1;
    uint64_t at = 6 * turnover, queries = 40000 / BLYT_SLOW;
    double formula = blyi_stable_rate(g), mean = 0, squares = 0, hits = 0, expected = 0,
           variance = 0;
    add_some(f, 1, 0, at);
    for (unsigned i = 0; i < moments; i++, at += 3 * turnover) {
        add_some(f, 1, at, 3 * turnover);
        double now = stats_of(f).current_fpr;
        mean += now / moments;
        squares += now * now / moments;
        hits += (double)count_found(f, 1000 + i, 0, queries);
        expected += now * (double)queries;
        variance += now * (1 - now) * (double)queries;
    }
    double spread = sqrt(fmax(0, squares - mean * mean) / moments);
    bool counted = fabs(hits - expected) <= 5 * sqrt(variance) + 4;
    bool foreseen = fabs(mean - formula) <= 5 * spread + 5e-3 * formula;
    if (!counted || !foreseen || getenv("BLYT_VERBOSE"))
        print_message("K=%u d=%u P=%u m=%llu: hits %.0f, expected %.1f; rate %.4g, formula %.4g +- "
                      "%.2g%s%s\n",
                      g->hashes, blyi_stable_width(g), blyi_stable_run(g),
                      (unsigned long long)g->size, hits, expected, mean, formula, 5 * spread,
                      counted ? "" : "  COUNT OFF", foreseen ? "" : "  RATE OFF");
    assert_true(counted && foreseen);
    bly_filter_destroy(f);
}

static void rates(void **state) {
    static const double asked[] = {0.05, 0.01, 0.001};
    const unsigned moments = 40 * thorough() / (BLYT_SLOW > 1 ? 4 : 1);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(asked); i++)
        for (uint64_t bytes = 1024; bytes <= 65536; bytes *= 8) {
            bly_filter *f = NULL;
            assert_ok(bly_stable_create(bytes, asked[i], &f));
            assert_true(blyi_stable_rate(&f->geometry) <= asked[i]);
            assert_true(blyi_stable_rate(&f->geometry) > asked[i] * 0.9);
            rate_in_balance(f, moments);
        }
    for (uint32_t k = 1; k <= 8; k++)
        for (unsigned width = 1; width <= 3; width++)
            rate_in_balance(exact(k, width, k * (width == 3 ? 12 : 4), 4000 + 1000 * k), moments);
}

/* On the way there, too. */
static void rate_on_the_way(void **state) {
    const unsigned filters = 20 * thorough();
    (void)state;
    for (uint64_t n = 200; n <= 12800; n *= 4) {
        double mean = 0, squares = 0, formula = 0;
        for (unsigned i = 0; i < filters; i++) {
            bly_filter *f = exact(5, 3, 67, 60000);
            add_some(f, 10 + i, 0, n);
            bly_stats s = stats_of(f);
            formula = bly_plan_fpr(&f->geometry, n, 64);
            assert_true(fabs(s.predicted_fpr - formula) < 1e-6);
            assert_true(fabs(s.expected_fill - s.fill) < 0.01);
            mean += s.current_fpr / filters;
            squares += s.current_fpr * s.current_fpr / filters;
            bly_filter_destroy(f);
        }
        double spread = sqrt(fmax(0, squares - mean * mean) / filters);
        if (getenv("BLYT_VERBOSE"))
            print_message("after %llu: rate %.4g, formula %.4g +- %.2g\n", (unsigned long long)n,
                          mean, formula, 5 * spread);
        /* All of them wear under the same runs, which the spread does not show. */
        assert_true(fabs(mean - formula) <= 5 * spread + 1e-2 * formula);
    }
}

/* ---- memory ------------------------------------------------------------------------------------
 */

/* The share of keys that are found that many adds later: over a long stream, each key once. */
static void recall_at(const bly_filter *model, uint64_t later) {
    bly_filter *f = NULL;
    const bly_geometry *g = &model->geometry;
    uint64_t turnover = g->size * blyi_stable_top(g) / (blyi_stable_run(g) + g->hashes) + 1;
    uint64_t warm = 6 * turnover, n = 60000 * thorough() / BLYT_SLOW, hits = 0;
    double formula;
    assert_ok(bly_filter_clone(model, NULL, &f));
    assert_ok(bly_stable_recall(f, later, &formula));
    add_some(f, 1, 0, warm + later);
    for (uint64_t i = 0; i < n; i++) {
        hits += bly_filter_contains_hash(f, key(1, warm + i - 1));
        add_some(f, 1, warm + later + i, 1);
    }
    /* Neighbours in the stream wear under the same runs: what is counted varies some more. */
    double room = 5 * sqrt((double)n * formula * (1 - formula) * 3) + 5e-3 * (double)n * formula;
    if (fabs((double)hits - (double)n * formula) > room || getenv("BLYT_VERBOSE"))
        print_message("K=%u d=%u m=%llu, %llu later: found %.4f, formula %.4f +- %.4f\n", g->hashes,
                      blyi_stable_width(g), (unsigned long long)g->size, (unsigned long long)later,
                      (double)hits / (double)n, formula, room / (double)n);
    assert_true(fabs((double)hits - (double)n * formula) <= room);
    bly_filter_destroy(f);
}

static void recall(void **state) {
    static const double asked[] = {0.05, 0.01, 0.001};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        bly_filter *f = NULL;
        double at, after;
        assert_ok(bly_stable_create(40000, asked[i], &f));
        uint64_t capacity = bly_filter_capacity(f);
        assert_ok(bly_stable_recall(f, capacity, &at));
        assert_ok(bly_stable_recall(f, capacity + 1, &after));
        assert_true(at >= 0.9 && after < 0.9);
        assert_ok(bly_stable_recall(f, 0, &at));
        assert_true(at == 1);
        assert_ok(bly_stable_recall(f, UINT64_MAX, &after));
        assert_true(fabs(after / asked[i] - 1) < 0.1);
        recall_at(f, capacity);
        recall_at(f, capacity / 3 + 1);
        recall_at(f, 2 * capacity);
        recall_at(f, 5 * capacity);
        bly_filter_destroy(f);
    }
    bly_filter *one = exact(2, 1, 7, 9000);
    recall_at(one, 100);
    recall_at(one, 2000);
    bly_filter_destroy(one);
    assert_ok(bly_bloom_create(10, 0.1, &one));
    double chance;
    assert_int_equal(bly_stable_recall(one, 1, &chance), BLY_EKIND);
    bly_filter_destroy(one);
}

/* ---- sizing ------------------------------------------------------------------------------------
 */

/* By bytes and by keys are the same choice seen from two sides; and it is the best there is. */
static void sizes(void **state) {
    static const double asked[] = {0.1, 0.05, 0.01, 0.001, 0.0001};
    static const double bits[] = {0, 43, 73, 119, 175};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        for (uint64_t bytes = 512; bytes <= 5000000; bytes *= 7) {
            bly_filter *f = NULL, *same = NULL;
            bly_status status = bly_stable_create(bytes, asked[i], &f);
            if (status == BLY_EIMPOSSIBLE && bytes < 5000)
                continue;
            assert_ok(status);
            bly_stats s = stats_of(f);
            assert_true(s.bytes <= bytes && s.bytes + 64 > bytes && s.target_fpr == asked[i]);
            assert_ok(bly_stable_create_keys(s.capacity, asked[i], &same));
            assert_true(stats_of(same).bytes <= s.bytes && stats_of(same).bytes + 128 >= s.bytes);
            if (bytes > 1000000 && i > 0)
                assert_true(fabs((double)s.bits / (double)s.capacity / bits[i] - 1) < 0.02);
            bly_geometry g = bly_filter_geometry(same), other = g;
            other.size -= 64;
            assert_true(blyi_stable_recall(&other, (double)s.capacity) < 0.9);
            other = g;
            other.detail -= 4; /* a shorter run: a rate that is too high */
            assert_true(blyi_stable_run(&g) == 1 || blyi_stable_rate(&other) > asked[i]);
            bly_filter_destroy(f);
            bly_filter_destroy(same);
        }
    }
}

static void refusals(void **state) {
    bly_filter *f = NULL, *g = NULL;
    (void)state;
    assert_int_equal(bly_kind_capabilities(BLY_STABLE),
                     BLY_CAN_ADD | BLY_CAN_MAP | BLY_FORGETS | BLY_IS_LOSSY);
    assert_int_equal(bly_stable_create(64, 0.01, &f), BLY_EIMPOSSIBLE);
    assert_int_equal(bly_stable_create(0, 0.01, &f), BLY_EIMPOSSIBLE);
    assert_int_equal(bly_stable_create(UINT64_MAX, 0.01, &f), BLY_ETOOBIG);
    assert_int_equal(bly_stable_create(1000, 0, &f), BLY_ERATE);
    assert_int_equal(bly_stable_create(1000, NAN, &f), BLY_ERATE);
    assert_int_equal(bly_stable_create_keys(0, 0.01, &f), BLY_ECOUNT);
    assert_int_equal(bly_stable_create_keys(UINT64_MAX, 0.01, &f), BLY_ETOOBIG);
    assert_null(f);
    static const bly_geometry bad[] = {
        {BLY_STABLE, 0, 1000, 0, 4 * 9 + 2}, {BLY_STABLE, 9, 1000, 0, 4 * 9 + 2},
        {BLY_STABLE, 3, 63, 0, 4 * 9 + 2},   {BLY_STABLE, 3, 1000, 0, 4 * 9},
        {BLY_STABLE, 3, 1000, 0, 2},         {BLY_STABLE, 3, 100, 0, 4 * 100 + 2},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(bly_plan_check(&bad[i]), BLY_EGEOMETRY);
    bly_geometry large = {BLY_STABLE, 3, UINT64_MAX, 0, 4 * 9 + 3};
    assert_int_equal(bly_plan_check(&large), BLY_ETOOBIG);
    assert_ok(bly_stable_create(4096, 0.05, &f));
    assert_ok(bly_stable_create(4096, 0.05, &g));
    assert_int_equal(bly_filter_union(f, g), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_intersect(f, g), BLY_EUNSUPPORTED);
    assert_non_null(bly_filter_why_not(BLY_OP_UNION, f, g));
    bly_filter_destroy(f);
    bly_filter_destroy(g);
}

/* ---- bytes -------------------------------------------------------------------------------------
 */

/* Copies that see the same keys stay the same, through files and batches too. */
static void copies_stay_the_same(void **state) {
    (void)state;
    for (unsigned width = 1; width <= 3; width++) {
        bly_filter *a = exact(3, width, 30, 1000), *b = exact(3, width, 30, 1000), *c = NULL;
        uint8_t added[5000];
        bly_hash h[5000];
        for (uint64_t i = 0; i < 5000; i++)
            h[i] = key(1, i % 1700);
        assert_ok(bly_filter_add_hashes(a, h, 2500, added, NULL));
        blyt_buffer bytes = blyt_write(a);
        assert_ok(bly_filter_parse(bytes.data, bytes.size, NULL, &c));
        assert_ok(bly_filter_add_hashes(a, h + 2500, 2500, added + 2500, NULL));
        for (uint64_t i = 0; i < 5000; i++) {
            bool one;
            assert_ok(bly_filter_add_hash(b, h[i], &one));
            assert_int_equal(one, added[i]);
            if (i >= 2500)
                assert_ok(bly_filter_add_hash(c, h[i], NULL));
        }
        assert_true(bly_filter_equal(a, b) && bly_filter_equal(a, c));
        assert_true(bly_filter_count(a) == bly_filter_count(b));
        assert_true(bly_filter_count(a) == bly_filter_count(c));
        bly_filter_clear(a);
        bly_filter_destroy(b);
        b = exact(3, width, 30, 1000);
        assert_true(bly_filter_equal(a, b) && bly_filter_count(a) == 0);
        assert_ok(bly_filter_add_hash(a, h[0], NULL));
        assert_ok(bly_filter_add_hash(b, h[0], NULL));
        assert_true(bly_filter_equal(a, b));
        free(bytes.data);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
        bly_filter_destroy(c);
    }
}

static void stray_bits_are_refused(void **state) {
    (void)state;
    for (unsigned width = 1; width <= 3; width++) {
        bly_filter *f = exact(2, width, 30, 1000);
        add_some(f, 1, 0, 500);
        blyi_shape shape = blyi_filter_shape(f);
        uint64_t *w = blyi_words(f);
        size_t last = 8 + (size_t)blyi_stable_words(&f->geometry) - 1;
        assert_true(f->ops->body_is_valid(&shape, f->body));
        for (size_t i = 1; i < 8; i++) {
            w[i] = blyi_le64(1);
            assert_false(f->ops->body_is_valid(&shape, f->body));
            w[i] = 0;
        }
        uint64_t old = w[last];
        w[last] = old | blyi_le64((uint64_t)1 << 63); /* after the last cell, of any width */
        assert_false(f->ops->body_is_valid(&shape, f->body));
        w[last] = old;
        old = w[8];
        w[8] = old | blyi_le64((uint64_t)1 << 63); /* a cell's bit, but for the width 3 */
        assert_int_equal(f->ops->body_is_valid(&shape, f->body), width != 3);
        w[8] = old;
        bly_filter_destroy(f);
    }
}

static void any_body_is_safe(void **state) {
    uint64_t rng = 5;
    (void)state;
    for (unsigned turn = 0; turn < 60; turn++) {
        bly_filter *model = exact(turn % 8 + 1, turn % 3 + 1, 50, 200 + turn), *f = NULL;
        blyi_shape shape = blyi_filter_shape(model);
        uint64_t *body = aligned_alloc(64, (size_t)model->body_bytes);
        for (size_t i = 0; i < model->body_bytes / 8; i++)
            body[i] = turn % 2 ? blyt_next(&rng) : UINT64_MAX;
        assert_ok(blyi_filter_make(&shape, NULL, (const uint8_t *)body, &f));
        bly_stats s = stats_of(f);
        assert_true(s.current_fpr > 0 && s.current_fpr <= 1 && s.fill <= 1);
        assert_true(count_found(f, 1, 0, 100) <= 100);
        bly_filter_destroy(f);
        bly_filter_destroy(model);
        free(body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals),
        cmocka_unit_test(cells_follow_the_rule),
        cmocka_unit_test(rates),
        cmocka_unit_test(rate_on_the_way),
        cmocka_unit_test(recall),
        cmocka_unit_test(sizes),
        cmocka_unit_test(copies_stay_the_same),
        cmocka_unit_test(stray_bits_are_refused),
        cmocka_unit_test(any_body_is_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
