/* Unnamed temporary files, in which a builder keeps the hashes that do not fit in memory. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "base/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t max_bytes_per_call = 1 << 30;

void blyi_temp_file_close(int file) {
    int saved = errno;
    (void)close(file);
    errno = saved;
}

/* Opens an unnamed file in the directory of `path`. Returns -1 on failure, for example if the
 * system does not support unnamed files. */
static int temp_file_open_unnamed(char *path) {
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

bly_status blyi_temp_file_open(char *path, int *file) {
    int fd = temp_file_open_unnamed(path);
    if (fd >= 0) {
        *file = fd;
        return BLY_OK;
    }
    fd = mkstemp(path);
    if (fd < 0)
        return BLY_EIO;
    if (unlink(path) != 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
        blyi_temp_file_close(fd);
        return BLY_EIO;
    }
    *file = fd;
    return BLY_OK;
}

bly_status blyi_temp_file_write(int file, uint64_t at, const void *from, uint64_t bytes) {
    const uint8_t *next = from;
    while (bytes > 0) {
        size_t some = (size_t)(bytes < max_bytes_per_call ? bytes : max_bytes_per_call);
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

bly_status blyi_temp_file_read(int file, uint64_t at, void *to, uint64_t bytes) {
    uint8_t *next = to;
    while (bytes > 0) {
        size_t some = (size_t)(bytes < max_bytes_per_call ? bytes : max_bytes_per_call);
        ssize_t n = pread(file, next, some, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EIO; /* unexpected: no other process can truncate an unnamed file */
        if (n <= 0)
            return BLY_EIO;
        next += n;
        at += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return BLY_OK;
}
