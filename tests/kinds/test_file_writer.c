/* test_file_writer.c - which symbolic links a save follows, the owner of the result, temporary
 * files of killed writers, and filters that change while they are saved. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "store_support.h"

#include "base/temp_file.h"
#include <bloomery/host/files.h>
#include <errno.h>
#include <sys/file.h>
#include <time.h>

enum { NOBODY = 65534, OTHER_GROUP = 54321, OLD = 3600, YOUNG = 300 };

/* ---- a filter that changes ------------------------------------------------------------------- */

/* If not NULL: a filter that gets more keys before the write that follows `writes_before` other
 * writes. */
static bly_filter *changes;
static int writes_before;

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size) {
    if (changes && writes_before-- == 0) {
        for (int i = 0; i < 100; i++)
            (void)!bly_filter_add(changes, &i, sizeof i, NULL);
        changes = NULL;
    }
    return __real_write(fd, data, size);
}

/* The filter changes between the writes of its header and its body, which then do not fit: the save
 * fails, and the old file stays. */
static void test_filter_that_changes(void **state) {
    (void)state;
    for (size_t i = 0; i < shape_count(); i++) {
        if (!shape_can(shape_at(i), BLY_CAN_ADD))
            continue;
        bly_filter *f = filled(enlarged(shape_at(i)), NULL, 40), *g;
        blyt_buffer im = blyt_write(f);
        assert_ok(bly_filter_save(f, at("a.bly")));
        changes = f;
        writes_before = 1;
        bly_status status = bly_filter_save(f, at("a.bly"));
        bool changed = !changes;
        changes = NULL;
        assert_true(changed);
        blyt_buffer now = blyt_write(f);
        bool differs = now.size != im.size || memcmp(now.data, im.data, im.size) != 0;
        assert_true(differs);
        if (status != BLY_ECHANGED || entries(scratch, ".tmp") != 0)
            fail_msg("shape %zu: status %d", i, (int)status);
        assert_file_is(at("a.bly"), im);
        assert_ok(bly_filter_save(f, at("a.bly")));
        assert_ok(bly_filter_load(at("a.bly"), NULL, &g));
        bly_filter_destroy(g);
        bly_filter_destroy(f);
        free(im.data);
        free(now.data);
    }
}

int __real_unlink(const char *path);

/* ---- links ----------------------------------------------------------------------------------- */

static void assert_link(const bly_filter *f, const char *path, int error) {
    char *target;
    errno = 0;
    bly_status status = bly_filter_save(f, path);
    assert_int_equal(status, error ? BLY_EIO : BLY_OK);
    assert_int_equal(bly_file_target(path, &target), status);
    if (error)
        assert_int_equal(errno, error);
    free(target);
}

static void test_links_of_others(void **state) {
    (void)state;
    struct stat st;
    if (geteuid() != 0)
        skip(); /* without root, links of other users cannot be made */
    bly_filter *f = filled(shape_at(0), NULL, 40);
    assert_int_equal(mkdir(at("shared"), 0755), 0);
    assert_int_equal(chmod(at("shared"), 01777), 0);
    assert_int_equal(symlink("../secret", at("shared/link")), 0);
    assert_link(f, at("shared/link"), 0); /* our own link */
    assert_int_equal(unlink(at("secret")), 0);
    assert_int_equal(lchown(at("shared/link"), NOBODY, NOBODY), 0);
    assert_link(f, at("shared/link"), EACCES);
    /* Our link to a link of another user. */
    assert_int_equal(symlink("shared/link", at("first")), 0);
    assert_link(f, at("first"), EACCES);
    assert_int_equal(lstat(at("secret"), &st), -1);
    assert_int_equal(entries(scratch, ".tmp") + entries(at("shared"), ".tmp"), 0);

    /* In a directory that is not both sticky and writable by everybody, the link of another user is
     * followed. */
    assert_int_equal(chmod(at("shared"), 01775), 0);
    assert_link(f, at("shared/link"), 0);
    assert_int_equal(chmod(at("shared"), 0777), 0);
    assert_link(f, at("shared/link"), 0);
    assert_int_equal(chmod(at("shared"), 01777) | chown(at("shared"), NOBODY, NOBODY), 0);
    assert_link(f, at("shared/link"), 0);
    bly_filter_destroy(f);
}

