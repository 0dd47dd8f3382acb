/* Runs an operation on one filter by two threads. The second thread sleeps between measurements,
 * because a thread that always spins slows down other work. But a thread that has just woken up
 * finds a slow processor and cold caches. So it is woken before a measurement, spins between the
 * calls of the measurement, and sleeps afterwards. Both threads take batches from one queue, so
 * that neither has to wait long if the other is interrupted. Each thread is bound to one processor,
 * because the system may schedule a thread on the processor of the thread that woke it. */
#define _GNU_SOURCE /* for sched_setaffinity */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

enum stage { ASLEEP, AWAKE, GO, REST };

static struct {
    pthread_t thread;
    sem_t wake;
    _Atomic int stage;
    batch_fn *fn; /* NULL: the thread ends */
    bly_filter *f;
    const bly_bytes *keys;
    size_t n;
    _Atomic size_t next; /* index of the first key that no thread has taken yet */
    uint64_t result;
} second;

/* The processors that this process may use, and the processor of each thread. */
static struct {
    cpu_set_t all, first, second;
    int count;
} processors;

int pair_processors(void) {
    return processors.count;
}

static void find_processors(void) {
    processors.count = 1;
    if (sched_getaffinity(0, sizeof processors.all, &processors.all) != 0)
        return;
    processors.count = CPU_COUNT(&processors.all);
    for (size_t i = 0, found = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET(i, &processors.all))
            CPU_SET(i, found++ ? &processors.second : &processors.first);
}

/* Binds the calling thread to these processors, if the system allows that. */
static void bind_to(const cpu_set_t *where) {
    if (processors.count > 1)
        (void)sched_setaffinity(0, sizeof *where, where);
}

static uint64_t take_batches(void) {
    uint64_t sum = 0;
    for (;;) {
        size_t at = atomic_fetch_add(&second.next, BATCH);
        if (at >= second.n)
            return sum;
        size_t n = second.n - at < BATCH ? second.n - at : BATCH;
        sum += second.fn(second.f, second.keys + at, n);
    }
}

/* Executes the calls of pair_run until pair_rest. */
static void serve(void) {
    for (;;) {
        int stage = atomic_load(&second.stage);
        if (stage == REST)
            return;
        if (stage != GO)
            continue;
        second.result = take_batches();
        atomic_store(&second.stage, AWAKE);
    }
}

static void *second_thread(void *unused) {
    (void)unused;
    bind_to(&processors.second);
    for (;;) {
        while (sem_wait(&second.wake) != 0) {
        }
        if (!second.fn)
            return NULL;
        atomic_store(&second.stage, AWAKE);
        serve();
        atomic_store(&second.stage, ASLEEP);
    }
}

static uint64_t nothing(bly_filter *f, const bly_bytes *keys, size_t n) {
    (void)f;
    (void)keys;
    return n;
}

void pair_open(void) {
    find_processors();
    second.fn = nothing;
    atomic_init(&second.stage, ASLEEP);
    must(sem_init(&second.wake, 0, 0) == 0, "a semaphore");
    must(pthread_create(&second.thread, NULL, second_thread, NULL) == 0, "a second thread");
}

void pair_ready(void) {
    bind_to(&processors.first);
    sem_post(&second.wake);
    while (atomic_load(&second.stage) != AWAKE)
        sched_yield();
}

uint64_t pair_run(batch_fn *fn, bly_filter *f, const bly_bytes *keys, size_t n) {
    second.fn = fn;
    second.f = f;
    second.keys = keys;
    second.n = n;
    atomic_store(&second.next, 0);
    atomic_store(&second.stage, GO);
    uint64_t result = take_batches();
    while (atomic_load(&second.stage) == GO) {
    }
    return result + second.result;
}

void pair_rest(void) {
    atomic_store(&second.stage, REST);
    while (atomic_load(&second.stage) != ASLEEP)
        sched_yield();
    bind_to(&processors.all);
}

void pair_close(void) {
    second.fn = NULL;
    sem_post(&second.wake);
    pthread_join(second.thread, NULL);
    sem_destroy(&second.wake);
}
