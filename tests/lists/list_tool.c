/* list_tool.c - a program that uses typed lists through <bloomery/list.h>, for list_cli.py:
 *
 *     list_tool build TYPE FPR LIST
 *         Builds a list from the lines of standard input, without malformed ones.
 *     list_tool check LIST
 *         Prints for each line of standard input "no", "maybe ENTRY" or "malformed REASON".
 */
#include <bloomery/list.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t next_line(char *line, size_t room) {
    if (!fgets(line, (int)room, stdin))
        return SIZE_MAX;
    return strcspn(line, "\n");
}

static int build(char **arguments) {
    char line[4096];
    bly_list_builder *b;
    bly_filter *f;
    bly_status status = bly_list_builder_create(bly_list_type_by_name(arguments[0]),
                                                strtod(arguments[1], NULL), NULL, &b);
    for (size_t size; status == BLY_OK && (size = next_line(line, sizeof line)) != SIZE_MAX;) {
        status = bly_list_builder_add(b, line, size, NULL);
        status = status == BLY_EINVAL ? BLY_OK : status;
    }
    if (status == BLY_OK)
        status = bly_list_builder_finish(b, &f);
    bly_list_builder_destroy(b);
    if (status == BLY_OK) {
        status = bly_filter_save(f, arguments[2]);
        bly_filter_destroy(f);
    }
    if (status != BLY_OK)
        (void)fprintf(stderr, "%s\n", bly_strerror(status));
    return status == BLY_OK ? 0 : 2;
}

static int check(const char *path) {
    char line[4096];
    bly_list *list;
    bly_list_reader *reader = NULL;
    bly_list_result result;
    bly_status status = bly_list_open(path, NULL, &list);
    if (status == BLY_OK)
        status = bly_list_reader_create(&reader);
    for (size_t size; status == BLY_OK && (size = next_line(line, sizeof line)) != SIZE_MAX;) {
        status = bly_list_check(list, reader, line, size, &result);
        if (result.answer == BLY_LIST_MAYBE)
            (void)printf("maybe %.*s\n", (int)result.entry.size, (const char *)result.entry.data);
        else if (result.answer == BLY_LIST_MALFORMED)
            (void)printf("malformed %s\n", result.reason);
        else
            (void)printf("no\n");
    }
    bly_list_reader_destroy(reader);
    bly_list_close(list);
    if (status != BLY_OK)
        (void)fprintf(stderr, "%s\n", bly_strerror(status));
    return status == BLY_OK ? 0 : 2;
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "build") == 0)
        return build(argv + 2);
    if (argc == 3 && strcmp(argv[1], "check") == 0)
        return check(argv[2]);
    return 2;
}
