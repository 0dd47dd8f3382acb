/* The kind BLY_COUNTS. Codes stand for the values that docs/format.md defines, every add raises a
 * count by one on average, other keys can only increase a count, and a counter at its limit stays
 * there. Plans are the smallest that keep their rate. Sketches are united, aged and compared;
 * rounding is correct on average, and uses one random number per line. test_counts_bytes.c tests
 * the format. */
#include "counts_support.h"
#include "zipf_support.h"

/* ---- values and counts ----------------------------------------------------------------------- */

static void values_follow_their_rule(void **state) {
    (void)state;
    for (unsigned g = 0; g < 2; g++) {
        uint64_t value = 0;
        for (unsigned c = 0; c < 256; c++) {
            assert_int_equal(blyi_counts_values[g][c], value);
            value += value < 16 ? 1 : 1 + (value - 16) / divisors[g];
        }
        assert_int_equal(blyi_counts_values[g][255], ends[g]);
        assert_int_equal(blyi_counts_values[g][16 + divisors[g]], 16 + divisors[g]);
        assert_int_equal(blyi_counts_values[g][17 + divisors[g]], 18 + divisors[g]);
    }
}

/* Returns the standard deviation of a counter's value after n adds, from the probability of every
 * code. */
static double spread_after(unsigned detail, unsigned n) {
    const uint64_t *value = blyi_counts_values[detail];
    double p[257] = {1}, mean = 0, square = 0;
    for (unsigned i = 0; i < n; i++)
        for (unsigned c = 256; c-- > 0;) {
            double up = c < 255 ? 1 / (double)(value[c + 1] - value[c]) : 0;
            p[c + 1] += p[c] * up;
            p[c] -= p[c] * up;
        }
    for (unsigned c = 0; c < 256; c++) {
        mean += p[c] * (double)value[c];
        square += p[c] * (double)value[c] * (double)value[c];
    }
    assert_true(fabs(mean - n) < 1e-6 * n);
    return sqrt(fmax(0, square - mean * mean));
}

/* Asserts that the mean is within five sigma of the expected one, and the standard deviation within
 * 12%. */
static void judge_sample(const sample *s, double mean, double sigma, const char *what) {
    double got = s->sum / s->n, spread = sqrt(fmax(0, s->squares / s->n - got * got));
    bool fits = fabs(got - mean) <= 5 * sigma / sqrt(s->n) + 1e-9 &&
                fabs(spread - sigma) <= 0.12 * sigma + 1e-9;
    if (!fits || getenv("BLYT_VERBOSE"))
        print_message("%s: mean %.3f (%.3f), spread %.3f (%.3f)\n", what, got, mean, spread, sigma);
    assert_true(fits);
}

/* Measured in 1,000 runs, a standard deviation has a relative sigma of 1 / sqrt(2 * 1,000): five
 * sigma are 11%, and judge_sample allows 12%. */
static void counts_are_unbiased(void **state) {
    static const unsigned times[] = {1, 16, 27, 28, 41, 100, 1000, 10000};
    (void)state;
    for (unsigned detail = 0; detail < 2; detail++)
        for (size_t i = 0; i < COUNT_OF(times); i++) {
            bly_filter *f = lines(1, detail);
            sample s = {0};
            for (unsigned run = 0; run < 1000; run++) {
                bly_hash h = hash_at(times[i], run);
                bly_filter_clear(f);
                for (unsigned n = 0; n < times[i]; n++)
                    assert_ok(bly_filter_add_hash(f, h, NULL));
                add_sample(&s, (double)bly_filter_copies_hash(f, h));
            }
            double sigma = spread_after(detail, times[i]);
            assert_true(sigma <= sqrt(0.5 / divisors[detail]) * times[i]);
            assert_true(times[i] > 16 + divisors[detail] || sigma < 1e-6);
            judge_sample(&s, times[i], sigma, "copies");
            bly_filter_destroy(f);
            if (BLYT_SLOW > 1 && times[i] == 1000)
                break;
        }
}

