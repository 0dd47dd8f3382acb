/* mmap.c - filters in files. (With spill.c, the only POSIX file code.)
 *
 * Saving never touches the old file. The new one is written under another name in the same
 * directory, flushed, and then renamed over the old: whoever opens the path, at any moment and
 * after any crash, finds one of the two whole, and whoever has the old one mapped keeps it. The
 * directory is held open and names are taken relative to it, so the temporary name needs no
 * longer a path than the file's own.
 */
#include "nested.h"

#include "../core/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_LINKS = 40,       /* symbolic links followed before ELOOP, as the kernel does */
    MAX_TRIES = 100,      /* temporary names found taken before giving up */
    KEEP_OF_NAME = 100,   /* bytes of the file's name that its temporary name repeats */
    NEW_FILE_MODE = 0666, /* less the umask */
    PRIVATE_MODE = 0600,
};

static bly_status fail_with(int error) {
    errno = error;
    return BLY_EIO;
}

static void close_quietly(int fd) {
    int saved = errno;
    (void)close(fd);
    errno = saved;
}

static void free_quietly(void *ptr) {
    int saved = errno;
    free(ptr);
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

/* ---- save: where ----------------------------------------------------------------------------- */

/* A name in a directory that is held open. */
typedef struct place {
    int dir;
    char *name;
} place;

static void place_leave(place *p) {
    if (p->dir != AT_FDCWD)
        close_quietly(p->dir);
    free(p->name);
}

/* Moves to where `path`, taken from p's directory, points, without following a last link. */
static bly_status place_enter(place *p, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *last = slash ? slash + 1 : path;
    if (!*path)
        return fail_with(ENOENT);
    if (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return fail_with(EISDIR);
    char *dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    char *name = strdup(last);
    if (!dir || !name) {
        free(dir);
        free(name);
        return BLY_ENOMEM;
    }
    int fd = openat(p->dir, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free_quietly(dir);
    if (fd < 0) {
        free_quietly(name);
        return BLY_EIO;
    }
    place_leave(p);
    *p = (place){fd, name};
    return BLY_OK;
}

/* *target: what the link at p says, to be freed; NULL when there is no link. */
static bly_status place_link(const place *p, char **target) {
    *target = NULL;
    for (size_t room = 256;; room *= 2) {
        char *text = malloc(room);
        if (!text)
            return BLY_ENOMEM;
        ssize_t n = readlinkat(p->dir, p->name, text, room);
        if (n >= 0 && (size_t)n < room) {
            text[n] = '\0';
            *target = text;
            return BLY_OK;
        }
        int error = errno;
        free(text);
        if (n < 0)
            return error == EINVAL || error == ENOENT ? BLY_OK : fail_with(error);
    }
}

static bly_status place_find(place *p, const char *path) {
    char *target = NULL;
    *p = (place){AT_FDCWD, NULL};
    bly_status status = place_enter(p, path);
    for (int links = 0; status == BLY_OK; links++) {
        status = place_link(p, &target);
        if (!target)
            break;
        status = links < MAX_LINKS ? place_enter(p, target) : fail_with(ELOOP);
        free_quietly(target);
    }
    if (status != BLY_OK)
        place_leave(p);
    return status;
}

/* ---- save: what ------------------------------------------------------------------------------ */

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

static bly_status flush(int fd) {
    int result;
    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    return result == 0 ? BLY_OK : BLY_EIO;
}

/* Some file systems cannot flush a directory, and say EINVAL; that is no fault of the file's. */
static bly_status flush_directory(int fd) {
    bly_status status = flush(fd);
    return status == BLY_EIO && errno == EINVAL ? BLY_OK : status;
}

/* Mode, and where the system allows it owner and group, of the file to be replaced. */
static bly_status adopt(int fd, const struct stat *old) {
    bool kept =
        fchown(fd, old->st_uid, old->st_gid) == 0 || fchown(fd, (uid_t)-1, old->st_gid) == 0;
    (void)kept;
    return fchmod(fd, old->st_mode & 07777) == 0 ? BLY_OK : BLY_EIO;
}

/* Six letters that another process or thread is unlikely to pick; O_EXCL makes it sure. */
static void pick_letters(unsigned try, char out[7]) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint64_t mix = (uint64_t)now.tv_sec * 1000000007U + (uint64_t)now.tv_nsec;
    mix = (mix ^ (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)out ^ try) * 0x9E3779B97F4A7C15U;
    for (int i = 0; i < 6; i++)
        out[i] = letters[mix >> (59 - 5 * i) & 31];
    out[6] = '\0';
}

/* Creates ".NAME.xxxxxx.tmp" at p; *name is to be freed, *fd to be closed. */
static bly_status create_temp(const place *p, mode_t mode, char **name, int *fd) {
    int keep = (int)strnlen(p->name, KEEP_OF_NAME);
    while (p->name[keep] && keep > 0 && ((unsigned char)p->name[keep] & 0xC0) == 0x80)
        keep--; /* not in the middle of a UTF-8 character */
    size_t room = (size_t)keep + sizeof "..xxxxxx.tmp";
    char letters[7];
    *name = malloc(room);
    if (!*name)
        return BLY_ENOMEM;
    for (unsigned try = 0; try < MAX_TRIES; try++) {
        pick_letters(try, letters);
        (void)snprintf(*name, room, ".%.*s.%s.tmp", keep, p->name, letters);
        *fd = openat(p->dir, *name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (*fd >= 0)
            return BLY_OK;
        if (errno != EEXIST)
            break;
    }
    int saved = errno;
    free(*name);
    return fail_with(saved);
}

/* Writes, flushes and closes. */
static bly_status fill_temp(const bly_filter *f, int fd, const struct stat *old) {
    bly_status status = bly_filter_write(f, write_all, &fd);
    if (status == BLY_OK && old)
        status = adopt(fd, old);
    if (status == BLY_OK)
        status = flush(fd);
    if (status != BLY_OK) {
        close_quietly(fd);
        return status;
    }
    return close(fd) == 0 || errno == EINTR ? BLY_OK : BLY_EIO;
}

static bly_status save_at(const bly_filter *f, const place *p) {
    struct stat old;
    bool replaces = fstatat(p->dir, p->name, &old, AT_SYMLINK_NOFOLLOW) == 0;
    if (!replaces && errno != ENOENT)
        return BLY_EIO;
    if (replaces && !S_ISREG(old.st_mode))
        return fail_with(S_ISDIR(old.st_mode) ? EISDIR : EINVAL);
    char *temp;
    int fd;
    bly_status status = create_temp(p, replaces ? PRIVATE_MODE : NEW_FILE_MODE, &temp, &fd);
    if (status != BLY_OK)
        return status;
    status = fill_temp(f, fd, replaces ? &old : NULL);
    if (status == BLY_OK && renameat(p->dir, temp, p->dir, p->name) != 0)
        status = BLY_EIO;
    int saved = errno;
    if (status != BLY_OK)
        (void)unlinkat(p->dir, temp, 0);
    free(temp);
    errno = saved;
    return status == BLY_OK ? flush_directory(p->dir) : status;
}

bly_status bly_filter_save(const bly_filter *f, const char *path) {
    place p;
    bly_status status = place_find(&p, path);
    if (status != BLY_OK)
        return status;
    status = save_at(f, &p);
    place_leave(&p);
    return status;
}
