/* The ribbon filter: no key is missed, for any number of keys; rate and size are as planned; and
 * every answer follows docs/format.md. */
#include "support.h"

#include "base/bits.h"
#include "base/little_endian.h"
#include "hash/mix.h"
#include "kinds/ribbon/ribbon_layout.h"
#include "simd/kernels.h"

#include <math.h>

/* Builds a filter of the keys first .. first + n - 1 of that set. */
static bly_filter *ribbon(blyt_keys set, uint64_t first, size_t n, double p) {
    blyt_list l = blyt_list_of(set, first, n);
    bly_filter *f = NULL;
    assert_ok(blyt_build(BLY_RIBBON, l.keys, n, p, &f));
    assert_int_equal(bly_filter_count(f), n);
    assert_int_equal(bly_filter_contains_many(f, l.keys, n, NULL), n);
    blyt_list_free(&l);
    return f;
}

/* Returns the number of false positives in q lookups of non-members. */
static double false_positives(const bly_filter *f, uint64_t seed, uint64_t q) {
    bly_hash h[256];
    uint64_t state = blyi_fmix64(seed + 1);
    size_t found = 0;
    for (uint64_t done = 0; done < q; done += COUNT_OF(h)) {
        for (size_t i = 0; i < COUNT_OF(h); i++)
            h[i] = blyi_hash_from_strong64(blyt_next(&state));
        found += bly_filter_contains_hashes(f, h, COUNT_OF(h), NULL);
    }
    return (double)found;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void check_size(size_t n) {
    static const double rates[] = {0.01, 0.3, 0.001, 1e-5, 0.05};
    bly_filter_destroy(ribbon(KEYS_SHIFTED, n * 3, n, rates[n % COUNT_OF(rates)]));
}

static void misses_no_key_of_any_number(void **state) {
    const size_t step = blyt_large() ? BLYT_SLOW : 11; /* coprime with the number of rates */
    (void)state;
    for (size_t n = 1; n <= 2000; n += n < 300 ? 1 : step)
        check_size(n);
    for (size_t n = 11400; n <= 11600; n += step)
        check_size(n);
    for (unsigned j = 1; j <= (BLYT_SLOW > 1 ? 16 : blyt_large() ? 20 : 17); j++)
        for (size_t n = ((size_t)1 << j) - 1; n <= ((size_t)1 << j) + 1; n++)
            check_size(n);
}

static void misses_no_key_of_any_set(void **state) {
    (void)state;
    for (blyt_keys set = 0; set < KEYS_SETS; set++)
        for (double p = 0.9; p >= 0x1p-40; p /= 60)
            bly_filter_destroy(ribbon(set, 7, 5000, p));
    bly_filter_destroy(ribbon(KEYS_RANDOM, 7, 500, 0x1p-40));
}

/* The filter depends only on the set of keys, not on their order or on repeats. */
static void same_keys_give_the_same_bytes(void **state) {
    enum { N = 20000 };
    blyt_list l = blyt_list_of(KEYS_URL, 0, N);
    bly_bytes *twice = calloc(2 * N, sizeof *twice);
    uint64_t random = 5;
    bly_filter *a = NULL, *b = NULL;
    (void)state;
    assert_non_null(twice);
    for (size_t i = 0; i < 2 * N; i++)
        twice[i] = l.keys[i % N];
    for (size_t i = 2 * N - 1; i > 0; i--) {
        size_t j = (size_t)(blyt_next(&random) % (i + 1));
        bly_bytes swap = twice[i];
        twice[i] = twice[j];
        twice[j] = swap;
    }
    assert_ok(blyt_build(BLY_RIBBON, l.keys, N, 0.01, &a));
    assert_ok(blyt_build(BLY_RIBBON, twice, 2 * N, 0.01, &b));
    assert_true(bly_filter_equal(a, b));
    blyt_buffer x = blyt_write(a), y = blyt_write(b);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    bly_filter *c = NULL;
    assert_ok(bly_filter_parse(x.data, x.size, NULL, &c));
    assert_true(bly_filter_equal(a, c));
    assert_int_equal(bly_filter_contains_many(c, l.keys, N, NULL), N);
    bly_filter_destroy(c);
    /* Without one of the keys, the filter is different. */
    assert_ok(blyt_build(BLY_RIBBON, l.keys, N - 1, 0.01, &c));
    assert_false(bly_filter_equal(a, c));
    free(x.data);
    free(y.data);
    free(twice);
    blyt_list_free(&l);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    bly_filter_destroy(c);
}

static void empty_filter_says_no(void **state) {
    bly_filter *f = NULL;
    bly_filter_info s = {.struct_size = sizeof s};
    (void)state;
    assert_ok(blyt_build(BLY_RIBBON, NULL, 0, 0.5, &f));
    assert_int_equal(bly_filter_count(f), 0);
    assert_true(false_positives(f, 1, 1000) == 0);
    uint8_t found[2] = {1, 1};
    bly_bytes keys[2] = {{"", 0}, {"a", 1}};
    assert_int_equal(bly_filter_contains_many(f, keys, 2, found), 0);
    assert_true(found[0] == 0 && found[1] == 0);
    bly_filter_get_info(f, &s);
    assert_true(s.expected_fpr == 0 && s.current_fpr == 0 && s.fill == 0 && s.set_bits == 0);
    bly_filter_destroy(f);

    f = ribbon(KEYS_LITTLE, 0, 100, 0.01);
    bly_filter_get_info(f, &s);
    assert_true(s.current_fpr == s.expected_fpr && s.current_fpr <= 0.01);
    assert_true(s.estimated_keys == 100 && s.fill == 1 && s.set_bits == s.bits);
    bly_filter_clear(f);
    assert_true(false_positives(f, 1, 1000) == 0);
    bly_filter_destroy(f);
}

/* ---- rate ------------------------------------------------------------------------------------ */

/* Asserts that the measured rate is within five sigma of the planned one. With 2500 (1 - rate)
 * false positives, five sigma are a tenth of the rate. */
static void check_rate(size_t n, double p) {
    bly_filter *f = ribbon(KEYS_LITTLE, n, n, p);
    bly_geometry g = bly_filter_geometry(f);
    double rate = bly_plan_fpr(&g, n, 64), most = blyt_long() ? 5e7 : 2e6;
    uint64_t q = (uint64_t)fmin(most, 2500 * (1 - rate) / rate / BLYT_SLOW) / 256 * 256 + 256;
    double x = false_positives(f, n ^ g.hashes, q), mean = (double)q * rate;
    double off = fabs(x - mean) / sqrt(mean * (1 - rate));
    if (!(off < 5) || rate > p)
        print_error("n %zu p %g: predicted %g, %.0f of %.1f\n", n, p, rate, x, mean);
    assert_true(off < 5);
    assert_true(rate <= p);
    bly_filter_destroy(f);
}

static void has_the_rate_predicted(void **state) {
    static const size_t numbers[] = {1000, 10000, 100000, 1000000, 10000000};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if (numbers[i] > (blyt_long() ? 10000000 : 100000) / BLYT_SLOW)
            break;
        for (size_t r = 1; r <= (blyt_long() ? 20 : 10); r++) {
            if (!blyt_large() && r % 3 != i % 3) /* each rate with every third number */
                continue;
            check_rate(numbers[i], ldexp(1, -(int)r));
            check_rate(numbers[i], ldexp(0.71, -(int)r));
        }
    }
}

