/* A library to preload (LD_PRELOAD): the monotonic clock runs 16 times as fast as real time. A task
 * that a program runs every second runs every 62 ms, so tests are faster. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPEED = 16, SECOND = 1000000000 };

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (syscall(SYS_clock_gettime, clock, now) != 0)
        return -1;
    if (clock == CLOCK_MONOTONIC) {
        const long long parts = (long long)now->tv_nsec * SPEED;
        now->tv_sec = now->tv_sec * SPEED + (time_t)(parts / SECOND);
        now->tv_nsec = (long)(parts % SECOND);
    }
    return 0;
}
