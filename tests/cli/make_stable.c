/* make_stable FILE KEYS: a stable filter for a thousand keys at 1%, with the lines of `seq KEYS`.
 * No command makes one, since a list must not forget; but every command that reads a filter may be
 * given one. */
#include <bloomery/bloomery.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    bly_filter *f;
    if (argc != 3 || bly_stable_create_keys(1000, 0.01, &f) != BLY_OK)
        return 2;
    bly_status status = BLY_OK;
    for (long i = 1; i <= strtol(argv[2], NULL, 10) && status == BLY_OK; i++) {
        char key[24];
        const int size = snprintf(key, sizeof key, "%ld", i);
        status = bly_filter_add(f, key, (size_t)size, NULL);
    }
    if (status == BLY_OK)
        status = bly_filter_save(f, argv[1]);
    bly_filter_destroy(f);
    return status == BLY_OK ? 0 : 1;
}
