/* keyring.h - the ring of secret keys for keyed filters. The keys are read from a file, and are
 * never saved, dumped or replicated. A filter identifies its key by an id, which reveals nothing
 * about the key.
 */
#ifndef BLOOMERY_MODULE_KEYRING_H
#define BLOOMERY_MODULE_KEYRING_H

#include <bloomery/hash.h>
#include <stdbool.h>
#include <stddef.h>

/* Replaces the ring by the keys in a file, which has one key of 32 hexadecimal digits per line.
 * Empty lines and lines that begin with # are skipped. A file that repeats a key, or has none, is
 * refused. If the path is empty, the ring becomes empty. If the call fails, it returns false, the
 * ring is not changed, and `why`, a buffer of `size` bytes, receives a text that says what is
 * wrong. */
bool bm_keyring_read(const char *path, char *why, size_t size);

/* Returns a number that increases whenever the ring is replaced. */
uint64_t bm_keyring_version(void);
size_t bm_keyring_size(void);
/* Returns the hasher of key i; NULL past the last key. It is valid until the next bm_keyring_read.
 * (Filters copy their hashers.) */
const bly_hasher *bm_keyring_at(size_t i);
/* Returns the hasher whose key has this id (bly_hasher.seed); NULL if the key is not in the ring.
 * It is valid until the next bm_keyring_read. */
const bly_hasher *bm_keyring_find(uint64_t id);

#endif
