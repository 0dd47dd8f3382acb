/* Two threads on one filter. The second one sleeps except around a measurement: waking it takes
 * longer than some measurements, and a thread that spun all the time would slow the others down. */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

enum stage { ASLEEP, AWAKE, GO, DONE };

static struct {
    pthread_t thread;
    sem_t wake;
    _Atomic int stage;
    batch_fn *fn; /* NULL: end the thread */
    bly_filter *f;
    const bly_bytes *keys;
    size_t n;
    uint64_t result;
} second;

static void *second_thread(void *unused) {
    (void)unused;
    for (;;) {
        while (sem_wait(&second.wake) != 0) {
        }
        atomic_store(&second.stage, AWAKE);
        while (atomic_load(&second.stage) != GO) {
        }
        if (!second.fn)
            return NULL;
        second.result = second.fn(second.f, second.keys, second.n);
        atomic_store(&second.stage, DONE);
    }
}

void pair_open(void) {
    must(sem_init(&second.wake, 0, 0) == 0, "a semaphore");
    must(pthread_create(&second.thread, NULL, second_thread, NULL) == 0, "a second thread");
}

void pair_ready(void) {
    atomic_store(&second.stage, ASLEEP);
    sem_post(&second.wake);
    while (atomic_load(&second.stage) != AWAKE)
        sched_yield();
}

uint64_t pair_run(batch_fn *fn, bly_filter *f, const bly_bytes *keys, size_t n) {
    size_t half = n / 2;
    second.fn = fn;
    second.f = f;
    second.keys = keys + half;
    second.n = n - half;
    atomic_store(&second.stage, GO);
    uint64_t result = fn(f, keys, half);
    while (atomic_load(&second.stage) != DONE) {
    }
    return result + second.result;
}

void pair_close(void) {
    pair_ready();
    second.fn = NULL;
    atomic_store(&second.stage, GO);
    pthread_join(second.thread, NULL);
    sem_destroy(&second.wake);
}
