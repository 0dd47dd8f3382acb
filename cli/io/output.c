#include "output.h"

#include "interrupt.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = 1 << 17 };

static const char *name_of(const output *o) {
    return o->path ? o->path : "standard output";
}

/* ---- opening --------------------------------------------------------------------------------- */

/* "path/to/." for "path/to/file"; to be freed. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = malloc(length + 2);
    if (folder) {
        memcpy(folder, path, length);
        memcpy(folder + length, ".", 2);
    }
    return folder;
}

bool output_folder_writable(const char *path) {
    char *folder = folder_of(path);
    bool good = folder && access(folder, W_OK | X_OK) == 0;
    free(folder);
    return good;
}

bool output_may_replace(const char *path, bool force) {
    struct stat st;
    if (!force && lstat(path, &st) == 0) {
        (void)message_error("%s: exists already; -f replaces it", path);
        return false;
    }
    /* Two names of a file that is not there yet could not be known for one. */
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && stat(path, &st) != 0) {
        (void)message_error("%s: is a link to nothing; name the file itself", path);
        return false;
    }
    /* Better now than after an hour's work. */
    bool good = output_folder_writable(path);
    if (!good)
        (void)message_errno(path);
    return good;
}

bool output_same_file(const char *a, const char *b) {
    struct stat one, other;
    if (!a || !b)
        return false;
    if (stat(a, &one) == 0 && stat(b, &other) == 0)
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    const char *name_a = strrchr(a, '/'), *name_b = strrchr(b, '/');
    if (strcmp(name_a ? name_a + 1 : a, name_b ? name_b + 1 : b) != 0)
        return false;
    char *folder_a = folder_of(a), *folder_b = folder_of(b);
    bool same = folder_a && folder_b && stat(folder_a, &one) == 0 && stat(folder_b, &other) == 0 &&
                one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    free(folder_a);
    free(folder_b);
    return same;
}

/* The mode a new file would have got from open(). */
static mode_t new_mode(const char *path) {
    struct stat st;
    if (stat(path, &st) == 0)
        return st.st_mode & 07777;
    mode_t mask = umask(0);
    (void)umask(mask);
    return 0666 & ~mask;
}

/* A link stays a link: what it points to is replaced. NULL: see errno. */
static char *follow_link(const char *path) {
    struct stat st;
    char *real = realpath(path, NULL);
    if (real || errno != ENOENT || lstat(path, &st) == 0)
        return real;
    return strdup(path);
}

/* ".NAME.xxxxxx.tmp" beside the target. */
static bool create_temp(output *o) {
    enum { KEEP_OF_NAME = 100 }; /* so that the name is not too long when the target's is not */
    const char *slash = strrchr(o->target, '/');
    int folder = slash ? (int)(slash - o->target) + 1 : 0;
    size_t room = (size_t)folder + KEEP_OF_NAME + sizeof "..XXXXXX.tmp";
    o->temp = malloc(room);
    if (!o->temp)
        return false;
    (void)snprintf(o->temp, room, "%.*s.%.*s.XXXXXX.tmp", folder, o->target, KEEP_OF_NAME,
                   o->target + folder);
    interrupt_watch(); /* a signal must not leave it behind */
    o->fd = mkstemps(o->temp, 4);
    if (o->fd < 0) {
        free(o->temp);
        o->temp = NULL;
        return false;
    }
    (void)fchmod(o->fd, new_mode(o->target));
    return true;
}

static bool open_temp(output *o) {
    struct stat st;
    o->target = follow_link(o->path);
    bool good = o->target != NULL;
    if (good && stat(o->target, &st) == 0 && !S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        good = false;
    }
    good = good && create_temp(o);
    if (!good)
        (void)message_errno(o->path);
    return good;
}

bool output_open(output *o, const char *path, bool force) {
    *o = (output){.fd = -1, .room = ROOM, .force = force};
    if (path && strcmp(path, "-") != 0)
        o->path = path;
    o->buffer = malloc(o->room);
    if (!o->buffer) {
        (void)message_error("out of memory");
        return false;
    }
    if (!o->path)
        o->fd = STDOUT_FILENO;
    else if (!output_may_replace(o->path, force) || !open_temp(o)) {
        output_close(o);
        return false;
    }
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* As write(). Who was interrupted is in a hurry, and a reader that has stopped reading would keep
 * him for ever. */
static ssize_t write_some(const output *o, const char *data, size_t size) {
    struct pollfd ready = {o->fd, POLLOUT, 0};
    if (!interrupt_seen())
        return write(o->fd, data, size);
    if (poll(&ready, 1, 1000) == 0) {
        errno = ETIMEDOUT;
        return -1;
    }
    return write(o->fd, data, size < PIPE_BUF ? size : PIPE_BUF);
}

static bool write_all(output *o, const char *data, size_t size) {
    while (size > 0 && !o->failed) {
        ssize_t n = write_some(o, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            if (errno != EPIPE)
                (void)message_errno(name_of(o));
            o->failed = true;
            break;
        }
        data += n;
        size -= (size_t)n;
    }
    return !o->failed;
}

bool output_flush(output *o) {
    size_t used = o->used;
    o->used = 0;
    return write_all(o, o->buffer, used);
}

bool output_put(output *o, const void *data, size_t size) {
    if (size > o->room - o->used && !output_flush(o))
        return false;
    if (size > o->room)
        return write_all(o, data, size);
    memcpy(o->buffer + o->used, data, size);
    o->used += size;
    return true;
}

bool output_restart(output *o) {
    o->used = 0;
    if (!o->failed && (ftruncate(o->fd, 0) != 0 || lseek(o->fd, 0, SEEK_SET) != 0)) {
        (void)message_errno(name_of(o));
        o->failed = true;
    }
    return !o->failed;
}

/* ---- stdio ----------------------------------------------------------------------------------- */

bool output_stdio_is_well(void) {
    if (!ferror(stdout))
        return true;
    if (!interrupt_reader_gone())
        (void)message_errno("standard output");
    clearerr(stdout);
    return false;
}

bool output_stdio_flush(void) {
    (void)fflush(stdout);
    return output_stdio_is_well();
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* Without `force` not even a file that has appeared since may be replaced, which rename() would do.
 * Where the file system has no links, rename it is. */
static bool put_in_place(const output *o) {
    if (!o->force) {
        if (link(o->temp, o->target) == 0) {
            (void)unlink(o->temp); /* left behind at worst: the file is where it belongs */
            return true;
        }
        if (errno == EEXIST)
            return false;
    }
    return rename(o->temp, o->target) == 0;
}

/* So that the new name, too, outlives a power failure. */
static void flush_folder(const char *path) {
    char *folder = folder_of(path);
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    free(folder);
}

bool output_commit(output *o) {
    if (!output_flush(o))
        return false;
    if (!o->path)
        return true;
    if (fsync(o->fd) != 0 || !put_in_place(o)) {
        (void)message_errno(o->path);
        return false;
    }
    free(o->temp);
    o->temp = NULL;
    flush_folder(o->target);
    return true;
}

void output_close(output *o) {
    if (o->path && o->fd >= 0)
        (void)close(o->fd);
    if (o->temp)
        (void)unlink(o->temp);
    free(o->temp);
    free(o->target);
    free(o->buffer);
    *o = (output){.fd = -1};
}