/* With few keys, the rate varies between filters, so this sums up the false positives of 65
 * filters, 40 of each: five sigma are a tenth of the sum. */
static void has_it_with_few_keys(void **state) {
    static const double rates[] = {0.3, 0.05, 0.01, 0.002};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        double x = 0, mean = 0;
        for (size_t n = 1; n <= 2000;
             n += blyt_long() ? 1 : (blyt_large() ? 7U : 31U) * BLYT_SLOW) {
            bly_filter *f = ribbon(KEYS_DECIMAL, n, n, rates[i]);
            bly_geometry g = bly_filter_geometry(f);
            double rate = bly_plan_fpr(&g, n, 64);
            uint64_t q = (uint64_t)(40 / rate) / 256 * 256 + 256;
            assert_true(rate <= rates[i]);
            x += false_positives(f, n, q);
            mean += (double)q * rate;
            bly_filter_destroy(f);
        }
        if (!(fabs(x - mean) < 5 * sqrt(mean)))
            print_error("rate %g: %.0f of %.1f\n", rates[i], x, mean);
        assert_true(fabs(x - mean) < 5 * sqrt(mean));
    }
}

/* ---- space ----------------------------------------------------------------------------------- */

static void takes_the_space_promised(void **state) {
    static const struct {
        double p, bits_per_key, over;
    } table[] = {{0.01, 7.0, 1.07}, {0.001, 10.5, 1.07}, {1e-4, 14.1, 1.081}};
    static const uint64_t numbers[] = {1000, 100000, 10000000, 1017, 3000, 500000, 1250000000};
    bly_geometry g;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        for (size_t j = 0; j < COUNT_OF(numbers); j++) {
            assert_ok(bly_plan(BLY_RIBBON, numbers[j], table[i].p, 0, 128, &g));
            double each = (double)bly_plan_bits(&g) / (double)numbers[j];
            assert_true(each < table[i].bits_per_key * 1.02);
            assert_true(each < -log2(table[i].p) * table[i].over);
        }
    /* With few keys, there is one slot per key, and 20 more for the columns. */
    assert_ok(bly_plan(BLY_RIBBON, 1, 0.01, 0, 64, &g));
    assert_true(g.size == 3 && g.hashes == 64 + 7 && g.detail == 0 && bly_plan_bits(&g) == 168);
    assert_ok(bly_plan(BLY_RIBBON, 5, 0.01, 0, 64, &g));
    assert_int_equal(g.size, 3);
    assert_ok(bly_plan(BLY_RIBBON, 6, 0.01, 0, 64, &g));
    assert_int_equal(g.size, 4);
}

