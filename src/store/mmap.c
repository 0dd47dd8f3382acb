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

/* A caller's allocator may change errno too. */
static void destroy_quietly(bly_filter *f) {
    int saved = errno;
    bly_filter_destroy(f);
    errno = saved;
}

static void free_quietly(void *ptr) {
    int saved = errno;
    free(ptr);
    errno = saved;
}

/* ---- load and map ---------------------------------------------------------------------------- */

/* BLY_ECORRUPT when the file ends first. */
static bly_status read_all(int fd, uint8_t *to, uint64_t bytes) {
    const uint64_t most = 1 << 30;
    while (bytes > 0) {
        ssize_t n = read(fd, to, (size_t)(bytes < most ? bytes : most));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return BLY_EIO;
        if (n == 0)
            return BLY_ECORRUPT;
        to += n;
        bytes -= (uint64_t)n;
    }
    return BLY_OK;
}

static bly_status read_header(int fd, blyi_header *h) {
    struct stat st;
    uint8_t raw[BLYI_HEADER_BYTES];
    if (fstat(fd, &st) != 0)
        return BLY_EIO;
    if (!S_ISREG(st.st_mode))
        return fail_with(S_ISDIR(st.st_mode) ? EISDIR : EINVAL);
    bly_status status = read_all(fd, raw, sizeof raw);
    if (status == BLY_OK)
        status = blyi_header_decode(raw, h);
    if (status == BLY_OK && !blyi_header_fits(h, (uint64_t)st.st_size))
        status = BLY_ECORRUPT;
    return status;
}

