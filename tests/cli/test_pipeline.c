/* The pipeline from files to batches of records: every record is passed on once, in order, whatever
 * the files contain. Reading ends early if a file has errors, memory is lacking, the command stops
 * it, or a signal arrives. */
#include "support.h"

#include "io/interrupt.h"
#include "io/pipeline.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static pipeline lines; /* too large for the stack */

/* ---- files ----------------------------------------------------------------------------------- */

static char folder[] = "/tmp/test_pipeline_XXXXXX";

static char *file_at(const char *name) {
    static char paths[8][64];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static char *file_of(const char *name, const void *data, size_t size) {
    char *path = file_at(name);
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(data, 1, size, to), size);
    assert_int_equal(fclose(to), 0);
    return path;
}

static char *file_of_text(const char *name, const char *text) {
    return file_of(name, text, strlen(text));
}

/* A file of `count` lines "line 0", "line 1" ... */
static char *file_of_lines(const char *name, unsigned count) {
    char *path = file_at(name);
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    for (unsigned i = 0; i < count; i++)
        assert_true(fprintf(to, "line %u\n", i) > 0);
    assert_int_equal(fclose(to), 0);
    return path;
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    char command[80];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command); /* NOLINT(cert-env33-c): the name is ours */
}

/* ---- what a command gets --------------------------------------------------------------------- */

static char taken[1 << 16]; /* the records or keys that `take` was given, each followed by '|' */
static struct {
    bool keys;        /* collect the keys, not the records */
    bool separated;   /* check that each record is followed by its separator */
    unsigned calls;   /* calls of `take` */
    unsigned fail_at; /* the call that fails; 0: none */
    unsigned stop_at; /* the call after which reading stops; 0: none */
    unsigned signal_at;
    uint64_t records;
    uint64_t firsts, lasts; /* sums of lines.first and lines.last */
    const char *last_path;  /* the file of the last batch */
} got;

static bool take(void *ctx, const bly_bytes *records, size_t n) {
    assert_ptr_equal(ctx, &got);
    assert_in_range(n, 1, INPUT_BATCH);
    const bly_bytes *texts = got.keys ? pipeline_keys(&lines, records, n) : records;
    if (!texts)
        return false;
    for (size_t i = 0; i < n; i++) {
        const size_t used = strlen(taken);
        if (used + texts[i].size + 2 < sizeof taken)
            (void)snprintf(taken + used, sizeof taken - used, "%.*s|", (int)texts[i].size,
                           (const char *)texts[i].data);
        if (got.separated)
            assert_int_equal(((const char *)records[i].data)[records[i].size], lines.in.separator);
    }
    got.records += n;
    got.firsts += lines.first;
    got.lasts += lines.last;
    got.last_path = lines.in.path;
    assert_int_equal(lines.count, got.records);
    got.calls++;
    lines.stop = got.calls == got.stop_at;
    if (got.calls == got.signal_at)
        (void)raise(SIGTERM);
    return got.calls != got.fail_at;
}

static void forget(void) {
    memset(&got, 0, sizeof got);
    taken[0] = '\0';
}

/* Opens the pipeline for `count` files. */
static void open_files(const pipeline_options *o, char **files, size_t count) {
    taken[0] = '\0';
    assert_true(pipeline_open(&lines, o, (cli_operands){files, count}));
}

/* Reads all records of the files. Returns them, or their keys, each followed by '|'. */
static const char *all_of(const pipeline_options *o, char **files, size_t count) {
    open_files(o, files, count);
    assert_true(pipeline_run(&lines, take, &got));
    return taken;
}

/* ---- files one after the other --------------------------------------------------------------- */

static void files_come_in_order(void **state) {
    (void)state;
    char *files[] = {file_of_text("a", "one\ntwo\n"), file_of_text("b", ""),
                     file_of_text("c", "three\n\nno newline")};
    forget();
    got.separated = true;
    assert_string_equal(all_of(&(pipeline_options){.keys = NULL}, files, 3),
                        "one|two|three||no newline|");
    assert_false(lines.failed);
    assert_int_equal(lines.count, 5);
    /* A batch has lines of one file, counted from 1. The last line forms a separate batch if it has
     * no newline. */
    assert_int_equal(got.calls, 3);
    assert_int_equal(got.firsts, 1 + 1 + 3);
    assert_int_equal(got.lasts, 2 + 2 + 3);
    assert_string_equal(got.last_path, files[2]);
    pipeline_close(&lines);
}

