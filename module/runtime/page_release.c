/* page_release.c - zeroes, drops and detaches the pages of large blocks.
 *
 * Detaching. mremap moves page-table entries to another address. MREMAP_DONTUNMAP (Linux 5.7) keeps
 * the old address mapped, without contents, as the allocator that owns it expects. Where both
 * addresses are equal modulo the range of one page table, the kernel moves whole tables instead of
 * their entries, which is many times faster. So such an address is searched for, and passed as a
 * hint.
 *
 * Emulators (qemu-user, for one) move the pages, but may then treat the old address as unmapped: an
 * access faults, or the address is handed out again while the allocator still owns it. So this is
 * tried on a page before any block is detached.
 */
#define _GNU_SOURCE
#include "runtime/page_release.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    STEP = 4 << 20, /* bytes given back at once */
    TABLE = 2 << 20 /* bytes that one page table describes, on most systems */
};

/* The whole pages of a block, without the partial ones at its ends. */
typedef struct whole_pages {
    uint8_t *from;
    size_t size;
} whole_pages;

static whole_pages whole_pages_of(void *block, size_t size) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)block + page - 1) & ~(page - 1);
    uintptr_t to = ((uintptr_t)block + size) & ~(page - 1);
    return (whole_pages){(uint8_t *)from, from < to ? (size_t)(to - from) : 0};
}

void bm_pages_zero(void *block, size_t size) {
    uint8_t *bytes = block;
    whole_pages in = whole_pages_of(block, size);
    if (in.size == 0 || madvise(in.from, in.size, MADV_DONTNEED) != 0) {
        memset(block, 0, size);
        return;
    }
    size_t head = (size_t)(in.from - bytes);
    memset(bytes, 0, head);
    memset(in.from + in.size, 0, size - head - in.size);
}

void bm_pages_drop(void *block, size_t size) {
    whole_pages in = whole_pages_of(block, size);
    for (size_t at = 0; at < in.size; at += STEP) {
        size_t n = in.size - at < STEP ? in.size - at : STEP;
        (void)madvise(in.from + at, n, MADV_DONTNEED);
    }
}

#ifdef MREMAP_DONTUNMAP
/* A free address for `size` bytes that equals `from` modulo TABLE; NULL: any. It is only a hint,
 * because another thread may map it first. */
static void *hint_address(const uint8_t *from, size_t size) {
    uint8_t *free_range =
        mmap(NULL, size + TABLE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (free_range == MAP_FAILED)
        return NULL;
    (void)munmap(free_range, size + TABLE);
    return free_range + (((uintptr_t)from - (uintptr_t)free_range) & (TABLE - 1));
}

void *bm_pages_detach(void *block, size_t size, size_t *detached) {
    whole_pages in = whole_pages_of(block, size);
    if (in.size == 0)
        return NULL;
    void *pages = mremap(in.from, in.size, in.size, MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
                         hint_address(in.from, in.size));
    if (pages == MAP_FAILED)
        return NULL;
    *detached = in.size;
    return pages;
}
#else
void *bm_pages_detach(void *block, size_t size, size_t *detached) {
    (void)block, (void)size, (void)detached;
    return NULL;
}
#endif

/* Whether a byte is mapped and readable: the kernel finds out by writing it to a pipe. (mincore
 * would work too, but systemd kills services for it: it is not among the calls allowed to them.) */
static bool is_readable(const void *byte) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool was_read = write(ends[1], byte, 1) == 1;
    (void)close(ends[0]);
    (void)close(ends[1]);
    return was_read;
}

bool bm_pages_can_detach(void) {
    size_t size = (size_t)sysconf(_SC_PAGESIZE), detached;
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return false;
    void *pages = bm_pages_detach(block, size, &detached);
    bool stayed = is_readable(block);
    if (stayed || !pages) /* otherwise another mapping may use the address */
        (void)munmap(block, size);
    if (pages)
        (void)munmap(pages, detached);
    return pages && stayed;
}

void bm_pages_unmap(void *pages, size_t size) {
    bm_pages_drop(pages, size);
    (void)munmap(pages, size);
}
