/* The temporary file in which a builder keeps the hashes that do not fit in memory. It has no name,
 * which is a matter of the platform: the only conditional compilation in the builder is here. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "kinds/builder/builder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t spill_max_transfer = 1 << 30; /* bytes per system call */

void blyi_spill_close(int file) {
    int saved = errno;
    (void)close(file);
    errno = saved;
}

/* Opens it in the directory of `path`. -1 where the system has no unnamed files. */
static int spill_open_unnamed(char *path) {
    int fd = -1;
#ifdef O_TMPFILE
    char *slash = strrchr(path, '/');
    if (slash) {
        *slash = '\0';
        fd = open(path, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
        *slash = '/';
    }
#else
    (void)path;
#endif
    return fd;
}

bly_status blyi_spill_open(char *path, int *file) {
    int fd = spill_open_unnamed(path);
    if (fd >= 0) {
        *file = fd;
        return BLY_OK;
    }
    fd = mkstemp(path);
    if (fd < 0)
        return BLY_EIO;
    if (unlink(path) != 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
        blyi_spill_close(fd);
        return BLY_EIO;
    }
    *file = fd;
    return BLY_OK;
}

bly_status blyi_spill_write(int file, uint64_t at, const void *from, uint64_t bytes) {
    const uint8_t *next = from;
    while (bytes > 0) {
        size_t some = (size_t)(bytes < spill_max_transfer ? bytes : spill_max_transfer);
        ssize_t n = pwrite(file, next, some, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return BLY_EIO;
        next += n;
        at += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return BLY_OK;
}

bly_status blyi_spill_read(int file, uint64_t at, void *to, uint64_t bytes) {
    uint8_t *next = to;
    while (bytes > 0) {
        size_t some = (size_t)(bytes < spill_max_transfer ? bytes : spill_max_transfer);
        ssize_t n = pread(file, next, some, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EIO; /* nobody else can have shortened the file */
        if (n <= 0)
            return BLY_EIO;
        next += n;
        at += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return BLY_OK;
}
