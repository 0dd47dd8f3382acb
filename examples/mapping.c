/* mapping.c - several processes map one filter file.
 *
 *     cc -std=c11 mapping.c $(pkg-config --cflags --libs bloomery) && ./a.out FILE
 *
 * The program saves a filter to FILE, and starts processes that map the file. Mapping takes
 * microseconds whatever the size of the file, and all processes share its pages in memory. To
 * change the filter, save a new one to the same path: processes that have mapped the old file use
 * it until they map the path again.
 */
#define _POSIX_C_SOURCE 200809L
#include <bloomery/bloomery.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 3, KEYS = 10000 };

static bly_bytes key_of(unsigned i, char text[32]) {
    return (bly_bytes){text, (size_t)snprintf(text, 32, "user:%u", i)};
}

static bly_status save(const char *path) {
    char text[32];
    bly_filter *f;
    bly_status status = bly_filter_new(KEYS, 0.001, &f);
    for (unsigned i = 0; i < KEYS && status == BLY_OK; i++)
        status = bly_filter_add(f, key_of(i, text).data, key_of(i, text).size, NULL);
    if (status == BLY_OK)
        status = bly_filter_save(f, path); /* atomic: no process can see an incomplete file */
    bly_filter_destroy(f);
    return status;
}

/* Returns how many keys are missing. With BLY_OPEN_VERIFY in bly_open_options, the body of the file
 * would be checked too: use it for untrusted files. */
static unsigned look_up_all(const char *path) {
    char text[32];
    bly_map *map;
    unsigned missing = 0;
    if (bly_map_open(path, NULL, &map) != BLY_OK)
        return KEYS;
    for (unsigned i = 0; i < KEYS; i++)
        missing +=
            !bly_filter_contains(bly_map_filter(map), key_of(i, text).data, key_of(i, text).size);
    bly_map_close(map);
    return missing;
}

int main(int argc, char **argv) {
    int good = 0, code;
    if (argc != 2) {
        fprintf(stderr, "usage: mapping FILE\n");
        return 2;
    }
    const bly_status status = save(argv[1]);
    if (status != BLY_OK) {
        fprintf(stderr, "mapping: %s\n",
                status == BLY_EIO ? strerror(errno) : bly_strerror(status));
        return 2;
    }
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0)
            _exit(look_up_all(argv[1]) == 0 ? 0 : 1);
    while (wait(&code) > 0)
        good += code == 0;
    printf("%d of %d processes found all %d keys\n", good, PROCESSES, KEYS);
    return good == PROCESSES ? 0 : 1;
}
