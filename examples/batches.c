/* batches.c - counts the lines of one file that are in another file, in batches. These are several
 * times faster than single calls, because the memory accesses of many keys overlap.
 *
 *     cc -std=c11 batches.c $(pkg-config --cflags --libs bloomery) && ./a.out KNOWN LINES
 *
 * The program adds the lines of KNOWN to a filter, and prints how many lines of LINES are
 * (probably) among them. It reads the first 64 MiB of each file.
 */
#include <bloomery/bloomery.h>
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

int main(int argc, char **argv) {
    char *text = malloc(MAX_FILE);
    counts count[2] = {{0, 0}, {0, 0}};
    bly_filter *known;
    bly_status status = bly_filter_new(1000000, 0.001, &known);
    for (int i = 1; i <= 2 && status == BLY_OK; i++) {
        FILE *file = argc == 3 && text ? fopen(argv[i], "rb") : NULL;
        if (!file) {
            fprintf(stderr, "usage: batches KNOWN LINES\n");
            return 2;
        }
        status = use_lines(known, i == 1, text, fread(text, 1, MAX_FILE, file), &count[i - 1]);
        (void)fclose(file);
    }
    if (status == BLY_OK)
        printf("%zu lines added, %zu of them new\n%zu of %zu lines found\n", count[0].lines,
               count[0].matches, count[1].matches, count[1].lines);
    bly_filter_destroy(known);
    free(text);
    return status == BLY_OK ? 0 : 2;
}
