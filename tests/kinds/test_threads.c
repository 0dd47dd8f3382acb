/* Threads that add and look up at the same time. Also run under the thread sanitizer. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, PER_THREAD = 20000 / BLYT_SLOW, BATCH = 50 };

typedef struct job {
    bly_filter *f;
    const blyt_list *keys;
    size_t first, n;      /* this thread's part of the keys */
    _Atomic size_t *done; /* how many of them were added */
    size_t fresh, missed;
    uint8_t *added;
    pthread_barrier_t *start;
} job;

/* Adds this thread's keys in single calls and in batches, and publishes its progress. */
static void *add_part(void *arg) {
    job *j = arg;
    for (size_t i = 0; i < j->n; i += BATCH) {
        const bly_bytes *keys = j->keys->keys + j->first + i;
        size_t some = j->n - i < BATCH ? j->n - i : BATCH;
        bly_batch_result tally = {0};
        if (i % (2 * BATCH) == 0) {
            if (bly_filter_add_many(j->f, keys, some, NULL, &tally) != BLY_OK)
                abort();
        } else {
            for (size_t k = 0; k < some; k++) {
                bool added;
                if (bly_filter_add(j->f, keys[k].data, keys[k].size, &added) != BLY_OK)
                    abort();
                tally.changed += added;
            }
        }
        j->fresh += tally.changed;
        atomic_store_explicit(j->done, i + some, memory_order_release);
    }
    return NULL;
}

/* Looks up the keys that another thread has published as added, until all are. */
static void *read_part(void *arg) {
    job *j = arg;
    size_t seen;
    do {
        seen = atomic_load_explicit(j->done, memory_order_acquire);
        for (size_t i = seen < 200 ? 0 : seen - 200; i < seen; i++) {
            bly_bytes k = j->keys->keys[j->first + i];
            j->missed += !bly_filter_contains(j->f, k.data, k.size);
        }
    } while (seen < j->n);
    size_t found = bly_filter_contains_many(j->f, j->keys->keys + j->first, j->n, NULL);
    j->missed += j->n - found;
    return NULL;
}

static bly_filter *shared_filter(const blyt_case *c, bly_sharing sharing, uint64_t n) {
    bly_spec spec = blyt_spec(c, n, 0.001);
    bly_filter *f = NULL;
    spec.sharing = sharing;
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(bly_filter_sharing(f), sharing);
    return f;
}

/* Each writer adds its own part of the keys, while readers look up those that were added: no key is
 * missed, and the result equals bit for bit that of a single thread. */
static void disjoint_adds(const blyt_case *c, bly_sharing sharing) {
    size_t n = THREADS * PER_THREAD;
    bly_filter *f = shared_filter(c, sharing, n), *alone = blyt_create(c, n, 0.001, 0);
    blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, n);
    _Atomic size_t done[THREADS];
    job jobs[2 * THREADS] = {0};
    pthread_t threads[2 * THREADS];
    for (size_t i = 0; i < 2 * THREADS; i++) {
        size_t part = i % THREADS;
        if (i < THREADS)
            atomic_init(&done[i], 0);
        jobs[i] = (job){.f = f, .keys = &l, .first = part * PER_THREAD, .n = PER_THREAD};
        jobs[i].done = &done[part];
    }
    for (size_t i = 0; i < 2 * THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, i < THREADS ? add_part : read_part, &jobs[i]), 0);
    size_t fresh = 0, missed = 0;
    for (size_t i = 0; i < 2 * THREADS; i++) {
        pthread_join(threads[i], NULL);
        fresh += jobs[i].fresh;
        missed += jobs[i].missed;
    }
    assert_int_equal(missed, 0);
    blyt_add_all(alone, &l);
    assert_true(bly_filter_equal(f, alone));
    assert_int_equal(bly_filter_count(f), fresh);
    assert_true(fresh > n - n / 200 && fresh <= n);
    blyt_list_free(&l);
    bly_filter_destroy(f);
    bly_filter_destroy(alone);
}

