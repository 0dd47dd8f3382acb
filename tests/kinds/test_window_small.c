/* Small windows: when they are planned, their size, the positions of a key's bits, and properties
 * of their table of columns. test_window.c and test_window_bytes.c test what all windows have in
 * common. */
#include "window_support.h"

#include "kinds/window/window_layout.h"

static bool is_small(const bly_filter *f) {
    return blyi_window_is_small(&f->geometry);
}

/* ---- space and rate ---------------------------------------------------------------------------
 */

static void bits_per_key(void **state) {
    static const struct {
        double p, most;
    } table[] = {{0.01, 17.54}, {0.001, 24.89}, {0.0001, 33.66}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        for (uint64_t keys = 1000; keys <= 10000000; keys *= 100) {
            bly_geometry g;
            assert_ok(bly_plan(BLY_WINDOW, keys, table[i].p, 0, 64, &g));
            assert_true((double)bly_plan_bits(&g) / (double)keys <= table[i].most);
            assert_int_equal(blyi_window_is_small(&g), keys == 1000);
            assert_true(bly_plan_fpr(&g, keys, 64) <= table[i].p);
            g.size--; /* one step less must not be enough */
            assert_true(bly_plan_fpr(&g, keys, 64) > table[i].p);
        }
}

/* A plan chooses the smaller one of the two forms. Only the small form has a limit on its size. */
static void the_form_is_the_smaller(void **state) {
    uint64_t last = 0;
    (void)state;
    for (uint64_t keys = 1; keys < 100000; keys += keys / 9 + 1) {
        bly_geometry g;
        assert_ok(bly_plan(BLY_WINDOW, keys, 0.01, 0, 64, &g));
        assert_ok(bly_plan_check(&g));
        assert_true(!blyi_window_is_small(&g) || bly_plan_bytes(&g) <= 4096);
        assert_true(blyi_window_is_small(&g) ? keys < 2000 : keys > 1500);
        assert_true(bly_plan_bits(&g) + 1024 >= last); /* more keys rarely take less space */
        last = bly_plan_bits(&g);
    }
}

static void rates(void **state) {
    static const double asked[] = {0.01, 0.001, 0.0001};
    unsigned slow = BLYT_SLOW > 1 ? 3 : 1;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        rate_when_full(100, asked[i], 8, 200 / slow);
        rate_when_full(1000, asked[i], 8, 60 / slow);
        rate_when_full(3000, asked[i], 8, 30 / slow);
    }
    rate_when_full(100, 0.01, 1, 200 / slow);
    rate_when_full(400, 0.01, 32, 60 / slow);
    rate_when_full(1000, 0.05, 8, 60 / slow);
}

/* ---- the table --------------------------------------------------------------------------------
 */

