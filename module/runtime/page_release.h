/* page_release.h - zeroes and frees large blocks by changing the mapping of their pages, without
 * access to their bytes. Only the partial pages at the ends of a block are zeroed by writing, or
 * not freed.
 */
#ifndef BLOOMERY_MODULE_PAGE_RELEASE_H
#define BLOOMERY_MODULE_PAGE_RELEASE_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroes a block. Its pages are given back to the system, which provides zeroed pages when they are
 * next used. */
void bm_pages_zero(void *block, size_t size);

/* Gives the pages of a block back to the system in steps. Afterwards the contents of the block are
 * undefined. */
void bm_pages_drop(void *block, size_t size);

/* Whether bm_pages_detach works on this system. Tests this on one page. Must be called before the
 * first call of bm_pages_detach. */
bool bm_pages_can_detach(void);

/* Moves the pages of a block that is about to be freed to another address, so that freeing the
 * block takes no time. Returns that address, and stores the size of the pages in *detached; pass
 * both to bm_pages_unmap. Returns NULL, without changing the block, if the system cannot move the
 * pages. The call takes about a millisecond for gigabytes. */
void *bm_pages_detach(void *block, size_t size, size_t *detached);
void bm_pages_unmap(void *pages, size_t size); /* frees detached pages; takes time in proportion to
                                                  their size */

#endif
