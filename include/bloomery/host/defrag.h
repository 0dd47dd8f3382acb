/* defrag.h - moving the memory of a filter, for programs that defragment their heap. */
#ifndef BLOOMERY_HOST_DEFRAG_H
#define BLOOMERY_HOST_DEFRAG_H

#include "../filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Moves a block of `size` bytes, if that is useful, and frees the old block. Returns the new
 * address, or NULL if the block was not moved. The filter's allocator must be able to free the new
 * block. */
typedef void *(*bly_defrag_move)(void *ctx, void *block, size_t size);

/* Offers at most `count` (at least 1) of a filter's memory blocks to `move`, starting with number
 * `from`. The handle `f` and borrowed memory (maps, the base of an overlay) are not offered. If the
 * filter changes between two calls, some blocks may be skipped or offered twice. No other thread
 * may use the filter during a call. Returns the value of `from` for the next call; 0 if there are
 * no more blocks. */
BLY_API size_t bly_filter_defrag(bly_filter *f, size_t from, size_t count, bly_defrag_move move,
                                 void *ctx);

/* Offers the handle of a filter to `move`. No other filter may refer to this filter, as an overlay
 * refers to its base. Returns the address of the handle after the move. */
BLY_API bly_filter *bly_filter_defrag_handle(bly_filter *f, bly_defrag_move move, void *ctx);

#ifdef __cplusplus
}
#endif
#endif
