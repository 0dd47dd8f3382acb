/* lock.c - flock on an empty file beside the filter, which the last process to use it removes. */
#include "io/lock.h"

#include "io/interrupt.h"
#include "io/output.h"
#include "text/message.h"

#include <bloomery/host/files.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool lock_still_named(const char *path, int fd) {
    struct stat named, locked;
    return stat(path, &named) == 0 && fstat(fd, &locked) == 0 && same_file(&named, &locked);
}

/* ---- the lock file --------------------------------------------------------------------------- */

/* "path/to/.NAME.lock" for "path/to/NAME"; to be freed. */
static char *lock_path(const char *target) {
    enum { KEEP_OF_NAME = 200 };
    const char *slash = strrchr(target, '/');
    int folder = slash ? (int)(slash - target) + 1 : 0;
    size_t room = (size_t)folder + KEEP_OF_NAME + sizeof "..lock";
    char *out = malloc(room);
    if (out)
        (void)snprintf(out, room, "%.*s.%.*s.lock", folder, target, KEEP_OF_NAME, target + folder);
    return out;
}

typedef enum verdict {
    GOOD,
    GONE,    /* removed or replaced since it was opened */
    ODD,     /* not a lock file of ours */
    FOREIGN, /* belongs to a user who may not change the filter */
} verdict;

/* In a sticky directory only the owner of a file, the owner of the directory and root can replace
 * the file. The lock of any other user does not protect a change; it could only block it. */
static bool owner_counts(const lock *l, const struct stat *file) {
    struct stat folder, target;
    if (file->st_uid == geteuid() || file->st_uid == 0)
        return true;
    char *path = output_folder_of(l->path);
    const bool known = path && stat(path, &folder) == 0;
    free(path);
    if (!known || !(folder.st_mode & S_ISVTX))
        return known;
    return file->st_uid == folder.st_uid ||
           (lstat(l->target, &target) == 0 && file->st_uid == target.st_uid);
}

/* Judges the open file, and whether it still has the name. */
static verdict judge(const lock *l) {
    struct stat file, named;
    if (fstat(l->fd, &file) != 0)
        return ODD;
    if (file.st_nlink == 0 || lstat(l->path, &named) != 0 || !same_file(&file, &named))
        return GONE;
    if (l->made)
        return GOOD;
    if (!S_ISREG(file.st_mode) || file.st_size != 0 || file.st_nlink != 1)
        return ODD;
    return owner_counts(l, &file) ? GOOD : FOREIGN;
}

/* Creates the file, or opens the existing one. O_NONBLOCK: a pipe is refused, not waited for. Read
 * access is enough for a lock, so a file of another user can be used. On failure, sets errno and
 * returns false. */
static bool open_file(lock *l) {
    const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
    for (;;) {
        l->fd = open(l->path, flags | O_CREAT | O_EXCL, 0666);
        l->made = l->fd >= 0;
        if (l->made || errno != EEXIST)
            return l->made;
        l->fd = open(l->path, flags);
        if (l->fd >= 0 || errno != ENOENT)
            return l->fd >= 0; /* otherwise it was removed in between */
    }
}

static void close_file(lock *l) {
    if (l->fd >= 0)
        (void)close(l->fd);
    l->fd = -1;
    l->made = false;
}

/* ---- messages -------------------------------------------------------------------------------- */

static bool refuse(const char *path) {
    return message_fail("%s: cannot be locked, so it is not written", path);
}

static bool say_verdict(const lock *l, const char *path, verdict v) {
    if (v == FOREIGN)
        (void)message_error("%s: this lock file belongs to a user who has no permission to replace "
                            "%s; ask that user or an administrator to delete it",
                            l->path, path);
    else
        (void)message_error("%s: cannot be used as a lock file, which must be an empty regular "
                            "file without other hard links; move it away",
                            l->path);
    return refuse(path);
}

/* Called if the lock file could not be opened, with the reason in errno. Returns true if no file
 * can be created there, so that no lock is needed. Reports any other reason and returns false. */
static bool needs_none(const lock *l, const char *path) {
    struct stat st;
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR || error == EROFS ||
        (error == EACCES && !output_folder_writable(l->path)))
        return true;
    if (error == ELOOP || error == ENXIO)
        return say_verdict(l, path, ODD);
    if (error == EACCES && lstat(l->path, &st) == 0 && st.st_uid != geteuid()) {
        (void)message_error("%s: another user is using this file, or has used it; try again later, "
                            "or remove %s if nobody uses it",
                            path, l->path);
        return refuse(path);
    }
    errno = error;
    (void)message_errno(l->path);
    return refuse(path);
}

/* ---- locking --------------------------------------------------------------------------------- */

/* Returns 0, or errno. */
static int try_lock(int fd, const char *path, bool wait, bool *waited) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno != EWOULDBLOCK || !wait)
        return errno;
    if (!*waited)
        message_note("%s: waiting for another process that is using this file", path);
    *waited = true;
    if (interrupt_seen())
        return EINTR;
    return flock(fd, LOCK_EX) == 0 ? 0 : errno;
}

/* Sets l->target and l->path. If it returns false, lock_take must return *result. */
static bool find_names(lock *l, const char *path, bool *result) {
    const bly_status status = bly_file_target(path, &l->target);
    l->path = status == BLY_OK ? lock_path(l->target) : NULL;
    if (l->path)
        return true;
    /* A file that does not exist, or is no file, is reported where it is opened. */
    *result = status == BLY_EIO && (errno == ENOENT || errno == ENOTDIR || errno == EISDIR ||
                                    (errno == EACCES && !output_folder_writable(path)));
    if (!*result && status == BLY_EIO)
        output_refused(path);
    else if (!*result)
        (void)message_error("out of memory");
    return false;
}

/* Removes the lock file, unless it belongs to another user. */
static void remove_file(const lock *l) {
    struct stat file;
    if (judge(l) == GOOD && fstat(l->fd, &file) == 0 && file.st_uid == geteuid())
        (void)unlink(l->path);
}

bool lock_take(lock *l, const char *path, bool wait) {
    bool waited = false, result;
    *l = (lock){.fd = -1};
    if (strcmp(path, "-") == 0)
        return true;
    if (!find_names(l, path, &result))
        return result;
    interrupt_watch(); /* a signal must not leave the lock file behind */
    for (;; close_file(l)) {
        if (!open_file(l))
            return needs_none(l, path);
        verdict v = judge(l);
        if (v == ODD || v == FOREIGN) {
            close_file(l);
            return say_verdict(l, path, v);
        }
        if (v == GONE)
            continue;
        const int error = try_lock(l->fd, path, wait, &waited);
        /* The process that held the lock may have removed the file; then start again. */
        if (error == 0 && judge(l) == GOOD)
            return true;
        if (error == 0 || (error == EINTR && !interrupt_seen()))
            continue;
        const bool held = error == EWOULDBLOCK || error == EINTR;
        if (error == EWOULDBLOCK)
            (void)message_error(
                "%s: another process is using this file; try again when it has finished", path);
        else if (!held)
            remove_file(l); /* no locks on this file system */
        close_file(l);
        return !held;
    }
}

void lock_release(lock *l) {
    if (l->path && l->fd >= 0)
        remove_file(l); /* while it is locked: no other process can hold it now */
    if (l->path)
        close_file(l);
    free(l->path);
    free(l->target);
    *l = (lock){.fd = -1};
}
