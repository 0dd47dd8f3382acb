/* test_files.c - saving, loading and mapping filters: which files are accepted, what remains when a
 * save fails or is killed, and what other processes see. */
#include "store_support.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { NOBODY = 65534 };

/* ---- files ----------------------------------------------------------------------------------- */

static void test_load_wants_a_regular_file(void **state) {
    (void)state;
    bly_filter *f;
    bly_map *map;
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    const struct {
        const char *path;
        int error;
    } bad[] = {
        {scratch, EISDIR}, {at("pipe"), EINVAL}, {"/dev/null", EINVAL}, {at("none"), ENOENT}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        errno = 0;
        assert_int_equal(bly_filter_load(bad[i].path, NULL, &f), BLY_EIO);
        assert_int_equal(errno, bad[i].error);
        assert_null(f);
        errno = 0;
        assert_int_equal(bly_map_open(bad[i].path, NULL, &map), BLY_EIO);
        assert_int_equal(errno, bad[i].error);
        assert_null(map);
    }
}

/* An allocator that truncates the file whose path is `ctx` before it allocates. */
static void *cutting_alloc(void *ctx, size_t size) {
    return truncate(ctx, HEADER + 1) == 0 ? calloc(1, size) : NULL;
}

static void cutting_free(void *ctx, void *ptr) {
    (void)ctx;
    free(ptr);
}

static void test_file_that_shrinks_while_read(void **state) {
    (void)state;
    bly_filter *f = filled(shape_at(0), NULL, 40), *g;
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s", at("a.bly"));
    assert_ok(bly_filter_save(f, path));
    bly_allocator a = {cutting_alloc, cutting_free, path};
    const bly_open_options o = {.struct_size = sizeof o, .allocator = &a};
    assert_int_equal(bly_filter_load(path, &o, &g), BLY_ECORRUPT);
    assert_null(g);
    bly_filter_destroy(f);
}

static mode_t mode_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void test_save_keeps_the_mode(void **state) {
    (void)state;
    bly_filter *f = filled(shape_at(0), NULL, 40);
    mode_t old = umask(027);
    assert_ok(bly_filter_save(f, at("a.bly")));
    assert_int_equal(mode_of(at("a.bly")), 0640);
    assert_int_equal(chmod(at("a.bly"), 0604), 0);
    assert_ok(bly_filter_save(f, at("a.bly")));
    assert_int_equal(mode_of(at("a.bly")), 0604);
    (void)umask(old);
    bly_filter_destroy(f);
}

