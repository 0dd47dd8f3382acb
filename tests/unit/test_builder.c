/* The parts of the builder: hashes are sorted and lose repeats, and tasks are distributed to
 * threads, each exactly once. kinds/test_build.c tests the filters. */
#include "table_support.h"

#include "kinds/builder/builder.h"

#include <errno.h>

/* Returns the hashes from .. from + n - 1 of a stream. */
static bly_hash *hashes(uint64_t from, size_t n) {
    bly_hash *h = malloc((n + 1) * sizeof *h);
    assert_non_null(h);
    for (size_t i = 0; i < n; i++)
        h[i] = hash_at(0, from + i);
    return h;
}

static int compare(const void *a, const void *b) {
    const bly_hash *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return (x->hi > y->hi) - (x->hi < y->hi);
}

/* Sorts n hashes and compares with qsort. The masks lo and hi of their words give repeats, and long
 * common prefixes. */
static void sort_case(size_t n, uint64_t lo, uint64_t hi, unsigned common) {
    bly_hash *h = hashes(n, n), *want = hashes(n, n), *spare = hashes(0, n);
    for (size_t i = 0; i < n; i++) {
        h[i] = (bly_hash){(h[i].lo & lo) >> common, h[i].hi & hi};
        want[i] = h[i];
    }
    qsort(want, n, sizeof *want, compare);
    size_t distinct = n > 0;
    for (size_t i = 1; i < n; i++)
        if (compare(&want[i], &want[distinct - 1]) != 0)
            want[distinct++] = want[i];
    assert_int_equal(blyi_sort_unique(h, n, spare, common), distinct);
    assert_memory_equal(h, want, distinct * sizeof *h);
    free(h);
    free(want);
    free(spare);
}

static void sorting(void **state) {
    const uint64_t all = UINT64_MAX;
    (void)state;
    for (size_t n = 0; n < 200; n++)
        sort_case(n, all, all, 0);
    /* From 24 * 2^12 hashes on, most buckets are divided into smaller ones. */
    sort_case(146164, all, all, 0);
    for (size_t n = 200; n < (blyt_large() ? 300000 : 50000); n = n * 3 + 1) {
        sort_case(n, all, all, 0);
        sort_case(n, all, all, 11);
        sort_case(n, 0, 0, 0);                        /* all hashes are equal */
        sort_case(n, 0, all, 0);                      /* all `lo` are equal */
        sort_case(n, 0xf, all, 0);                    /* low bits only */
        sort_case(n, 0xff, 0xff, 11);                 /* few different hashes, many repeats */
        sort_case(n, UINT64_C(0xff) << 56, all, 0);   /* high bits only */
        sort_case(n, UINT64_C(0xfff) << 30, 0xff, 0); /* bits in the middle only */
    }
}

typedef struct tasks {
    uint8_t done[1000];
    uint64_t fail_at;
    unsigned workers;
} tasks;

static bly_status task(void *ctx, unsigned worker, uint64_t i) {
    tasks *t = ctx;
    assert_true(worker < t->workers);
    t->done[i]++;
    errno = (int)i;
    return i == t->fail_at ? BLY_EIO : BLY_OK;
}

static void workers(void **state) {
    (void)state;
    for (unsigned n = 1; n <= 5; n += 2) {
        tasks t = {.fail_at = UINT64_MAX, .workers = n};
        assert_ok(blyi_run_tasks(n, 1000, task, &t));
        for (int i = 0; i < 1000; i++)
            assert_int_equal(t.done[i], 1);
        t = (tasks){.fail_at = 500, .workers = n};
        errno = 0;
        assert_int_equal(blyi_run_tasks(n, 1000, task, &t), BLY_EIO);
        assert_int_equal(errno, 500);
        assert_true(t.done[500] == 1 && t.done[999] == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorting),
        cmocka_unit_test(workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