/* The test vectors of docs/format.md. */
static void bits_of_a_key(void **state) {
    static const struct {
        bly_geometry g;
        uint64_t bits[13];
    } vectors[] = {
        {{BLY_WINDOW, 8, 1795, 0, 64 + 8}, {13518, 4473, 18, 6453, 4815, 10080, 15129, 3573}},
        {{BLY_WINDOW, 10, 128, 0, 64 + 1}, {214, 70, 0, 102, 76, 158, 238, 56, 10, 18}},
        {{BLY_WINDOW, 13, 300, 0, 64 + 32},
         {8283, 2739, 0, 3927, 2937, 6171, 9273, 2178, 396, 759, 2706, 5775, 3564}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        bly_spec spec = bly_spec_for(BLY_WINDOW, 60, 0.05);
        bly_filter *f = NULL;
        spec.geometry = vectors[i].g;
        assert_ok(bly_hasher_init(&spec.hasher, BLY_HASH_FNV1A, 0));
        assert_ok(bly_filter_create(&spec, &f));
        assert_ok(bly_filter_add(f, "bloomery", 8, NULL));
        size_t first = (size_t)blyi_window_heading_bytes(&f->geometry);
        for (unsigned j = 0; j < f->geometry.hashes; j++) {
            uint8_t *at = f->body + first + vectors[i].bits[j] / 8;
            assert_true(*at >> vectors[i].bits[j] % 8 & 1);
            *at &= (uint8_t) ~(1U << vectors[i].bits[j] % 8);
        }
        for (size_t at = first; at < f->body_bytes; at++)
            assert_int_equal(f->body[at], 0);
        bly_filter_destroy(f);
    }
}

/* Counts the set bits of each slot in all columns, in the layout of docs/format.md. */
static void bits_by_hand(const bly_filter *f, uint64_t *set) {
    unsigned slots = blyi_window_slots(&f->geometry);
    size_t first = 8 * (size_t)blyi_window_heading_bytes(&f->geometry);
    memset(set, 0, slots * sizeof *set);
    for (size_t bit = 0; bit < slots * f->geometry.size; bit++)
        set[bit % slots] += f->body[(first + bit) / 8] >> (first + bit) % 8 & 1;
}

/* When a window turns, one slot is cleared completely and no other changes, after any number of
 * turns and with any number of slots. */
static void a_turn_empties_one_slot(void **state) {
    (void)state;
    for (uint32_t s = 1; s <= 32; s++) {
        bly_filter *f = window(3 * s, 0.01, s, 0, s);
        uint64_t set[2][33], i = 0;
        assert_true(is_small(f));
        for (unsigned turn = 0; turn < 600; turn++) {
            uint64_t ordinal = info_of(f).ordinal;
            while (!blyi_window_is_full(f))
                (void)add(f, key(s, i++));
            bits_by_hand(f, set[0]);
            blyi_window_rotate(f, ordinal + 1);
            bits_by_hand(f, set[1]);
            unsigned active = blyi_window_active(f);
            for (unsigned slot = 0; slot <= s; slot++)
                assert_true(set[1][slot] == (slot == active ? 0 : set[0][slot]));
            assert_true(info_of(f).ordinal == ordinal + 1 && info_of(f).active_keys == 0);
            assert_sound(f);
        }
        assert_int_equal(count_found(f, s, i - 3 * s, i), 3 * s);
        bly_filter_destroy(f);
    }
}

/* Statistics agree with the counted bits. */
static void statistics(void **state) {
    bly_filter *f = window(500, 0.01, 5, 0, 1);
    uint64_t set[33], sum = 0;
    (void)state;
    assert_true(is_small(f));
    for (uint64_t i = 0; i < 480; i++)
        (void)add(f, key(1, i));
    bits_by_hand(f, set);
    for (unsigned slot = 0; slot <= 5; slot++)
        sum += set[slot];
    bly_filter_info s = stats_of(f);
    assert_true(s.set_bits == sum && s.count > 470 && s.count <= 480);
    assert_true(fabs(s.estimated_keys / 480 - 1) < 0.1);
    bly_filter_destroy(f);
}

/* ---- shapes, clocks and bursts ----------------------------------------------------------------
 */

static void exact_shapes(void **state) {
    static const bly_geometry good[] = {
        {BLY_WINDOW, 1, 128, 0, 65},
        {BLY_WINDOW, 64, 3527, 0, 72},
        {BLY_WINDOW, 7, 915, 0, 96},
    };
    static const bly_geometry bad[] = {
        {BLY_WINDOW, 0, 128, 0, 72},        {BLY_WINDOW, 65, 128, 0, 72},
        {BLY_WINDOW, 7, 127, 0, 72},        {BLY_WINDOW, 7, 3528, 0, 72},
        {BLY_WINDOW, 7, 128, 0, 64},        {BLY_WINDOW, 7, 128, 0, 97},
        {BLY_WINDOW, 7, 128, 0, 136},       {BLY_WINDOW, 7, 916, 0, 96},
        {BLY_WINDOW, 7, 128, 0, 8},         {BLY_WINDOW, 7, 128, 0, 65535},
        {BLY_WINDOW, 7, UINT64_MAX, 0, 72},
    };
    bly_spec spec = bly_spec_for(BLY_WINDOW, 0, 0);
    bly_filter *f = NULL;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(bly_plan_check(&bad[i]), BLY_EGEOMETRY);
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_ok(bly_plan_check(&good[i]));
        spec.geometry = good[i];
        spec.window.generations = good[i].detail - BLYI_WINDOW_SMALL;
        assert_ok(bly_filter_create(&spec, &f));
        assert_true(is_small(f) && info_of(f).generations == spec.window.generations);
        uint64_t keys = bly_filter_capacity(f);
        for (uint64_t j = 0; j < 3 * keys; j++)
            (void)add(f, key(1, j));
        assert_int_equal(count_found(f, 1, 2 * keys, 3 * keys), keys);
        assert_sound(f);
        bly_filter_destroy(f);
        spec.window.generations++;
        assert_int_equal(bly_filter_create(&spec, &f), BLY_EINVAL);
    }
}

/* A small and a large window with the same number of generations do not match. */
static void forms_do_not_mix(void **state) {
    bly_filter *a = window(1000, 0.01, 8, 0, 1), *b = NULL;
    bly_spec spec = bly_spec_for(BLY_WINDOW, 1000, 0.01);
    (void)state;
    spec.seed = 1;
    spec.geometry = (bly_geometry){BLY_WINDOW, 9, 13, 0, 8};
    assert_ok(bly_filter_create(&spec, &b));
    assert_true(is_small(a) && !is_small(b));
    assert_int_equal(bly_filter_union(a, b), BLY_EMISMATCH);
    assert_int_equal(bly_filter_union(b, a), BLY_EMISMATCH);
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

/* Even if many more keys are added per slice than planned, and the clock leaps, no key of the last
 * span is lost. */
static void bursts_and_leaps(void **state) {
    bly_filter *f = window(200, 0.01, 8, 800, 0);
    uint64_t now = UINT64_C(1) << 60, age;
    (void)state;
    assert_true(is_small(f));
    for (uint64_t turn = 0; turn < 300; turn++, now += turn % 7 ? 100 : 100 * turn) {
        assert_ok(bly_window_advance(f, now));
        for (uint64_t i = 0; i < (turn % 50 ? 10 : 3000); i++)
            (void)add(f, key(turn, i));
        assert_sound(f);
        if (turn % 7 == 6 && turn % 50 > 20) {
            assert_int_equal(count_found(f, turn - 5, 0, 10), 10);
            assert_ok(bly_window_age_hash(f, key(turn - 5, 3), &age));
            assert_true(age < 600);
        }
    }
    assert_ok(bly_window_advance(f, now + 900));
    assert_true(bly_filter_count(f) == 0 && count_found(f, 299, 0, 10) == 0);
    bly_filter_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_per_key),
        cmocka_unit_test(the_form_is_the_smaller),
        cmocka_unit_test(rates),
        cmocka_unit_test(bits_of_a_key),
        cmocka_unit_test(a_turn_empties_one_slot),
        cmocka_unit_test(statistics),
        cmocka_unit_test(exact_shapes),
        cmocka_unit_test(forms_do_not_mix),
        cmocka_unit_test(bursts_and_leaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
