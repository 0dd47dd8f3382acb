/* test_fuse_core.c - equations of three slots, against plain Gaussian elimination. */
#include "support.h"

#include "base/memory.h"
#include "kinds/fuse/fuse_core.h"

enum { MAX = 400 };

/* ---- plain elimination ----------------------------------------------------------------------- */

/* Whether n equations are independent, so that they have a solution whatever is wanted. */
static bool independent(const blyi_triple *t, size_t n, size_t slots) {
    static uint8_t row[MAX][MAX];
    size_t rank = 0;
    memset(row, 0, sizeof row);
    for (size_t i = 0; i < n; i++)
        for (unsigned j = 0; j < 3; j++)
            row[i][t[i].at[j]] = 1;
    for (size_t column = 0; column < slots && rank < n; column++) {
        size_t with = rank;
        while (with < n && !row[with][column])
            with++;
        if (with == n)
            continue;
        for (size_t s = 0; s < slots; s++) {
            uint8_t swap = row[with][s];
            row[with][s] = row[rank][s];
            row[rank][s] = swap;
        }
        for (size_t i = rank + 1; i < n; i++)
            for (size_t s = 0; row[i][column] && s < slots; s++)
                if (s != column)
                    row[i][s] ^= row[rank][s];
        rank++;
    }
    return rank == n;
}

/* ---- equations ------------------------------------------------------------------------------- */

/* One slot in each third, or with `near` in three neighbouring segments of 4. */
static void make(blyi_triple *t, size_t n, size_t slots, bool near, uint64_t *random) {
    for (size_t i = 0; i < n; i++) {
        for (unsigned j = 0; j < 3; j++)
            t[i].at[j] = (uint32_t)(slots / 3 * j + blyt_next(random) % (slots / 3));
        if (near) {
            size_t first = blyt_next(random) % (slots / 4 - 2);
            for (unsigned j = 0; j < 3; j++)
                t[i].at[j] = (uint32_t)(4 * (first + j) + blyt_next(random) % 4);
        }
        t[i].want = (uint32_t)blyt_next(random);
    }
}

static void assert_solved(const blyi_triple *t, size_t n, const uint32_t *value) {
    for (size_t i = 0; i < n; i++)
        assert_int_equal(value[t[i].at[0]] ^ value[t[i].at[1]] ^ value[t[i].at[2]], t[i].want);
}

/* Solved exactly when it can be, whatever is wanted. */
static void as_elimination(void **state) {
    const bly_allocator a = blyi_allocator_or_default(NULL);
    static blyi_triple t[MAX];
    static uint32_t value[MAX];
    unsigned solved = 0, not_solved = 0;
    uint64_t random = 1;
    (void)state;
    for (unsigned turn = 0; turn < 6000 / BLYT_SLOW; turn++) {
        bool near = turn % 3 == 0;
        size_t slots = 12 * (1 + blyt_next(&random) % (turn % 50 ? 8 : 33));
        size_t n = slots / 2 + blyt_next(&random) % (slots / 2 + 2);
        make(t, n, slots, near, &random);
        memset(value, 0, sizeof value);
        bly_status status = blyi_core_solve(t, n, slots, value, &a);
        assert_true(status == BLY_OK || status == BLY_EFULL);
        assert_int_equal(status == BLY_OK, independent(t, n, slots));
        if (status == BLY_OK)
            assert_solved(t, n, value);
        solved += status == BLY_OK;
        not_solved += status == BLY_EFULL;
    }
    assert_true(solved > 1000 / BLYT_SLOW && not_solved > 1000 / BLYT_SLOW);
}

/* Large ones: most can be solved with 1.11 slots for each, where peeling alone takes 1.22. */
static void large(void **state) {
    const bly_allocator a = blyi_allocator_or_default(NULL);
    static const size_t sizes[] = {300, 3000, 9000};
    uint64_t random = 2;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        size_t n = sizes[i], slots = n * 112 / 300 * 3;
        blyi_triple *t = malloc(n * sizeof *t);
        uint32_t *value = malloc(slots * sizeof *value);
        unsigned solved = 0;
        assert_non_null(t);
        assert_non_null(value);
        for (unsigned turn = 0; turn < 10; turn++) {
            make(t, n, slots, false, &random);
            memset(value, 0, slots * sizeof *value);
            if (blyi_core_solve(t, n, slots, value, &a) != BLY_OK)
                continue;
            assert_solved(t, n, value);
            solved++;
        }
        assert_true(solved >= 5);
        free(t);
        free(value);
    }
}

/* What would take too long is given up. */
static void too_many(void **state) {
    const bly_allocator a = blyi_allocator_or_default(NULL);
    const size_t n = 60000, slots = 66000;
    blyi_triple *t = malloc(n * sizeof *t);
    uint32_t *value = calloc(slots, sizeof *value);
    uint64_t random = 3;
    (void)state;
    assert_non_null(t);
    assert_non_null(value);
    make(t, n, slots, false, &random);
    assert_int_equal(blyi_core_solve(t, n, slots, value, &a), BLY_EFULL);
    free(t);
    free(value);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_elimination),
        cmocka_unit_test(large),
        cmocka_unit_test(too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
