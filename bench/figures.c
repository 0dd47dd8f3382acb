/* Medians and percentiles. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

summary summarise(const double *values, size_t n) {
    double v[MAX_SAMPLES];
    must(n > 0 && n <= MAX_SAMPLES, "a number of samples");
    memcpy(v, values, n * sizeof *v);
    qsort(v, n, sizeof *v, ascending);
    return (summary){(v[(n - 1) / 2] + v[n / 2]) / 2, v[n / 10], v[n - 1 - n / 10]};
}

summary summarise_calm(const double *values, const bool *calm, size_t n) {
    double v[MAX_SAMPLES];
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (calm[i])
            v[count++] = values[i];
    return count < MIN_CALM ? summarise(values, n) : summarise(v, count);
}
