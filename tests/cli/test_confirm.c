/* test_confirm.c - `dedup --confirm`: fingerprints on disk behind a filter in memory. The answers
 * are those of an exact set, whatever the filter's false positives; across runs; after kills at any
 * moment; and when the disk is full. To settle is to write the fingerprints that wait in memory to
 * the file (confirm_settle). */
#include "store_support.h"

#include "dedup/state_confirm.h"
#include "dedup/state_exact.h"
#include "io/fingerprint_file.h"
#include "io/input.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

/* ---- helpers --------------------------------------------------------------------------------- */

/* The i-th key of the sequence from which all tests take their fingerprints. */
static uint64_t key(uint64_t i) {
    return blyt_next(&i);
}

/* A stream of about as many repeats as new keys. Repeats are of recent keys, of old keys, and
 * within a batch. */
typedef struct stream {
    uint64_t rng, next; /* next: the first key that has not been used yet */
} stream;

static uint64_t draw(stream *s) {
    uint64_t r = blyt_next(&s->rng);
    if (r >> 50 == 0)
        return 0;
    if (s->next == 0 || r & 1)
        return key(s->next++);
    uint64_t back = r >> 8, span = r & 2 ? s->next : r & 4 ? 50 : 5000;
    return key(s->next - 1 - back % (span < s->next ? span : s->next));
}

static void settle_if_due(confirm *c) {
    if (confirm_is_due(c))
        assert_true(confirm_settle(c));
}

/* Adds the same keys to c and to the exact set e, in batches of varying sizes, and checks that the
 * answers are equal. */
static void compare_with_exact(confirm *c, fingerprint_set *e, stream *s, size_t n) {
    uint64_t batch[INPUT_BATCH];
    uint8_t a[INPUT_BATCH], b[INPUT_BATCH];
    while (n > 0) {
        size_t size = blyt_next(&s->rng) % 8 ? INPUT_BATCH : blyt_next(&s->rng) % INPUT_BATCH;
        size = size < n ? size : n;
        for (size_t i = 0; i < size; i++)
            batch[i] = draw(s);
        memset(a, 7, sizeof a);
        assert_ok(confirm_add(c, batch, size, a));
        assert_ok(fingerprint_set_add(e, batch, size, b));
        assert_memory_equal(a, b, size);
        assert_int_equal(confirm_count(c), fingerprint_set_count(e));
        settle_if_due(c);
        n -= size;
    }
}

static confirm *opened(const char *name, uint64_t expected, double fpr) {
    confirm *c = confirm_open(at(name), expected, fpr);
    assert_non_null(c);
    return c;
}

static void add_keys_from(confirm *c, uint64_t from, uint64_t to, uint8_t want) {
    uint64_t batch[INPUT_BATCH];
    uint8_t fresh[INPUT_BATCH];
    while (from < to) {
        size_t n = to - from < INPUT_BATCH ? (size_t)(to - from) : INPUT_BATCH;
        for (size_t i = 0; i < n; i++)
            batch[i] = key(from + i);
        assert_ok(confirm_add(c, batch, n, fresh));
        for (size_t i = 0; i < n; i++)
            assert_int_equal(fresh[i], want);
        from += n;
    }
}

static bly_status collect(void *ctx, const uint64_t *x, size_t n) {
    return fingerprint_set_add(ctx, x, n, NULL);
}

/* Returns the fingerprints in the file, except 0, by a scan of all its pages; NULL if the file is
 * damaged. */
