/* Filters in bytes of the caller: there are no false negatives, the requested FPR holds from one
 * key on, the bytes are those of docs/format.md, and lookups are safe for any bytes. */
#include "support.h"

#include <bloomery/bytes.h>

enum { MAX_KEYS = 1000, MAX_SIZE = 4096 };

static size_t size_for(uint64_t n, double p) {
    size_t size = 0;
    assert_ok(bly_buffer_size(n, p, &size));
    assert_true(size >= BLY_BUFFER_MIN_SIZE);
    return size;
}

/* Returns a filter in a block of exactly its size, so that the address sanitizer reports every
 * access outside. */
static uint8_t *built(size_t size, const bly_bytes *keys, size_t n) {
    uint8_t *buf = malloc(size);
    assert_non_null(buf);
    memset(buf, 0xa5, size);
    assert_ok(bly_buffer_build(buf, size, keys, n));
    return buf;
}

static bly_hasher default_hasher(void) {
    bly_hasher hasher;
    assert_ok(bly_hasher_init(&hasher, BLY_HASH_XXH3, 0));
    return hasher;
}

/* ---- members --------------------------------------------------------------------------------- */

static void every_member_is_found(void **state) {
    static const double rates[] = {0.5, 0.1, 0.01, 1e-4, 1e-9};
    (void)state;
    for (unsigned set = 0; set < KEYS_SETS; set++) {
        for (size_t n = 1; n <= MAX_KEYS; n += n / 3 + 1) {
            blyt_list l = blyt_list_of((blyt_keys)set, 0, n);
            for (size_t r = 0; r < COUNT_OF(rates); r++) {
                size_t size = size_for(n, rates[r]);
                uint8_t *buf = built(size, l.keys, n);
                for (size_t i = 0; i < n; i++)
                    assert_true(bly_buffer_contains(buf, size, l.keys[i].data, l.keys[i].size));
                assert_int_equal(bly_buffer_contains_many(buf, size, l.keys, n, NULL), n);
                free(buf);
            }
            blyt_list_free(&l);
        }
    }
}

/* Any size works, even one that is far too small. */
static void a_small_buffer_has_a_higher_rate(void **state) {
    blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, MAX_KEYS);
    (void)state;
    for (size_t size = BLY_BUFFER_MIN_SIZE; size < 400; size++) {
        uint8_t *buf = built(size, l.keys, MAX_KEYS);
        assert_int_equal(bly_buffer_contains_many(buf, size, l.keys, MAX_KEYS, NULL), MAX_KEYS);
        assert_true(bly_buffer_fpr(size, MAX_KEYS) <= bly_buffer_fpr(size - 1, MAX_KEYS));
        assert_true(bly_buffer_fpr(size, MAX_KEYS) > 0.2);
        free(buf);
    }
    blyt_list_free(&l);
}

static void no_keys_contain_no_key(void **state) {
    uint8_t found[100];
    blyt_list l = blyt_list_of(KEYS_RANDOM, 0, 100);
    (void)state;
    for (size_t size = BLY_BUFFER_MIN_SIZE; size < 20; size++) {
        uint8_t *buf = built(size, NULL, 0);
        assert_int_equal(bly_buffer_contains_many(buf, size, l.keys, 100, found), 0);
        assert_true(bly_buffer_fpr(size, 0) == 0);
        free(buf);
    }
    blyt_list_free(&l);
}

/* Lookups by hashes, in batches and one by one give the same answers, which are also those of a
 * classic filter with as many bits and hash functions. */
