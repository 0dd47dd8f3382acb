/* keyring.h - secret keys for keyed filters: read from a file, and kept out of everything that is
 * saved, dumped or replicated. A filter names its key by an id, which tells nothing of the key.
 */
#ifndef BLOOMERY_MODULE_KEYRING_H
#define BLOOMERY_MODULE_KEYRING_H

#include <bloomery/hash.h>
#include <stdbool.h>
#include <stddef.h>

/* Replaces the ring by what the file says: a key per line, 32 hexadecimal digits, lines that are
 * empty or begin with # aside. The same key twice, or none, is refused; a path of no length empties
 * the ring. On failure the ring is as it was, and `why` says what is wrong. */
bool bm_keyring_read(const char *path, char *why, size_t room);

/* Grows with every file that is read. */
uint64_t bm_keyring_edition(void);
size_t bm_keyring_size(void);
/* Both stay valid until the next bm_keyring_read; a filter copies its hasher.
 * The i-th key's hasher; NULL past the last. */
const bly_hasher *bm_keyring_at(size_t i);
/* The hasher with that id (bly_hasher.seed); NULL when its key is not there. */
const bly_hasher *bm_keyring_find(uint64_t id);

#endif
