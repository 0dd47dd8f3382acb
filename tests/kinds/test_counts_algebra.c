/* Whole sketches of counts: added to each other, aged, and compared. Rounding is right on average,
 * and the same within a line. */
#include "counts_support.h"

static void fill_once(bly_filter *f, bly_hash h, unsigned times) {
    for (unsigned i = 0; i < times; i++)
        assert_ok(bly_filter_add_hash(f, h, NULL));
}

/* Each of 2048 keys in a line of its own, for the rounding is the same within a line. */
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
        /* Rounding is right on average, whatever was rounded. */
        assert_true(fabs(sum) <= 5 * sqrt(squares) + 1e-9);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
        bly_filter_destroy(both);
    }
}

/* The codes of a union, by the letter, and those that become of counters at their end. */
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
                take(&s, (double)value[now] - half);
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
    assert_int_equal(bly_filter_count(f), 4); /* three adds and an age */
    bly_filter_destroy(f);
    assert_ok(bly_blocked_create(10, 0.01, &f));
    assert_int_equal(bly_counts_age(f), BLY_EUNSUPPORTED);
    bly_filter_destroy(f);
}

/* A key that comes 1000 times between one age and the next counts 2000 less what is rounded off in
 * the end, and no dice fall twice: the spread after many cycles is that after one, 20 to 21%. */
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
        take(&s, share);
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
    assert_non_null(strstr(bly_filter_why_not(BLY_OP_SUBTRACT, a, b), "chance"));
    assert_null(bly_filter_why_not(BLY_OP_UNION, a, b));
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(union_adds_counts),    cmocka_unit_test(union_rounds_a_line_alike),
        cmocka_unit_test(aging_halves),         cmocka_unit_test(aging_goes_on_and_on),
        cmocka_unit_test(overlap_is_estimated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
