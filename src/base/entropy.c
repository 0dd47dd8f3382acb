/* entropy.c - secret keys from the system's random generator.
 *
 * getentropy asks the kernel, blocks until the generator has been seeded, and needs no file
 * descriptor. glibc, musl, the BSDs, macOS and Emscripten all have it, in one of two headers.
 */
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <bloomery/hash.h>

bly_status bly_random_key(uint8_t key[16]) {
    uint8_t fresh[16];
    if (getentropy(fresh, sizeof fresh) != 0)
        return BLY_EIO;
    memcpy(key, fresh, sizeof fresh);
    return BLY_OK;
}