/* On success *fd is open, and stands at the first byte of the body. */
static bly_status open_file(const char *path, int *fd, blyi_header *h) {
    /* O_NONBLOCK: a pipe without a writer must be refused, not waited for. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0)
        return BLY_EIO;
    bly_status status = read_header(*fd, h);
    if (status != BLY_OK)
        close_quietly(*fd);
    return status;
}

bly_status bly_file_info_load(const char *path, bly_file_info *out) {
    int fd;
    blyi_header h;
    bly_status status = open_file(path, &fd, &h);
    if (status != BLY_OK)
        return status;
    close_quietly(fd);
    *out = blyi_header_info(&h);
    return BLY_OK;
}

/* The blyi_fetch from a file, which is left where it stands. */
static bly_status fetch_file(void *ctx, uint64_t at, void *to, size_t size) {
    uint8_t *next = to;
    while (size > 0) {
        ssize_t n = pread(*(const int *)ctx, next, size, (off_t)(BLYI_HEADER_BYTES + at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return BLY_EIO;
        if (n == 0)
            return BLY_ECORRUPT;
        next += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return BLY_OK;
}

/* Reads what is in the nest, whose filters are there, empty; the headers must be those that they
 * were made from. */
static bly_status read_nest(int fd, const blyi_header *h, const blyi_nest *nest) {
    bly_status status = BLY_OK;
    for (unsigned i = 0; status == BLY_OK && i < nest->n; i++) {
        const blyi_inner *in = &nest->in[i];
        const bly_filter *f = in->filter;
        uint8_t raw[BLYI_HEADER_BYTES];
        status = read_all(fd, raw, sizeof raw);
        if (status == BLY_OK && memcmp(raw, in->raw, sizeof raw) != 0)
            status = BLY_ECORRUPT;
        if (status != BLY_OK || !blyi_inner_is_flat(in))
            continue;
        status = read_all(fd, f->body, f->body_bytes);
        if (status == BLY_OK)
            status = blyi_body_check(&in->header, f->body);
    }
    bool right = status == BLY_OK && blyi_nest_sum(nest, 0, nest->n) == h->body_sum;
    for (unsigned i = 0; right && i < nest->n; i++)
        if (!blyi_inner_is_flat(&nest->in[i]))
            right = blyi_nest_sum(nest, i + 1, nest->in[i].next) == nest->in[i].header.body_sum;
    return status == BLY_OK && !right ? BLY_ECORRUPT : status;
}

static bly_status load_nest(int fd, blyi_header *h, const bly_open_options *options,
                            bly_filter **out) {
    blyi_nest nest;
    bly_status status = blyi_header_bind(h, options);
    if (status == BLY_OK)
        status = blyi_nest_read(h, fetch_file, &fd, &nest);
    if (status == BLY_OK)
        status = blyi_nest_make(h, &nest, options ? options->allocator : NULL, NULL, out);
    return status == BLY_OK ? read_nest(fd, h, &nest) : status;
}

static bly_status load_flat(int fd, blyi_header *h, const bly_open_options *options,
                            bly_filter **out) {
    bly_status status = blyi_header_bind(h, options);
    if (status == BLY_OK)
        status = blyi_filter_make(&h->shape, options ? options->allocator : NULL, NULL, out);
    if (status == BLY_OK)
        status = read_all(fd, (*out)->body, (*out)->body_bytes);
    return status == BLY_OK ? blyi_body_check(h, (*out)->body) : status;
}

bly_status bly_filter_load(const char *path, const bly_open_options *options, bly_filter **out) {
    int fd;
    blyi_header h;
    bly_filter *f = NULL;
    *out = NULL;
    bly_status status = open_file(path, &fd, &h);
    if (status != BLY_OK)
        return status;
    status = blyi_kind_has_levels(h.shape.geometry.kind) ? load_nest(fd, &h, options, &f)
                                                         : load_flat(fd, &h, options, &f);
    if (status == BLY_OK)
        *out = f;
    else
        destroy_quietly(f);
    close_quietly(fd);
    return status;
}

struct bly_map {
    bly_filter *filter; /* over the mapping, past the header */
    void *base;
    size_t size;
    bly_allocator alloc;
};

static bool can_map(const blyi_header *h) {
    return bly_kind_capabilities(h->shape.geometry.kind) & BLY_CAN_MAP;
}

static bly_status make_mapped(const blyi_header *h, const uint8_t *body, bool verify,
                              const bly_allocator *a, bly_filter **out) {
    bool nested = blyi_kind_has_levels(h->shape.geometry.kind);
    blyi_nest nest;
    bly_status status = BLY_OK;
    if (nested)
        status = blyi_nest_read(h, blyi_fetch_memory, (void *)(uintptr_t)body, &nest);
    for (unsigned i = 0; nested && status == BLY_OK && i < nest.n; i++)
        if (!can_map(&nest.in[i].header))
            status = BLY_EUNSUPPORTED;
    if (status == BLY_OK && verify)
        status = nested ? blyi_nest_check(h, &nest, body) : blyi_body_check(h, body);
    if (status)
        return status;
    return nested ? blyi_nest_make(h, &nest, a, body, out)
                  : blyi_filter_make(&h->shape, a, body, out);
}

static bly_status map_file(bly_map *map, int fd, const blyi_header *h,
                           const bly_open_options *options) {
    if (h->body_bytes > SIZE_MAX - BLYI_HEADER_BYTES)
        return BLY_ENOMEM;
    map->size = (size_t)h->body_bytes + BLYI_HEADER_BYTES;
    map->base = mmap(NULL, map->size, PROT_READ, MAP_SHARED, fd, 0);
    if (map->base == MAP_FAILED)
        return errno == ENOMEM ? BLY_ENOMEM : BLY_EIO;
    const uint8_t *body = (const uint8_t *)map->base + BLYI_HEADER_BYTES;
    bool verify = options && options->flags & BLY_OPEN_VERIFY;
    bly_status status = make_mapped(h, body, verify, &map->alloc, &map->filter);
    if (status != BLY_OK)
        (void)munmap(map->base, map->size);
    return status;
}

bly_status bly_map_open(const char *path, const bly_open_options *options, bly_map **out) {
    int fd;
    blyi_header h;
    *out = NULL;
    bly_status status = open_file(path, &fd, &h);
    if (status != BLY_OK)
        return status;
    status = blyi_header_bind(&h, options);
    h.shape.sharing = BLY_EXCLUSIVE;
    bly_allocator a = blyi_allocator_or_default(options ? options->allocator : NULL);
    bly_map *map = NULL;
    if (status == BLY_OK && !can_map(&h))
        status = BLY_EUNSUPPORTED;
    if (status == BLY_OK && !(map = a.alloc(a.ctx, sizeof *map)))
        status = BLY_ENOMEM;
    if (status == BLY_OK) {
        map->alloc = a;
        status = map_file(map, fd, &h, options);
    }
    close_quietly(fd);
    int saved = errno;
    if (status == BLY_OK)
        *out = map;
    else if (map)
        a.free(a.ctx, map);
    errno = saved;
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
