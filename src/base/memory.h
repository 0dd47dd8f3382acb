/* memory.h - aligned, zeroed arrays from any allocator. Internal. */
#ifndef BLYI_BASE_MEMORY_H
#define BLYI_BASE_MEMORY_H

#include <bloomery/base.h>

/* `a`, or the default allocator when it is NULL. */
bly_allocator blyi_allocator_or_default(const bly_allocator *a);

/* Allocates `bytes` zeroed bytes, aligned to 64. *block is to be passed to blyi_free_array. Large
 * arrays of the default allocator are aligned to huge pages, and the system is asked to use them.
 * From 8 MiB on they also end with a whole huge page. NULL when there is no memory. */
void *blyi_alloc_array(const bly_allocator *a, uint64_t bytes, void **block);
void blyi_free_array(const bly_allocator *a, void *block); /* NULL does nothing */

/* The same in ordinary pages, for arrays that are used only briefly. */
void *blyi_alloc_small_pages(const bly_allocator *a, uint64_t bytes, void **block);

/* The size of the block of an array from blyi_alloc_array. */
size_t blyi_array_block_bytes(const bly_allocator *a, uint64_t bytes);

/* An array's block has been copied to `block`, and the array is now at `offset` in it. Moves the
 * array to where it is aligned again, and returns its address. */
void *blyi_array_realign(const bly_allocator *a, uint64_t bytes, void *block, size_t offset);

/* ---- limits of growth ----
 * The most that a filter from an untrusted source may allocate in one step: 0, no limit; 1, in
 * proportion to its size; otherwise a number of bytes. */
enum { BLYI_GROWTH_BY_SIZE = 1 };

/* The limit for what a caller requests: 0, the default, in proportion; UINT64_MAX, no limit. */
uint64_t blyi_growth_limit(uint64_t requested);

/* Whether a filter of `size` bytes may allocate `bytes` more. In proportion: up to 64 times as
 * many, or up to 64 MiB. */
bool blyi_growth_fits(uint64_t limit, uint64_t size, uint64_t bytes);

#endif
