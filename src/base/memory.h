/* memory.h - aligned, zeroed arrays from any allocator. Internal. */
#ifndef BLYI_BASE_MEMORY_H
#define BLYI_BASE_MEMORY_H

#include <bloomery/base.h>

/* `a`, or the default allocator when it is NULL. */
bly_allocator blyi_allocator_or_default(const bly_allocator *a);

/* `bytes` zeroed bytes, 64-byte aligned; *block is what blyi_free_array takes back. Big arrays of
 * the default allocator are aligned to huge pages and the system is asked to use them; from 8 MiB
 * on they end with a whole one, too. NULL when there is no memory. */
void *blyi_alloc_array(const bly_allocator *a, uint64_t bytes, void **block);
void blyi_free_array(const bly_allocator *a, void *block); /* NULL does nothing */

/* The same in ordinary pages, for what is used for a moment. */
void *blyi_alloc_small_pages(const bly_allocator *a, uint64_t bytes, void **block);

/* How large the block of such an array is. */
size_t blyi_array_block_bytes(const bly_allocator *a, uint64_t bytes);

/* ---- limits of growth ----
 * How much a filter that comes from outside may allocate at one step: 0, no limit; 1, in proportion
 * to what it holds; else so many bytes. */
enum { BLYI_GROWTH_BY_SIZE = 1 };

/* From what a caller asks for: 0, the default, in proportion; UINT64_MAX, no limit. */
uint64_t blyi_growth_limit(uint64_t asked);

/* Whether what holds `held` bytes may allocate `bytes` more. In proportion: 64 times as many, or 64
 * MiB. */
bool blyi_growth_fits(uint64_t limit, uint64_t held, uint64_t bytes);

/* An array's block has been copied to `block`, and the array is now `offset` bytes into it: shifts
 * it to where it is aligned again, and returns that place. */
void *blyi_array_realign(const bly_allocator *a, uint64_t bytes, void *block, size_t offset);

#endif
