#include "kinds/builder/workers.h"

#include <errno.h>
#include <unistd.h>

typedef struct crew {
    blyi_task_fn *fn;
    void *ctx;
    uint64_t tasks;
    pthread_mutex_t lock; /* over what follows */
    uint64_t next;
    unsigned hired;
    bly_status status;
    int error; /* errno is each thread's own */
} crew;

/* The next task, if there is one. */
static bool take(crew *c, uint64_t *task) {
    (void)pthread_mutex_lock(&c->lock);
    bool some = c->status == BLY_OK && c->next < c->tasks;
    *task = some ? c->next++ : 0;
    (void)pthread_mutex_unlock(&c->lock);
    return some;
}

static void *work(void *ctx) {
    crew *c = ctx;
    uint64_t task;
    (void)pthread_mutex_lock(&c->lock);
    unsigned self = c->hired++;
    (void)pthread_mutex_unlock(&c->lock);
    while (take(c, &task)) {
        bly_status status = c->fn(c->ctx, self, task);
        int error = errno;
        if (status == BLY_OK)
            continue;
        (void)pthread_mutex_lock(&c->lock);
        if (c->status == BLY_OK) {
            c->status = status;
            c->error = error;
        }
        (void)pthread_mutex_unlock(&c->lock);
    }
    return NULL;
}

bly_status blyi_work(unsigned workers, uint64_t tasks, blyi_task_fn *fn, void *ctx) {
    crew c = {.fn = fn, .ctx = ctx, .tasks = tasks, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[BLYI_MAX_WORKERS];
    unsigned started = 0;
    while (started + 1 < workers && started + 1 < tasks && started + 1 < BLYI_MAX_WORKERS &&
           pthread_create(&threads[started], NULL, work, &c) == 0)
        started++;
    (void)work(&c);
    while (started > 0)
        (void)pthread_join(threads[--started], NULL);
    (void)pthread_mutex_destroy(&c.lock);
    if (c.status != BLY_OK)
        errno = c.error;
    return c.status;
}

unsigned blyi_default_workers(void) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > 8 ? 8 : (unsigned)online;
}

static void *guarded_alloc(void *ctx, size_t size) {
    blyi_guard *g = ctx;
    (void)pthread_mutex_lock(&g->lock);
    void *ptr = g->inner.alloc(g->inner.ctx, size);
    (void)pthread_mutex_unlock(&g->lock);
    return ptr;
}

static void guarded_free(void *ctx, void *ptr) {
    blyi_guard *g = ctx;
    (void)pthread_mutex_lock(&g->lock);
    g->inner.free(g->inner.ctx, ptr);
    (void)pthread_mutex_unlock(&g->lock);
}

bly_allocator blyi_guard_allocator(blyi_guard *g, const bly_allocator *inner) {
    *g = (blyi_guard){.lock = PTHREAD_MUTEX_INITIALIZER, .inner = *inner};
    return (bly_allocator){guarded_alloc, guarded_free, g};
}
