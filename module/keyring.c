#include "keyring.h"

#include "api.h"
#include "args.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A key and its line end take 33 bytes: some thousands of keys, and comments. */
enum { FILE_LIMIT = 256 * 1024, KEY_DIGITS = 32, KEY_BYTES = 16 };

static bly_hasher *ring;
static size_t ring_size;
static uint64_t edition;

uint64_t bm_keyring_edition(void) {
    return edition;
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

/* What held keys leaves none behind. */
static void wipe(void *block, size_t size) {
    if (!block)
        return;
    explicit_bzero(block, size);
    rm.Free(block);
}

static bool refuse(char *why, size_t room, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse(char *why, size_t room, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, room, fmt, args);
    va_end(args);
    return false;
}

/* Reads by read(2), so that no buffer of the C library keeps a copy. */
static bool fill(int file, char *text, size_t *size, char *why, size_t room) {
    *size = 0;
    while (*size < FILE_LIMIT) {
        ssize_t n = read(file, text + *size, FILE_LIMIT - *size);
        if (n == 0)
            return true;
        if (n > 0)
            *size += (size_t)n;
        else if (errno != EINTR)
            return refuse(why, room, "cannot read the key file: %s", strerror(errno));
    }
    return refuse(why, room, "the key file has %d bytes or more: it is no list of keys",
                  FILE_LIMIT);
}

static bool take(const char *path, char *text, size_t *size, char *why, size_t room) {
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return refuse(why, room, "cannot open the key file: %s", strerror(errno));
    bool ok;
    if (fstat(file, &about) || !S_ISREG(about.st_mode)) {
        ok = refuse(why, room, "the key file is not an ordinary file");
    } else {
        if (about.st_mode & S_IROTH)
            rm.Log(NULL, "warning", "bf: everybody on this machine may read the key file %s", path);
        ok = fill(file, text, size, why, room);
    }
    close(file);
    return ok;
}

static bool key_of(const char *line, size_t size, uint8_t key[KEY_BYTES]) {
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

static bool enter(bly_hasher *keys, size_t *n, const uint8_t key[KEY_BYTES], size_t line, char *why,
                  size_t room) {
    if (bly_hasher_keyed(&keys[*n], key) != BLY_OK)
        return refuse(why, room,
                      "this build has no siphash, and so no keyed filters: build with libsodium");
    for (size_t i = 0; i < *n; i++)
        if (keys[i].seed == keys[*n].seed)
            return refuse(why, room, "line %zu of the key file repeats a key", line);
    ++*n;
    return true;
}

static bool parse(const char *text, size_t size, bly_hasher *keys, size_t *n, char *why,
                  size_t room) {
    uint8_t key[KEY_BYTES];
    bool ok = true;
    *n = 0;
    for (size_t at = 0, line = 1; ok && at < size; line++) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        if (length > 0 && text[at] != '#')
            ok = key_of(text + at, length, key)
                     ? enter(keys, n, key, line, why, room)
                     : refuse(why, room, "line %zu of the key file is not 32 hexadecimal digits",
                              line);
        at += length + 1;
    }
    explicit_bzero(key, sizeof key);
    if (ok && *n == 0)
        return refuse(why, room, "the key file holds no key");
    return ok;
}

static void replace(bly_hasher *keys, size_t n) {
    wipe(ring, ring_size * sizeof *ring);
    ring = keys;
    ring_size = n;
    edition++;
}

bool bm_keyring_read(const char *path, char *why, size_t room) {
    if (!*path) {
        replace(NULL, 0);
        return true;
    }
    size_t size = 0, n = 0, most = FILE_LIMIT / (KEY_DIGITS + 1) + 1;
    char *text = rm.TryAlloc(FILE_LIMIT);
    bly_hasher *keys = rm.TryAlloc(most * sizeof *keys), *kept = NULL;
    bool ok = text && keys
                  ? take(path, text, &size, why, room) && parse(text, size, keys, &n, why, room)
                  : refuse(why, room, "no memory to read the key file");
    if (ok) {
        kept = rm.TryAlloc(n * sizeof *kept);
        ok = kept || refuse(why, room, "no memory to keep the keys");
    }
    if (ok) {
        memcpy(kept, keys, n * sizeof *kept);
        replace(kept, n);
    }
    wipe(text, FILE_LIMIT);
    wipe(keys, most * sizeof *keys);
    return ok;
}
