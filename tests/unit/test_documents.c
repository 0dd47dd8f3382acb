/* test_documents.c - the calls, formulas and examples of five introductions to Bloom filters,
 * carried out with Bloomery. docs/vocabulary.md has one row for each case of test_documents*.c,
 * which check_vocabulary.sh checks. The formulas are written as in their sources. */
/* Length: one case for each row of docs/vocabulary.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <bloomery/bloomery.h>
#include <bloomery/formulas.h>
#include <bloomery/host/describe.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100000 };

static void must(bly_status status) {
    if (status != BLY_OK)
        print_error("%s\n", bly_strerror(status));
    assert_int_equal(status, BLY_OK);
}

static bly_filter *created(bly_kind kind, uint64_t keys, double fpr) {
    const bly_spec spec = bly_spec_for(kind, keys, fpr);
    bly_filter *f;
    must(bly_filter_create(&spec, &f));
    return f;
}

/* `size` is the number of bits; for a partitioned filter, the number of bits in a slice. */
static bly_filter *created_exactly(bly_kind kind, uint64_t size, uint32_t hashes) {
    bly_spec spec = bly_spec_for(kind, 0, 0);
    bly_filter *f;
    spec.geometry.size = size;
    spec.geometry.hashes = hashes;
    must(bly_filter_create(&spec, &f));
    return f;
}

/* Returns key number i, which is valid until the next call. */
static bly_bytes url(uint64_t i) {
    static char text[64];
    int size = snprintf(text, sizeof text, "https://example.com/page/%llu", (unsigned long long)i);
    return (bly_bytes){text, (size_t)size};
}

static bool add_number(bly_filter *f, uint64_t i) {
    bly_bytes key = url(i);
    bool added = false;
    must(bly_filter_add(f, key.data, key.size, &added));
    return added;
}

static bool contains_number(const bly_filter *f, uint64_t i) {
    bly_bytes key = url(i);
    return bly_filter_contains(f, key.data, key.size);
}

static bly_filter *filled(uint64_t keys, double rate) {
    bly_filter *f = created(BLY_CLASSIC, keys, rate);
    for (uint64_t i = 0; i < keys; i++)
        add_number(f, i);
    return f;
}

static bly_filter_info stats_of(const bly_filter *f) {
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(f, &s);
    return s;
}

static void assert_near(double value, double wanted, double share) {
    if (!(fabs(value - wanted) <= share * fabs(wanted)))
        fail_msg("%.10g is not within %g of %.10g", value, share, wanted);
}

/* ---- creating a filter ---------------------------------------------------------------------- */

/* n keys at rate p: no key is missed, and the measured false-positive rate is p. */
static void test_new_by_n_and_p(void **state) {
    (void)state;
    bly_filter *f = filled(N, 0.01);
    uint64_t positives = 0, lookups = 50 * N;
    for (uint64_t i = 0; i < N; i++)
        assert_true(contains_number(f, i));
    for (uint64_t i = N; i < N + lookups; i++)
        positives += contains_number(f, i);
    double rate = bly_filter_capacity(f) == N ? stats_of(f).requested_fpr : 0;
    assert_true(rate == 0.01);
    /* Five sigma. The variance is that of the lookups, and of how full a single filter gets. */
    double expected = (double)lookups * rate;
    double sigma = sqrt(expected + pow(expected, 2) * 0.307 * 49 / 9.6 / N);
    assert_in_range((uint64_t)fabs((double)positives - expected), 0, (uint64_t)(5 * sigma));
    bly_filter_destroy(f);
}

static void test_new_by_k_and_m(void **state) {
    (void)state;
    bly_filter *f = created_exactly(BLY_CLASSIC, 1000, 7);
    bly_geometry g = bly_filter_geometry(f);
    assert_int_equal(g.kind, BLY_CLASSIC);
    assert_int_equal(g.hashes, 7);
    assert_int_equal(g.size, 1000);
    assert_true(add_number(f, 1));
    assert_true(contains_number(f, 1));
    assert_in_range(stats_of(f).set_bits, 1, 7);
    /* The capacity is the number of keys that fill half of the bits. */
    assert_near((double)bly_filter_capacity(f), 1000 * log(2) / 7, 0.02);
    bly_filter_destroy(f);
    bly_spec none = bly_spec_for(BLY_CLASSIC, 0, 0);
    none.geometry.size = 1000;
    assert_int_equal(bly_filter_create(&none, &f), BLY_EGEOMETRY);
    assert_null(f);
}