/* Compares with exact counts: no key is missed, counts that are still exact are never too low, and
 * higher counts are too low by no more than chance allows. */
static void a_stream_is_counted(void **state) {
    unsigned keys = 20000, adds = (blyt_long() ? 10000000U : 1000000U) / BLYT_SLOW;
    uint32_t *truth = calloc(keys, sizeof *truth);
    (void)state;
    assert_non_null(truth);
    for (unsigned detail = 0; detail < 2; detail++) {
        zipf z = zipf_of(keys, 1.1);
        uint64_t dice = 3;
        bly_filter *f = lines(keys / 64, detail);
        memset(truth, 0, keys * sizeof *truth);
        for (unsigned i = 0; i < adds; i++) {
            unsigned key = zipf_draw(&z, &dice);
            bool is_new;
            assert_ok(bly_filter_add_hash(f, hash_at(6, key), &is_new));
            assert_true(!is_new || truth[key] == 0);
            truth[key]++;
        }
        assert_int_equal(bly_filter_count(f), adds);
        double rse = sqrt(0.5 / divisors[detail]);
        for (unsigned key = 0; key < keys; key++) {
            uint64_t copies = bly_filter_copies_hash(f, hash_at(6, key));
            assert_true(bly_filter_contains_hash(f, hash_at(6, key)) == (copies > 0));
            if (truth[key] <= 16 + divisors[detail])
                assert_true(copies >= truth[key]);
            else /* skewed: errors are smaller below the truth than above it */
                assert_true((double)copies >= truth[key] * exp(-4 * rse) || copies == ends[detail]);
        }
        zipf_free(&z);
        bly_filter_destroy(f);
    }
    free(truth);
}

/* Returns the mean relative error of a sketch with `cells` counters of 32 bits, four per key, that
 * are updated by the same rule: an add raises only the smallest. */
static double error_of_words(unsigned keys, unsigned cells, const zipf *z, uint64_t dice,
                             unsigned adds, const uint32_t *truth) {
    uint32_t *cell = calloc(cells, sizeof *cell);
    double sum = 0;
    unsigned seen = 0;
    assert_non_null(cell);
    for (unsigned i = 0; i < adds + keys; i++) {
        bly_hash h = hash_at(6, i < adds ? zipf_draw(z, &dice) : i - adds);
        uint32_t *at[4], least = UINT32_MAX;
        for (unsigned j = 0; j < 4; j++) {
            at[j] = cell + blyi_mulhi(h.lo, cells / 4) + cells / 4 * j;
            h.lo = h.lo * BLYI_LCG + (h.hi | 1);
            least = *at[j] < least ? *at[j] : least;
        }
        for (unsigned j = 0; i < adds && j < 4; j++)
            *at[j] += *at[j] == least;
        if (i >= adds && truth[i - adds] > 0) {
            sum += ((double)least - truth[i - adds]) / truth[i - adds];
            seen++;
        }
    }
    free(cell);
    return sum / seen;
}

/* The comparison in counts.c, with fewer keys: with 1 and 4 bytes of sketch per key, the mean
 * relative error is at most `most`, and at most a sixth of that of 32-bit counters in the same
 * memory. */
static void bytes_beat_words(void **state) {
    enum { KEYS = 50000, ADDS = 20 * KEYS };
    static const double most[] = {1.6, 0.12};
    uint32_t *truth = calloc(KEYS, sizeof *truth);
    (void)state;
    assert_non_null(truth);
    zipf z = zipf_of(KEYS, 1.1);
    uint64_t dice = 4;
    bly_filter *one = lines(KEYS / 64, 0), *four = lines(4 * KEYS / 64, 0), *both[] = {one, four};
    for (unsigned i = 0; i < ADDS; i++) {
        unsigned key = zipf_draw(&z, &dice);
        truth[key]++;
        for (unsigned j = 0; j < 2; j++)
            assert_ok(bly_filter_add_hash(both[j], hash_at(6, key), NULL));
    }
    for (unsigned j = 0; j < 2; j++) {
        double sum = 0, words = error_of_words(KEYS, (j ? 4U : 1U) * KEYS / 4, &z, 4, ADDS, truth);
        unsigned seen = 0;
        for (unsigned key = 0; key < KEYS; key++) {
            if (truth[key] == 0)
                continue;
            double copies = (double)bly_filter_copies_hash(both[j], hash_at(6, key));
            sum += fabs(copies / truth[key] - 1);
            seen++;
        }
        if (getenv("BLYT_VERBOSE"))
            print_message("mean relative error %.3f, of words %.3f\n", sum / seen, words);
        assert_true(sum / seen < most[j] && words > 6 * sum / seen);
        bly_filter_destroy(both[j]);
    }
    zipf_free(&z);
    free(truth);
}

