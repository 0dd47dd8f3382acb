/* pages.h - what can be done with the memory of a large block without touching it: the system's
 * pages, of which it consists but for its rims.
 */
#ifndef BLOOMERY_MODULE_PAGES_H
#define BLOOMERY_MODULE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Makes the block zero; the pages that it has are given back, and come zeroed when next used. */
void bm_pages_zero(void *block, size_t size);

/* Gives the pages back, a few at a time: the block has no content any more. */
void bm_pages_drop(void *block, size_t size);

/* Whether bm_pages_take can be trusted on this system; tried on a page of its own. To be asked
 * before a block is given to it. */
bool bm_pages_can_take(void);

/* Takes the pages from a block that is about to be freed, which is then freed in no time: they are
 * at an address of their own now, *taken bytes of them, for bm_pages_unmap. NULL: the system cannot
 * do that, and the block is as it was. Takes a millisecond or so for gigabytes. */
void *bm_pages_take(void *block, size_t size, size_t *taken);
void bm_pages_unmap(void *pages, size_t size); /* takes time */

#endif
