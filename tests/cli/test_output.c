/* test_output.c - output files appear only when they are complete; readers may close the pipe. */
#include "store_support.h"

#include "io/interrupt.h"
#include "io/output.h"

#include <bloomery/host/files.h>
#include <errno.h>

/* ---- a temporary file that cannot be removed ------------------------------------------------- */

static int unlinks_to_fail;

int __real_unlinkat(int dir, const char *path, int flags);
int __wrap_unlinkat(int dir, const char *path, int flags);
int __wrap_unlinkat(int dir, const char *path, int flags) {
    if (unlinks_to_fail == 0)
        return __real_unlinkat(dir, path, flags);
    unlinks_to_fail--;
    errno = EPERM;
    return -1;
}

static void test_temporary_stays(void **state) {
    (void)state;
    output o;
    assert_true(output_open(&o, at("f"), false));
    char *temp = strdup(bly_file_writer_path(o.file));
    assert_non_null(temp);
    assert_true(output_put(&o, "text", 4));
    unlinks_to_fail = 1;
    assert_true(output_commit(&o));
    assert_int_equal(unlinks_to_fail, 0); /* the removal was attempted */
    output_close(&o);
    assert_file_is(at("f"), (blyt_buffer){(uint8_t *)(uintptr_t) "text", 4});
    assert_int_equal(access(temp, F_OK), 0);
    assert_int_equal(unlink(temp), 0);
    free(temp);
}

/* ---- a reader that has gone ------------------------------------------------------------------ */

/* Writes to standard output, which is a pipe whose reader is closed. */
static void test_reader_gone(void **state) {
    (void)state;
    output o;
    int ends[2], kept = dup(STDOUT_FILENO);
    assert_true(kept >= 0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(close(ends[0]), 0);
    interrupt_watch_pipe();
    (void)fflush(stdout);
    assert_true(dup2(ends[1], STDOUT_FILENO) >= 0);
    bool before = interrupt_seen() || interrupt_reader_gone();
    bool opened = output_open(&o, NULL, false), put = output_put(&o, "text", 4);
    bool flushed = output_flush(&o), again = output_put(&o, "text", 4) && output_flush(&o);
    output_close(&o);
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    (void)close(kept);
    (void)close(ends[1]);
    assert_false(before);
    assert_true(opened && put);
    assert_false(flushed || again);
    assert_true(interrupt_seen() && interrupt_reader_gone());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_temporary_stays),
        cmocka_unit_test(test_reader_gone), /* last: its flag cannot be cleared */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
