/* output.c - buffered output to standard output or a temporary file; checks where files can be
 * written. */
#include "io/output.h"

#include "io/interrupt.h"
#include "text/message.h"

#include <bloomery/host/files.h>
#include <errno.h>
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

char *output_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = malloc(length + 2);
    if (folder) {
        memcpy(folder, path, length);
        memcpy(folder + length, ".", 2);
    }
    return folder;
}

static void say_exists(const char *path) {
    (void)message_error("%s: already exists; use -f to replace it", path);
}

bool output_folder_writable(const char *path) {
    char *folder = output_folder_of(path);
    bool good = folder && access(folder, W_OK | X_OK) == 0;
    free(folder);
    return good;
}

void output_refused(const char *path) {
    struct stat st;
    const int error = errno;
    if (error == EACCES && lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && st.st_uid != geteuid() &&
        output_folder_writable(path)) {
        (void)message_error(
            "%s: not following a symbolic link that another user owns, in a directory that "
            "everyone can write to; give the path of the file itself",
            path);
        return;
    }
    errno = error;
    (void)message_errno(path);
}

/* As message_ok, with clearer messages for some errors. */
static bool write_ok(const char *path, bly_status status) {
    if (status == BLY_EIO)
        output_refused(path);
    else if (status == BLY_EEXISTS)
        say_exists(path);
    else if (status != BLY_OK)
        (void)message_status(path, status);
    return status == BLY_OK;
}

/* If `path` is a link to a file that does not exist, or a link that must not be followed, reports
 * that and returns false. */
static bool link_is_good(const char *path) {
    struct stat st;
    char *target = NULL;
    if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode))
        return true;
    /* Two names of a file that does not exist yet could not be recognised as the same file. */
    if (stat(path, &st) != 0 && errno == ENOENT)
        return message_fail(
            "%s: this link points to a file that does not exist; name the file itself", path);
    const bool good = write_ok(path, bly_file_target(path, &target));
    free(target);
    return good;
}

bool output_may_replace(const char *path, bool force) {
    struct stat st;
    if (strcmp(path, "-") == 0)
        return message_fail("standard output cannot be read again in the next run; name a file");
    if (!force && lstat(path, &st) == 0) {
        say_exists(path);
        return false;
    }
    if (!link_is_good(path))
        return false;
    /* Checked now, so that it does not fail after an hour of work. */
    bool good = output_folder_writable(path);
    return good || message_fail_errno(path);
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
    char *folder_a = output_folder_of(a), *folder_b = output_folder_of(b);
    bool same = folder_a && folder_b && stat(folder_a, &one) == 0 && stat(folder_b, &other) == 0 &&
                one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    free(folder_a);
    free(folder_b);
    return same;
}

static bool open_temp(output *o) {
    interrupt_watch(); /* a signal must not leave the temporary file behind */
    const bly_status status =
        bly_file_writer_open(o->path, o->force ? 0 : (uint32_t)BLY_FILE_NEW, &o->file);
    if (status == BLY_OK)
        o->fd = bly_file_writer_fd(o->file);
    return write_ok(o->path, status);
}

bool output_open(output *o, const char *path, bool force) {
    *o = (output){.fd = -1, .room = ROOM, .force = force};
    if (path && strcmp(path, "-") != 0)
        o->path = path;
    o->buffer = malloc(o->room);
    if (!o->buffer)
        return message_fail("out of memory");
    if (!o->path)
        o->fd = STDOUT_FILENO;
    else if (!output_may_replace(o->path, force) || !open_temp(o)) {
        output_close(o);
        return false;
    }
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Like write(); but after a signal it waits at most a second for a reader that has stopped reading.
 */
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

/* Data that could not be written stays in stdout's buffer, so every later write fails as well. Only
 * the first failure is reported. */
bool output_stdio_is_well(void) {
    static bool failed;
    if (!ferror(stdout) && !failed)
        return true;
    if (!failed && !interrupt_reader_gone())
        (void)(errno ? message_errno("standard output")
                     : message_error("cannot write to standard output"));
    failed = true;
    return false;
}

bool output_stdio_flush(void) {
    (void)fflush(stdout);
    return output_stdio_is_well();
}

/* ---- ending ---------------------------------------------------------------------------------- */

bool output_commit(output *o) {
    if (!output_flush(o))
        return false;
    return !o->path || write_ok(o->path, bly_file_writer_commit(o->file));
}

void output_close(output *o) {
    bly_file_writer_close(o->file);
    free(o->buffer);
    *o = (output){.fd = -1};
}
