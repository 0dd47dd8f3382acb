/* keyring.h - the secret keys for keyed filters: read from a file, and never saved, dumped or
 * replicated. A filter names its key by an id, which reveals nothing about the key.
 */
#ifndef BLOOMERY_MODULE_KEYRING_H
#define BLOOMERY_MODULE_KEYRING_H

#include <bloomery/hash.h>
#include <stdbool.h>
#include <stddef.h>

/* Replaces the ring by the keys of the file: one per line, 32 hexadecimal digits. Empty lines and
 * those that begin with # are skipped. A file with a repeated key, or without keys, is refused. An
 * empty path empties the ring. On failure the ring is not changed, and `why`, a buffer of `size`
 * bytes, says what is wrong. */
bool bm_keyring_read(const char *path, char *why, size_t size);

/* Increases whenever the ring is replaced. */
uint64_t bm_keyring_version(void);
size_t bm_keyring_size(void);
/* The hasher of the i-th key; NULL past the last. Valid until the next bm_keyring_read, but a
 * filter copies its hasher. */
const bly_hasher *bm_keyring_at(size_t i);
/* The hasher with that id (bly_hasher.seed), valid as long; NULL when its key is not in the
 * ring. */
const bly_hasher *bm_keyring_find(uint64_t id);

#endif