static void missing_file_is_passed_over(void **state) {
    (void)state;
    char *files[] = {file_of_text("a", "one\n"), file_at("missing"), folder,
                     file_of_text("c", "two\n")};
    forget();
    assert_string_equal(all_of(&(pipeline_options){.keys = NULL}, files, 4), "one|two|");
    assert_true(lines.failed);
    pipeline_close(&lines);
}

static void nothing_is_no_batch(void **state) {
    (void)state;
    char *files[] = {file_of_text("a", "")};
    forget();
    assert_string_equal(all_of(&(pipeline_options){.keys = NULL}, files, 1), "");
    assert_int_equal(got.calls, 0);
    assert_false(lines.failed);
    pipeline_close(&lines);
}

static void more_files_go_on(void **state) {
    (void)state;
    char *first[] = {file_at("missing")}, *second[] = {file_of_text("b", "one\ntwo\n")};
    const key_options keys = {.field = 2};
    forget();
    got.keys = true;
    (void)all_of(&(pipeline_options){.keys = &keys}, first, 1);
    assert_true(lines.failed);
    for (unsigned i = 1; i <= 2; i++) {
        assert_true(pipeline_reopen(&lines, (cli_operands){second, 1}));
        assert_true(pipeline_run(&lines, take, &got));
        assert_false(lines.failed); /* only the files that were reopened count */
        assert_int_equal(lines.count, 2 * i);
        assert_int_equal(lines.rule.fieldless, 2 * i);
    }
    pipeline_close(&lines);
}

static const uint8_t gzip_lines[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
                                     0x03, 0xcb, 0xc9, 0xcc, 0x4b, 0x55, 0x30, 0xe0, 0xca,
                                     0x01, 0x51, 0x86, 0x10, 0xca, 0x88, 0x0b, 0x00, 0x52,
                                     0x5f, 0x6c, 0xd2, 0x15, 0x00, 0x00, 0x00};
static const uint8_t zstd_lines[] = {0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0xa9, 0x00, 0x00,
                                     0x6c, 0x69, 0x6e, 0x65, 0x20, 0x30, 0x0a, 0x6c, 0x69,
                                     0x6e, 0x65, 0x20, 0x31, 0x0a, 0x6c, 0x69, 0x6e, 0x65,
                                     0x20, 0x32, 0x0a, 0x31, 0xf0, 0xc8, 0x88};

static void compressed_files_are_read(void **state) {
    (void)state;
#if BLOOMERY_WITH_ZLIB && BLOOMERY_WITH_ZSTD
    char *files[] = {file_of("a", gzip_lines, sizeof gzip_lines), file_of_text("b", "plain\n"),
                     file_of("c", zstd_lines, sizeof zstd_lines),
                     file_of("d", zstd_lines, sizeof zstd_lines - 8),
                     file_of("e",
                             "\xfd"
                             "7zXZ\0 and more",
                             15)};
    forget();
    open_files(&(pipeline_options){.keys = NULL}, files, 3);
    pipeline_begin(&lines);
    assert_int_equal(pipeline_estimate(&lines), 0); /* unknown, because the total length is */
    assert_true(pipeline_run(&lines, take, &got));
    assert_string_equal(taken, "line 0|line 1|line 2|plain|line 0|line 1|line 2|");
    assert_false(lines.failed);
    pipeline_close(&lines);
    for (size_t i = 3; i < 5; i++) { /* a truncated file, then one that this build cannot decode */
        forget();
        (void)all_of(&(pipeline_options){.keys = NULL}, files + i, 1);
        assert_true(lines.failed);
        pipeline_close(&lines);
    }
#else
    (void)gzip_lines, (void)zstd_lines;
    skip();
#endif
}

