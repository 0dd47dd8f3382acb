/* clock.c - a monotonic clock that a test can set forward; preloaded into a program (LD_PRELOAD).
 *
 * The file that BLOOMERY_CLOCK names holds a number of nanoseconds, 8 bytes, which is added to the
 * time. The test changes it while the program runs. So a program that gives up after 15 seconds
 * does so as soon as the test sets the clock forward. Pauses are not shortened.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *ahead; /* NULL: the clock is as usual */

__attribute__((constructor)) static void map_file(void) {
    const char *path = getenv("BLOOMERY_CLOCK");
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *at = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (at != MAP_FAILED)
        ahead = at;
}

int clock_gettime(clockid_t id, struct timespec *out) {
    enum { SECOND = 1000000000 };
    if (syscall(SYS_clock_gettime, id, out) != 0)
        return -1;
    if (id == CLOCK_MONOTONIC && ahead) {
        const int64_t nanoseconds = out->tv_nsec + *ahead;
        out->tv_sec += (time_t)(nanoseconds / SECOND);
        out->tv_nsec = (long)(nanoseconds % SECOND);
    }
    return 0;
}
