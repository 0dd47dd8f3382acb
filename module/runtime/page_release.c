/* page_release.c - zeroes, drops and detaches the pages of large blocks.
 *
 * Detaching. mremap moves page-table entries to another address. With MREMAP_DONTUNMAP (Linux 5.7)
 * the old address remains mapped, without contents, as the allocator that owns it expects. If both
 * addresses are equal modulo the range of one page table, the kernel moves whole tables instead of
 * single entries, which is many times faster. So an address with this property is chosen and passed
 * to mremap as a hint.
 *
 * Some emulators, such as qemu-user, move the pages, but then treat the old address as unmapped: an
 * access to it faults, or the address is used for another mapping while the allocator still owns
 * it. So detaching is tested on one page before it is used for a block.
 */
#define _GNU_SOURCE
#include "runtime/page_release.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    STEP = 4 << 20, /* maximum number of bytes given back by one system call */
    TABLE = 2 << 20 /* number of bytes that one page table maps, on most systems */
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
/* Returns an address where `size` bytes are free, and which equals `from` modulo TABLE; NULL if
 * none is found. The address is only a hint, because another thread may map it first. */
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

/* Whether a byte is mapped and readable. To find out, the byte is written to a pipe: if the kernel
 * cannot read it, write fails. (mincore would work too, but systemd kills services that call it,
 * because it is not among the system calls that services may use.) */
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
    if (stayed || !pages) /* if it did not stay, another mapping may use the address */
        (void)munmap(block, size);
    if (pages)
        (void)munmap(pages, detached);
    return pages && stayed;
}

void bm_pages_unmap(void *pages, size_t size) {
    bm_pages_drop(pages, size);
    (void)munmap(pages, size);
}
