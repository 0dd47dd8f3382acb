#include "output.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = 1 << 17 };

static const char *name_of(const output *o) {
    return o->path ? o->path : "standard output";
}

/* ---- opening ----------------------------------------------------------------------------------
 */

/* Better now than after an hour's work. */
static bool folder_takes_files(const char *path) {
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = malloc(length + 2);
    if (folder) { /* "path/to/." */
        memcpy(folder, path, length);
        memcpy(folder + length, ".", 2);
    }
    bool good = folder && access(folder, W_OK | X_OK) == 0;
    if (!good)
        (void)message_errno(path);
    free(folder);
    return good;
}

bool output_may_replace(const char *path, bool force) {
    struct stat st;
    if (!force && lstat(path, &st) == 0) {
        (void)message_error("%s: exists already; -f replaces it", path);
        return false;
    }
    return folder_takes_files(path);
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

/* A link stays a link: what it points to is replaced. */
static char *resolved(const char *path) {
    char *real = realpath(path, NULL);
    return real ? real : strdup(path);
}

static bool open_temp(output *o) {
    char *real = resolved(o->path);
    size_t room = real ? strlen(real) + sizeof "..XXXXXX.tmp" : 0;
    struct stat st;
    if (real && stat(real, &st) == 0 && !S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    } else if (real && (o->temp = malloc(room))) {
        const char *slash = strrchr(real, '/');
        int directory = slash ? (int)(slash - real) + 1 : 0;
        (void)snprintf(o->temp, room, "%.*s.%s.XXXXXX.tmp", directory, real, real + directory);
        o->fd = mkstemps(o->temp, 4);
        if (o->fd < 0) {
            free(o->temp);
            o->temp = NULL;
        } else
            (void)fchmod(o->fd, new_mode(real));
    }
    if (o->fd < 0)
        (void)message_errno(o->path);
    free(real);
    return o->fd >= 0;
}

bool output_open(output *o, const char *path, bool force) {
    *o = (output){.fd = -1, .room = ROOM};
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

/* ---- writing ----------------------------------------------------------------------------------
 */

/* Whoever read us has gone: end as without any handling of our own. */
static void die_of_broken_pipe(void) {
    (void)signal(SIGPIPE, SIG_DFL);
    (void)raise(SIGPIPE);
}

static bool write_all(output *o, const char *data, size_t size) {
    while (size > 0) {
        ssize_t n = write(o->fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            if (errno == EPIPE)
                die_of_broken_pipe();
            (void)message_errno(name_of(o));
            return false;
        }
        data += n;
        size -= (size_t)n;
    }
    return true;
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

/* ---- ending -----------------------------------------------------------------------------------
 */

bool output_commit(output *o) {
    if (!output_flush(o))
        return false;
    if (!o->path)
        return true;
    char *real = resolved(o->path);
    bool good = real && fsync(o->fd) == 0 && rename(o->temp, real) == 0;
    if (!good)
        (void)message_errno(o->path);
    free(real);
    if (good) {
        free(o->temp);
        o->temp = NULL;
    }
    return good;
}

void output_close(output *o) {
    if (o->path && o->fd >= 0)
        (void)close(o->fd);
    if (o->temp)
        (void)unlink(o->temp);
    free(o->temp);
    free(o->buffer);
    *o = (output){.fd = -1};
}
