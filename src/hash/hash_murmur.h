/* hash_murmur.h - Murmur's functions with any seed, for filters that other libraries made with
 * them. Internal. */
#ifndef BLYI_HASH_HASH_MURMUR_H
#define BLYI_HASH_HASH_MURMUR_H

#include <bloomery/base.h>

/* MurmurHash3 x64-128, seed 0, of the key followed by one more byte: n hashes, for the bytes 0, 1
 * and so on. n <= 256. */
void blyi_murmur3_numbered(const void *key, size_t len, unsigned n, bly_hash *out);

/* MurmurHash64A. */
uint64_t blyi_murmur64a(const void *key, size_t len, uint64_t seed);

/* MurmurHash2, 32 bits. As published, it uses only the low 32 bits of the length. */
uint32_t blyi_murmur2(const void *key, size_t len, uint32_t seed);

#endif