static void records_may_end_in_nul(void **state) {
    (void)state;
    char *files[] = {file_of("a", "one\ntwo\0three\r\0", 15)};
    const key_options keys = {.null = true};
    forget();
    got.separated = got.keys = true;
    assert_string_equal(all_of(&(pipeline_options){.null = true}, files, 1), "one\ntwo|three\r|");
    pipeline_close(&lines);
    forget();
    assert_string_equal(all_of(&(pipeline_options){.keys = &keys}, files, 1), "one\ntwo|three\r|");
    pipeline_close(&lines);
}

static void long_records_are_errors(void **state) {
    (void)state;
    static char text[1 << 20];
    memset(text, 'x', sizeof text);
    memcpy(text, "short\n", 6);
    memcpy(text + sizeof text - 7, "\nafter\n", 7);
    char *files[] = {file_of("a", text, sizeof text)};
    forget();
    assert_string_equal(all_of(&(pipeline_options){.max_record = 1 << 18}, files, 1),
                        "short|after|");
    assert_true(lines.failed);
    pipeline_close(&lines);
}

static void one_text_instead_of_files(void **state) {
    (void)state;
    const key_options linked = {.extract = true};
    forget();
    got.separated = true;
    assert_string_equal(all_of(&(pipeline_options){.text = "a line"}, NULL, 0), "a line|");
    assert_int_equal(pipeline_estimate(&lines), 0);
    assert_null(lines.in.path);
    pipeline_close(&lines);
    forget();
    assert_string_equal(
        all_of(
            &(pipeline_options){.keys = &linked, .text = "http://a.example and https://b.example"},
            NULL, 0),
        "http://a.example|https://b.example|");
    pipeline_close(&lines);
}

static void first_batch_tells_how_many(void **state) {
    (void)state;
    enum { LINES = 60000 };
    char *files[] = {file_of_lines("a", LINES)};
    forget();
    open_files(&(pipeline_options){.keys = NULL}, files, 1);
    pipeline_begin(&lines);
    assert_int_equal(got.calls, 0);
    assert_in_range(pipeline_estimate(&lines), LINES,
                    LINES + LINES / 4); /* the first lines are shorter */
    assert_true(pipeline_run(&lines, take, &got));
    assert_int_equal(lines.count, LINES);
    assert_int_equal(got.records, LINES);
    pipeline_close(&lines);
}

/* ---- links ----------------------------------------------------------------------------------- */

