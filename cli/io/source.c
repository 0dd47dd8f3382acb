/* source.c - reads files, and decompresses them if necessary. */
#include "io/source.h"

#include "io/decoder.h"
#include "io/interrupt.h"
#include "text/message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 };

struct source {
    int fd;
    const char *path;
    uint64_t position;
    bool waits;             /* a pipe or a terminal: reading may have to wait */
    const decoder *decoder; /* NULL: not compressed */
    void *state;
    bool ended;
    bly_bytes pending; /* read from the file, but not yet returned or decoded; in `chunk` */
    char chunk[CHUNK];
};

static uint64_t memory_limit;

void source_limit_memory(uint64_t most) {
    memory_limit = most;
}

/* ---- stored bytes ---------------------------------------------------------------------------- */

/* Like source_read; a signal ends the file. */
static ptrdiff_t read_raw(source *s, char *to, size_t room) {
    ssize_t n;
    do {
        if (interrupt_seen())
            return 0;
        n = read(s->fd, to, room);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        (void)message_errno(s->path);
        return -1;
    }
    s->position += (uint64_t)n;
    return n;
}

/* ---- recognising formats --------------------------------------------------------------------- */

static bool begins_as(const decoder *d, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i] < d->magic[i] || bytes[i] - d->magic[i] > d->span[i])
            return false;
    return true;
}

/* The format that the first bytes may begin, or, with `sure`, certainly begin; NULL: none. */
static const decoder *sniff(const source *s, bool sure) {
    for (const decoder *const *at = decoders; *at; at++) {
        const decoder *d = *at;
        size_t size = s->pending.size < d->magic_size ? s->pending.size : d->magic_size;
        if ((!sure || size == d->magic_size) && begins_as(d, s->pending.data, size))
            return d;
    }
    return NULL;
}

/* Reads no more than it needs to recognise the format, because a pipe may be slow. */
static bool recognise_format(source *s) {
    s->pending = (bly_bytes){s->chunk, 0};
    while (!s->ended && sniff(s, false) && !sniff(s, true)) {
        ptrdiff_t n = read_raw(s, s->chunk + s->pending.size, CHUNK - s->pending.size);
        if (n < 0)
            return false;
        s->ended = n == 0;
        s->pending.size += (size_t)n;
    }
    s->decoder = sniff(s, true);
    if (!s->decoder)
        return true;
    if (s->decoder->not_lines)
        return message_fail("%s: is %s, not a file of lines", s->path, s->decoder->name);
    if (!s->decoder->open)
        return message_fail("%s: compressed with %s, and this build of bloomery lacks %s; "
                            "decompress it and pipe it in",
                            s->path, s->decoder->name, s->decoder->library);
    s->state = s->decoder->open(memory_limit);
    return s->state || message_fail("%s: out of memory", s->path);
}

/* ---- public ---------------------------------------------------------------------------------- */

source *source_open(const char *path) {
    const bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    struct stat st;
    source *s = calloc(1, sizeof *s);
    if (!s) {
        (void)message_error("%s: out of memory", name);
        return NULL;
    }
    s->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    s->path = name;
    if (s->fd < 0 || fstat(s->fd, &st) != 0) {
        (void)message_errno(name);
        source_close(s);
        return NULL;
    }
    s->waits = !S_ISREG(st.st_mode);
    (void)posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    if (recognise_format(s))
        return s;
    source_close(s);
    return NULL;
}

bool source_is_filter(const char *path) {
    uint8_t bytes[sizeof filter_format.magic];
    struct stat st;
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof bytes);
    if (fd >= 0)
        (void)close(fd);
    return n >= (ssize_t)filter_format.magic_size &&
           begins_as(&filter_format, bytes, filter_format.magic_size);
}

/* The bytes that were read to recognise the format come first. */
static ptrdiff_t read_plain(source *s, char *to, size_t room) {
    if (s->pending.size == 0)
        return s->ended ? 0 : read_raw(s, to, room);
    size_t n = s->pending.size < room ? s->pending.size : room;
    memcpy(to, s->pending.data, n);
    s->pending.data = (const char *)s->pending.data + n;
    s->pending.size -= n;
    return (ptrdiff_t)n;
}

static ptrdiff_t read_decoded(source *s, char *to, size_t room) {
    for (;;) {
        ptrdiff_t n = s->decoder->run(s->state, &s->pending, to, room);
        if (n < 0) {
            (void)message_error("%s: the %s data %s", s->path, s->decoder->name,
                                s->decoder->problem(s->state));
            return -1;
        }
        if (n > 0)
            return n;
        if (s->ended) {
            if (s->decoder->complete(s->state) || interrupt_seen())
                return 0;
            (void)message_error("%s: the %s data is truncated", s->path, s->decoder->name);
            return -1;
        }
        if (s->pending.size > 0)
            continue;
        n = read_raw(s, s->chunk, CHUNK);
        if (n < 0)
            return -1;
        s->ended = n == 0;
        s->pending = (bly_bytes){s->chunk, (size_t)n};
    }
}

ptrdiff_t source_read(source *s, char *to, size_t room) {
    return s->decoder ? read_decoded(s, to, room) : read_plain(s, to, room);
}

bool source_would_wait(const source *s) {
    struct pollfd fd = {s->fd, POLLIN, 0};
    return s->waits && s->pending.size == 0 && !s->ended && poll(&fd, 1, 0) == 0;
}

void source_close(source *s) {
    if (!s)
        return;
    if (s->state)
        s->decoder->close(s->state);
    if (s->fd > STDIN_FILENO)
        (void)close(s->fd);
    free(s);
}

uint64_t source_position(const source *s) {
    return s->position;
}

bool source_compressed(const source *s) {
    return s->decoder != NULL;
}