/* The built filter has the planned geometry: for an unlucky set of keys, the builder tries another
 * seed, and does not add slots. */
static void is_as_large_as_planned(void **state) {
    static const size_t numbers[] = {1, 60, 300, 1000, 4000, 20000};
    const size_t most = (blyt_large() ? 400U : 100U) / BLYT_SLOW;
    unsigned reseeded = 0;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        for (size_t round = 0; round < most / (numbers[i] < 4000 ? 1 : 4); round++) {
            bly_geometry g, planned;
            bly_filter *f = ribbon(KEYS_LITTLE, (round + 1) << 32, numbers[i], 0.01);
            assert_ok(bly_plan(BLY_RIBBON, numbers[i], 0.01, 0, 64, &planned));
            g = bly_filter_geometry(f);
            reseeded += g.detail >= 4096;
            assert_true(g.detail < 3 * 4096);
            assert_true(g.size == planned.size && g.hashes == planned.hashes &&
                        g.detail % 4096 == planned.detail);
            bly_filter_destroy(f);
        }
    assert_true(BLYT_SLOW > 1 || (reseeded > 0 && reseeded < 40));
}

/* Every plan has room for its keys at the rate, and with one block (or group) less it would not. */
static void plans_are_tight(void **state) {
    (void)state;
    for (double p = 0.99; p >= 0x1p-40; p *= 0.61)
        for (uint64_t n = 1; n < 100000; n += 1 + n / 7) {
            bly_geometry g;
            assert_ok(bly_plan(BLY_RIBBON, n, p, 0, 128, &g));
            assert_ok(bly_plan_check(&g));
            double rate = bly_plan_fpr(&g, n, 128);
            assert_true(rate <= p && bly_plan_capacity(&g, p, 128) >= n);
            /* The rate may be lower than requested by this step, because the share of wide slots is
             * rounded up to whole groups and to 256ths. With few slots, it may be lower still: all
             * windows are the same. */
            double step = ldexp(2 / (double)g.size + 2.0 / 256, -(int)(g.hashes % 64));
            assert_true(rate > p * 128 / 129 - step || g.size <= 32 || p > 0.5);
            g.size--;
            assert_true(g.size == 0 || bly_plan_capacity(&g, 1, 128) < n);
        }
}

