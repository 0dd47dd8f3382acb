/* test_go_programs.c - the measurements of docs/documents.md, at small sizes.
 *
 * The tables below have the numbers of false positives of the documents' Go programs. They were
 * counted in November 2026 with Go 1.19.8; go_url(0) to go_url(99999) were the members, and the
 * next URLs the non-members. The filters of go_programs.h have exactly the same numbers. So other
 * measurements of these filters hold for the Go programs, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <bloomery/bloomery.h>
#include <bloomery/formulas.h>
#include <cmocka.h>
#include <math.h>

#include "go_programs.h"

enum { MEMBERS = 100000, NON_MEMBERS = 200000 };

/* Adds MEMBERS keys to a filter, and returns how many of the next `lookups` keys it contains. */
static uint64_t false_positives(go_positions positions, uint64_t m, unsigned k, uint64_t lookups) {
    go_filter f = go_filter_create(positions, m, k);
    uint64_t found = 0;
    for (uint64_t i = 0; i < MEMBERS; i++) {
        const bly_bytes key = go_url(i);
        go_filter_add(&f, key.data, key.size);
    }
    for (uint64_t i = MEMBERS; i < MEMBERS + lookups; i++) {
        const bly_bytes key = go_url(i);
        found += go_filter_contains(&f, key.data, key.size);
    }
    go_filter_destroy(&f);
    return found;
}

/* Asserts that this rate explains `found` false positives: within five sigma. The variance is that
 * of the lookups, and of how full a single filter of m bits gets. */
static void assert_explains(double rate, uint64_t found, uint64_t lookups, unsigned k, uint64_t m) {
    const double expected = rate * (double)lookups;
    const double fill_sigma = expected * k * 0.28 / sqrt((double)m) / 0.5;
    const double sigma = sqrt(expected + fill_sigma * fill_sigma);
    if (fabs((double)found - expected) > 5 * sigma)
        fail_msg("%llu false positives, not %.0f", (unsigned long long)found, expected);
}

/* ---- the counts of the Go programs ----------------------------------------------------------- */

/* The hash of positions_001_digest, which is 001 with another hash: its words are the first eight
 * bytes of the digest. */
static bly_hash_id digest_of;

static void positions_001_digest(const uint8_t *key, size_t len, uint64_t m, unsigned k,
                                 uint64_t *out) {
    bly_hasher hasher;
    uint8_t d[20];
    uint64_t word = 0, a, b;
    assert_int_equal(bly_hasher_init(&hasher, digest_of, 0), BLY_OK);
    assert_true(bly_hash_digest(&hasher, key, len, d) >= 8);
    for (unsigned i = 0; i < 8;
         i++) /* For Murmur3, Go prints the first word with its highest byte first. */
        word = word << 8 | d[digest_of == BLY_HASH_MURMUR3 ? 7 - i : i];
    a = word & UINT32_MAX;
    b = word >> 32;
    for (unsigned i = 0; i < k; i++)
        out[i] = (a + i * b) % m;
}

