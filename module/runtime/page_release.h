/* page_release.h - zeroes and frees large blocks by their pages, without touching their bytes. Only
 * the partial pages at the ends of a block are treated byte by byte, or left alone.
 */
#ifndef BLOOMERY_MODULE_PAGE_RELEASE_H
#define BLOOMERY_MODULE_PAGE_RELEASE_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroes the block. Its pages are given back, and the system provides zeroed ones on next use. */
void bm_pages_zero(void *block, size_t size);

/* Gives the pages back in steps. The block's contents are undefined afterwards. */
void bm_pages_drop(void *block, size_t size);

/* Whether bm_pages_detach works on this system, tried on a page. To be checked before the first
 * call of bm_pages_detach. */
bool bm_pages_can_detach(void);

/* Moves the pages of a block that is about to be freed to another address, which is returned, so
 * that freeing the block takes no time. *detached is their size, for bm_pages_unmap. NULL: the
 * system cannot do that, and the block is not changed. Takes about a millisecond for gigabytes. */
void *bm_pages_detach(void *block, size_t size, size_t *detached);
void bm_pages_unmap(void *pages, size_t size); /* takes time in proportion to the size */

#endif