static void counters_stay_at_their_end(void **state) {
    (void)state;
    for (unsigned detail = 0; detail < 2; detail++) {
        bly_filter *f = lines(2, detail), *g = lines(2, detail);
        bly_filter_info s = {.struct_size = sizeof s};
        memset(f->body, 255, 128);
        add_hashes(f, 1, 0, 1000);
        for (unsigned i = 0; i < 128; i++)
            assert_int_equal(f->body[i], 255);
        assert_int_equal(bly_filter_copies_hash(f, hash_at(1, 1)), ends[detail]);
        bly_filter_get_info(f, &s);
        assert_true(s.stuck == 128 && s.fill == 1 && isinf(s.estimated_keys));
        assert_true(s.current_fpr == 1 && s.expected_fpr == 1 && s.expected_fill == 1);
        assert_ok(bly_filter_union(g, f));
        assert_ok(bly_filter_union(g, f));
        assert_true(bly_filter_equal(f, g));
        bly_filter_destroy(f);
        bly_filter_destroy(g);
    }
}

/* ---- plans and rates ------------------------------------------------------------------------- */

static void refuses_what_it_cannot_be(void **state) {
    static const struct {
        bly_geometry g;
        bly_status status;
    } table[] = {
        {{BLY_COUNTS, 4, 1, 0, 0}, BLY_OK},
        {{BLY_COUNTS, 4, 1, 0, 1}, BLY_OK},
        {{BLY_COUNTS, 4, 1, 0, 2}, BLY_EGEOMETRY},
        {{BLY_COUNTS, 3, 1, 0, 0}, BLY_EGEOMETRY},
        {{BLY_COUNTS, 4, 0, 0, 0}, BLY_EGEOMETRY},
        {{BLY_COUNTS, 4, 8, BLY_FOLDABLE, 0}, BLY_EGEOMETRY},
        {{BLY_COUNTS, 4, (uint64_t)1 << 39, 0, 0}, BLY_OK},
        {{BLY_COUNTS, 4, ((uint64_t)1 << 39) + 1, 0, 0}, BLY_ETOOBIG},
        {{BLY_COUNTS, 4, UINT64_MAX, 0, 0}, BLY_ETOOBIG},
    };
    bly_filter *f = NULL;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        assert_int_equal(bly_plan_check(&table[i].g), table[i].status);
    assert_int_equal(blyt_new_exact(BLY_COUNTS, 0, 4, &f), BLY_EINVAL);
    assert_int_equal(blyt_new_exact(BLY_COUNTS, UINT64_MAX / 64, 4, &f), BLY_ETOOBIG);
    assert_int_equal(blyt_new(BLY_COUNTS, 0, 0.01, &f), BLY_ECOUNT);
    assert_int_equal(blyt_new(BLY_COUNTS, 1000, 0, &f), BLY_ERATE);
    assert_null(f);
    for (uint64_t bytes = 64; bytes < 100000; bytes = bytes * 3 / 2 + 1) {
        assert_ok(blyt_new_exact(BLY_COUNTS, bytes / 64, 4, &f));
        assert_int_equal(bly_filter_file_size(f), 64 + bytes / 64 * 64);
        assert_true(bly_filter_capacity(f) >= bytes / 64 * 10);
        assert_int_equal(bly_filter_remove(f, "a", 1, NULL), BLY_EUNSUPPORTED);
        bly_filter_destroy(f);
    }
    bly_spec spec = bly_spec_for(BLY_COUNTS, 100, 0.1);
    spec.sharing = BLY_SHARED;
    assert_int_equal(bly_filter_create(&spec, &f), BLY_EUNSUPPORTED);
}