static void test_counts_of_the_go_programs(void **state) {
    (void)state;
    static const struct {
        go_positions positions;
        uint64_t m;
        unsigned k;
        uint64_t lookups, go_found;
    } rows[] = {
        {positions_000, 958504, 6, NON_MEMBERS, 10123},
        {positions_000, 1437752, 9, NON_MEMBERS, 2044},
        {positions_001, 1437759, 10, NON_MEMBERS, 197},
        {positions_002, 2000000, 14, 1000000, 75},
        {positions_003, 958506, 7, NON_MEMBERS, 2242},
        {positions_003, 1437759, 10, NON_MEMBERS, 178},
        {positions_004, 958506, 7, NON_MEMBERS, 33502},
        {positions_004, 1437759, 10, NON_MEMBERS, 22685},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(false_positives(rows[i].positions, rows[i].m, rows[i].k, rows[i].lookups),
                         rows[i].go_found);
}

/* With each of its hashes, 001 has about the requested rate. */
static void test_hashes_of_001(void **state) {
    (void)state;
    static const struct {
        bly_hash_id id;
        uint64_t go_found;
    } rows[] = {{BLY_HASH_FNV1, 197},   {BLY_HASH_CRC64, 191}, {BLY_HASH_MURMUR3, 202},
                {BLY_HASH_CITY64, 224}, {BLY_HASH_MD5, 194},   {BLY_HASH_SHA1, 219}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        digest_of = rows[i].id;
        if (!bly_hash_available(digest_of))
            continue;
        const uint64_t found = false_positives(positions_001_digest, 1437759, 10, NON_MEMBERS);
        assert_int_equal(found, rows[i].go_found);
        assert_explains(0.001, found, NON_MEMBERS, 10, 1437759);
    }
}

/* go-zero has the rate that its formula gives: 75 false positives were counted. */
static void test_rate_of_go_zero(void **state) {
    (void)state;
    assert_explains(bly_textbook_fpr(20 * MEMBERS, 14, MEMBERS), 75, 1000000, 14, 20 * MEMBERS);
}

/* ---- why program 000 has five times the requested rate --------------------------------------- */

static void positions_000_odd(const uint8_t *key, size_t len, uint64_t m, unsigned k,
                              uint64_t *out) {
    const uint64_t x = fnv1_64(key, len), y = fnv1a_64(key, len) | 1;
    for (unsigned i = 0; i < k; i++)
        out[i] = (x + i * y) % m;
}

/* FNV's lowest bits depend on nothing but the lowest bits of the key's bytes. So y is 2 - x modulo
 * 4 for every key. m is a multiple of 8, so the remainder modulo m keeps the lowest bits: if x is
 * even, the key has all its bits at even positions. */
static void test_low_bits_of_double_fnv(void **state) {
    (void)state;
    uint64_t at[6];
    for (uint64_t i = 0; i < MEMBERS; i++) {
        const bly_bytes key = go_url(i);
        const uint64_t x = fnv1_64(key.data, key.size), y = fnv1a_64(key.data, key.size);
        assert_int_equal((x + y) % 4, 2);
        positions_000(key.data, key.size, 958504, 6, at);
        for (unsigned j = 0; j < 6 && x % 2 == 0; j++)
            assert_int_equal(at[j] % 2, 0);
    }
}

/* Computes the false-positive rate that follows from this. Position i of a key is x + i y modulo 4,
 * where y is 2 - x. So x modulo 4 determines to which of the four residue classes the key's bits
 * belong. For a given x, the rate is the product, over the k bits, of the fill of the bit's class.
 * The result is the mean over the four values of x. */
static double rate_by_residues(double m, unsigned k) {
    double load[4] = {0}, rate = 0;
    for (unsigned x = 0; x < 4; x++)
        for (unsigned i = 0; i < k; i++)
            load[(x + i * (6 - x)) % 4] += 0.25;
    for (unsigned x = 0; x < 4; x++) {
        double all = 0.25;
        for (unsigned i = 0; i < k; i++)
            all *= 1 - exp(-load[(x + i * (6 - x)) % 4] * MEMBERS / (m / 4));
        rate += all;
    }
    return rate;
}

static void test_cause_in_000(void **state) {
    (void)state;
    const double formula = bly_textbook_fpr(958504, 6, MEMBERS);
    const double by_residues = rate_by_residues(958504, 6);
    assert_true(fabs(by_residues - 0.05089) < 0.00001);
    assert_explains(by_residues, 10123, NON_MEMBERS, 6, 958504);
    assert_true(fabs(rate_by_residues(1437752, 9) - 0.01065) < 0.00001);
    assert_explains(rate_by_residues(1437752, 9), 2044, NON_MEMBERS, 9, 1437752);
    /* With an odd m, or with an odd y, the rate is that of the formula. */
    assert_explains(formula, false_positives(positions_000, 958505, 6, NON_MEMBERS), NON_MEMBERS, 6,
                    958505);
    assert_explains(formula, false_positives(positions_000_odd, 958504, 6, NON_MEMBERS),
                    NON_MEMBERS, 6, 958504);
}

/* ---- what is weak in 003, and in 001 with its default hash ----------------------------------- */

/* FNV-1 ends with an XOR of the last byte. So keys that differ only in that byte have the same
 * second hash, and first hashes that differ by less than 256. */
static void test_last_byte_of_fnv1(void **state) {
    (void)state;
    for (uint64_t i = 0; i < MEMBERS; i += 10) {
        const uint64_t first = fnv1_64(go_url(i).data, go_url(i).size);
        for (uint64_t j = 1; j < 10; j++) {
            const uint64_t other = fnv1_64(go_url(i + j).data, go_url(i + j).size);
            assert_int_equal(first >> 8, other >> 8);
        }
    }
}

/* ---- why 004 has seventeen times the requested rate ------------------------------------------ */

static void positions_004_seed_first(const uint8_t *key, size_t len, uint64_t m, unsigned k,
                                     uint64_t *out) {
    for (unsigned i = 0; i < k; i++) {
        const uint8_t seed = (uint8_t)i;
        out[i] = fnv1a_32(fnv1a_32(FNV32_BASIS, &seed, 1), key, len) % m;
    }
}

static void test_cause_in_004(void **state) {
    (void)state;
    uint64_t at[7];
    /* All k hashes follow from one hash h: they are (h ^ i) times the prime. */
    for (uint64_t n = 0; n < 1000; n++) {
        const bly_bytes key = go_url(n);
        const uint32_t h = fnv1a_32(FNV32_BASIS, key.data, key.size);
        positions_004(key.data, key.size, (uint64_t)1 << 32, 7, at);
        for (uint32_t i = 0; i < 7; i++)
            assert_int_equal(at[i], (uint32_t)((h ^ i) * FNV32_PRIME));
    }
    /* With the seed before the key instead of after it, the rate is that of the formula. */
    assert_explains(bly_textbook_fpr(958506, 7, MEMBERS),
                    false_positives(positions_004_seed_first, 958506, 7, NON_MEMBERS), NON_MEMBERS,
                    7, 958506);
}

/* ---- Bloomery on the same keys --------------------------------------------------------------- */

static bly_hash double_fnv(void *user, const void *key, size_t len) {
    (void)user;
    return (bly_hash){fnv1_64(key, len), fnv1a_64(key, len)};
}

static uint64_t bloomery_false_positives(const bly_spec *spec) {
    bly_filter *f;
    uint64_t found = 0;
    assert_int_equal(bly_filter_create(spec, &f), BLY_OK);
    for (uint64_t i = 0; i < MEMBERS; i++) {
        const bly_bytes key = go_url(i);
        assert_int_equal(bly_filter_add(f, key.data, key.size, NULL), BLY_OK);
    }
    for (uint64_t i = MEMBERS; i < MEMBERS + NON_MEMBERS; i++) {
        const bly_bytes key = go_url(i);
        found += bly_filter_contains(f, key.data, key.size);
    }
    bly_filter_destroy(f);
    return found;
}

/* With the default hash, and with the two FNV hashes of 000 as a custom function, whose result
 * Bloomery mixes. */
static void test_bloomery_has_the_requested_rate(void **state) {
    (void)state;
    for (int e = 2; e <= 3; e++) {
        const double rate = pow(10, -e);
        bly_spec spec = bly_spec_for(BLY_CLASSIC, MEMBERS, rate);
        assert_explains(rate, bloomery_false_positives(&spec), NON_MEMBERS, 7, 958506);
        assert_int_equal(bly_hasher_custom(&spec.hasher, double_fnv, NULL, 64, 0xf4f), BLY_OK);
        assert_explains(rate, bloomery_false_positives(&spec), NON_MEMBERS, 7, 958506);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_of_the_go_programs),
        cmocka_unit_test(test_hashes_of_001),
        cmocka_unit_test(test_rate_of_go_zero),
        cmocka_unit_test(test_low_bits_of_double_fnv),
        cmocka_unit_test(test_cause_in_000),
        cmocka_unit_test(test_last_byte_of_fnv1),
        cmocka_unit_test(test_cause_in_004),
        cmocka_unit_test(test_bloomery_has_the_requested_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
