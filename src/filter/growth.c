#include "filter/growth.h"
#include "filter/plan_levels.h"
#include "filter/rate.h"
#include "kinds/cuckoo/cuckoo_plan.h"

#include <math.h>

/* What one line per key may cost, as a multiple of what two lines need. Where the first level has
 * taken most of the rate, the later ones are so fine that the difference matters more. */
#define MAX_SPACE               1.15
#define MAX_SPACE_WHEN_RESERVED 1.1

#define WORST_RATE 0.5 /* of a level */

double blyi_first_rate(double fpr, double share) {
    return fmin(share * fpr, WORST_RATE);
}

static bly_status plan_bits(const blyi_level_request *w, double fpr, bly_geometry *out) {
    const double most = w->last && w->reserved ? MAX_SPACE_WHEN_RESERVED : MAX_SPACE;
    bly_geometry fast;
    bly_status status = bly_plan(BLY_BB2X512, w->keys, fpr, 0, w->hash_bits, out);
    if (status == BLY_OK &&
        bly_plan(BLY_SPLIT512, w->keys, fpr, 0, w->hash_bits, &fast) == BLY_OK &&
        (double)bly_plan_bytes(&fast) <= most * (double)bly_plan_bytes(out))
        *out = fast;
    return status;
}

/* Remainders have whole bits, so a table's rate is below the one it may have. */
static bly_status plan_table(const blyi_level_request *w, double *fpr, bly_geometry *out) {
    double floor = blyi_hash_floor((double)w->keys, w->hash_bits);
    if (!(*fpr >= 0x1p-40))
        return BLY_ERATE;
    if (floor > *fpr / 10)
        return BLY_EWEAKHASH;
    bly_status status = w->last ? blyi_chain_plan(w->last, w->keys, *fpr - floor, out)
                                : blyi_table_plan(BLY_CUCKOO, w->keys, *fpr - floor, out);
    if (status == BLY_OK)
        *fpr = blyi_table_rate(out, (double)w->keys) + floor;
    return status;
}

bly_status blyi_level_plan(const blyi_level_request *wish, double *fpr, bly_geometry *out) {
    return wish->kind == BLY_SCALABLE_CUCKOO ? plan_table(wish, fpr, out)
                                             : plan_bits(wish, *fpr, out);
}

uint64_t blyi_next_keys(uint32_t detail, unsigned levels, uint64_t keys) {
    uint64_t factor = blyi_growth_factor(detail);
    if (factor == 1 && levels >= BLYI_MAX_EQUAL_LEVELS)
        factor = BLYI_DEFAULT_GROWTH;
    return keys > UINT64_MAX / factor ? UINT64_MAX : keys * factor;
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