static void writers_and_readers(void **state) {
    (void)state;
    FOR_EACH_CASE(c)
    if (blyt_can(c, BLY_CAN_SHARE)) {
        disjoint_adds(c, BLY_SHARED);
        disjoint_adds(c, BLY_SHARED_ONCE);
    }
}

/* While no thread writes, any number of threads may look up keys in a filter of any kind. */
static void many_readers(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        size_t n = PER_THREAD;
        blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, n);
        bly_filter *f = blyt_full(c, 0.001, 0, &l), *copy = NULL;
        _Atomic size_t done = n;
        job jobs[THREADS] = {0};
        pthread_t threads[THREADS];
        bly_filter_info s = {.struct_size = sizeof s};
        size_t found = bly_filter_contains_many(f, l.keys, n, NULL);
        assert_ok(bly_filter_clone(f, NULL, &copy));
        for (size_t i = 0; i < THREADS; i++) {
            jobs[i] = (job){.f = f, .keys = &l, .n = n, .done = &done};
            assert_int_equal(pthread_create(&threads[i], NULL, read_part, &jobs[i]), 0);
        }
        bly_filter_get_info(f, &s);
        for (size_t i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            assert_int_equal(jobs[i].missed, 0);
        }
        assert_int_equal(bly_filter_contains_many(f, l.keys, n, NULL), found);
        assert_true(bly_filter_equal(f, copy));
        blyt_list_free(&l);
        bly_filter_destroy(f);
        bly_filter_destroy(copy);
    }
}

/* Adds the same keys as all other threads, in the same order, beginning at the same time, which
 * causes the closest races. */
static void *add_same(void *arg) {
    job *j = arg;
    bly_batch_result tally;
    pthread_barrier_wait(j->start);
    for (size_t i = 0; i < j->n; i++) {
        bool added;
        bly_bytes k = j->keys->keys[i];
        if (i % 2 == 0) {
            if (bly_filter_add(j->f, k.data, k.size, &added) != BLY_OK)
                abort();
            j->added[i] = added;
        } else if (bly_filter_add_many(j->f, j->keys->keys + i, 1, j->added + i, &tally) !=
                   BLY_OK) {
            abort();
        }
    }
    return NULL;
}

static void same_keys(const blyt_case *c, bly_sharing sharing, size_t *several) {
    size_t n = 20000 / BLYT_SLOW;
    bly_filter *f = shared_filter(c, sharing, n), *alone = blyt_create(c, n, 0.001, 0);
    blyt_list l = blyt_list_of(KEYS_RANDOM, 0, n);
    job jobs[THREADS] = {0};
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        jobs[i] = (job){.f = f, .keys = &l, .n = n, .added = calloc(n, 1), .start = &start};
        assert_int_equal(pthread_create(&threads[i], NULL, add_same, &jobs[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    size_t nobody = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned winners = 0;
        for (size_t t = 0; t < THREADS; t++)
            winners += jobs[t].added[i];
        nobody += winners == 0;
        *several += winners > 1;
    }
    blyt_add_all(alone, &l);
    assert_true(bly_filter_equal(f, alone));
    assert_true(nobody <= n / 200); /* keys that were false positives */
    for (size_t i = 0; i < THREADS; i++)
        free(jobs[i].added);
    blyt_list_free(&l);
    bly_filter_destroy(f);
    bly_filter_destroy(alone);
}

static void at_least_one_winner(void **state) {
    size_t several = 0;
    (void)state;
    FOR_EACH_CASE(c)
    if (blyt_can(c, BLY_CAN_SHARE))
        same_keys(c, BLY_SHARED, &several);
    print_message("           %zu keys had several winners in shared mode\n", several);
}

static void exactly_one_winner(void **state) {
    size_t several = 0;
    (void)state;
    for (int round = 0; round < 5; round++)
        FOR_EACH_CASE(c)
    if (blyt_can(c, BLY_CAN_SHARE))
        same_keys(c, BLY_SHARED_ONCE, &several);
    assert_int_equal(several, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_and_readers),
        cmocka_unit_test(many_readers),
        cmocka_unit_test(at_least_one_winner),
        cmocka_unit_test(exactly_one_winner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