static void test_target(void **state) {
    (void)state;
    char *target, here[PATH_MAX];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(scratch), 0);
    assert_int_equal(mkdir("sub", 0755) | symlink("sub/second", "first"), 0);
    assert_int_equal(symlink("../file", "sub/second") | symlink("/nowhere/x", "lost"), 0);
    assert_ok(bly_file_target("first", &target));
    assert_string_equal(target, "sub/../file");
    free(target);
    assert_ok(bly_file_target("file", &target));
    assert_string_equal(target, "file");
    free(target);
    assert_int_equal(bly_file_target("lost", &target), BLY_EIO);
    assert_int_equal(errno, ENOENT);
    assert_null(target);
    assert_int_equal(chdir(here), 0);
}

/* ---- owner, group, permissions --------------------------------------------------------------- */

static void assert_owner(const char *path, uid_t user, gid_t group, mode_t mode) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_uid, user);
    assert_int_equal(st.st_gid, group);
    assert_int_equal(st.st_mode & 07777, mode);
}

static void test_owner_is_kept(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip(); /* without root, files of other users cannot be made */
    bly_filter *f = filled(shape_at(0), NULL, 40);
    assert_ok(bly_filter_save(f, at("a.bly")));
    assert_int_equal(chown(at("a.bly"), NOBODY, OTHER_GROUP) | chmod(at("a.bly"), 0640), 0);
    assert_ok(bly_filter_save(f, at("a.bly")));
    assert_owner(at("a.bly"), NOBODY, OTHER_GROUP, 0640);
    assert_int_equal(chmod(at("a.bly"), 06755), 0);
    /* The set-user-ID and set-group-ID bits are not kept: nobody runs a data file. */
    assert_ok(bly_filter_save(f, at("a.bly")));
    assert_owner(at("a.bly"), NOBODY, OTHER_GROUP, 0755);
    bly_filter_destroy(f);
}

static void test_planted_file(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip(); /* without root, files of other users cannot be made */
    bly_filter *f = filled(shape_at(0), NULL, 40);
    mode_t mask = umask(027);
    assert_int_equal(mkdir(at("shared"), 0755) | chmod(at("shared"), 01777), 0);
    assert_ok(bly_filter_save(f, at("shared/a.bly")));
    assert_int_equal(chmod(at("shared/a.bly"), 0666), 0);
    assert_int_equal(chown(at("shared/a.bly"), NOBODY, OTHER_GROUP), 0);
    assert_ok(bly_filter_save(f, at("shared/a.bly")));
    assert_owner(at("shared/a.bly"), 0, getegid(), 0640);
    (void)umask(mask);
    bly_filter_destroy(f);
}

static void test_group_that_cannot_be_kept(void **state) {
    (void)state;
    static const mode_t modes[][2] = {{0660, 0600}, {0640, 0600}, {0664, 0644},
                                      {0644, 0644}, {0604, 0600}, {0666, 0666}};
    const gid_t group = getegid();
    if (geteuid() != 0)
        skip(); /* without root, files of other users cannot be made */
    bly_filter *f = filled(shape_at(0), NULL, 40);
    assert_int_equal(chmod(scratch, 0777), 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_ok(bly_filter_save(f, at("a.bly")));
        assert_int_equal(chown(at("a.bly"), 0, OTHER_GROUP) | chmod(at("a.bly"), modes[i][0]), 0);
        assert_int_equal(seteuid(NOBODY), 0);
        bly_status status = bly_filter_save(f, at("a.bly"));
        assert_int_equal(seteuid(0), 0);
        assert_ok(status);
        assert_owner(at("a.bly"), NOBODY, group, modes[i][1]);
        assert_int_equal(unlink(at("a.bly")), 0);
    }
    bly_filter_destroy(f);
}

/* ---- temporary files of killed writers ------------------------------------------------------- */

static void age(const char *path, time_t seconds) {
    const time_t then = time(NULL) - seconds;
    const struct timespec times[] = {{then, 0}, {then, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

/* Creates a temporary file such as a killed writer leaves, with that name and age. */
static void leave(const char *name, time_t seconds) {
    spill(at(name), "half", 4);
    age(at(name), seconds);
}

static bool there(const char *name) {
    struct stat st;
    return lstat(at(name), &st) == 0;
}

/* Removes the temporary files that a save had to leave in place. */
static void remove_leftovers(void) {
    DIR *dir = opendir(scratch);
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));)
        if (strstr(e->d_name, ".tmp"))
            assert_int_equal(remove(at(e->d_name)), 0);
    (void)closedir(dir);
}