static void refuses_other_geometries(void **state) {
    bly_geometry g, good = {.kind = BLY_RIBBON, .hashes = 7, .size = 6, .detail = 2 * 256 + 128};
    (void)state;
    assert_ok(bly_plan_check(&good));
    /* Three shards of two blocks: one of seven columns and one of eight. */
    assert_int_equal(bly_plan_bits(&good), 3 * (7 + 8) * 128);
    assert_true(fabs(bly_plan_fpr(&good, 5, 128) - 0x1p-7 * (1 - 1.0 / 129 / 2)) < 1e-15);
    static const bly_geometry bad[] = {
        {.kind = BLY_RIBBON, .hashes = 0, .size = 6},
        {.kind = BLY_RIBBON, .hashes = 41, .size = 6},
        {.kind = BLY_RIBBON, .hashes = 7, .size = 0},
        {.kind = BLY_RIBBON, .hashes = 7, .size = 6, .detail = 3 * 256},
        {.kind = BLY_RIBBON, .hashes = 7, .size = 6, .detail = 65536},
        {.kind = BLY_RIBBON, .hashes = 7, .size = 6, .options = BLY_FOLDABLE},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(bly_plan_check(&bad[i]), BLY_EGEOMETRY);
    g = good;
    g.size = UINT64_MAX / 3 * 3;
    assert_int_equal(bly_plan_check(&g), BLY_ETOOBIG);
    /* Four shards of two blocks: one of seven columns and one of eight. */
    good = (bly_geometry){.kind = BLY_RIBBON, .hashes = 71, .size = 128, .detail = 512 + 128};
    assert_ok(bly_plan_check(&good));
    assert_int_equal(bly_plan_bits(&good), 4 * (7 + 8) * 128);
    /* One shard of 65 groups of eight slots, of which 32 groups are wide. */
    good = (bly_geometry){.kind = BLY_RIBBON, .hashes = 71, .size = 65, .detail = 128};
    assert_ok(bly_plan_check(&good));
    assert_int_equal(bly_plan_bits(&good), 65 * 8 * 7 + 32 * 8);
    assert_true(fabs(bly_plan_fpr(&good, 5, 128) - 0x1p-7 * (1 - 129.0 / 393 / 2)) < 1e-15);
    g = good;
    g.size = UINT64_MAX;
    assert_int_equal(bly_plan_check(&g), BLY_ETOOBIG);
    static const bly_geometry bad_cuts[] = {
        {.kind = BLY_RIBBON, .hashes = 64, .size = 6},
        {.kind = BLY_RIBBON, .hashes = 105, .size = 6},
        {.kind = BLY_RIBBON, .hashes = 128 + 7, .size = 6},
        {.kind = BLY_RIBBON, .hashes = 71, .size = 0},
        {.kind = BLY_RIBBON, .hashes = 71, .size = 16, .detail = 256},
        {.kind = BLY_RIBBON, .hashes = 71, .size = 8192, .detail = 9 * 256},
        {.kind = BLY_RIBBON, .hashes = 71, .size = 6, .detail = 65536},
    };
    for (size_t i = 0; i < COUNT_OF(bad_cuts); i++)
        assert_int_equal(bly_plan_check(&bad_cuts[i]), BLY_EGEOMETRY);
    assert_int_equal(bly_plan(BLY_RIBBON, (uint64_t)1 << 47, 0.01, 0, 128, &g), BLY_ETOOBIG);
    assert_int_equal(bly_plan(BLY_RIBBON, UINT64_MAX, 0.99, 0, 128, &g), BLY_ETOOBIG);
}

/* ---- answers by the format ------------------------------------------------------------------- */

/* A geometry, decoded as docs/format.md says. */
typedef struct book {
    uint64_t r, shards, seed, m, w;
} book;

static book book_of(const bly_geometry *g) {
    const bool cut = g->hashes >= 64;
    book b = {.r = g->hashes % 64};
    b.shards = cut ? (uint64_t)1 << g->detail / 256 % 16 : g->detail / 256 + 1;
    b.seed = cut ? g->detail / 4096 : 0;
    b.m = (cut ? 8 : 128) * g->size / b.shards;
    uint64_t u = cut && b.shards == 1 ? 8 : 128;
    b.w = u * (b.m / u * (g->detail % 256) / 256);
    return b;
}

/* Returns slot t of a shard in column j. */
static unsigned slot_of(const book *k, const uint8_t *body, uint64_t shard, uint64_t t,
                        uint64_t j) {
    uint64_t from = shard * (k->m * k->r + k->w) / 8, b = t / 128, whole = k->w / 128;
    uint64_t slots = k->m - 128 * b < 128 ? k->m - 128 * b : 128;
    uint64_t at = from + 16 * (b * k->r + (b < whole ? b : whole)) + j * slots / 8;
    if (j == k->r && b >= whole)
        at = from + (k->m * k->r + k->w - k->w % 128) / 8;
    return (unsigned)(body[at + t % 128 / 8] >> t % 8) & 1U;
}

/* Looks up a hash slot by slot, as the text of docs/format.md says. */
static bool by_the_book(const bly_geometry *g, const uint8_t *body, bly_hash h) {
    const book k = book_of(g);
    uint64_t shard = blyi_mulhi(h.lo, k.shards), place = h.lo * k.shards;
    if (k.seed)
        place = blyi_fmix64(place + k.seed * BLYI_GOLD);
    uint64_t start = k.m < 128 ? 0 : blyi_mulhi(place, k.m - 127);
    uint64_t columns = k.r + (start + 128 <= k.w);
    uint64_t words[2] = {h.hi, blyi_fmix64(h.hi + BLYI_GOLD)};
    for (uint64_t j = 0; j < columns; j++) {
        unsigned sum = 0;
        for (uint64_t slot = start; slot < start + 128 && slot < k.m; slot++) {
            uint64_t i = slot % 128;
            if (slot == start || (words[i / 64] >> i % 64 & 1))
                sum += slot_of(&k, body, shard, slot, j);
        }
        if (sum % 2)
            return false;
    }
    return true;
}

/* Geometries at the limits of the valid ranges. */
static const bly_geometry edge_shapes[] = {
    {.hashes = 1, .size = 1},
    {.hashes = 1, .size = 1, .detail = 255},
    {.hashes = 2, .size = 2, .detail = 128},
    {.hashes = 3, .size = 256, .detail = 65535},
    {.hashes = 1, .size = 1536, .detail = 255 * 256 + 100},
    {.hashes = 40, .size = 3, .detail = 255},
    {.hashes = 5, .size = 7, .detail = 130},
    {.hashes = 6, .size = 33, .detail = 512 + 77},
    /* The form with a cut last block: few slots; a short block, with wide slots in it or before it;
     * no short block; a seed; several shards. */
    {.hashes = 64 + 3, .size = 1},
    {.hashes = 64 + 3, .size = 15, .detail = 255},
    {.hashes = 64 + 40, .size = 16, .detail = 255},
    {.hashes = 64 + 4, .size = 17, .detail = 255},
    {.hashes = 64 + 3, .size = 30, .detail = 255},
    {.hashes = 64 + 5, .size = 40, .detail = 140},
    {.hashes = 64 + 2, .size = 48, .detail = 200},
    {.hashes = 64 + 6, .size = 131, .detail = 15 * 4096 + 186},
    {.hashes = 64 + 2, .size = 4096, .detail = 7 * 4096 + 8 * 256 + 99},
};

/* For geometries at the limits, with bodies of random bytes that end where the allocation ends.
 * Half of the hashes are at the ends of shards. */
static void answers_by_the_book(void **state) {
    uint64_t random = 11;
    size_t hits = 0, queries = 0;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(edge_shapes); i++) {
        blyi_shape shape = {.geometry = edge_shapes[i], .capacity = 1, .items = 1, .fpr = 0.5};
        shape.geometry.kind = BLY_RIBBON;
        assert_ok(bly_hasher_init(&shape.hasher, BLY_HASH_XXH3, 0));
        size_t bytes = (size_t)bly_plan_bytes(&shape.geometry);
        uint8_t *body = aligned_alloc(64, bytes);
        assert_non_null(body);
        for (size_t b = 0; b < bytes; b++) /* few bits are set, so that some sums are even */
            body[b] = (uint8_t)(blyt_next(&random) & blyt_next(&random) & blyt_next(&random) &
                                blyt_next(&random) & blyt_next(&random));
        bly_filter *f = NULL;
        assert_ok(blyi_filter_make(&shape, NULL, body, &f));
        uint64_t shard = ~(uint64_t)0 / book_of(&shape.geometry).shards;
        for (size_t q = 0; q < (blyt_large() ? 20000 : 5000) / BLYT_SLOW; q++) {
            bly_hash h = {blyt_next(&random), blyt_next(&random)};
            if (q % 4 == 1)
                h.lo = h.lo / shard * shard + h.lo % 16;
            if (q % 4 == 2)
                h.lo = h.lo / shard * shard + shard - h.lo % 16;
            bool found = bly_filter_contains_hash(f, h);
            assert_true(found == by_the_book(&shape.geometry, body, h));
            hits += found;
            queries++;
        }
        bly_filter_destroy(f);
        free(body);
    }
    assert_true(hits > queries / 20 && hits < queries);
}

