/* The rate requested is the rate measured, where that takes many lookups: rates down to 0.0001. */
#include "rates_support.h"

static void low_rates(void **state) {
    (void)state;
    every_size(PART_LOW);
}

static void low_rates_between(void **state) {
    (void)state;
    rate_between(0.0007);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(low_rates),
        cmocka_unit_test(low_rates_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
