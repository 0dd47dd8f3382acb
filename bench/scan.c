/* scan - the least that a line-by-line tool can do: scan FILE reads a file, finds its line ends and
 * hashes every line with XXH3 in 128 bits. `scripts/bench-dedup` measures `bloomery dedup` by it.
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

int main(int argc, char **argv) {
    static char buffer[ROOM];
    uint64_t lines = 0, sum = 0;
    size_t have = 0;
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : STDIN_FILENO;
    for (ssize_t n; (n = read(fd, buffer + have, ROOM - have)) > 0;) {
        char *from = buffer, *stop = buffer + have + (size_t)n, *found;
        while ((found = memchr(from, '\n', (size_t)(stop - from)))) {
            sum ^= XXH3_128bits(from, (size_t)(found - from)).low64;
            lines++;
            from = found + 1;
        }
        have = (size_t)(stop - from);
        memmove(buffer, from, have);
    }
    return printf("%" PRIu64 " lines, %016" PRIx64 "\n", lines, sum) < 0;
}
