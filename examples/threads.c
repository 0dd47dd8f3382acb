/* threads.c - several threads add the same keys, and exactly one of them is told that a key is new.
 *
 *     cc -std=c11 threads.c $(pkg-config --cflags --libs bloomery) -pthread && ./a.out
 *
 * Use BLY_SHARED_ONCE if a job must be done once per key, such as fetching a page: the thread that
 * is told that the key is new does the job. (With BLY_SHARED adds are faster, but several threads
 * may be told that.) If a key is a false positive, no thread is told that it is new, so the rate in
 * this program is low: 1 in 10^9.
 */
#define _POSIX_C_SOURCE 200809L
#include <bloomery/bloomery.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, KEYS = 100000 };

typedef struct worker {
    pthread_t thread;
    bly_filter *filter;
    bly_status status;
    unsigned won; /* number of keys for which this thread was told that they are new */
} worker;

static void *add_all(void *context) {
    worker *w = context;
    for (unsigned i = 0; i < KEYS && w->status == BLY_OK; i++) {
        char key[32];
        bool added = false;
        const int length = snprintf(key, sizeof key, "https://site.test/%u", i);
        w->status = bly_filter_add(w->filter, key, (size_t)length, &added);
        w->won += added;
    }
    return NULL;
}

int main(void) {
    worker workers[THREADS] = {{.status = BLY_OK}};
    unsigned won = 0;
    bly_filter *filter;
    bly_spec spec = bly_spec_for(BLY_BB2X512, KEYS, 1e-9);
    spec.sharing = BLY_SHARED_ONCE;
    bly_status status = bly_filter_create(&spec, &filter);
    for (int i = 0; i < THREADS && status == BLY_OK; i++) {
        workers[i].filter = filter;
        if (pthread_create(&workers[i].thread, NULL, add_all, &workers[i]) != 0)
            return 2;
    }
    for (int i = 0; i < THREADS && status == BLY_OK; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        status = workers[i].status;
        won += workers[i].won;
    }
    if (status != BLY_OK)
        fprintf(stderr, "threads: %s\n", bly_strerror(status));
    else
        printf("%d threads added %d keys: %u times new\n", THREADS, KEYS, won);
    bly_filter_destroy(filter);
    return status == BLY_OK ? 0 : 2;
}
