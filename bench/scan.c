/* scan - does the minimal work of a tool that processes lines. `scan FILE [64]` reads a file, finds
 * its line ends, and hashes every line with XXH3 to 128 bits, or to 64 bits with the argument 64.
 * `scripts/bench-dedup` compares `bloomery dedup` with the 128-bit form, and `scripts/bench
 * --distinct` compares `bloomery distinct` with the 64-bit form.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { ROOM = 1 << 18 };

static uint64_t hash_wide(const char *at, size_t size) {
    return XXH3_128bits(at, size).low64;
}

static uint64_t hash_narrow(const char *at, size_t size) {
    return XXH3_64bits(at, size);
}

/* Inlined once per hash function, so that the hash function is inlined too. */
static inline __attribute__((always_inline)) int scan(int fd,
                                                      uint64_t (*hash)(const char *, size_t)) {
    static char buffer[ROOM];
    uint64_t lines = 0, sum = 0;
    size_t have = 0;
    for (ssize_t n; (n = read(fd, buffer + have, ROOM - have)) > 0;) {
        char *from = buffer, *stop = buffer + have + (size_t)n, *found;
        while ((found = memchr(from, '\n', (size_t)(stop - from)))) {
            sum ^= hash(from, (size_t)(found - from));
            lines++;
            from = found + 1;
        }
        have = (size_t)(stop - from);
        memmove(buffer, from, have);
    }
    return printf("%" PRIu64 " lines, %016" PRIx64 "\n", lines, sum) < 0;
}

int main(int argc, char **argv) {
    const int fd = argc > 1 ? open(argv[1], O_RDONLY) : STDIN_FILENO;
    return argc > 2 && strcmp(argv[2], "64") == 0 ? scan(fd, hash_narrow) : scan(fd, hash_wide);
}