/* New(n) means a rate of 0.001 and a fill of one half. */
static void test_default_rate_and_fill(void **state) {
    (void)state;
    bly_filter *f = filled(N, 0.001);
    bly_geometry g = bly_filter_geometry(f);
    assert_int_equal(g.hashes, 10);
    assert_near((double)g.size, 1437759, 0.001);
    assert_near(stats_of(f).fill, 0.5, 0.005);
    assert_near(stats_of(f).expected_fpr, 0.001, 0.02);
    bly_filter_destroy(f);
}

/* m = -n ln p / (ln 2)^2, k = (m / n) ln 2 at Guava's default of 0.03. */
static void test_guava_default(void **state) {
    (void)state;
    const double n = 1e6, p = 0.03;
    double m = -n * log(p) / pow(log(2), 2), k = m / n * log(2);
    uint64_t bits;
    bly_geometry g;
    must(bly_textbook_bits(1000000, p, 0.5, &bits));
    assert_int_equal(bits, 7298441);
    assert_int_equal(bits, (uint64_t)ceil(m));
    assert_int_equal(lround(k), 5);
    assert_int_equal(bly_textbook_best_hashes(bits, 1000000), (uint32_t)ceil(k));
    /* With k rounded down, the rate is slightly too high, so the plan has 0.02% more bits. */
    must(bly_plan(BLY_CLASSIC, 1000000, p, 0, 64, &g));
    assert_int_equal(g.hashes, 5);
    assert_near((double)g.size, m, 0.001);
    assert_true(bly_textbook_fpr((uint64_t)m, 5, 1000000) > p);
    assert_true(bly_plan_fpr(&g, 1000000, 64) <= p);
}

/* k = -ln p log2 e, rounded down; m = n k log2 e, computed from the k before rounding, in whole
 * bytes. */
static void test_go_bloom_k_and_m(void **state) {
    (void)state;
    const double log2e = 1 / log(2), p = 0.01;
    double k = -log(p) * log2e, m = N * k * log2e;
    uint64_t bits;
    must(bly_textbook_bits(N, p, 0.5, &bits));
    assert_int_equal(bits, (uint64_t)ceil(m));
    assert_int_equal(bly_textbook_hashes(p), (uint32_t)k + 1);
    uint64_t cut = (uint64_t)(m / 8) * 8;
    assert_int_equal(cut, 958504);
    /* A filter of this size, with k = 6. Rounding k down makes the rate 1.4% higher. */
    bly_filter *f = created_exactly(BLY_CLASSIC, cut, (uint32_t)k);
    assert_int_equal(bly_filter_geometry(f).hashes, 6);
    assert_int_equal(bly_filter_geometry(f).size, cut);
    assert_near(bly_textbook_fpr(cut, 6, N), 1.014 * p, 0.001);
    bly_filter_destroy(f);
    f = created(BLY_CLASSIC, N, p);
    assert_int_equal(bly_filter_geometry(f).hashes, 7);
    bly_filter_destroy(f);
}

/* go-zero: k is always 14. With 20 bits per key, the rate is 0.000067. */
static void test_go_zero_k_and_m(void **state) {
    (void)state;
    assert_near(bly_textbook_fpr(20 * N, 14, N), 0.000067, 0.005);
    bly_textbook t = {.keys = N, .bits = 20 * N, .hashes = 14};
    must(bly_textbook_solve(&t));
    assert_near(t.fpr, 0.000067, 0.005);
}

/* ---- adds and lookups ----------------------------------------------------------------------- */

static void test_add(void **state) {
    (void)state;
    bly_filter *f = created(BLY_CLASSIC, N, 0.001);
    for (uint64_t i = 0; i < 1000; i++) {
        add_number(f, i);
        assert_true(contains_number(f, i));
    }
    assert_true(add_number(f, 1000));
    assert_false(add_number(f, 1000));
    bly_filter_destroy(f);
}

static void test_contains(void **state) {
    (void)state;
    bly_filter *f = created(BLY_CLASSIC, N, 0.001);
    for (uint64_t i = 0; i < 1000; i++)
        assert_false(contains_number(f, i));
    add_number(f, 7);
    assert_true(contains_number(f, 7));
    assert_false(contains_number(f, 8));
    bly_filter_destroy(f);
}