/* The kernels of all instruction sets give the answers of the scalar ones. */
static void kernels_agree(void **state) {
    enum { COLUMNS = 41, SIGHTS = 64 };
    static _Alignas(64) uint64_t words[4 * COLUMNS];
    static blyi_ribbon_lookup sights[SIGHTS];
    uint64_t random = 3;
    size_t hits = 0;
    (void)state;
    for (size_t round = 0; round < 3000 / BLYT_SLOW; round++) {
        for (size_t i = 0; i < COUNT_OF(words); i++)
            words[i] = blyt_next(&random) & blyt_next(&random) & blyt_next(&random);
        for (size_t i = 0; i < SIGHTS; i++) {
            unsigned columns = 1 + (unsigned)(blyt_next(&random) % COLUMNS);
            const uint64_t *second = i % 9 ? words + 4 * (size_t)COLUMNS - 2 * columns : words;
            sights[i] = (blyi_ribbon_lookup){.first = words, .second = second, .columns = columns};
            for (size_t m = 0; m < 4; m++) /* few bits, so that all columns are often even */
                sights[i].mask[m] = blyt_next(&random) & blyt_next(&random) & blyt_next(&random) &
                                    blyt_next(&random) & blyt_next(&random);
        }
        uint8_t want[SIGHTS], got[SIGHTS];
        size_t n = blyi_kernels_scalar.ribbon_contains_many(sights, SIGHTS, want);
        hits += n;
        for (const blyi_kernels *const *t = blyi_kernels_list(); *t; t++) {
            assert_int_equal((*t)->ribbon_contains_many(sights, SIGHTS, got), n);
            assert_memory_equal(got, want, SIGHTS);
            assert_int_equal((*t)->ribbon_contains_many(sights, SIGHTS, NULL), n);
        }
    }
    assert_true(hits > 1000 / BLYT_SLOW);
    /* One column, one bit. */
    memset(words, 0, sizeof words);
    words[3] = blyi_le64(4);
    for (const blyi_kernels *const *t = blyi_kernels_list(); *t; t++) {
        blyi_ribbon_lookup s = {
            .first = words, .second = words + 4, .mask = {0, 4, 0, 0}, .columns = 1};
        assert_int_equal((*t)->ribbon_contains_many(&s, 1, NULL), 1);
        s.columns = 2;
        assert_int_equal((*t)->ribbon_contains_many(&s, 1, NULL), 0);
    }
}

