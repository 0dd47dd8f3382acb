/* key_file.c - reads and creates files with secret keys. */
#include "io/key_file.h"

#include "text/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_BYTES = 16, KEY_DIGITS = 2 * KEY_BYTES, MAX_BYTES = KEY_DIGITS + 2 };

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads the file, but at most one byte more than a key file can have. Returns the number of bytes;
 * on failure, sets errno and returns -1. */
static ssize_t read_some(int fd, char to[MAX_BYTES + 1]) {
    size_t have = 0;
    while (have < MAX_BYTES + 1) {
        ssize_t n = read(fd, to + have, MAX_BYTES + 1 - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

static int digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool from_digits(const char *text, uint8_t key[KEY_BYTES]) {
    for (int i = 0; i < KEY_BYTES; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        key[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool is_line_end(const char *text, size_t size) {
    return size == 0 || (size == 1 && text[0] == '\n') ||
           (size == 2 && text[0] == '\r' && text[1] == '\n');
}

static bool parse(const char *text, size_t size, uint8_t key[KEY_BYTES]) {
    if (size == KEY_BYTES) {
        memcpy(key, text, KEY_BYTES);
        return true;
    }
    return size >= KEY_DIGITS && is_line_end(text + KEY_DIGITS, size - KEY_DIGITS) &&
           from_digits(text, key);
}

static bool make_hasher(const uint8_t key[KEY_BYTES], bly_hasher *out) {
    if (bly_hasher_keyed(out, key) == BLY_OK)
        return true;
    return message_fail("keyed filters need libsodium, and this build of bloomery lacks it");
}

/* A secret key must be in a file with an owner and permissions. A key that comes from a pipe was
 * somewhere else before, such as on a command line, where other users can see it. */
static bool check_file(const char *path, int fd) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        return message_fail_errno(path);
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return message_fail_errno(path);
    }
    if (!S_ISREG(st.st_mode))
        return message_fail("%s: not a regular file; store the key in a file that only you can "
                            "read, and name that file",
                            path);
    if (st.st_mode & (S_IROTH | S_IWOTH))
        message_warn("%s: every user can %s this key; protect it with chmod 600", path,
                     st.st_mode & S_IROTH ? "read" : "replace");
    return true;
}

/* O_NONBLOCK: a pipe is refused, not waited for. */
static bool read_file(const char *path, char text[MAX_BYTES + 1], ssize_t *size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return message_fail_errno(path);
    bool good = check_file(path, fd);
    *size = good ? read_some(fd, text) : 0;
    if (*size < 0)
        good = message_fail_errno(path);
    (void)close(fd);
    return good;
}

bool keyfile_read(const char *path, bly_hasher *out) {
    char text[MAX_BYTES + 1];
    uint8_t key[KEY_BYTES];
    ssize_t size;
    if (!read_file(path, text, &size))
        return false;
    if (!parse(text, (size_t)size, key))
        return message_fail("%s: not a key file; a key file has 16 bytes or 32 hexadecimal digits",
                            path);
    return make_hasher(key, out);
}

/* ---- creating -------------------------------------------------------------------------------- */

bool keyfile_make(bly_hasher *out) {
    uint8_t key[KEY_BYTES];
    if (bly_random_key(key) != BLY_OK)
        return message_fail("cannot create a key, because the system provides no random numbers");
    return make_hasher(key, out);
}

static bool write_key(int fd, const uint8_t key[KEY_BYTES]) {
    char text[KEY_DIGITS + 2];
    for (int i = 0; i < KEY_BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", key[i]);
    text[KEY_DIGITS] = '\n';
    const ssize_t size = KEY_DIGITS + 1;
    ssize_t n;
    do
        n = write(fd, text, (size_t)size);
    while (n < 0 && errno == EINTR);
    if (n >= 0 && n < size)
        errno = ENOSPC;
    return n == size && fsync(fd) == 0;
}

bool keyfile_write(const char *path, const bly_hasher *hasher) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return message_fail(
            "%s: already exists, and bloomery never replaces a secret key; name another file",
            path);
    if (fd < 0)
        return message_fail_errno(path);
    bool good = write_key(fd, hasher->key);
    if (!good) {
        (void)message_errno(path);
        (void)unlink(path);
    }
    (void)close(fd);
    return good;
}