static void links_are_batches_of_their_own(void **state) {
    (void)state;
    enum { LINKS = 3 * INPUT_BATCH / 2 };
    static char text[LINKS * 40];
    const key_options keys = {.extract = true};
    size_t used = 0;
    for (unsigned i = 0; i < LINKS; i++) /* links of the second half have escapes to decode */
        used += (size_t)snprintf(text + used, sizeof text - used, "x http://h.example/%u%s y%s", i,
                                 i < LINKS / 2 ? "" : "?a&amp;b", i % 7 ? "" : "\n");
    char *files[] = {file_of("a", text, used)};
    forget();
    (void)all_of(&(pipeline_options){.keys = &keys}, files, 1);
    assert_true(pipeline_takes_links(&lines));
    assert_int_equal(pipeline_estimate(&lines), 0);
    assert_int_equal(lines.count, LINKS);
    assert_int_equal(lines.in.records_read, LINKS / 7 + 1 + (LINKS % 7 > 1));
    assert_true(got.calls > 1);
    assert_memory_equal(taken, "http://h.example/0|http://h.example/1|", 38);
    pipeline_close(&lines);
    forget();
    assert_string_equal(
        all_of(&(pipeline_options){.keys = &keys,
                                   .text = "http://h.example/?a&amp;b http://i.example/c\\/d"},
               NULL, 0),
        "http://h.example/?a&b|http://i.example/c/d|");
    pipeline_close(&lines);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static const char *keys_of(const key_options *keys, const char *text) {
    char *files[] = {file_of_text("keys", text)};
    forget();
    got.keys = true;
    return all_of(&(pipeline_options){.keys = keys}, files, 1);
}

/* All keys of a batch are valid at the same time, whether they are in the records or copies. */
static void keys_of_a_batch(void **state) {
    (void)state;
    const char *const text = "One a\r\nTWO\nhttp://H.example:80/../x b\n";
    const key_options whole = {.field = 0}, second = {.field = 2, .delimiter = {true, ' '}},
                      small = {.ignore_case = true}, url = {.url = 1};
    assert_string_equal(keys_of(&whole, text), "One a|TWO|http://H.example:80/../x b|");
    pipeline_close(&lines);
    assert_string_equal(keys_of(&second, text), "a|TWO|b|");
    assert_int_equal(lines.rule.fieldless, 1);
    pipeline_close(&lines);
    assert_string_equal(keys_of(&small, text), "one a|two|http://h.example:80/../x b|");
    pipeline_close(&lines);
    assert_string_equal(keys_of(&url, "HTTP://H.example:80/../x\nno URL\nhttp://i.example\n"),
                        "http://h.example/x|no URL|http://i.example/|");
    assert_int_equal(lines.rule.not_urls, 1);
    pipeline_close(&lines);
}

/* If the size of copied keys is limited, a batch is divided into parts, each with its own line
 * numbers. Keys that are not copied need no limit. A part of a single key needs no copy, however
 * long the key is. */
static void batches_are_divided_where_keys_are_copied(void **state) {
    (void)state;
    char *files[] = {file_of_text("keys", "A\n\nbb\nCcccccccccc\nd\ne\n")};
    const key_options small = {.ignore_case = true}, whole = {.field = 0};
    forget();
    got.keys = true;
    assert_string_equal(all_of(&(pipeline_options){.keys = &small, .max_copied = 3}, files, 1),
                        "a||bb|ccccccccccc|d|e|");
    assert_int_equal(got.calls, 3);
    assert_int_equal(got.firsts, 1 + 4 + 5);
    assert_int_equal(got.lasts, 3 + 4 + 6);
    assert_true(lines.made.room < 64);
    pipeline_close(&lines);
    forget();
    got.keys = true;
    (void)all_of(&(pipeline_options){.keys = &whole, .max_copied = 3}, files, 1);
    assert_int_equal(got.calls, 1);
    assert_int_equal(got.lasts, 6);
    pipeline_close(&lines);
}

/* Returns how many lines are written to standard error while keys are made. */
static size_t warnings_of(const key_options *keys, const char *state, const char *text) {
    char *path = file_at("errors"), *files[] = {file_of_text("keys", text)};
    const int kept = dup(STDERR_FILENO), to = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(kept >= 0 && to >= 0 && dup2(to, STDERR_FILENO) >= 0);
    forget();
    got.keys = true;
    open_files(&(pipeline_options){.keys = keys}, files, 1);
    pipeline_keep_returns(&lines, state);
    const bool good = pipeline_run(&lines, take, &got);
    pipeline_close(&lines);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    assert_true(good);
    char printed[1024];
    const ssize_t size = pread(to, printed, sizeof printed, 0);
    assert_true(size >= 0);
    size_t found = 0;
    for (ssize_t i = 0; i < size; i++)
        found += printed[i] == '\n';
    assert_int_equal(close(to) + close(kept), 0);
    return found;
}

static void kept_returns_are_warned_of_once(void **state) {
    (void)state;
    const key_options whole = {.field = 0}, null = {.null = true};
    const char *const text = "a\r\nb\nc\r\n";
    const size_t one = warnings_of(&whole, "seen.bly", text);
    assert_true(one >= 1 && one <= 4); /* one warning, of several lines */
    assert_string_equal(taken, "a\r|b|c\r|");
    assert_int_equal(warnings_of(&whole, "seen.bly", "a\r\n"), one);
    assert_int_equal(warnings_of(&whole, "seen.bly", "a\nb\n"), 0);
    assert_int_equal(warnings_of(&whole, NULL, text), 0);
    assert_int_equal(warnings_of(&null, "seen.bly", text), 0);
}

/* ---- how it ends ----------------------------------------------------------------------------- */

static void command_ends_it(void **state) {
    (void)state;
    char *files[] = {file_of_lines("a", 3 * INPUT_BATCH), file_of_text("b", "more\n")};
    const pipeline_options o = {.keys = NULL};
    forget();
    got.fail_at = 2;
    open_files(&o, files, 2);
    assert_false(pipeline_run(&lines, take, &got));
    assert_int_equal(got.calls, 2);
    pipeline_close(&lines);
    forget();
    got.stop_at = 2;
    open_files(&o, files, 2);
    assert_true(pipeline_run(&lines, take, &got));
    assert_int_equal(got.calls, 2);
    assert_false(lines.failed);
    pipeline_close(&lines);
}

/* Runs in a separate process, because the flag that a signal sets cannot be cleared. */
static void signal_ends_it_after_a_batch(void **state) {
    (void)state;
    char *files[] = {file_of_lines("a", 3 * INPUT_BATCH), file_of_text("b", "more\n")};
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        forget();
        got.signal_at = 2;
        open_files(&(pipeline_options){.catch_signals = true}, files, 2);
        const bool good = pipeline_run(&lines, take, &got);
        pipeline_note_signal();
        _exit(good && interrupt_seen() && !lines.failed && got.calls == 2 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- lack of memory -------------------------------------------------------------------------- */

static int allocations_left = -1; /* how many will succeed; below 0: all */

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool may_allocate(void) {
    if (allocations_left < 0)
        return true;
    return allocations_left > 0 && allocations_left-- > 0;
}

void *__wrap_malloc(size_t size) {
    return may_allocate() ? __real_malloc(size) : NULL;
}

void *__wrap_realloc(void *old, size_t size) {
    return may_allocate() ? __real_realloc(old, size) : NULL;
}

/* Runs the pipeline with ever more allocations that succeed. It fails, without a crash, until there
 * is enough memory. */
static void check_memory(const pipeline_options *o, char **files, size_t count) {
    int enough = 0;
    for (bool good = false; !good; enough++) {
        assert_in_range(enough, 0, 100);
        forget();
        got.keys = true;
        allocations_left = enough;
        good = pipeline_open(&lines, o, (cli_operands){files, count}) &&
               pipeline_run(&lines, take, &got) && !lines.failed;
        allocations_left = -1;
        pipeline_close(&lines);
    }
    assert_true(enough > 1);
}

static void memory_may_be_short(void **state) {
    (void)state;
    static char text[1 << 19]; /* a line that is longer than the first buffer */
    memset(text, 'X', sizeof text);
    const key_options small = {.ignore_case = true}, url = {.url = 1}, linked = {.extract = true};
    char *files[] = {file_of("a", text, sizeof text)}, *lists[] = {file_of_lines("b", 5000)};
    check_memory(&(pipeline_options){.keys = &small}, files, 1);
    check_memory(&(pipeline_options){.keys = &small}, lists, 1);
    check_memory(&(pipeline_options){.keys = &url, .text = "HTTP://H.example/"}, NULL, 0);
    check_memory(&(pipeline_options){.keys = &linked, .text = "http://h.example/?a&amp;b"}, NULL,
                 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_in_order),
        cmocka_unit_test(missing_file_is_passed_over),
        cmocka_unit_test(nothing_is_no_batch),
        cmocka_unit_test(more_files_go_on),
        cmocka_unit_test(compressed_files_are_read),
        cmocka_unit_test(records_may_end_in_nul),
        cmocka_unit_test(long_records_are_errors),
        cmocka_unit_test(one_text_instead_of_files),
        cmocka_unit_test(first_batch_tells_how_many),
        cmocka_unit_test(links_are_batches_of_their_own),
        cmocka_unit_test(keys_of_a_batch),
        cmocka_unit_test(batches_are_divided_where_keys_are_copied),
        cmocka_unit_test(kept_returns_are_warned_of_once),
        cmocka_unit_test(command_ends_it),
        cmocka_unit_test(signal_ends_it_after_a_batch),
        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