/* ---- the solver ------------------------------------------------------------------------------ */

static bly_status solve(unsigned again, bly_hash *h, size_t n, blyt_heap *heap, bly_filter **out) {
    const blyi_solver *solver = blyi_ops_of(BLY_RIBBON)->solver;
    blyi_shape shape = {.capacity = n, .items = n, .fpr = 0.01};
    bly_allocator a = blyt_heap_allocator(heap);
    assert_ok(solver->plan(n, 1, shape.fpr, again, &shape.geometry));
    assert_ok(bly_hasher_init(&shape.hasher, BLY_HASH_XXH3, 0));
    assert_ok(blyi_filter_make(&shape, NULL, NULL, out));
    bly_status status = solver->solve(*out, 0, h, n, &a);
    assert_int_equal(heap->live, 0);
    for (size_t i = 0; status != BLY_OK && i < blyi_word_count(*out); i++)
        assert_true(blyi_words(*out)[i] == 0);
    return status;
}

/* All keys are in one window, many more than it has slots, and one key is repeated, so nearly all
 * equations depend on others. The solver requests another seed, which gives other windows. When it
 * does so, or lacks memory, it leaves the body empty. */
static void tries_other_seeds(void **state) {
    enum { N = 1080 };
    bly_filter *f = NULL;
    static bly_hash h[N], borrowed[N];
    uint64_t random = 9;
    blyt_heap heap = {.fail_at = 1};
    (void)state;
    for (size_t i = 0; i < N; i++)
        h[i] = (bly_hash){i, blyt_next(&random)};
    h[1] = h[0];
    memcpy(borrowed, h, sizeof h);
    assert_int_equal(solve(0, borrowed, N, &heap, &f), BLY_ENOMEM);
    bly_filter_destroy(f);
    assert_int_equal(solve(0, borrowed, N, &heap, &f), BLY_EFULL);
    bly_filter_destroy(f);
    memcpy(borrowed, h, sizeof h);
    assert_int_equal(solve(1, borrowed, N, &heap, &f), BLY_OK);
    assert_int_equal(bly_filter_contains_hashes(f, h, N, NULL), N);
    assert_true(false_positives(f, 1, 10000) < 150);
    bly_filter_destroy(f);
    /* Keys that can be solved with the first seed need no other. */
    for (size_t i = 0; i < N; i++)
        borrowed[i] = h[i] = (bly_hash){UINT64_MAX / N * i, blyt_next(&random)};
    assert_int_equal(solve(0, borrowed, N, &heap, &f), BLY_OK);
    assert_int_equal(bly_filter_contains_hashes(f, h, N, NULL), N);
    bly_filter_destroy(f);
}

