/* Loads, maps and saves filters in files of a POSIX system.
 *
 * Saving never modifies the old file. The new file is written under another name in the same
 * directory, flushed, and then renamed to replace the old one (replace_file.c). A program that
 * opens the path, at any moment and after any crash, finds either the complete old file or the
 * complete new one. A program that has mapped the old file still sees the old contents.
 */
#include "file/nested.h"

#include "base/memory.h"
#include "base/struct_size.h"
#include "file/posix.h"
#include <bloomery/host/files.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- load and map ---------------------------------------------------------------------------- */

/* Implements `peek` and `read` of a source that is a file. ctx points to the file's descriptor.
 * Returns BLY_OK, BLY_EIO, or BLY_ECORRUPT if the file ends too early. */
static bly_status file_source_read(void *ctx, uint64_t at, void *to, size_t n) {
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

/* Opens a regular file for reading. On success *fd is open, and *source reads from it. */
static bly_status file_source_open(const char *path, int *fd, bly_chunk_source *source) {
    struct stat st;
    /* O_NONBLOCK: opening a pipe without a writer must fail, not wait. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0)
        return BLY_EIO;
    bly_status status = fstat(*fd, &st) == 0 ? BLY_OK : BLY_EIO;
    if (status == BLY_OK && !S_ISREG(st.st_mode))
        status = blyi_fail_with(S_ISDIR(st.st_mode) ? EISDIR : EINVAL);
    if (status != BLY_OK)
        blyi_close_quietly(*fd);
    else
        *source = (bly_chunk_source){(uint64_t)st.st_size, file_source_read, file_source_read, fd};
    return status;
}

bly_status bly_file_get_info(const char *path, bly_file_info *out) {
    int fd;
    bly_chunk_source source;
    blyi_containers all;
    if (!blyi_can_write_struct(out, sizeof *out))
        return BLY_EINVAL;
    bly_status status = file_source_open(path, &fd, &source);
    if (status != BLY_OK)
        return status;
    status = blyi_containers_read_first(&source, &all);
    if (status == BLY_OK)
        blyi_header_get_info(&all.in->header, out);
    blyi_close_quietly(fd);
    return status;
}

bly_status bly_filter_load(const char *path, const bly_open_options *options, bly_filter **out) {
    int fd;
    bly_chunk_source source;
    *out = NULL;
    bly_status status = file_source_open(path, &fd, &source);
    if (status != BLY_OK)
        return status;
    status = bly_filter_read_chunks(&source, options, out);
    blyi_close_quietly(fd);
    return status;
}

struct bly_map {
    bly_filter *filter; /* its body is in the mapping */
    void *base;
    size_t size;
    bly_allocator alloc;
};

static bly_status map_check_kinds(const blyi_containers *all) {
    bool can = true;
    for (unsigned i = 0; i < all->n; i++)
        can = can && bly_kind_capabilities(all->in[i].header.shape.geometry.kind) & BLY_CAN_MAP;
    return can ? BLY_OK : BLY_EUNSUPPORTED;
}

static bly_status map_contents(bly_map *map, int fd, uint64_t size, blyi_containers *all,
                               bool verify) {
    if ((size_t)size != size)
        return BLY_ENOMEM;
    map->size = (size_t)size;
    map->base = mmap(NULL, map->size, PROT_READ, MAP_SHARED, fd, 0);
    if (map->base == MAP_FAILED)
        return errno == ENOMEM ? BLY_ENOMEM : BLY_EIO;
    bly_status status = verify ? blyi_containers_check(all, map->base) : BLY_OK;
    if (status == BLY_OK)
        status = blyi_containers_make(all, &map->alloc, map->base, &map->filter);
    if (status != BLY_OK)
        (void)munmap(map->base, map->size);
    return status;
}

static bly_status map_source(const bly_chunk_source *source, const bly_open_options *options,
                             bly_map **out) {
    bly_allocator a = blyi_allocator_or_default(options->allocator);
    bool verify = options->flags & BLY_OPEN_VERIFY;
    blyi_containers all;
    bly_map *map = NULL;
    bly_status status = blyi_containers_read(source, options, &all);
    if (status == BLY_OK)
        status = map_check_kinds(&all);
    if (status == BLY_OK && !(map = a.alloc(a.ctx, sizeof *map)))
        status = BLY_ENOMEM;
    if (status == BLY_OK) {
        all.in->header.shape.sharing = BLY_EXCLUSIVE;
        map->alloc = a;
        status = map_contents(map, *(const int *)source->ctx, source->size, &all, verify);
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
    bly_chunk_source source;
    bly_open_options own;
    *out = NULL;
    if (!blyi_open_options_read(options, &own))
        return BLY_EINVAL;
    bly_status status = file_source_open(path, &fd, &source);
    if (status != BLY_OK)
        return status;
    status = map_source(&source, &own, out);
    blyi_close_quietly(fd);
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

static bly_status file_sink_write(void *ctx, const void *data, size_t size) {
    int fd = *(const int *)ctx;
    const uint8_t *from = data;
    while (size > 0) {
        ssize_t n = write(fd, from, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return BLY_EIO;
        if (n == 0)
            return blyi_fail_with(ENOSPC);
        from += n;
        size -= (size_t)n;
    }
    return BLY_OK;
}

bly_status bly_filter_save(const bly_filter *f, const char *path) {
    bly_file_writer *w;
    uint8_t *chunk = malloc(BLYI_MAX_CHUNK);
    if (!chunk)
        return BLY_ENOMEM;
    bly_status status = bly_file_writer_open(path, 0, &w);
    if (status == BLY_OK) {
        int fd = bly_file_writer_fd(w);
        status = blyi_filter_write_checked(f, file_sink_write, &fd, chunk);
        if (status == BLY_OK)
            status = bly_file_writer_commit(w);
        bly_file_writer_close(w);
    }
    int saved = errno;
    free(chunk);
    errno = saved;
    return status;
}
