/* Taking pages away. mremap moves what the tables of pages say to another address; MREMAP_DONTUNMAP
 * (Linux 5.7) leaves the old one in place, empty, as its owner expects it. Where both addresses are
 * alike modulo what one table describes, whole tables are moved instead of their entries: that is
 * many times faster. So such an address is looked for, and given as a wish.
 *
 * Emulators (qemu-user, for one) move the pages, but may then take the old address for unmapped: it
 * faults there, or they give it to somebody else, while its owner still has it. So what becomes of
 * it is tried before anything is taken.
 */
#define _GNU_SOURCE
#include "pages.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    STEP = 4 << 20, /* bytes given back at once */
    TABLE = 2 << 20 /* bytes that one table of pages describes, mostly */
};

/* The whole pages of a block. */
typedef struct inside {
    uint8_t *from;
    size_t size;
} inside;

static inside inside_of(void *block, size_t size) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)block + page - 1) & ~(page - 1);
    uintptr_t to = ((uintptr_t)block + size) & ~(page - 1);
    return (inside){(uint8_t *)from, from < to ? (size_t)(to - from) : 0};
}

void bm_pages_zero(void *block, size_t size) {
    uint8_t *bytes = block;
    inside in = inside_of(block, size);
    if (in.size == 0 || madvise(in.from, in.size, MADV_DONTNEED) != 0) {
        memset(block, 0, size);
        return;
    }
    size_t head = (size_t)(in.from - bytes);
    memset(bytes, 0, head);
    memset(in.from + in.size, 0, size - head - in.size);
}

void bm_pages_drop(void *block, size_t size) {
    inside in = inside_of(block, size);
    for (size_t at = 0; at < in.size; at += STEP) {
        size_t n = in.size - at < STEP ? in.size - at : STEP;
        (void)madvise(in.from + at, n, MADV_DONTNEED);
    }
}

#ifdef MREMAP_DONTUNMAP
/* An address where there is room for `size` bytes, alike `from`; NULL: any. Somebody else may take
 * it before it is used: a wish, not a claim. */
static void *wished_address(const uint8_t *from, size_t size) {
    uint8_t *room =
        mmap(NULL, size + TABLE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    (void)munmap(room, size + TABLE);
    return room + (((uintptr_t)from - (uintptr_t)room) & (TABLE - 1));
}

void *bm_pages_take(void *block, size_t size, size_t *taken) {
    inside in = inside_of(block, size);
    if (in.size == 0)
        return NULL;
    void *pages = mremap(in.from, in.size, in.size, MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
                         wished_address(in.from, in.size));
    if (pages == MAP_FAILED)
        return NULL;
    *taken = in.size;
    return pages;
}
#else
void *bm_pages_take(void *block, size_t size, size_t *taken) {
    (void)block, (void)size, (void)taken;
    return NULL;
}
#endif

/* Whether a byte is there to be read: the kernel says, which reads it for a pipe. (mincore would
 * say so too, but services are killed for it: it is not among the calls that systemd lets them
 * make.) */
static bool is_there(const void *byte) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool was_read = write(ends[1], byte, 1) == 1;
    (void)close(ends[0]);
    (void)close(ends[1]);
    return was_read;
}

bool bm_pages_can_take(void) {
    size_t size = (size_t)sysconf(_SC_PAGESIZE), taken;
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return false;
    void *pages = bm_pages_take(block, size, &taken);
    bool stayed = is_there(block);
    if (stayed || !pages) /* otherwise it may be somebody else's by now */
        (void)munmap(block, size);
    if (pages)
        (void)munmap(pages, taken);
    return pages && stayed;
}

void bm_pages_unmap(void *pages, size_t size) {
    bm_pages_drop(pages, size);
    (void)munmap(pages, size);
}