static fingerprint_set *content(const char *name) {
    pages p;
    if (!pages_open(&p, at(name)))
        return NULL;
    bool good = pages_scan(&p, NULL, NULL);
    fingerprint_set *e = fingerprint_set_create(p.count + 1, 0);
    assert_non_null(e);
    good = good && pages_scan(&p, collect, e);
    assert_int_equal(fingerprint_set_count(e) + p.shape.zero, p.count); /* no repeats */
    pages_close(&p);
    if (!good) {
        fingerprint_set_destroy(e);
        e = NULL;
    }
    return e;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void test_as_exact_with_a_bad_filter(void **state) {
    (void)state;
    size_t n = 700000 / BLYT_SLOW; /* half of them are new; they are settled once, when 2^18 wait */
    stream s = {1, 0};
    confirm *c = opened("f", n / 2, 0.3);
    fingerprint_set *e = fingerprint_set_create(0, 0);
    compare_with_exact(c, e, &s, n);
    /* At the end, about 30% of the new keys are false positives of the filter; at first, fewer. */
    assert_true(confirm_saved(c) > n / 2 / 50);
    assert_true(confirm_saved(c) < n / 2 * 3 / 10);
    assert_true(confirm_lookups(c) >= confirm_saved(c));
    fingerprint_set_destroy(e);
    confirm_close(c);
}

/* If the filter is planned for too few keys, answers stay right; only more fingerprints are looked
 * up. After each part all are settled, so the next lookups read the file. */
static void test_as_exact_when_more_come(void **state) {
    (void)state;
    for (uint64_t expected = 0; expected <= 100; expected += 100) {
        stream s = {2 + expected, 0};
        fingerprint_set *e = fingerprint_set_create(0, 0);
        confirm *c = opened(expected ? "f" : "g", expected, 0.01);
        for (int part = 0; part < 4; part++) {
            compare_with_exact(c, e, &s, 50000 / BLYT_SLOW);
            assert_true(confirm_settle(c));
        }
        confirm_close(c);
        fingerprint_set_destroy(e);
    }
}

/* Fingerprint 0 is added while it is a false positive of the filter. In tables and pages, 0 marks
 * an empty slot, so this fingerprint is a special case. */
static void test_zero(void **state) {
    (void)state;
    const uint64_t zero = 0;
    uint64_t saved = 0;
    for (uint64_t i = 0; i < 8; i++) {
        uint8_t fresh = 7;
        confirm *c = opened("f", 1000, 0.9);
        add_keys_from(c, 1000 * i, 1000 * i + 1000, 1);
        uint64_t before = confirm_saved(c);
        assert_ok(confirm_add(c, &zero, 1, &fresh));
        assert_int_equal(fresh, 1);
        saved += confirm_saved(c) - before;
        for (int again = 0; again < 2; again++) {
            assert_ok(confirm_add(c, &zero, 1, &fresh));
            assert_int_equal(fresh, 0);
            assert_true(confirm_settle(c));
        }
        confirm_close(c);
        c = opened("f", 1000, 0.9);
        assert_int_equal(confirm_count(c), 1001);
        assert_ok(confirm_add(c, &zero, 1, &fresh));
        assert_int_equal(fresh, 0);
        confirm_close(c);
        assert_int_equal(unlink(at("f")), 0);
    }
    assert_true(saved > 0);
}

static void test_goes_on_where_it_was(void **state) {
    (void)state;
    size_t n = 100000 / BLYT_SLOW;
    stream s = {4, 0};
    fingerprint_set *e = fingerprint_set_create(0, 0);
    uint64_t seed = 0;
    for (int run = 0; run < 4; run++) {
        confirm *c = opened("f", run % 2 ? 0 : 1000, 0.1);
        assert_int_equal(confirm_count(c), fingerprint_set_count(e));
        if (run > 0)
            assert_int_equal(confirm_hasher(c)->seed, seed);
        seed = confirm_hasher(c)->seed;
        assert_int_equal(confirm_hasher(c)->id, BLY_HASH_XXH3);
        compare_with_exact(c, e, &s, n);
        assert_true(confirm_settle(c));
        assert_true(confirm_settle(c)); /* nothing to do */
        assert_int_equal(confirm_count(c), fingerprint_set_count(e));
        confirm_close(c);
    }
    fingerprint_set_destroy(e);
}

static void test_unsettled_is_forgotten(void **state) {
    (void)state;
    confirm *c = opened("f", 0, 0.01);
    add_keys_from(c, 0, 1000, 1);
    assert_true(confirm_settle(c));
    add_keys_from(c, 500, 1000, 0);
    add_keys_from(c, 1000, 3000, 1);
    add_keys_from(c, 0, 3000, 0);
    confirm_close(c);
    confirm_close(NULL);
    c = opened("f", 0, 0.01);
    assert_int_equal(confirm_count(c), 1000);
    add_keys_from(c, 0, 1000, 0);
    add_keys_from(c, 1000, 3000, 1);
    confirm_close(c);
}

/* --exact can use the same file, and --confirm can use a file of --exact. */
static void test_shares_its_format(void **state) {
    (void)state;
    const uint64_t x = key(2000);
    exact_file f;
    confirm *c = opened("f", 0, 0.01);
    add_keys_from(c, 0, 2000, 1);
    assert_true(confirm_settle(c));
    uint64_t want = confirm_hasher(c)->seed;
    confirm_close(c);
    assert_true(exact_file_open(&f, at("f"), 0, 0));
    assert_int_equal(f.pages.shape.seed, want);
    assert_int_equal(fingerprint_set_count(f.set), 2000);
    assert_ok(fingerprint_set_add(f.set, &x, 1, NULL));
    assert_true(exact_file_save(&f));
    assert_null(confirm_open(at("f"), 0, 0.01)); /* still in use */
    exact_file_close(&f);
    c = opened("f", 0, 0.01);
    assert_int_equal(confirm_hasher(c)->seed, want);
    add_keys_from(c, 0, 2001, 0);
    confirm_close(c);
}

static void test_memory_is_bounded(void **state) {
    (void)state;
    confirm *c = opened("f", 1000000, 0.01);
    uint64_t before = confirm_bytes(c);
    assert_true(before > 1000000 && before < 14000000);
    for (uint64_t i = 0; i < 1000000; i += 4000) {
        add_keys_from(c, i, i + 4000, 1);
        settle_if_due(c);
    }
    assert_int_equal(confirm_bytes(c), before);
    assert_int_equal(confirm_count(c), 1000000);
    confirm_close(c);
}

static void test_refusals(void **state) {
    (void)state;
    confirm *c = opened("f", 0, 0.01);
    assert_null(confirm_open(at("f"), 0, 0.01)); /* locked */
    add_keys_from(c, 0, 5000, 1);
    assert_true(confirm_settle(c)); /* rewritten, and locked again */
    assert_null(confirm_open(at("f"), 0, 0.01));
    confirm_close(c);
    assert_null(confirm_open(at("none/f"), 0, 0.01));
    assert_null(confirm_open(at("g"), 0, 2));
    assert_null(confirm_open(at("g"), (uint64_t)1 << 60, 0.01));
    assert_int_equal(access(at("g"), F_OK), -1);
    assert_int_equal(truncate(at("f"), 5000), 0);
    assert_null(confirm_open(at("f"), 0, 0.01));
}

/* ---- kills ----------------------------------------------------------------------------------- */

/* In the process that will be killed: the write or rename at which it is killed, and how many
 * quarters of that write are done first. Only whole pages are written, because a kill stops a write
 * between two pages. */
static struct {
    long calls; /* calls before the fatal one; -1: no call is fatal */
    unsigned quarters;
} fatal = {-1, 0};

static bool is_fatal(void) {
    return fatal.calls >= 0 && fatal.calls-- == 0;
}

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size) {
    size_t part = fatal.quarters < 4 ? size * fatal.quarters / 4 / PAGE * PAGE : size;
    if (is_fatal() && __real_write(fd, data, part) >= 0)
        (void)raise(SIGKILL);
    return __real_write(fd, data, size);
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t at);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t at) {
    return lseek(fd, at, SEEK_SET) == at ? __wrap_write(fd, data, size) : -1;
}

