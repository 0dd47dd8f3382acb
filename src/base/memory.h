/* memory.h - aligned, zeroed arrays from any allocator. Internal. */
#ifndef BLYI_BASE_MEMORY_H
#define BLYI_BASE_MEMORY_H

#include <bloomery/base.h>

/* `a`, or the default allocator when it is NULL. */
bly_allocator blyi_allocator_or_default(const bly_allocator *a);

/* Allocates `bytes` zeroed bytes, aligned to 64. Sets *block to the pointer that blyi_free_array
 * needs. Large arrays of the default allocator are aligned to huge pages, and request them by
 * madvise. From 8 MiB on their size is also rounded up to whole huge pages. Returns NULL if memory
 * runs out. */
void *blyi_alloc_array(const bly_allocator *a, uint64_t bytes, void **block);
void blyi_free_array(const bly_allocator *a, void *block); /* NULL does nothing */

/* As blyi_alloc_array, but in ordinary pages, for short-lived arrays. */
void *blyi_alloc_small_pages(const bly_allocator *a, uint64_t bytes, void **block);

/* The size of the block of an array from blyi_alloc_array. */
size_t blyi_array_block_bytes(const bly_allocator *a, uint64_t bytes);

/* An array's block has been copied to `block`, and the array is now at `offset` in it. Moves the
 * array to where it is aligned again, and returns its address. */
void *blyi_array_realign(const bly_allocator *a, uint64_t bytes, void *block, size_t offset);

/* ---- limits of growth ----
 * How much a filter from an untrusted source may allocate in one step: 0 means no limit; 1, an
 * amount in proportion to its size; any other value is a number of bytes. */
enum { BLYI_GROWTH_BY_SIZE = 1 };

/* Converts the limit that a caller passes, in bytes. 0 is the default, in proportion to the
 * filter's size; UINT64_MAX means no limit. */
uint64_t blyi_growth_limit(uint64_t requested);

/* Whether a filter of `size` bytes may allocate `bytes` more. The limit in proportion is 64 times
 * `size`, and at least 64 MiB. */
bool blyi_growth_fits(uint64_t limit, uint64_t size, uint64_t bytes);

#endif
