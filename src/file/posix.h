/* posix.h - helpers of the code for files on POSIX systems. Internal. */
#ifndef BLYI_FILE_POSIX_H
#define BLYI_FILE_POSIX_H

#include <bloomery/base.h>
#include <errno.h>
#include <unistd.h>

/* Sets errno, and returns BLY_EIO. */
static inline bly_status blyi_fail_with(int error) {
    errno = error;
    return BLY_EIO;
}

/* Closes a descriptor without changing errno. */
static inline void blyi_close_quietly(int fd) {
    int saved = errno;
    (void)close(fd);
    errno = saved;
}

#endif
