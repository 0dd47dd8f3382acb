/* Reading records from files: short records are found eight bytes at a time, long ones are not.
 * Records may be empty, cross the ends of the buffer, and contain any byte. */
#include "support.h"

#include "io/input.h"

#include <unistd.h>

enum { MAX = 3 << 20 };

static char text[MAX];
static input in; /* too large for the stack */

/* Alternates at random between short and long records, with any bytes. Returns the size of the
 * text. */
static size_t make_text(char separator, uint64_t seed) {
    size_t size = 0;
    while (size < MAX - 70000) {
        const uint64_t mean = blyt_next(&seed) % 2 ? 6 : 300;
        for (size_t end = size + 60000; size < end; size++) {
            const uint64_t r = blyt_next(&seed);
            /* Bytes that differ from the separator in one bit are the hardest to tell from it. */
            char byte = (char)(r >> 40);
            if (r % mean == 0)
                byte = separator;
            else if (r >> 60 == 0)
                byte = (char)(separator ^ 1 << (r >> 32) % 8);
            text[size] = byte;
        }
    }
    return size;
}

static void write_text(const char *path, size_t size) {
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(text, 1, size, to), size);
    assert_int_equal(fclose(to), 0);
}

/* Checks that the records of the file are those of the text, in order, each followed by its
 * separator. */
static void check_file(const char *path, size_t size, char separator) {
    char *names[] = {(char *)(uintptr_t)path};
    const char *at = text, *stop = text + size;
    uint64_t records = 0;
    assert_true(input_open(&in, names, 1, separator, 0));
    while (input_next(&in)) {
        assert_int_equal(in.number, records + 1);
        for (size_t i = 0; i < in.count; i++) {
            const char *end = memchr(at, separator, (size_t)(stop - at));
            const size_t length = (size_t)((end ? end : stop) - at);
            assert_int_equal(in.records[i].size, length);
            assert_memory_equal(in.records[i].data, at, length);
            assert_int_equal(((const char *)in.records[i].data)[length], separator);
            at += length + (end != NULL);
        }
        records += in.count;
    }
    assert_true(at == stop);
    assert_false(in.failed);
    assert_int_equal(in.records_read, records);
    input_close(&in);
}

static void check_separator(char separator) {
    char path[] = "/tmp/test_input_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const size_t size =
            make_text(separator, seed) - seed; /* the last record may lack its separator */
        write_text(path, size);
        check_file(path, size, separator);
    }
    memset(text, separator, 100000); /* nothing but empty records */
    write_text(path, 100000);
    check_file(path, 100000, separator);
    assert_int_equal(unlink(path), 0);
}

static void test_lines(void **state) {
    (void)state;
    check_separator('\n');
}

static void test_nul(void **state) {
    (void)state;
    check_separator('\0');
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
