/* bytes.h - filters in the caller's own bytes: no object, no header, no allocation.
 *
 * For programs that store many small filters inside their own files, such as the blocks of a
 * storage engine. A filter is a buffer of `size` bytes at any address. The caller stores the bytes
 * and their size.
 *
 *     size_t size;
 *     if (bly_buffer_size(n, 0.01, &size) == BLY_OK) ...     room for n keys at 1%
 *     bly_buffer_build(buf, size, keys, n)
 *     bly_buffer_contains(buf, size, key, len)               false: certainly not a member
 *
 * A buffer is a classic Bloom filter (docs/kinds/bloom.md): all bytes but the last are its bits,
 * and the last one is the number of probes (docs/format.md, section 23). The bytes are the same on
 * every machine and for every order of the keys. At 1% a key takes 9.6 bits. The last byte and the
 * rounding to whole bytes add at most 18 bits per buffer.
 *
 * Hashing. The functions that take keys hash them by xxh3 with seed 0. Use the functions that take
 * hashes to look one key up in many buffers, or to hash with a seed or a secret key (hash.h). The
 * buffer does not record the hash function: build it and look keys up with the same one.
 *
 * Untrusted bytes. A lookup is safe for any bytes of any size: it reads nothing outside the buffer
 * and tests at most BLY_BUFFER_MAX_PROBES bits. A buffer without bits, or whose last byte is not a
 * number of probes, answers "maybe" (true) for every key. Damaged bits are not detected.
 *
 * Threads. Any number of threads may look keys up in a buffer once it is built. */
#ifndef BLOOMERY_BYTES_H
#define BLOOMERY_BYTES_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of a buffer. */
enum {
    BLY_BUFFER_MIN_SIZE = 2,   /* in bytes: one byte of bits, and one for the number of probes */
    BLY_BUFFER_MAX_PROBES = 40 /* maximum number of bits that a key sets */
};

/* Computes the smallest size in bytes at which the expected FPR of `keys` distinct keys is at most
 * `fpr`. This takes less than a microsecond at 1%, but some hundred microseconds for few keys at a
 * very low rate. Errors: BLY_ECOUNT (no keys), BLY_ERATE, BLY_ETOOBIG (more than 2^48 bits, or more
 * bytes than a size_t can count), BLY_EWEAKHASH (keys / 2^64 > fpr / 10). */
BLY_CHECKED bly_status bly_buffer_size(uint64_t keys, double fpr, size_t *out);

/* Returns the expected FPR of a buffer of `size` bytes built from `keys` distinct keys; 1 if no
 * buffer can have that size, 0 if there are no keys. It is the mean over many buffers; the rate of
 * a single small buffer may differ by a factor of two. */
BLY_API double bly_buffer_fpr(size_t size, uint64_t keys);

/* Builds the filter of n keys in the buffer, and overwrites all of its bytes. Keys may repeat. They
 * must not overlap the buffer. The number of probes is the best one for `size` and n. Any size from
 * BLY_BUFFER_MIN_SIZE on is valid, but a size below that of bly_buffer_size means a higher FPR. A
 * filter of no keys answers "no" for every key.
 * Errors: BLY_EGEOMETRY (`size` is below BLY_BUFFER_MIN_SIZE), BLY_ETOOBIG (more than 2^48
 * bits). */
BLY_CHECKED bly_status bly_buffer_build(void *buf, size_t size, const bly_bytes *keys, size_t n);

/* Builds the filter of n hashes in the buffer, as bly_buffer_build does for keys. A hash must have
 * at least 64 good bits (hash.h). Errors: those of bly_buffer_build. */
BLY_CHECKED bly_status bly_buffer_build_hashes(void *buf, size_t size, const bly_hash *hashes,
                                               size_t n);

/* Looks a key up. `buf` may be NULL if size is 0.
 * Returns false if the key is certainly not a member; else true. */
BLY_API bool bly_buffer_contains(const void *buf, size_t size, const void *key, size_t len);
/* Looks a key up by its hash, as bly_buffer_contains does. */
BLY_API bool bly_buffer_contains_hash(const void *buf, size_t size, bly_hash hash);

/* Looks n keys up, faster than one by one. `found` (may be NULL) receives one 0/1 byte per key.
 * Returns the number of keys that were found. */
BLY_API size_t bly_buffer_contains_many(const void *buf, size_t size, const bly_bytes *keys,
                                        size_t n, uint8_t *found);
/* Looks n keys up by their hashes, as bly_buffer_contains_many does. */
BLY_API size_t bly_buffer_contains_hashes(const void *buf, size_t size, const bly_hash *hashes,
                                          size_t n, uint8_t *found);

#ifdef __cplusplus
}
#endif
#endif