/* The name of pwrite on systems where 64-bit offsets must be requested. */
ssize_t __wrap_pwrite64(int fd, const void *data, size_t size, off_t at)
    __attribute__((alias("__wrap_pwrite")));

int __real_renameat(int from, const char *old_name, int to, const char *new_name);
int __wrap_renameat(int from, const char *old_name, int to, const char *new_name);
int __wrap_renameat(int from, const char *old_name, int to, const char *new_name) {
    bool last = is_fatal();
    int result = last && fatal.quarters < 2 ? 0 : __real_renameat(from, old_name, to, new_name);
    if (last)
        (void)raise(SIGKILL);
    return result;
}

/* Shared memory in which the process that will be killed reports to its parent. */
typedef struct told {
    _Atomic bool open;        /* the file has been opened */
    _Atomic uint64_t handed;  /* keys 0 to handed - 1 have been settled, or are being settled */
    _Atomic uint64_t settled; /* keys 0 to settled - 1 have been settled */
    _Atomic uint64_t settles; /* number of completed calls of confirm_settle */
} told;

/* Adds batches of at most `most` keys, and settles each, until the process is killed. */
static void settle_for_ever(const char *path, told *t, uint64_t rng, size_t most) {
    uint64_t batch[INPUT_BATCH], next = t->handed;
    uint8_t fresh[INPUT_BATCH];
    confirm *c = confirm_open(path, 0, 0.05);
    t->open = true;
    while (c) {
        size_t n = 1 + blyt_next(&rng) % most;
        for (size_t i = 0; i < n; i++)
            batch[i] = key(next + i);
        next += n;
        t->handed = next;
        if (confirm_add(c, batch, n, fresh) != BLY_OK || !confirm_settle(c))
            break;
        t->settled = next;
        t->settles++;
    }
    _exit(1);
}