static void test_save_follows_links(void **state) {
    (void)state;
    bly_filter *f = filled(shape_at(0), NULL, 40);
    blyt_buffer im = blyt_write(f);
    struct stat st;
    assert_int_equal(mkdir(at("sub"), 0755), 0);
    /* The target is relative to the link. */
    assert_int_equal(symlink("sub/second", at("first")), 0);
    assert_int_equal(symlink("../real.bly", at("sub/second")), 0);
    for (int turn = 0; turn < 2; turn++) { /* first a dangling link, then one to a file */
        assert_ok(bly_filter_save(f, at("first")));
        assert_file_is(at("real.bly"), im);
        assert_int_equal(lstat(at("first"), &st), 0);
        assert_true(S_ISLNK(st.st_mode));
        assert_int_equal(lstat(at("sub/second"), &st), 0);
        assert_true(S_ISLNK(st.st_mode));
    }
    assert_int_equal(symlink(at("real.bly"), at("absolute")), 0);
    assert_ok(bly_filter_save(f, at("absolute")));
    assert_int_equal(lstat(at("absolute"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(symlink("loop", at("loop")), 0);
    assert_int_equal(bly_filter_save(f, at("loop")), BLY_EIO);
    assert_int_equal(errno, ELOOP);
    assert_int_equal(entries(at("sub"), ".tmp"), 0);
    free(im.data);
    bly_filter_destroy(f);
}

static void test_save_to_any_name(void **state) {
    (void)state;
    bly_filter *f = filled(shape_at(0), NULL, 40);
    blyt_buffer im = blyt_write(f);
    char here[PATH_MAX], name[256], path[PATH_MAX];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(scratch), 0);
    assert_ok(bly_filter_save(f, "plain")); /* no slash */
    assert_file_is("plain", im);
    memset(name, 'n', 255);
    name[255] = '\0';
    assert_ok(bly_filter_save(f, name)); /* the longest possible name */
    assert_file_is(name, im);
    memset(name, '\xbc', 255); /* the temporary name cannot be cut between characters */
    assert_ok(bly_filter_save(f, name));
    /* The path is so long that the path of the temporary file would be too long. */
    memset(path, 0, sizeof path);
    memset(name, 'd', 200);
    name[200] = '\0';
    for (int i = 0; i < 20; i++) {
        strcat(path, name);
        assert_int_equal(mkdir(path, 0755), 0);
        strcat(path, "/");
    }
    size_t used = strlen(path);
    memset(path + used, 'f', PATH_MAX - 1 - used);
    path[PATH_MAX - 1] = '\0';
    assert_ok(bly_filter_save(f, path));
    assert_file_is(path, im);
    path[used] = '\0';
    assert_int_equal(entries(path, ".tmp"), 0);
    assert_int_equal(chdir(here), 0);
    free(im.data);
    bly_filter_destroy(f);
}

static void assert_save_fails(const bly_filter *f, const char *path, int error) {
    errno = 0;
    assert_int_equal(bly_filter_save(f, path), BLY_EIO);
    assert_int_equal(errno, error);
}

static void test_save_refuses_what_is_no_file(void **state) {
    (void)state;
    bly_filter *f = filled(shape_at(0), NULL, 40);
    assert_int_equal(mkdir(at("dir"), 0755), 0);
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    assert_save_fails(f, at("dir"), EISDIR);
    assert_save_fails(f, at("dir/"), EISDIR);
    assert_save_fails(f, at("dir/."), EISDIR);
    assert_save_fails(f, at("dir/.."), EISDIR);
    assert_save_fails(f, "/", EISDIR);
    assert_save_fails(f, "", ENOENT);
    assert_save_fails(f, at("none/file"), ENOENT);
    assert_save_fails(f, at("pipe/file"), ENOTDIR);
    assert_save_fails(f, at("pipe"), EINVAL);
    assert_int_equal(entries(at("dir"), ".tmp"), 0);
    bly_filter_destroy(f);
}

static void test_save_into_unwritable_directory(void **state) {
    (void)state;
    bly_filter *old = filled(shape_at(0), NULL, 40), *new = filled(shape_at(1), NULL, 3);
    blyt_buffer im = blyt_write(old);
    assert_int_equal(mkdir(at("locked"), 0755), 0);
    assert_ok(bly_filter_save(old, at("locked/a.bly")));
    assert_int_equal(chmod(at("locked"), 0555), 0);
    bool root = geteuid() == 0; /* permissions do not apply to root */
    if (!root || seteuid(NOBODY) == 0) {
        assert_save_fails(new, at("locked/a.bly"), EACCES);
        assert_save_fails(new, at("locked/b.bly"), EACCES);
        assert_int_equal(root ? seteuid(0) : 0, 0);
    }
    assert_file_is(at("locked/a.bly"), im);
    assert_int_equal(entries(at("locked"), ".tmp"), 0);
    assert_int_equal(entries(at("locked"), ".bly"), 1);
    assert_int_equal(chmod(at("locked"), 0755), 0);
    free(im.data);
    bly_filter_destroy(old);
    bly_filter_destroy(new);
}

static void test_save_without_room(void **state) {
    (void)state;
    bly_filter *old = filled(shape_at(0), NULL, 40);
    bly_filter *new = filled((bly_geometry){BLY_SBBF, 8, 1 << 16, 0}, NULL, 40);
    blyt_buffer im = blyt_write(old);
    struct rlimit before, small;
    assert_ok(bly_filter_save(old, at("a.bly")));
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (rlim_t limit = 1; limit < 1 << 20; limit *= 7) { /* one short write, then an error */
        small = (struct rlimit){limit, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        errno = 0;
        bly_status status = bly_filter_save(new, at("a.bly"));
        int error = errno;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, BLY_EIO);
        assert_int_equal(error, EFBIG);
        assert_file_is(at("a.bly"), im);
        assert_int_equal(entries(scratch, ".tmp"), 0);
    }
    (void)signal(SIGXFSZ, handler);
    free(im.data);
    bly_filter_destroy(old);
    bly_filter_destroy(new);
}

/* ---- processes ------------------------------------------------------------------------------- */

static void test_saving_leaves_a_map_alone(void **state) {
    (void)state;
    bly_filter *old = filled(shape_at(8), NULL, 40), *new = filled(shape_at(0), NULL, 3), *now;
    bly_map *map;
    assert_ok(bly_filter_save(old, at("a.bly")));
    assert_ok(bly_map_open(at("a.bly"), NULL, &map));
    assert_ok(bly_filter_save(new, at("a.bly")));
    assert_same(bly_map_filter(map), old);
    assert_ok(bly_filter_load(at("a.bly"), NULL, &now));
    assert_same(now, new);
    bly_map_close(map);
    bly_filter_destroy(old);
    bly_filter_destroy(new);
    bly_filter_destroy(now);
}

/* Runs in a child process: maps the file, writes a byte to `tell`, waits for a byte from
 * `wait_for`, and looks up all keys. Returns the exit status. */
static int map_and_ask(const char *path, int tell, int wait_for) {
    bly_map *map;
    char byte = 'm';
    if (bly_map_open(path, NULL, &map) != BLY_OK)
        return 1;
    if (write(tell, &byte, 1) != 1 || read(wait_for, &byte, 1) != 1)
        return 2;
    bool right = true;
    for (int turn = 0; turn < 20; turn++)
        right = right && contains_all(bly_map_filter(map), 1000);
    right = right && !contains_keys(bly_map_filter(map), "other", 0, 1000);
    bly_map_close(map);
    return right ? 0 : 3;
}

static void test_two_processes_share_a_map(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        bly_geometry g = enlarged(shape_at(i));
        if (shape_can(g, BLY_CAN_BUILD))
            g.size = 1000;
        bly_filter *f = filled(g, NULL, 1000);
        int ready[2], go[2], status;
        pid_t child[2];
        char bytes[2];
        assert_ok(bly_filter_save(f, at("a.bly")));
        assert_int_equal(pipe(ready) | pipe(go), 0);
        for (int c = 0; c < 2; c++) {
            child[c] = fork();
            if (child[c] == 0)
                _exit(map_and_ask(at("a.bly"), ready[1], go[0]));
            assert_true(child[c] > 0);
        }
        (void)close(ready[1]);
        for (int c = 0; c < 2; c++)
            assert_int_equal(read(ready[0], bytes, 1), 1);
        assert_int_equal(write(go[1], "go", 2), 2);
        for (int c = 0; c < 2; c++) {
            assert_int_equal(waitpid(child[c], &status, 0), child[c]);
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
        }
        (void)close(ready[0]);
        (void)close(go[0]);
        (void)close(go[1]);
        bly_filter_destroy(f);
    }
}

static void save_for_ever(const bly_filter *a, const bly_filter *b, const char *path, int tell) {
    if (write(tell, "r", 1) != 1)
        return;
    while (bly_filter_save(b, path) == BLY_OK && bly_filter_save(a, path) == BLY_OK)
        continue;
}

static int remove_stale(const char *dir_path) {
    int count = 0;
    DIR *dir = opendir(dir_path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strstr(e->d_name, ".tmp")) {
            assert_int_equal(unlink(at(e->d_name)), 0);
            count++;
        }
    }
    (void)closedir(dir);
    return count;
}

