/* mmap.c - filters in files. (With file_writer.c and spill.c, the only POSIX file code.)
 *
 * Saving never touches the old file. The new one is written under another name in the same
 * directory, flushed, and then renamed over the old (file_writer.c). A program that opens the path,
 * at any moment and after any crash, finds one of the two, whole. A program that has the old one
 * mapped keeps it.
 */
#include "file/nested.h"

#include "base/memory.h"
#include <bloomery/file.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bly_status fail_with(int error) {
    errno = error;
    return BLY_EIO;
}

static void close_quietly(int fd) {
    int saved = errno;
    (void)close(fd);
    errno = saved;
}

/* ---- load and map ---------------------------------------------------------------------------- */

/* peek and take of a source that is a file; ctx is its descriptor. BLY_ECORRUPT when it ends
 * first. */
static bly_status read_file(void *ctx, uint64_t at, void *to, size_t n) {
    uint8_t *next = to;
    while (n > 0) {
        ssize_t some = pread(*(const int *)ctx, next, n, (off_t)at);
        if (some < 0 && errno == EINTR)
            continue;
        if (some < 0)
            return BLY_EIO;
        if (some == 0)
            return BLY_ECORRUPT;
        next += some;
        at += (uint64_t)some;
        n -= (size_t)some;
    }
    return BLY_OK;
}

/* On success *fd is open, and *source reads from it. */
static bly_status open_file(const char *path, int *fd, bly_source *source) {
    struct stat st;
    /* O_NONBLOCK: a pipe without a writer must be refused, not waited for. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0)
        return BLY_EIO;
    bly_status status = fstat(*fd, &st) == 0 ? BLY_OK : BLY_EIO;
    if (status == BLY_OK && !S_ISREG(st.st_mode))
        status = fail_with(S_ISDIR(st.st_mode) ? EISDIR : EINVAL);
    if (status != BLY_OK)
        close_quietly(*fd);
    else
        *source = (bly_source){(uint64_t)st.st_size, read_file, read_file, fd};
    return status;
}

bly_status bly_file_info_load(const char *path, bly_file_info *out) {
    int fd;
    bly_source source;
    blyi_nest nest;
    bly_status status = open_file(path, &fd, &source);
    if (status != BLY_OK)
        return status;
    status = blyi_nest_head(&source, &nest);
    if (status == BLY_OK)
        *out = blyi_header_info(&nest.in->header);
    close_quietly(fd);
    return status;
}

bly_status bly_filter_load(const char *path, const bly_open_options *options, bly_filter **out) {
    int fd;
    bly_source source;
    *out = NULL;
    bly_status status = open_file(path, &fd, &source);
    if (status != BLY_OK)
        return status;
    status = bly_filter_read(&source, options, out);
    close_quietly(fd);
    return status;
}

struct bly_map {
    bly_filter *filter; /* over the mapping, past the header */
    void *base;
    size_t size;
    bly_allocator alloc;
};

static bly_status check_kinds(const blyi_nest *nest) {
    bool can = true;
    for (unsigned i = 0; i < nest->n; i++)
        can = can && bly_kind_capabilities(nest->in[i].header.shape.geometry.kind) & BLY_CAN_MAP;
    return can ? BLY_OK : BLY_EUNSUPPORTED;
}

static bly_status map_file(bly_map *map, int fd, uint64_t size, blyi_nest *nest, bool verify) {
    if ((size_t)size != size)
        return BLY_ENOMEM;
    map->size = (size_t)size;
    map->base = mmap(NULL, map->size, PROT_READ, MAP_SHARED, fd, 0);
    if (map->base == MAP_FAILED)
        return errno == ENOMEM ? BLY_ENOMEM : BLY_EIO;
    bly_status status = verify ? blyi_nest_check(nest, map->base) : BLY_OK;
    if (status == BLY_OK)
        status = blyi_nest_make(nest, &map->alloc, map->base, &map->filter);
    if (status != BLY_OK)
        (void)munmap(map->base, map->size);
    return status;
}

static bly_status map_source(const bly_source *source, const bly_open_options *options,
                             bly_map **out) {
    bly_allocator a = blyi_allocator_or_default(options ? options->allocator : NULL);
    bool verify = options && options->flags & BLY_OPEN_VERIFY;
    blyi_nest nest;
    bly_map *map = NULL;
    bly_status status = blyi_nest_read(source, options, &nest);
    if (status == BLY_OK)
        status = check_kinds(&nest);
    if (status == BLY_OK && !(map = a.alloc(a.ctx, sizeof *map)))
        status = BLY_ENOMEM;
    if (status == BLY_OK) {
        nest.in->header.shape.sharing = BLY_EXCLUSIVE;
        map->alloc = a;
        status = map_file(map, *(const int *)source->ctx, source->size, &nest, verify);
    }
    int saved = errno;
    if (status == BLY_OK)
        *out = map;
    else if (map)
        a.free(a.ctx, map);
    errno = saved;
    return status;
}

bly_status bly_map_open(const char *path, const bly_open_options *options, bly_map **out) {
    int fd;
    bly_source source;
    *out = NULL;
    bly_status status = open_file(path, &fd, &source);
    if (status != BLY_OK)
        return status;
    status = map_source(&source, options, out);
    close_quietly(fd);
    return status;
}

const bly_filter *bly_map_filter(const bly_map *map) {
    return map->filter;
}

void bly_map_close(bly_map *map) {
    if (!map)
        return;
    bly_allocator a = map->alloc;
    bly_filter_destroy(map->filter);
    (void)munmap(map->base, map->size);
    a.free(a.ctx, map);
}

/* ---- save ------------------------------------------------------------------------------------ */

static bly_status write_all(void *ctx, const void *data, size_t size) {
    int fd = *(const int *)ctx;
    const uint8_t *from = data;
    while (size > 0) {
        ssize_t n = write(fd, from, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return BLY_EIO;
        if (n == 0)
            return fail_with(ENOSPC);
        from += n;
        size -= (size_t)n;
    }
    return BLY_OK;
}

bly_status bly_filter_save(const bly_filter *f, const char *path) {
    bly_file_writer *w;
    uint8_t *piece = malloc(BLYI_PIECE);
    if (!piece)
        return BLY_ENOMEM;
    bly_status status = bly_file_writer_open(path, 0, &w);
    if (status == BLY_OK) {
        int fd = bly_file_writer_fd(w);
        status = blyi_filter_write_checked(f, write_all, &fd, piece);
        if (status == BLY_OK)
            status = bly_file_writer_commit(w);
        bly_file_writer_close(w);
    }
    int saved = errno;
    free(piece);
    errno = saved;
    return status;
}
