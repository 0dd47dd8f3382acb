/* keyed.c - a filter for untrusted keys. An attacker who does not know its secret key cannot search
 * for false positives (SECURITY.md describes the attacks that this prevents).
 *
 *     cc -std=c11 keyed.c $(pkg-config --cflags --libs bloomery) && ./a.out FILE
 *
 * The program saves a filter to FILE, and opens it with its key, with another key, and without a
 * key. The file contains only an id of the key: store the 16 bytes of the key elsewhere. The
 * library must have been built with libsodium.
 */
#include <bloomery/bloomery.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static bly_status save(const bly_hasher *hasher, const char *path) {
    bly_filter *f;
    bly_spec spec = bly_spec_for(BLY_SBBF, 1000, 0.01);
    spec.hasher = *hasher;
    bly_status status = bly_filter_create(&spec, &f);
    if (status == BLY_OK)
        status = bly_filter_add(f, "alice", 5, NULL);
    if (status == BLY_OK)
        status = bly_filter_save(f, path);
    bly_filter_destroy(f);
    return status;
}

static void open_and_ask(const char *what, const char *path, const bly_hasher *hasher,
                         uint32_t flags) {
    bly_filter *f;
    const bly_open_options options = {
        .struct_size = sizeof options, .hasher = hasher, .flags = flags};
    const bly_status status = bly_filter_load(path, &options, &f);
    if (status == BLY_OK)
        printf("%s: alice %s, mallory %s\n", what,
               bly_filter_contains(f, "alice", 5) ? "maybe" : "no",
               bly_filter_contains(f, "mallory", 7) ? "maybe" : "no");
    else
        printf("%s: %s\n", what, bly_strerror(status));
    bly_filter_destroy(f);
}

int main(int argc, char **argv) {
    uint8_t key[2][16];
    bly_hasher hasher[2];
    bly_status status = BLY_OK;
    if (argc != 2) {
        fprintf(stderr, "usage: keyed FILE\n");
        return 2;
    }
    for (int i = 0; i < 2 && status == BLY_OK; i++) {
        status = bly_random_key(key[i]);
        if (status == BLY_OK)
            status = bly_hasher_keyed(&hasher[i], key[i]);
    }
    if (status == BLY_OK)
        status = save(&hasher[0], argv[1]);
    if (status != BLY_OK) {
        fprintf(stderr, "keyed: %s\n", status == BLY_EIO ? strerror(errno) : bly_strerror(status));
        return status == BLY_EHASHER ? 77 : 2; /* 77: the library was built without libsodium */
    }
    open_and_ask("its key", argv[1], &hasher[0], 0);
    open_and_ask("another key", argv[1], &hasher[1], 0);
    open_and_ask("no key", argv[1], NULL, 0);
    open_and_ask("BLY_OPEN_WITHOUT_KEY", argv[1], NULL, BLY_OPEN_WITHOUT_KEY);
    return 0;
}