static void all_ways_to_ask_agree(void **state) {
    enum { N = 300, ASKED = 2000 };
    bly_hasher hasher = default_hasher();
    blyt_list l = blyt_list_of(KEYS_URL, 0, ASKED);
    bly_hash *h = malloc(ASKED * sizeof *h);
    uint8_t by_key[ASKED], by_hash[ASKED];
    (void)state;
    bly_hash_keys(&hasher, l.keys, ASKED, h);
    for (size_t size = 10; size < 700; size += 23) {
        uint8_t *buf = built(size, l.keys, N), *other = malloc(size);
        bly_filter *f = NULL;
        assert_ok(bly_buffer_build_hashes(other, size, h, N));
        assert_memory_equal(buf, other, size);
        assert_ok(blyt_new_exact(BLY_CLASSIC, 8 * (size - 1), buf[size - 1], &f));
        assert_ok(bly_filter_add_hashes(f, h, N, NULL, NULL));
        size_t hits = bly_buffer_contains_many(buf, size, l.keys, ASKED, by_key);
        assert_int_equal(bly_buffer_contains_hashes(buf, size, h, ASKED, by_hash), hits);
        assert_int_equal(bly_buffer_contains_hashes(buf, size, h, ASKED, NULL), hits);
        assert_memory_equal(by_key, by_hash, ASKED);
        for (size_t i = 0; i < ASKED; i++) {
            bool found = by_key[i];
            hits -= found;
            assert_int_equal(bly_buffer_contains(buf, size, l.keys[i].data, l.keys[i].size), found);
            assert_int_equal(bly_buffer_contains_hash(buf, size, h[i]), found);
            assert_int_equal(bly_filter_contains_hash(f, h[i]), found);
        }
        assert_int_equal(hits, 0);
        bly_filter_destroy(f);
        free(other);
        free(buf);
    }
    free(h);
    blyt_list_free(&l);
}

/* ---- rates ----------------------------------------------------------------------------------- */

typedef struct rate_case {
    uint64_t n;
    double p;
} rate_case;

static const rate_case rate_cases[] = {
    {1, 0.3},    {1, 0.01},    {1, 0.001},   {2, 0.1},      {2, 0.01},
    {3, 0.001},  {5, 0.01},    {5, 1e-4},    {10, 0.3},     {10, 0.01},
    {10, 0.001}, {13, 0.01},   {14, 0.01},   {20, 0.1},     {20, 0.01},
    {20, 0.001}, {100, 0.5},   {100, 0.01},  {100, 1e-3},   {1000, 0.9},
    {1000, 0.1}, {1000, 0.01}, {1000, 1e-3}, {20000, 0.01}, {120000, 0.01},
};

typedef struct rate_sum {
    double filters, hits, squares;
} rate_sum;

/* Builds one more filter of n random keys, and counts how many of `queries` other keys it
 * contains. */
static void sample_filter(rate_sum *sum, uint64_t n, size_t size, size_t queries,
                          uint64_t *random) {
    bly_hasher hasher = default_hasher();
    uint8_t *buf = malloc(size);
    bly_hash *h = malloc((size_t)n * sizeof *h);
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = blyt_next(random);
        h[i] = bly_hash_key(&hasher, &key, sizeof key);
    }
    assert_ok(bly_buffer_build_hashes(buf, size, h, (size_t)n));
    for (size_t i = 0; i < queries; i++) {
        uint64_t key = blyt_next(random);
        hits += bly_buffer_contains(buf, size, &key, sizeof key);
    }
    sum->filters++;
    sum->hits += (double)hits;
    sum->squares += (double)hits * (double)hits;
    free(h);
    free(buf);
}

/* Checks in both directions that the measured FPR is the expected FPR for that size in bytes. (For
 * a few keys the expected FPR may be below the requested one.) Filters differ in their FPR, so
 * sigma is that of the mean over many filters, computed from their spread. With 2500 (1 - p) / p
 * lookups, five sigma are a tenth of the rate. */
static void measure_rate(const rate_case *c, size_t size) {
    double expected = bly_buffer_fpr(size, c->n);
    double lookups = fmin(2500 * (1 - expected) / expected, 4e6) / BLYT_SLOW + 1000;
    size_t filters = c->n > 1000 ? 64 : 1000, queries = (size_t)(lookups / (double)filters) + 1;
    uint64_t random = c->n * 1000003 + size;
    rate_sum sum = {0};
    for (size_t i = 0; i < filters; i++)
        sample_filter(&sum, c->n, size, queries, &random);
    double mean = sum.hits / sum.filters;
    double sigma = sqrt(fmax(sum.squares / sum.filters - mean * mean, 0) / sum.filters);
    /* At least the sigma of a binomial distribution, in case there were few hits. */
    sigma = fmax(sigma, sqrt((double)queries * expected * (1 - expected) / sum.filters));
    if (fabs(mean - (double)queries * expected) > 5 * sigma)
        fail_msg("n = %u, size = %u: measured %g, expected %g", (unsigned)c->n, (unsigned)size,
                 mean / (double)queries, expected);
}

