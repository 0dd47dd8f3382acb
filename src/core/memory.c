#include "memory.h"

#include "pages.h"
#include <stdlib.h>

static void *default_alloc(void *ctx, size_t size) {
    (void)ctx;
    return calloc(1, size);
}

static void default_free(void *ctx, void *ptr) {
    (void)ctx;
    free(ptr);
}

bly_allocator blyi_allocator_or_default(const bly_allocator *a) {
    const bly_allocator fallback = {default_alloc, default_free, NULL};
    return a ? *a : fallback;
}

void *blyi_alloc_array(const bly_allocator *a, uint64_t bytes, void **block) {
    /* A caller's allocator may hand out pieces of its own big pages: advice is not ours to give. */
    bool huge = a->alloc == default_alloc && bytes >= 2 * (uint64_t)BLYI_HUGE_PAGE;
    uint64_t align = huge ? BLYI_HUGE_PAGE : 64;
    *block = NULL;
    if (bytes > SIZE_MAX - align)
        return NULL;
    *block = a->alloc(a->ctx, (size_t)(bytes + align));
    if (!*block)
        return NULL;
    uintptr_t at = ((uintptr_t)*block + align - 1) & ~(uintptr_t)(align - 1);
    if (huge)
        blyi_advise_huge((void *)at, (size_t)bytes);
    return (void *)at;
}

void blyi_free_array(const bly_allocator *a, void *block) {
    if (block)
        a->free(a->ctx, block);
}
