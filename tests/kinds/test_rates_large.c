/* The rate requested is the rate measured, where that takes many keys: a million, or, with
 * BLOOMERY_LONG in the environment, ten millions. */
#include "rates_support.h"

static void low_rates_and_large_sizes(void **state) {
    (void)state;
    every_size(PART_LARGE);
}

static void rates_of_filters_that_grew_far(void **state) {
    static const double rates[] = {0.05, 0.01, 0.001, 0.0001};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        for (unsigned doublings = 0; doublings <= (BLYT_SLOW > 1 ? 5 : 10); doublings += 5) {
            if (doublings <= 5 && rates[i] >= 0.001)
                continue; /* test_rates_shapes.c has these */
            grow_and_judge(1000, doublings, rates[i], 0);
            grow_and_judge(1000, doublings, rates[i], 0.8);
            if (doublings <= 5)
                grow_and_judge(20, doublings, rates[i], 0);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(low_rates_and_large_sizes),
        cmocka_unit_test(rates_of_filters_that_grew_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