static void the_rate_is_the_expected_one(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rate_cases); i++) {
        const rate_case *c = &rate_cases[i];
        size_t size = size_for(c->n, c->p);
        double expected = bly_buffer_fpr(size, c->n);
        assert_true(expected <= c->p);
        assert_true(c->n < 1000 || expected > 0.98 * c->p);
        measure_rate(c, size);
    }
    /* Buffers that are smaller or larger than the keys need. */
    measure_rate(&(rate_case){50, 0}, 8);
    measure_rate(&(rate_case){3, 0}, 2);
    measure_rate(&(rate_case){100, 0}, 40);
}

/* Returns the mean of (X/m)^k over the distribution of X, the number of bits that t probes set. */
static double rate_by_distribution(size_t m, size_t t, unsigned k) {
    double *share = calloc(m + 1, sizeof *share), rate = 0;
    share[0] = 1;
    for (; t > 0; t--)
        for (size_t x = m + 1; x-- > 0;)
            share[x] =
                (share[x] * (double)x + (x ? share[x - 1] * (double)(m - x + 1) : 0)) / (double)m;
    for (size_t x = 1; x <= m; x++)
        rate += share[x] * pow((double)x / (double)m, k);
    free(share);
    return rate;
}

/* This also checks rates that are too low to be measured. */
static void the_expected_rate_is_the_mean_over_fills(void **state) {
    (void)state;
    for (size_t n = 1; n <= 60; n += n / 3 + 1) {
        blyt_list l = blyt_list_of(KEYS_RANDOM, 0, n);
        for (size_t size = BLY_BUFFER_MIN_SIZE; size < 40; size += 3) {
            uint8_t *buf = built(size, l.keys, n);
            unsigned k = buf[size - 1];
            double exact = rate_by_distribution(8 * (size - 1), n * k, k);
            exact += ldexp((double)n, -64); /* collisions of the hash */
            if (fabs(bly_buffer_fpr(size, n) / exact - 1) > 0.002)
                fail_msg("n = %u, size = %u: %g, not %g", (unsigned)n, (unsigned)size,
                         bly_buffer_fpr(size, n), exact);
            free(buf);
        }
        blyt_list_free(&l);
    }
}

static void the_size_is_the_smallest(void **state) {
    static const double rates[] = {0.99, 0.5, 0.25, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 0x1p-40};
    (void)state;
    for (uint64_t n = 1; n < 2000000; n += n / 2 + 1) {
        for (size_t r = 0; r < COUNT_OF(rates); r++) {
            size_t size = size_for(n, rates[r]);
            assert_true(bly_buffer_fpr(size, n) <= rates[r]);
            size_t most = size - 1 < 30 ? size - 1 : 30;
            for (size_t less = 1; less <= most; less++)
                assert_true(bly_buffer_fpr(size - less, n) > rates[r]);
        }
    }
}

/* The measured rates of LevelDB's Bloom filter with 10 bits per key (bench/bytes_leveldb.cc), and
 * its sizes. The goal was to need at most 3% more at the same rate; buffers are even smaller. */