static void plans_are_the_smallest(void **state) {
    static const double rates[] = {0.5, 0.1, 0.01, 0.001, 0.0001, 0.00001};
    static const double bytes[] = {0, 5.12, 12.22, 27.62, 65.28, 0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        for (uint64_t n = 1; n < 1000000000; n *= 10) {
            bly_geometry g;
            assert_ok(bly_plan(BLY_COUNTS, n, rates[i], 0, 128, &g));
            assert_true(bly_plan_fpr(&g, n, 128) <= rates[i]);
            assert_true(bly_plan_capacity(&g, rates[i], 128) >= n);
            double each = (double)bly_plan_bytes(&g) / (double)n;
            assert_true(n < 1000000 || bytes[i] == 0 || fabs(each / bytes[i] - 1) < 0.01);
            g.size--;
            assert_true(g.size == 0 || bly_plan_fpr(&g, n, 128) > rates[i]);
        }
}

/* Asserts that the measured rate is the one computed from the counters, and that the computed rate
 * is, on average, the planned one. */
static void check_rate(uint64_t n, double p, unsigned filters) {
    bly_filter *f = NULL;
    assert_ok(blyt_new(BLY_COUNTS, n, p, &f));
    bly_geometry g = bly_filter_geometry(f);
    double planned = bly_plan_fpr(&g, n, 64), sum = 0, squares = 0;
    uint64_t queries = (uint64_t)(2500 / planned / filters) + 1;
    tally found = {0};
    for (unsigned seed = 1; seed <= filters; seed++) {
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_clear(f);
        add_hashes(f, seed, 0, n);
        bly_filter_get_info(f, &s);
        look_up_non_members(f, seed + 100000, queries, s.current_fpr, &found);
        sum += s.current_fpr;
        squares += s.current_fpr * s.current_fpr;
        double sigma = sqrt(0.3 / (double)g.size / 16) + 1 / (double)n;
        assert_true(fabs(s.estimated_keys / (double)n - 1) < 5 * sigma);
        assert_true(fabs(s.expected_fill / s.fill - 1) < 1e-9 && s.stuck == 0);
        assert_true(fabs(s.expected_fpr / planned - 1) < 25 * sigma);
    }
    double mean = sum / filters, spread = sqrt(fmax(0, squares / filters - mean * mean));
    bool fits = fabs(mean - planned) <= 5 * spread / sqrt(filters - 1.0) + 1e-3 * planned;
    if (!fits || getenv("BLYT_VERBOSE"))
        print_message("%g keys at %g: mean %g, planned %g, spread %g of %u\n", (double)n, p, mean,
                      planned, spread, filters);
    assert_true(fits && planned <= p && planned > 0.7 * p);
    judge(&found, "current", (double)n, p);
    bly_filter_destroy(f);
}

static void rates_are_as_planned(void **state) {
    static const double rates[] = {0.01, 0.001, 0.0001};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        check_rate(1000, rates[i], 60);
        check_rate(100000, rates[i], 12 / (BLYT_SLOW > 1 ? 2 : 1));
        if (i == 0 || blyt_long())
            check_rate(1000000 / BLYT_SLOW, rates[i], 6);
        if (blyt_long())
            check_rate(10000000, rates[i], 3);
    }
}

/* ---- union and aging ------------------------------------------------------------------------- */

static void fill_once(bly_filter *f, bly_hash h, unsigned times) {
    for (unsigned i = 0; i < times; i++)
        assert_ok(bly_filter_add_hash(f, h, NULL));
}

/* There are 2048 keys, each in a line of its own, because all counters of a line are rounded with
 * the same random number. */