/* Returns the longest time in microseconds before a child is killed: enough for a few saves. */
static unsigned time_to_kill(const bly_filter *f, const char *path) {
    struct timespec from, to;
    (void)clock_gettime(CLOCK_MONOTONIC, &from);
    assert_ok(bly_filter_save(f, path));
    (void)clock_gettime(CLOCK_MONOTONIC, &to);
    double each =
        (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
    return (unsigned)fmin(6000, fmax(4 * each, 500));
}

static void kill_while_saving(bly_filter *a, bly_filter *b, int turns) {
    const char *path = at("a.bly");
    char copy[PATH_MAX], byte;
    int ready[2], status, was_a = 0, was_b = 0;
    unsigned random = 12345;
    (void)snprintf(copy, sizeof copy, "%s", path);
    unsigned most = time_to_kill(b, copy);
    assert_ok(bly_filter_save(a, copy));
    for (int turn = 0; turn < turns; turn++) {
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        if (child == 0) {
            save_for_ever(a, b, copy, ready[1]);
            _exit(1);
        }
        assert_true(child > 0);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        random = random * 1103515245 + 12345;
        const struct timespec nap = {0, random / 65536 % most * 1000};
        (void)nanosleep(&nap, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status)); /* it was killed: no save had failed before */
        (void)close(ready[0]);
        (void)close(ready[1]);
        bly_filter *f;
        assert_ok(bly_filter_load(copy, NULL, &f));
        was_a += bly_filter_equal(f, a);
        was_b += bly_filter_equal(f, b);
        assert_int_equal(was_a + was_b, turn + 1);
        assert_true(remove_stale(scratch) <= 1);
        bly_filter_destroy(f);
    }
    bly_filter_destroy(a);
    bly_filter_destroy(b);
}

static void test_kill_while_saving(void **state) {
    (void)state;
    kill_while_saving(filled((bly_geometry){BLY_SPLIT512, 8, 4096, 0, 0}, NULL, 100),
                      filled((bly_geometry){BLY_CLASSIC, 5, 999999, 0, 0}, NULL, 200), 200);
    for (size_t i = 0; i < shape_count(); i++) {
        bly_geometry g = enlarged(shape_at(i));
        kill_while_saving(filled(g, NULL, 100), filled(g, NULL, 200), 5);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_load_wants_a_regular_file),
        IN_SCRATCH(test_file_that_shrinks_while_read),
        IN_SCRATCH(test_save_keeps_the_mode),
        IN_SCRATCH(test_save_follows_links),
        IN_SCRATCH(test_save_to_any_name),
        IN_SCRATCH(test_save_refuses_what_is_no_file),
        IN_SCRATCH(test_save_into_unwritable_directory),
        IN_SCRATCH(test_save_without_room),
        IN_SCRATCH(test_saving_leaves_a_map_alone),
        IN_SCRATCH(test_two_processes_share_a_map),
        IN_SCRATCH(test_kill_while_saving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
