/* Selects the kernels that the processor can run. This is the only code that checks the processor's
 * features. */
#include "simd/kernels.h"

#include <stdlib.h>
#include <string.h>

/* Returns a list of the scalar table and a faster table, or NULL if this machine can run no faster
 * one. */
#if defined(__x86_64__) && defined(BLYI_HAVE_AVX2)
static const blyi_kernels *const *fast_kernels(void) {
    static const blyi_kernels *const list[] = {&blyi_kernels_scalar, &blyi_kernels_avx2, NULL};
    /* The compiler's run-time library also checks that the system saves the wide registers. */
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") ? list : NULL;
}
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
static const blyi_kernels *const *fast_kernels(void) {
    static const blyi_kernels *const list[] = {&blyi_kernels_scalar, &blyi_kernels_neon, NULL};
    return list;
}
#else
static const blyi_kernels *const *fast_kernels(void) {
    return NULL;
}
#endif

const blyi_kernels *const *blyi_kernels_list(void) {
    static const blyi_kernels *const plain[] = {&blyi_kernels_scalar, NULL};
    const blyi_kernels *const *all = fast_kernels();
    return all ? all : plain;
}

/* Racing threads compute and store the same pointer, so neither a lock nor a start-up call is
 * needed. */
const blyi_kernels *blyi_kernels_best(void) {
    static const blyi_kernels *chosen;
    const blyi_kernels *k = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (k)
        return k;
    const blyi_kernels *const *list = blyi_kernels_list();
    const char *requested = getenv("BLOOMERY_ISA");
    k = list[1] ? list[1] : list[0];
    for (const blyi_kernels *const *t = list; requested && *t; t++)
        if (strcmp((*t)->name, requested) == 0)
            k = *t;
    __atomic_store_n(&chosen, k, __ATOMIC_RELAXED);
    return k;
}