static void remove_temporaries(void) {
    DIR *dir = opendir(scratch);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        if (strstr(e->d_name, ".tmp"))
            assert_int_equal(unlinkat(dirfd(dir), e->d_name, 0), 0);
    (void)closedir(dir);
}

static void sleep_for(long nanoseconds) {
    (void)nanosleep(&(struct timespec){0, nanoseconds}, NULL);
}

/* Kills the child after the given time. If `wait`, the time begins when the child has opened the
 * file and settled `settles` times. */
static void kill_after(pid_t child, const told *t, bool wait, uint64_t settles, long nanoseconds) {
    for (int tries = 0; wait && (!t->open || t->settles < settles) && tries < 1000000; tries++)
        sleep_for(50000);
    sleep_for(nanoseconds);
    assert_int_equal(kill(child, SIGKILL), 0);
}

/* Checks after a kill that the file can be opened, has all settled keys, and has no key that the
 * child never added. Adding a key must report it as new exactly if the file lacks it. Looks up all
 * keys from number `doubtful` on, but only one in 16 of the earlier ones, because each lookup reads
 * the file. Then settles all keys, for the next round. */
static void look_after_a_kill(told *t, uint64_t doubtful) {
    uint64_t handed = t->handed, settled = t->settled, inside = 0, batch[1000];
    uint8_t fresh[1000];
    size_t n = 0;
    fingerprint_set *e = content("f");
    assert_non_null(e);
    confirm *c = opened("f", 0, 0.05);
    for (uint64_t i = 0; i < handed; i++) {
        bool has = fingerprint_set_contains(e, key(i));
        assert_true(has || i >= settled);
        inside += has;
        if (i >= doubtful || i % 16 == 0)
            batch[n++] = key(i);
        if (n < COUNT_OF(batch) && i + 1 < handed)
            continue;
        assert_ok(confirm_add(c, batch, n, fresh));
        for (size_t k = 0; k < n; k++)
            assert_int_equal(fresh[k], !fingerprint_set_contains(e, batch[k]));
        n = 0;
    }
    assert_int_equal(inside, fingerprint_set_count(e));
    assert_true(confirm_settle(c));
    t->settled = handed;
    confirm_close(c);
    fingerprint_set_destroy(e);
}

