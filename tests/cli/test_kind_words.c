/* The words that the command line prints about kinds agree with what the library says of them. */
#include "support.h"

#include "filters/kind_words.h"

#include <bloomery/host/describe.h>

/* The names of all kinds fit into a buffer of KINDS_LIST bytes. */
static void test_lists(void **state) {
    char list[KINDS_LIST];
    bly_kind last = BLY_KIND_NONE;
    (void)state;
    for (bly_kind k = bly_kind_next(BLY_KIND_NONE); k != BLY_KIND_NONE; k = bly_kind_next(k))
        last = k;
    const char *name = bly_kind_name(last);
    const size_t size = strlen(kinds_that_can(0, list)), tail = strlen(name);
    assert_true(size > tail && size < KINDS_LIST - 1);
    assert_string_equal(list + size - tail, name);
    assert_non_null(strstr(list, "classic, partitioned, sbbf, "));
    assert_string_equal(kinds_that_can(~0U, list), "");
}

static void test_words(void **state) {
    (void)state;
    for (bly_kind k = bly_kind_next(BLY_KIND_NONE); k != BLY_KIND_NONE; k = bly_kind_next(k)) {
        assert_string_not_equal(kinds_meaning(k), "unknown");
        assert_true(strlen(kinds_hashes(k)) > 0);
    }
    assert_string_equal(kinds_meaning(BLY_KIND_NONE), "unknown");
    assert_string_equal(kinds_article(BLY_OVERLAY), "an");
    assert_string_equal(kinds_article(BLY_COUNTING), "a");
}

/* kinds_are_bits is true only for Bloom filters of fixed size, and false for kinds that count, grow
 * or have slots. */
static void test_sorts(void **state) {
    (void)state;
    for (bly_kind k = bly_kind_next(BLY_KIND_NONE); k != BLY_KIND_NONE; k = bly_kind_next(k)) {
        const bool copies = kinds_hold_copies(k), bits = kinds_are_bits(k), grows = kinds_grow(k);
        assert_true(!bits || !(copies || grows || kinds_hold_slots(k)));
        assert_true(!copies || kinds_can(k, BLY_CAN_REMOVE));
        assert_true(!kinds_limit_copies(k) || (copies && kinds_hold_slots(k)));
        if (k > BLY_SCALABLE_CUCKOO)
            continue; /* kinds that are newer than this test may have any of these properties */
        assert_int_equal(bits, k <= BLY_BB2X512);
        assert_int_equal(grows,
                         k == BLY_SCALABLE || k == BLY_GROWABLE_CUCKOO || k == BLY_SCALABLE_CUCKOO);
    }
    assert_false(kinds_hold_copies(BLY_OVERLAY));
    assert_false(kinds_hold_copies(BLY_COUNTS));
    assert_true(kinds_hold_copies(BLY_CUCKOO) && kinds_hold_copies(BLY_HYBRID));
}

/* Bodies of counters have no other bits: the number of counters times their bits is the size of the
 * body. */
static void test_counters(void **state) {
    static const struct {
        bly_kind kind;
        uint32_t bits; /* bits of a counter; 0: given by the geometry */
    } cases[] = {{BLY_COUNTING, 0}, {BLY_LAYERED, 4}, {BLY_COUNTS, 8}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bly_geometry g;
        assert_ok(bly_plan(cases[i].kind, 12345, 0.01, 0, 64, &g));
        const uint32_t bits = cases[i].bits ? cases[i].bits : g.detail;
        assert_int_equal(bly_geometry_counters(&g) * bits, bly_plan_bits(&g));
    }
    for (uint32_t bits = 2; bits <= 16; bits *= 2) {
        bly_geometry g;
        char shape[KINDS_SHAPE], wanted[32];
        assert_ok(bly_plan_counting(12345, 0.01, bits, 64, &g));
        assert_int_equal(bly_geometry_counters(&g) * bits, bly_plan_bits(&g));
        (void)snprintf(wanted, sizeof wanted, "counters of %u bits", bits);
        assert_non_null(strstr(kinds_shape(&g, shape), wanted));
    }
    bly_geometry g;
    assert_ok(bly_plan(BLY_MULTILAYER, 12345, 0.01, 0, 64, &g));
    assert_int_equal(bly_geometry_counters(&g), 320 * g.size);
    assert_ok(bly_plan(BLY_CLASSIC, 12345, 0.01, 0, 64, &g));
    assert_int_equal(bly_geometry_counters(&g), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_sorts),
        cmocka_unit_test(test_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
