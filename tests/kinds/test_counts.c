/* Counts: values follow their rule, every add counts for one on average, other keys only ever add
 * to it, and what is at its end stays there. test_counts_rates.c has plans and rates,
 * test_counts_algebra.c whole sketches, test_counts_bytes.c the format. */
#include "counts_support.h"
#include "zipf_support.h"

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

/* The standard deviation of a counter after n adds, from its chain of codes. */
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

/* Mean and spread are what they should be, two-sided, five sigma. */
static void judge_sample(const sample *s, double mean, double sigma, const char *what) {
    double got = s->sum / s->n, spread = sqrt(fmax(0, s->squares / s->n - got * got));
    bool fits = fabs(got - mean) <= 5 * sigma / sqrt(s->n) + 1e-9 &&
                fabs(spread - sigma) <= 0.12 * sigma + 1e-9;
    if (!fits || getenv("BLYT_VERBOSE"))
        print_message("%s: mean %.3f (%.3f), spread %.3f (%.3f)\n", what, got, mean, spread, sigma);
    assert_true(fits);
}

/* The spread of n runs has a relative sigma of 1 / sqrt(2n): five of them are 11% for a thousand.
 */
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
                take(&s, (double)bly_filter_copies_hash(f, h));
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

/* Against an exact count: no key is missed, what is exact is never told too low, nor anything by
 * more than chance may. */
static void a_stream_is_counted(void **state) {
    unsigned keys = 20000, adds = (long_run() ? 10000000U : 1000000U) / BLYT_SLOW;
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
            else /* skewed: never so far below as above */
                assert_true((double)copies >= truth[key] * exp(-4 * rse) || copies == ends[detail]);
        }
        zipf_free(&z);
        bly_filter_destroy(f);
    }
    free(truth);
}

/* Four cells of 32 bits in place of 16 of a byte, the same update. */
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

/* As the header says, if of fewer keys. */
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
        bly_stats s;
        memset(f->body, 255, 128);
        add_hashes(f, 1, 0, 1000);
        for (unsigned i = 0; i < 128; i++)
            assert_int_equal(f->body[i], 255);
        assert_int_equal(bly_filter_copies_hash(f, hash_at(1, 1)), ends[detail]);
        bly_filter_stats(f, &s);
        assert_true(s.stuck == 128 && s.fill == 1 && isinf(s.estimated_keys));
        assert_true(s.current_fpr == 1 && s.predicted_fpr == 1 && s.expected_fill == 1);
        assert_ok(bly_filter_union(g, f));
        assert_ok(bly_filter_union(g, f));
        assert_true(bly_filter_equal(f, g));
        bly_filter_destroy(f);
        bly_filter_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_their_rule),   cmocka_unit_test(counts_are_unbiased),
        cmocka_unit_test(a_stream_is_counted),        cmocka_unit_test(bytes_beat_words),
        cmocka_unit_test(counters_stay_at_their_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
