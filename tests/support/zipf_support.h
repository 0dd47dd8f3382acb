/* zipf_support.h - draws keys by Zipf's law: key i has the weight 1 / (i + 1)^exponent. */
#ifndef BLYT_ZIPF_SUPPORT_H
#define BLYT_ZIPF_SUPPORT_H

#include "support.h"

typedef struct zipf {
    double *until; /* entry i is the sum of the weights of keys 0 to i */
    unsigned n;
} zipf;

static inline zipf zipf_of(unsigned n, double exponent) {
    zipf z = {malloc(n * sizeof *z.until), n};
    double sum = 0;
    assert_non_null(z.until);
    for (unsigned i = 0; i < n; i++)
        z.until[i] = sum += pow((double)i + 1, -exponent);
    return z;
}

static inline void zipf_free(zipf *z) {
    free(z->until);
}

static inline unsigned zipf_draw(const zipf *z, uint64_t *state) {
    double at = (double)(blyt_next(state) >> 11) * 0x1p-53 * z->until[z->n - 1];
    unsigned low = 0, high = z->n - 1;
    while (low < high) {
        unsigned mid = (low + high) / 2;
        if (z->until[mid] < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

#endif
