#include "filters/estimate.h"

#include <math.h>
#include <stdio.h>

/* 95% of a normal distribution lie so many standard errors around its middle. */
static const double sure = 1.959963984540054;

estimate estimate_of(const bly_filter *sketch, uint64_t most) {
    const double top = fmin((double)most, 0x1p62), error = bly_hll_error(sketch);
    const double keys = fmax(0, fmin(bly_hll_estimate(sketch), top));
    const double least = keys < 0.5 ? 0 : 1; /* of what is not empty */
    return (estimate){.keys = (uint64_t)llround(keys),
                      .low = (uint64_t)llround(fmax(keys * (1 - sure * error), least)),
                      .high = (uint64_t)llround(fmin(keys * (1 + sure * error), top)),
                      .error = error};
}

char *estimate_range(const estimate *e, char out[ESTIMATE_RANGE]) {
    out[0] = '\0';
    if (e->low != e->high)
        (void)snprintf(out, ESTIMATE_RANGE, " (%llu to %llu with 95%% certainty)",
                       (unsigned long long)e->low, (unsigned long long)e->high);
    return out;
}
