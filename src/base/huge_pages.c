#include "base/huge_pages.h"

#include <errno.h>
#include <sys/mman.h>

void blyi_advise_huge(void *at, size_t bytes) {
#ifdef MADV_HUGEPAGE
    int saved = errno;
    (void)madvise(at, bytes - bytes % BLYI_HUGE_PAGE, MADV_HUGEPAGE);
    errno = saved;
#else
    (void)at;
    (void)bytes;
#endif
}
