#include "lock.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool lock_still_named(const char *path, int fd) {
    struct stat named, locked;
    return stat(path, &named) == 0 && fstat(fd, &locked) == 0 && named.st_dev == locked.st_dev &&
           named.st_ino == locked.st_ino;
}

int lock_take(const char *path) {
    for (bool waited = false;;) {
        const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
            return -1;
        int result = flock(fd, LOCK_EX | LOCK_NB);
        if (result != 0 && errno == EWOULDBLOCK) {
            if (!waited)
                message_note("%s: waiting for another program to finish with it", path);
            waited = true;
            result = flock(fd, LOCK_EX);
        }
        if (result == 0 && lock_still_named(path, fd))
            return fd;
        (void)close(fd);
        /* Deleted meanwhile, or no locks here: go on without. */
        if (result != 0 && errno != EINTR)
            return -1;
    }
}

void lock_release(int lock) {
    if (lock >= 0)
        (void)close(lock);
}
