/* workers.h - the same work on many things, several at a time. Internal. */
#ifndef BLYI_KINDS_BUILDER_WORKERS_H
#define BLYI_KINDS_BUILDER_WORKERS_H

#include <bloomery/base.h>
#include <pthread.h>

enum { BLYI_MAX_WORKERS = 64 };

/* Deals with one task. `worker` numbers those that work at once: 0 .. workers-1. */
typedef bly_status blyi_task_fn(void *ctx, unsigned worker, uint64_t task);

/* Has tasks 0 .. tasks-1 done by at most `workers` threads, the calling one among them, and returns
 * when all are at rest. After a failure no further task is begun; the first failure is returned,
 * and errno is as it left it. Threads that cannot be started are done without. */
bly_status blyi_work(unsigned workers, uint64_t tasks, blyi_task_fn *fn, void *ctx);

/* As many as there are processors, at most 8. */
unsigned blyi_default_workers(void);

/* An allocator behind a lock: a caller's own need not bear several threads at once. */
typedef struct blyi_guard {
    pthread_mutex_t lock;
    bly_allocator inner;
} blyi_guard;

bly_allocator blyi_guard_allocator(blyi_guard *g, const bly_allocator *inner);

#endif