static void buffers_are_not_larger_than_leveldb(void **state) {
    static const struct {
        uint64_t n;
        double p;
        size_t leveldb;
    } rows[] = {{20, 0.0119, 26}, {100, 0.0093, 126}, {1000, 0.0086, 1251}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_true(size_for(rows[i].n, rows[i].p) < rows[i].leveldb);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void requests_out_of_range_are_refused(void **state) {
    size_t size = 12345;
    (void)state;
    assert_int_equal(bly_buffer_size(0, 0.01, &size), BLY_ECOUNT);
    assert_int_equal(bly_buffer_size(10, 0, &size), BLY_ERATE);
    assert_int_equal(bly_buffer_size(10, 1, &size), BLY_ERATE);
    assert_int_equal(bly_buffer_size(10, -1, &size), BLY_ERATE);
    assert_int_equal(bly_buffer_size(10, NAN, &size), BLY_ERATE);
    assert_int_equal(bly_buffer_size(10, 0x1p-41, &size), BLY_ERATE);
    assert_int_equal(bly_buffer_size(UINT64_C(1) << 46, 0.01, &size), BLY_ETOOBIG);
    assert_int_equal(bly_buffer_size(UINT64_C(1) << 48, 0.2, &size), BLY_ETOOBIG);
    assert_int_equal(bly_buffer_size(UINT64_C(1) << 22, 0x1p-40, &size), BLY_EWEAKHASH);
    assert_int_equal(bly_buffer_size(UINT64_MAX, 0.5, &size), BLY_EWEAKHASH);
    assert_int_equal(size, 12345);
    assert_true(bly_buffer_fpr(0, 10) == 1 && bly_buffer_fpr(1, 10) == 1);
    assert_true(bly_buffer_fpr(2, UINT64_MAX) == 1);
    assert_true(bly_buffer_fpr(2, 1) < 0.1);
}

static void a_failed_build_changes_nothing(void **state) {
    uint8_t buf[8], before[8];
    bly_bytes key = blyt_text("bloomery");
    bly_hash hash = {1, 2};
    (void)state;
    memset(buf, 0xa5, sizeof buf);
    memcpy(before, buf, sizeof buf);
    for (size_t size = 0; size < BLY_BUFFER_MIN_SIZE; size++) {
        assert_int_equal(bly_buffer_build(buf, size, &key, 1), BLY_EGEOMETRY);
        assert_int_equal(bly_buffer_build_hashes(buf, size, &hash, 1), BLY_EGEOMETRY);
    }
#if SIZE_MAX > UINT32_MAX
    assert_int_equal(bly_buffer_build(buf, SIZE_MAX, &key, 1), BLY_ETOOBIG);
    assert_int_equal(bly_buffer_build(buf, ((size_t)1 << 45) + 2, &key, 1), BLY_ETOOBIG);
    assert_true(bly_buffer_contains(buf, SIZE_MAX, "a", 1));
    assert_true(bly_buffer_fpr(SIZE_MAX, 1) == 1);
#endif
    assert_memory_equal(buf, before, sizeof buf);
}

/* ---- the bytes ------------------------------------------------------------------------------- */

static void order_and_repeats_do_not_matter(void **state) {
    enum { N = 200 };
    blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, N);
    size_t size = size_for(N, 0.01);
    uint8_t *first = built(size, l.keys, N);
    uint64_t random = 1;
    (void)state;
    for (size_t i = N - 1; i > 0; i--) {
        size_t j = (size_t)(blyt_next(&random) % (i + 1));
        bly_bytes key = l.keys[i];
        l.keys[i] = l.keys[j];
        l.keys[j] = key;
    }
    uint8_t *second = built(size, l.keys, N);
    assert_memory_equal(first, second, size);
    free(second);
    /* One key is replaced by a repeat of another: the number of keys is the same, and no bit is
     * added. */
    l.keys[0] = l.keys[1];
    second = built(size, l.keys, N);
    for (size_t i = 0; i < size - 1; i++)
        assert_int_equal(second[i] & ~first[i], 0);
    assert_int_equal(second[size - 1], first[size - 1]);
    free(second);
    free(first);
    blyt_list_free(&l);
}

static void any_address_will_do(void **state) {
    enum { N = 50, FRAME = 16 };
    uint8_t frame[MAX_SIZE];
    blyt_list l = blyt_list_of(KEYS_RANDOM, 0, N);
    size_t size = size_for(N, 0.001);
    uint8_t *straight = built(size, l.keys, N);
    (void)state;
    for (size_t shift = 0; shift < FRAME; shift++) {
        memset(frame, 0x5a, sizeof frame);
        assert_ok(bly_buffer_build(frame + shift, size, l.keys, N));
        assert_memory_equal(frame + shift, straight, size);
        assert_int_equal(bly_buffer_contains_many(frame + shift, size, l.keys, N, NULL), N);
        for (size_t i = 0; i < sizeof frame; i++)
            assert_true(i - shift < size || frame[i] == 0x5a);
    }
    free(straight);
    blyt_list_free(&l);
}

/* The vectors of docs/format.md, section 23. */
static void the_bytes_are_those_of_the_format(void **state) {
    static const uint8_t one[3] = {0x09, 0xa6, 0x09};
    static const uint8_t ten[14] = {0x15, 0xc5, 0xef, 0xa4, 0xb4, 0x57, 0x24,
                                    0xd9, 0xeb, 0x17, 0x29, 0x7f, 0xf4, 0x07};
    static const uint8_t fnv1a[7] = {0x0d, 0x77, 0x0a, 0xb7, 0x24, 0x31, 0x1b};
    uint8_t buf[16];
    bly_bytes key = blyt_text("bloomery");
    blyt_list digits = blyt_list_of(KEYS_DECIMAL, 0, 10);
    bly_hasher fnv;
    bly_hash hash;
    (void)state;
    assert_int_equal(size_for(1, 0.01), sizeof one);
    assert_ok(bly_buffer_build(buf, sizeof one, &key, 1));
    assert_memory_equal(buf, one, sizeof one);
    assert_int_equal(size_for(10, 0.01), sizeof ten);
    assert_ok(bly_buffer_build(buf, sizeof ten, digits.keys, 10));
    assert_memory_equal(buf, ten, sizeof ten);
    assert_ok(bly_hasher_init(&fnv, BLY_HASH_FNV1A, 0));
    hash = bly_hash_key(&fnv, key.data, key.size);
    assert_ok(bly_buffer_build_hashes(buf, sizeof fnv1a, &hash, 1));
    assert_memory_equal(buf, fnv1a, sizeof fnv1a);
    blyt_list_free(&digits);
}

/* ---- untrusted bytes ------------------------------------------------------------------------- */

static void an_unknown_form_is_maybe(void **state) {
    (void)state;
    assert_true(bly_buffer_contains(NULL, 0, "a", 1));
    for (size_t size = 1; size < 40; size++) {
        uint8_t *buf = calloc(size, 1);
        for (unsigned last = 0; last < 256; last++) {
            buf[size - 1] = (uint8_t)last;
            bool known = size >= BLY_BUFFER_MIN_SIZE && last >= 1 && last <= BLY_BUFFER_MAX_PROBES;
            uint8_t found = 2;
            assert_int_equal(bly_buffer_contains(buf, size, "a", 1), !known);
            assert_int_equal(bly_buffer_contains_many(buf, size, &(bly_bytes){"a", 1}, 1, &found),
                             !known);
            assert_int_equal(found, !known);
        }
        free(buf);
    }
}

/* Lookups in random bytes read nothing outside, which sanitizers would report. In a filter, an
 * additional set bit never hides a member, and a cleared bit hides some. */
static void any_bytes_are_safe(void **state) {
    enum { N = 20 };
    uint64_t random = 3;
    blyt_list l = blyt_list_of(KEYS_RANDOM, 0, 64);
    (void)state;
    for (size_t size = 0; size < 300; size++) {
        uint8_t *buf = malloc(size ? size : 1), found[64];
        for (unsigned round = 0; round < 20; round++) {
            for (size_t i = 0; i < size; i++)
                buf[i] = (uint8_t)blyt_next(&random);
            size_t hits = bly_buffer_contains_many(buf, size, l.keys, 64, found);
            for (size_t i = 0; i < 64; i++)
                hits -= bly_buffer_contains(buf, size, l.keys[i].data, l.keys[i].size);
            assert_int_equal(hits, 0);
        }
        free(buf);
    }
    size_t size = size_for(N, 0.01);
    uint8_t *buf = built(size, l.keys, N);
    for (size_t bit = 0; bit < 8 * (size - 1); bit++) {
        bool was_set = buf[bit >> 3] >> (bit & 7) & 1;
        buf[bit >> 3] ^= (uint8_t)(1u << (bit & 7));
        size_t hits = bly_buffer_contains_many(buf, size, l.keys, N, NULL);
        assert_true(was_set ? hits < N : hits == N);
        buf[bit >> 3] ^= (uint8_t)(1u << (bit & 7));
    }
    free(buf);
    blyt_list_free(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_is_found),
        cmocka_unit_test(a_small_buffer_has_a_higher_rate),
        cmocka_unit_test(no_keys_contain_no_key),
        cmocka_unit_test(all_ways_to_ask_agree),
        cmocka_unit_test(the_rate_is_the_expected_one),
        cmocka_unit_test(the_expected_rate_is_the_mean_over_fills),
        cmocka_unit_test(the_size_is_the_smallest),
        cmocka_unit_test(buffers_are_not_larger_than_leveldb),
        cmocka_unit_test(requests_out_of_range_are_refused),
        cmocka_unit_test(a_failed_build_changes_nothing),
        cmocka_unit_test(order_and_repeats_do_not_matter),
        cmocka_unit_test(any_address_will_do),
        cmocka_unit_test(the_bytes_are_those_of_the_format),
        cmocka_unit_test(an_unknown_form_is_maybe),
        cmocka_unit_test(any_bytes_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