static void union_adds_counts(void **state) {
    static const unsigned times[][2] = {{3, 5}, {27, 1}, {40, 40}, {300, 9}, {1000, 700}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        bly_filter *a = lines(2048, 0), *b = lines(2048, 0), *both = NULL;
        unsigned n = times[i][0], m = times[i][1];
        double sum = 0, squares = 0;
        for (uint64_t key = 0; key < 2048; key++) {
            bly_hash h = {key << 53 | hash_at(n, key).lo >> 11, hash_at(n, key).hi};
            fill_once(a, h, n);
            fill_once(b, h, m);
        }
        assert_ok(bly_filter_clone(a, NULL, &both));
        assert_ok(bly_filter_union(both, b));
        assert_int_equal(bly_filter_count(both), 2048 * (n + m));
        for (uint64_t key = 0; key < 2048; key++) {
            bly_hash h = {key << 53 | hash_at(n, key).lo >> 11, hash_at(n, key).hi};
            uint64_t x = bly_filter_copies_hash(a, h), y = bly_filter_copies_hash(b, h);
            uint64_t now = bly_filter_copies_hash(both, h);
            double off = (double)now - (double)(x + y);
            assert_true(now >= (x > y ? x : y) && (x + y > 27 || now == x + y));
            sum += off;
            squares += off * off;
        }
        /* For all values together, rounding is correct on average. */
        assert_true(fabs(sum) <= 5 * sqrt(squares) + 1e-9);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
        bly_filter_destroy(both);
    }
}

/* Compares the codes of a union with those that docs/format.md defines, also for counters at their
 * limit. */
static void union_rounds_a_line_alike(void **state) {
    bly_filter *a = lines(50, 0), *b = lines(50, 0);
    const uint64_t *value = blyi_counts_values[0];
    uint64_t seed = 1;
    uint8_t was[50 * 64];
    (void)state;
    for (unsigned i = 0; i < sizeof was; i++) {
        was[i] = a->body[i] = (uint8_t)(blyt_next(&seed) >> (seed % 5 ? 56 : 59));
        b->body[i] = (uint8_t)(blyt_next(&seed) >> (seed % 3 ? 56 : 61));
    }
    a->items = 12345;
    b->items = 54321;
    assert_ok(bly_filter_union(a, b));
    assert_int_equal(a->items, 66666);
    for (unsigned i = 0; i < sizeof was; i++) {
        uint64_t dice = blyi_fmix64(blyi_fmix64(66667) + i / 64 * BLYI_GOLD);
        uint64_t sum = value[was[i]] + value[b->body[i]];
        unsigned code = 0;
        while (code < 255 && value[code + 1] <= sum)
            code++;
        if (code < 255 && blyi_mulhi(dice, value[code + 1] - value[code]) < sum - value[code])
            code++;
        assert_int_equal(a->body[i], code);
    }
    bly_filter *other = lines(50, 1), *small = lines(49, 0);
    assert_int_equal(bly_filter_union(a, other), BLY_EMISMATCH);
    assert_int_equal(bly_filter_union(a, small), BLY_EMISMATCH);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
    bly_filter_destroy(other);
    bly_filter_destroy(small);
}