/* Of three lines, the first two are the same, so two lines are kept. */
static void test_url_example(void **state) {
    (void)state;
    static const char *const lines[] = {
        "https://blog.example.com/sunshine/article/details/80087718",
        "https://blog.example.com/sunshine/article/details/80087718",
        "https://www.example.orghttps://bbs.example.net/topics/380233284",
    };
    bly_filter *checked, *f;
    checked = created(BLY_CLASSIC, N, 0.001);
    f = created(BLY_CLASSIC, N, 0.001);
    unsigned kept = 0;
    for (size_t i = 0; i < 3; i++) {
        size_t size = strlen(lines[i]);
        bool added;
        if (!bly_filter_contains(checked, lines[i], size))
            must(bly_filter_add(checked, lines[i], size, NULL));
        must(bly_filter_add(f, lines[i], size, &added)); /* looks up and adds in one call */
        kept += added;
        assert_int_equal(added, i != 1);
    }
    assert_int_equal(kept, 2);
    assert_int_equal(bly_filter_count(f), 2);
    assert_int_equal(bly_filter_count(checked), 2);
    assert_true(bly_filter_equal(checked, f));
    bly_filter_destroy(checked);
    bly_filter_destroy(f);
}

static void test_count(void **state) {
    (void)state;
    bly_filter *f = filled(1000, 0.001);
    uint64_t once = bly_filter_count(f);
    assert_in_range(once, 990, 1000); /* a false positive is not counted */
    for (uint64_t i = 0; i < 1000; i++)
        assert_false(add_number(f, i));
    assert_int_equal(bly_filter_count(f), once);
    assert_near(stats_of(f).estimated_keys, 1000, 0.05);
    bly_filter_destroy(f);
}

static void test_size(void **state) {
    (void)state;
    bly_filter *f = created_exactly(BLY_CLASSIC, 958504, 6);
    bly_geometry g = bly_filter_geometry(f);
    uint64_t bytes = stats_of(f).bytes;
    assert_int_equal(bytes, bly_plan_bytes(&g));
    assert_int_equal(bytes, (958504 + 511) / 512 * 64); /* whole cache lines */
    assert_int_equal(bly_filter_file_size(f), bytes + 64);
    bly_filter_destroy(f);
}

static void test_reset(void **state) {
    (void)state;
    bly_filter *f = filled(1000, 0.001), *fresh;
    fresh = created(BLY_CLASSIC, 1000, 0.001);
    bly_filter_clear(f);
    assert_int_equal(bly_filter_count(f), 0);
    assert_int_equal(stats_of(f).set_bits, 0);
    for (uint64_t i = 0; i < 1000; i++)
        assert_false(contains_number(f, i));
    assert_true(bly_filter_equal(f, fresh));
    bly_filter_destroy(f);
    bly_filter_destroy(fresh);
}

/* ---- the hash and the rate of a filter ------------------------------------------------------ */

/* The hash is chosen at creation. Keys added under one hash are not found under another. */
static void test_set_hasher(void **state) {
    (void)state;
    bly_hasher fnv, crc;
    must(bly_hasher_init(&fnv, BLY_HASH_FNV1, 0));
    must(bly_hasher_init(&crc, BLY_HASH_CRC64, 0));
    bly_spec spec = bly_spec_for(BLY_CLASSIC, N, 0.001);
    bly_filter *f, *other;
    spec.hasher = fnv;
    must(bly_filter_create(&spec, &f));
    spec.hasher = crc;
    must(bly_filter_create(&spec, &other));
    assert_string_equal(stats_of(f).hash_name, "fnv1");
    assert_string_equal(stats_of(other).hash_name, "crc64");
    unsigned lost = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        add_number(f, i);
        add_number(other, i);
        bly_bytes key = url(i);
        lost += !bly_filter_contains_hash(f, bly_hash_key(&crc, key.data, key.size));
    }
    assert_true(lost > 990);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(contains_number(f, i) && contains_number(other, i));
    assert_int_equal(bly_filter_union(f, other), BLY_EMISMATCH);
    bly_filter_destroy(f);
    bly_filter_destroy(other);
}

/* The rate determines m and k, and so the positions of the bits of each key. A filter for another
 * rate must be a new filter. */
