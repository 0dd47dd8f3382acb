/* The rate requested is the rate measured.
 *
 * For each kind and probe, at sizes from 1 to 100,000 keys and several rates, as rates_support.h
 * compares them. test_rates_low.c has lower rates, test_rates_large.c up to a million keys,
 * test_rates_shapes.c every k and every hash.
 */
#include "rates_support.h"

static void rates_at_every_size(void **state) {
    (void)state;
    every_size(PART_QUICK);
}

/* What the design promises at capacity, within 1%. */
static void bits_per_key_at_capacity(void **state) {
    static const struct {
        bly_kind kind;
        double p, bits;
    } table[] = {
        {BLY_CLASSIC, 0.01, 9.593},     {BLY_CLASSIC, 0.001, 14.378},
        {BLY_CLASSIC, 0.0001, 19.173},  {BLY_CLASSIC, 1e-6, 28.755},
        {BLY_PARTITIONED, 0.01, 9.593}, {BLY_SBBF, 0.05, 7.23},
        {BLY_SBBF, 0.02, 9.02},         {BLY_SBBF, 0.01, 10.53},
        {BLY_SBBF, 0.004, 12.78},       {BLY_SBBF, 0.001, 16.89},
        {BLY_SBBF, 0.0005, 19.34},      {BLY_SBBF, 0.0001, 26.34},
        {BLY_SBBF, 1e-5, 40.99},        {BLY_SPLIT512, 0.01, 10.10},
        {BLY_SPLIT512, 0.001, 15.72},   {BLY_SPLIT512, 0.0001, 22.10},
        {BLY_SPLIT512, 1e-5, 29.9},     {BLY_BB2X512, 0.05, 6.26},
        {BLY_BB2X512, 0.02, 8.19},      {BLY_BB2X512, 0.01, 9.67},
        {BLY_BB2X512, 0.004, 11.61},    {BLY_BB2X512, 0.001, 14.63},
        {BLY_BB2X512, 0.0005, 16.18},   {BLY_BB2X512, 0.0001, 19.84},
        {BLY_BB2X512, 1e-5, 25.27},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        bly_geometry g;
        assert_ok(bly_plan(table[i].kind, 1000000, table[i].p, 0, 64, &g));
        double bits = (double)bly_plan_bits(&g) / 1e6;
        assert_true(fabs(bits / table[i].bits - 1) < 0.01);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_per_key_at_capacity),
        cmocka_unit_test(rates_at_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
