/* blocklist.c - prints the lines of standard input that are in a list (<bloomery/list.h>).
 *
 *     blocklist LIST <lines
 *     cc blocklist.c $(pkg-config --cflags --libs bloomery)
 *
 * LIST is a file that `bloomery build --type TYPE` made. For each line that is in the list, the
 * program prints the line, a tab, and the matching entry, which may be a parent domain of a domain,
 * or a block that contains an IP address. Malformed lines are reported on standard error. As with
 * grep, the exit status is 0 if a line matched, 1 if none did, and 2 after an error. */
#define _POSIX_C_SOURCE 200809L
#include <bloomery/list.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { MAX_SHOWN = 200 };

static int fail(const char *what, bly_status status) {
    (void)fprintf(stderr, "blocklist: %s: %s\n", what,
                  status == BLY_EIO ? strerror(errno) : bly_strerror(status));
    return 2;
}

static bly_status check_line(const bly_list *list, bly_list_reader *reader, bly_bytes line,
                             unsigned long *matches) {
    bly_list_result result;
    const bly_status status = bly_list_check(list, reader, line.data, line.size, &result);
    if (status != BLY_OK)
        return status;
    if (result.answer == BLY_LIST_MALFORMED)
        (void)fprintf(stderr, "blocklist: %s: '%.*s'\n", result.reason,
                      line.size < MAX_SHOWN ? (int)line.size : MAX_SHOWN, (const char *)line.data);
    if (result.answer == BLY_LIST_MAYBE) {
        (void)fwrite(line.data, 1, line.size, stdout);
        (void)putchar('\t');
        (void)fwrite(result.entry.data, 1, result.entry.size, stdout);
        (void)putchar('\n');
        ++*matches;
    }
    return BLY_OK;
}

int main(int argc, char **argv) {
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    unsigned long matches = 0;
    bly_list *list;
    bly_list_reader *reader;
    if (argc != 2) {
        (void)fprintf(stderr, "usage: blocklist LIST <lines\n");
        return 2;
    }
    bly_status status = bly_list_open(argv[1], NULL, &list);
    if (status != BLY_OK)
        return fail(argv[1], status);
    status = bly_list_reader_create(&reader);
    while (status == BLY_OK && (size = getline(&line, &room, stdin)) >= 0) {
        const bly_bytes text = {line, (size_t)size - (size > 0 && line[size - 1] == '\n')};
        status = check_line(list, reader, text, &matches);
    }
    free(line);
    bly_list_reader_destroy(reader);
    bly_list_close(list);
    if (status != BLY_OK)
        return fail(argv[1], status);
    if (!feof(stdin) || fflush(stdout) != 0) {
        perror("blocklist");
        return 2;
    }
    return matches ? 0 : 1;
}
