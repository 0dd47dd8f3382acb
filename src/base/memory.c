#include "base/memory.h"

#include "base/huge_pages.h"
#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64, MIN_ROUNDED = 4 * BLYI_HUGE_PAGE };

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

/* A caller's allocator may hand out pieces of its own big pages: advice is not ours to give. */
static bool wants_huge(const bly_allocator *a, uint64_t bytes) {
    return a->alloc == default_alloc && bytes >= 2 * (uint64_t)BLYI_HUGE_PAGE;
}

static uint64_t alignment(const bly_allocator *a, uint64_t bytes) {
    return wants_huge(a, bytes) ? BLYI_HUGE_PAGE : CACHE_LINE;
}

/* What an array takes. One of several huge pages gets a whole one for its end, too. */
static uint64_t footprint(const bly_allocator *a, uint64_t bytes) {
    uint64_t page = BLYI_HUGE_PAGE;
    return wants_huge(a, bytes) && bytes >= MIN_ROUNDED ? (bytes + page - 1) / page * page : bytes;
}

static void *aligned(void *block, uint64_t to) {
    return (void *)(((uintptr_t)block + (uintptr_t)to - 1) & ~((uintptr_t)to - 1));
}

/* Where an array begins in its block. */
static void *array_in(const bly_allocator *a, uint64_t bytes, void *block) {
    void *array = aligned(block, alignment(a, bytes));
    if (wants_huge(a, bytes))
        blyi_advise_huge(array, (size_t)footprint(a, bytes));
    return array;
}

void *blyi_alloc_array(const bly_allocator *a, uint64_t bytes, void **block) {
    *block = NULL;
    if (bytes > SIZE_MAX - 2 * alignment(a, bytes))
        return NULL;
    *block = a->alloc(a->ctx, blyi_array_block_bytes(a, bytes));
    return *block ? array_in(a, bytes, *block) : NULL;
}

void *blyi_alloc_small_pages(const bly_allocator *a, uint64_t bytes, void **block) {
    *block = bytes > SIZE_MAX - CACHE_LINE ? NULL : a->alloc(a->ctx, (size_t)bytes + CACHE_LINE);
    return *block ? aligned(*block, CACHE_LINE) : NULL;
}

void blyi_free_array(const bly_allocator *a, void *block) {
    if (block)
        a->free(a->ctx, block);
}

size_t blyi_array_block_bytes(const bly_allocator *a, uint64_t bytes) {
    return (size_t)(footprint(a, bytes) + alignment(a, bytes));
}

uint64_t blyi_growth_limit(uint64_t asked) {
    if (asked == 0)
        return BLYI_GROWTH_BY_SIZE;
    if (asked == UINT64_MAX)
        return 0;
    return asked > BLYI_GROWTH_BY_SIZE ? asked : BLYI_GROWTH_BY_SIZE + 1;
}

bool blyi_growth_fits(uint64_t limit, uint64_t held, uint64_t bytes) {
    const uint64_t times = 64, least = (uint64_t)64 << 20;
    if (limit != BLYI_GROWTH_BY_SIZE)
        return limit == 0 || bytes <= limit;
    return bytes <= least || bytes / times + (bytes % times != 0) <= held;
}

void *blyi_array_realign(const bly_allocator *a, uint64_t bytes, void *block, size_t offset) {
    void *array = array_in(a, bytes, block);
    const uint8_t *now = (const uint8_t *)block + offset;
    if (now != array)
        memmove(array, now, (size_t)bytes);
    return array;
}
