#include "lock.h"

#include "interrupt.h"
#include "message.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool lock_still_named(const char *path, int fd) {
    struct stat named, locked;
    return stat(path, &named) == 0 && fstat(fd, &locked) == 0 && named.st_dev == locked.st_dev &&
           named.st_ino == locked.st_ino;
}

/* "path/to/.NAME.lock", of the file itself where path is a link; to be freed. */
static char *lock_path(const char *path) {
    enum { KEEP_OF_NAME = 200 };
    char *real = realpath(path, NULL);
    const char *target = real ? real : path, *slash = strrchr(target, '/');
    int folder = slash ? (int)(slash - target) + 1 : 0;
    size_t room = (size_t)folder + KEEP_OF_NAME + sizeof "..lock";
    char *out = malloc(room);
    if (out)
        (void)snprintf(out, room, "%.*s.%.*s.lock", folder, target, KEEP_OF_NAME, target + folder);
    free(real);
    return out;
}

/* 0, or errno. */
static int try_lock(int fd, const char *path, bool wait, bool *waited) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno != EWOULDBLOCK || !wait)
        return errno;
    if (!*waited)
        message_note("%s: waiting for another program to finish with it", path);
    *waited = true;
    if (interrupt_seen())
        return EINTR;
    return flock(fd, LOCK_EX) == 0 ? 0 : errno;
}

/* It need only be read to be locked, so that another user's will do as well; some systems refuse to
 * create what another user has made already. */
static int open_lock(const char *path) {
    const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW;
    int fd = open(path, flags | O_CREAT, 0666);
    if (fd < 0 && errno == EACCES)
        fd = open(path, flags);
    if (fd >= 0)
        (void)fchmod(fd, 0666);
    return fd;
}

/* Why there is no lock file: because nothing can be made there, or for a reason to report. */
static bool needs_none(const char *lock_file, const char *path) {
    int error = errno;
    if (error == ENOENT || error == ENOTDIR || error == EROFS ||
        (error == EACCES && !output_folder_writable(lock_file)))
        return true;
    errno = error;
    (void)message_errno(lock_file);
    (void)message_error("%s: cannot be locked, and is left alone", path);
    return false;
}

bool lock_take(lock *l, const char *path, bool wait) {
    bool waited = false;
    *l = (lock){-1, NULL};
    if (strcmp(path, "-") == 0)
        return true;
    l->path = lock_path(path);
    if (!l->path)
        return message_error("out of memory") == 0;
    interrupt_watch(); /* a signal must not leave the lock file behind */
    for (;;) {
        int fd = open_lock(l->path);
        if (fd < 0)
            return needs_none(l->path, path);
        int error = try_lock(fd, path, wait, &waited);
        /* Whoever held it has removed it meanwhile: begin again. */
        if (error == 0 && lock_still_named(l->path, fd)) {
            l->fd = fd;
            return true;
        }
        (void)close(fd);
        if (error == EWOULDBLOCK) {
            (void)message_error("%s: is in use by another process", path);
            return false;
        }
        if (error == EINTR && interrupt_seen())
            return false;
        if (error != 0 && error != EINTR)
            return true; /* no locks on this file system */
    }
}

void lock_release(lock *l) {
    if (l->path && l->fd >= 0) {
        (void)unlink(l->path); /* before it is let go: nobody else can hold it now */
        (void)close(l->fd);
    }
    free(l->path);
    *l = (lock){-1, NULL};
}
