/* keyring.c - reads the file of secret keys, and finds a key by its id. */
#include "runtime/keyring.h"

#include "commands/command_args.h"
#include "engine_api.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A key and its line end take 33 bytes, so MAX_FILE suffices for thousands of keys and comments. */
enum { MAX_FILE = 256 * 1024, KEY_DIGITS = 32, KEY_BYTES = 16 };

static bly_hasher *ring;
static size_t ring_size;
static uint64_t version;

uint64_t bm_keyring_version(void) {
    return version;
}

size_t bm_keyring_size(void) {
    return ring_size;
}

const bly_hasher *bm_keyring_at(size_t i) {
    return i < ring_size ? &ring[i] : NULL;
}

const bly_hasher *bm_keyring_find(uint64_t id) {
    for (size_t i = 0; i < ring_size; i++)
        if (ring[i].seed == id)
            return &ring[i];
    return NULL;
}

/* Frees a block that contains keys, after overwriting it. */
static void free_secret(void *block, size_t size) {
    if (!block)
        return;
    explicit_bzero(block, size);
    rm.Free(block);
}

static bool refuse(char *why, size_t why_size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse(char *why, size_t why_size, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, why_size, fmt, args);
    va_end(args);
    return false;
}

/* Reads the file with read(2), so that no buffer of the C library retains a copy of the keys. */
static bool read_all(int file, char *text, size_t *size, char *why, size_t why_size) {
    *size = 0;
    while (*size < MAX_FILE) {
        ssize_t n = read(file, text + *size, MAX_FILE - *size);
        if (n == 0)
            return true;
        if (n > 0)
            *size += (size_t)n;
        else if (errno != EINTR)
            return refuse(why, why_size, "cannot read the key file: %s", strerror(errno));
    }
    return refuse(why, why_size, "the key file is too large (%d bytes or more)", MAX_FILE);
}

static bool read_file(const char *path, char *text, size_t *size, char *why, size_t why_size) {
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return refuse(why, why_size, "cannot open the key file: %s", strerror(errno));
    bool ok;
    if (fstat(file, &info) || !S_ISREG(info.st_mode)) {
        ok = refuse(why, why_size, "the key file is not a regular file");
    } else {
        if (info.st_mode & S_IROTH)
            rm.Log(NULL, "warning", "bf: every user can read the key file %s; use chmod 600", path);
        ok = read_all(file, text, size, why, why_size);
    }
    close(file);
    return ok;
}

static bool parse_key(const char *line, size_t size, uint8_t key[KEY_BYTES]) {
    if (size != KEY_DIGITS)
        return false;
    for (size_t i = 0; i < KEY_BYTES; i++) {
        int high = bm_digit(line[2 * i]), low = bm_digit(line[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        key[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

static bool add_key(bly_hasher *keys, size_t *n, const uint8_t key[KEY_BYTES], size_t line,
                    char *why, size_t why_size) {
    if (bly_hasher_keyed(&keys[*n], key) != BLY_OK)
        return refuse(why, why_size,
                      "this build lacks siphash, which keyed filters need: build with libsodium");
    for (size_t i = 0; i < *n; i++)
        if (keys[i].seed == keys[*n].seed)
            return refuse(why, why_size, "line %zu of the key file repeats a key", line);
    ++*n;
    return true;
}

static bool parse_file(const char *text, size_t size, bly_hasher *keys, size_t *n, char *why,
                       size_t why_size) {
    uint8_t key[KEY_BYTES];
    bool ok = true;
    *n = 0;
    for (size_t at = 0, line = 1; ok && at < size; line++) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        if (length > 0 && text[at] != '#')
            ok = parse_key(text + at, length, key)
                     ? add_key(keys, n, key, line, why, why_size)
                     : refuse(why, why_size,
                              "line %zu of the key file is not 32 hexadecimal digits", line);
        at += length + 1;
    }
    explicit_bzero(key, sizeof key);
    if (ok && *n == 0)
        return refuse(why, why_size, "the key file contains no key");
    return ok;
}

static void replace_ring(bly_hasher *keys, size_t n) {
    free_secret(ring, ring_size * sizeof *ring);
    ring = keys;
    ring_size = n;
    version++;
}

bool bm_keyring_read(const char *path, char *why, size_t why_size) {
    if (!*path) {
        replace_ring(NULL, 0);
        return true;
    }
    size_t size = 0, n = 0, max = MAX_FILE / (KEY_DIGITS + 1) + 1;
    char *text = rm.TryAlloc(MAX_FILE);
    bly_hasher *keys = rm.TryAlloc(max * sizeof *keys), *kept = NULL;
    bool ok = text && keys ? read_file(path, text, &size, why, why_size) &&
                                 parse_file(text, size, keys, &n, why, why_size)
                           : refuse(why, why_size, "no memory to read the key file");
    if (ok) {
        kept = rm.TryAlloc(n * sizeof *kept);
        ok = kept || refuse(why, why_size, "no memory to keep the keys");
    }
    if (ok) {
        memcpy(kept, keys, n * sizeof *kept);
        replace_ring(kept, n);
    }
    free_secret(text, MAX_FILE);
    free_secret(keys, max * sizeof *keys);
    return ok;
}