static void test_stale_files_are_removed(void **state) {
    (void)state;
    bly_filter *f = filled(shape_at(0), NULL, 40);
    leave(".a.bly.bloomery-000000.tmp", OLD);
    leave(".a.bly.bloomery-abcxyz.tmp", OLD);
    leave(".a.bly.bloomery-a0b5c3.tmp", YOUNG);
    static const char *const others[] = {
        ".a.bly.bloomery-backups.tmp", ".a.bly.bloomery-back.tmp",
        ".a.bly.bloomery-ABCDEF.tmp",  ".a.bly.bloomery-abcxyz.tmp~",
        ".a.bly.abcxyz.tmp",           ".b.bly.bloomery-abcxyz.tmp",
        "a.bly.bloomery-abcxyz.tmp",   ".a.bly.lock"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        leave(others[i], OLD);
    assert_ok(bly_filter_save(f, at("a.bly")));
    assert_false(there(".a.bly.bloomery-000000.tmp"));
    assert_false(there(".a.bly.bloomery-abcxyz.tmp"));
    assert_true(there(".a.bly.bloomery-a0b5c3.tmp"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(there(others[i]));
    remove_leftovers();
    bly_filter_destroy(f);
}

/* Files whose names fit our pattern, but which must stay. All except the first are old. */
static void test_what_is_not_stale_stays(void **state) {
    (void)state;
    bly_filter *f = filled(shape_at(0), NULL, 40);
    leave(".a.bly.bloomery-000000.tmp", YOUNG); /* taken, so the writer looks for stale files */
    leave(".a.bly.bloomery-locked.tmp", OLD);
    int fd = open(at(".a.bly.bloomery-locked.tmp"), O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(mkdir(at(".a.bly.bloomery-folder.tmp"), 0755), 0);
    assert_int_equal(mkfifo(at(".a.bly.bloomery-pipeaa.tmp"), 0600), 0);
    leave("precious", OLD);
    assert_int_equal(symlink("precious", at(".a.bly.bloomery-linkaa.tmp")), 0);
    static const char *const odd[] = {".a.bly.bloomery-folder.tmp", ".a.bly.bloomery-pipeaa.tmp",
                                      ".a.bly.bloomery-linkaa.tmp"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        age(at(odd[i]), OLD);
    leave(".a.bly.bloomery-theirs.tmp", OLD);
    bool root = geteuid() == 0;
    if (root)
        assert_int_equal(chown(at(".a.bly.bloomery-theirs.tmp"), NOBODY, NOBODY), 0);
    assert_ok(bly_filter_save(f, at("a.bly")));
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_true(there(odd[i]));
    assert_true(there(".a.bly.bloomery-000000.tmp"));
    assert_true(there(".a.bly.bloomery-locked.tmp"));
    assert_true(there("precious"));
    assert_int_equal(there(".a.bly.bloomery-theirs.tmp"), root);

    /* When the lock is released, the next save removes the file. */
    assert_int_equal(close(fd), 0);
    assert_ok(bly_filter_save(f, at("a.bly")));
    assert_false(there(".a.bly.bloomery-locked.tmp"));
    remove_leftovers();
    bly_filter_destroy(f);
}

/* A writer that is in use for an hour keeps its temporary file, whatever other writers do. */
static void test_writer_in_use(void **state) {
    (void)state;
    bly_filter *f = filled(shape_at(0), NULL, 40);
    bly_file_writer *w, *second;
    assert_ok(bly_file_writer_open(at("a.bly"), 0, &w));
    assert_int_equal(__real_write(bly_file_writer_fd(w), "text", 4), 4);
    assert_string_equal(bly_file_writer_path(w), at(".a.bly.bloomery-000000.tmp"));
    age(bly_file_writer_path(w), OLD);
    assert_ok(bly_filter_save(f, at("a.bly")));
    assert_ok(bly_file_writer_open(at("a.bly"), 0, &second));
    bly_file_writer_close(second);
    assert_ok(bly_file_writer_commit(w));
    bly_file_writer_close(w);
    assert_file_is(at("a.bly"), (blyt_buffer){(uint8_t *)(uintptr_t) "text", 4});
    assert_int_equal(entries(scratch, ".tmp"), 0);
    bly_filter_destroy(f);
}

static void test_new_files_only(void **state) {
    (void)state;
    bly_file_writer *w;
    assert_int_equal(bly_file_writer_open(at("a"), 2, &w), BLY_EINVAL);
    assert_null(w);
    assert_ok(bly_file_writer_open(at("a"), BLY_FILE_NEW, &w));
    spill(at("a"), "theirs", 6); /* the file appears after the check */
    assert_int_equal(bly_file_writer_commit(w), BLY_EEXISTS);
    bly_file_writer_close(w);
    assert_int_equal(bly_file_writer_open(at("a"), BLY_FILE_NEW, &w), BLY_EEXISTS);
    assert_null(w);
    assert_file_is(at("a"), (blyt_buffer){(uint8_t *)(uintptr_t) "theirs", 6});
    assert_ok(bly_file_writer_open(at("b"), BLY_FILE_NEW, &w));
    assert_ok(bly_file_writer_commit(w));
    bly_file_writer_close(w);
    assert_true(there("b"));
    assert_int_equal(entries(scratch, ".tmp"), 0);
}

/* The temporary file of a writer was removed, and another writer has created one with the same
 * name. The first must fail, and must not put the second's file in place. */
static void test_temporary_name_taken_over(void **state) {
    (void)state;
    bly_file_writer *first, *second;
    assert_ok(bly_file_writer_open(at("a"), 0, &first));
    assert_int_equal(__real_unlink(bly_file_writer_path(first)), 0);
    assert_ok(bly_file_writer_open(at("a"), 0, &second));
    assert_string_equal(bly_file_writer_path(first), bly_file_writer_path(second));
    errno = 0;
    assert_int_equal(bly_file_writer_commit(first), BLY_EIO);
    assert_int_equal(errno, ENOENT);
    bly_file_writer_close(first);
    assert_false(there("a"));
    assert_ok(bly_file_writer_commit(second));
    bly_file_writer_close(second);
    assert_true(there("a"));
}

/* A file can be saved in a directory in which files can be created, but not listed. */
static void test_directory_that_cannot_be_read(void **state) {
    (void)state;
    bly_filter *f = filled(shape_at(0), NULL, 40);
    assert_int_equal(mkdir(at("drop"), 0755), 0);
    assert_int_equal(chmod(at("drop"), 0333), 0);
    bool root = geteuid() == 0; /* permissions do not apply to root */
    if (root)
        assert_int_equal(chmod(scratch, 0755) | seteuid(NOBODY), 0);
    bly_status status = bly_filter_save(f, at("drop/a.bly"));
    assert_int_equal(root ? seteuid(0) : 0, 0);
    assert_int_equal(chmod(at("drop"), 0755), 0);
    assert_ok(status);
    assert_int_equal(entries(at("drop"), ".tmp"), 0);
    assert_int_equal(entries(at("drop"), ".bly"), 1);
    bly_filter_destroy(f);
}

/* ---- files without a name -------------------------------------------------------------------- */

static bool killed; /* unlink fails, as if the writer had been killed before */

int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path) {
    errno = EPERM;
    return killed ? -1 : __real_unlink(path);
}

static void test_spilled_keys_leave_no_file(void **state) {
    (void)state;
#ifdef O_TMPFILE
    char path[PATH_MAX], byte = 0;
    int fd = open(scratch, O_TMPFILE | O_RDWR, 0600), file;
    if (fd < 0)
        skip(); /* this file system has no unnamed temporary files */
    (void)close(fd);
    (void)snprintf(path, sizeof path, "%s", at("bloomery-XXXXXX"));
    killed = true;
    bly_status status = blyi_temp_file_open(path, &file);
    killed = false;
    assert_ok(status);
    assert_int_equal(entries(scratch, ""), 2); /* "." and ".." */
    assert_ok(blyi_temp_file_write(file, 1000, "x", 1));
    assert_ok(blyi_temp_file_read(file, 1000, &byte, 1));
    assert_int_equal(byte, 'x');
    blyi_temp_file_close(file);
#else
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_filter_that_changes),
        IN_SCRATCH(test_links_of_others),
        IN_SCRATCH(test_target),
        IN_SCRATCH(test_owner_is_kept),
        IN_SCRATCH(test_planted_file),
        IN_SCRATCH(test_group_that_cannot_be_kept),
        IN_SCRATCH(test_stale_files_are_removed),
        IN_SCRATCH(test_what_is_not_stale_stays),
        IN_SCRATCH(test_writer_in_use),
        IN_SCRATCH(test_temporary_name_taken_over),
        IN_SCRATCH(test_new_files_only),
        IN_SCRATCH(test_directory_that_cannot_be_read),
        IN_SCRATCH(test_spilled_keys_leave_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
