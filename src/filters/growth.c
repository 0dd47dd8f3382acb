#include "growth.h"

#include <math.h>

#define MOST_SPACE 1.15 /* that one line per key may cost, as a multiple of what two lines need */

#define WORST_RATE 0.5 /* of a level */

double blyi_first_rate(double fpr, double share) {
    return fmin(share * fpr, WORST_RATE);
}

bly_status blyi_level_plan(uint64_t keys, double fpr, unsigned hash_bits, bly_geometry *out) {
    bly_geometry fast;
    bly_status status = bly_plan(BLY_BB2X512, keys, fpr, 0, hash_bits, out);
    if (status == BLY_OK && bly_plan(BLY_SPLIT512, keys, fpr, 0, hash_bits, &fast) == BLY_OK &&
        (double)bly_plan_bytes(&fast) <= MOST_SPACE * (double)bly_plan_bytes(out))
        *out = fast;
    return status;
}

/* The default hash must do for the keys to come as well: for a million times the first level's, as
 * far as that is less than 2^36 keys, in a level that is left with a two hundredth of the rate. */
unsigned blyi_growth_hash_bits(uint64_t first_keys, double fpr) {
    const uint64_t many = (uint64_t)1 << 36;
    uint64_t keys = first_keys < many >> 20 ? first_keys << 20 : many;
    if (keys < first_keys)
        keys = first_keys;
    return (double)keys * 0x1p-64 <= fpr / 200 / 10 ? 64 : 128;
}
