/* bytes.h - filters in the caller's own bytes: no object, no header, no allocation.
 *
 * For programs that store many small filters inside their own files, such as the filter blocks of
 * a storage engine or the row groups of a column file. A filter is a buffer of `size` bytes at any
 * address. The caller stores and loads these bytes together with their size, which is a part of
 * the filter. A file of a whole filter, with checksums and all that a reader must know, is
 * filter.h.
 *
 *     size_t size;
 *     if (bly_buffer_size(n, 0.01, &size) == BLY_OK) ...     room for n keys at 1%
 *     bly_buffer_build(buf, size, keys, n)
 *     bly_buffer_contains(buf, size, key, len)               false: the key is surely not a member
 *
 * A buffer is a classic Bloom filter (docs/kinds/bloom.md): all bytes but the last are its bits,
 * and the last one is the number of probes. docs/format.md, section 23, is the whole format. The
 * bytes are the same on every machine, and do not depend on the order of the keys. At 1% a key
 * takes 9.6 bits; the last byte and the rounding to whole bytes add at most 18 bits to a buffer.
 *
 * Hashing. Functions that are given keys hash them with the default function: xxh3, seed 0. A
 * program that looks one key up in many buffers hashes it once and calls the functions for hashes.
 * So does one that needs a seed, or a secret key because attackers choose the keys (hash.h). The
 * buffer does not record the hash function: use the same one for building and for lookups.
 *
 * Untrusted bytes. Lookups are safe for any bytes of any size: they read nothing outside the buffer
 * and test at most BLY_BUFFER_MAX_PROBES bits. A buffer that is too short to have bits, or whose
 * last byte is not a number of probes, is of a form that this version does not know, and answers
 * "maybe" (true) for every key. Nothing detects damaged bits: checksum the bytes if they can be
 * damaged.
 *
 * Threads. Lookups only read. Any number of threads may use a buffer once it is built.
 */
#ifndef BLOOMERY_BYTES_H
#define BLOOMERY_BYTES_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BLY_BUFFER_MIN_SIZE = 2, /* bytes: eight bits, and the number of probes */
    BLY_BUFFER_MAX_PROBES = 40
};

/* The smallest size, in bytes, at which the expected FPR of `keys` distinct keys is at most `fpr`.
 * BLY_ECOUNT for no keys, BLY_ERATE, BLY_ETOOBIG (more than 2^48 bits, or than a size_t can
 * count), BLY_EWEAKHASH (keys / 2^64 > fpr / 10). Takes less than a microsecond at 1%, but some
 * hundred where few keys need a very low rate. Cache the result if the same number of keys
 * recurs. */
BLY_CHECKED bly_status bly_buffer_size(uint64_t keys, double fpr, size_t *out);

/* The expected FPR of a buffer of `size` bytes built from `keys` distinct keys: 1 for a size at
 * which none can be built, 0 for no keys. It is the mean over many filters: the rate of a single
 * small one may differ by a factor of two. */
BLY_API double bly_buffer_fpr(size_t size, uint64_t keys);

/* Builds the filter of n keys (repeats are allowed) in the buffer, and overwrites all of its bytes.
 * The number of probes is the best one for `size` and n. Any size from BLY_BUFFER_MIN_SIZE on will
 * do: a smaller one than bly_buffer_size returns means a higher FPR. A filter of no keys contains
 * no key. The buffer must not overlap the keys. BLY_EGEOMETRY for a smaller size and BLY_ETOOBIG
 * for more than 2^48 bits; the buffer is unchanged then. */
BLY_CHECKED bly_status bly_buffer_build(void *buf, size_t size, const bly_bytes *keys, size_t n);

/* The same for keys that the caller has hashed, in at least 64 good bits (hash.h). */
BLY_CHECKED bly_status bly_buffer_build_hashes(void *buf, size_t size, const bly_hash *hashes,
                                               size_t n);

/* false: the key is surely not a member. `buf` may be NULL when size is 0. */
BLY_API bool bly_buffer_contains(const void *buf, size_t size, const void *key, size_t len);
BLY_API bool bly_buffer_contains_hash(const void *buf, size_t size, bly_hash hash);

/* The same answers for a batch of keys, as one 0/1 byte per key in `found`, which may be NULL.
 * Returns how many answers are 1. */
BLY_API size_t bly_buffer_contains_many(const void *buf, size_t size, const bly_bytes *keys,
                                        size_t n, uint8_t *found);
BLY_API size_t bly_buffer_contains_hashes(const void *buf, size_t size, const bly_hash *hashes,
                                          size_t n, uint8_t *found);

#ifdef __cplusplus
}
#endif
#endif