enum { LARGE = 40000 }; /* keys: 128 pages, twice as many as are read at once */

/* Starts again with a small file, which doubles often, or a large one, where writing pages takes
 * most of the time. */
static void begin_anew(told *t, bool large) {
    (void)unlink(at("f"));
    t->handed = t->settled = 0;
    if (!large)
        return;
    confirm *c = opened("f", 0, 0.05);
    t->handed = t->settled = LARGE;
    add_keys_from(c, 0, t->handed, 1);
    assert_true(confirm_settle(c));
    confirm_close(c);
}

/* In every other round, the parent kills the child after a random time; in the others, the child
 * kills itself in the middle of a write or rename. */
static void test_killed(void **state) {
    (void)state;
    /* In nanoseconds: slightly more than the child needs to open the file, and to settle once. */
    const uint64_t opens = 8000000 * (BLYT_SLOW > 1 ? 5 : 1), settles = opens / 4;
    uint64_t rng = 9;
    char path[PATH_MAX];
    told *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(t != MAP_FAILED);
    (void)snprintf(path, sizeof path, "%s", at("f"));
    for (int round = 0; round < (blyt_large() ? 60 : 36); round++) {
        bool large = round / 10 % 2;
        if (round % 10 % (large ? 10 : 3) == 0)
            begin_anew(t, large);
        uint64_t seed = blyt_next(&rng), r = blyt_next(&rng), doubtful = t->settled;
        bool wait = round % 4 != 0, by_itself = round % 2;
        int status;
        t->open = false;
        t->settles = 0;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            fatal.calls = by_itself ? (long)(r % 16) : -1;
            fatal.quarters = (unsigned)(r >> 8) % 5;
            settle_for_ever(path, t, seed, large ? 300 : INPUT_BATCH);
        }
        if (!by_itself)
            kill_after(child, t, wait, r % 2, (long)((r >> 8) % (wait ? settles : opens)));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        remove_temporaries();
        look_after_a_kill(t, doubtful);
    }
    assert_true(t->settled > LARGE);
    (void)munmap(t, sizeof *t);
}

/* ---- several processes ----------------------------------------------------------------------- */

enum { PROCESSES = 4, TURNS = 5 };

/* Adds some keys, one at a time: waits until no other process has the file open, adds the key, and
 * closes the file. In between, other processes often replace the file. */
static void take_turns(const char *path, uint64_t first) {
    uint8_t fresh;
    exact_file f;
    if (dup2(open("/dev/null", O_WRONLY), 2) != 2)
        _exit(1);
    for (uint64_t i = first; i < first + TURNS; i++) {
        uint64_t x = key(i);
        while (!exact_file_open(&f, path, 0, 0))
            sleep_for(20000);
        if (fingerprint_set_add(f.set, &x, 1, &fresh) != BLY_OK || !fresh || !exact_file_save(&f))
            _exit(2);
        exact_file_close(&f);
    }
    _exit(0);
}

static void test_turns(void **state) {
    (void)state;
    for (int file = 0; file < (blyt_large() ? 8 : 4); file++) {
        pid_t children[PROCESSES];
        char path[PATH_MAX];
        (void)snprintf(path, sizeof path, "%s", at("f"));
        for (uint64_t i = 0; i < PROCESSES; i++) {
            children[i] = fork();
            assert_true(children[i] >= 0);
            if (children[i] == 0)
                take_turns(path, i * TURNS);
        }
        for (int i = 0; i < PROCESSES; i++) {
            int status;
            assert_int_equal(waitpid(children[i], &status, 0), children[i]);
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
        }
        confirm *c = opened("f", 0, 0.01);
        assert_int_equal(confirm_count(c), PROCESSES * TURNS);
        add_keys_from(c, 0, PROCESSES * TURNS, 0);
        confirm_close(c);
        assert_int_equal(unlink(path), 0);
    }
}

