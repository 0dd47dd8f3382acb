/* hash_murmur.h - Murmur hash functions with any seed, for filters made by other libraries that use
 * them. Internal. */
#ifndef BLYI_HASH_HASH_MURMUR_H
#define BLYI_HASH_HASH_MURMUR_H

#include <bloomery/base.h>

/* Computes n <= 256 hashes by MurmurHash3 x64-128 with seed 0: out[i] is the hash of the key
 * followed by the byte i. */
void blyi_murmur3_numbered(const void *key, size_t len, unsigned n, bly_hash *out);

/* MurmurHash64A of a key, with any seed. */
uint64_t blyi_murmur64a(const void *key, size_t len, uint64_t seed);

/* MurmurHash2, 32 bits. As published, it uses only the low 32 bits of the length. */
uint32_t blyi_murmur2(const void *key, size_t len, uint32_t seed);

#endif
