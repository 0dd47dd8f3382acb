/* batches.c - counts the lines of one file that are in another file, in batches. These are several
 * times faster than single calls, because the memory accesses of many keys overlap.
 *
 *     cc -std=c11 batches.c $(pkg-config --cflags --libs bloomery) && ./a.out KNOWN LINES
 *
 * The program adds the lines of KNOWN to a filter, and prints how many lines of LINES are
 * (probably) among them. It reads the first 64 MiB of each file.
 */
#include <bloomery/bloomery.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1024, MAX_FILE = 1 << 26 };

typedef struct counts {
    size_t lines, matches; /* matches: number of lines that were new (add) or found (lookup) */
} counts;

/* Adds the lines of a text to the filter, or looks them up, in batches. */
static bly_status use_lines(bly_filter *f, bool add, const char *text, size_t size, counts *c) {
    const char *const end = text + size;
    bly_status status = BLY_OK;
    while (status == BLY_OK && text < end) {
        bly_bytes keys[BATCH];
        bly_batch_result result = {0, 0};
        size_t n = 0;
        for (; n < BATCH && text < end; n++) {
            const char *newline = memchr(text, '\n', (size_t)(end - text));
            const char *stop = newline ? newline : end;
            keys[n] = (bly_bytes){text, (size_t)(stop - text)};
            text = newline ? newline + 1 : end;
        }
        if (add)
            status = bly_filter_add_many(f, keys, n, NULL, &result);
        else
            result.changed = bly_filter_contains_many(f, keys, n, NULL);
        c->lines += n;
        c->matches += result.changed;
    }
    return status;
}

/* Does the same with the lines of a file, of its first MAX_FILE bytes. */
static bly_status use_file(bly_filter *f, bool add, const char *path, char *text, counts *c) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return BLY_EIO;
    const size_t size = fread(text, 1, MAX_FILE, file);
    (void)fclose(file);
    return use_lines(f, add, text, size, c);
}

int main(int argc, char **argv) {
    counts known = {0, 0}, looked_up = {0, 0};
    bly_filter *f;
    if (argc != 3) {
        fprintf(stderr, "usage: batches KNOWN LINES\n");
        return 2;
    }
    char *text = malloc(MAX_FILE);
    bly_status status = text ? bly_filter_new(1000000, 0.001, &f) : BLY_ENOMEM;
    if (status == BLY_OK) {
        status = use_file(f, true, argv[1], text, &known);
        if (status == BLY_OK)
            status = use_file(f, false, argv[2], text, &looked_up);
        bly_filter_destroy(f);
    }
    free(text);
    if (status != BLY_OK) {
        fprintf(stderr, "batches: %s\n",
                status == BLY_EIO ? strerror(errno) : bly_strerror(status));
        return 2;
    }
    printf("%zu lines added, %zu of them new\n%zu of %zu lines found\n", known.lines, known.matches,
           looked_up.matches, looked_up.lines);
    return 0;
}