static void test_set_error_probability(void **state) {
    (void)state;
    bly_filter *f, *finer;
    f = created(BLY_CLASSIC, N, 0.001);
    finer = created(BLY_CLASSIC, N, 0.0001);
    assert_true(stats_of(f).requested_fpr == 0.001);
    assert_true(stats_of(finer).requested_fpr == 0.0001);
    assert_int_equal(bly_filter_geometry(f).hashes, 10);
    assert_int_equal(bly_filter_geometry(finer).hashes, 13);
    assert_near((double)stats_of(finer).bits / (double)stats_of(f).bits, 4.0 / 3, 0.001);
    bly_filter_destroy(f);
    bly_filter_destroy(finer);
}

/* The six hashes of program 001, with n = 100000. */
static void test_hashers_in_turn(void **state) {
    (void)state;
    static const char *const names[] = {"fnv1", "crc64", "murmur3", "city64", "md5", "sha1"};
    const uint64_t lookups = 5 * N;
    for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
        bly_spec spec = bly_spec_for(BLY_CLASSIC, N, 0.001);
        bly_filter *f;
        bly_hash_id id;
        must(bly_hash_by_name(names[j], &id));
        if (!bly_hash_available(id)) {
            print_message("%s: not in this build\n", names[j]);
            continue;
        }
        must(bly_hasher_init(&spec.hasher, id, 0));
        must(bly_filter_create(&spec, &f));
        assert_string_equal(stats_of(f).hash_name, names[j]);
        uint64_t positives = 0;
        for (uint64_t i = 0; i < N; i++)
            add_number(f, i);
        for (uint64_t i = 0; i < N; i++)
            assert_true(contains_number(f, i));
        for (uint64_t i = N; i < N + lookups; i++)
            positives += contains_number(f, i);
        /* 500 are expected; five sigma is 112, and the fill varies, too */
        if (positives < 380 || positives > 620)
            fail_msg("%s: %llu false positives, not 500", names[j], (unsigned long long)positives);
        bly_filter_destroy(f);
    }
}

/* ---- the hash ------------------------------------------------------------------------------- */