/* ---- a full disk ----------------------------------------------------------------------------- */

static void limit_files(rlim_t bytes) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Checks that the file has the keys 0 to settled - 1, and no others but keys below `to`, not all of
 * them. Returns how many it has. */
static uint64_t assert_partly_written(uint64_t settled, uint64_t to) {
    fingerprint_set *e = content("f");
    uint64_t inside = 0;
    assert_non_null(e);
    for (uint64_t k = 0; k < settled; k++)
        assert_true(fingerprint_set_contains(e, key(k)));
    for (uint64_t k = 0; k < to; k++)
        inside += fingerprint_set_contains(e, key(k));
    assert_int_equal(inside, fingerprint_set_count(e));
    assert_true(inside < to);
    fingerprint_set_destroy(e);
    return inside;
}

static void test_disk_full(void **state) {
    (void)state;
    struct stat st;
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    confirm *c = opened("f", 0, 0.05);
    add_keys_from(c, 0, 3000, 1);
    assert_true(confirm_settle(c));
    assert_int_equal(stat(at("f"), &st), 0);
    /* First, the file cannot double its pages; then, not even the existing pages can be written. */
    const rlim_t limits[] = {(rlim_t)st.st_size + 100, (rlim_t)st.st_size / 2};
    for (int i = 0; i < 2; i++) {
        uint64_t from = i ? 9000 : 3000, to = i ? 9100 : 9000;
        add_keys_from(c, from, to, 1);
        limit_files(limits[i]);
        assert_false(confirm_settle(c));
        assert_false(confirm_settle(c));
        limit_files(RLIM_INFINITY);
        add_keys_from(c, 0, to, 0); /* they are still known */
        confirm_close(c);
        uint64_t inside = assert_partly_written(from, to);
        c = opened("f", 0, 0.05);
        assert_int_equal(confirm_count(c), inside);
        for (uint64_t k = 0; k < to; k += 1000) { /* some are new: all adds succeed */
            uint64_t batch[1000];
            uint8_t fresh[1000];
            for (uint64_t j = 0; j < 1000; j++)
                batch[j] = key(k + j < to ? k + j : 0);
            assert_ok(confirm_add(c, batch, 1000, fresh));
        }
        assert_true(confirm_settle(c));
        assert_int_equal(confirm_count(c), to);
    }
    /* When there is space again, the same open file works. */
    add_keys_from(c, 9100, 20000, 1);
    limit_files(limits[0]);
    assert_false(confirm_settle(c));
    limit_files(RLIM_INFINITY);
    assert_true(confirm_settle(c));
    confirm_close(c);
    c = opened("f", 0, 0.05);
    assert_int_equal(confirm_count(c), 20000);
    add_keys_from(c, 0, 20000, 0);
    confirm_close(c);
}

static void test_disk_full_at_once(void **state) {
    (void)state;
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    limit_files(5000);
    assert_null(confirm_open(at("f"), 0, 0.01));
    limit_files(RLIM_INFINITY);
    assert_int_equal(access(at("f"), F_OK), -1);
}

#define FILED(test) cmocka_unit_test_setup_teardown(test, fresh_scratch, drop_scratch)

int main(void) {
    const struct CMUnitTest tests[] = {
        FILED(test_as_exact_with_a_bad_filter),
        FILED(test_as_exact_when_more_come),
        FILED(test_zero),
        FILED(test_goes_on_where_it_was),
        FILED(test_unsettled_is_forgotten),
        FILED(test_shares_its_format),
        FILED(test_memory_is_bounded),
        FILED(test_refusals),
        FILED(test_killed),
        FILED(test_turns),
        FILED(test_disk_full),
        FILED(test_disk_full_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
