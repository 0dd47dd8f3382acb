/* memory.h - aligned, zeroed arrays from any allocator. Internal. */
#ifndef BLYI_BASE_MEMORY_H
#define BLYI_BASE_MEMORY_H

#include <bloomery/base.h>

/* Returns *a, or the default allocator if a is NULL. */
bly_allocator blyi_allocator_or_default(const bly_allocator *a);

/* Allocates `bytes` zeroed bytes, aligned to 64. Sets *block to the pointer that blyi_free_array
 * needs. Large arrays of the default allocator are aligned to huge pages, and request them by
 * madvise. From 8 MiB on their size is also rounded up to whole huge pages. Returns NULL if memory
 * runs out. */
void *blyi_alloc_array(const bly_allocator *a, uint64_t bytes, void **block);
void blyi_free_array(const bly_allocator *a, void *block); /* `block` may be NULL */

/* As blyi_alloc_array, but in ordinary pages, for short-lived arrays. */
void *blyi_alloc_small_pages(const bly_allocator *a, uint64_t bytes, void **block);

/* Returns the size of the block that blyi_alloc_array allocates for an array of `bytes` bytes. */
size_t blyi_array_block_bytes(const bly_allocator *a, uint64_t bytes);

/* Aligns an array again after its block was copied to another address. The copy is `block`, and the
 * array is at `offset` in it. Moves the array to the first aligned address in the block, and
 * returns that address. */
void *blyi_array_realign(const bly_allocator *a, uint64_t bytes, void *block, size_t offset);

/* ---- limits of growth ----
 * A growth limit is how much a filter from an untrusted source may allocate in one step. 0: no
 * limit. BLYI_GROWTH_BY_SIZE: an amount in proportion to its size. Any other value: that number of
 * bytes. */
enum { BLYI_GROWTH_BY_SIZE = 1 };

/* Converts the limit that a caller of the public API passes to a growth limit. The caller passes
 * bytes, 0 for the default (in proportion to the filter's size), or UINT64_MAX for no limit. */
uint64_t blyi_growth_limit(uint64_t requested);

/* Whether a filter of `size` bytes may allocate `bytes` more. BLYI_GROWTH_BY_SIZE permits 64 times
 * `size`, or 64 MiB if that is more. */
bool blyi_growth_fits(uint64_t limit, uint64_t size, uint64_t bytes);

#endif