static void aging_halves(void **state) {
    (void)state;
    for (unsigned detail = 0; detail < 2; detail++) {
        const uint64_t *value = blyi_counts_values[detail];
        unsigned exact = 16 + divisors[detail];
        bly_filter *f = lines(4000, detail);
        for (unsigned code = 0; code < 256; code++) {
            sample s = {0};
            double sigma = 0, half = (double)value[code] / 2;
            uint8_t line[64];
            memset(f->body, (int)code, 4000 * 64);
            f->items = 999 + code;
            assert_ok(bly_counts_age(f));
            assert_int_equal(f->items, 1000 + code);
            for (unsigned i = 0; i < 4000; i++) {
                uint8_t now = f->body[64 * i];
                memset(line, now, sizeof line);
                assert_memory_equal(f->body + 64 * (size_t)i, line, sizeof line);
                assert_true(code > exact || now == code / 2);
                add_sample(&s, (double)value[now] - half);
                sigma += pow((double)value[now] - half, 2);
            }
            assert_true(code <= exact || fabs(s.sum) <= 5 * sqrt(sigma) + 1e-9);
        }
        bly_filter_destroy(f);
    }
    bly_filter *f = lines(1, 0);
    fill_once(f, hash_at(1, 1), 1);
    fill_once(f, hash_at(1, 2), 2);
    assert_ok(bly_counts_age(f));
    assert_true(!bly_filter_contains_hash(f, hash_at(1, 1)));
    assert_int_equal(bly_filter_copies_hash(f, hash_at(1, 2)), 1);
    assert_int_equal(bly_filter_count(f), 4); /* three adds and one aging */
    bly_filter_destroy(f);
    assert_ok(bly_filter_new(10, 0.01, &f));
    assert_int_equal(bly_counts_age(f), BLY_EUNSUPPORTED);
    bly_filter_destroy(f);
}

/* A key that is added 1000 times between agings gets a count near 2000. The random numbers of one
 * cycle are not used again in the next, so that the standard deviation after many cycles is that
 * after one: 20 to 21%. */
static void aging_goes_on_and_on(void **state) {
    enum { SEEDS = 400, CYCLES = 12, ADDS = 1000 };
    sample s = {0};
    double squares = 0;
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS / BLYT_SLOW; seed++) {
        bly_filter *f = lines(1, 0);
        for (unsigned c = 0; c < CYCLES; c++) {
            if (c > 0)
                assert_ok(bly_counts_age(f));
            fill_once(f, hash_at(77, seed), ADDS);
        }
        double truth = 2 * ADDS * (1 - ldexp(1, -CYCLES));
        double share = (double)bly_filter_copies_hash(f, hash_at(77, seed)) / truth;
        add_sample(&s, share);
        squares += (share - 1) * (share - 1);
        bly_filter_destroy(f);
    }
    double n = SEEDS / BLYT_SLOW, spread = sqrt(squares / n);
    assert_true(fabs(s.sum / n - 1) < 5 * 0.21 / sqrt(n));
    assert_true(spread < 0.21 * (1 + 5 / sqrt(2 * n)));
}

static void overlap_is_estimated(void **state) {
    bly_filter *a = lines(4000, 0), *b = lines(4000, 0);
    bly_overlap o;
    (void)state;
    add_hashes(a, 8, 0, 30000);
    add_hashes(a, 8, 0, 10000);
    add_hashes(b, 8, 20000, 50000);
    assert_ok(bly_filter_overlap(a, b, &o));
    assert_true(fabs(o.a / 30000 - 1) < 0.02 && fabs(o.b / 30000 - 1) < 0.02);
    assert_true(fabs(o.both - 10000) < 1000 && fabs(o.either / 50000 - 1) < 0.02);
    assert_int_equal(bly_filter_intersect(a, b), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_subtract(a, b), BLY_EUNSUPPORTED);
    assert_non_null(strstr(bly_filter_why_not(BLY_OP_INTERSECT, a, b), "counter"));
    assert_non_null(strstr(bly_filter_why_not(BLY_OP_SUBTRACT, a, b), "random"));
    assert_null(bly_filter_why_not(BLY_OP_UNION, a, b));
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_their_rule),
        cmocka_unit_test(counts_are_unbiased),
        cmocka_unit_test(a_stream_is_counted),
        cmocka_unit_test(bytes_beat_words),
        cmocka_unit_test(counters_stay_at_their_end),
        cmocka_unit_test(refuses_what_it_cannot_be),
        cmocka_unit_test(plans_are_the_smallest),
        cmocka_unit_test(rates_are_as_planned),
        cmocka_unit_test(union_adds_counts),
        cmocka_unit_test(union_rounds_a_line_alike),
        cmocka_unit_test(aging_halves),
        cmocka_unit_test(aging_goes_on_and_on),
        cmocka_unit_test(overlap_is_estimated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
