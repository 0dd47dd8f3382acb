/* defrag.h - moving the memory of a filter, for hosts that defragment their heap.
 */
#ifndef BLOOMERY_HOST_DEFRAG_H
#define BLOOMERY_HOST_DEFRAG_H

#include "../filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Moves a block of memory if that is useful: returns the new address of its `size` bytes, with the
 * old block freed, and the new one such that the filter's allocator can free it; or NULL if the
 * block stays. */
typedef void *(*bly_defrag_move)(void *ctx, void *block, size_t size);

/* Offers at most `count` (at least 1) of a filter's blocks of memory to `move`, beginning with
 * number `from`. It does not offer the handle `f`, nor borrowed memory (maps, the base of an
 * overlay). Returns the number to continue from, or 0 if there are no more. If the filter changes
 * between calls, some blocks are skipped or offered twice. Nothing else may use the filter at the
 * same time. */
BLY_API size_t bly_filter_defrag(bly_filter *f, size_t from, size_t count, bly_defrag_move move,
                                 void *ctx);

/* The same for the handle: returns its new address. For filters to which no other one refers, as an
 * overlay refers to its base. */
BLY_API bly_filter *bly_filter_defrag_handle(bly_filter *f, bly_defrag_move move, void *ctx);

#ifdef __cplusplus
}
#endif
#endif
