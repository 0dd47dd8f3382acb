/* The only place that asks what the processor can do. */
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(BLYI_HAVE_AVX2)
static const blyi_kernels *fastest(void) {
    /* The compiler's run-time also checks that the system saves the wide registers. */
    return __builtin_cpu_supports("avx2") ? &blyi_kernels_avx2 : &blyi_kernels_scalar;
}
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
static const blyi_kernels *fastest(void) {
    return &blyi_kernels_neon;
}
#else
static const blyi_kernels *fastest(void) {
    return &blyi_kernels_scalar;
}
#endif

/* Racing threads compute and store the same pointers, so no lock and no start-up call. */
const blyi_kernels *const *blyi_kernels_list(void) {
    static const blyi_kernels *tables[3] = {&blyi_kernels_scalar};
    const blyi_kernels *best = fastest();
    if (best != &blyi_kernels_scalar)
        __atomic_store_n(&tables[1], best, __ATOMIC_RELAXED);
    return tables;
}

const blyi_kernels *blyi_kernels_best(void) {
    static const blyi_kernels *chosen;
    const blyi_kernels *k = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (k)
        return k;
    k = fastest();
    const char *wish = getenv("BLOOMERY_ISA");
    for (const blyi_kernels *const *t = blyi_kernels_list(); wish && *t; t++)
        if (strcmp((*t)->name, wish) == 0)
            k = *t;
    __atomic_store_n(&chosen, k, __ATOMIC_RELAXED);
    return k;
}
