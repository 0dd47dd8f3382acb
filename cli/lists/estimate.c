#include "estimate.h"

#include <math.h>
#include <stdio.h>

/* 95% of a normal distribution lie so many standard errors around its middle. */
static const double sure = 1.959963984540054;

static uint64_t rounded(double keys, uint64_t most) {
    return keys < (double)most ? (uint64_t)llround(fmax(keys, 0)) : most;
}

estimate estimate_of(const bly_filter *sketch, uint64_t most) {
    const double keys = bly_hll_estimate(sketch), error = bly_hll_error(sketch);
    const uint64_t top = most < INT64_MAX ? most : INT64_MAX;
    return (estimate){.keys = rounded(keys, top),
                      .low = rounded(keys * (1 - sure * error), top),
                      .high = rounded(keys * (1 + sure * error), top),
                      .error = error};
}

char *estimate_range(const estimate *e, char out[ESTIMATE_RANGE]) {
    out[0] = '\0';
    if (e->low != e->high)
        (void)snprintf(out, ESTIMATE_RANGE, " (%llu to %llu with 95%% certainty)",
                       (unsigned long long)e->low, (unsigned long long)e->high);
    return out;
}