/* Hashes with the same `lo` share a window under every seed. Under the last seed, the solver
 * succeeds in any case: every key is found, and the rate of other windows does not get much
 * higher. */
static void solves_whatever_comes(void **state) {
    enum { N = 1080 };
    bly_filter *f = NULL;
    static bly_hash h[N], borrowed[N];
    uint64_t random = 9;
    blyt_heap heap = {0};
    (void)state;
    for (size_t i = 0; i < N; i++)
        h[i] = (bly_hash){77, blyt_next(&random)};
    for (unsigned seed = 0; seed <= BLYI_RIBBON_LAST_SEED; seed++) {
        memcpy(borrowed, h, sizeof h);
        bly_status want = seed < BLYI_RIBBON_LAST_SEED ? BLY_EFULL : BLY_OK;
        assert_int_equal(solve(seed, borrowed, N, &heap, &f), want);
        if (want == BLY_OK)
            assert_int_equal(bly_filter_contains_hashes(f, h, N, NULL), N);
        assert_true(want != BLY_OK || false_positives(f, 1, 10000) < 500);
        bly_filter_destroy(f);
    }
}

/* The same hashes through the builder, which tries other seeds without the caller. */
static void builds_whatever_comes(void **state) {
    enum { N = 1080 };
    static bly_hash h[N];
    uint64_t random = 9;
    bly_spec spec = bly_spec_for(BLY_RIBBON, 0, 0.01);
    (void)state;
    for (uint64_t step = 0; step < 2; step++) {
        bly_builder *b = NULL;
        bly_filter *f = NULL;
        for (size_t i = 0; i < N; i++)
            h[i] = (bly_hash){i * step, blyt_next(&random)};
        assert_ok(bly_builder_create(&spec, NULL, &b));
        assert_ok(bly_builder_add_hashes(b, h, N));
        assert_ok(bly_builder_finish(b, &f));
        bly_builder_destroy(b);
        assert_int_equal(bly_filter_count(f), N);
        assert_int_equal(bly_filter_contains_hashes(f, h, N, NULL), N);
        bly_filter_destroy(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misses_no_key_of_any_number),
        cmocka_unit_test(misses_no_key_of_any_set),
        cmocka_unit_test(same_keys_give_the_same_bytes),
        cmocka_unit_test(empty_filter_says_no),
        cmocka_unit_test(has_the_rate_predicted),
        cmocka_unit_test(has_it_with_few_keys),
        cmocka_unit_test(takes_the_space_promised),
        cmocka_unit_test(is_as_large_as_planned),
        cmocka_unit_test(plans_are_tight),
        cmocka_unit_test(refuses_other_geometries),
        cmocka_unit_test(answers_by_the_book),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(tries_other_seeds),
        cmocka_unit_test(solves_whatever_comes),
        cmocka_unit_test(builds_whatever_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