/* One hash of a key is enough for all its probes, and for all filters with the same hasher. */
static void test_one_hash_per_key(void **state) {
    (void)state;
    bly_hasher fnv;
    must(bly_hasher_init(&fnv, BLY_HASH_FNV1A, 0));
    bly_spec small = bly_spec_for(BLY_CLASSIC, 1000, 0.01);
    bly_spec large = bly_spec_for(BLY_SPLIT512, N, 0.001);
    small.hasher = large.hasher = fnv;
    bly_filter *a, *b;
    must(bly_filter_create(&small, &a));
    must(bly_filter_create(&large, &b));
    for (uint64_t i = 0; i < 1000; i++) {
        bly_bytes key = url(i);
        bly_hash h = bly_hash_key(&fnv, key.data, key.size);
        must(bly_filter_add_hash(a, h, NULL));
        must(bly_filter_add_hash(b, h, NULL));
        assert_true(contains_number(a, i) && contains_number(b, i));
    }
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

/* ---- information about a filter ------------------------------------------------------------- */

static void test_m_and_k(void **state) {
    (void)state;
    bly_filter *f = created(BLY_CLASSIC, N, 0.001);
    bly_geometry g = bly_filter_geometry(f);
    assert_int_equal(g.hashes, 10);
    assert_int_equal(g.size, bly_plan_bits(&g));
    assert_int_equal(g.size, stats_of(f).bits);
    assert_int_equal(bly_filter_capacity(f), N);
    bly_filter_destroy(f);
}

static void test_fill_ratio(void **state) {
    (void)state;
    bly_filter *f = filled(N, 0.001);
    bly_filter_info s = stats_of(f);
    assert_true(s.fill == (double)s.set_bits / (double)s.bits);
    assert_near(s.fill, 0.5, 0.005);
    bly_filter_destroy(f);
}

/* The expected fill with c keys is 1 - e^(-ck/m). */
static void test_estimated_fill_ratio(void **state) {
    (void)state;
    for (uint64_t keys = 1; keys <= N; keys *= 10) {
        bly_filter *f = filled(keys, 0.001);
        bly_filter_info s = stats_of(f);
        double theirs = 1 - exp(-(double)s.count * s.hashes / (double)s.bits);
        assert_near(s.expected_fill, theirs, 1.0 / (double)s.bits);
        bly_filter_destroy(f);
    }
    /* The fill of a real filter differs more from each formula than the formulas differ from each
     * other. */
    bly_filter *f = filled(N, 0.001);
    bly_filter_info s = stats_of(f);
    double off = fabs(s.fill - s.expected_fill);
    assert_true(off > 1 / (double)s.bits && off < 5 * 0.28 / sqrt((double)s.bits));
    bly_filter_destroy(f);
}

/* The rate with n keys is (1 - e^(-kn/m))^k. */
static void test_false_positive_rate(void **state) {
    (void)state;
    for (uint64_t n = 1; n <= 10 * N; n *= 10) {
        double theirs = pow(1 - exp(-(10 * (double)n) / 1437759), 10);
        assert_near(bly_textbook_fpr(1437759, 10, n), theirs, 1e-6);
    }
    bly_filter *f = filled(N, 0.001);
    bly_filter_info s = stats_of(f);
    double theirs = pow(1 - exp(-(double)s.hashes * N / (double)s.bits), s.hashes);
    assert_near(s.expected_fpr, theirs, 0.02);
    assert_near(s.current_fpr, theirs, 0.02);
    bly_filter_destroy(f);
}

static void test_print_stats(void **state) {
    (void)state;
    bly_filter *f = filled(N, 0.001);
    bly_filter_info s = stats_of(f);
    char text[1024], wanted[64], cut[10];
    size_t size = bly_filter_info_format(&s, text, sizeof text);
    assert_int_equal(size, strlen(text));
    const struct {
        const char *format;
        uint64_t value;
    } parts[] = {{"%llu keys at 0.001", N}, {"k = %llu", s.hashes}, {"%llu counted", s.count},
                 {"%llu of", s.set_bits},   {"of %llu", s.bits},    {"%llu bytes", s.bytes}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        (void)snprintf(wanted, sizeof wanted, parts[i].format, (unsigned long long)parts[i].value);
        if (!strstr(text, wanted))
            fail_msg("no \"%s\" in:\n%s", wanted, text);
    }
    (void)snprintf(wanted, sizeof wanted, "(%.2f%%", 100 * s.fill);
    assert_non_null(strstr(text, wanted));
    assert_int_equal(bly_filter_info_format(&s, cut, sizeof cut), size);
    assert_int_equal(strlen(cut), sizeof cut - 1);
    bly_filter_destroy(f);
}

/* ---- the formulas --------------------------------------------------------------------------- */

static const double rates[] = {0.5, 0.1, 0.03, 0.01, 0.001, 0.0001, 1e-6, 1e-9};
enum { RATES = sizeof rates / sizeof *rates };

/* k = ceil(log2(1/e)) */
static void test_K(void **state) {
    (void)state;
    assert_int_equal(bly_textbook_hashes(0.001), 10);
    assert_int_equal(bly_textbook_hashes(0.01), 7);
    assert_int_equal(bly_textbook_hashes(0.03), 6);
    for (size_t i = 0; i < RATES; i++)
        assert_int_equal(bly_textbook_hashes(rates[i]), (uint32_t)ceil(log2(1 / rates[i])));
}

/* m = ceil(n / (ln p ln(1-p) / |ln e|)) for a fill of p and a rate of e */
static void test_M(void **state) {
    (void)state;
    static const double fills[] = {0.5, 0.3, 0.7};
    uint64_t bits;
    must(bly_textbook_bits(100000, 0.001, 0.5, &bits));
    assert_int_equal(bits, 1437759);
    for (size_t i = 0; i < RATES; i++) {
        for (size_t j = 0; j < 3; j++) {
            for (uint64_t n = 1; n <= 1000000000; n *= 10) {
                double p = fills[j], e = rates[i];
                double m = ceil((double)n / ((log(p) * log(1 - p)) / fabs(log(e))));
                must(bly_textbook_bits(n, e, p, &bits));
                assert_int_equal(bits, (uint64_t)m);
            }
        }
    }
}

/* s = ceil(m / k) */
static void test_S(void **state) {
    (void)state;
    assert_int_equal(bly_textbook_slice(1437759, 10), 143776);
    assert_int_equal(bly_textbook_slice(1437760, 10), 143776);
    assert_int_equal(bly_textbook_slice(1437761, 10), 143777);
    /* Only the partitioned kind has slices. Their size is a multiple of 64. */
    bly_filter *f = created_exactly(BLY_PARTITIONED, (143776 + 63) / 64 * 64, 10);
    assert_int_equal(bly_filter_geometry(f).kind, BLY_PARTITIONED);
    add_number(f, 1);
    assert_int_equal(stats_of(f).set_bits, 10);
    bly_filter_destroy(f);
}

/* m = ceil(-n ln p / (ln 2)^2) */
static void test_calculateM(void **state) {
    (void)state;
    uint64_t bits;
    must(bly_textbook_bits(1000, 0.01, 0.5, &bits));
    assert_int_equal(bits, 9586);
    for (size_t i = 0; i < RATES; i++) {
        for (uint64_t n = 1; n <= 1000000000; n *= 10) {
            must(bly_textbook_bits(n, rates[i], 0.5, &bits));
            double m = ceil(-(double)n * log(rates[i]) / pow(log(2), 2));
            assert_int_equal(bits, (uint64_t)m);
        }
    }
}

/* k = ceil(m / n ln 2) */
static void test_calculateK(void **state) {
    (void)state;
    assert_int_equal(bly_textbook_best_hashes(9586, 1000), 7);
    assert_int_equal(bly_textbook_best_hashes(1437759, 100000), 10);
    for (uint64_t m = 64; m < 1000000000; m = m * 3 + 1)
        for (uint64_t n = 1; n <= m; n = n * 7 + 2)
            assert_int_equal(bly_textbook_best_hashes(m, n),
                             (uint32_t)ceil((double)m / (double)n * log(2)));
}

static void test_scalable_grows(void **state) {
    (void)state;
    bly_filter *f = created(BLY_SCALABLE, 1000, 0.01);
    for (uint64_t i = 0; i < N; i++)
        add_number(f, i);
    for (uint64_t i = 0; i < N; i++)
        assert_true(contains_number(f, i));
    assert_true(bly_filter_level_count(f) > 1 && stats_of(f).current_fpr < 0.01);
    bly_filter_destroy(f);
}

static void test_cuckoo_removes(void **state) {
    bly_filter *f;
    bool removed;
    bly_geometry cuckoo, classic;
    (void)state;
    f = created(BLY_CUCKOO, 1000, 0.01);
    must(bly_filter_add(f, "a", 1, NULL));
    must(bly_filter_add(f, "b", 1, NULL));
    must(bly_filter_remove(f, "a", 1, &removed));
    assert_true(removed && !bly_filter_contains(f, "a", 1) && bly_filter_contains(f, "b", 1));
    bly_filter_destroy(f);
    for (int e = 2; e <= 4; e++) {
        double p = pow(10, -e);
        must(bly_plan(BLY_CUCKOO, 1000000, p, 0, 64, &cuckoo));
        must(bly_plan(BLY_CLASSIC, 1000000, p, 0, 64, &classic));
        assert_int_equal(bly_plan_bits(&cuckoo) < bly_plan_bits(&classic), e > 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalable_grows),
        cmocka_unit_test(test_cuckoo_removes),
        cmocka_unit_test(test_new_by_n_and_p),
        cmocka_unit_test(test_new_by_k_and_m),
        cmocka_unit_test(test_default_rate_and_fill),
        cmocka_unit_test(test_guava_default),
        cmocka_unit_test(test_go_bloom_k_and_m),
        cmocka_unit_test(test_go_zero_k_and_m),
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_contains),
        cmocka_unit_test(test_url_example),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_set_hasher),
        cmocka_unit_test(test_set_error_probability),
        cmocka_unit_test(test_hashers_in_turn),
        cmocka_unit_test(test_one_hash_per_key),
        cmocka_unit_test(test_m_and_k),
        cmocka_unit_test(test_fill_ratio),
        cmocka_unit_test(test_estimated_fill_ratio),
        cmocka_unit_test(test_false_positive_rate),
        cmocka_unit_test(test_print_stats),
        cmocka_unit_test(test_K),
        cmocka_unit_test(test_M),
        cmocka_unit_test(test_S),
        cmocka_unit_test(test_calculateM),
        cmocka_unit_test(test_calculateK),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
